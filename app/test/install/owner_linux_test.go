//go:build rig

package install_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"opsmon/app/test/apptest"
)

const nobody = 65534 // any user except root

// publicDir returns a folder that other users can read, unlike a test's own. It requires root, to run as other users.
func publicDir(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can run a service as another user")
	}
	dir, err := os.MkdirTemp("", "app-owner-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestOwner: a service runs as its own user, and root makes and restores backups. Root's backups are in folders that
// the service cannot write to, and everything in the data directory still belongs to the service.
func TestOwner(t *testing.T) {
	open := publicDir(t)
	program, dir := filepath.Join(open, "app"), filepath.Join(open, "data")
	b, err := os.ReadFile(apptest.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Chmod(open, 0o755), os.WriteFile(program, b, 0o755), os.Mkdir(dir, 0o700), os.Chown(dir, nobody, nobody)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	serve := func() *apptest.Process {
		t.Helper()
		cmd := exec.Command(program, "serve", "--data-dir", dir, "--listen", "127.0.0.1:0")
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		return apptest.StartCommand(t, "Serving on ", cmd)
	}
	asRoot := func(args ...string) {
		t.Helper()
		if out, stderr, status := apptest.Command(t, append(args, "--data-dir", dir)...); status != 0 {
			t.Fatalf("%v: %s%s", args, out, stderr)
		}
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			if owner := info.Sys().(*syscall.Stat_t).Uid; owner != nobody {
				t.Errorf("after %v: %s belongs to user %d", args, path, owner)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	roots := t.TempDir() // the service's user cannot read it
	plain, sealed := filepath.Join(roots, "plain.backup"), filepath.Join(roots, "sealed.backup")
	t.Setenv("APP_BACKUP_PASSPHRASE", "")
	asRoot("init", "--domain", "northgate.example", "--email", "it@northgate.example")
	asRoot("backup")
	p := serve()
	asRoot("backup", plain)
	asRoot("backup")
	asRoot("restore", plain, "--yes")
	if status := p.Status("GET", "/ready", "", ""); status != 200 {
		t.Errorf("ready: %d", status)
	}
	p.Kill()
	apptest.WriteIn(t, dir, "app.yaml", "logLevel: warn\n")
	apptest.WriteIn(t, dir, "tls/ca.key", "a key")
	for _, name := range []string{"app.yaml", "tls", "tls/ca.key"} {
		if err := os.Chown(filepath.Join(dir, name), nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("APP_BACKUP_PASSPHRASE", "correct horse")
	asRoot("backup", sealed)
	for _, name := range []string{"app.yaml", "tls/ca.key", "tls"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	asRoot("restore", sealed, "--yes")
	if got := strings.TrimSpace(apptest.ReadIn(t, dir, "tls/ca.key") + " " + apptest.ReadIn(t, dir, "app.yaml")); got != "a key logLevel: warn" {
		t.Errorf("restored: %q", got)
	}
	p = serve()
	apptest.Eventually(t, "the service is ready", func() bool { return p.Status("GET", "/ready", "", "") == 200 })
	asRoot("restore", plain, "--yes")
}

// TestOwnerRights: without a running service, root's commands access the service's data directory with the permissions
// of the service's user, who could replace any name in it by a link to root's files at any moment.
func TestOwnerRights(t *testing.T) {
	t.Parallel()
	open := publicDir(t)
	dir, roots := filepath.Join(open, "data"), t.TempDir()
	secret, folder := filepath.Join(roots, "secret"), filepath.Join(dir, "backups")
	for _, err := range []error{os.Chmod(open, 0o755), os.Mkdir(dir, 0o700), os.Chown(dir, nobody, nobody), os.Mkdir(secret, 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(want int, args ...string) string {
		t.Helper()
		out, stderr, status := apptest.Command(t, append(args, "--data-dir", dir)...)
		if status != want {
			t.Fatalf("%v: status %d, want %d: %s%s", args, status, want, out, stderr)
		}
		return out + stderr
	}
	link := func(to, name string) {
		t.Helper()
		if err := errors.Join(os.Symlink(to, name), os.Lchown(name, nobody, nobody)); err != nil {
			t.Fatal(err)
		}
	}
	if said := run(1, "user", "list"); !strings.Contains(said, "there is no store in "+dir) {
		t.Errorf("without a store: %s", said)
	}
	run(0, "init", "--domain", "northgate.example", "--email", "it@northgate.example")

	// A folder that links to root's gets no backup.
	link(secret, folder)
	run(1, "backup")
	if left, err := os.ReadDir(secret); err != nil || len(left) > 0 {
		t.Errorf("root's folder has %v, %v", left, err)
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}

	// Root's files are not included in a backup.
	apptest.WriteIn(t, secret, "ca.key", "root's key")
	apptest.WriteIn(t, roots, "passphrase", "correct horse")
	link(secret, filepath.Join(dir, "tls"))
	file := filepath.Join(roots, "sealed.backup")
	if said := run(1, "backup", file, "--passphrase-file", filepath.Join(roots, "passphrase")); !strings.Contains(said, "permission denied") {
		t.Errorf("a backup of root's files: %s", said)
	}
	if err := os.Remove(filepath.Join(dir, "tls")); err != nil {
		t.Fatal(err)
	}

	// Everything else works, also with files that only root can read.
	run(0, "backup", file, "--passphrase-file", filepath.Join(roots, "passphrase"))
	run(0, "user", "add", "later@northgate.example", "--role", "member")
	run(0, "compact")
	run(0, "check")
	run(0, "restore", file, "--yes", "--passphrase-file", filepath.Join(roots, "passphrase"))
	if said := run(0, "user", "list"); strings.Contains(said, "later@") || !strings.Contains(said, "it@") {
		t.Errorf("restored: %s", said)
	}
	if said := run(1, "restore", filepath.Join(secret, "ca.key"), "--yes"); !strings.Contains(said, "ca.key") {
		t.Errorf("what is no backup: %s", said)
	}
	apptest.WriteIn(t, dir, "app.db", "damaged")
	if said := run(1, "check"); !strings.Contains(said, "damaged") {
		t.Errorf("a damaged store: %s", said)
	}
	run(0, "restore", file, "--yes", "--passphrase-file", filepath.Join(roots, "passphrase"))
	run(0, "check")
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Sys().(*syscall.Stat_t).Uid != nobody {
			t.Errorf("%s belongs to user %d", path, info.Sys().(*syscall.Stat_t).Uid)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
