//go:build rig

package windows_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"opsmon/app/host/service/winetest"
)

// buildForWine builds a Windows program that detects that it runs as a service under Wine, whose services run in
// another session than those of Windows. It has no other difference.
func (m *windowsMachine) buildForWine(t *testing.T) {
	t.Helper()
	goTool := func(args ...string) string {
		out, err := exec.Command("go", args...).Output()
		if err != nil {
			t.Fatalf("go %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	library := filepath.Join(m.Dir, "sys")
	if err := os.CopyFS(library, os.DirFS(goTool("list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(library, "windows", "svc", "security.go")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const session = "parentProcess.SessionID == 0 && "
	if !strings.Contains(string(text), session) {
		t.Fatalf("%s has changed; see what it asks for now", file)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), session, "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(goTool("env", "GOMOD"))
	for _, name := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "go.mod" {
			b = append(b, "\nreplace golang.org/x/sys => "+library+"\n"...)
		}
		if err := os.WriteFile(filepath.Join(m.Dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m.build(t, "-modfile", filepath.Join(m.Dir, "go.mod"))
}

// stayUp keeps the machine running until the test ends: Wine stops its services when the last program has ended, and a
// program started meanwhile would use services that are shutting down.
func (m *windowsMachine) stayUp(t *testing.T) {
	t.Helper()
	m.Wait()
	cmd := exec.Command(m.Wine, "cmd.exe")
	cmd.Dir, cmd.Env = m.Dir, m.Env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill() // it may hang with the machine
		cmd.Wait()
	})
}

// serviceTests runs the Windows tests of package service.
func (m *windowsMachine) serviceTests(t *testing.T) {
	t.Helper()
	build := exec.Command("go", "test", "-c", "-o", filepath.Join(m.Dir, "service.test.exe"), "opsmon/app/host/service")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	// Without those that need a temporary directory, which Wine cannot remove.
	cmd := exec.CommandContext(t.Context(), m.Wine, "service.test.exe", "-test.v", "-test.timeout=20s", "-test.run=TestExecute")
	cmd.Dir, cmd.Env, cmd.WaitDelay = m.Dir, m.Env, time.Second
	// Wine's own programs may hold the output open longer than the test: that is not a failure.
	if out, err := cmd.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrWaitDelay) || !strings.Contains(string(out), "--- PASS: TestExecute/failure_that_stays") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestWindowsService installs the Windows program as a service and checks it. What Wine lacks, such as recovery, the
// firewall, permissions and the virtual account, is tested in package service by the calls.
func TestWindowsService(t *testing.T) {
	if testing.Short() {
		t.Skip("making a Windows machine takes some seconds")
	}
	t.Parallel()
	m := &windowsMachine{winetest.New(t)}
	m.buildForWine(t)
	m.stayUp(t)
	data := filepath.Join(m.Dir, "w", "drive_c", "Program Data", "Wërk")
	if err := os.MkdirAll(data, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(data, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "app.yaml"), []byte("listen: 127.0.0.1:0\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	m.serviceTests(t)
	status := func() (out struct {
		Installed, Enabled, Running bool
		Program                     string
		Service                     struct{ Ready bool }
	}) {
		text := m.app(t, 0, "status", "--json")
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return out
	}
	runs := func(when string, want bool) {
		t.Helper()
		if st := status(); !st.Installed || !st.Enabled || st.Running != want || st.Service.Ready != want || st.Program != `C:\Program Files\app\app.exe` {
			t.Errorf("%s: %+v", when, st)
		}
	}
	if st := status(); st.Installed || st.Running {
		t.Errorf("before: %+v", st)
	}
	m.app(t, 1, "start")
	if out := m.app(t, 0, "install"); !strings.Contains(out, "The service runs, and starts with this machine.") || !strings.Contains(out, "- copy ") {
		t.Errorf("install: %s", out)
	}
	runs("installed", true)
	if settings, err := os.ReadFile(filepath.Join(data, "app.yaml")); err != nil || string(settings) != "listen: 127.0.0.1:0\n" {
		t.Errorf("app.yaml is now %q, %v", settings, err)
	}
	m.app(t, 0, "init", "--domain", "northgate.example", "--email", "it@northgate.example")
	m.app(t, 0, "stop")
	runs("stopped", false)
	m.app(t, 0, "stop")
	m.app(t, 0, "start")
	runs("started", true)
	m.app(t, 0, "restart")
	runs("restarted", true)

	// A second install replaces the program while the first one runs, and leaves no other files.
	program, err := os.OpenFile(filepath.Join(m.Dir, "app.exe"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = program.WriteString("another one")
	if err := errors.Join(err, program.Close()); err != nil {
		t.Fatal(err)
	}
	m.app(t, 0, "install")
	runs("installed again", true)
	there := filepath.Join(m.Dir, "w", "drive_c", "Program Files", "app")
	if b, err := os.ReadFile(filepath.Join(there, "app.exe")); err != nil || !strings.HasSuffix(string(b), "another one") {
		t.Errorf("the program was not replaced, %v", err)
	}
	m.app(t, 0, "install")
	if left, err := filepath.Glob(filepath.Join(there, "*")); err != nil || len(left) != 1 {
		t.Errorf("beside the program: %q, %v", left, err)
	}
	if out := m.app(t, 0, "user", "list"); !strings.Contains(out, "it@northgate.example") {
		t.Errorf("user list: %s", out)
	}

	// With wrong settings the service does not start, and writes the reason to the event log, which Wine lacks.
	if err := os.WriteFile(filepath.Join(data, "app.yaml"), []byte("lissten: 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	m.app(t, 0, "stop")
	m.app(t, 1, "install")
	m.app(t, 1, "start") // fails immediately, without waiting for the timeout
	runs("with wrong settings", false)
	if err := os.WriteFile(filepath.Join(data, "app.yaml"), []byte("listen: 127.0.0.1:0\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	m.app(t, 0, "start")

	if out := m.app(t, 0, "uninstall"); !strings.Contains(out, `Its data are kept in C:\Program Data\Wërk`) {
		t.Errorf("uninstall: %s", out)
	}
	if st := status(); st.Installed || st.Running {
		t.Errorf("after the end: %+v", st)
	}
	if left, _ := filepath.Glob(filepath.Join(there, "*")); len(left) != 0 {
		t.Errorf("the program is still there: %q", left)
	}
	if out := m.app(t, 0, "user", "list"); !strings.Contains(out, "it@northgate.example") {
		t.Errorf("the data: %s", out)
	}
}
