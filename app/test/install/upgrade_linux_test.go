//go:build rig

package install_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"aead.dev/minisign"

	"opsmon/app/host/service/boottest"
	"opsmon/app/test/apptest"
)

// release returns a signed package of a binary, like a release.
func release(t *testing.T, program string, key minisign.PrivateKey) []byte {
	t.Helper()
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	r := minisign.NewReader(bytes.NewReader(content))
	if _, err := new(bytes.Buffer).ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, data := range map[string][]byte{"app_linux/app": content, "app_linux/app.minisig": r.Sign(key)} {
		err = errors.Join(err, w.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Mode: 0o755}))
		if _, e := w.Write(data); e != nil {
			err = e
		}
	}
	if err = errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestUpgradeInstalled upgrades the installed service on a booted machine: to a version that works, to one that never
// becomes ready, and back by hand.
func TestUpgradeInstalled(t *testing.T) {
	t.Parallel()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := func(name, tags, values string) string {
		path, err := apptest.BuildAs(name, tags, "opsmon/app/host/upgrade.probationText=10s opsmon/app/host/upgrade.publicKey="+public.String()+" "+values)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	old := made("release-1.0.0", "", "opsmon/app.version=1.0.0")
	next := made("release-1.1.0", "testmigration", "opsmon/app.version=1.1.0")
	bad := made("release-1.2.0", "testmigration", "opsmon/app.version=1.2.0 opsmon/app.testMigration=fails-serving")
	dying := made("release-1.3.0", "testflaw", "opsmon/app.version=1.3.0 opsmon/app.testFlaw=dies-5s")
	deleting := made("release-1.4.0", "testflaw", "opsmon/app.version=1.4.0 opsmon/app.testFlaw=deletes")
	m := boottest.Boot(t)
	content, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	m.Put(t, "/root/app", content, 0o755)
	m.Put(t, "/root/next.tar.gz", release(t, next, private), 0o644)
	m.Put(t, "/root/bad.tar.gz", release(t, bad, private), 0o644)
	m.Put(t, "/root/dying.tar.gz", release(t, dying, private), 0o644)
	m.Put(t, "/root/deleting.tar.gz", release(t, deleting, private), 0o644)
	_, stranger, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	m.Put(t, "/root/strange.tar.gz", release(t, next, stranger), 0o644)
	m.Must(t, "/root/app", "install")
	m.Must(t, "app", "init", "--domain", "northgate.example", "--email", "it@northgate.example")
	expect := func(version string) {
		t.Helper()
		var st struct {
			Service struct {
				Ready   bool
				Version string
			}
		}
		if err := json.Unmarshal([]byte(m.Must(t, "app", "status", "--json")), &st); err != nil || st.Service.Version != version || !st.Service.Ready {
			t.Errorf("it is %+v, want version %s; %v", st, version, err)
		}
		if list := m.Must(t, "app", "user", "list"); !strings.Contains(list, "it@northgate.example") {
			t.Errorf("the users are %s", list)
		}
		m.Must(t, "app", "check")
		if foreign := m.Must(t, "find", "/var/lib/app", "-not", "-user", "app"); foreign != "" {
			t.Errorf("not the service's own: %s", foreign)
		}
		if left, _, _ := m.Run(t.Context(), nil, "sh", "-c", "ls -d /usr/local/bin/.app-upgrade-* /tmp/app-upgrade-* /var/lib/app/upgrade-trial-* /var/lib/app/upgrade.json /var/lib/app/*before-upgrade"); left != "" {
			t.Errorf("left: %s", left)
		}
	}
	refused := func(says string, args ...string) {
		t.Helper()
		if _, stderr, status := m.Run(t.Context(), nil, args...); status != 1 || !strings.Contains(stderr, says) {
			t.Errorf("%v: status %d, %s; want %q", args, status, stderr, says)
		}
	}
	expect("1.0.0")
	refused("the signature is wrong", "app", "upgrade", "/root/strange.tar.gz", "--yes", "--unsigned")
	refused("not signed", "app", "upgrade", "/root/app", "--yes")
	refused("say --yes", "app", "upgrade", "/root/next.tar.gz")
	refused("no previous program", "app", "rollback")
	if _, stderr, status := m.Run(t.Context(), nil, "app", "rollback", "--data-dir", "/srv/other"); status != 2 || !strings.Contains(stderr, "uses /var/lib/app") {
		t.Errorf("another data directory: status %d, %s", status, stderr)
	}
	expect("1.0.0")

	m.Must(t, "app", "upgrade", "/root/next.tar.gz", "--yes")
	expect("1.1.0")
	refused("is installed already", "app", "upgrade", "/root/next.tar.gz", "--yes")
	refused("older", "app", "upgrade", "/root/app", "--yes", "--unsigned")
	out := m.Must(t, "app", "rollback", "--yes", "--json")
	if !strings.Contains(out, "/var/lib/app/backups/before-upgrade-") {
		t.Errorf("rollback says %s", out)
	}
	expect("1.0.0")

	refused("version 1.0.0 runs again with the store as it is", "app", "upgrade", "/root/bad.tar.gz", "--yes")
	expect("1.0.0")
	refused("version 1.0.0 runs again with the store as it is, and nothing is lost: version 1.3.0 failed its probation", "app", "upgrade", "/root/dying.tar.gz", "--yes")
	expect("1.0.0")
	refused("it holds 0 accounts, and held 1 before the upgrade", "app", "upgrade", "/root/deleting.tar.gz", "--yes")
	expect("1.0.0")
	m.Must(t, "app", "upgrade", "/root/next.tar.gz", "--yes")
	expect("1.1.0")
}
