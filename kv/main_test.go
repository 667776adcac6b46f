package kv

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// childRole is the environment variable with the role of the test binary in a child process.
const childRole = "KV_TEST_ROLE"

// roles are the possible roles. Tests that need strace add theirs.
var roles = map[string]func(){"holder": holdStore, "creator": createAndDie, "writer": writeUntilKilled}

func TestMain(m *testing.M) {
	role := os.Getenv(childRole)
	if role == "" {
		os.Exit(m.Run())
	}
	do := roles[role]
	if do == nil {
		fatal(fmt.Errorf("there is no role %q", role))
	}
	do()
}

// child returns the command of a child process with a role and a store at path.
func child(role, path string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childRole+"="+role, "KV_TEST_PATH="+path), env...)
	cmd.Stderr = os.Stderr
	return cmd
}

func childConfig() Config {
	return Config{Path: os.Getenv("KV_TEST_PATH"), Buckets: []string{blobs.Name(), triples.Name()}}
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

// holdStore opens the store, reports that, and holds it open until its input ends.
func holdStore() {
	s, err := Open(childConfig())
	fatal(err)
	fmt.Println("open")
	io.Copy(io.Discard, os.Stdin)
	fatal(s.Close())
}

// createAndDie exits abruptly at one step of creating a store.
func createAndDie() {
	cfg := childConfig()
	cfg.step = func(name string) {
		if name == os.Getenv("KV_TEST_STEP") {
			self, err := os.FindProcess(os.Getpid())
			fatal(err)
			fatal(self.Kill())
			select {}
		}
	}
	_, err := Open(cfg)
	fatal(err)
	fatal(fmt.Errorf("the step was not reached"))
}

// writeUntilKilled writes from many goroutines and prints each key after its Update has returned.
func writeUntilKilled() {
	s, err := Open(childConfig())
	fatal(err)
	var first uint64
	fatal(s.View(func(tx *Tx) error {
		for item, err := range triples.ScanDown(tx, Range{}) {
			first = item.Key.B.B + 1
			return err
		}
		return nil
	}))
	const writers = 16
	for w := range uint64(writers) {
		go func() {
			for k := first + w; ; k += writers {
				fatal(s.Update(func(tx *Tx) error {
					if err := blobs.Put(tx, w, make([]byte, k%9000)); err != nil { // churn: pages are freed and reused
						return err
					}
					return triples.Put(tx, triple("k", "", k), make([]byte, k%700))
				}))
				fmt.Printf("%d\n", k) // one system call per line
			}
		}()
	}
	select {}
}

// TestLocked opens a store that another process has open.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	cmd := child("holder", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	expectLocked(t, path)
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	openStore(t, Config{Path: path})
}
