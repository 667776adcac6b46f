//go:build rig

package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"opsmon/app/host/backup"
	"opsmon/app/host/config"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/apptest"
	"opsmon/kv/powercut"
)

// TestPowerCut cuts the power, and kills the real binary, at every step of its first start, of making the first account,
// and of writes by many clients. Whatever is left, it starts, is whole, and has every key that anybody was told, and every
// signal that was acknowledged.
func TestPowerCut(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "made", "data")
	record := func(what string, cmd *exec.Cmd, run func(p *exec.Cmd) (keys []string)) {
		t.Helper()
		history, ok := powercut.Record(t, base, cmd)
		if !ok {
			return
		}
		keys := run(cmd)
		h := history()
		scratch, n, told := powercut.Scratch(t), 0, 0
		try := func(cut powercut.Cut) bool {
			n++
			left := filepath.Join(scratch, fmt.Sprint(n))
			if err := cut.Write(left); err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(left)
			known := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !bytes.Contains(cut.Said(), []byte(key)) })
			told = max(told, len(known))
			if err := afterCut(filepath.Join(left, "made", "data"), known); err != nil {
				t.Errorf("%s: %v: %v", what, cut, err)
				return false
			}
			return true
		}
		h.Kills(try)
		h.PowerCuts(powerCuts, rand.New(rand.NewPCG(rand.Uint64(), 1)))(try)
		t.Logf("%s: %d cuts, up to %d keys and signals were told", what, n, told)
		if told != len(keys) || n < 20 {
			t.Errorf("%s: of %d keys and signals %d are in the record, with %d cuts", what, len(keys), told, n)
		}
	}

	var admin string
	record("init", exec.Command(apptest.Binary(t), "init", "--data-dir", dir, "--domain", "northgate.example", "--email", "it@northgate.example"), func(cmd *exec.Cmd) []string {
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for word := range bytes.FieldsSeq(out) {
			if bytes.HasPrefix(word, []byte("opk_")) {
				admin = string(word)
			}
		}
		return []string{admin}
	})
	if admin == "" {
		return // strace may not trace
	}
	record("writes", exec.Command(apptest.Binary(t), "serve", "--data-dir", dir, "--listen", "127.0.0.1:0"), func(cmd *exec.Cmd) []string {
		p := apptest.StartCommand(t, "Serving on ", cmd)
		var mu sync.Mutex
		keys := []string{}
		var clients sync.WaitGroup
		for n := range 4 {
			clients.Go(func() {
				for i := range 6 {
					// What is refused for its station is told by that station's name: so the record shows when the other was.
					id := fmt.Sprintf("%s%d-%d-", signalPrefix, n, i)
					body := fmt.Sprintf(`{"signals":[{"stationCode":%q,"id":%q,"productionCompleteGood":1},{"stationCode":%q,"rssi":-60}]}`, starterStation, id, id)
					if resp, err := p.Do(http.MethodPost, "/signal", admin, body, nil); err != nil || resp.StatusCode != http.StatusOK {
						t.Errorf("POST /signal: %v, %v", resp, err)
					}
					mu.Lock()
					keys = append(keys, id)
					mu.Unlock()
				}
			})
			clients.Go(func() {
				for range 3 {
					var out struct {
						Result struct {
							Key string `json:"key"`
						} `json:"result"`
					}
					if _, err := p.Do(http.MethodPost, "/key", admin, "", &out); err != nil {
						t.Error(err)
					}
					mu.Lock()
					keys = append(keys, out.Result.Key)
					mu.Unlock()
				}
			})
		}
		clients.Wait()
		if status := p.End(t, syscall.SIGTERM); status != 0 {
			t.Errorf("exit status %d: %s", status, p.Stderr)
		}
		return keys
	})
	if err := os.RemoveAll(filepath.Join(base, "made")); err != nil {
		t.Fatal(err)
	}
	record("first start", exec.Command(apptest.Binary(t), "serve", "--data-dir", dir, "--listen", "127.0.0.1:0"), func(cmd *exec.Cmd) []string {
		p := apptest.StartCommand(t, "Serving on ", cmd)
		if status := p.End(t, syscall.SIGTERM); status != 0 {
			t.Errorf("exit status %d: %s", status, p.Stderr)
		}
		return nil
	})
}

