package backup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opsmon/kv/file"
)

// TestJournalStaysInside gives a journal that somebody else has written, whose moves lead out of the data directory, and
// links in the way of what is written: nothing outside changes.
func TestJournalStaysInside(t *testing.T) {
	for name, moves := range map[string]string{
		"up":            `{"name":"../out/file","new":"evil"}`,
		"from above":    `{"name":"app.yaml","new":"../out/file"}`,
		"kept above":    `{"name":"evil","new":"app.yaml","keep":"../out/kept"}`,
		"absolute":      `{"name":"/out/file","new":"evil"}`,
		"no name":       `{"name":"","new":"evil"}`,
		"through links": `{"name":"linked/file","new":"evil"}`,
		"the second":    `{"name":"app.yaml","new":"evil"},{"name":"../out/file","new":"app.yaml"}`,
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			dir, out := filepath.Join(base, "data"), filepath.Join(base, "out")
			writeFile(t, filepath.Join(out, "file"), "old")
			writeFile(t, filepath.Join(dir, "evil"), "evil")
			if err := os.Symlink(out, filepath.Join(dir, "linked")); err != nil {
				t.Skip(err)
			}
			writeFile(t, filepath.Join(dir, journalName), `{"moves":[`+moves+`]}`)
			err := Recover(dir, func() error { t.Error("the store is opened"); return nil })
			if err == nil || !strings.Contains(err.Error(), journalName) {
				t.Errorf("got %v", err)
			}
			if readFile(t, filepath.Join(out, "file")) != "old" || file.Exists(filepath.Join(out, "kept")) || !file.Exists(filepath.Join(dir, "evil")) {
				t.Error("files were moved")
			}
		})
	}
	t.Run("link where the journal is written", func(t *testing.T) {
		dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
		writeFile(t, victim, "old")
		if err := os.Symlink(victim, filepath.Join(dir, journalName+".new")); err != nil {
			t.Skip(err)
		}
		writeFile(t, filepath.Join(dir, "b"), "new")
		if err := (Exchange{Name: "a", New: "b"}).Do(dir); err != nil {
			t.Fatal(err)
		}
		if readFile(t, victim) != "old" || readFile(t, filepath.Join(dir, "a")) != "new" {
			t.Error("the journal was written through the link")
		}
	})
	t.Run("link in the way of a restore", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Symlink(t.TempDir(), filepath.Join(dir, "tls")); err != nil {
			t.Skip(err)
		}
		writeFile(t, filepath.Join(dir, "new"), "new")
		err := (Exchange{Name: "tls/ca.key", New: "new"}).Do(dir)
		if err == nil || !strings.Contains(err.Error(), "no directory") || file.Exists(filepath.Join(dir, journalName)) {
			t.Errorf("got %v, and a journal: %v", err, file.Exists(filepath.Join(dir, journalName)))
		}
	})
}
