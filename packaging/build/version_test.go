package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestVersions(t *testing.T) {
	for _, test := range []struct{ describe, version, packaged, windows string }{
		{"v1.4.0-0-g0123456789ab", "1.4.0", "1.4.0", "1.4.0"},
		{"v1.4.0-3-g0123456789ab", "1.4.1-dev.3.g0123456789ab", "1.4.1~dev.3.g0123456789ab", "1.4.1"},
		{"v1.4.0-0-g0123456789ab-dirty", "1.4.1-dev.0.g0123456789ab.dirty", "1.4.1~dev.0.g0123456789ab.dirty", "1.4.1"},
		{"v2.0.0-rc.1-0-g0123456789ab", "2.0.0-rc.1", "2.0.0~rc.1", "2.0.0"},
		{"v2.0.0-rc.1-7-g0123456789ab", "2.0.0-rc.1.dev.7.g0123456789ab", "2.0.0~rc.1.dev.7.g0123456789ab", "2.0.0"},
		{"v1.x-0-g0123456789ab", "", "", ""},
		{"0123456789ab", "", "", ""},
	} {
		version, err := fromTag(test.describe)
		if version != test.version || (err != nil) != (test.version == "") {
			t.Errorf("%s is %q, %v; want %q", test.describe, version, err, test.version)
			continue
		}
		if err != nil {
			continue
		}
		if p := packageVersion(version); p != test.packaged {
			t.Errorf("%s is packaged as %q, want %q", version, p, test.packaged)
		}
		if w, err := windowsVersion(version); w != test.windows || err != nil {
			t.Errorf("%s on Windows is %q, %v; want %q", version, w, err, test.windows)
		}
	}
	if _, err := windowsVersion("256.0.0"); err == nil || !strings.Contains(err.Error(), "255.255.65535") {
		t.Errorf("a version that Windows cannot hold: %v", err)
	}
}

// TestDescribe checks that the version and the time come from git or, without git, from the arguments.
func TestDescribe(t *testing.T) {
	root := t.TempDir()
	t.Setenv("SOURCE_DATE_EPOCH", "")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", root, "-c", "user.name=t", "-c", "user.email=t@northgate.example"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-03-01T12:00:00Z", "GIT_AUTHOR_DATE=2026-03-01T12:00:00Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	want := func(version, prefix string, at time.Time) {
		t.Helper()
		s, err := describe(t.Context(), root, version)
		if err != nil || !strings.HasPrefix(s.Version, prefix) || !s.Time.Equal(at) {
			t.Errorf("described as %+v, %v; want %s… of %s", s, err, prefix, at)
		}
	}
	if _, err := describe(t.Context(), root, ""); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
		t.Errorf("without git: %v", err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	want("3.0.0", "3.0.0", time.Unix(86400, 0))
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if _, err := describe(t.Context(), root, "3.0.0"); err == nil {
		t.Error("an invalid time was accepted")
	}
	t.Setenv("SOURCE_DATE_EPOCH", "")

	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	want("", "0.0.0-dev.1.g", noon)
	git("tag", "v1.4.0")
	want("", "1.4.0", noon)
	if err := os.WriteFile(filepath.Join(root, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	git("add", "f")
	want("", "1.4.1-dev.0.g", noon)
	git("commit", "-q", "-m", "second")
	want("", "1.4.1-dev.1.g", noon)
	want("9.9.9", "9.9.9", noon)
}
