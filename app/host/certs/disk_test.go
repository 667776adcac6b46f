package certs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// killChild opens an authority and kills its own process at a step of writing it.
func killChild(at, dir string) {
	n, err := strconv.Atoi(at)
	if err != nil {
		panic(err)
	}
	steps := 0
	a, err := open(Config{Dir: dir}, disk{dir: dir, step: func(string) {
		if steps++; steps == n {
			self, err := os.FindProcess(os.Getpid())
			if err != nil {
				panic(err)
			}
			_ = self.Kill()
			select {} // until the signal is here
		}
	}})
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	a.Close()
}

// creation is what making an authority does to the disk. Nothing has its name before all of it is synced, and the key
// is there before the certificate.
var creation = []string{
	"create ca.key.new", "write ca.key.new", "sync ca.key.new", "rename ca.key", "sync directory",
	"create ca.crt.new", "write ca.crt.new", "sync ca.crt.new", "rename ca.crt", "sync directory",
	"create server.pem.new", "write server.pem.new", "sync server.pem.new", "rename server.pem", "sync directory",
}

func TestTheStepsOfCreation(t *testing.T) {
	dir := t.TempDir()
	var steps []string
	a, err := open(Config{Dir: dir}, disk{dir: dir, step: func(s string) { steps = append(steps, s) }})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	if diff := cmp.Diff(creation, steps); diff != "" {
		t.Error(diff)
	}
	steps = nil
	if a, err = open(Config{Dir: dir}, disk{dir: dir, step: func(s string) { steps = append(steps, s) }}); err != nil {
		t.Fatal(err)
	}
	a.Close()
	if len(steps) > 0 {
		t.Errorf("an authority that is there is written again: %v", steps)
	}
}

func TestKilledAtEveryStepOfCreation(t *testing.T) {
	for n, step := range creation {
		dir := filepath.Join(t.TempDir(), "tls")
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(cmd.Environ(), "CERTS_TEST_KILL_AT="+strconv.Itoa(n+1), "CERTS_TEST_DIR="+dir)
		out, err := cmd.CombinedOutput()
		if exit := (&exec.ExitError{}); !errors.As(err, &exit) || exit.Exited() && runtime.GOOS != "windows" {
			t.Fatalf("%s: the child was not killed: %v\n%s", step, err, out)
		}
		left, hadOne := "", false
		if ca, err := ReadCA(dir); err == nil {
			left, hadOne = ca.Fingerprint(), true
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: it left %v", step, err)
		}
		if want := n >= 8; hadOne != want {
			t.Errorf("%s: a certificate is there: %v", step, hadOne)
		}
		key, _ := os.ReadFile(filepath.Join(dir, CAKeyFile)) // none in the first steps
		var seen []string
		for range 2 {
			a, err := Open(Config{Dir: dir})
			if err != nil {
				t.Fatalf("%s: %v", step, err)
			}
			seen = append(seen, a.Fingerprint())
			a.Close()
		}
		if seen[0] != seen[1] || hadOne && seen[0] != left {
			t.Errorf("%s: it left %q; then opened as %v", step, left, seen)
		}
		if now, err := os.ReadFile(filepath.Join(dir, CAKeyFile)); err != nil || len(key) > 0 && !bytes.Equal(now, key) || (len(key) > 0) != (n >= 3) {
			t.Errorf("%s: the key that was there is not used (%v)", step, err)
		}
		var names []string
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if diff := cmp.Diff([]string{"ca.crt", "ca.key", "server.pem"}, names); diff != "" {
			t.Errorf("%s: %s", step, diff)
		}
	}
}

func TestRights(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps rights by the directory")
	}
	dir := filepath.Join(t.TempDir(), "a", "tls")
	p := newPlant()
	p.open(t, dir)
	mode := func(name string) fs.FileMode {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	if mode(".") != 0o700 || mode(CAFile) != 0o600 || mode(CAKeyFile) != 0o600 {
		t.Errorf("rights: directory %o, certificate %o, key %o", mode("."), mode(CAFile), mode(CAKeyFile))
	}
	for _, name := range []string{CAFile, CAKeyFile} {
		if err := os.Chmod(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.open(t, dir)
	if mode(CAFile) != 0o600 || mode(CAKeyFile) != 0o600 {
		t.Errorf("opened again: certificate %o, key %o", mode(CAFile), mode(CAKeyFile))
	}
	if n := strings.Count(p.logged(), "could read the authority's key"); n != 1 {
		t.Errorf("told %d times of a key that others could read", n)
	}
}

func TestFilesThatAreNotWhole(t *testing.T) {
	whole, other := t.TempDir(), t.TempDir()
	newPlant().open(t, whole)
	newPlant().open(t, other)
	read := func(dir, name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	crt, key := read(whole, CAFile), read(whole, CAKeyFile)
	leaf := writeLeaf(t, leafOptions{}).cert
	for _, tt := range []struct {
		name, crt, key string // "" = not there
		says           string
	}{
		{"no key", crt, "", "its key ca.key is not"},
		{"another's key", crt, read(other, CAKeyFile), "does not belong"},
		{"an empty certificate", "\n", key, "holds no certificate"},
		{"an empty key", crt, "\n", "holds no key"},
		{"half a certificate", crt[:len(crt)/2], key, "holds no certificate"},
		{"a damaged certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", key, "damaged certificate"},
		{"a damaged key", crt, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "damaged key"},
		{"no authority", leaf, key, "may not issue others"},
		{"the files swapped", key, crt, "holds no key"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{CAFile: tt.crt, CAKeyFile: tt.key} {
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		a, err := Open(newPlant().config(dir))
		if err == nil {
			a.Close()
			t.Errorf("%s: opened", tt.name)
			continue
		}
		if text := err.Error(); !strings.Contains(text, tt.says) || !strings.Contains(text, dir) || !strings.Contains(text, "delete both") {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.crt != "" && read(dir, CAFile) != tt.crt || tt.key != "" && read(dir, CAKeyFile) != tt.key {
			t.Errorf("%s: the files were changed", tt.name)
		}
	}
}

func TestADirectoryThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := Open(Config{Dir: file}); err == nil {
		a.Close()
		t.Error("a file is taken for a directory")
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "ca.key.new", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if a, err := Open(Config{Dir: dir}); err == nil {
		a.Close()
		t.Error("something in the way of the key is no error")
	}
}
