package upgrade

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"opsmon/app/host/control"
	"opsmon/kv/file"
)

// TestProbation: a version that gets ready and does not last, or that has lost something, goes back by itself.
func TestProbation(t *testing.T) {
	for name, test := range map[string]struct {
		flaw, says string
		lost       bool // what was written since the upgrade
	}{
		"dies":    {"dies-2s", "it was ready and is not any more", false},
		"deletes": {"deletes", "it holds 0 accounts, and held 1 before the upgrade", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, store := newPlant(t), base(t)
			p.app(t, "user", "add", "mate@northgate.example", "--role", "member")
			cfg := p.config()
			cfg.probation = 6 * time.Second
			cfg.step = func(step string) {
				if step == "ready" && !test.lost {
					p.app(t, "user", "add", "during@northgate.example", "--role", "member")
				}
			}
			_, err := Upgrade(t.Context(), cfg, program(t, "1.1.0", "flaw:"+test.flaw), true)
			if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "nothing is lost") == test.lost {
				t.Fatalf("it says %v", err)
			}
			p.expect(t, "1.0.0", store)
			p.tidy(t)
			users := p.app(t, "user", "list")
			if !strings.Contains(users, "mate@") || strings.Contains(users, "during@") == test.lost {
				t.Errorf("the users are %s", users)
			}
			if file.Exists(filepath.Join(p.dir, failedName)) != test.lost {
				t.Error("the store that was taken away is not kept, or one is that was not")
			}
		})
	}
}

// TestRestartedInProbation: a version that is started again by the service manager has failed, too.
func TestRestartedInProbation(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	cfg := p.config()
	cfg.probation = 20 * time.Second
	cfg.step = func(step string) {
		if step == "ready" {
			go func() {
				time.Sleep(2500 * time.Millisecond)
				p.kill()
				p.Start(t.Context())
			}()
		}
	}
	if _, err := Upgrade(t.Context(), cfg, program(t, "1.1.0", "none"), true); err == nil || !strings.Contains(err.Error(), "failed its probation: it ended, and was started again") {
		t.Fatalf("it says %v", err)
	}
	p.expect(t, "1.0.0", base(t))
}

// TestPowerCutInProbation: the next start goes on with the new version, and with the probation. When that is over and all is there,
// the upgrade is; when something is missing, all that a rollback needs stays, and the log says so.
func TestPowerCutInProbation(t *testing.T) {
	for name, test := range map[string]struct {
		version string
		lost    bool
	}{"well": {"none", false}, "deletes": {"flaw:deletes", true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, store := newPlant(t), base(t)
			out, err := p.childAt(program(t, "1.1.0", test.version), "ready").CombinedOutput()
			if !strings.Contains(string(out), "killed at ready") {
				t.Fatalf("%v: %s", err, out)
			}
			p.kill()
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.ready(t)
			if !Pending(p.dir) {
				t.Error("it is over before the probation is")
			}
			if !test.lost {
				p.expect(t, "1.1.0", store)
				return
			}
			for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
				log, err := os.ReadFile(filepath.Join(p.dir, "test.log"))
				if strings.Contains(string(log), "go back with: app rollback") {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("the log does not say to go back: %s, %v", log, err)
				}
			}
			if !Pending(p.dir) || !file.Exists(filepath.Join(p.dir, keptName)) {
				t.Fatal("what a rollback needs is gone")
			}
			if _, err := Upgrade(t.Context(), p.config(), program(t, "1.2.0", "none"), true); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "app rollback") {
				t.Errorf("the next upgrade says %v", err)
			}
			if _, err := Rollback(t.Context(), p.config(), store); err != nil {
				t.Fatal(err)
			}
			p.expect(t, "1.0.0", store)
		})
	}
}

