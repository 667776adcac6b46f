package upgrade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"opsmon/app/host/backup"
	"opsmon/kv/file"
)

// base is the version of the store of the program as it is; a newer one for tests has two migrations more.
func base(t *testing.T) int {
	t.Helper()
	p, err := identify(t.Context(), program(t, "1.0.0", "none"))
	if err != nil {
		t.Fatal(err)
	}
	return p.Store
}

func TestUpgradeAndRollback(t *testing.T) {
	t.Parallel()
	p, store := newPlant(t), base(t)
	r, err := Upgrade(t.Context(), p.config(), program(t, "1.1.0", "well"), true)
	if err != nil {
		t.Fatal(err)
	}
	if r.From != "1.0.0" || r.To != "1.1.0" || !file.Exists(r.Backup) || !file.Exists(r.Previous) {
		t.Errorf("%+v", r)
	}
	p.expect(t, "1.1.0", store+2)
	p.tidy(t)
	p.app(t, "user", "add", "later@northgate.example", "--role", "member")
	cfg, asked := p.config(), ""
	cfg.Confirm = func(question string) error { asked = question; return nil }
	if _, err := Rollback(t.Context(), cfg, store); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("told a wrong version of the store: %v", err)
	}
	p.expect(t, "1.1.0", store+2)
	back, err := Rollback(t.Context(), cfg, store+2)
	if err != nil {
		t.Fatal(err)
	}
	if back.From != "1.1.0" || back.To != "1.0.0" || back.Backup != r.Backup || !strings.Contains(asked, "everything that was written since 20") {
		t.Errorf("%+v, asked %q", back, asked)
	}
	p.expect(t, "1.0.0", store)
	if out := p.app(t, "user", "list"); strings.Contains(out, "later@") {
		t.Errorf("the store is not that of before: %s", out)
	}
	if !file.Exists(filepath.Join(p.dir, failedName)) || !file.Exists(p.config().withDefaults().failed()) {
		t.Error("what was taken away is not kept")
	}
	if _, err := Rollback(t.Context(), p.config(), 0); !errors.Is(err, ErrPrevious) {
		t.Errorf("a second time: %v", err)
	}
}

// TestTrial: the copy of the store that a new version checks is in the data directory, and those of killed upgrades go.
func TestTrial(t *testing.T) {
	p, next := newPlant(t), program(t, "1.1.0", "well")
	left := filepath.Join(p.dir, trialPrefix+"1")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none")) // it would be no place for a large store
	cfg, copies := p.config(), []string(nil)
	cfg.step = func(name string) {
		if name == "copied" {
			copies, _ = filepath.Glob(filepath.Join(p.dir, trialPrefix+"*", "app.db"))
		}
	}
	if _, err := Upgrade(t.Context(), cfg, next, true); err != nil {
		t.Fatal(err)
	}
	if len(copies) != 1 || file.Exists(left) || file.Exists(filepath.Dir(copies[0])) {
		t.Errorf("the copies were %v", copies)
	}
}

// withDefaults returns a configuration whose paths can be asked for.
func (cfg Config) withDefaults() *Config { cfg.fill(); return &cfg }

// A version that needs no migration leaves the store as it is, and so does going back: nothing is lost.
func TestRollbackKeepsStore(t *testing.T) {
	t.Parallel()
	p, store := newPlant(t), base(t)
	if _, err := Upgrade(t.Context(), p.config(), program(t, "1.0.1", "none"), true); err != nil {
		t.Fatal(err)
	}
	p.expect(t, "1.0.1", store)
	p.app(t, "user", "add", "later@northgate.example", "--role", "member")
	r, err := Rollback(t.Context(), p.config(), 0)
	if err != nil || r.Backup != "" {
		t.Fatalf("%+v, %v", r, err)
	}
	p.expect(t, "1.0.0", store)
	if out := p.app(t, "user", "list"); !strings.Contains(out, "later@") {
		t.Errorf("what was written is lost: %s", out)
	}
}

// TestFailedUpgrade: whatever is wrong with the new version, the old one serves afterwards with the store as it was.
func TestFailedUpgrade(t *testing.T) {
	for _, test := range []struct {
		migration, says string
		stopped         bool // the service was stopped meanwhile
	}{
		{"fails", "cannot work with a copy of the store, so nothing was changed", false},
		{"fails-serving", "version 1.0.0 runs again with the store as it is, and nothing is lost", true},
		{"hangs-serving", "version 1.0.0 runs again with the store as it is, and nothing is lost", true},
		{"unready-serving", "version 1.0.0 runs again with the store as it was", true},
	} {
		t.Run(test.migration, func(t *testing.T) {
			t.Parallel()
			p, store := newPlant(t), base(t)
			p.app(t, "user", "add", "mate@northgate.example", "--role", "member")
			before, err := os.ReadFile(p.pidFile())
			if err != nil {
				t.Fatal(err)
			}
			_, err = Upgrade(t.Context(), p.config(), program(t, "1.1.0", test.migration), true)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %v", err)
			}
			if after, err := os.ReadFile(p.pidFile()); err != nil || (string(after) != string(before)) != test.stopped {
				t.Errorf("stopped: want %v; %v", test.stopped, err)
			}
			p.expect(t, "1.0.0", store)
			p.tidy(t)
			if out := p.app(t, "user", "list"); !strings.Contains(out, "mate@") {
				t.Errorf("the store is not as it was: %s", out)
			}
			// The next one works.
			if _, err := Upgrade(t.Context(), p.config(), program(t, "1.1.0", "well"), true); err != nil {
				t.Fatal(err)
			}
			p.expect(t, "1.1.0", store+2)
		})
	}
}

