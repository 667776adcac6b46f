package auth

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"opsmon/app/errdefs"
	"opsmon/kv"
)

// commits returns the number of committed transactions: the higher of the numbers in bbolt's two meta pages. A page
// header of 16 bytes is followed by four fields of 4 bytes, the root (16), the free list (8), the page count (8) and
// the number.
func (f *fixture) commits() int {
	f.t.Helper()
	file, err := os.Open(f.path)
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	highest := uint64(0)
	for page := range int64(2) {
		var number [8]byte
		if _, err := file.ReadAt(number[:], page*int64(os.Getpagesize())+16+16+16+8+8); err != nil {
			f.t.Fatal(err)
		}
		highest = max(highest, binary.NativeEndian.Uint64(number[:]))
	}
	return int(highest)
}

// TestEveryOperationIsOneTransaction checks that a power cut leaves all or nothing of an operation: each is one
// transaction, and a read is none.
func TestEveryOperationIsOneTransaction(t *testing.T) {
	f := newFixture(t)
	do := func(name string, want int, op func() error) {
		t.Helper()
		before := f.commits()
		if err := op(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := f.commits() - before; got != want {
			t.Errorf("%s took %d transactions, want %d", name, got, want)
		}
	}
	var key Key
	var raw string
	var r LoginResult
	var link Link
	var grant Grant
	var tablet TabletLink
	do("CreateKey", 1, func() (err error) { key, raw, err = f.CreateKey(f.admin, KeyInput{}); f.hide(raw); return err })
	do("AuthenticateKey", 0, func() error { _, err := f.AuthenticateKey(raw); return err })
	do("ListKeys", 0, func() error { _, err := f.ListKeys(f.admin); return err })
	do("RevokeKey", 1, func() error { return f.RevokeKey(f.admin, key.ID) })
	do("CreateKeyFor", 1, func() error { _, raw, err := f.CreateKeyFor(Local(plantA), boss, KeyInput{}); f.hide(raw); return err })
	do("AddUser", 1, func() error { _, err := f.AddUser(f.admin, "u@x.example", Member); return err })
	do("SetRole", 1, func() error { _, err := f.SetRole(f.admin, "u@x.example", Admin); return err })
	do("SetRole on the domain", 1, func() error { _, err := f.SetRole(f.admin, "u@a.example", Member); return err })
	do("ListUsers", 0, func() error { _, err := f.ListUsers(f.admin); return err })
	do("User", 0, func() error { _, err := f.User(f.admin, boss); return err })
	do("Memberships", 0, func() error { f.Memberships(boss); return nil })
	do("AddUser elsewhere", 1, func() error { _, err := f.AddUser(Local(plantB), "u@x.example", Member); return err })
	do("Login", 1, func() (err error) {
		r, err = f.Login(LoginRequest{Destination: "u@x.example"})
		f.hide(r.LoginToken)
		return err
	})
	do("PendingLogins", 0, func() error { _, err := f.PendingLogins(f.admin); return err })
	do("LinkFor", 1, func() (err error) { link, err = f.LinkFor(Local(plantA), r.Code); f.hide(link.Token); return err })
	do("Approve, wrong code", 1, func() error {
		f.want(f.Approve(link.Token, other(r.Code), ""), errdefs.Forbidden)
		return nil
	})
	do("Claim, too early", 0, func() error {
		_, err := f.Claim(r.LoginToken, "")
		f.want(err, errdefs.Conflict)
		return nil
	})
	do("Approve", 1, func() error { return f.Approve(link.Token, r.Code, "") })
	do("Claim", 1, func() (err error) { grant, err = f.Claim(r.LoginToken, ""); f.hide(grant.Session); return err })
	do("AuthenticateSession", 0, func() error { _, err := f.AuthenticateSession(grant.Session); return err })
	do("SwitchAccount", 1, func() error { _, err := f.SwitchAccount(grant.Principal, plantB); return err })
	do("LinkOutright", 1, func() (err error) {
		link, err = f.LinkOutright(Local(plantB), "u@x.example")
		f.hide(link.Token)
		return err
	})
	do("Callback", 1, func() (err error) { grant, err = f.Callback(link.Token, ""); f.hide(grant.Session); return err })
	do("Logout", 1, func() error { return f.Logout(grant.Principal) })
	do("RemoveUser", 1, func() error { return f.RemoveUser(f.admin, "u@x.example") })
	do("PairTablet", 1, func() (err error) {
		tablet, err = f.PairTablet(f.admin, TabletInput{Name: "t", Role: Readonly})
		f.hide(tablet.Token)
		return err
	})
	do("Callback of a tablet", 1, func() (err error) { grant, err = f.Callback(tablet.Token, ""); f.hide(grant.Session); return err })
	do("ListTablets", 0, func() error { _, err := f.ListTablets(f.admin); return err })
	do("RevokeTablet", 1, func() error { return f.RevokeTablet(f.admin, tablet.Tablet.ID) })
	do("flush", 1, f.flush)
	do("flush with nothing new", 0, f.flush)
	do("Sweep", 1, func() error { return f.Sweep(f.watch.Now().Add(time.Hour)) })
}

// TestRemoveUserWhileCreatingKeys checks that no key works of a user who creates keys while being removed.
func TestRemoveUserWhileCreatingKeys(t *testing.T) {
	f := newFixture(t)
	const email = "busy@a.example"
	p := f.user(plantA, email, Member)
	var mu sync.Mutex
	var raws []string
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				_, raw, err := f.CreateKey(p, KeyInput{})
				if err != nil {
					f.want(err, errdefs.Unauthorized)
					return
				}
				mu.Lock()
				raws = append(raws, f.hide(raw))
				mu.Unlock()
			}
		})
	}
	for made := 0; made < 50; { // wait until it runs
		mu.Lock()
		made = len(raws)
		mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	f.want(f.RemoveUser(f.admin, email), none)
	wg.Wait()
	for _, raw := range raws {
		if _, err := f.AuthenticateKey(raw); err == nil {
			t.Fatal("a key of a removed user works")
		}
	}
	f.want(f.store.View(func(tx *kv.Tx) error {
		for item, err := range keys.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			if item.Value.Email == email && item.Value.RevokedAt == nil {
				t.Error("a key of a removed user is not revoked: it would work when the user is added again")
			}
		}
		return nil
	}), none)
}

func TestNewNeedsItsBuckets(t *testing.T) {
	store, err := kv.Open(kv.Config{Path: filepath.Join(t.TempDir(), "store.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := New(Config{Store: store, Accounts: &directory{}}); err == nil {
		t.Error("a service without its buckets")
	}
}
