//go:build rig

package main

import (
	"strings"
	"testing"

	"opsmon/app/host/service/boottest"
)

// TestRPM reads the package with rpm, and installs, upgrades and removes it with rpm on a booted machine. (That is a
// Debian machine without other RPM packages, so dependencies are not checked.)
func TestRPM(t *testing.T) {
	needs(t, []string{"rpm"})
	old, next := releaseOf(t, "1.0.0"), releaseOf(t, "1.1.0")
	ask := func(args ...string) string {
		t.Helper()
		out, err := output(t.Context(), "", nil, "rpm", append([]string{"-qp"}, append(args, old.file(t, ".x86_64.rpm"))...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	says(t, ask("--qf", "%{NAME} %{VERSION} %{ARCH} %{BUILDHOST} %{LICENSE}"), "app 1.0.0 x86_64 reproducible Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause")
	says(t, ask("-l", "-v"), "-rwxr-xr-x", "/usr/bin/app", "/usr/lib/systemd/system/app.service", "/usr/lib/sysusers.d/app.conf", "/usr/share/app/app.yaml", "/usr/share/doc/app/copyright")
	says(t, ask("--requires"), "systemd")
	if _, err := output(t.Context(), "", nil, "rpm", "-K", "--nosignature", old.file(t, ".x86_64.rpm")); err != nil {
		t.Errorf("rpm finds it damaged: %v", err)
	}

	m := boottest.Boot(t)
	allowServices(t, m)
	put(t, m, old.file(t, ".x86_64.rpm"), "/root/old.rpm")
	put(t, m, next.file(t, ".x86_64.rpm"), "/root/next.rpm")
	says(t, m.Must(t, "rpm", "-i", "--nodeps", "/root/old.rpm"), "https://")
	if state, enabled := unitProperty(t, m, "ActiveState"), unitProperty(t, m, "UnitFileState"); state != "active" || enabled != "enabled" {
		t.Fatalf("after the installation the service is %s and %s", state, enabled)
	}
	m.Must(t, "app", "init", "--domain", "northgate.example", "--email", "it@northgate.example")
	pid := unitProperty(t, m, "MainPID")
	upgraded, _ := both(t, m, "rpm", "-U", "--nodeps", "/root/next.rpm")
	says(t, upgraded, "before-upgrade-")
	if now := unitProperty(t, m, "MainPID"); now == pid || now == "0" {
		t.Errorf("the upgrade left the service at process %s; it was %s: %s", now, pid, upgraded)
	}
	says(t, m.Must(t, "app", "version"), "1.1.0")
	says(t, m.Must(t, "app", "user", "list"), "it@northgate.example")
	says(t, m.Must(t, "rpm", "-e", "app"), "the data stay in /var/lib/app")
	if state := unitProperty(t, m, "LoadState"); state != "not-found" {
		t.Errorf("after the removal the service is %s", state)
	}
	if wants, _, _ := m.Run(t.Context(), nil, "find", "/etc/systemd", "-name", "app.service"); strings.TrimSpace(wants) != "" {
		t.Errorf("after the removal there is still %s", wants)
	}
	says(t, m.Must(t, "ls", "/var/lib/app"), "app.db", "app.yaml", "backups")
}
