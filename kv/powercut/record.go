package powercut

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// calls are the recorded system calls. A call without a model is an error if it concerns the directory.
const calls = "openat,close,lseek,write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,ftruncate,truncate,fallocate," +
	"rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,copy_file_range,sendfile,splice"

// Record makes cmd run under strace, still as a child of the test. After cmd has ended, the returned function reads
// what cmd did to dir, which must exist before and be named without symbolic links. If ok is false, the test cannot
// continue: see Strace.
func Record(t testing.TB, dir string, cmd *exec.Cmd) (history func() *History, ok bool) {
	t.Helper()
	root, err := scan(dir)
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "trace")
	if !Strace(t, cmd, "-xx", "-s", "1000000000", "-e", "trace="+calls, "-e", "signal=none", "-o", log) {
		return nil, false
	}
	return func() *History {
		t.Helper()
		b, err := wait(log, cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		h := &History{dir: dir, root: root, log: b}
		if err := h.check(); err != nil {
			t.Fatalf("read the record of strace: %v", err)
		}
		return h
	}, true
}

// Strace makes cmd run under strace with the given flags, with its threads and still as a child of the test. If
// strace is not installed, it skips the test, or fails it on CI. If the kernel forbids tracing, it logs that and
// returns false.
func Strace(t testing.TB, cmd *exec.Cmd, flags ...string) bool {
	t.Helper()
	strace, ok := find(t)
	if ok {
		cmd.Args = append(append([]string{strace, "-D", "-f", "-q"}, flags...), append([]string{"--", cmd.Path}, cmd.Args[1:]...)...)
		cmd.Path = strace
	}
	return ok
}

// Fail makes a system call of a running process fail with an error, such as pwrite64 with EIO, until stop is called.
// If ok is false, the test cannot continue: see Strace.
func Fail(t testing.TB, pid int, call, failure string) (stop func(), ok bool) {
	t.Helper()
	strace, ok := find(t)
	if !ok {
		return nil, false
	}
	cmd := exec.Command(strace, "-f", "-o", os.DevNull, "-e", "trace="+call, "-e", "inject="+call+":error="+failure, "-p", strconv.Itoa(pid))
	told, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait() // the interrupt ends it
	})
	t.Cleanup(stop)
	lines := bufio.NewScanner(told)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "attached") {
			go io.Copy(io.Discard, told)
			return stop, true
		}
	}
	t.Fatalf("strace did not attach: %v", lines.Err())
	return nil, false
}

// find returns strace's path.
func find(t testing.TB) (path string, ok bool) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("strace is not installed")
		}
		t.Skip("strace is not installed")
	}
	if out, err := exec.Command(strace, "-qq", "-e", "trace=none", "true").CombinedOutput(); err != nil {
		t.Logf("NOT RUN: strace may not trace here: %v: %s", err, bytes.TrimSpace(out))
		return "", false
	}
	return strace, true
}

// wait returns strace's output once it reports the end of a process, a little before strace itself ends.
func wait(log string, pid int) ([]byte, error) {
	ended := regexp.MustCompile(fmt.Sprintf(`(?m)^%d +\+\+\+ (exited with|killed by) `, pid))
	for range 400 {
		b, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if ended.Match(b) {
			return b, nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	return nil, fmt.Errorf("strace does not report the end of process %d in %s", pid, log)
}

// Scratch returns a directory for the results of cuts, in memory if possible, because thousands of syncs are fast
// there. It is removed after the test.
func Scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "powercut-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
