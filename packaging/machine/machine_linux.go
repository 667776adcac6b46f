package machine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Machine is a booted machine.
type Machine struct {
	Root string // its files, seen from the test
	pid  int    // of its systemd
}

// powerOff is the signal by which systemd powers a machine off: SIGRTMIN+4.
const powerOff = syscall.Signal(38)

// Boot boots a machine, which ends with the test. Without the programs or the rights it skips the test; where all is
// to be tested (CI=true) a missing program fails it, and only what the kernel refuses lets it pass, with false.
func Boot(t *testing.T) (*Machine, bool) {
	t.Helper()
	ci := os.Getenv("CI") == "true"
	if os.Geteuid() != 0 && !ci {
		t.Skip("a machine is booted by root alone")
	}
	nspawn, err := exec.LookPath("systemd-nspawn")
	if err == nil {
		_, err = exec.LookPath("nsenter")
	}
	if err != nil && ci {
		t.Fatalf("the checks need systemd-container and util-linux: %v", err)
	}
	if err != nil {
		t.Skipf("a machine is booted only where systemd-container and util-linux are: %v", err)
	}
	refused := func(what string, err error) (*Machine, bool) {
		if !ci {
			t.Skipf("%s: %v", what, err)
		}
		t.Logf("NOT RUN: %s: %v", what, err)
		return nil, false
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4g"); err != nil {
		return refused("mount tmpfs", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	m := &Machine{Root: filepath.Join(dir, "m")}
	for _, d := range []string{"u", "w", "m"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mount("overlay", m.Root, "overlay", 0, fmt.Sprintf("lowerdir=/,upperdir=%s/u,workdir=%s/w", dir, dir)); err != nil {
		return refused("mount overlay", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(m.Root, syscall.MNT_DETACH) })
	m.clear(t)

	var said bytes.Buffer
	boot := exec.Command(nspawn, "-q", "-D", m.Root, "--register=no", "--keep-unit", "--boot", "--private-network", "--console=pipe")
	boot.Stdout, boot.Stderr = &said, &said
	boot.WaitDelay = 5 * time.Second
	if err := boot.Start(); err != nil {
		return refused("systemd-nspawn", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- boot.Wait() }()
	t.Cleanup(func() {
		if m.pid != 0 {
			_ = syscall.Kill(m.pid, powerOff)
		}
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = boot.Process.Kill()
			<-ended
		}
	})
	for range 600 {
		select {
		case err := <-ended:
			ended <- err
			return refused("systemd-nspawn", fmt.Errorf("%w: %s", err, bytes.TrimSpace(said.Bytes())))
		case <-time.After(50 * time.Millisecond):
		}
		if m.pid == 0 {
			m.pid = firstChild(boot.Process.Pid)
			continue
		}
		if state, _ := m.Run(t, "systemctl", "is-system-running"); strings.Contains(state, "running") || strings.Contains(state, "degraded") {
			return m, true
		}
	}
	t.Fatal("the machine does not boot within 30 s")
	return nil, false
}

// clear takes away what this machine would start, and what keeps packages from starting services.
func (m *Machine) clear(t *testing.T) {
	t.Helper()
	wants, err := filepath.Glob(filepath.Join(m.Root, "etc/systemd/system/*.wants"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(wants, filepath.Join(m.Root, "usr/sbin/policy-rc.d")) {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, unit := range []string{"docker", "containerd", "ssh", "cron"} {
		path := filepath.Join(m.Root, "etc/systemd/system", unit+".service")
		_ = os.Remove(path)
		if err := os.Symlink("/dev/null", path); err != nil {
			t.Fatal(err)
		}
	}
}

// firstChild gives the process that a process has started as systemd, 0 as long as there is none.
func firstChild(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0
	}
	for field := range strings.FieldsSeq(string(b)) {
		name, err := os.ReadFile("/proc/" + field + "/comm")
		if child, e := strconv.Atoi(field); err == nil && e == nil && strings.TrimSpace(string(name)) == "systemd" {
			return child
		}
	}
	return 0
}

// Run runs a program on the machine as root and gives what it says, on both of its outputs.
func (m *Machine) Run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nsenter", append([]string{"-t", strconv.Itoa(m.pid), "-m", "-u", "-i", "-n", "-p", "-r", "-w", "--"}, args...)...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"}
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Must runs a program that has to succeed.
func (m *Machine) Must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := m.Run(t, args...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// Copy copies a file of this machine to a path of that one.
func (m *Machine) Copy(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(filepath.Join(m.Root, to), b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}
