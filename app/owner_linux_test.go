package app

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOwner: a service that runs as a user of its own, and root who backs up and restores beside it. Root's backups go
// where the service may not write, and everything in the data directory stays the service's own.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run a service as another user")
	}
	const nobody = 65534
	open, err := os.MkdirTemp("", "app-owner-") // others may look into it, unlike into a test's own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(open) })
	program, dir := filepath.Join(open, "app"), filepath.Join(open, "data")
	b, err := os.ReadFile(binary(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Chmod(open, 0o755), os.WriteFile(program, b, 0o755), os.Mkdir(dir, 0o700), os.Chown(dir, nobody, nobody)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	serve := func() *process {
		t.Helper()
		cmd := exec.Command(program, "serve", "--data-dir", dir, "--listen", "127.0.0.1:0")
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		return startCommand(t, "Serving on ", cmd)
	}
	asRoot := func(args ...string) {
		t.Helper()
		if out, stderr, status := command(t, append(args, "--data-dir", dir)...); status != 0 {
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
	roots := t.TempDir() // the service's user cannot look into it
	plain, sealed := filepath.Join(roots, "plain.backup"), filepath.Join(roots, "sealed.backup")
	t.Setenv("APP_BACKUP_PASSPHRASE", "")
	asRoot("init", "--domain", "northgate.example", "--email", "it@northgate.example")
	asRoot("backup")
	p := serve()
	asRoot("backup", plain)
	asRoot("backup")
	asRoot("restore", plain, "--yes")
	if status := p.status("GET", "/ready", "", ""); status != 200 {
		t.Errorf("ready: %d", status)
	}
	p.kill()
	writeIn(t, dir, ConfigFile, "logLevel: warn\n")
	writeIn(t, dir, "tls/ca.key", "a key")
	for _, name := range []string{ConfigFile, "tls", "tls/ca.key"} {
		if err := os.Chown(filepath.Join(dir, name), nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("APP_BACKUP_PASSPHRASE", "correct horse")
	asRoot("backup", sealed)
	for _, name := range []string{ConfigFile, "tls/ca.key", "tls"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	asRoot("restore", sealed, "--yes")
	if got := strings.TrimSpace(readIn(t, dir, "tls/ca.key") + " " + readIn(t, dir, ConfigFile)); got != "a key logLevel: warn" {
		t.Errorf("restored: %q", got)
	}
	p = serve()
	if status := p.status("GET", "/ready", "", ""); status != 200 {
		t.Errorf("ready: %d", status)
	}
	asRoot("restore", plain, "--yes")
}
