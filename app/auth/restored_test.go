package auth

import (
	"testing"

	"opsmon/app/errdefs"
	"opsmon/kv"
)

// TestEndSignIns checks that after a restore keys and users are unchanged, and sessions, links and tablets are gone.
func TestEndSignIns(t *testing.T) {
	f := newFixture(t)
	person := f.user(plantA, "lead@elsewhere.example", Supervisor)
	_, raw, err := f.CreateKeyFor(Local(plantA), person.Email, KeyInput{})
	f.want(err, none)
	session := f.signIn(plantA, person.Email).Session
	link, err := f.LinkOutright(Local(plantA), person.Email)
	f.want(err, none)
	waiting, err := f.Login(LoginRequest{Destination: person.Email, Address: "10.0.0.9"})
	f.want(err, none)
	for _, name := range []string{"paired", "not paired"} {
		tablet, err := f.PairTablet(f.admin, TabletInput{Name: name, Role: Readonly})
		f.want(err, none)
		if f.hide(tablet.Token); name == "paired" {
			f.open1(tablet.Token)
		}
	}
	f.want(f.store.Update(EndSignIns), none)
	f.restart()
	if p := f.key(raw); p.Role != Supervisor {
		t.Errorf("%+v", p)
	}
	_, err = f.AuthenticateSession(session)
	f.want(err, errdefs.Unauthorized)
	_, err = f.Callback(f.hide(link.Token), "")
	f.want(err, errdefs.Forbidden)
	_, err = f.LinkFor(Local(plantA), waiting.Code)
	f.want(err, errdefs.NotFound)
	left, err := f.ListTablets(f.admin)
	f.want(err, none)
	err = f.store.View(func(tx *kv.Tx) error {
		for range waits.Scan(tx, kv.Range{}) {
			t.Error("a browser waits")
		}
		return nil
	})
	if f.want(err, none); len(left) != 0 {
		t.Errorf("%+v", left)
	}
}
