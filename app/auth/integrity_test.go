package auth

import (
	"os"
	"strings"
	"testing"
	"time"

	"opsmon/app/audit"
	"opsmon/app/instant"
	"opsmon/kv"
)

// TestCheckFindsDamage removes or changes one of two records that must agree, for each such pair.
func TestCheckFindsDamage(t *testing.T) {
	actor := audit.Actor{Credential: "local"}
	var waiting LoginResult
	first := func(tx *kv.Tx, b *kv.Bucket[string, sessionRecord], tablet bool) (string, sessionRecord) {
		for item := range b.Scan(tx, kv.Range{}) {
			if (item.Value.TabletID != "") == tablet {
				return item.Key, item.Value
			}
		}
		t.Fatal("no such session")
		return "", sessionRecord{}
	}
	for name, test := range map[string]struct {
		damage func(tx *kv.Tx) error
		want   string
	}{
		"nothing": {func(*kv.Tx) error { return nil }, ""},
		"user of no account": {func(tx *kv.Tx) error {
			return users.Put(tx, place{A: "gone", B: "x@y.example"}, userRecord{Role: Admin})
		}, "user x@y.example: its account gone is not there"},
		"user without a role": {func(tx *kv.Tx) error {
			return users.Put(tx, place{A: plantA, B: "x@y.example"}, userRecord{Role: "king"})
		}, `"king" is not a role`},
		"key without a hash": {func(tx *kv.Tx) error { return keys.Put(tx, "k", keyRecord{AccountID: plantA}) }, "key k: its hash is not one"},
		"use of no key":      {func(tx *kv.Tx) error { return keyUses.Put(tx, "none", instant.Of(time.Now())) }, "last use of key none: the key is not there"},
		"session of no account": {func(tx *kv.Tx) error {
			id, s := first(tx, sessions, false)
			s.AccountID = "gone"
			return sessions.Put(tx, id, s)
		}, "its account gone is not there"},
		"tablet's session gone": {func(tx *kv.Tx) error {
			id, _ := first(tx, sessions, true)
			return sessions.Delete(tx, id)
		}, "its session is not there"},
		"session's tablet gone": {func(tx *kv.Tx) error {
			_, s := first(tx, sessions, true)
			return tablets.Delete(tx, place{A: plantA, B: s.TabletID})
		}, "its tablet is not there"},
		"pairing link gone": {func(tx *kv.Tx) error {
			for item := range links.Scan(tx, kv.Range{}) {
				if item.Value.TabletID != "" && item.Value.UsedAt == nil {
					return links.Delete(tx, item.Key)
				}
			}
			return nil
		}, "its pairing link is not there"},
		"code gone":          {func(tx *kv.Tx) error { return codes.Delete(tx, waiting.Code) }, "its code does not lead to it"},
		"code of no link":    {func(tx *kv.Tx) error { return codes.Put(tx, "abcde", make([]byte, 32)) }, "sign-in code abcde: its link is not there"},
		"short code":         {func(tx *kv.Tx) error { return codes.Put(tx, "abcde", []byte("x")) }, "sign-in code abcde: its link is not there"},
		"wait gone":          {func(tx *kv.Tx) error { return empty(tx, waits.Scan(tx, kv.Range{}), waits.Delete) }, "the browser that waits does not lead to it"},
		"wait of no link":    {func(tx *kv.Tx) error { return waits.Put(tx, [32]byte{1}, make([]byte, 32)) }, "waiting sign-in: its link is not there"},
		"last of no account": {func(tx *kv.Tx) error { return lastAccounts.Put(tx, "x@y.example", []byte("gone")) }, "account used last by x@y.example: its account gone"},
		"audit of nobody":    {func(tx *kv.Tx) error { return audit.Put(tx, "gone", actor, "x", "y", nil) }, "audit of gone: there is no such account"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.signIn(plantA, boss)
			for _, pair := range []bool{true, false} {
				tablet, err := f.PairTablet(f.admin, TabletInput{Name: "t" + name[:1] + map[bool]string{true: "1", false: "2"}[pair], StationCodes: []string{"A1"}})
				f.want(err, none)
				if f.hide(tablet.Token); pair {
					f.open1(tablet.Token)
				}
			}
			var err error
			waiting, err = f.Login(LoginRequest{Destination: boss, Address: "10.0.0.1"})
			f.want(err, none)
			if got := f.problems(); len(got) > 0 {
				t.Fatalf("before: %q", got)
			}
			undo := f.damageFor(test.damage)
			got := strings.Join(f.problems(), "\n")
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("check says %q, want %q", got, test.want)
			}
			undo()
		})
	}
}

// damageFor changes the store without the service and returns a function that reverts the change, because the fixture
// checks the store at its end.
func (f *fixture) damageFor(damage func(tx *kv.Tx) error) (undo func()) {
	f.t.Helper()
	saved := f.path + ".saved"
	copyFile(f.t, f.path, saved)
	if err := f.store.Update(damage); err != nil {
		f.t.Fatal(err)
	}
	return func() {
		f.close()
		copyFile(f.t, saved, f.path)
		f.open()
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
