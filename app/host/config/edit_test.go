package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"opsmon/app/errdefs"
	"opsmon/app/test/apptest"
)

// TestEditText: what people wrote stays where it is, and says the same.
func TestEditText(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing there", "", "backup:\n  at: \"02:15\"\n  every: 3\n"},
		{"comments alone", "# mine\n\n# more\n", "# mine\n\n# more\n\nbackup:\n  at: \"02:15\"\n  every: 3\n"},
		{"no backup yet", "# top\nlisten: :8443 # here\n# after\n", "# top\nlisten: :8443 # here\n# after\n\nbackup:\n  at: \"02:15\"\n  every: 3\n"},
		{"one of them", "backup:\n  # where\n  dir: /mnt/nas\n  every: 1 # daily\n  keepDaily: 9\nlogLevel: warn\n", "backup:\n  # where\n  dir: /mnt/nas\n  every: 3 # daily\n  keepDaily: 9\n  at: \"02:15\"\nlogLevel: warn\n"},
		{"quotes", "backup:\n  at: '01:00' # night\n", "backup:\n  at: '02:15' # night\n  every: 3\n"},
		{"flow", "backup: {every: 1, dir: /x}\n", "backup: {every: 3, dir: /x, at: \"02:15\"}\n"},
		{"null", "backup:\nname: plant\n", "backup:\n  at: \"02:15\"\n  every: 3\nname: plant\n"},
		{"null within", "backup:\n  every:\n", "backup:\n  every: 3\n  at: \"02:15\"\n"},
	} {
		got, err := EditText("app.yaml", []byte(tt.text), map[string]string{"backup.at": "02:15", "backup.every": "3"})
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.name, err, got, tt.want)
		}
	}
	for name, text := range map[string]string{
		"unknown key": "bakcup: 1\n", "no YAML": "a: b: c\n", "no mapping": "backup: 7\n", "two documents": "name: x\n---\nname: y\n",
		"alias": "smtp: &a\n  port: 25\nbackup: *a\n",
	} {
		if got, err := EditText("app.yaml", []byte(text), map[string]string{"backup.every": "3"}); err == nil {
			t.Errorf("%s is edited to %q", name, got)
		}
	}
	installed, err := EditText("app.yaml", installedSettings, map[string]string{"backup.every": "3"})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(installedSettings)) {
		if !strings.Contains(string(installed), line) {
			t.Errorf("the line %q is lost", line)
		}
	}
}

// TestEditSettings: the file is replaced whole, keeps its rights, and what somebody wrote meanwhile stays.
func TestEditSettings(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	apptest.WriteIn(t, dir, File, "name: plant\n")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Edit(dir, map[string]string{"backup.every": "2"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	cfg, err := Load(dir, func(string) string { return "" })
	if err != nil || cfg.Backup.Every != 2 || cfg.Name != "plant" {
		t.Errorf("%+v, %v", cfg.Backup, err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 1 {
		t.Errorf("%v are there", names)
	}
	if err := still(path, []byte("name: plant\n")); !errors.Is(err, errHandEdit) {
		t.Errorf("a file that was written meanwhile: %v", err)
	}
	apptest.WriteIn(t, dir, File, "nmae: plant\n")
	if err := Edit(dir, map[string]string{"backup.every": "3"}); errdefs.KindOf(err) != errdefs.Conflict || !strings.Contains(err.Error(), "nmae") {
		t.Errorf("a file that cannot be used: %v", err)
	}
}
