package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if b, err := os.ReadFile(path); err != nil || string(b) != want {
		t.Errorf("%s holds %q, %v; want %q", filepath.Base(path), b, err, want)
	}
}

// TestReplace checks that any failure leaves the old content and no other file.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := Replace(path, strings.NewReader("one"), Options{}); err != nil {
		t.Fatal(err)
	}
	wantText(t, path, "one")
	failure := errors.New("no")
	for name, fail := range map[string]func() error{
		"the content cannot be read": func() error { return Replace(path, iotest.ErrReader(failure), Options{}) },
		"it is not ready": func() error {
			return Replace(path, strings.NewReader("two"), Options{Ready: func(temp string) error {
				wantText(t, temp, "two")
				return failure
			}})
		},
		"it cannot be renamed": func() error {
			return Replace(path, strings.NewReader("two"), Options{Rename: func(string, string) error { return failure }})
		},
	} {
		if err := fail(); !errors.Is(err, failure) {
			t.Errorf("%s: %v", name, err)
		}
		wantText(t, path, "one")
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("%s: %v are left, %v", name, left, err)
		}
	}
	var steps []string
	o := Options{Mode: 0o644, Step: func(done string) { steps = append(steps, done) }}
	if err := Replace(path, strings.NewReader("two"), o); err != nil {
		t.Fatal(err)
	}
	wantText(t, path, "two")
	if got := strings.Join(steps, ", "); got != "create f.new, write f.new, sync f.new, rename f, sync directory" {
		t.Errorf("the steps are %s", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o644 && runtime.GOOS != "windows" {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
}

// TestReplaceFollowsNoLink checks that write access to the directory does not allow overwriting another file through
// a link.
func TestReplaceFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "f"), filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, path+".new"); err != nil {
		t.Skip("NOT RUN: this machine makes no links: ", err)
	}
	if err := Replace(path, strings.NewReader("one"), Options{}); err != nil {
		t.Fatal(err)
	}
	wantText(t, path, "one")
	wantText(t, other, "other")
}

// TestNames checks that Link refuses an existing name, that Rename replaces it, and that removing twice is no error.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, path := range []string{a, b} {
		if err := os.WriteFile(path, []byte(filepath.Base(path)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Link(a, b); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a name that is taken: %v", err)
	}
	wantText(t, b, "b")
	if err := Link(a, filepath.Join(dir, "c")); err != nil {
		t.Error(err)
	}
	wantText(t, filepath.Join(dir, "c"), "a")
	if err := Rename(a, b); err != nil {
		t.Error(err)
	}
	wantText(t, b, "a")
	if Exists(a) || !Exists(b) {
		t.Error("the names are not as they should be")
	}
	for range 2 {
		if err := errors.Join(Remove(b), RemoveTree(filepath.Join(dir, "tree"))); err != nil {
			t.Error(err)
		}
	}
	if same, err := SameDisk(dir, dir); !same || err != nil {
		t.Errorf("a directory is on its disk: %v, %v", same, err)
	}
	if space, err := SpaceOf(dir); err != nil || space.Total <= 0 || space.Free > space.Total {
		t.Errorf("%+v, %v", space, err)
	}
}
