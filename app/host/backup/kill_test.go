package backup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/app/test/apptest"
	"opsmon/kv/file"
)

// expectKilled runs a child that must die at a step.
func expectKilled(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Env = slices.Clip(cmd.Env)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() == 3 || strings.Contains(string(out), "done") {
		t.Fatalf("it did not die at the step: %v, %s", err, out)
	}
}

var createSteps = []string{"named", "copied", "synced", "verified", "published"}

// TestKilledCreate kills a process at each step of a backup. The name has what it had before, or a whole backup; and the
// next backup leaves nothing behind.
func TestKilledCreate(t *testing.T) {
	for name, passphrase := range passphrases {
		for _, before := range []string{"", "other"} {
			for _, step := range createSteps {
				t.Run(name+"/over "+before+"/"+step, func(t *testing.T) {
					t.Parallel()
					dir, to := t.TempDir(), t.TempDir()
					s := openStore(t, dir)
					fill(t, s, 0, 400)
					writeFile(t, filepath.Join(dir, settingsName), "listen: x\n")
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					path := filepath.Join(to, "plant.backup")
					if before != "" {
						writeFile(t, path, before)
					}
					expectKilled(t, child("create", dir, path, "BACKUP_TEST_STEP="+step, "BACKUP_TEST_PASSPHRASE="+passphrase))
					_, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: passphrase})
					switch published := step == "published"; {
					case published && err != nil:
						t.Errorf("what has the name: %v", err)
					case !published && before == "" && !errors.Is(err, os.ErrNotExist):
						t.Errorf("there is something: %v", err)
					case !published && before != "" && readFile(t, path) != before:
						t.Error("what had the name is gone")
					}
					s = openStore(t, dir)
					if _, err := Create(t.Context(), Config{Store: s, Overwrite: true, Clock: tomorrow}, path); err != nil {
						t.Fatal(err)
					}
					expectOnly(t, dir, "app.db", "app.yaml", "backup.lock")
					expectOnly(t, to, "plant.backup")
				})
			}
		}
	}
}