// TestMissing: what counts as lost, and what time and people take.
func TestMissing(t *testing.T) {
	before := map[string]int{Accounts: 2, Revisions: 40, "users": 20, "entries": 400, "days of signals": 400}
	for name, test := range map[string]struct {
		change map[string]int
		lost   string // what it says; "" = nothing is
	}{
		"as before":             {nil, ""},
		"more":                  {map[string]int{Accounts: 3, "users": 21}, ""},
		"retention, and a user": {map[string]int{"days of signals": 390, "users": 19}, ""},
		"an account":            {map[string]int{Accounts: 1}, "it holds 1 accounts, and held 2"},
		"a revision":            {map[string]int{Revisions: 39}, "it holds 39 revisions"},
		"all users":             {map[string]int{"users": 0}, "it holds 0 users"},
		"much history":          {map[string]int{"entries": 300}, "it holds 300 entries"},
		"joined parts":          {map[string]int{"days of signals": 2}, ""},
		"all signals":           {map[string]int{"days of signals": 0}, "it holds 0 days of signals"},
	} {
		now := map[string]int{}
		for what, n := range before {
			now[what] = n
		}
		for what, n := range test.change {
			now[what] = n
		}
		if err := missing(before, now); errors.Is(err, ErrLost) != (test.lost != "") || err != nil && !strings.Contains(err.Error(), test.lost) {
			t.Errorf("%s: %v, want %q", name, err, test.lost)
		}
	}
	if err := missing(before, nil); err != nil {
		t.Errorf("a version that does not say what it holds: %v", err)
	}
}

// TestWatch: a service that is slow for a while passes its probation, one that hangs or says that it is not ready fails, and so
// does another process.
func TestWatch(t *testing.T) {
	const well, contents = `{"result":{"ready":true,"pid":7}}`, `{"result":{"holds":{"accounts":1}}}`
	for name, test := range map[string]struct {
		status, contents func(n int, w http.ResponseWriter)
		says             string
	}{
		"well":  {answer(well), answer(contents), ""},
		"less":  {answer(well), answer(`{"result":{"holds":{"accounts":0}}}`), "it holds 0 accounts"},
		"older": {answer(well), func(_ int, w http.ResponseWriter) { http.Error(w, `{"isSuccess":false}`, http.StatusNotFound) }, ""},
		"slow": {answer(well), func(n int, w http.ResponseWriter) {
			if n == 3 {
				time.Sleep(600 * time.Millisecond)
			}
			w.Write([]byte(contents))
		}, ""},
		"hangs": {func(n int, w http.ResponseWriter) {
			if n > 2 {
				time.Sleep(600 * time.Millisecond)
			}
			w.Write([]byte(well))
		}, answer(contents), "it was ready and is not any more"},
		"not ready": {func(n int, w http.ResponseWriter) {
			if n > 2 {
				w.Write([]byte(`{"result":{"ready":false,"pid":7,"reason":"it is damaged"}}`))
				return
			}
			w.Write([]byte(well))
		}, answer(contents), "it is damaged"},
		"another process": {func(n int, w http.ResponseWriter) {
			if n > 2 {
				w.Write([]byte(`{"result":{"ready":true,"pid":8}}`))
				return
			}
			w.Write([]byte(well))
		}, answer(contents), "it ended, and was started again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			l, err := control.Listen(dir)
			if err != nil {
				t.Fatal(err)
			}
			var statuses, counts atomic.Int32
			s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/local/status" {
					test.status(int(statuses.Add(1)), w)
					return
				}
				test.contents(int(counts.Add(1)), w)
			})}
			go s.Serve(l)
			defer s.Close()
			cfg := Config{DataDir: dir, probation: 600 * time.Millisecond, answerTime: 250 * time.Millisecond, hangTime: 30 * time.Second}
			if name == "hangs" {
				cfg.hangTime = 500 * time.Millisecond
			}
			err = cfg.watch(t.Context(), map[string]int{Accounts: 1})
			if (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q", err, test.says)
			}
		})
	}
}

// answer writes the same answer each time.
func answer(text string) func(int, http.ResponseWriter) {
	return func(_ int, w http.ResponseWriter) { w.Write([]byte(text)) }
}
