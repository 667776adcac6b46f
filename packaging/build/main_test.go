package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aead.dev/minisign"
)

// scratch is a directory shared by all tests: a release takes seconds to build, and several tests use the same one.
var scratch string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "app-packaging-test-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		scratch = dir
		return m.Run()
	}())
}

// dist is a built release: the directory of its files and the key that verifies them.
type dist struct {
	dir string
	key minisign.PublicKey
	log string
}

var (
	building sync.Mutex
	built    = map[string]dist{}
)

// releaseOf builds the release of a version once: signed, for Linux and Windows on amd64. Version 1.0.0 has all
// formats, others have those whose tools are installed.
func releaseOf(t *testing.T, version string) dist {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	if d, ok := built[version]; ok {
		return d
	}
	d := dist{dir: filepath.Join(scratch, "Prüf stand", version)}
	public, err := throwAwayKey()
	if err != nil {
		t.Fatal(err)
	}
	d.key = public
	args := []string{"--version", version, "--out", d.dir, "--targets", "linux/amd64,windows/amd64", "--sign-key", secretKey()}
	if version != "1.0.0" {
		needs(t, []string{"msibuild"})
		args = append(args, "--formats", "tar.gz,deb,rpm,msi")
	}
	if d.log, err = build(t, moduleOf(t), args...); err != nil {
		t.Fatal(err)
	}
	built[version] = d
	return d
}

// build runs the program in the source at root, as a user does, without the test's race detector.
func build(t *testing.T, root string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "./packaging/build"}, args...)...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "APP_SIGN_PASSWORD="+password)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return string(out), err
}

const password = "correct horse"

// throwAwayKey creates a key that is encrypted with password, once, and returns its public key.
var throwAwayKey = sync.OnceValues(func() (minisign.PublicKey, error) {
	public, key, err := minisign.GenerateKey(nil)
	if err != nil {
		return public, err
	}
	b, err := minisign.EncryptKey(password, key)
	if err != nil {
		return public, err
	}
	return public, os.WriteFile(secretKey(), b, 0o600)
})

// secretKey returns the file of the secret key.
func secretKey() string { return filepath.Join(scratch, "secret.key") }

// needs returns the first existing program of each list. If one is missing, the test is skipped, or fails where
// everything must be tested.
func needs(t *testing.T, lists ...[]string) []string {
	t.Helper()
	var found []string
	for _, names := range lists {
		var errs []error
		for _, name := range names {
			path, err := exec.LookPath(name)
			if errs = append(errs, err); err == nil {
				found, errs = append(found, path), nil
				break
			}
		}
		if err := errors.Join(errs...); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("the checks need %s: %v", names[0], err)
			}
			t.Skipf("tried only where %s is: %v", names[0], err)
		}
	}
	return found
}

// file returns the path of the only file of a release whose name ends in end.
func (d dist) file(t *testing.T, end string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(d.dir, "*"+end))
	if err != nil || len(found) != 1 {
		t.Fatalf("files with the end %s: %v, %v; the build said:\n%s", end, found, err, d.log)
	}
	return found[0]
}

// files returns the contents of a directory by name.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = b
	}
	return all
}

// unpack reads a tar.gz or zip archive and checks that each entry has a plain name and the expected mode and time.
func unpack(t *testing.T, file string, at time.Time) map[string][]byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	add := func(name string, mode os.FileMode, modified time.Time, r io.Reader) {
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		want := os.FileMode(0o644)
		if strings.TrimSuffix(name, ".exe") == "app" {
			want = 0o755
		}
		if mode != want || !modified.Equal(at) || name != filepath.Base(name) {
			t.Errorf("%s in %s has mode %o and is of %v, want %o and %v", name, file, mode, modified, want, at)
		}
		all[name] = content
	}
	if strings.HasSuffix(file, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			add(f.Name, f.Mode(), f.Modified, r)
		}
		return all
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		add(h.Name, h.FileInfo().Mode(), h.ModTime, r)
	}
}
