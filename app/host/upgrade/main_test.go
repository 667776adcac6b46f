package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"opsmon/app/host/service"
	"opsmon/kv"
)

// childRole names what the test binary does when a test runs it again as another process.
const childRole = "UPGRADE_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		os.Exit(act(role))
	}
	status := m.Run()
	if programDir != "" {
		os.RemoveAll(programDir)
	}
	os.Exit(status)
}

// act upgrades, or goes back, in a process of its own, which dies at the step that the environment says.
func act(role string) int {
	p := plant{dir: os.Getenv("UPGRADE_TEST_DIR"), binary: os.Getenv("UPGRADE_TEST_BINARY")}
	cfg := p.config()
	steps, at := 0, os.Getenv("UPGRADE_TEST_STEP")
	cfg.step = func(name string) {
		if steps++; strconv.Itoa(steps) != at && name != at {
			return
		}
		fmt.Println("killed at", name)
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		fmt.Println(err)
		select {}
	}
	var err error
	if role == "rollback" {
		_, err = Rollback(context.Background(), cfg, 0)
	} else {
		_, err = Upgrade(context.Background(), cfg, role, true)
	}
	if err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	fmt.Println("done")
	return 0
}

var (
	programDir   string
	makePrograms = sync.OnceValue(func() (err error) {
		programDir, err = os.MkdirTemp("", "app-programs-")
		return err
	})
	programs sync.Map // name -> func() (string, error)
)

// program builds the product with a version, and as a newer one with more migrations, which go as told, or with a flaw.
func program(t testing.TB, version, migration string) string {
	t.Helper()
	name := version + migration
	built, _ := programs.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		if err := makePrograms(); err != nil {
			return "", err
		}
		path := filepath.Join(programDir, name)
		if runtime.GOOS == "windows" {
			path += ".exe"
		}
		tags, flags := "", "-s -w -X opsmon/app/host/upgrade.probationText=1s -X opsmon/app.version="+version
		if flaw, found := strings.CutPrefix(migration, "flaw:"); found {
			tags, flags = "testflaw", flags+" -X opsmon/app.testFlaw="+flaw
		} else if migration != "none" {
			tags, flags = "testmigration", flags+" -X opsmon/app.testMigration="+strings.TrimPrefix(migration, "well")
		}
		cmd := exec.Command("go", "build", "-trimpath", "-tags", tags, "-ldflags", flags, "-o", path, "opsmon")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go build: %w\n%s", err, out)
		}
		return path, nil
	}))
	path, err := built.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// plant is an installation: a data directory and a program, which a service of this test runs.
type plant struct{ dir, binary string }

// newPlant makes a plant of version 1.0.0 whose service runs.
func newPlant(t testing.TB) plant {
	t.Helper()
	p := plant{dir: t.TempDir(), binary: filepath.Join(t.TempDir(), "bin ö", "app")}
	if runtime.GOOS == "windows" {
		p.binary += ".exe"
	}
	if err := os.Mkdir(filepath.Dir(p.binary), 0o755); err != nil {
		t.Fatal(err)
	}
	install(t, program(t, "1.0.0", "none"), p.binary)
	p.app(t, "init", "--domain", "northgate.example", "--email", "it@northgate.example")
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	p.ready(t)
	return p
}

// install puts a program somewhere without opening it for writing: a process that is begun at the same moment would
// hold it open, and it could not be run.
func install(t testing.TB, from, to string) {
	t.Helper()
	if err := os.Link(from, to); err != nil {
		t.Fatal(err)
	}
}

// app runs the installed program to its end, which must be a good one.
func (p plant) app(t testing.TB, args ...string) string {
	t.Helper()
	out, err := p.try(args...)
	if err != nil {
		t.Fatalf("app %v: %v: %s", args, err, out)
	}
	return out
}

func (p plant) try(args ...string) (string, error) {
	out, err := exec.Command(p.binary, append(args, "--data-dir", p.dir)...).CombinedOutput()
	return string(out), err
}

