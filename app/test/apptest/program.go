package apptest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// binaryDir has the binaries for the tests; Main deletes it.
var binaryDir string

// Main runs the tests of a package, checks that no goroutines remain, and deletes the built binaries.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		os.RemoveAll(binaryDir)
		os.Exit(status)
	}))
}

var makeBinaryDir = sync.OnceValue(func() (err error) {
	binaryDir, err = os.MkdirTemp("", "app-binary-")
	return err
})

// built is the binary, built once with the settings of releases.
var built = sync.OnceValues(func() (string, error) { return BuildAs("app", "", "") })

// BuildAs builds a binary with build tags and values of variables ("opsmon/app.version=1.2.3 …").
func BuildAs(name, tags, values string) (string, error) {
	if err := makeBinaryDir(); err != nil {
		return "", err
	}
	name = filepath.Join(binaryDir, name)
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	flags := "-s -w"
	for _, v := range strings.Fields(values) {
		flags += " -X " + v
	}
	cmd := exec.Command("go", "build", "-trimpath", "-tags", tags, "-ldflags", flags, "-o", name, "opsmon")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return name, nil
}

// Binary returns the path of the product's program, built with the settings of releases.
func Binary(t testing.TB) string {
	t.Helper()
	name, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// Command runs the binary to its end and returns its output and exit status.
func Command(t testing.TB, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, Binary(t), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// Initialise creates a store with one account in dir and returns the administrator's key.
func Initialise(t testing.TB, dir string, more ...string) string {
	t.Helper()
	out, stderr, status := Command(t, append([]string{"init", "--json", "--data-dir", dir, "--email", "it@northgate.example"}, more...)...)
	var made struct {
		APIKey string `json:"apiKey"`
	}
	if err := json.Unmarshal([]byte(out), &made); status != 0 || err != nil {
		t.Fatalf("init: status %d, %v, %s", status, err, stderr)
	}
	return made.APIKey
}

// Process is the running binary.
type Process struct {
	Cmd    *exec.Cmd
	URL    string
	Stderr *bytes.Buffer
	Lines  *bufio.Reader
}

// Start starts the binary with arguments, and waits until it prints a line with the given prefix; the rest of that line
// is its URL. The process is killed at the end of the test.
func Start(t testing.TB, line string, args ...string) *Process {
	t.Helper()
	return StartCommand(t, line, exec.Command(Binary(t), args...))
}

// StartCommand is Start for a prepared command.
func StartCommand(t testing.TB, line string, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Cmd: cmd, Stderr: new(bytes.Buffer)}
	p.Cmd.Stderr = p.Stderr
	p.Cmd.WaitDelay = 10 * time.Second // a child process that survives would hold standard error open
	out, err := p.Cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill() })
	p.Lines = bufio.NewReader(out)
	for {
		text, err := p.Lines.ReadString('\n')
		if err != nil {
			p.Cmd.Wait()
			t.Fatalf("%v did not start: %s", cmd.Args, p.Stderr)
		}
		if rest, ok := strings.CutPrefix(text, line); ok {
			p.URL = strings.TrimSpace(rest)
			return p
		}
	}
}

// StartService starts a service on a data directory.
func StartService(t testing.TB, dir string, more ...string) *Process {
	t.Helper()
	return Start(t, "Serving on ", append([]string{"serve", "--data-dir", dir, "--listen", "127.0.0.1:0"}, more...)...)
}

// Kill ends the process without warning.
func (p *Process) Kill() {
	if p.Cmd.ProcessState == nil {
		p.Cmd.Process.Kill()
		p.Cmd.Wait()
	}
	http.DefaultClient.CloseIdleConnections()
}

// End asks the process to stop and returns its exit status.
func (p *Process) End(t testing.TB, signal os.Signal) int {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	if err := p.Cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { p.Cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(2 * time.Minute):
		p.Cmd.Process.Kill()
		<-ended
		t.Fatalf("it did not end: %s", p.Stderr)
	}
	return p.Cmd.ProcessState.ExitCode()
}

// Do makes a request and decodes the body of its answer into out, unless that is nil.
func (p *Process) Do(method, path, key, body string, out any) (*http.Response, error) {
	req, err := http.NewRequest(method, p.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if key != "" {
		req.Header.Set("X-API-KEY", key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && out != nil {
		err = json.Unmarshal(b, out)
	}
	return resp, err
}

// Status is Do that only returns the status, or 0 if there was no answer.
func (p *Process) Status(method, path, key, body string) int {
	resp, err := p.Do(method, path, key, body, nil)
	if err != nil {
		return 0
	}
	return resp.StatusCode
}
