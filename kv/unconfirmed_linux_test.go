//go:build rig

package kv

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"opsmon/kv/powercut"
)

// unconfirmedWrites is the number of changes that the child makes while syncs fail.
const unconfirmedWrites = 30

// outcome names the result of an Update.
func outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrUnconfirmed):
		return "unknown"
	case errors.Is(err, ErrReadOnly):
		return "absent"
	}
	return err.Error()
}

func init() { roles["unconfirmed"], roles["watched"] = writeOnOneThread, writeWhileRead }

// writeOnOneThread changes a store from one thread, because strace counts system calls by thread. It prints each
// result and whether a View sees the change.
func writeOnOneThread() {
	runtime.LockOSThread()
	s, err := Open(childConfig())
	fatal(err)
	for k := range uint64(unconfirmedWrites) {
		ended := outcome(s.Update(func(tx *Tx) error {
			// churn: pages are freed and reused
			if err := blobs.Put(tx, 1_000, make([]byte, k*7919%30_000)); err != nil {
				return err
			}
			return blobs.Put(tx, k, make([]byte, k*977%5000))
		}))
		seen := false
		fatal(s.View(func(tx *Tx) error { seen = blobs.Has(tx, k); return nil }))
		fatal(s.Writable())
		fmt.Println(k, ended, seen)
	}
	fatal(s.Close())
	os.Exit(0)
}

