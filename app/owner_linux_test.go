package app

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opsmon/app/test/apptest"
)

// nobodys makes a directory of another user's, with a file in it.
func nobodys(t *testing.T, name string, content []byte) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root works in directories of other users")
	}
	open, err := os.MkdirTemp("", "app-owner-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(open) })
	data := filepath.Join(open, "data")
	for _, err := range []error{
		os.Chmod(open, 0o755), os.Mkdir(data, 0o700), os.WriteFile(filepath.Join(data, name), content, 0o600),
		os.Chown(filepath.Join(data, name), 65534, 65534), os.Chown(data, 65534, 65534),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// TestRootDoesNotServeFromAnothersDirectory: whoever owns it could lead root's service to any file.
func TestRootDoesNotServeFromAnothersDirectory(t *testing.T) {
	data := nobodys(t, "other", nil)
	_, said, status := apptest.Command(t, "serve", "--data-dir", data, "--listen", "127.0.0.1:0")
	if status != 1 || !strings.Contains(said, "runuser -u nobody -- app serve --data-dir "+data) {
		t.Errorf("%d: %s", status, said)
	}
	if left, err := os.ReadDir(data); err != nil || len(left) != 1 {
		t.Errorf("the directory has %v, %v", left, err)
	}
}

// TestOwnersStoreIsCheckedAsOwner: a damaged store of another user's is read with that user's rights. A link to a file of root's
// is not followed.
func TestOwnersStoreIsCheckedAsOwner(t *testing.T) {
	data := nobodys(t, StoreFile, bytes.Repeat([]byte("damaged "), 8192))
	out, said, status := apptest.Command(t, "check", "--json", "--data-dir", data)
	if status != 1 || !strings.Contains(out, `"problems":["`) || !strings.Contains(said, "the store is damaged") {
		t.Errorf("%d: %s %s", status, out, said)
	}
	store := filepath.Join(data, StoreFile)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := errors.Join(os.WriteFile(secret, bytes.Repeat([]byte("root's own "), 8192), 0o600), os.Remove(store), os.Symlink(secret, store)); err != nil {
		t.Fatal(err)
	}
	if out, said, status := apptest.Command(t, "check", "--json", "--data-dir", data); status != 1 || !strings.Contains(out+said, "permission denied") {
		t.Errorf("through a link: %d: %s %s", status, out, said)
	}
}
