//go:build linux

// Package winetest makes a Windows for a test to run programs on, with Wine. It is gone when the test ends.
package winetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Machine is a Windows.
type Machine struct {
	Dir  string   // of this machine: where Windows programs start; drive C is below it
	Env  []string // of a program that runs on it
	Wine string   // runs a Windows program: Wine app.exe …

	server string
}

// New makes a machine. It skips the test where Wine or MinGW's binutils are missing; under CI=true that is a failure.
func New(t *testing.T) *Machine {
	t.Helper()
	wine, err := find("wine64", "/usr/lib/wine/wine64", "wine")
	server, err2 := find("wineserver", "/usr/lib/wine/wineserver64", "/usr/lib/wine/wineserver")
	boot, err3 := find("wineboot")
	assembler, err4 := find("x86_64-w64-mingw32-as")
	linker, err5 := find("x86_64-w64-mingw32-ld")
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the checks need Wine and MinGW's binutils: %v", err)
		}
		t.Skipf("Windows programs are tried only where Wine and MinGW's binutils are: %v", err)
	}
	m := &Machine{Dir: t.TempDir(), Wine: wine, server: server}
	prefix := filepath.Join(m.Dir, "w")
	m.Env = append(os.Environ(), "WINEPREFIX="+prefix, "WINEARCH=win64", "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=", "DISPLAY=")
	// Wine finds its server by the number of the prefix's directory, which the next test's may get: it is waited for.
	end := func() {
		_ = m.Run(server, "-k")
		m.Wait()
	}
	t.Cleanup(end)
	for try := 1; ; try++ {
		err := m.Run(boot, "-i")
		if err == nil {
			break
		}
		end()
		if err2 := os.RemoveAll(prefix); err2 != nil || try == 3 {
			t.Fatal(errors.Join(err, err2))
		}
		t.Logf("once more: %v", err) // another program's server of that number was about to end
	}
	if err := m.addRandom(assembler, linker); err != nil {
		t.Fatal(err)
	}
	return m
}

// find finds a program by its names; some distributions keep them beside the path.
func find(names ...string) (string, error) {
	var errs []error
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err == nil {
			return path, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// addRandom adds a library that Go takes its random bytes from and that Wine 8 lacks; another one that it has gives the
// same.
func (m *Machine) addRandom(assembler, linker string) error {
	library := m.Path("windows/system32/bcryptprimitives.dll")
	if _, err := os.Stat(library); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for name, text := range map[string]string{"b.def": "LIBRARY bcryptprimitives.dll\nEXPORTS\nProcessPrng = advapi32.SystemFunction036\n", "e.s": ".text\n"} {
		if err := os.WriteFile(filepath.Join(m.Dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := m.Run(assembler, "e.s", "-o", "e.o"); err != nil {
		return err
	}
	return m.Run(linker, "-shared", "-e", "0", "-o", library, "e.o", "b.def")
}

// Path returns the place of a file of drive C, whose name is relative and has slashes.
func (m *Machine) Path(name string) string {
	return filepath.Join(m.Dir, "w", "drive_c", filepath.FromSlash(name))
}

// limit is how long a program may take that Run runs. Wine's installer takes most of a minute on a busy machine.
const limit = 5 * time.Minute

// Run runs a program of this machine, such as Wine with one of Windows, on the Windows machine's files. What it prints
// is dropped, and goes to no pipe: Wine's server, which stays behind, would hold that open.
func (m *Machine) Run(name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit) // also for the clean-up
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = m.Dir, m.Env
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Wait waits until nothing runs on the machine any more.
func (m *Machine) Wait() { _ = m.Run(m.server, "-w") }
