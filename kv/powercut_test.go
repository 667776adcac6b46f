//go:build rig

package kv

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"opsmon/kv/powercut"
)

func init() { roles["recorded"], roles["rewriter"] = recordedWrites, rewrite }

// recordedWrites creates a store, changes it from several goroutines, opens it again and changes it further. It
// prints a line before each change and another after its Update has returned.
func recordedWrites() {
	for round := range uint64(2) {
		s, err := Open(childConfig())
		fatal(err)
		var wg sync.WaitGroup
		for w := range uint64(3) {
			wg.Go(func() {
				for i := range uint64(recordedCommits) {
					k := (round*3+w)*1000 + i
					fatal(s.Update(func(tx *Tx) error {
						// churn: pages are freed and reused
						if err := blobs.Put(tx, w, make([]byte, k*7919%30_000)); err != nil {
							return err
						}
						if err := blobs.Put(tx, 1_000_000+k, make([]byte, k%700)); err != nil {
							return err
						}
						return triples.Put(tx, triple("k", "", k), make([]byte, k%700))
					}))
					fmt.Printf("put %d\n", k)
					if i%3 != 2 {
						continue
					}
					fmt.Printf("deleting %d\n", k-1)
					fatal(s.Update(func(tx *Tx) error {
						return errors.Join(triples.Delete(tx, triple("k", "", k-1)), blobs.Delete(tx, 1_000_000+k-1))
					}))
					fmt.Printf("deleted %d\n", k-1)
				}
			})
		}
		wg.Wait()
		fatal(s.Close())
	}
	os.Exit(0)
}

