package upgrade

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"opsmon/app/host/backup"
	"opsmon/kv"
)

// TestFIFO: no name in the service's directory holds root up, whatever its user puts there.
func TestFIFO(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, journalName), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() error{
		"version": func() error { _, err := kv.VersionOf(fifo); return err },
		"check":   func() error { _, err := kv.CheckFile(fifo); return err },
		"backup":  func() error { _, err := backup.Inspect(fifo, ""); return err },
		"copy":    func() error { _, err := openIn(dir, "fifo"); return err },
		"journal": func() error {
			if readJournal(dir) == nil {
				return errors.New("none")
			}
			return nil
		},
	} {
		ended := make(chan error, 1)
		go func() { ended <- open() }()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s: a FIFO is taken for a file", name)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s: it waits for ever", name)
		}
	}
}
