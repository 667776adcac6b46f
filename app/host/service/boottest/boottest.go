//go:build linux

// Package boottest boots a Linux for a test: this machine's own files, with systemd of its own, in a container that
// sees no network but loopback. What is changed in it is gone at the end.
package boottest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Machine is a booted Linux. Root is where its files are, as the machine that it runs on sees them.
type Machine struct {
	Root   string
	leader int // process 1, as this machine numbers it
}

// Boot boots a machine and waits until it has started. It skips the test where a program is missing or this user may
// not (under CI=true the first is a failure), and where the kernel refuses a privilege it prints NOT RUN with the
// cause.
func Boot(t *testing.T) *Machine {
	t.Helper()
	for _, name := range []string{"systemd-nspawn", "nsenter", "systemctl"} {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("the checks need %s (Debian: systemd-container): %v", name, err)
			}
			t.Skipf("tried only where %s is", name)
		}
	}
	if os.Getuid() != 0 {
		return refused(t, "only root can boot a machine")
	}
	// An overlay on the whole file system must not hold its own layers: they lie in memory.
	layers := t.TempDir()
	if err := syscall.Mount("tmpfs", layers, "tmpfs", 0, "mode=0755"); err != nil {
		return refused(t, fmt.Sprintf("mount a file system in memory: %v", err))
	}
	t.Cleanup(func() { unmount(t, layers) })
	upper, work, root := filepath.Join(layers, "upper"), filepath.Join(layers, "work"), filepath.Join(layers, "root")
	for _, dir := range []string{upper, work, root} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mount("overlay", root, "overlay", 0, "lowerdir=/,upperdir="+upper+",workdir="+work); err != nil {
		return refused(t, fmt.Sprintf("mount an overlay of /: %v", err))
	}
	t.Cleanup(func() { unmount(t, root) })
	bare(t, root)
	return boot(t, &Machine{Root: root})
}

// refused says that a machine cannot be booted for a cause that is not the program's. The checks go on without it.
func refused(t *testing.T, cause string) *Machine {
	t.Helper()
	if os.Getenv("CI") != "true" {
		t.Skip("NOT RUN: " + cause)
	}
	fmt.Printf("NOT RUN: %s: %s\n", t.Name(), cause)
	return nil
}

func unmount(t *testing.T, dir string) {
	if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
		t.Errorf("unmount %s: %v", dir, err)
	}
}

// bare takes away what the machine would start of this machine's own.
func bare(t *testing.T, root string) {
	t.Helper()
	system := filepath.Join(root, "etc", "systemd", "system")
	wanted, err := filepath.Glob(filepath.Join(system, "*.wants"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range wanted {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, unit := range []string{"docker", "containerd", "ssh", "cron"} {
		name := filepath.Join(system, unit+".service")
		_ = os.Remove(name) // it may be there or not
		if err := os.Symlink("/dev/null", name); err != nil {
			t.Fatal(err)
		}
	}
	id := make([]byte, 16) // one of its own, or its journal is taken for this machine's
	rand.Read(id)
	if err := os.WriteFile(filepath.Join(root, "etc", "machine-id"), []byte(hex.EncodeToString(id)+"\n"), 0o444); err != nil {
		t.Fatal(err)
	}
}

// boot starts process 1 and waits until the machine is up.
func boot(t *testing.T, m *Machine) *Machine {
	t.Helper()
	var console bytes.Buffer
	groups, err := controlGroups(t)
	if err != nil {
		return refused(t, fmt.Sprintf("make control groups: %v", err))
	}
	container := exec.Command("sh", "-ec", `for group; do echo $$ >"$group/cgroup.procs"; done
		exec systemd-nspawn --quiet --directory="$ROOT" --register=no --keep-unit --boot --private-network --console=pipe`, "sh")
	container.Args = append(container.Args, groups...)
	container.Env = append(os.Environ(), "ROOT="+m.Root)
	container.Stdout, container.Stderr, container.WaitDelay = &console, &console, 5*time.Second
	if err := container.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- container.Wait() }()
	t.Cleanup(func() {
		if m.leader != 0 {
			m.Run(context.Background(), nil, "systemctl", "poweroff", "--force")
		}
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			container.Process.Kill()
			<-ended
		}
	})
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-ended:
			ended <- err
			return refused(t, fmt.Sprintf("systemd-nspawn: %v: %s", err, &console))
		default:
		}
		if m.leader == 0 {
			m.leader = child(container.Process.Pid)
		} else if out, _, _ := m.Run(t.Context(), nil, "systemctl", "is-system-running"); strings.Contains(out, "running") || strings.Contains(out, "degraded") {
			alone(t, m, groups)
			return m
		}
		if time.Now().After(end) {
			container.Process.Kill() // and what it has written can be read
			ended <- <-ended
			if strings.Contains(console.String(), "Freezing execution") { // what systemd does where it lacks a privilege
				return refused(t, "systemd: "+console.String())
			}
			t.Fatalf("the machine did not start: %s", &console)
		}
	}
}

// alone makes sure that no other machine has the control groups of this one.
func alone(t *testing.T, m *Machine, groups []string) {
	t.Helper()
	now, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", m.leader))
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range groups {
		if !strings.Contains(string(now), "/"+filepath.Base(group)+"/") {
			t.Fatalf("the machine is not in its control group %s: %s", group, now)
		}
	}
}

// child returns the process that systemd-nspawn has begun as process 1 of the machine, 0 while there is none.
func child(pid int) int {
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0
	}
	for word := range strings.FieldsSeq(string(list)) {
		name, err := os.ReadFile("/proc/" + word + "/comm")
		if n, e := strconv.Atoi(word); err == nil && e == nil && strings.TrimSpace(string(name)) == "systemd" {
			return n
		}
	}
	return 0
}

// Run runs a program on the machine as its root and gives what it wrote and its exit status, -1 when it did not end by
// itself. It has three minutes.
func (m *Machine) Run(ctx context.Context, stdin []byte, args ...string) (stdout, stderr string, status int) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nsenter", append([]string{"--target", strconv.Itoa(m.leader), "--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wdns=/", "--"}, args...)...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=/root"}
	cmd.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return out.String(), err.Error(), -1
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// Must is Run for a program that must end with status 0; it gives what that wrote to standard output.
func (m *Machine) Must(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, status := m.Run(t.Context(), nil, args...)
	if status != 0 {
		t.Fatalf("%v: status %d: %s%s", args, status, stdout, stderr)
	}
	return stdout
}

// Put puts a file on the machine.
func (m *Machine) Put(t *testing.T, name string, content []byte, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(m.Root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, mode); err != nil {
		t.Fatal(err)
	}
}

// Dial connects to an address on the machine, such as 127.0.0.1:8080: it has a network of its own.
func (m *Machine) Dial(address string) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result)
	go func() {
		// The thread that has gone into the machine's network ends with this goroutine, which never unlocks it.
		runtime.LockOSThread()
		ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", m.leader))
		if err != nil {
			done <- result{nil, err}
			return
		}
		defer ns.Close()
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- result{nil, err}
			return
		}
		conn, err := net.Dial("tcp", address)
		done <- result{conn, err}
	}()
	r := <-done
	return r.conn, r.err
}
