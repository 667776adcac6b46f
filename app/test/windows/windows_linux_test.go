//go:build rig

package windows_test

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"opsmon/app/host/service/winetest"
	"opsmon/app/test/apptest"
)

// windowsMachine is a Windows machine with the product's program.
type windowsMachine struct{ *winetest.Machine }

func newWindowsMachine(t *testing.T) *windowsMachine {
	t.Helper()
	m := &windowsMachine{winetest.New(t)}
	m.build(t)
	return m
}

// build builds the Windows program like a release, with additional arguments.
func (m *windowsMachine) build(t *testing.T, more ...string) {
	t.Helper()
	args := append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(m.Dir, "app.exe")}, more...)
	build := exec.Command("go", append(args, "opsmon")...)
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

func (m *windowsMachine) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, m.Wine, append([]string{"app.exe", "--data-dir", `C:\Program Data\Wërk`}, args...)...)
	cmd.Dir, cmd.Env = m.Dir, m.Env
	return cmd
}

// app runs a command of the Windows program and returns its standard output.
func (m *windowsMachine) app(t *testing.T, status int, args ...string) string {
	t.Helper()
	for try := 1; ; try++ {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		cmd := m.command(ctx, args...)
		var out, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &stderr
		cmd.WaitDelay = time.Second
		err := cmd.Run()
		cancel()
		if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == status {
			return out.String()
		}
		if try < 3 && wineFailed(stderr.String(), status) {
			t.Logf("once more: app %v: %s", args, &stderr)
			continue
		}
		t.Fatalf("app %v: %v, want status %d: %s%s", args, err, status, &out, &stderr)
	}
}

// wineFailed reports whether Wine failed, not the program, which should have ended with a status. On a busy machine Wine
// sometimes does not know a handle that it has just returned, be it its own service manager's or that of standard error: the
// program says why whenever it fails, and so do Go and Wine when they end it. Or Wine cannot load a library of its own, which
// Go needs before main.
func wineFailed(stderr string, status int) bool {
	return strings.Contains(stderr, "ask the service control manager: Invalid handle") ||
		strings.HasPrefix(stderr, "panic: Failed to load ws2_32.dll: DLL initialization failed") ||
		status == 0 && stderr == ""
}

// TestWindows runs the Windows program: commands with and without a service, over its named pipe.
func TestWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("making a Windows machine takes some seconds")
	}
	t.Parallel() // Wine mostly waits
	m := newWindowsMachine(t)
	m.app(t, 1, "user", "list")
	m.app(t, 0, "init", "--domain", "northgate.example", "--email", "it@northgate.example")
	stopped := m.app(t, 0, "manifest", "export", "--json")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	service := m.command(ctx, "serve", "--listen", "127.0.0.1:0")
	stdout, err := service.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	service.WaitDelay = time.Second
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "Serving on ")
	if err != nil || !ok {
		t.Fatalf("serve said %q, %v", line, err)
	}
	// Wine connects the first client of a pipe to the instance with which go-winio only reserves its name, and which
	// Windows keeps disconnected; that client would wait forever.
	first, cancelFirst := context.WithTimeout(t.Context(), 3*time.Second)
	lost := m.command(first, "account", "list")
	lost.WaitDelay = time.Second
	_ = lost.Run()
	cancelFirst()

	if out := m.app(t, 0, "user", "list"); !strings.Contains(out, "it@northgate.example") {
		t.Errorf("user list: %s", out)
	}
	out := m.app(t, 0, "key", "create", "--email", "it@northgate.example")
	key := ""
	for word := range strings.FieldsSeq(out) {
		if strings.HasPrefix(word, "opk_") {
			key = word
		}
	}
	p := &apptest.Process{URL: url}
	defer http.DefaultClient.CloseIdleConnections()
	if status := p.Status(http.MethodGet, "/auth/profile", key, ""); status != http.StatusOK {
		t.Errorf("the key that was made gets %d", status)
	}
	if running := m.app(t, 0, "manifest", "export", "--json"); running != stopped {
		t.Errorf("the manifest is another one over the pipe: %s and %s", running, stopped)
	}
	m.app(t, 0, "check")
	m.app(t, 0, "compact")
	m.app(t, 1, "user", "add", "nobody", "--role", "member")
	m.restores(t, "Restored running", "The service continues with it.")
	m.app(t, 1, "serve", "--listen", "127.0.0.1:0")

	if err := service.Process.Signal(os.Interrupt); err != nil { // Wine converts it to Ctrl-C
		t.Fatal(err)
	}
	if err := service.Wait(); err != nil {
		t.Errorf("the service ended with %v", err)
	}
	if out := m.app(t, 0, "user", "list"); !strings.Contains(out, "it@northgate.example") {
		t.Errorf("user list after the end: %s", out)
	}
	m.restores(t, "Restored stopped", "No service runs on it.")
	m.app(t, 0, "compact")
	m.upgrades(t)
	m.ownAuthority(t)
}

// restores makes a backup, changes something, and restores it.
func (m *windowsMachine) restores(t *testing.T, name, want string) {
	t.Helper()
	file := `C:\Wërk ` + name + `.backup`
	m.app(t, 0, "backup", file)
	m.app(t, 1, "backup", file)
	m.app(t, 0, "backup", "verify", file)
	m.app(t, 0, "backup", "--json") // into its own folder
	m.app(t, 0, "user", "add", "late@northgate.example", "--role", "member")
	if out := m.app(t, 0, "restore", file, "--yes"); !strings.Contains(out, want) {
		t.Errorf("restore: %s", out)
	}
	if out := m.app(t, 0, "user", "list"); strings.Contains(out, "late@") || !strings.Contains(out, "it@northgate.example") {
		t.Errorf("user list after %s: %s", name, out)
	}
	m.app(t, 0, "restore", file, "--to", `C:\Other Wërk `+name, "--yes")
	m.app(t, 0, "check")
}