// TestPowerCut cuts the power at every sync while a store is created and written, with random parts of the unsynced
// changes. The result must be an intact store that has every acknowledged change, and no half of another.
func TestPowerCut(t *testing.T) {
	dir := t.TempDir()
	cmd := child("recorded", filepath.Join(dir, "s.db"))
	cmd.Stderr = nil
	history, ok := powercut.Record(t, dir, cmd)
	if !ok {
		return
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h := history()
	scratch := powercut.Scratch(t)
	cuts, stores, most := 0, 0, 0
	try := func(cut powercut.Cut) bool {
		left := filepath.Join(scratch, fmt.Sprint(cuts))
		if err := cut.Write(left); err != nil {
			t.Fatal(err)
		}
		_, err := os.Stat(filepath.Join(left, "s.db"))
		if cuts++; err == nil {
			stores++
		}
		answered, err := afterPowerCut(filepath.Join(left, "s.db"), string(cut.Said()))
		if most = max(most, answered); err != nil {
			t.Errorf("%v: %v", cut, err)
		}
		os.RemoveAll(left)
		return err == nil
	}
	rng := rand.New(rand.NewPCG(damageSeed(t), 3))
	h.PowerCuts(powerCuts, rng)(try)
	h.Kills(try)
	t.Logf("%d cuts, %d with a store, up to %d answered changes", cuts, stores, most)
	if stores == 0 || stores == cuts || most < 6*recordedCommits {
		t.Error("too few changes for a conclusion")
	}
}

// afterPowerCut checks the remains of a store against the output, and returns the number of acknowledged changes.
func afterPowerCut(path, said string) (answered int, err error) {
	put, deleting, deleted := map[uint64]bool{}, map[uint64]bool{}, map[uint64]bool{}
	for line := range strings.Lines(said) {
		var what string
		var k uint64
		if _, err := fmt.Sscan(line, &what, &k); err != nil {
			return 0, fmt.Errorf("the line %q: %w", line, err)
		}
		map[string]map[uint64]bool{"put": put, "deleting": deleting, "deleted": deleted}[what][k] = true
	}
	answered = len(put) + len(deleted)
	s, err := Open(Config{Path: path, Buckets: []string{blobs.Name(), triples.Name()}})
	if err != nil {
		return answered, err
	}
	var problems []error
	if err := s.Check(func(problem string) { problems = append(problems, errors.New(problem)) }); err != nil {
		problems = append(problems, err)
	}
	there := map[uint64]bool{}
	problems = append(problems, s.View(func(tx *Tx) error {
		for item, err := range triples.Scan(tx, Range{}) {
			if err != nil {
				return err
			}
			k := item.Key.B.B
			there[k] = true
			other, err := blobs.Get(tx, 1_000_000+k)
			if err != nil || len(item.Value) != int(k%700) || !bytes.Equal(other, item.Value) {
				return fmt.Errorf("only a part of change %d is there: %w", k, err)
			}
		}
		n := 0
		for item, err := range blobs.Scan(tx, blobs.From(1_000_000)) {
			if err != nil {
				return err
			}
			if n++; !there[item.Key-1_000_000] {
				return fmt.Errorf("only the other part of change %d is there", item.Key-1_000_000)
			}
		}
		return nil
	}))
	for k := range put {
		if !there[k] && !deleting[k] {
			problems = append(problems, fmt.Errorf("change %d was acknowledged and is lost", k))
		}
		if there[k] && deleted[k] {
			problems = append(problems, fmt.Errorf("the deletion of %d was acknowledged and is lost", k))
		}
	}
	if err := s.Update(func(tx *Tx) error { return blobs.Put(tx, 5, nil) }); err != nil {
		problems = append(problems, fmt.Errorf("a write afterwards: %w", err))
	}
	return answered, errors.Join(errors.Join(problems...), s.Close())
}

// rewrite opens an existing store, overwrites its blobs, and prints each key after its Update has returned.
func rewrite() {
	s, err := Open(childConfig())
	fatal(err)
	for k := range uint64(3) {
		fatal(putBlob(s, k, 20_000+k))
		fmt.Println(k)
	}
	fatal(s.Close())
	os.Exit(0)
}

// putBlob overwrites one of a few large blobs, which frees and reuses pages.
func putBlob(s *Store, k, size uint64) error {
	return s.Update(func(tx *Tx) error { return blobs.Put(tx, k%3, make([]byte, size)) })
}

// TestPowerCutAfterUnconfirmed ends a process before the disk has confirmed a commit. The next process reads meta
// pages from the system's cache that differ from those on the disk. The test cuts the power at every sync of that
// process.
func TestPowerCutAfterUnconfirmed(t *testing.T) {
	// The states of a store before its last commit and after it.
	path := filepath.Join(t.TempDir(), "s.db")
	s := openStore(t, Config{Path: path, Buckets: []string{blobs.Name(), triples.Name()}})
	var before, after []byte
	for k := range uint64(10) {
		var err error
		if before = after; err == nil {
			err = putBlob(s, k, 20_000+k*100)
		}
		if err == nil {
			after, err = os.ReadFile(path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	closeChecked(t, s)
	// everything that a commit syncs before its meta page
	older := append(bytes.Clone(before[:2*pageSize]), after[2*pageSize:]...)
	for name, c := range map[string]struct{ cache, disk []byte }{
		"a commit whose meta page is not on the disk":                  {cache: after, disk: older},
		"a commit that was taken back, and is all that the disk knows": {cache: older, disk: after},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "s.db")
			if err := os.WriteFile(path, c.cache, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := child("rewriter", path)
			cmd.Stderr = nil
			record, ok := powercut.Record(t, dir, cmd)
			if !ok {
				return
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			history := record()
			history.Kept("s.db", c.disk)
			scratch := powercut.Scratch(t)
			cuts := 0
			for cut := range history.PowerCuts(powerCuts, rand.New(rand.NewPCG(damageSeed(t), 4))) {
				cuts++
				left := filepath.Join(scratch, fmt.Sprint(cuts))
				if err := cut.Write(left); err != nil {
					t.Fatal(err)
				}
				if err := afterRewrite(filepath.Join(left, "s.db"), string(cut.Said())); err != nil {
					t.Errorf("%v: %v", cut, err)
				}
				os.RemoveAll(left)
			}
			if cuts < 4*powerCuts {
				t.Errorf("%d cuts are too few to tell anything", cuts)
			}
		})
	}
}

// afterRewrite checks the remains of a store that rewrite wrote to against its output.
func afterRewrite(path, said string) error {
	s, err := Open(Config{Path: path, Buckets: []string{blobs.Name(), triples.Name()}})
	if err != nil {
		return err
	}
	var problems []error
	if err := s.Check(func(problem string) { problems = append(problems, errors.New(problem)) }); err != nil {
		problems = append(problems, err)
	}
	problems = append(problems, s.View(func(tx *Tx) error {
		for k := range uint64(strings.Count(said, "\n")) {
			if v, err := blobs.Get(tx, k%3); err != nil || uint64(len(v)) < 20_000+k {
				return fmt.Errorf("change %d was acknowledged and is lost: %w", k, err)
			}
		}
		return nil
	}), putBlob(s, 0, 30_000))
	return errors.Join(errors.Join(problems...), s.Close())
}
