package auth

import (
	"testing"
	"time"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

const year = 365 * 24 * time.Hour

// TestClockAheadAndBack sets the clock ahead by a year and back again. Valid credentials remain valid, and nothing
// from the year ahead is valid for longer than with a correct clock.
func TestClockAheadAndBack(t *testing.T) {
	f := newFixture(t)
	before := f.signIn(plantA, boss)
	ends := f.watch.Now().Add(48 * time.Hour)
	_, raw, err := f.CreateKey(f.admin, KeyInput{ExpiresAt: &ends})
	f.want(err, none)
	f.key(raw)
	f.login(boss)

	f.watch.advance(year)
	_, err = f.AuthenticateSession(before.Session)
	f.want(err, errdefs.Unauthorized)
	_, err = f.AuthenticateKey(raw)
	f.want(err, errdefs.Unauthorized)
	used, unused := f.signIn(plantA, boss), f.signIn(plantA, boss)
	request := f.login(boss)
	link, err := f.LinkOutright(Local(plantA), boss)
	f.want(err, none)
	tablet, err := f.PairTablet(f.admin, TabletInput{Name: "hall", StationCodes: []string{"s"}})
	f.want(err, none)
	for range 25 { // of which 20 are allowed
		f.WrongCredential("10.0.0.3")
	}
	f.want(f.flush(), none)

	f.watch.advance(-year)
	for _, session := range []string{before.Session, used.Session} {
		p, err := f.AuthenticateSession(session)
		f.want(err, none)
		if p.Expires.Sub(f.watch.Now()) > SessionLifetime {
			t.Errorf("a session that is used ends at %v", p.Expires)
		}
	}
	f.key(raw)
	for _, token := range []string{link.Token, tablet.Token} {
		_, err := f.Callback(f.hide(token), "")
		f.want(err, errdefs.Forbidden)
	}
	_, err = f.LinkFor(f.admin, request.Code)
	f.want(err, errdefs.NotFound)
	_, err = f.Claim(request.LoginToken, "")
	f.want(err, errdefs.Forbidden)
	if list, err := f.PendingLogins(f.admin); err != nil || len(list) != 1 { // the one from before
		t.Errorf("%d requests wait, %v", len(list), err)
	}
	if allowed, wait := f.WrongCredential("10.0.0.3"); allowed || wait > time.Minute {
		t.Errorf("after too many wrong credentials: %v, wait %v", allowed, wait)
	}
	f.watch.advance(time.Minute)
	if allowed, wait := f.WrongCredential("10.0.0.3"); !allowed {
		t.Errorf("a minute later it must wait for %v", wait)
	}

	f.want(f.Sweep(f.watch.Now()), none)
	f.want(f.flush(), none)
	// those of the request and the session from before
	if n := f.counts(); n["links"] != 2 || n["codes"] != 1 || n["tablets"] != 0 {
		t.Errorf("what is from the year ahead was not removed: %v", n)
	}
	f.restart()
	f.watch.advance(SessionLifetime)
	for _, session := range []string{used.Session, unused.Session, before.Session} {
		_, err := f.AuthenticateSession(session)
		f.want(err, errdefs.Unauthorized)
	}
	f.want(f.Sweep(f.watch.Now()), none)
	if n := f.counts()["sessions"]; n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

// TestClockBack sets the clock back before all records in the store. New links, sessions and keys work, small
// corrections do no harm, and audit records remain in order.
func TestClockBack(t *testing.T) {
	f := newFixture(t)
	session := f.signIn(plantA, boss)
	link, err := f.LinkOutright(Local(plantA), boss)
	f.want(err, none)
	f.watch.advance(-10 * time.Second) // a typical correction by a time server
	f.open1(link.Token)
	stale, err := f.LinkOutright(Local(plantA), boss)
	f.want(err, none)

	f.watch.advance(-year)
	_, err = f.Callback(f.hide(stale.Token), "")
	f.want(err, errdefs.Forbidden)
	_, err = f.AuthenticateSession(session.Session)
	f.want(err, none)
	fresh := f.signIn(plantA, boss)
	f.want(f.Logout(fresh.Principal), none)
	soon := f.watch.Now().Add(time.Hour)
	_, raw, err := f.CreateKey(f.admin, KeyInput{ExpiresAt: &soon})
	f.want(err, none)
	f.key(raw)
	f.restart()
	f.key(raw)
	f.want(f.Sweep(f.watch.Now()), none)
	if n := f.counts(); n["links"] != 1 || n["sessions"] != 2 { // the new link, used; the sessions that did not log out
		t.Errorf("%v", n)
	}
	var list []audit.Record
	f.want(f.store.View(func(tx *kv.Tx) (err error) {
		page, err := audit.List(tx, plantA, audit.Query{Limit: 1000})
		list = page.Records
		return err
	}), none)
	for i, r := range list {
		if r.Seq != uint64(len(list)-i) {
			t.Errorf("record %d is in place %d of %d", r.Seq, i, len(list))
		}
	}
}
