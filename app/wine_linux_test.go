package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// windowsMachine runs programs of Windows with Wine, in a Windows of its own.
type windowsMachine struct {
	wine, server string
	env          []string
	dir          string
}

// findProgram finds a program by its names; some distributions keep them beside the path.
func findProgram(names ...string) (string, error) {
	var errs []error
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err == nil {
			return path, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

func newWindowsMachine(t *testing.T) *windowsMachine {
	t.Helper()
	wine, err := findProgram("wine64", "/usr/lib/wine/wine64")
	server, err2 := findProgram("wineserver", "/usr/lib/wine/wineserver64", "/usr/lib/wine/wineserver")
	boot, err3 := findProgram("wineboot")
	assembler, err4 := findProgram("x86_64-w64-mingw32-as")
	linker, err5 := findProgram("x86_64-w64-mingw32-ld")
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the checks need Wine and MinGW's binutils: %v", err)
		}
		t.Skipf("the Windows program is tried only where Wine and MinGW's binutils are: %v", err)
	}
	m := &windowsMachine{wine: wine, server: server, dir: t.TempDir()}
	prefix := filepath.Join(m.dir, "w")
	m.env = append(os.Environ(), "WINEPREFIX="+prefix, "WINEARCH=win64", "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=", "DISPLAY=")
	// Wine finds its server by the number of the prefix's directory, which the next test's may get: it is waited for.
	end := func() { m.tool(t, server, "-k"); m.tool(t, server, "-w") }
	t.Cleanup(end)
	for try := 1; ; try++ {
		err := m.try(boot, "-i")
		if err == nil {
			break
		}
		end()
		if err2 := os.RemoveAll(prefix); err2 != nil || try == 3 {
			t.Fatal(errors.Join(err, err2))
		}
		t.Logf("once more: %v", err) // another program's server of that number was about to end
	}
	// Go takes its random bytes from a library that Wine 8 lacks; another one that it has gives the same.
	for name, text := range map[string]string{"b.def": "LIBRARY bcryptprimitives.dll\nEXPORTS\nProcessPrng = advapi32.SystemFunction036\n", "e.s": ".text\n"} {
		if err := os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m.tool(t, assembler, "e.s", "-o", "e.o")
	library := filepath.Join(prefix, "drive_c", "windows", "system32", "bcryptprimitives.dll")
	if _, err := os.Stat(library); os.IsNotExist(err) {
		m.tool(t, linker, "-shared", "-e", "0", "-o", library, "e.o", "b.def")
	}
	m.build(t)
	return m
}

// build makes the Windows program, as releases are made but for more arguments.
func (m *windowsMachine) build(t *testing.T, more ...string) {
	t.Helper()
	args := append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(m.dir, "app.exe")}, more...)
	build := exec.Command("go", append(args, "opsmon")...)
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

// tool runs a program of this machine on the Windows machine's files.
func (m *windowsMachine) tool(t *testing.T, name string, args ...string) {
	t.Helper()
	if err := m.try(name, args...); err != nil && name != m.server {
		t.Fatal(err)
	}
}

func (m *windowsMachine) try(name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // also for the clean-up
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = m.dir, m.env
	// Output goes to no pipe: the server that stays behind would hold it open.
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (m *windowsMachine) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, m.wine, append([]string{"app.exe", "--data-dir", `C:\Program Data\Wërk`}, args...)...)
	cmd.Dir, cmd.Env = m.dir, m.env
	return cmd
}

// app runs a command of the Windows program and gives its standard output.
func (m *windowsMachine) app(t *testing.T, status int, args ...string) string {
	t.Helper()
	for try := 1; ; try++ {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := m.command(ctx, args...)
		var out, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &stderr
		cmd.WaitDelay = time.Second
		err := cmd.Run()
		cancel()
		if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == status {
			return out.String()
		}
		// On a busy machine Wine's own service manager sometimes does not know the handle that it has just given out.
		if try < 3 && strings.Contains(stderr.String(), "ask the service control manager: Invalid handle") {
			t.Logf("once more: app %v: %s", args, &stderr)
			continue
		}
		t.Fatalf("app %v: %v, want status %d: %s%s", args, err, status, &out, &stderr)
	}
}

// TestWindows runs the Windows program: commands with and without a service, over its named pipe.
func TestWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("making a Windows machine takes some seconds")
	}
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
	// Wine gives the first client of a pipe to the instance that go-winio only holds its name with, which Windows
	// keeps disconnected; that client would wait for ever.
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
	p := &process{url: url}
	defer http.DefaultClient.CloseIdleConnections()
	if status := p.status(http.MethodGet, "/auth/profile", key, ""); status != http.StatusOK {
		t.Errorf("the key that was made gets %d", status)
	}
	if running := m.app(t, 0, "manifest", "export", "--json"); running != stopped {
		t.Errorf("the manifest is another one over the pipe: %s and %s", running, stopped)
	}
	m.app(t, 0, "check")
	m.app(t, 0, "compact")
	m.app(t, 1, "user", "add", "nobody", "--role", "member")
	m.restores(t, "Restored running", "The service goes on with it.")
	m.app(t, 1, "serve", "--listen", "127.0.0.1:0")

	if err := service.Process.Signal(os.Interrupt); err != nil { // Wine makes Ctrl-C of it
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

// restores makes a backup, changes something, and goes back.
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