// TestKilledUpgrade cuts the power, that is kills the upgrade and the service, at every step. The next start has a
// program and a store that fit; where that program is one that does not work, app rollback brings the old one back.
func TestKilledUpgrade(t *testing.T) {
	for _, migration := range []string{"well", "fails-serving"} {
		t.Run(migration, func(t *testing.T) {
			t.Parallel()
			file, store, steps := program(t, "1.1.0", migration), base(t), 0
			for step := first(); ; step += stride {
				p := newPlant(t)
				out, err := p.child(file, step).CombinedOutput()
				if !strings.Contains(string(out), "killed at") {
					if (err == nil) != (migration == "well") {
						t.Fatalf("%v: %s", err, out)
					}
					break
				}
				steps++
				p.afterPowerCut(t, string(out))
				if migration == "well" { // and then it can be done again
					if _, err := Upgrade(t.Context(), p.config(), file, true); err != nil && !errors.Is(err, ErrSame) {
						t.Fatalf("%s: again: %v", out, err)
					}
					p.expect(t, "1.1.0", store+2)
					p.tidy(t)
				} else {
					p.expect(t, "1.0.0", store)
				}
				if t.Failed() {
					t.Fatalf("after %s", out)
				}
				p.kill()
			}
			if least := map[string]int{"well": 9, "fails-serving": 15}[migration] / stride; steps < least {
				t.Errorf("it has only %d steps", steps)
			}
			t.Logf("killed at %d steps", steps)
		})
	}
}

// afterPowerCut starts the machine again.
func (p plant) afterPowerCut(t *testing.T, how string) {
	t.Helper()
	p.kill()
	if err := p.Start(t.Context()); err != nil {
		t.Fatalf("after %s: %v", how, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if p.WaitReady(ctx) == nil {
		return
	}
	if _, err := Rollback(t.Context(), p.config(), 0); err != nil {
		log, _ := os.ReadFile(filepath.Join(p.dir, "test.log"))
		t.Fatalf("after %s: rollback: %v\n%s", how, err, log)
	}
}

// TestKilledRollback cuts the power at every step of going back by hand over a migration.
func TestKilledRollback(t *testing.T) {
	t.Parallel()
	store, steps := base(t), 0
	for step := first(); ; step += stride {
		p := newPlant(t)
		if _, err := Upgrade(t.Context(), p.config(), program(t, "1.1.0", "well"), true); err != nil {
			t.Fatal(err)
		}
		out, err := p.child("rollback", step).CombinedOutput()
		if !strings.Contains(string(out), "killed at") {
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			p.expect(t, "1.0.0", store)
			break
		}
		steps++
		p.afterPowerCut(t, string(out))
		p.ready(t)
		if _, err := Rollback(t.Context(), p.config(), 0); err != nil && !errors.Is(err, ErrPrevious) {
			t.Fatalf("after %s: again: %v", out, err)
		}
		if p.expect(t, "1.0.0", store); t.Failed() {
			t.Fatalf("after %s", out)
		}
		p.kill()
	}
	if steps < 8/stride {
		t.Errorf("it has only %d steps", steps)
	}
	t.Logf("killed at %d steps", steps)
}

// TestBackupOfPreviousStays: upgrades that end before anything has changed leave the backup that a rollback goes back
// to.
func TestBackupOfPreviousStays(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	folder := backup.Folder(filepath.Join(p.dir, "backups"))
	if err := folder.Make(); err != nil {
		t.Fatal(err)
	}
	cfg := p.config()
	cfg.Backup = func(context.Context) (string, error) {
		path := filepath.Join(string(folder), folder.UpgradeName(time.Now()))
		out, err := p.try("backup", path)
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return path, err
	}
	r, err := Upgrade(t.Context(), cfg, program(t, "1.1.0", "none"), true)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		cfg.step = func(name string) {
			if name == "backup taken" {
				cancel()
			}
		}
		if _, err := Upgrade(ctx, cfg, program(t, "1.2.0", "none"), true); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if !file.Exists(r.Backup) {
		t.Error("the backup that the record names is gone")
	}
	cfg.step, cfg.BackupDirs = nil, []string{t.TempDir()}
	if _, err := Upgrade(t.Context(), cfg, program(t, "1.2.0", "none"), true); err == nil || !strings.Contains(err.Error(), "in no folder for backups") {
		t.Errorf("a backup elsewhere: %v", err)
	}
	cfg = p.config()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(p.dir, link); err != nil {
		t.Fatal(err)
	}
	cfg.BackupDirs = []string{filepath.Join(link, "backups")} // another path of the same
	cfg.Backup = func(context.Context) (string, error) { return r.Backup, nil }
	if _, err := Upgrade(t.Context(), cfg, program(t, "1.2.0", "none"), true); err != nil {
		t.Fatal(err)
	}
	if left, err := folder.All(); err != nil || len(left) != 3 || !file.Exists(r.Backup) {
		t.Errorf("after one that succeeded: %d backups, %v", len(left), err)
	}
}
