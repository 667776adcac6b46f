package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestFolder(t *testing.T) {
	f := Folder(filepath.Join(t.TempDir(), "kept"))
	if all, err := f.All(); err != nil || len(all) != 0 {
		t.Errorf("before it is there: %v, %v", all, err)
	}
	if err := f.Make(); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, t.TempDir())
	fill(t, s, 0, 10)
	at := day("2026-11-20 08:15")
	clock := func() time.Time { at = at.Add(time.Hour); return at }
	for _, name := range []string{"app-20261120T091500Z.backup", ManualName(at), "from-old-pc.backup", "app-20261120T121500Z.backup"} {
		if _, err := Create(t.Context(), Config{Store: s, Clock: clock, Version: "1"}, filepath.Join(string(f), name)); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(string(f), "app-20261120T130000Z.backup"), "not one")
	for _, other := range []string{"app-20261120T091500Z.backup.partial-1", ".backup", "a b.backup", ".hidden.backup", "notes.txt"} {
		writeFile(t, filepath.Join(string(f), other), "x")
	}
	all, err := f.All()
	if err != nil || len(all) != 5 {
		t.Fatalf("%+v, %v", all, err)
	}
	origins := map[string]Origin{}
	for _, b := range all {
		origins[b.Name] = b.Origin
		if (b.Problem != "") != (b.Name == "app-20261120T130000Z.backup") || b.Problem == "" && (b.App != "1" || b.Bytes < 1000) {
			t.Errorf("%+v", b)
		}
	}
	if origins["from-old-pc.backup"] != Uploaded || origins["manual-20261120T081500Z.backup"] != Manual || origins["app-20261120T121500Z.backup"] != Scheduled {
		t.Errorf("%v", origins)
	}
	for _, name := range []string{"", "../app.db", "notes.txt", "no.backup", `a\b.backup`, "a/b.backup", "ä.backup", ".hidden.backup"} {
		if path, err := f.Path(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("the path of %q is %q, %v", name, path, err)
		}
		if err := f.Remove(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("removing %q: %v", name, err)
		}
	}
	for _, name := range []string{"", "x", "app-20261120T121500Z.backup", ManualName(at), "../x.backup", "con\x00.backup"} {
		if _, err := f.UploadPath(name); !errors.Is(err, ErrName) {
			t.Errorf("uploading %q: %v", name, err)
		}
	}
	if path, err := f.UploadPath("old_PC-2.backup"); err != nil || path != filepath.Join(string(f), "old_PC-2.backup") {
		t.Errorf("%q, %v", path, err)
	}
	if err := f.Remove("app-20261120T130000Z.backup"); !errors.Is(err, ErrLast) {
		t.Errorf("removing the newest: %v", err)
	}
	if err := f.Remove("app-20261120T121500Z.backup"); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(string(f), "app-20261120T121500Z.backup")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
}

// TestUpgradeBackups: the backups that upgrades take have names of their own, are nobody else's to remove, and only the newest stay.
func TestUpgradeBackups(t *testing.T) {
	dir := t.TempDir()
	folder, at := Folder(dir), time.Date(2026, 11, 20, 8, 15, 30, 0, time.UTC)
	writeFile(t, filepath.Join(dir, "manual-20261119T081530Z.backup"), "")
	for i := range 5 {
		name := folder.UpgradeName(at.Add(time.Duration(i/2) * time.Hour)) // two of one second, too
		if originOf(name) != Upgrade || !isName(name) {
			t.Errorf("%s has the origin %s, or is no name", name, originOf(name))
		}
		if _, err := folder.UploadPath(name); !errors.Is(err, ErrName) {
			t.Errorf("uploading %s: %v", name, err)
		}
		path := filepath.Join(dir, name)
		writeFile(t, path, "")
		made := at.Add(time.Duration(i) * time.Minute)
		if i == 0 { // the clock was ahead
			made = at.AddDate(1, 0, 0)
		}
		if err := os.Chtimes(path, made, made); err != nil {
			t.Fatal(err)
		}
	}
	now := "before-upgrade-20261120T081530Z-2.backup" // once it was right again
	if err := folder.TrimUpgrades(now); err != nil {
		t.Fatal(err)
	}
	expectOnly(t, dir, now, "before-upgrade-20261120T081530Z.backup", "before-upgrade-20261120T101530Z.backup", "manual-20261119T081530Z.backup")
	if err := folder.TrimUpgrades(); err != nil {
		t.Fatal(err)
	}
	expectOnly(t, dir, now, "before-upgrade-20261120T081530Z.backup", "before-upgrade-20261120T101530Z.backup", "manual-20261119T081530Z.backup")
}
