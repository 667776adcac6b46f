package cli_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"opsmon/app/cli"
	"opsmon/app/host/certs"
)

// TestMain lets the scripts run this test binary as app.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"app": func() { os.Exit(cli.Main()) }})
}

// TestCommands runs every script twice: on a store without a service, and with a running service. Output and effects of
// the commands are the same (decisions.md section 7).
func TestCommands(t *testing.T) {
	modes := []string{"running", "stopped"}
	if testing.Short() {
		modes = modes[:1] // hundreds of processes, each much slower with the race detector
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, testscript.Params{
				Dir:                 filepath.Join("testdata", "script"),
				RequireExplicitExec: true,
				RequireUniqueNames:  true,
				Setup: func(env *testscript.Env) error {
					manifest, err := filepath.Abs(filepath.Join("..", "demo", "plant.json"))
					if err != nil {
						return err
					}
					env.Setenv("MANIFEST", manifest)
					env.Setenv("APP_DATA_DIR", filepath.Join(env.WorkDir, "data"))
					env.Setenv("MODE", mode)
					return nil
				},
				Condition: func(cond string) (bool, error) {
					switch cond {
					case "running", "stopped":
						return cond == mode, nil
					}
					return false, fmt.Errorf("unknown condition %s", cond)
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"status": status, "service": service, "json": jsonValue, "same": same, "authority": authority,
				},
			})
		})
	}
}

// status runs app and checks its exit status: status 2 init --nonsense.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: status N arguments of app")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec("app", args[1:]...); err != nil {
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
	if stderr := ts.ReadFile("stderr"); got != 0 && !strings.Contains(stderr, "app: ") {
		ts.Fatalf("a failure without a sentence on standard error: %q", stderr)
	}
}

// service starts `app serve` on the data directory if the mode requires it, and waits until it is ready. The arguments
// are additional flags.
func service(ts *testscript.TestScript, neg bool, args []string) {
	if ts.Getenv("MODE") != "running" {
		return
	}
	cmd := exec.Command("app", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, "app"); exists(path) {
			cmd.Path, cmd.Err = path, nil
			break
		}
	}
	cmd.Env = append(os.Environ(), "APP_DATA_DIR="+ts.Getenv("APP_DATA_DIR"))
	cmd.Dir = ts.MkAbs(".")
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			ts.Fatalf("the service ended with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "Serving on http") {
		ts.Fatalf("the service said %q, %v", line, err)
	}
	go io.Copy(io.Discard, out)
}

// authority creates a certificate authority in a directory, like a service with tls: auto.
func authority(ts *testscript.TestScript, neg bool, args []string) {
	a, err := certs.Open(certs.Config{Dir: ts.MkAbs(args[0])})
	ts.Check(err)
	a.Close()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// jsonValue checks that standard output is exactly one JSON value, and reads members of it into variables: json KEY=key
// ID=0.id.
func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	out := ts.ReadFile("stdout")
	dec := json.NewDecoder(strings.NewReader(out))
	var v any
	if err := dec.Decode(&v); err != nil {
		ts.Fatalf("standard output is not JSON: %v: %q", err, out)
	}
	if _, err := dec.Token(); err != io.EOF {
		ts.Fatalf("standard output is more than one JSON value: %q", out)
	}
	if strings.Contains(out, "\x1b") {
		ts.Fatalf("colours in JSON: %q", out)
	}
	for _, arg := range args {
		name, path, _ := strings.Cut(arg, "=")
		at := v
		for part := range strings.SplitSeq(path, ".") {
			switch x := at.(type) {
			case map[string]any:
				at = x[part]
			case []any:
				if i, err := strconv.Atoi(part); err == nil && i < len(x) {
					at = x[i]
					continue
				}
				ts.Fatalf("no %s in %s", path, out)
			default:
				ts.Fatalf("no %s in %s", path, out)
			}
		}
		if at == nil {
			ts.Fatalf("no %s in %s", path, out)
		}
		ts.Setenv(name, fmt.Sprint(at))
	}
}

// same checks that two JSON files have equal values, except system fields, which belong to the appliance.
func same(ts *testscript.TestScript, neg bool, args []string) {
	var values [2]any
	for i, name := range args[:2] {
		if err := json.Unmarshal([]byte(ts.ReadFile(name)), &values[i]); err != nil {
			ts.Fatalf("%s: %v", name, err)
		}
		dropSystemFields(values[i])
	}
	if diff := cmp.Diff(values[0], values[1]); (diff == "") == neg {
		ts.Fatalf("%s and %s: %s", args[0], args[1], diff)
	}
}

func dropSystemFields(v any) {
	switch x := v.(type) {
	case map[string]any:
		for _, name := range []string{"createdAt", "updatedAt", "archivedAt", "currentOperatorInitials", "statusCode", "statusCodeUpdatedAt", "alertMessage", "alertExpiresAt"} {
			delete(x, name)
		}
		for _, member := range x {
			dropSystemFields(member)
		}
	case []any:
		for _, element := range x {
			dropSystemFields(element)
		}
	}
}

// TestUnfinishedInputCanBeStopped: a command that waits for standard input ends immediately on Ctrl-C.
func TestUnfinishedInputCanBeStopped(t *testing.T) {
	cmd := exec.Command("app", "manifest", "validate", "-")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	time.Sleep(300 * time.Millisecond) // it does not report that it is reading
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it ended well, and it had no input")
		}
	case <-time.After(time.Minute):
		cmd.Process.Kill()
		t.Error("it did not end on an interrupt")
	}
}
