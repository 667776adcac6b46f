package auth

import (
	"testing"
	"time"

	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// idsOf returns the ids of a list of sessions, in its order.
func idsOf(list []Session) (ids []string) {
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids
}

func TestSessions(t *testing.T) {
	f := newFixture(t)
	first := f.signIn(plantA, boss)
	f.watch.advance(3 * time.Hour)
	second := f.signIn(plantA, boss)
	other := f.user(plantA, "other@a.example", Member)
	theirs := f.signIn(plantA, "other@a.example")
	list, err := f.Sessions(second.Principal)
	f.want(err, none)
	if len(list) != 2 || list[0].ID != second.Principal.SessionID || !list[0].Current || list[1].Current || list[0].AccountID != plantA || list[0].Address != "10.0.0.9" {
		t.Fatalf("%+v", list)
	}
	if used := list[0].LastUsedAt.Sub(list[1].LastUsedAt.Time); used != 3*time.Hour || list[0].ExpiresAt.Sub(list[0].LastUsedAt.Time) != SessionLifetime {
		t.Errorf("%+v", list)
	}
	n, err := f.EndSessions(second.Principal, true)
	f.want(err, none)
	if list, _ = f.Sessions(second.Principal); n != 1 || len(list) != 1 || list[0].ID != second.Principal.SessionID {
		t.Errorf("%d ended, and there are %+v", n, list)
	}
	_, err = f.AuthenticateSession(first.Session)
	f.want(err, errdefs.Unauthorized)
	_, err = f.AuthenticateSession(theirs.Session)
	f.want(err, none)
	_, err = f.EndSessionsOf(other, boss)
	f.want(err, errdefs.Forbidden)
	_, err = f.EndSessionsOf(f.admin, "nobody@elsewhere.example")
	f.want(err, errdefs.NotFound)
	n, err = f.EndSessionsOf(f.admin, "Other@A.example")
	f.want(err, none)
	if _, err = f.AuthenticateSession(theirs.Session); n != 1 || errdefs.KindOf(err) != errdefs.Unauthorized {
		t.Errorf("%d ended; %v", n, err)
	}
	n, err = f.EndSessions(second.Principal, false)
	f.want(err, none)
	if _, err = f.AuthenticateSession(second.Session); n != 1 || errdefs.KindOf(err) != errdefs.Unauthorized {
		t.Errorf("%d ended; %v", n, err)
	}
	_, err = f.EndSessions(second.Principal, false)
	f.want(err, errdefs.Unauthorized)
	if ended := f.audited(plantA, "session.end"); len(ended) != 3 {
		t.Errorf("%d records of sessions that ended", len(ended))
	}
}

// TestSessionsStayInTheirAccount checks that a caller with a link or key for one account cannot see another.
func TestSessionsStayInTheirAccount(t *testing.T) {
	f := newFixture(t)
	const person = "person@elsewhere.example"
	f.user(plantA, person, Member)
	f.user(plantB, person, Member)
	key := f.keyFor(plantA, person)
	free, away := f.signIn(plantA, person), f.signIn(plantB, person)
	asked, err := f.Login(LoginRequest{Destination: person, Address: "10.0.0.8"})
	f.want(err, none)
	f.hide(asked.LoginToken)
	link, err := f.LinkFor(f.admin, asked.Code)
	f.want(err, none)
	bound := f.open1(link.Token).Principal
	for _, p := range []Principal{key, bound} {
		list, err := f.Sessions(p)
		f.want(err, none)
		if len(list) != 2 {
			t.Errorf("%s sees %v", p.Type, idsOf(list))
		}
		for _, s := range list {
			if s.ID == away.Principal.SessionID {
				t.Errorf("%s sees the session in the other account", p.Type)
			}
		}
	}
	if list, err := f.Sessions(free.Principal); err != nil || len(list) != 3 {
		t.Errorf("%v, %v", idsOf(list), err)
	}
	_, err = f.EndSessionsOf(f.admin, person)
	f.want(err, none)
	still, err := f.AuthenticateSession(away.Session)
	f.want(err, none)
	_, err = f.SwitchAccount(still, plantA)
	f.want(err, errdefs.Forbidden) // switching does not give the access back
}

// TestTabletIsUsed checks a tablet's last use.
func TestTabletIsUsed(t *testing.T) {
	f := newFixture(t)
	made, err := f.PairTablet(f.admin, TabletInput{Name: "hall", Role: Operator, StationCodes: []string{"PACK-1"}})
	f.want(err, none)
	last := func() *instant.Time {
		list, err := f.ListTablets(f.admin)
		f.want(err, none)
		return list[0].LastUsedAt
	}
	if at := last(); at != nil {
		t.Errorf("one that was never paired was used at %v", at)
	}
	grant := f.open1(made.Token)
	paired := last()
	f.watch.advance(5 * time.Hour)
	_, err = f.AuthenticateSession(grant.Session)
	f.want(err, none)
	if now := last(); paired == nil || now.Sub(paired.Time) != 5*time.Hour {
		t.Errorf("paired at %v, and used at %v, five hours later", paired, now)
	}
}

// TestTheSetUpSessionStaysInItsAccount checks that the session of the set-up, whose address is not verified, opens
// only that account.
func TestTheSetUpSessionStaysInItsAccount(t *testing.T) {
	f := newFixture(t)
	const person = "chief@elsewhere.example"
	var raw string
	var done func()
	f.want(f.store.Update(func(tx *kv.Tx) (err error) {
		raw, done, err = f.BootstrapTx(tx, First{AccountID: plantB, Email: person, SignIn: true, Actor: Local(plantB).Actor()})
		return err
	}), none)
	f.hide(raw)
	done()
	f.user(plantA, person, Member)
	p, err := f.AuthenticateSession(raw)
	f.want(err, none)
	_, err = f.SwitchAccount(p, plantA)
	f.want(err, errdefs.Forbidden)
}
