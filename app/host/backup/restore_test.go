package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/kv"
	"opsmon/kv/file"
)

// TestRestore replaces a store and its settings, and goes back.
func TestRestore(t *testing.T) {
	from, dir := t.TempDir(), t.TempDir()
	s := openStore(t, from)
	fill(t, s, 0, 100)
	fresh := content(t, s)
	writeFile(t, filepath.Join(from, settingsName), "listen: new\n")
	writeFile(t, filepath.Join(from, "tls/ca.crt"), "new")
	path := made(t, Config{Store: s, Files: []File{{Name: "tls/ca.crt"}}})

	present := openStore(t, dir)
	fill(t, present, 500, 20)
	old := content(t, present)
	if err := present.Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, settingsName), "listen: old\n")
	at := time.Date(2026, 11, 20, 8, 15, 30, 0, time.UTC)
	r, err := Restore(t.Context(), RestoreConfig{Path: path, Dir: dir, Store: storeConfig(""), Clock: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	previous := filepath.Join(dir, "app.db.before-restore-20261120T081530Z")
	if r.Previous != previous || r.Settings != SettingsRestored || r.Manifest.App != "1.2.3" {
		t.Errorf("restored: %+v", r)
	}
	expectContent(t, contentOf(t, dir), fresh)
	if readFile(t, filepath.Join(dir, settingsName)) != "listen: new\n" || readFile(t, filepath.Join(dir, settingsName+".before-restore-20261120T081530Z")) != "listen: old\n" {
		t.Error("the settings are not exchanged")
	}
	if c, err := kv.CheckFile(previous); err != nil || c.Counts["record"] != 20 {
		t.Errorf("what is kept: %+v, %v", c, err)
	}

	if err := r.Undo(); err != nil {
		t.Fatal(err)
	}
	expectContent(t, contentOf(t, dir), old)
	if readFile(t, filepath.Join(dir, settingsName)) != "listen: old\n" || file.Exists(filepath.Join(dir, "tls/ca.crt")) {
		t.Error("the settings are not put back")
	}
	const failed = ".failed-restore-20261120T081530Z"
	expectOnly(t, dir, "app.db", "app.db"+failed, "app.yaml", "app.yaml"+failed, "backup.lock", "swap.lock", "tls")
	expectOnly(t, filepath.Join(dir, "tls"), "ca.crt"+failed)

	// Twice in the same second: nothing that was kept is lost.
	for range 2 {
		if r, err = Restore(t.Context(), RestoreConfig{Path: path, Dir: dir, Store: storeConfig(""), Clock: func() time.Time { return at }}); err != nil {
			t.Fatal(err)
		}
	}
	if r.Previous != previous+"-2" {
		t.Errorf("the second is kept as %s", r.Previous)
	}
	if c, err := kv.CheckFile(previous); err != nil || c.Counts["record"] != 20 {
		t.Errorf("the first: %+v, %v", c, err)
	}
}

// TestRedactedSettings keeps settings that are there when the backup's lack secrets.
func TestRedactedSettings(t *testing.T) {
	from, dir := t.TempDir(), t.TempDir()
	s := openStore(t, from)
	writeFile(t, filepath.Join(from, settingsName), settingsText)
	path := made(t, Config{Store: s, SecretSettings: []string{"smtp.password"}})
	writeFile(t, filepath.Join(dir, settingsName), "mine")
	r, err := Restore(t.Context(), RestoreConfig{Path: path, Dir: dir, Store: storeConfig("")})
	if err != nil || r.Settings != SettingsKept || readFile(t, filepath.Join(dir, settingsName)) != "mine" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestInUse refuses to replace a store that is open; the same unpacked backup can be swapped in later, or discarded.
func TestInUse(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	fill(t, s, 0, 10)
	path := made(t, Config{Store: s})
	fill(t, s, 10, 10)
	p, err := Prepare(t.Context(), RestoreConfig{Path: path, Dir: dir, Store: storeConfig("")})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s, 20, 10) // the service goes on meanwhile
	if _, err := p.Swap(); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "stop the service") {
		t.Errorf("got %v", err)
	}
	if len(content(t, s)) != 30 {
		t.Error("the store in use was changed")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := p.Swap()
	if err != nil {
		t.Fatal(err)
	}
	if len(contentOf(t, dir)) != 10 {
		t.Error("it is not restored")
	}
	s = openStore(t, dir)
	if err := r.Undo(); !errors.Is(err, ErrInUse) {
		t.Errorf("undo while it is in use: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	p, err = Prepare(t.Context(), RestoreConfig{Path: path, Dir: dir, Store: storeConfig("")})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Discard(); err != nil {
			t.Fatal(err)
		}
	}
	if file.Exists(filepath.Join(dir, newDir)) {
		t.Error("what was unpacked is left")
	}
	if err := p.Discard(); err != nil {
		t.Fatal(err)
	}
}

// TestNoStartBetween lets no process open the store while files are exchanged, and no exchange begin while one opens it.
func TestNoStartBetween(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	fill(t, s, 0, 10)
	path := made(t, Config{Store: s})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := Prepare(t.Context(), RestoreConfig{Path: path, Dir: dir, Store: storeConfig("")})
	if err != nil {
		t.Fatal(err)
	}
	swapped := make(chan error, 1)
	err = Recover(dir, func() error {
		go func() {
			_, err := p.Swap()
			swapped <- err
		}()
		time.Sleep(200 * time.Millisecond)
		select {
		case err := <-swapped:
			t.Errorf("files were exchanged while the store was being opened: %v", err)
		default:
		}
		s, err = kv.Open(storeConfig(dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-swapped; !errors.Is(err, ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
	if err := errors.Join(p.Discard(), s.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestTransform ends sessions in what is restored, and refuses the restore when that fails.
func TestTransform(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	fill(t, s, 0, 5)
	if err := s.Update(func(tx *kv.Tx) error { return sessions.Put(tx, "a", "b") }); err != nil {
		t.Fatal(err)
	}
	path := made(t, Config{Store: s})
	to := t.TempDir()
	cfg := RestoreConfig{Path: path, Dir: to, Store: storeConfig(""), Transform: func(tx *kv.Tx) error { return sessions.Delete(tx, "a") }}
	if _, err := Restore(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	restored := openStore(t, to)
	err := restored.View(func(tx *kv.Tx) error {
		if sessions.Has(tx, "a") || records.Count(tx) != 5 {
			t.Error("the store was not changed as it should be")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	empty := t.TempDir()
	cfg.Dir, cfg.Transform = empty, func(*kv.Tx) error { return broken }
	if _, err := Restore(t.Context(), cfg); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	expectOnly(t, empty, "backup.lock", "swap.lock")
}

// TestMigrates restores a backup of an older store: it is migrated before it replaces anything, and refused when that fails.
func TestMigrates(t *testing.T) {
	from := t.TempDir()
	old := storeConfig(from)
	old.Migrations, old.Buckets = old.Migrations[:1], old.Buckets[:1]
	s, err := kv.Open(old)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fill(t, s, 0, 5)
	path := made(t, Config{Store: s})

	dir := t.TempDir()
	present := openStore(t, dir)
	fill(t, present, 0, 1)
	if err := present.Close(); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	failing := storeConfig("")
	failing.Migrations[1].Run = func(*kv.Tx) error { return broken }
	if _, err := Restore(t.Context(), RestoreConfig{Path: path, Dir: dir, Store: failing}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if len(contentOf(t, dir)) != 1 {
		t.Error("the store was replaced")
	}
	working := storeConfig("")
	working.Migrations[1].Run = func(tx *kv.Tx) error { return sessions.Put(tx, "migrated", "yes") }
	r, err := Restore(t.Context(), RestoreConfig{Path: path, Dir: dir, Store: working, Transform: func(tx *kv.Tx) error {
		if !sessions.Has(tx, "migrated") {
			t.Error("the change comes before the migrations")
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"record": 5}, r.Manifest.Entries[0].Counts); r.Manifest.Store != 1 || diff != "" {
		t.Errorf("version %d: %s", r.Manifest.Store, diff)
	}
	restored := openStore(t, dir)
	if restored.Version() != 2 || len(content(t, restored)) != 5 {
		t.Errorf("version %d, %d records", restored.Version(), len(content(t, restored)))
	}
}

// TestRestoreCancelled leaves everything as it was.
func TestRestoreCancelled(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	fill(t, s, 0, 5000)
	path := made(t, Config{Store: s})
	ctx, cancel := context.WithCancel(t.Context())
	to := t.TempDir()
	_, err := Restore(ctx, RestoreConfig{Path: path, Dir: to, Store: storeConfig(""), step: func(string) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	expectOnly(t, to, "backup.lock", "swap.lock")
	if _, err := Verify(ctx, VerifyConfig{Path: path}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestRecoverElsewhere does not stand in the way where there is nothing to recover and nothing can be written.
func TestRecoverElsewhere(t *testing.T) {
	opened := errors.New("opened")
	if err := Recover(filepath.Join(t.TempDir(), "none"), func() error { return opened }); err != opened {
		t.Errorf("no directory: %v", err)
	}
	if _, err := Prepare(t.Context(), RestoreConfig{Path: filepath.Join(t.TempDir(), "none"), Dir: t.TempDir()}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no backup: %v", err)
	}
}

// TestRecoverBusy waits for who exchanges files, and not for ever.
func TestRecoverBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		unlock, err := kv.LockFile(filepath.Join(dir, swapLock), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := Recover(dir, func() error { t.Error("it is opened"); return nil }); !errors.Is(err, ErrBusy) {
			t.Errorf("got %v", err)
		}
		time.AfterFunc(time.Second, func() { unlock() })
		opened := false
		if err := Recover(dir, func() error { opened = true; return nil }); err != nil || !opened {
			t.Errorf("after a second: %v", err)
		}
	})
}