// TestPowerCutOperations cuts the power, and kills the real binary, at every step of a backup, of a compaction and of a
// restore. A backup of the final name is whole. What is left of a data directory starts with the store of before or of
// after, whole; with that of after once the command has said that it is done.
func TestPowerCutOperations(t *testing.T) {
	base := t.TempDir()
	dir, file := filepath.Join(base, "data"), filepath.Join(base, "plant.backup")
	admin := apptest.Initialise(t, dir, "--domain", "northgate.example")
	later := ""
	for _, tt := range []struct {
		args []string
		left func(left string, done bool) error
	}{
		{[]string{"backup", file}, func(left string, done bool) error {
			_, err := backup.Verify(t.Context(), backup.VerifyConfig{Path: filepath.Join(left, "plant.backup")})
			if errors.Is(err, fs.ErrNotExist) && !done {
				err = nil
			}
			return errors.Join(err, afterCut(filepath.Join(left, "data"), []string{admin}))
		}},
		{[]string{"compact"}, func(left string, _ bool) error {
			return afterCut(filepath.Join(left, "data"), []string{admin, later})
		}},
		{[]string{"restore", file, "--yes"}, func(left string, done bool) error {
			before := afterCut(filepath.Join(left, "data"), []string{admin, later})
			if before == nil && !done {
				return nil
			}
			if before == nil {
				return errors.New("it was said to be restored and is not")
			}
			return afterCut(filepath.Join(left, "data"), []string{admin})
		}},
	} {
		t.Run(tt.args[0], func(t *testing.T) {
			cmd := exec.Command(apptest.Binary(t), append(tt.args, "--data-dir", dir)...)
			history, ok := powercut.Record(t, base, cmd)
			if !ok {
				return
			}
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Run(); err != nil || stdout.Len() == 0 {
				t.Fatalf("%v: %s%s", err, &stdout, &stderr)
			}
			h := history()
			scratch, n, dones := powercut.Scratch(t), 0, 0
			try := func(cut powercut.Cut) bool {
				n++
				left := filepath.Join(scratch, fmt.Sprint(n))
				if err := cut.Write(left); err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(left)
				done := bytes.Contains(cut.Said(), stdout.Bytes())
				if done {
					dones++
				}
				if err := tt.left(left, done); err != nil {
					t.Errorf("%v: %v", cut, err)
					return false
				}
				return true
			}
			h.Kills(try)
			h.PowerCuts(powerCuts, rand.New(rand.NewPCG(rand.Uint64(), 1)))(try)
			t.Logf("%d cuts, %d after it was done", n, dones)
			if n < 20 || dones == 0 {
				t.Errorf("%d cuts, %d after it was done, are too few to tell anything", n, dones)
			}
		})
		if later == "" { // a key that the backup does not have
			out, stderr, status := apptest.Command(t, "key", "create", "--json", "--email", "it@northgate.example", "--data-dir", dir)
			var made struct {
				Key string `json:"key"`
			}
			if err := json.Unmarshal([]byte(out), &made); status != 0 || err != nil {
				t.Fatalf("key create: status %d, %v, %s", status, err, stderr)
			}
			later = made.Key
		}
	}
}

// signalPrefix begins the ids of signals among the keys that are to be there after a cut.
const signalPrefix = "signal-"

// afterCut starts on what is left of a data directory, which must be whole and know the keys, and the signals of such ids.
func afterCut(dir string, keys []string) error {
	cfg := config.Defaults()
	cfg.DataDir = dir
	a, err := Open(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer a.Close()
	stored := map[string]bool{}
	for _, day := range []int64{-1, 0} { // it may have been before midnight
		list, err := a.services.Signals.Of("northgate", starterStation, signal.Day(time.Now().UnixMilli())+day)
		if err != nil {
			return err
		}
		for i := range list {
			stored[list[i].ID] = true
		}
	}
	for _, key := range keys {
		if strings.HasPrefix(key, signalPrefix) {
			if !stored[key] {
				return fmt.Errorf("the signal %s was acknowledged and is lost", key)
			}
			continue
		}
		if _, err := a.services.Auth.AuthenticateKey(key); err != nil {
			return fmt.Errorf("a key that was told is lost: %w", err)
		}
	}
	var problems []error
	err = a.Check(func(problem string) { problems = append(problems, errors.New(problem)) })
	return errors.Join(append(problems, err)...)
}

// TestKilledFirstStart kills the real binary at each call of each kind by which it makes its first account, until it
// gets through. What it leaves each time can be started, and the account be made if it is not there.
func TestKilledFirstStart(t *testing.T) {
	scratch, n, killed, there := powercut.Scratch(t), 0, 0, 0
	for _, kind := range []string{"mkdirat", "openat", "write", "pwrite64", "ftruncate", "fsync", "fdatasync", "linkat", "unlinkat", "flock", "close", "exit_group"} {
		for when := 1; ; when++ {
			n++
			dir := filepath.Join(scratch, fmt.Sprint(n))
			args := []string{"init", "--data-dir", dir, "--domain", "northgate.example", "--email", "it@northgate.example"}
			cmd := exec.Command(apptest.Binary(t), args...)
			// Calls are counted by thread; so that one thread makes most of them there is one processor.
			cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
			if !powercut.Strace(t, cmd, "-o", os.DevNull, "-e", "trace="+kind, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", kind, when)) {
				return
			}
			err := cmd.Run()
			if err == nil {
				break
			}
			if !strings.Contains(err.Error(), "killed") {
				t.Fatal(err)
			}
			killed++
			if err := afterCut(dir, nil); err != nil {
				t.Fatalf("killed at %s %d: %v", kind, when, err)
			}
			switch _, stderr, status := apptest.Command(t, args...); {
			case status == 1 && strings.Contains(stderr, "already"):
				there++
			case status != 0:
				t.Fatalf("killed at %s %d: init afterwards: status %d, %s", kind, when, status, stderr)
			}
		}
	}
	t.Logf("killed %d times; the account was there %d times", killed, there)
	if killed < 20 || there == 0 || there == killed {
		t.Error("that is too few to tell anything")
	}
}
