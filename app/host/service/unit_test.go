package service

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCommandLine: what is written into a unit is read back as it was, whatever stands in the paths.
func TestCommandLine(t *testing.T) {
	for _, dir := range []string{"/var/lib/app", "/srv/Werk 1/Störung", `/srv/100%/$HOME/"x"/a\b`, "/srv/tab\there", "/srv/it's"} {
		text := "[Service]\nExecStart=/bin/false\nExecStart=" + quoteUnit("/opt/my app/app") + " serve --data-dir " + quoteArgument(dir) + "\n"
		argv := execStart(text)
		if diff := cmp.Diff([]string{"/opt/my app/app", "serve", "--data-dir", dir}, argv); diff != "" {
			t.Errorf("%q: %s", dir, diff)
		}
		if got := dataDirOf(argv); got != dir {
			t.Errorf("the data directory is %q, want %q", got, dir)
		}
	}
	for text, want := range map[string]string{
		"ExecStart=/usr/bin/app serve":                                               "",
		"ExecStart=/usr/bin/app serve --data-dir=/srv/x":                             "/srv/x",
		"ExecStart=/usr/bin/app serve '--data-dir' '/srv/a b'":                       "/srv/a b",
		"ExecStart=/bin/a --data-dir /1\nExecStart=\nExecStart=/bin/b --data-dir /2": "/2",
	} {
		if got := dataDirOf(execStart(text)); got != want {
			t.Errorf("%q: the data directory is %q, want %q", text, got, want)
		}
	}
}

// needs finds a program that the checks have and other machines may lack.
func needs(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the checks need %s: %v", name, err)
		}
		t.Skipf("tried only where %s is", name)
	}
	return path
}

// TestUnitSecurity: the exposure that systemd finds is at most 2.5, and it has nothing to say against the unit, for any
// directory and with folders outside of it.
func TestUnitSecurity(t *testing.T) {
	analyze := needs(t, "systemd-analyze")
	binary, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	for i, test := range []struct {
		dataDir string
		folders []string
	}{
		{"/var/lib/app", nil},
		{"/srv/Werk 1/100% Störung", []string{"/mnt/Sicherung 1", "/srv/Werk 1/100% Störung/backups"}},
		{"/home/plant/app", []string{"/mnt/backup/app"}},
	} {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("app%d.service", i))
		text := Unit(UnitConfig{Binary: binary, DataDir: test.dataDir}) + FoldersUnit(test.dataDir, test.folders)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(analyze, "security", "--offline=true", "--no-pager", file).CombinedOutput()
		level := regexp.MustCompile(`exposure level for .*: ([0-9.]+)`).FindSubmatch(out)
		if err != nil || level == nil {
			t.Fatalf("%s: %v: %s", test.dataDir, err, out)
		}
		if exposure, err := strconv.ParseFloat(string(level[1]), 64); err != nil || exposure > 2.5 {
			t.Errorf("%s: exposure %s, want at most 2.5: %s", test.dataDir, level[1], out)
		}
		if out, err := exec.Command(analyze, "verify", "--man=no", file).CombinedOutput(); err != nil || strings.Contains(string(out), filepath.Base(file)) {
			t.Errorf("%s: %v: %s\n%s", test.dataDir, err, out, text)
		}
	}
	if text := FoldersUnit("/var/lib/app", []string{"/var/lib/app/backups"}); text != "" {
		t.Errorf("a folder within the data directory needs nothing: %s", text)
	}
}

// TestEscapeUnitPath: the names are those that systemd has for mounts.
func TestEscapeUnitPath(t *testing.T) {
	escape := needs(t, "systemd-escape")
	for _, p := range []string{"/mnt/backup", "/mnt/Sicherung 1", "/srv/ä-b_c.d:e", "/.hidden/x", "/a//b/"} {
		out, err := exec.Command(escape, "--path", p).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := escapeUnitPath(p), strings.TrimSpace(string(out)); got != want {
			t.Errorf("%s: %s, want %s", p, got, want)
		}
	}
}
