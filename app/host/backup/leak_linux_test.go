package backup

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestNoOpenFiles leaves no file open, which Windows would neither rename nor remove.
func TestNoOpenFiles(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	fill(t, s, 0, 100)
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	data, path := damageable(t, "correct horse")
	data[len(data)/2] ^= 1
	before := open()
	for range 3 {
		if _, err := Create(t.Context(), Config{Store: s, WorkFactor: 1, Overwrite: true, Passphrase: "correct horse"}, path); err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(t.Context(), RestoreConfig{Path: path, Passphrase: "correct horse", Dir: filepath.Join(dir, "else"), Store: storeConfig("")}); err != nil {
			t.Fatal(err)
		}
		if _, err := Prune(filepath.Dir(path), Policy{}, 0, time.Now()); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, string(data))
		expectRefused(t, "damaged", path, "correct horse")
	}
	if after := open(); after > before {
		t.Errorf("%d files are open, %d before", after, before)
	}
}
