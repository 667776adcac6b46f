//go:build rig

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opsmon/app/host/service/boottest"
)

// unitProperty returns a property of the service from a machine's systemd.
func unitProperty(t *testing.T, m *boottest.Machine, property string) string {
	t.Helper()
	return strings.TrimSpace(m.Must(t, "systemctl", "show", "--value", "-p", property, "app.service"))
}

// put copies a file to a machine.
func put(t *testing.T, m *boottest.Machine, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	m.Put(t, to, b, 0o644)
}

// allowServices removes the policy of container images that prevents packages from starting services.
func allowServices(t *testing.T, m *boottest.Machine) { m.Must(t, "rm", "-f", "/usr/sbin/policy-rc.d") }

// both runs a program and returns its combined standard output and standard error, and whether it succeeded.
func both(t *testing.T, m *boottest.Machine, args ...string) (string, bool) {
	t.Helper()
	stdout, stderr, status := m.Run(t.Context(), nil, args...)
	return stdout + stderr, status == 0
}

// says checks that a text contains all wanted texts.
func says(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

// TestDebianPackage installs, upgrades, removes, reinstalls and purges the package on a booted machine.
func TestDebianPackage(t *testing.T) {
	old, next := releaseOf(t, "1.0.0"), releaseOf(t, "1.1.0")
	m := boottest.Boot(t)
	allowServices(t, m)
	put(t, m, old.file(t, "_amd64.deb"), "/root/old.deb")
	put(t, m, next.file(t, "_amd64.deb"), "/root/next.deb")
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
	if left, _, _ := m.Run(t.Context(), nil, "sh", "-c", "find /etc /usr /var -path '*systemd*app.service*' -o -path '/usr/*/app/*' -newer /root/old.deb"); left != "" {
		t.Errorf("after the purge there is still %s", left)
	}
}

// TestDebianUpgradeThatFails checks that nothing is upgraded if the backup fails, and that a version that cannot read
// the store is not started on it.
func TestDebianUpgradeThatFails(t *testing.T) {
	old, next := releaseOf(t, "1.0.0"), releaseOf(t, "1.1.0")
	m := boottest.Boot(t)
	allowServices(t, m)
	put(t, m, old.file(t, "_amd64.deb"), "/root/old.deb")
	put(t, m, next.file(t, "_amd64.deb"), "/root/next.deb")
	m.Must(t, "dpkg", "-i", "/root/old.deb")
	m.Must(t, "app", "init", "--domain", "northgate.example", "--email", "it@northgate.example")
	pid := unitProperty(t, m, "MainPID")

	m.Must(t, "sh", "-c", "rm -rf /var/lib/app/backups; echo no directory >/var/lib/app/backups")
	out, ok := both(t, m, "dpkg", "-i", "/root/next.deb")
	if ok {
		t.Error("it was upgraded without a backup")
	}
	says(t, out, "nothing is upgraded", "APP_UPGRADE_WITHOUT_BACKUP=1")
	says(t, m.Must(t, "dpkg-query", "-W", "-f", "${Version} ${Status}", "app"), "1.0.0-1 install ok installed")
	if now := unitProperty(t, m, "MainPID"); now != pid {
		t.Errorf("the service was started again: %s, %s", pid, now)
	}
	m.Must(t, "rm", "/var/lib/app/backups")

	// A package whose program fails on every store: the next version with a replaced binary.
	m.Must(t, "sh", "-c", `cd /root && dpkg-deb -R next.deb bad && printf '#!/bin/sh\necho this store is not for me >&2; exit 1\n' >bad/usr/bin/app && chmod 755 bad/usr/bin/app && dpkg-deb -Znone -b bad bad.deb`)
	out, ok = both(t, m, "dpkg", "-i", "/root/bad.deb")
	if ok {
		t.Error("a version that cannot read the store was started")
	}
	says(t, out, "this store is not for me", "goes on running", "dpkg -i")
	if now := unitProperty(t, m, "MainPID"); now != pid {
		t.Errorf("the service was started again: %s, %s", pid, now)
	}
	m.Must(t, "dpkg", "-i", "/root/old.deb")
	says(t, m.Must(t, "app", "user", "list"), "it@northgate.example")

	// A package whose program can read the store but fails to serve.
	m.Must(t, "sh", "-c", `cd /root/bad && rm -rf usr && cd .. && dpkg-deb -x next.deb bad && mv bad/usr/bin/app bad/usr/lib/app-real &&
printf '#!/bin/sh\ncase "$*" in serve*) echo no such luck >&2; exit 1;; esac; exec /usr/lib/app-real "$@"\n' >bad/usr/bin/app && chmod 755 bad/usr/bin/app && dpkg-deb -Znone -b bad bad.deb`)
	out, ok = both(t, m, "dpkg", "-i", "/root/bad.deb")
	if ok {
		t.Error("a version that does not start was installed in silence")
	}
	says(t, out, "the service does not start", "no such luck", "to go back")
	_, backup, _ := strings.Cut(out, "2. app restore ")
	backup, _, _ = strings.Cut(backup, ";")
	both(t, m, "env", "APP_UPGRADE_WITHOUT_BACKUP=1", "dpkg", "-i", "/root/old.deb")
	m.Must(t, "app", "restore", "--yes", backup)
	m.Must(t, "app", "start")
	says(t, m.Must(t, "app", "user", "list"), "it@northgate.example")
}
