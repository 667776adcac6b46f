//go:build rig

package windows_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// upgrades replaces the program by a newer one and rolls back, without a running service.
func (m *windowsMachine) upgrades(t *testing.T) {
	t.Helper()
	build := exec.Command("go", "build", "-trimpath", "-tags", "testmigration", "-ldflags", "-s -w -X opsmon/app.version=1.1.0", "-o", filepath.Join(m.Dir, "next.exe"), "opsmon")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	m.app(t, 0, "user", "add", "early@northgate.example", "--role", "member")
	m.app(t, 1, "upgrade", "next.exe", "--binary", "app.exe", "--yes") // not signed
	m.app(t, 0, "upgrade", "next.exe", "--binary", "app.exe", "--yes", "--unsigned")
	if out := m.app(t, 0, "version"); !strings.Contains(out, "app 1.1.0") {
		t.Errorf("version after the upgrade: %s", out)
	}
	m.app(t, 0, "user", "add", "later@northgate.example", "--role", "member") // migrates the store
	m.app(t, 0, "check")
	if out := m.app(t, 0, "rollback", "--binary", "app.exe", "--yes"); !strings.Contains(out, "The store is that of") {
		t.Errorf("rollback: %s", out)
	}
	if out := m.app(t, 0, "version"); strings.Contains(out, "app 1.1.0") {
		t.Errorf("version after the rollback: %s", out)
	}
	if out := m.app(t, 0, "user", "list"); strings.Contains(out, "later@") || !strings.Contains(out, "early@") {
		t.Errorf("user list after the rollback: %s", out)
	}
	m.app(t, 0, "check")
}
