package auth

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

func TestUsersAreForAdmins(t *testing.T) {
	f := newFixture(t)
	for role, p := range f.everyRole() {
		want := none
		if role != Admin {
			want = errdefs.Forbidden
		}
		_, err := f.AddUser(p, "n@x.example", Member)
		f.want(err, want)
		_, err = f.SetRole(p, "readonly@elsewhere.example", Readonly)
		f.want(err, want)
		_, err = f.ListUsers(p)
		f.want(err, want)
		_, err = f.User(p, boss)
		f.want(err, want)
		if role == Admin {
			f.want(f.RemoveUser(p, "n@x.example"), none)
		} else {
			f.want(f.RemoveUser(p, boss), want)
		}
	}
	for _, p := range []Principal{
		{}, {Type: TypeLogin, Email: boss, AccountID: plantA, Role: Admin}, {Type: TypeDevice, AccountID: plantA, Role: Admin},
	} {
		_, err := f.ListUsers(p)
		f.want(err, errdefs.Forbidden)
	}
}

// TestRightsAreCheckedAnew checks that the transaction decides what a principal may do, not the snapshot.
func TestRightsAreCheckedAnew(t *testing.T) {
	f := newFixture(t)
	p := f.user(plantA, "second@x.example", Admin)
	session := f.signIn(plantA, "second@x.example").Principal
	_, err := f.SetRole(f.admin, "second@x.example", Member)
	f.want(err, none)
	_, err = f.AddUser(p, "n@x.example", Member)
	f.want(err, errdefs.Forbidden)
	_, err = f.AddUser(session, "n@x.example", Member)
	f.want(err, errdefs.Forbidden)
	f.want(f.RemoveUser(f.admin, "second@x.example"), none)
	for _, gone := range []Principal{p, session} {
		_, err = f.ListUsers(gone)
		f.want(err, errdefs.Unauthorized)
		_, _, err = f.CreateKey(gone, KeyInput{})
		f.want(err, errdefs.Unauthorized)
	}
	forged := f.admin
	forged.AccountID = plantB
	_, err = f.ListUsers(forged)
	f.want(err, errdefs.Unauthorized)
}

func TestAddUser(t *testing.T) {
	f := newFixture(t)
	user, err := f.AddUser(f.admin, "New.Person@X.example", Supervisor)
	f.want(err, none)
	want := User{Email: "new.person@x.example", Role: Supervisor, CreatedAt: instant.Of(f.watch.Now())}
	if diff := cmp.Diff(want, user); diff != "" {
		t.Error(diff)
	}
	read, err := f.User(f.admin, "NEW.person@x.example")
	f.want(err, none)
	if diff := cmp.Diff(want, read); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(read)
	if wanted := `{"email":"new.person@x.example","role":"supervisor","createdAt":"2026-11-20T08:15:30.123Z"}`; err != nil || string(text) != wanted {
		t.Errorf("got  %s\nwant %s", text, wanted)
	}
	_, err = f.AddUser(f.admin, "new.PERSON@x.example", Admin)
	f.want(err, errdefs.Conflict)
	_, err = f.AddUser(f.admin, "nobody", "boss")
	f.wantField(err, "email", "role")
	_, err = f.User(f.admin, "who@x.example")
	f.want(err, errdefs.NotFound)
	_, err = f.User(f.admin, "who")
	f.wantField(err, "email")
	list, err := f.ListUsers(f.admin)
	f.want(err, none)
	if len(list) != 2 || list[0].Email != boss || list[1].Email != "new.person@x.example" {
		t.Errorf("list %+v", list)
	}
	list, err = f.ListUsers(Local(plantB))
	f.want(err, none)
	if list == nil || len(list) != 0 {
		t.Errorf("list %#v", list)
	}
	record := f.audited(plantA, "user.add")[0]
	wantRecord := audit.Record{
		Seq: record.Seq, At: want.CreatedAt, AccountID: plantA, Action: "user.add", Target: want.Email,
		Actor:  audit.Actor{Email: boss, Credential: "key:" + f.admin.KeyID},
		Detail: map[string]string{"role": "supervisor"},
	}
	if diff := cmp.Diff(wantRecord, record); diff != "" {
		t.Error(diff)
	}
}