// config is how this installation is upgraded; the Migrations are as many as the newest program has.
func (p plant) config() Config {
	return Config{
		Binary: p.binary, DataDir: p.dir, Service: p, ReadyTime: 1500 * time.Millisecond, probation: time.Second,
		Holds: func(counts map[string]int) map[string]int {
			return map[string]int{Accounts: counts["account"], Revisions: counts["revision"], "users": counts["authUser"]}
		},
		BackupDirs: []string{filepath.Join(p.dir, "backups")},
		Migrations: make([]kv.Migration, 9), Confirm: func(string) error { return nil }, Say: func(string) {},
		Backup: func(context.Context) (string, error) {
			out, err := exec.Command(p.binary, "backup", "--json", "--data-dir", p.dir).Output()
			var made struct{ File string }
			return made.File, errors.Join(err, json.Unmarshal(out, &made))
		},
	}
}

func (p plant) pidFile() string { return filepath.Join(p.dir, "test.pid") }

// Start implements Service.
func (p plant) Start(context.Context) error {
	cmd := exec.Command(p.binary, "serve", "--listen", "127.0.0.1:0", "--data-dir", p.dir)
	log, err := os.OpenFile(filepath.Join(p.dir, "test.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait()
	return os.WriteFile(p.pidFile(), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
}

// Stop implements Service.
func (p plant) Stop(context.Context) error { return p.signal(os.Interrupt) }

// kill ends the service without warning.
func (p plant) kill() { p.signal(os.Kill) }

func (p plant) signal(signal os.Signal) error {
	process, err := p.process()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	process.Signal(signal)
	// A program that hangs in its migration takes no notice of an interrupt: a service manager kills it then.
	for end := time.Now().Add(time.Second); gone(process) == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			process.Kill()
		}
	}
	return os.Remove(p.pidFile())
}

// gone returns an error when a process has ended.
func gone(process *os.Process) error {
	if err := process.Signal(syscall.Signal(0)); err != nil {
		return err
	}
	// One that has ended and that nobody has waited for is still there to be signalled.
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process.Pid))
	if err == nil && bytes.Contains(stat, []byte(") Z ")) {
		return os.ErrProcessDone
	}
	return nil
}

// WaitReady implements Service. It does not wait for a process that has ended.
func (p plant) WaitReady(ctx context.Context) error {
	for {
		once, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		err := service.WaitReady(once, p.dir)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		process, err := p.process()
		if err == nil {
			err = gone(process)
		}
		if err != nil {
			return fmt.Errorf("its process has ended: %w", err)
		}
	}
}

// process is the service's; os.ErrNotExist when there is none.
func (p plant) process() (*os.Process, error) {
	text, err := os.ReadFile(p.pidFile())
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		return nil, err
	}
	return os.FindProcess(pid)
}

func (p plant) ready(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := p.WaitReady(ctx); err != nil {
		log, _ := os.ReadFile(filepath.Join(p.dir, "test.log"))
		t.Fatalf("%v: %s", err, log)
	}
}

// expect sees that the service runs with a version of the program and of the store, that the store holds what it did,
// and that nothing is left of an upgrade.
func (p plant) expect(t testing.TB, version string, store int) {
	t.Helper()
	p.ready(t)
	if out := p.app(t, "user", "list"); !strings.Contains(out, "it@northgate.example") {
		t.Errorf("the users are gone: %s", out)
	}
	p.app(t, "check")
	var built struct{ Version string }
	if err := json.Unmarshal([]byte(p.app(t, "version", "--json")), &built); err != nil || built.Version != version {
		t.Errorf("version %s is installed, want %s; %v", built.Version, version, err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := kv.VersionOf(filepath.Join(p.dir, storeName)); err != nil || n != store {
		t.Errorf("the store has version %d, want %d; %v", n, store, err)
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.ready(t)
	for end := time.Now().Add(20 * time.Second); Pending(p.dir); time.Sleep(50 * time.Millisecond) { // after its probation
		if time.Now().After(end) {
			t.Error("an upgrade is pending")
			break
		}
	}
}

// tidy sees that nothing is left beside the program but what is kept on purpose.
func (p plant) tidy(t testing.TB) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(p.binary), stagePattern)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// child makes the command of another process that upgrades to a file, or goes back.
func (p plant) child(role string, step int) *exec.Cmd {
	return p.childAt(role, strconv.Itoa(step))
}

// childAt is child that dies at the step of a name.
func (p plant) childAt(role, step string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+role, "UPGRADE_TEST_DIR="+p.dir, "UPGRADE_TEST_BINARY="+p.binary, "UPGRADE_TEST_STEP="+step)
	return cmd
}
