package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"opsmon/app/test/apptest"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// TestCheckDamaged damages a store in every way that can be told apart, and sees that the command says what is wrong,
// changes nothing and does not crash.
func TestCheckDamaged(t *testing.T) {
	apptest.Long(t)
	t.Parallel()
	dir := t.TempDir()
	apptest.Initialise(t, dir, "--domain", "northgate.example")
	if out, stderr, status := apptest.Command(t, "check", "--data-dir", dir); status != 0 {
		t.Fatalf("whole: status %d: %s%s", status, out, stderr)
	}
	path := filepath.Join(dir, StoreFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flip := func(at int) []byte {
		b := append([]byte(nil), whole...)
		b[at] ^= 0x55
		return b
	}
	// within opens the store without the services and changes a record in it.
	within := func(change func(tx *kv.Tx) error) []byte {
		copied := filepath.Join(t.TempDir(), StoreFile)
		if err := os.WriteFile(copied, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := kv.Open(kv.Config{Path: copied, Migrations: migrations})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Update(change); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(copied)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	raw := func(bucket string) *kv.Bucket[string, []byte] { return kv.NewBucket(bucket, kv.String, kv.Raw) }
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"empty":        {nil, "the file is empty"},
		"not a store":  {[]byte(strings.Repeat("something else\n", 1000)), "the file is not a store"},
		"cut":          {whole[:5*4096], "bytes, want"},
		"a meta page":  {flip(64), "meta page"},
		"a value":      {[]byte(strings.ReplaceAll(string(whole), `"domain":"northgate.example"`, `"domaim":"northgate.example"`)), "checksum does not match"},
		"an account":   {within(func(tx *kv.Tx) error { return raw("account").Put(tx, "northgate", []byte("garbage")) }), "account: "},
		"the settings": {within(func(tx *kv.Tx) error { return raw("setting").Put(tx, applianceSetting, []byte("garbage")) }), "setting: "},
		"a setting empty": {within(func(tx *kv.Tx) error {
			return settings.Put(tx, applianceSetting, identity{Version: BuildInfo().Version})
		}), "has no id"},
		"a lost document": {within(func(tx *kv.Tx) error { return raw("rendered").Delete(tx, "northgate") }), "account northgate: its manifest"},
		"a foreign key":   {within(func(tx *kv.Tx) error { return raw("authKeyUse").Put(tx, "nobody", []byte(`"x"`)) }), "last use of a key: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, StoreFile)
			if err := os.WriteFile(path, test.data, 0o600); err != nil {
				t.Fatal(err)
			}
			out, stderr, status := apptest.Command(t, "check", "--data-dir", dir)
			if status != 1 || !strings.Contains(out, test.want) || !strings.Contains(stderr, "problem") || strings.Contains(stderr, "panic") {
				t.Errorf("status %d, out %q, stderr %q; want %q", status, out, stderr, test.want)
			}
		})
	}
}

// TestCheckReadsEveryBucket: rubbish in any bucket is reported, so that none is forgotten when one is added.
func TestCheckReadsEveryBucket(t *testing.T) {
	for _, name := range buckets() {
		store := kvtest.New(t, func(c *kv.Config) { c.Buckets = buckets() })
		rubbish := kv.NewBucket(name, kv.String, kv.Raw)
		if err := store.Update(func(tx *kv.Tx) error { return rubbish.Put(tx, "rubbish", []byte("rubbish")) }); err != nil {
			t.Fatal(err)
		}
		found := 0
		if err := checkRecords(store, time.Now(), func(string) { found++ }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if found == 0 {
			t.Errorf("rubbish in the bucket %s goes unnoticed", name)
		}
	}
}