func TestSetRole(t *testing.T) {
	f := newFixture(t)
	f.user(plantA, "m@x.example", Member)
	user, err := f.SetRole(f.admin, "M@x.example", Operator)
	f.want(err, none)
	if user.Role != Operator {
		t.Errorf("%+v", user)
	}
	_, err = f.SetRole(f.admin, "m@x.example", Operator) // changes nothing
	f.want(err, none)
	if n := len(f.audited(plantA, "user.setRole")); n != 1 {
		t.Errorf("%d records", n)
	}
	user, err = f.SetRole(f.admin, "shared@a.example", Member) // on the domain, never added
	f.want(err, none)
	if user.Role != Member {
		t.Errorf("%+v", user)
	}
	_, err = f.SetRole(f.admin, "who@x.example", Member)
	f.want(err, errdefs.NotFound)
	f.want(f.RemoveUser(f.admin, "shared@a.example"), none)
	_, err = f.SetRole(f.admin, "shared@a.example", Member) // refused: must be added again
	f.want(err, errdefs.NotFound)
	_, err = f.SetRole(f.admin, boss, Member)
	f.want(err, errdefs.Conflict)
	_, err = f.SetRole(f.admin, "x", "y")
	f.wantField(err, "email", "role")
	_, err = f.SetRole(f.admin, "m@x.example", Admin)
	f.want(err, none)
	_, err = f.SetRole(f.admin, boss, Member)
	f.want(err, none)
}

func TestLastAdminStays(t *testing.T) {
	f := newFixture(t)
	f.want(f.RemoveUser(f.admin, boss), errdefs.Conflict)
	f.want(f.RemoveUser(Local(plantA), boss), errdefs.Conflict)
	second := f.user(plantA, "second@x.example", Admin)
	results := make(chan error, 2)
	go func() { results <- f.RemoveUser(f.admin, second.Email) }()
	go func() { results <- f.RemoveUser(second, boss) }()
	one, two := <-results, <-results
	if (one == nil) == (two == nil) {
		t.Errorf("two admins removed each other: %v, %v", one, two)
	}
}

func TestRemoveUser(t *testing.T) {
	f := newFixture(t)
	for _, email := range []string{"out@x.example", "in@a.example"} {
		f.user(plantB, email, Member)
		f.user(plantA, email, Member)
		rawKey := func(account string) string {
			_, raw, err := f.CreateKeyFor(Local(account), email, KeyInput{})
			f.want(err, none)
			return f.hide(raw)
		}
		keyA, keyB := rawKey(plantA), rawKey(plantB)
		sessionA, sessionB := f.signIn(plantA, email), f.signIn(plantB, email)
		f.want(f.RemoveUser(f.admin, email), none)

		_, err := f.AuthenticateKey(keyA)
		f.want(err, errdefs.Unauthorized)
		_, err = f.AuthenticateSession(sessionA.Session)
		f.want(err, errdefs.Unauthorized)
		_, err = f.AuthenticateKey(keyB)
		f.want(err, none)
		_, err = f.AuthenticateSession(sessionB.Session)
		f.want(err, none)
		_, err = f.SwitchAccount(sessionB.Principal, plantA)
		f.want(err, errdefs.Forbidden)
		f.want(f.RemoveUser(f.admin, email), errdefs.NotFound)
		_, err = f.User(f.admin, email)
		f.want(err, errdefs.NotFound)
		want := []Membership{{Role: Member, AccountID: plantB, Domain: "b.example"}}
		if diff := cmp.Diff(want, f.Memberships(email)); diff != "" {
			t.Error(diff)
		}

		// After being added again the person can sign in; ended credentials remain invalid.
		f.restart()
		_, err = f.AddUser(f.admin, email, Operator)
		f.want(err, none)
		_, err = f.AuthenticateKey(keyA)
		f.want(err, errdefs.Unauthorized)
		_, err = f.AuthenticateSession(sessionA.Session)
		f.want(err, errdefs.Unauthorized)
		if p := f.keyFor(plantA, email); p.Role != Operator {
			t.Errorf("%+v", p)
		}
	}
	record := f.audited(plantA, "user.remove")[0]
	if diff := cmp.Diff(map[string]string{"role": "member", "keys": "2", "sessions": "1"}, record.Detail); diff != "" {
		t.Error(diff)
	}
	f.want(f.RemoveUser(f.admin, "who@x.example"), errdefs.NotFound)
	f.wantField(f.RemoveUser(f.admin, "who"), "email")
}

