package app

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/host/backup"
	"opsmon/app/host/config"
	"opsmon/app/test/apptest"
)

var update = flag.Bool("update", false, "make the backups of this version that testdata/backup lacks; those that are there are never made anew")

const oldPassphrase = "correct horse battery"

// oldBackup is the path of a backup of a version's store. Each is as the program of that time made it.
func oldBackup(version int, encrypted bool) string {
	name := fmt.Sprintf("store-%d.backup", version)
	if encrypted {
		name = fmt.Sprintf("store-%d-encrypted.backup", version)
	}
	return filepath.Join("testdata", "backup", name)
}

// TestOldBackups restores a backup of every version of the store that there ever was. A new migration needs a new one:
// go test ./app -run TestOldBackups -update.
func TestOldBackups(t *testing.T) {
	for version := 1; version <= StoreVersion(); version++ {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, encrypted %v", version, encrypted), func(t *testing.T) {
				t.Parallel()
				path := oldBackup(version, encrypted)
				if _, err := os.Stat(path); *update && version == StoreVersion() && errors.Is(err, os.ErrNotExist) {
					makeOldBackup(t, path, encrypted)
				}
				in := RestoreInput{Path: path, Name: filepath.Base(path)}
				if encrypted {
					in.Passphrase = oldPassphrase
				}
				m, err := backup.Verify(t.Context(), backup.VerifyConfig{Path: path, Passphrase: in.Passphrase})
				if err != nil || m.Store != version {
					t.Fatalf("version %d, %v", m.Store, err)
				}
				cfg := testConfig(t)
				r, err := Restore(t.Context(), cfg, in)
				if err != nil || (r.Settings == backup.SettingsRestored) != encrypted {
					t.Fatalf("%+v, %v", r, err)
				}
				if got := apptest.ReadIn(t, cfg.DataDir, "tls/ca.key"); (got == "a key") != encrypted {
					t.Errorf("the key of the authority is %q", got)
				}
				a, _ := opened(t, cfg)
				defer a.Close()
				if err := a.Check(func(p string) { t.Error(p) }); err != nil {
					t.Error(err)
				}
				if got := emails(t, a); got != "it@northgate.example lead@northgate.example" {
					t.Errorf("the users are %q", got)
				}
				keys, err := a.services.Auth.ListKeys(auth.Local("northgate"))
				if err != nil || len(keys) != 1 || keys[0].Email != "it@northgate.example" {
					t.Errorf("%+v, %v", keys, err)
				}
				page, err := a.auditList("northgate", audit.Query{Limit: 2})
				records := page.Records
				if err != nil || len(records) != 2 || records[0].Action != "backup.restore" || records[1].Target != "lead@northgate.example" {
					t.Errorf("%+v, %v", records, err)
				}
				if a.store.Version() != StoreVersion() {
					t.Errorf("the store has version %d", a.store.Version())
				}
			})
		}
	}
}

// makeOldBackup makes a backup of today's store for tests of later versions.
func makeOldBackup(t *testing.T, path string, encrypted bool) {
	t.Helper()
	cfg := testConfig(t)
	apptest.WriteIn(t, cfg.DataDir, config.File, "logLevel: info\nsmtp:\n  host: mail\n  from: a@b.example\n  password: not a real one\n")
	apptest.WriteIn(t, cfg.DataDir, "tls/ca.key", "a key")
	a, _ := opened(t, cfg)
	defer a.Close()
	if _, err := a.services.Auth.AddUser(auth.Local("northgate"), "lead@northgate.example", auth.Member); err != nil {
		t.Fatal(err)
	}
	from, err := a.backupConfig()
	if err != nil {
		t.Fatal(err)
	}
	if encrypted {
		from.Passphrase = oldPassphrase
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Create(t.Context(), from, path); err != nil {
		t.Fatal(err)
	}
}
