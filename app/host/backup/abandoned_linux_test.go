package backup

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAbandoned: what a killed `app backup FILE` left is gone after the next one in that directory, of whatever name that is.
// What somebody writes at the moment, another machine's, another user's, a link and any other file stay.
func TestAbandoned(t *testing.T) {
	s := openStore(t, t.TempDir())
	whole, to := readFile(t, made(t, Config{Store: s})), t.TempDir()
	killed := child("receive", t.TempDir(), filepath.Join(to, "plant.backup"), "BACKUP_TEST_STEP=receiving")
	killed.Stdin = strings.NewReader(whole)
	expectKilled(t, killed)
	left := func() (names []string) {
		found, err := filepath.Glob(filepath.Join(to, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			names = append(names, filepath.Base(path))
		}
		return names
	}
	if names := left(); len(names) != 1 || !strings.HasPrefix(names[0], "plant.backup"+partial+machineMark()) {
		t.Fatalf("the killed one left %v", names)
	}
	f, release, err := createHeld(to, "written.backup")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil { // it is read back now
		t.Fatal(err)
	}
	link, foreign, other := "b.backup"+partial+machineMark()+"1", "c.backup"+partial+"00000000-1", "d.backup"+partial+machineMark()+"1"
	for _, err := range []error{os.Symlink(f.Name(), filepath.Join(to, link)), os.WriteFile(filepath.Join(to, foreign), nil, 0o600), os.WriteFile(filepath.Join(to, other), nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	stay := []string{link, foreign, filepath.Base(f.Name())}
	if os.Geteuid() == 0 {
		if err := os.Chown(filepath.Join(to, other), 65534, 65534); err != nil {
			t.Fatal(err)
		}
		stay = append(stay, other)
	}
	receive := func(name string) {
		t.Helper()
		if _, err := Receive(t.Context(), ReceiveConfig{Path: filepath.Join(to, name)}, strings.NewReader(whole)); err != nil {
			t.Fatal(err)
		}
		stay = append(stay, name)
		slices.Sort(stay)
		expectOnly(t, to, stay...)
	}
	receive("another.backup")
	release()
	stay = []string{link, foreign, "another.backup"}
	if os.Geteuid() == 0 {
		stay = append(stay, other)
	}
	receive("plant.backup")
}

// TestHeldWhileReadBack: an unfinished backup is held until it has its name, so that nobody sweeps it before.
func TestHeldWhileReadBack(t *testing.T) {
	s := openStore(t, t.TempDir())
	whole, to := readFile(t, made(t, Config{Store: s})), t.TempDir()
	swept := io.MultiReader(strings.NewReader(whole), readerOf(func() error { return sweepAbandoned(to) }))
	if _, err := Receive(t.Context(), ReceiveConfig{Path: filepath.Join(to, "x.backup")}, swept); err != nil {
		t.Fatal(err)
	}
	expectOnly(t, to, "x.backup")
}