// runUnder runs a role of the test binary with failing system calls and returns its output.
func runUnder(t *testing.T, role string, inject ...string) (path string, lines []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s.db")
	closeChecked(t, openStore(t, Config{Path: path, Buckets: []string{blobs.Name(), triples.Name()}}))
	cmd := child(role, path)
	flags := []string{"-o", os.DevNull, "-e", "trace=fdatasync,fsync"}
	for _, i := range inject {
		flags = append(flags, "-e", "inject="+i)
	}
	if !powercut.Strace(t, cmd, flags...) {
		t.SkipNow()
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewScanner(out); in.Scan(); {
		lines = append(lines, in.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v after %q", err, lines)
	}
	return path, lines
}

// TestFailedSync makes syncs of the pages and of the meta page fail. A change that failed is absent immediately and
// permanently, or is reported as unknown and is absent once the disk works; later writes succeed without
// intervention.
func TestFailedSync(t *testing.T) {
	for _, c := range []struct {
		name   string
		inject []string
		ended  map[string]int
	}{
		{"of pages", []string{"fdatasync:error=EIO:when=3+3"}, map[string]int{"ok": 15, "absent": 15}},
		{"of the meta page", []string{"fdatasync:error=EIO:when=4+4"}, map[string]int{"ok": 15, "absent": 15}},
		// the first fsync grows the file
		{"for a while", []string{"fdatasync:error=EIO:when=4", "fsync:error=EIO:when=2..5"}, map[string]int{"ok": 26, "unknown": 1, "absent": 3}},
		{"of the file's growth", []string{"fsync:error=EIO:when=2"}, map[string]int{"ok": 29, "absent": 1}},
		{"of what was found", []string{"fsync:error=EIO:when=1..3"}, map[string]int{"ok": 27, "absent": 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, lines := runUnder(t, "unconfirmed", c.inject...)
			ended := map[string]int{}
			kept := map[uint64]bool{}
			for _, line := range lines {
				var k uint64
				var how string
				var seen bool
				if _, err := fmt.Sscan(line, &k, &how, &seen); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				ended[how]++
				kept[k] = how == "ok"
				if seen != kept[k] && how != "unknown" {
					t.Errorf("change %d ended %s, and a View sees it: %v", k, how, seen)
				}
			}
			if fmt.Sprint(ended) != fmt.Sprint(c.ended) {
				t.Errorf("changes ended %v, want %v", ended, c.ended)
			}
			s := openStore(t, Config{Path: path, Buckets: []string{blobs.Name(), triples.Name()}})
			if err := s.View(func(tx *Tx) error {
				for k, want := range kept {
					if blobs.Has(tx, k) != want {
						t.Errorf("after all, change %d is there: %v, want %v", k, !want, want)
					}
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// writeWhileRead makes a change whose meta page the disk refuses only after a delay, and reads it meanwhile in a long
// View: until that ends, no write may reuse its pages.
func writeWhileRead() {
	runtime.LockOSThread()
	s, err := Open(childConfig())
	fatal(err)
	put := func(size int) string {
		return outcome(s.Update(func(tx *Tx) error { return blobs.Put(tx, 1, make([]byte, size)) }))
	}
	fmt.Println(put(20_000))
	opened, release, closed := make(chan bool), make(chan bool), make(chan error)
	go func() {
		for early := false; !early; time.Sleep(time.Millisecond) {
			err := s.View(func(tx *Tx) error {
				v, err := blobs.Get(tx, 1)
				if early = len(v) == 30_000; !early || err != nil {
					return err
				}
				opened <- true
				<-release
				_, err = blobs.Get(tx, 1)
				return err
			})
			if early || err != nil {
				closed <- err
				return
			}
		}
	}()
	ended := make(chan string)
	go func() {
		runtime.LockOSThread()
		ended <- put(20_001)
		ended <- put(20_002)
		ended <- put(30_000) // the sixth sync of this thread fails
	}()
	fmt.Println(<-ended, <-ended)
	<-opened
	fmt.Println(<-ended)
	fmt.Println(put(40_000))
	release <- true
	fatal(<-closed)
	fmt.Println(put(50_000))
	fatal(s.Close())
	os.Exit(0)
}

// TestFailedSyncWhileRead checks that a View that began before a sync failed continues to see its snapshot, and that
// writes wait for its end.
func TestFailedSyncWhileRead(t *testing.T) {
	_, lines := runUnder(t, "watched", "fdatasync:error=EIO:delay_enter=500000:when=6")
	if want := []string{"ok", "ok ok", "absent", "absent", "ok"}; !slices.Equal(lines, want) {
		t.Errorf("changes ended %q, want %q", lines, want)
	}
}

// TestUnreadableDisk makes the disk fail to read pages for a while. That is not damage: reads and writes work again
// afterwards.
func TestUnreadableDisk(t *testing.T) {
	s := openStore(t, Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name()}})
	put := func(k uint64) error {
		return s.Update(func(tx *Tx) error { return blobs.Put(tx, k, make([]byte, 3000)) })
	}
	for k := range uint64(50) {
		if err := put(k); err != nil {
			t.Fatal(err)
		}
	}
	read := func() error {
		return s.View(func(tx *Tx) error {
			for _, err := range blobs.Scan(tx, Range{}) {
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	pages := mapped(t, s)
	if err := unix.Mprotect(pages, unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"View": read(), "Update": put(50), "Count": s.View(func(tx *Tx) error { blobs.Count(tx); return nil })} {
		var transient interface{ Unavailable() bool }
		if !errors.Is(err, ErrNoRead) || errors.Is(err, ErrDamaged) || !errors.As(err, &transient) {
			t.Errorf("%s: %v, want ErrNoRead", name, err)
		}
	}
	if err := unix.Mprotect(pages, unix.PROT_READ); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(read(), put(50), s.Damage(), s.Writable()); err != nil {
		t.Errorf("when the disk gives pages again: %v", err)
	}
}

// mapped returns the mapped memory of the store's file, without the meta pages.
func mapped(t *testing.T, s *Store) []byte {
	t.Helper()
	info, err := s.file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	base := s.bolt.Info().Data
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&base)), info.Size())[2*pageSize:]
}

// failingFile is a file that cannot be read from an offset on.
type failingFile struct {
	*os.File
	from int64
}

func (f failingFile) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > f.from {
		return 0, &os.PathError{Op: "read", Path: f.Name(), Err: unix.EIO}
	}
	return f.File.ReadAt(p, at)
}

// TestUnreadablePages checks that a check that cannot read pages reports that, and not damage.
func TestUnreadablePages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := openStore(t, Config{Path: path, Buckets: []string{blobs.Name()}})
	for k := range uint64(50) {
		if err := s.Update(func(tx *Tx) error { return blobs.Put(tx, k, make([]byte, 3000)) }); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	metas, err := readMetas(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []int64{0, 2 * pageSize, 10 * pageSize, 30 * pageSize} {
		bad := failingFile{f, from}
		if _, err := readMetas(bad); from == 0 && !errors.Is(unreadable("check", err), ErrNoRead) {
			t.Errorf("meta pages: %v", err)
		}
		err := walkPages(bad, metas[1], func(problem string) { t.Errorf("from %d: %s", from, problem) })
		if !errors.Is(err, ErrNoRead) || strings.Contains(err.Error(), "damaged") {
			t.Errorf("from %d: %v, want ErrNoRead", from, err)
		}
	}
}
