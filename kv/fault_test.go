package kv

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// expectLocked opens a store that is open elsewhere and checks for ErrLocked after about the timeout.
func expectLocked(t *testing.T, path string) {
	t.Helper()
	const timeout = 300 * time.Millisecond
	start := time.Now()
	_, err := Open(Config{Path: path, LockTimeout: timeout})
	took := time.Since(start)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "stop that process first") {
		t.Errorf("got %v, want ErrLocked with advice", err)
	}
	if took < timeout/2 || took > timeout+2*time.Second {
		t.Errorf("took %v where the limit is %v", took, timeout)
	}
}

// TestLockedHere opens a store twice in one process.
func TestLockedHere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := openStore(t, Config{Path: path})
	expectLocked(t, path)
	if err := s.Update(func(tx *Tx) error { return about.Put(tx, "x", 1) }); err != nil {
		t.Errorf("the first is harmed: %v", err)
	}
}

// TestNotAStore opens files that are not intact stores, twice each, because the first failure must release the lock.
func TestNotAStore(t *testing.T) {
	whole := sampleStore(t)
	foreign := bytes.Clone(whole)
	native.PutUint32(foreign[pageHeader+4:], 9)
	oneMeta := bytes.Clone(whole)
	oneMeta[pageHeader+48]++
	garbage := make([]byte, 64<<10)
	for i := range garbage {
		garbage[i] = byte(rand.Uint32())
	}
	for name, data := range map[string][]byte{
		"empty":           {},
		"one byte":        {1},
		"text":            []byte(strings.Repeat("not a store\n", 1000)),
		"garbage":         garbage,
		"zeros":           make([]byte, 64<<10),
		"half":            whole[:len(whole)/2],
		"two pages":       whole[:2*pageSize],
		"one page":        whole[:pageSize],
		"foreign version": foreign,
		"one meta broken": oneMeta,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := Open(Config{Path: path}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "restore the newest backup") {
					t.Fatalf("got %v, want ErrDamaged with advice", err)
				}
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, data) {
				t.Errorf("the file was changed")
			}
			// An intact store in its place opens.
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			openStore(t, Config{Path: path})
		})
	}
	t.Run("directory", func(t *testing.T) {
		dir := t.TempDir()
		if _, err := Open(Config{Path: dir}); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("got %v, want an error with the path", err)
		}
	})
	t.Run("under a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Config{Path: filepath.Join(file, "s.db")}); err == nil {
			t.Error("a path under a file was opened")
		}
	})
}

// sampleValues returns the content of sampleStore: enough keys for branch pages, and one value over several pages.
func sampleValues() map[uint64][]byte {
	values := map[uint64][]byte{}
	for i := range uint64(sampleKeys) {
		values[benchKey(i)] = bytes.Repeat([]byte{byte(i)}, int(i%600))
	}
	values[7] = bytes.Repeat([]byte("long"), 4000)
	return values
}