func TestDomainUsers(t *testing.T) {
	f := newFixture(t)
	p := f.signIn(plantA, "anyone@a.example").Principal
	if p.Role != Readonly || p.AccountID != plantA || p.Type != TypeSession {
		t.Errorf("%+v", p)
	}
	raw := func() string {
		_, raw, err := f.CreateKey(p, KeyInput{})
		f.want(err, none)
		return f.hide(raw)
	}()
	f.want(f.RemoveUser(f.admin, "anyone@a.example"), none) // never added, refused from now on
	_, err := f.AuthenticateKey(raw)
	f.want(err, errdefs.Unauthorized)
	_, err = f.Login(LoginRequest{Destination: "Anyone@a.example"})
	f.want(err, errdefs.Forbidden)
	f.restart()
	_, err = f.Login(LoginRequest{Destination: "anyone@a.example"})
	f.want(err, errdefs.Forbidden)
	_, err = f.AddUser(f.admin, "anyone@a.example", Member)
	f.want(err, none)
	_, err = f.Login(LoginRequest{Destination: "anyone@a.example"})
	f.want(err, none)
	for _, email := range []string{"x@sub.a.example", "x@aa.example", "x@example"} {
		_, err = f.Login(LoginRequest{Destination: email})
		f.want(err, errdefs.Forbidden)
	}
}

func TestBootstrap(t *testing.T) {
	f := newFixture(t)
	if f.admin.Email != boss || f.admin.Role != Admin || f.admin.AccountID != plantA {
		t.Errorf("%+v", f.admin)
	}
	try := func(email string) error {
		return f.store.Update(func(tx *kv.Tx) error {
			_, _, err := f.BootstrapTx(tx, First{AccountID: plantA, Email: email, Actor: Local(plantA).Actor()})
			return err
		})
	}
	f.want(try(boss), errdefs.Conflict)
	f.wantField(try("boss"), "email")

	// A failed transaction leaves nothing.
	broken := errors.New("broken")
	err := f.store.Update(func(tx *kv.Tx) error {
		raw, _, err := f.BootstrapTx(tx, First{AccountID: plantB, Email: "b@b.example", Actor: Local(plantB).Actor()})
		f.hide(raw)
		return errors.Join(err, broken)
	})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if list, err := f.ListUsers(Local(plantB)); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestRoles(t *testing.T) {
	order := []Role{Admin, Member, Supervisor, Operator, Readonly}
	for i, high := range order {
		for j, low := range order {
			if high.AtLeast(low) != (i <= j) {
				t.Errorf("%s at least %s: %v", high, low, !(i <= j))
			}
		}
		if got, err := ParseRole(string(high)); got != high || err != nil {
			t.Errorf("parse %s: %s, %v", high, got, err)
		}
		if Role("").AtLeast(high) || Role("root").AtLeast(high) {
			t.Errorf("no role is at least %s", high)
		}
	}
	for _, s := range []string{"", "Admin", "admin ", "root"} {
		if _, err := ParseRole(s); errdefs.KindOf(err) != errdefs.Invalid {
			t.Errorf("parse %q: %v", s, err)
		}
	}
	if Role("").AtLeast("") || !Readonly.AtLeast("") {
		t.Error("the empty role")
	}
}

func TestActor(t *testing.T) {
	for _, c := range []struct {
		p    Principal
		want audit.Actor
	}{
		{Principal{Type: TypeAPIKey, KeyID: "k", Email: "e", Address: "a"}, audit.Actor{Email: "e", Credential: "key:k", Address: "a"}},
		{Principal{Type: TypeSession, SessionID: "s", Email: "e"}, audit.Actor{Email: "e", Credential: "session:s"}},
		{Principal{Type: TypeLogin, Email: "e"}, audit.Actor{Email: "e", Credential: "login"}},
		{Local("x"), audit.Actor{Credential: "local"}},
	} {
		if diff := cmp.Diff(c.want, c.p.Actor()); diff != "" {
			t.Error(diff)
		}
	}
	if p := Local("x"); p.Role != Admin || p.UserRole != "system" || p.AccountID != "x" || !p.Expires.Equal(time.Time{}) {
		t.Errorf("%+v", p)
	}
}
