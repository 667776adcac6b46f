package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opsmon/packaging/machine"
)

// unitProperty asks a machine's systemd for a property of the service.
func unitProperty(t *testing.T, m *machine.Machine, property string) string {
	t.Helper()
	return strings.TrimSpace(m.Must(t, "systemctl", "show", "--value", "-p", property, "app.service"))
}

// says fails the test when a text lacks what it has to say.
func says(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

// TestDebianPackage installs, upgrades, removes, brings back and purges the package on a machine that is really booted.
func TestDebianPackage(t *testing.T) {
	old, next := releaseOf(t, "1.0.0"), releaseOf(t, "1.1.0")
	m, ok := machine.Boot(t)
	if !ok {
		return
	}
	m.Copy(t, old.file(t, "_amd64.deb"), "/root/old.deb")
	m.Copy(t, next.file(t, "_amd64.deb"), "/root/next.deb")
	const data = "/var/lib/app"

	says(t, m.Must(t, "dpkg", "-i", "/root/old.deb"), "https://")
	if state, enabled := unitProperty(t, m, "ActiveState"), unitProperty(t, m, "UnitFileState"); state != "active" || enabled != "enabled" {
		t.Fatalf("after the installation the service is %s and %s:\n%s", state, enabled, m.Must(t, "journalctl", "-u", "app", "--no-pager"))
	}
	if own := strings.TrimSpace(m.Must(t, "stat", "-c", "%U:%G %a", data, data+"/app.yaml")); own != "app:app 700\napp:app 600" {
		t.Errorf("the data directory and the settings belong to %s", own)
	}
	says(t, m.Must(t, "cat", data+"/app.yaml"), "listen: :8443", "tls: auto", "clearListen: :8080")
	says(t, m.Must(t, "dpkg", "-S", "/usr/bin/app"), "app: /usr/bin/app")
	m.Must(t, "app", "init", "--domain", "northgate.example", "--email", "it@northgate.example")
	m.Must(t, "sh", "-c", "echo '# ours' >>"+data+"/app.yaml")
	pid := unitProperty(t, m, "MainPID")

	says(t, m.Must(t, "dpkg", "-i", "/root/next.deb"), "before-upgrade-")
	if now := unitProperty(t, m, "MainPID"); now == pid || now == "0" {
		t.Errorf("the upgrade left the service at process %s; it was %s", now, pid)
	}
	var said struct{ Version string }
	if err := json.Unmarshal([]byte(m.Must(t, "app", "version", "--json")), &said); err != nil || said.Version != "1.1.0" {
		t.Errorf("the version is %s after the upgrade, %v", said.Version, err)
	}
	says(t, m.Must(t, "app", "user", "list"), "it@northgate.example")
	says(t, m.Must(t, "tail", "-1", data+"/app.yaml"), "# ours")
	backups, err := filepath.Glob(filepath.Join(m.Root, data, "backups", "before-upgrade-*.backup"))
	if err != nil || len(backups) != 1 {
		t.Fatalf("the upgrade left the backups %v, %v", backups, err)
	}
	m.Must(t, "app", "backup", "verify", strings.TrimPrefix(backups[0], m.Root))
	if rest := m.Must(t, "find", data, "-not", "-user", "app", "-o", "-name", ".upgrade-check*"); rest != "" {
		t.Errorf("the upgrade left files of others, or what it tried: %s", rest)
	}

	m.Must(t, "dpkg", "-r", "app")
	if state := unitProperty(t, m, "LoadState"); state != "not-found" {
		t.Errorf("after the removal the service is %s", state)
	}
	says(t, m.Must(t, "ls", data), "app.db", "app.yaml")

	m.Must(t, "dpkg", "-i", "/root/next.deb")
	says(t, m.Must(t, "app", "user", "list"), "it@northgate.example")
	if state := unitProperty(t, m, "ActiveState"); state != "active" {
		t.Errorf("the service that came back is %s", state)
	}

	m.Must(t, "dpkg", "--purge", "app")
	if _, err := os.Stat(filepath.Join(m.Root, data)); !os.IsNotExist(err) {
		t.Errorf("after the purge the data are there: %v", err)
	}
	if left, _ := m.Run(t, "sh", "-c", "find /etc /usr /var -path '*systemd*app.service*' -o -path '/usr/*/app/*' -newer /root/old.deb"); left != "" {
		t.Errorf("after the purge there is still %s", left)
	}
}

// TestDebianUpgradeThatFails: where no backup can be taken nothing is upgraded, and a version that cannot read the
// store does not get it.
func TestDebianUpgradeThatFails(t *testing.T) {
	old, next := releaseOf(t, "1.0.0"), releaseOf(t, "1.1.0")
	m, ok := machine.Boot(t)
	if !ok {
		return
	}
	m.Copy(t, old.file(t, "_amd64.deb"), "/root/old.deb")
	m.Copy(t, next.file(t, "_amd64.deb"), "/root/next.deb")
	m.Must(t, "dpkg", "-i", "/root/old.deb")
	m.Must(t, "app", "init", "--domain", "northgate.example", "--email", "it@northgate.example")
	pid := unitProperty(t, m, "MainPID")

	m.Must(t, "sh", "-c", "rm -rf /var/lib/app/backups; echo no directory >/var/lib/app/backups")
	out, err := m.Run(t, "dpkg", "-i", "/root/next.deb")
	if err == nil {
		t.Error("it was upgraded without a backup")
	}
	says(t, out, "nothing is upgraded", "APP_UPGRADE_WITHOUT_BACKUP=1")
	says(t, m.Must(t, "dpkg-query", "-W", "-f", "${Version} ${Status}", "app"), "1.0.0-1 install ok installed")
	if now := unitProperty(t, m, "MainPID"); now != pid {
		t.Errorf("the service was started again: %s, %s", pid, now)
	}
	m.Must(t, "rm", "/var/lib/app/backups")

	// A package whose program fails on every store: that of the next version, with another one in its place.
	m.Must(t, "sh", "-c", `cd /root && dpkg-deb -R next.deb bad && printf '#!/bin/sh\necho this store is not for me >&2; exit 1\n' >bad/usr/bin/app && dpkg-deb -b bad bad.deb`)
	out, err = m.Run(t, "dpkg", "-i", "/root/bad.deb")
	if err == nil {
		t.Error("a version that cannot read the store was started")
	}
	says(t, out, "this store is not for me", "goes on running", "dpkg -i")
	if now := unitProperty(t, m, "MainPID"); now != pid {
		t.Errorf("the service was started again: %s, %s", pid, now)
	}
	m.Must(t, "dpkg", "-i", "/root/old.deb")
	says(t, m.Must(t, "app", "user", "list"), "it@northgate.example")
}