// sampleStore returns the bytes of a store with branch, leaf, overflow and free pages.
func sampleStore(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample.db")
	s := openStore(t, Config{Path: path, Buckets: []string{blobs.Name(), triples.Name()}})
	values := sampleValues()
	for range 2 {
		err := s.Update(func(tx *Tx) error {
			for k, v := range values {
				if err := blobs.Put(tx, k, v); err != nil {
					return err
				}
			}
			return triples.Put(tx, triple("a", "b", 1), []byte("small"))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	size := s.Size()
	closeChecked(t, s)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data[:size]
}

// TestDamagedPages damages every page in several ways. Every read must return the right value or an error; Check must
// detect missing entries; nothing may crash.
func TestDamagedPages(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: -short leaves out what takes long")
	}
	whole := sampleStore(t)
	values := sampleValues()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(damageSeed(t), 2))
	pages := len(whole) / pageSize
	damages := []struct {
		name string
		do   func(page []byte)
	}{
		{"zeros", func(p []byte) { clear(p) }},
		{"ones", func(p []byte) { copy(p, bytes.Repeat([]byte{0xFF}, len(p))) }},
		{"noise", func(p []byte) {
			for i := range p {
				p[i] = byte(rng.Uint32())
			}
		}},
		{"noise after the header", func(p []byte) {
			for i := range p[pageHeader:] {
				p[pageHeader+i] = byte(rng.Uint32())
			}
		}},
		{"another page", func(p []byte) { copy(p, whole[rng.IntN(pages)*pageSize:][:pageSize]) }},
		{"another page with this number", func(p []byte) {
			id := native.Uint64(p)
			copy(p, whole[rng.IntN(pages)*pageSize:][:pageSize])
			native.PutUint64(p, id)
		}},
		{"second half lost", func(p []byte) { clear(p[len(p)/2:]) }},
	}
	for at := range pageHeader {
		damages = append(damages, struct {
			name string
			do   func(page []byte)
		}{fmt.Sprintf("header byte %d", at), func(p []byte) { p[at] ^= 1 << rng.IntN(8) }})
	}
	for i := range bitFlips {
		damages = append(damages, struct {
			name string
			do   func(page []byte)
		}{fmt.Sprintf("bit %d", i), func(p []byte) { p[rng.IntN(len(p)>>(4*(i%3)))] ^= 1 << rng.IntN(8) }})
	}
	var refused, failed, fine int
	for page := range pages {
		for i, damage := range damages {
			data := bytes.Clone(whole)
			damage.do(data[page*pageSize:][:pageSize])
			path := filepath.Join(dir, fmt.Sprintf("%d-%d.db", page, i))
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			noticed, err := readDamaged(path, values)
			switch {
			case err != nil:
				t.Fatalf("page %d of %d, %s: %v", page, pages, damage.name, err)
			case noticed == atOpen:
				refused++
			case noticed == atRead:
				failed++
			default:
				fine++
			}
			os.Remove(path)
		}
	}
	t.Logf("%d damages: %d refused at Open, %d noticed later, %d without effect", pages*len(damages), refused, failed, fine)
	if refused == 0 || failed == 0 || fine == 0 {
		t.Error("the damages are not of all kinds")
	}
}

// TestDamagedTree damages pages in ways that crash or hang bbolt: Open must detect them all.
func TestDamagedTree(t *testing.T) {
	whole := sampleStore(t)
	metas, err := readMetas(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	free, ids, err := readFree(bytes.NewReader(whole), metas[1])
	if err != nil || len(ids) == 0 {
		t.Fatalf("%d free pages, %v", len(ids), err)
	}
	// blobs has a branch page above its leaves.
	var branch page
	for id := uint64(2); id < metas[1].pages && branch.data == nil; id++ {
		if p, err := readPage(bytes.NewReader(whole), metas[1], id); err == nil && p.flags == flagBranch && !slices.Contains(ids, id) {
			branch = p
		}
	}
	second, err := branch.element(1)
	if err != nil {
		t.Fatal(err)
	}
	const pointer = pageHeader + elementSize + 8 // of a branch page's second element
	point := func(to uint64) func(data []byte) {
		return func(data []byte) { native.PutUint64(data[branch.id*pageSize+pointer:], to) }
	}
	leaf := second.page * pageSize
	for name, damage := range map[string]func(data []byte){
		"a branch leads to itself":      point(branch.id),
		"a branch leads to a free page": point(ids[0]),
		"a branch leads to a meta page": point(0),
		"a branch leads nowhere":        point(metas[1].pages),
		"two branches lead to one page": func(data []byte) {
			copy(data[branch.id*pageSize+pointer:][:8], data[branch.id*pageSize+pointer+elementSize:][:8])
		},
		"a leaf takes billions of pages": func(data []byte) { native.PutUint32(data[leaf+12:], 1<<31) },
		"a leaf takes the next page":     func(data []byte) { native.PutUint32(data[leaf+12:], 1) },
		"a leaf is another":              func(data []byte) { native.PutUint64(data[leaf:], second.page+1) },
		"a leaf is a meta page":          func(data []byte) { native.PutUint16(data[leaf+8:], flagMeta) },
		"a page in use is free": func(data []byte) {
			for i, id := range ids {
				if !slices.Contains(ids, id+1) {
					native.PutUint64(data[free.id*pageSize+pageHeader+8*uint64(i):], id+1)
					return
				}
			}
		},
		"the free list is too long":        func(data []byte) { native.PutUint16(data[free.id*pageSize+10:], 0xFFFE) },
		"the free list is shorter":         func(data []byte) { native.PutUint16(data[free.id*pageSize+10:], uint16(len(ids)-1)) },
		"the keys of a branch are swapped": func(data []byte) { data[branch.id*pageSize+uint64(bytes.Index(branch.data, second.key))] = 0xFF },
	} {
		t.Run(name, func(t *testing.T) {
			data := bytes.Clone(whole)
			damage(data)
			path := filepath.Join(t.TempDir(), "s.db")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if s, err := Open(Config{Path: path}); !errors.Is(err, ErrDamaged) {
				t.Errorf("got %v, want ErrDamaged", err)
				if err == nil {
					s.Close()
				}
			}
		})
	}
}

type noticed int

const (
	never noticed = iota
	atOpen
	atRead
)

// readDamaged reads a damaged store in every way and returns when the damage was detected.
func readDamaged(path string, values map[uint64][]byte) (noticed, error) {
	s, err := Open(Config{Path: path, Buckets: []string{blobs.Name(), triples.Name()}})
	if err != nil {
		if !errors.Is(err, ErrDamaged) {
			return 0, fmt.Errorf("open: %w", err)
		}
		return atOpen, nil
	}
	defer s.Close()
	problems, lost := 0, 0
	if err := s.Check(func(string) { problems++ }); err != nil {
		return 0, fmt.Errorf("check: %w", err)
	}
	for k, want := range values {
		err := s.View(func(tx *Tx) error {
			got, err := blobs.Get(tx, k)
			if err == nil && !bytes.Equal(got, want) {
				return fmt.Errorf("key %d is wrong", k)
			}
			return err
		})
		switch {
		case err == nil:
		case errors.Is(err, ErrDamaged), errors.Is(err, ErrNotFound):
			lost++
		default:
			return 0, err
		}
	}
	for _, down := range []bool{false, true} {
		left := maps.Clone(values)
		err := s.View(func(tx *Tx) error {
			walk := blobs.Scan(tx, Range{})
			if down {
				walk = blobs.ScanDown(tx, Range{})
			}
			for item, err := range walk {
				if err != nil {
					return err
				}
				if want, ok := left[item.Key]; !ok || !bytes.Equal(item.Value, want) {
					return fmt.Errorf("scan: key %d is wrong", item.Key)
				}
				delete(left, item.Key)
			}
			if len(left) > 0 {
				return fmt.Errorf("scan: %d keys are missing without an error", len(left))
			}
			return nil
		})
		if err != nil && !errors.Is(err, ErrDamaged) {
			return 0, err
		}
		if err != nil {
			lost++
		}
	}
	err = s.Update(func(tx *Tx) error {
		for k, v := range values {
			if err := blobs.Put(tx, k+1, v); err != nil {
				return err
			}
		}
		return triples.Put(tx, triple("", "", 0), nil)
	})
	if err != nil && !errors.Is(err, ErrDamaged) {
		return 0, fmt.Errorf("update: %w", err)
	}
	if lost > 0 && problems == 0 {
		return 0, fmt.Errorf("%d reads failed and Check is clean", lost)
	}
	if problems > 0 || lost > 0 {
		return atRead, nil
	}
	return never, nil
}

// TestNewer opens a store of a later version, which must remain unchanged.
func TestNewer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	nothing := Migration{Name: "nothing", Run: func(*Tx) error { return nil }}
	s := openStore(t, Config{Path: path, Migrations: []Migration{nothing, nothing, nothing}})
	if s.Version() != 3 {
		t.Errorf("version is %d, want 3", s.Version())
	}
	closeChecked(t, s)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(Config{Path: path, Buckets: []string{"more"}, Migrations: []Migration{nothing, nothing}})
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "version 3") || !strings.Contains(err.Error(), "up to 2") {
		t.Errorf("got %v, want ErrNewer with both numbers", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Error("the store was changed")
	}
}

// TestFailingMigration checks that a failed migration leaves the previous version and none of its changes.
func TestFailingMigration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	errBroken := errors.New("broken")
	runs := 0
	put := func(key string) Migration {
		return Migration{Name: "put " + key, Run: func(tx *Tx) error { runs++; return triples.Put(tx, triple(key, "", 0), nil) }}
	}
	bad := Migration{Name: "bad", Run: func(tx *Tx) error {
		if err := triples.Put(tx, triple("bad", "", 0), nil); err != nil {
			return err
		}
		return errBroken
	}}
	buckets := []string{triples.Name()}
	_, err := Open(Config{Path: path, Buckets: buckets, Migrations: []Migration{put("a"), bad, put("c")}})
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "version 2 (bad)") {
		t.Fatalf("got %v", err)
	}
	s := openStore(t, Config{Path: path, Buckets: buckets, Migrations: []Migration{put("a")}})
	if s.Version() != 1 || runs != 1 {
		t.Errorf("version %d after %d runs, want 1 after 1", s.Version(), runs)
	}
	closeChecked(t, s)
	s = openStore(t, Config{Path: path, Buckets: buckets, Migrations: []Migration{put("a"), put("b"), put("c")}})
	if s.Version() != 3 || runs != 3 {
		t.Errorf("version %d after %d runs, want 3 after 3", s.Version(), runs)
	}
	err = s.View(func(tx *Tx) error {
		if triples.Count(tx) != 3 || triples.Has(tx, triple("bad", "", 0)) {
			return errors.New("what failed is there")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestKilledCreation kills a process at each step of creating a store. The result must be no store or a complete one,
// and opening it must remove all temporary files.
func TestKilledCreation(t *testing.T) {
	for _, step := range []string{"missing", "named", "opened", "built", "linked", "removed"} {
		t.Run(step, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			if err := child("creator", path, "KV_TEST_STEP="+step).Run(); err == nil || err.Error() == "exit status 3" {
				t.Fatalf("the child was not killed: %v", err)
			}
			if _, err := os.Stat(path); (err == nil) != (step == "linked" || step == "removed") {
				t.Errorf("stat: %v", err)
			}
			s := openStore(t, Config{Path: path, Buckets: []string{blobs.Name()}})
			if err := s.Update(func(tx *Tx) error { return blobs.Put(tx, 1, nil) }); err != nil {
				t.Error(err)
			}
			entries, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(entries) != 1 {
				t.Errorf("the directory holds %v, %v", entries, err)
			}
		})
	}
}

// TestCreatedTogether opens the same new store from many goroutines: one wins, and no other file is left.
func TestCreatedTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	results := make(chan error)
	const n = 8
	for range n {
		go func() {
			s, err := Open(Config{Path: path, LockTimeout: 10 * time.Second})
			if err == nil {
				err = s.Close()
			}
			results <- err
		}()
	}
	for range n {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
}

// TestCreatedMeanwhile opens a store that another process creates just after this one found it missing.
func TestCreatedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	made := false
	s := openStore(t, Config{Path: path, step: func(name string) {
		if name == "missing" {
			closeChecked(t, openStore(t, Config{Path: path}))
			made = true
		}
	}})
	closeChecked(t, s)
	if !made {
		t.Error("the other process did not create it")
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
}

// TestKilled kills a process during writes. All acknowledged writes must be there and the store intact.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	acknowledged := map[uint64]bool{}
	for range killRounds {
		cmd := child("writer", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Duration(100+rand.IntN(400))*time.Millisecond, func() { cmd.Process.Kill() })
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				break // an incomplete line is no acknowledgement
			}
			k, err := strconv.ParseUint(strings.TrimSpace(line), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			acknowledged[k] = true
		}
		if err := cmd.Wait(); err == nil || err.Error() == "exit status 3" {
			t.Fatalf("the child was not killed: %v", err)
		}
		s := openStore(t, Config{Path: path})
		err = s.View(func(tx *Tx) error {
			for k := range acknowledged {
				if v, err := triples.Get(tx, triple("k", "", k)); err != nil || len(v) != int(k%700) {
					return fmt.Errorf("key %d: %d bytes, %w", k, len(v), err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		closeChecked(t, s)
	}
	if len(acknowledged) == 0 {
		t.Error("nothing was acknowledged")
	}
	t.Logf("%d writes were acknowledged", len(acknowledged))
}
