package app

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"opsmon/app/errdefs"
	"opsmon/app/httpapi"
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
		got, err := editText("app.yaml", []byte(tt.text), map[string]string{"backup.at": "02:15", "backup.every": "3"})
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.name, err, got, tt.want)
		}
	}
	for name, text := range map[string]string{
		"unknown key": "bakcup: 1\n", "no YAML": "a: b: c\n", "no mapping": "backup: 7\n", "two documents": "name: x\n---\nname: y\n",
		"alias": "smtp: &a\n  port: 25\nbackup: *a\n",
	} {
		if got, err := editText("app.yaml", []byte(text), map[string]string{"backup.every": "3"}); err == nil {
			t.Errorf("%s is edited to %q", name, got)
		}
	}
	installed, err := editText("app.yaml", installedSettings, map[string]string{"backup.every": "3"})
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
	path := filepath.Join(dir, ConfigFile)
	apptest.WriteIn(t, dir, ConfigFile, "name: plant\n")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := editSettings(dir, map[string]string{"backup.every": "2"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	cfg, err := ReadConfig(dir, func(string) string { return "" })
	if err != nil || cfg.Backup.Every != 2 || cfg.Name != "plant" {
		t.Errorf("%+v, %v", cfg.Backup, err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 1 {
		t.Errorf("%v are there", names)
	}
	if err := still(path, []byte("name: plant\n")); !errors.Is(err, errHandEdit) {
		t.Errorf("a file that was written meanwhile: %v", err)
	}
	apptest.WriteIn(t, dir, ConfigFile, "nmae: plant\n")
	if err := editSettings(dir, map[string]string{"backup.every": "3"}); errdefs.KindOf(err) != errdefs.Conflict || !strings.Contains(err.Error(), "nmae") {
		t.Errorf("a file that cannot be used: %v", err)
	}
}

// TestChangeBackups: settings of backups change at once and for later starts, with a record, but for those that are given
// elsewhere.
func TestChangeBackups(t *testing.T) {
	dir := t.TempDir()
	apptest.WriteIn(t, dir, ConfigFile, "# ours\nlisten: 127.0.0.1:0\nbackup:\n  every: 0 # later\n")
	env := func(name string) string { return map[string]string{"APP_BACKUP_KEEP_DAILY": "5"}[name] }
	read := func() Config {
		cfg, err := ReadConfig(dir, env)
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	r := serve(t, read())
	put := func(body string, want int) (out httpapi.ApplianceBackup) {
		t.Helper()
		if status := r.result(t, "PUT", "/appliance/backup-settings", body, &out); status != want {
			t.Errorf("%s: %d, want %d", body, status, want)
		}
		return out
	}
	if before := r.appliance(t, http.DefaultClient).Backup; before.NextAt != nil || before.Fixed["keepDaily"] != "APP_BACKUP_KEEP_DAILY" || len(before.Fixed) != 1 {
		t.Errorf("%+v", before)
	}
	after := put(`{"every":2,"at":"03:45","maxBytes":1000000000}`, 200)
	want := httpapi.BackupSettings{At: "03:45", Every: 2, KeepDaily: 5, KeepWeekly: 4, KeepMonthly: 6, MaxBytes: 1000000000}
	if after.Settings != want || after.NextAt == nil {
		t.Errorf("%+v", after)
	}
	put(`{"every":32}`, 400)
	put(`{"evry":3}`, 400)
	put(`{"at":"3:45"}`, 400)
	put(`{"keepDaily":6,"every":9}`, 409)
	put(`{"keepDaily":5}`, 200) // as it is
	if now := r.appliance(t, http.DefaultClient).Backup; now.Settings != want {
		t.Errorf("%+v", now.Settings)
	}
	var records []struct{ Detail map[string]string }
	r.results(t, "/audit?action=backup.settings", &records)
	if len(records) != 1 || records[0].Detail["every"] != "0 -> 2" || records[0].Detail["at"] != "01:30 -> 03:45" {
		t.Errorf("%+v", records)
	}
	if err := r.host.Replace(t.Context(), "a test goes on", func() (func() error, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if now := r.appliance(t, http.DefaultClient).Backup; now.Settings != want {
		t.Errorf("after the store was replaced: %+v", now.Settings)
	}
	text, err := os.ReadFile(filepath.Join(dir, ConfigFile))
	if err != nil || !strings.HasPrefix(string(text), "# ours\nlisten: 127.0.0.1:0\nbackup:\n  every: 2 # later\n") {
		t.Errorf("%s, %v", text, err)
	}
	if later := read().Backup; later.Every != 2 || later.At != "03:45" || later.KeepDaily != 5 {
		t.Errorf("after a restart: %+v", later)
	}
	put(`{"every":0}`, 200)
	if now := r.appliance(t, http.DefaultClient).Backup; now.NextAt != nil || now.Settings.Every != 0 {
		t.Errorf("none are to be made: %+v", now)
	}
}
