package certs

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// serial returns what tells one certificate in use from another.
func serial(a *Auto) string { return a.current.Load().tls.Leaf.SerialNumber.String() }

// TestKeptAcrossStarts: a start goes on with the certificate that is there, until it must be another: then it says why.
func TestKeptAcrossStarts(t *testing.T) {
	other := t.TempDir()
	newPlant().open(t, other).Close()
	stranger, err := os.ReadFile(filepath.Join(other, ServerFile))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change  func(p *plant, file string) error
		because string // in the log; "" = it is kept
	}{
		"nothing":        {func(*plant, string) error { return nil }, ""},
		"a month later":  {func(p *plant, _ string) error { p.set(today.AddDate(0, 1, 0)); return nil }, ""},
		"a year later":   {func(p *plant, _ string) error { p.set(today.AddDate(1, 0, 0)); return nil }, "a third of the last one's time is left"},
		"two years back": {func(p *plant, _ string) error { p.set(today.AddDate(-2, 0, 0)); return nil }, ""}, // the clock is not believed
		"far ahead":      {func(p *plant, _ string) error { p.set(today.AddDate(5, 0, 0)); return nil }, "the clock shows a time that the last one does not hold"},
		"a new address":  {func(p *plant, _ string) error { p.move("192.168.7.21"); return nil }, "the names or addresses of the machine changed"},
		"removed":        {func(_ *plant, file string) error { return os.Remove(file) }, "there is none yet"},
		"cut off":        {func(_ *plant, file string) error { return os.Truncate(file, 300) }, "is damaged"},
		"emptied":        {func(_ *plant, file string) error { return os.Truncate(file, 0) }, "is damaged"},
		"another's":      {func(_ *plant, file string) error { return os.WriteFile(file, stranger, 0o600) }, "the last one is of another authority"},
		"readable":       {func(_ *plant, file string) error { return os.Chmod(file, 0o644) }, "others could read the key of the last one"},
		"a link":         {func(_ *plant, file string) error { return replaceByLink(file) }, "is no file of a certificate"},
	} {
		if name == "readable" && runtime.GOOS == "windows" {
			continue // rights come from the directory there
		}
		t.Run(name, func(t *testing.T) {
			p, dir := newPlant(), t.TempDir()
			first := p.open(t, dir)
			first.Close()
			before := len(p.logged())
			file := filepath.Join(dir, ServerFile)
			if err := test.change(p, file); err != nil {
				t.Fatal(err)
			}
			again := p.open(t, dir)
			defer again.Close()
			if kept := serial(again) == serial(first); kept != (test.because == "") {
				t.Errorf("it is kept: %v", kept)
			}
			log := p.logged()[before:]
			if made := strings.Contains(log, "made a certificate"); made != (test.because != "") || !strings.Contains(log, test.because) {
				t.Errorf("the log says %q, want %q", log, test.because)
			}
			if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("its file: %v, %v", info.Mode(), err)
			}
			third := p.open(t, dir)
			defer third.Close()
			if serial(third) != serial(again) {
				t.Error("the next start makes another one")
			}
			clock := p.clock()
			if clock.Before(today) {
				clock = today // the client's is right
			}
			met(t, serve(t, third.TLS()), "opsmon.local", third.CA(), clock)
		})
	}
}

func replaceByLink(file string) error {
	to := file + ".elsewhere"
	if err := os.Rename(file, to); err != nil {
		return err
	}
	return os.Symlink(to, file)
}

// TestKeptIsRenewedOnDisk: what replaces the certificate while the service runs is what the next start goes on with.
func TestKeptIsRenewedOnDisk(t *testing.T) {
	p, dir := newPlant(), t.TempDir()
	a := p.open(t, dir)
	defer a.Close()
	before, err := os.ReadFile(filepath.Join(dir, ServerFile))
	if err != nil {
		t.Fatal(err)
	}
	p.move("192.168.7.99")
	a.refresh()
	after, err := os.ReadFile(filepath.Join(dir, ServerFile))
	if err != nil || bytes.Equal(before, after) {
		t.Errorf("the file is the old one, %v", err)
	}
	again := p.open(t, dir)
	defer again.Close()
	if serial(again) != serial(a) {
		t.Error("the next start makes another one")
	}
}

// TestKeptOnNoDisk: a certificate that cannot be written is used all the same, and the log says so.
func TestKeptOnNoDisk(t *testing.T) {
	p, dir := newPlant(), t.TempDir()
	p.open(t, dir).Close()
	if err := os.Remove(filepath.Join(dir, ServerFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, ServerFile+".new"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ServerFile+".new", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a := p.open(t, dir)
	defer a.Close()
	met(t, serve(t, a.TLS()), "opsmon.local", a.CA(), today)
	if !strings.Contains(p.logged(), "could not be kept") {
		t.Errorf("the log says %s", p.logged())
	}
}
