package upgrade

import (
	"os"
	"path/filepath"
	"testing"

	"opsmon/kv/file"
)

// TestPin has somebody else's directory come in the place of a pinned one: root still writes into its own.
func TestPin(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has more rights than the owner of the data directory")
	}
	data := t.TempDir()
	path := filepath.Join(data, "trial")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, release, err := pin(path)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !file.Exists(filepath.Join(path+".moved", "file")) || file.Exists(filepath.Join(path, "file")) {
		t.Error("it went where the new name leads")
	}
	if _, _, err := pin(path); err == nil {
		t.Error("a link was pinned")
	}
	if err := os.Chown(path+".moved", 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, _, err := pin(path + ".moved"); err == nil {
		t.Error("somebody else's directory was pinned")
	}
}
