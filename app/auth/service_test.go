package auth

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"opsmon/app/errdefs"
	"opsmon/kv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func (f *fixture) counts() map[string]int {
	f.t.Helper()
	n := map[string]int{}
	err := f.store.View(func(tx *kv.Tx) error {
		n["keys"], n["uses"], n["sessions"] = keys.Count(tx), keyUses.Count(tx), sessions.Count(tx)
		n["links"], n["codes"], n["waits"], n["tablets"] = links.Count(tx), codes.Count(tx), waits.Count(tx), tablets.Count(tx)
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

func TestRestart(t *testing.T) {
	f := newFixture(t)
	key, raw, err := f.CreateKey(f.admin, KeyInput{Name: "kept", Role: Operator})
	f.want(err, none)
	p := f.key(raw)
	gone, goneRaw, err := f.CreateKey(f.admin, KeyInput{})
	f.want(err, none)
	f.hide(goneRaw)
	f.want(f.RevokeKey(f.admin, gone.ID), none)
	grant := f.signIn(plantA, boss)
	before, err := f.ListKeys(f.admin)
	f.want(err, none)
	r := f.login(boss)
	link := f.linkFor(f.admin, r.Code)

	f.restart()
	if diff := cmp.Diff(p, f.key(raw)); diff != "" {
		t.Error(diff)
	}
	_, err = f.AuthenticateKey(goneRaw)
	f.want(err, errdefs.Unauthorized)
	f.want(f.RevokeKey(f.admin, goneRaw), none) // recognized as a former key
	session, err := f.AuthenticateSession(grant.Session)
	f.want(err, none)
	session.Address = grant.Principal.Address
	if diff := cmp.Diff(grant.Principal, session); diff != "" {
		t.Error(diff)
	}
	after, err := f.ListKeys(f.admin)
	f.want(err, none)
	if diff := cmp.Diff(before, after); diff != "" { // including last uses
		t.Error(diff)
	}
	f.want(f.Approve(link.Token, r.Code, ""), none)
	_, err = f.Claim(r.LoginToken, "")
	f.want(err, none)
	if key.Role != Operator {
		t.Errorf("%+v", key)
	}
}

func TestSweep(t *testing.T) {
	f := newFixture(t)
	soon := f.watch.Now().Add(time.Hour)
	expiring, raw, err := f.CreateKey(f.admin, KeyInput{ExpiresAt: &soon})
	f.want(err, none)
	f.key(raw)
	revoked, raw, err := f.CreateKey(f.admin, KeyInput{})
	f.want(err, none)
	f.key(raw)
	f.want(f.RevokeKey(f.admin, revoked.ID), none)
	in := TabletInput{Name: "used", StationCodes: []string{"s"}}
	used, err := f.PairTablet(f.admin, in)
	f.want(err, none)
	f.open1(used.Token)
	in.Name = "unused"
	_, err = f.PairTablet(f.admin, in)
	f.want(err, none)
	f.login(boss)
	f.want(f.flush(), none)

	sweep := func(want map[string]int) {
		t.Helper()
		f.want(f.Sweep(f.watch.Now()), none)
		if diff := cmp.Diff(want, f.counts()); diff != "" {
			t.Error(diff)
		}
	}
	sweep(map[string]int{"keys": 3, "uses": 2, "sessions": 1, "links": 3, "codes": 1, "waits": 1, "tablets": 2})
	f.watch.advance(15 * time.Minute)
	sweep(map[string]int{"keys": 3, "uses": 2, "sessions": 1, "links": 0, "codes": 0, "waits": 0, "tablets": 1})
	f.watch.advance(SessionLifetime)
	sweep(map[string]int{"keys": 3, "uses": 2, "sessions": 0, "links": 0, "codes": 0, "waits": 0, "tablets": 0})
	f.want(f.RevokeKey(f.admin, revoked.ID), none)
	f.watch.advance(400 * 24 * time.Hour)
	f.swept = true
	sweep(map[string]int{"keys": 1, "uses": 1, "sessions": 0, "links": 0, "codes": 0, "waits": 0, "tablets": 0})
	f.wantField(f.RevokeKey(f.admin, revoked.ID), "key")
	f.wantField(f.RevokeKey(f.admin, expiring.ID), "key")
}

// TestFlushSkipsWhatIsGone checks that the use of a swept key is not written, because nothing would ever remove it.
func TestFlushSkipsWhatIsGone(t *testing.T) {
	f := newFixture(t)
	_, raw, err := f.CreateKey(f.admin, KeyInput{})
	f.want(err, none)
	p := f.key(raw)
	f.swept = true
	f.want(f.store.Update(func(tx *kv.Tx) error { return keys.Delete(tx, p.KeyID) }), none)
	f.want(f.flush(), none)
	if n := f.counts()["uses"]; n != 1 { // that of the admin
		t.Errorf("%d uses", n)
	}
}

// TestSweepLeavesTheCodesOfOthers checks that sweeping an old link does not free a code that another request has by
// now.
func TestSweepLeavesTheCodesOfOthers(t *testing.T) {
	f := newFixture(t)
	first := f.login(boss)
	f.open1(f.linkFor(f.admin, first.Code).Token) // the code is available again
	second := f.login(boss)
	err := f.store.Update(func(tx *kv.Tx) error { // as if both had the same code
		hash, err := codes.Get(tx, second.Code)
		if err != nil {
			return err
		}
		link, err := links.Get(tx, [32]byte(hash))
		if err != nil {
			return err
		}
		if err := codes.Delete(tx, second.Code); err != nil {
			return err
		}
		link.Code, link.ExpiresAt.Time = first.Code, link.ExpiresAt.Add(LinkLifetime)
		return putLink(tx, [32]byte(hash), link)
	})
	f.want(err, none)
	f.watch.advance(15 * time.Minute)
	f.want(f.Sweep(f.watch.Now()), none)
	f.linkFor(f.admin, first.Code)
}

// TestRefreshFailsClosed checks that changed credentials are rejected if the store cannot be read after a commit.
func TestRefreshFailsClosed(t *testing.T) {
	f := newFixture(t)
	_, raw, err := f.CreateKey(f.admin, KeyInput{})
	f.want(err, none)
	p := f.key(raw)
	_, untouched, err := f.CreateKey(f.admin, KeyInput{})
	f.want(err, none)
	f.hide(untouched)
	grant := f.signIn(plantA, boss)
	f.want(f.store.Close(), none)
	c := changes{users: []place{{A: plantA, B: "x@a.example"}, {A: plantA, B: boss}}, keys: []string{p.KeyID}, sessions: []string{grant.Principal.SessionID}}
	f.want(f.refresh(c), errdefs.Unavailable)
	_, err = f.AuthenticateKey(raw)
	f.want(err, errdefs.Unauthorized)
	_, err = f.AuthenticateSession(grant.Session)
	f.want(err, errdefs.Unauthorized)
	_, err = f.AuthenticateKey(untouched) // its user cannot be read
	f.want(err, errdefs.Unauthorized)
	if list := f.Memberships("x@a.example"); len(list) != 0 {
		t.Errorf("%v", list)
	}
	_, _, err = f.CreateKey(f.admin, KeyInput{})
	f.want(err, errdefs.Unavailable)
	f.want(f.Close(), errdefs.Unavailable) // the use of the admin's key could not be written
	f.open()
}
