package powercut

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// role is the environment variable with the program that the test binary runs as the recorded command.
const role = "POWERCUT_TEST_ROLE"

func TestMain(m *testing.M) {
	if save, ok := programs[os.Getenv(role)]; ok {
		dir := os.Getenv("POWERCUT_TEST_DIR")
		if err := save(filepath.Join(dir, "a b é")); err != nil {
			panic(err)
		}
		os.Stdout.WriteString("saved\n")
		return
	}
	os.Exit(m.Run())
}

var content = bytes.Repeat([]byte("content "), 1000)

// programs save content in a file called name, safely or not.
var programs = map[string]func(name string) error{
	"well": func(name string) error {
		return errors.Join(save(name+".new", true), os.Rename(name+".new", name), syncDir(filepath.Dir(name)))
	},
	"by a link": func(name string) error {
		return errors.Join(save(name+".new", true), os.Link(name+".new", name), os.Remove(name+".new"), syncDir(filepath.Dir(name)))
	},
	"in pieces, by many": func(name string) error {
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		var wg sync.WaitGroup
		for at := 0; at < len(content); at += 100 {
			wg.Go(func() {
				if _, err := f.WriteAt(content[at:at+100], int64(at)); err != nil {
					panic(err)
				}
			})
		}
		wg.Wait()
		return errors.Join(f.Truncate(int64(len(content))), f.Sync(), f.Close(), syncDir(filepath.Dir(name)))
	},
	"without syncing the content":   func(name string) error { return errors.Join(save(name, false), syncDir(filepath.Dir(name))) },
	"without syncing the directory": func(name string) error { return save(name, true) },
	"over itself": func(name string) error { // a power cut can tear it
		return errors.Join(save(name, true), syncDir(filepath.Dir(name)), save(name, true))
	},
	"by a rename that is not synced": func(name string) error {
		return errors.Join(save(name+".new", true), os.Rename(name+".new", name))
	},
	"in a directory that is not synced": func(name string) error {
		dir := filepath.Join(filepath.Dir(name), "sub")
		return errors.Join(os.Mkdir(dir, 0o700), save(filepath.Join(dir, "f"), true), syncDir(dir), os.Link(filepath.Join(dir, "f"), name))
	},
}

func save(name string, sync bool) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if _, err = f.Write(content); err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// TestPrograms checks that the programs that save safely lose nothing that they reported as saved, and that a cut
// exists in which each of the others does. A file that replaces another by a rename must always be complete.
func TestPrograms(t *testing.T) {
	for name := range programs {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), role+"="+name, "POWERCUT_TEST_DIR="+dir)
			history, ok := Record(t, dir, cmd)
			if !ok {
				return
			}
			if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "saved") {
				t.Fatalf("%v: %s", err, out)
			}
			h := history()
			cuts, lost, torn, said := 0, 0, 0, 0
			for cut := range h.PowerCuts(40, rand.New(rand.NewPCG(1, 2))) {
				cuts++
				left := t.TempDir()
				if err := cut.Write(left); err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(filepath.Join(left, "a b é"))
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				if err == nil && !bytes.Equal(got, content) {
					torn++
				}
				if bytes.Contains(cut.Said(), []byte("saved")) {
					if said++; !bytes.Equal(got, content) {
						lost++
					}
				}
			}
			well := map[string]bool{"well": true, "by a link": true, "in pieces, by many": true, "over itself": true}[name]
			if said == 0 || well != (lost == 0) {
				t.Errorf("%d cuts, %d of them after it was said to be saved, lost in %d", cuts, said, lost)
			}
			if beside := name == "well" || name == "by a link"; beside && torn > 0 || name == "over itself" && torn == 0 {
				t.Errorf("torn in %d of %d cuts", torn, cuts)
			}
			kills := 0
			for cut := range h.Kills {
				kills++
				left := t.TempDir()
				if err := cut.Write(left); err != nil {
					t.Fatal(err)
				}
				got, _ := os.ReadFile(filepath.Join(left, "a b é"))
				if bytes.Contains(cut.Said(), []byte("saved")) && !bytes.Equal(got, content) {
					t.Errorf("%v: what was said to be saved is gone with the power on", cut)
				}
			}
			if kills < 3 {
				t.Errorf("only %d steps were recorded", kills)
			}
		})
	}
}

// TestUnknown checks that a call without a model is an error.
func TestUnknown(t *testing.T) {
	for log, want := range map[string]string{
		`7 openat(AT_FDCWD, "\x2f\x64\x2f\x66", O_RDWR|O_CREAT, 0600) = 3` + "\n" + `7 fallocate(3, 0, 0, 4096) = 0`: "no model",
		`7 renameat2(AT_FDCWD, "\x2f\x64\x2f\x66", AT_FDCWD, "\x2f\x64\x2f\x67", RENAME_EXCHANGE) = 0`:               "no model",
		`7 renameat(AT_FDCWD, "\x2f\x78\x2f\x66", AT_FDCWD, "\x2f\x64\x2f\x67") = 0`:                                 "another directory",
		`7 unlink("\x2f\x64\x2f\x66") = 0`: "no model",
		`garbage`:                          "not a call",
	} {
		h := History{dir: "/d", root: newDir(), log: []byte(log)}
		if err := h.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", log, err, want)
		}
	}
	dir := t.TempDir()
	h := History{dir: dir, root: newDir()}
	if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.check(); err == nil || !strings.Contains(err.Error(), "f is not in the record") {
		t.Errorf("a change that was not recorded: %v", err)
	}
}
