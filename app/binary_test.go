package app

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
)

// binaryDir holds the binaries that the tests run; TestMain removes it.
var binaryDir string

var makeBinaryDir = sync.OnceValue(func() (err error) {
	binaryDir, err = os.MkdirTemp("", "app-binary-")
	return err
})

// build makes the binary once, as releases are made.
var build = sync.OnceValues(func() (string, error) { return buildAs("app", "", "") })

// buildAs makes a binary with build tags and values for variables ("opsmon/app.version=1.2.3 …").
func buildAs(name, tags, values string) (string, error) {
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

func binary(t testing.TB) string {
	t.Helper()
	name, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// command runs the binary to its end and gives its output and exit status.
func command(t testing.TB, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// initialise makes a store with one account in dir and gives the administrator's key.
func initialise(t testing.TB, dir string, more ...string) string {
	t.Helper()
	out, stderr, status := command(t, append([]string{"init", "--json", "--data-dir", dir, "--email", "it@northgate.example"}, more...)...)
	var made struct {
		APIKey string `json:"apiKey"`
	}
	if err := json.Unmarshal([]byte(out), &made); status != 0 || err != nil {
		t.Fatalf("init: status %d, %v, %s", status, err, stderr)
	}
	return made.APIKey
}

// process is the binary running as a service.
type process struct {
	cmd    *exec.Cmd
	url    string
	stderr *bytes.Buffer
	lines  *bufio.Reader
}

// start starts the binary with arguments, and waits until it prints a line that starts so; the rest of that line is
// its url. The process is killed when the test ends.
func start(t testing.TB, line string, args ...string) *process {
	t.Helper()
	return startCommand(t, line, exec.Command(binary(t), args...))
}

// startCommand is start for a command that may have been prepared otherwise.
func startCommand(t testing.TB, line string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, stderr: new(bytes.Buffer)}
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	p.lines = bufio.NewReader(out)
	for {
		text, err := p.lines.ReadString('\n')
		if err != nil {
			p.cmd.Wait()
			t.Fatalf("%v did not start: %s", cmd.Args, p.stderr)
		}
		if rest, ok := strings.CutPrefix(text, line); ok {
			p.url = strings.TrimSpace(rest)
			return p
		}
	}
}

func startService(t testing.TB, dir string, more ...string) *process {
	t.Helper()
	return start(t, "Serving on ", append([]string{"serve", "--data-dir", dir, "--listen", "127.0.0.1:0"}, more...)...)
}

// kill ends the process without warning.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	}
	http.DefaultClient.CloseIdleConnections()
}

// end asks the process to stop and gives its exit status.
func (p *process) end(t testing.TB, signal os.Signal) int {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { p.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		p.cmd.Process.Kill()
		<-ended
		t.Fatalf("it did not end: %s", p.stderr)
	}
	return p.cmd.ProcessState.ExitCode()
}

// do makes a request and reads the body of its answer into out, unless that is nil.
func (p *process) do(method, path, key, body string, out any) (*http.Response, error) {
	req, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
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

// status is do for those who want the status alone, which is 0 when there was no answer.
func (p *process) status(method, path, key, body string) int {
	resp, err := p.do(method, path, key, body, nil)
	if err != nil {
		return 0
	}
	return resp.StatusCode
}