// TestKilledShared kills a process at each step of a backup that shares parts with an earlier one: that stays whole, the
// name has nothing or a whole backup, and what is left behind goes with the next ones.
func TestKilledShared(t *testing.T) {
	for name, passphrase := range passphrases {
		for _, step := range []string{"named", "copied", "synced", "part", "parts", "written", "verified", "published"} {
			t.Run(name+"/"+step, func(t *testing.T) {
				t.Parallel()
				dir, folder := t.TempDir(), t.TempDir()
				s := openStore(t, dir)
				fill(t, s, 0, 8000)
				cfg := Config{Store: s, Share: true, Passphrase: passphrase, WorkFactor: 1}
				earlier, path := filepath.Join(folder, "app-20261120T081530Z.backup"), filepath.Join(folder, "app-20261121T081530Z.backup")
				if _, err := Create(t.Context(), cfg, earlier); err != nil {
					t.Fatal(err)
				}
				fill(t, s, 2000, 10)
				fill(t, s, 8000, 4000)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				expectKilled(t, child("create", dir, path, "BACKUP_TEST_STEP="+step, "BACKUP_TEST_PASSPHRASE="+passphrase, "BACKUP_TEST_SHARE=yes"))
				if _, err := Verify(t.Context(), VerifyConfig{Path: earlier, Passphrase: passphrase}); err != nil {
					t.Errorf("the earlier one: %v", err)
				}
				if _, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: passphrase}); step == "published" && err != nil || step != "published" && !errors.Is(err, os.ErrNotExist) {
					t.Errorf("what has the name: %v", err)
				}
				cfg.Store, cfg.Overwrite, cfg.Clock = openStore(t, dir), true, tomorrow
				if _, err := Create(t.Context(), cfg, path); err != nil {
					t.Fatal(err)
				}
				expectOnly(t, dir, "app.db", "backup.lock")
				expectOnly(t, folder, filepath.Base(earlier), filepath.Base(path), partsDir)
				later := tomorrow().Add(25 * time.Hour)
				if _, err := Prune(folder, Policy{Daily: 2}, 0, later); err != nil {
					t.Error(err)
				}
				refs, err := references(folder)
				if err != nil {
					t.Fatal(err)
				}
				needed := map[string]bool{}
				for _, parts := range refs {
					for _, p := range parts {
						needed[p.SHA256] = true
					}
				}
				if got := partsIn(t, folder); len(got) != len(needed) || len(got) == 0 {
					t.Errorf("%d parts are there and %d are needed: %v", len(got), len(needed), got)
				}
				for _, b := range []string{earlier, path} {
					if _, err := Verify(t.Context(), VerifyConfig{Path: b, Passphrase: passphrase}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// tomorrow is when what was left today may be removed.
func tomorrow() time.Time { return time.Now().Add(25 * time.Hour) }

// TestKilledAnytime kills backups and restores at moments that no step marks.
func TestKilledAnytime(t *testing.T) {
	apptest.Long(t)
	dir := t.TempDir()
	s := openStore(t, dir)
	fill(t, s, 0, 20_000)
	old := content(t, s)
	path := made(t, Config{Store: s})
	fill(t, s, 20_000, 10)
	present := content(t, s)
	replaced := made(t, Config{Store: s})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	kill := func(cmd *exec.Cmd, after time.Duration) {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		cmd.Process.Kill()
		cmd.Wait()
	}
	for i := range 12 * soakLoops {
		kill(child("create", dir, replaced), time.Duration(i)*29*time.Millisecond%(400*time.Millisecond))
		if _, err := Verify(t.Context(), VerifyConfig{Path: replaced}); err != nil {
			t.Fatalf("backup, kill %d: %v", i, err)
		}
	}
	swapped := 0
	for i := range 12 * soakLoops {
		kill(child("restore", dir, path), time.Duration(i)*37*time.Millisecond%(500*time.Millisecond))
		switch got := contentOf(t, dir); len(got) {
		case len(old):
			expectContent(t, got, old)
			swapped++
			s := openStore(t, dir) // for the next to have something to replace
			fill(t, s, 20_000, 10)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		case len(present):
			expectContent(t, got, present)
		default:
			t.Fatalf("restore, kill %d: %d records", i, len(got))
		}
	}
	t.Logf("%d restores came to an end", swapped)
}

var restoreSteps = []string{
	"begun", "unpacked", "adapted", "journal written", "journal", "kept app.db", "moved app.db", "kept app.yaml", "moved app.yaml", "moved", "journal removed",
}

// TestKilledRestore kills a process at each step of a restore. The next start has the old store and settings or the new ones, whole.
func TestKilledRestore(t *testing.T) {
	from := t.TempDir()
	s := openStore(t, from)
	fill(t, s, 0, 50)
	writeFile(t, filepath.Join(from, settingsName), "listen: new\n")
	backup := made(t, Config{Store: s})
	fresh := content(t, s)
	for _, empty := range []bool{false, true} {
		for i, step := range restoreSteps {
			if empty && strings.HasPrefix(step, "kept") {
				continue
			}
			t.Run(step, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				var old map[uint64]string
				if !empty {
					s := openStore(t, dir)
					fill(t, s, 1000, 7)
					old = content(t, s)
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					writeFile(t, filepath.Join(dir, settingsName), "listen: old\n")
				}
				expectKilled(t, child("restore", dir, backup, "BACKUP_TEST_STEP="+step))
				if i < slices.Index(restoreSteps, "journal") {
					if empty {
						if err := Recover(dir, func() error { return nil }); err != nil {
							t.Fatal(err)
						}
						if file.Exists(filepath.Join(dir, storeName)) {
							t.Error("there is a store")
						}
						return
					}
					expectContent(t, contentOf(t, dir), old)
					if got := readFile(t, filepath.Join(dir, settingsName)); got != "listen: old\n" {
						t.Errorf("the settings are %q", got)
					}
				} else {
					expectContent(t, contentOf(t, dir), fresh)
					if got := readFile(t, filepath.Join(dir, settingsName)); got != "listen: new\n" {
						t.Errorf("the settings are %q", got)
					}
				}
				if file.Exists(filepath.Join(dir, newDir)) || file.Exists(filepath.Join(dir, journalName)) {
					t.Error("something is left")
				}
				// Restoring again works.
				if _, err := Restore(t.Context(), RestoreConfig{Path: backup, Dir: dir, Store: storeConfig("")}); err != nil {
					t.Fatal(err)
				}
				expectContent(t, contentOf(t, dir), fresh)
				kept, err := filepath.Glob(filepath.Join(dir, storeName+".before-restore-*"))
				if err != nil || len(kept) == 0 && !empty {
					t.Errorf("the previous store is not kept: %v, %v", kept, err)
				}
			})
		}
	}
}

// TestInterruptedMoves takes every state that a crash between the renames can leave, with and without links, and recovers
// from it: the present file is kept and the new one is in its place.
func TestInterruptedMoves(t *testing.T) {
	for name, state := range map[string]map[string]string{
		"nothing done":             {"app.db": "old", "restore.new/app.db": "new"},
		"linked":                   {"app.db": "old", "app.db.kept": "old", "restore.new/app.db": "new"},
		"renamed, without links":   {"app.db.kept": "old", "restore.new/app.db": "new"},
		"replaced":                 {"app.db": "new", "app.db.kept": "old"},
		"nothing there, not begun": {"restore.new/app.db": "new"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range state {
				writeFile(t, filepath.Join(dir, file), text)
			}
			writeFile(t, filepath.Join(dir, journalName), `{"moves":[{"name":"app.db","new":"restore.new/app.db","keep":"app.db.kept"}]}`)
			for range 2 {
				if err := Recover(dir, func() error { return nil }); err != nil {
					t.Fatal(err)
				}
				if got := readFile(t, filepath.Join(dir, "app.db")); got != "new" {
					t.Errorf("app.db holds %q", got)
				}
				if len(state) > 1 {
					if got := readFile(t, filepath.Join(dir, "app.db.kept")); got != "old" {
						t.Errorf("the kept one holds %q", got)
					}
				}
			}
		})
	}
	t.Run("unreadable journal", func(t *testing.T) {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, journalName), `{"moves`)
		err := Recover(dir, func() error { t.Error("the store is opened"); return nil })
		if err == nil || !strings.Contains(err.Error(), journalName) || !strings.Contains(err.Error(), ".before-restore-") {
			t.Errorf("got %v", err)
		}
	})
}
