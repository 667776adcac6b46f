package auth

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

func (f *fixture) login(email string) LoginResult {
	f.t.Helper()
	r, err := f.Login(LoginRequest{Destination: email, Address: "10.0.0.7", BaseURL: "http://plant.local"})
	if err != nil {
		f.t.Fatal(err)
	}
	f.hide(r.LoginToken)
	return r
}

func (f *fixture) linkFor(p Principal, code string) Link {
	f.t.Helper()
	link, err := f.LinkFor(p, code)
	if err != nil {
		f.t.Fatal(err)
	}
	f.hide(link.Token)
	return link
}

func TestLoginRefuses(t *testing.T) {
	f := newFixture(t)
	for _, wrong := range []string{"", "x", "a@b@c", "@a.example", "boss@a.example\r\nBcc: x@y.example"} {
		_, err := f.Login(LoginRequest{Destination: wrong})
		f.wantField(err, "destination")
	}
	_, err := f.Login(LoginRequest{Destination: "who@x.example"})
	f.want(err, errdefs.Forbidden)
}

func TestLoginResult(t *testing.T) {
	f := newFixture(t)
	r := f.login("Boss@a.EXAMPLE")
	if !regexp.MustCompile(`^\d{5}$`).MatchString(r.Code) {
		t.Errorf("code %q", r.Code)
	}
	want := Principal{
		Type: TypeLogin, Email: boss, AccountID: plantA, Role: Readonly, UserRole: UserRoleCustomer, Address: "10.0.0.7",
		Expires: f.watch.Now().Add(15 * time.Minute).Truncate(time.Millisecond),
	}
	if diff := cmp.Diff(want, r.Session); diff != "" {
		t.Error(diff)
	}
	if _, ok := parseToken(prefixWait, r.LoginToken); !ok {
		t.Error("the login token has another form")
	}
	_, err := f.AuthenticateSession(r.LoginToken)
	f.want(err, errdefs.Unauthorized)
}

func TestCodesAreUnique(t *testing.T) {
	f := newFixture(t)
	seen := map[string]bool{}
	for i := range 60 {
		r, err := f.Login(LoginRequest{Destination: string(rune('a'+i%26)) + string(rune('a'+i/26)) + "@a.example", Address: string(rune('a' + i/10))})
		f.want(err, none)
		if seen[r.Code] {
			t.Errorf("code %s twice", r.Code)
		}
		seen[r.Code] = true
	}
}

func TestEveryCodeIsTaken(t *testing.T) {
	apptest.Long(t)
	f := newFixture(t)
	all := func(change func(tx *kv.Tx, code string) error) {
		t.Helper()
		err := f.store.Update(func(tx *kv.Tx) error {
			for n := range 100_000 {
				if err := change(tx, fmt.Sprintf("%05d", n)); err != nil {
					return err
				}
			}
			return nil
		})
		f.want(err, none)
	}
	all(func(tx *kv.Tx, code string) error { return codes.Put(tx, code, nil) })
	_, err := f.Login(LoginRequest{Destination: boss})
	f.want(err, errdefs.Unavailable)
	if n := len(f.audited(plantA, "login.request")); n != 0 {
		t.Errorf("%d records of what was not done", n)
	}
	all(func(tx *kv.Tx, code string) error { return codes.Delete(tx, code) })
	f.login(boss)
}

func TestPendingLogins(t *testing.T) {
	f := newFixture(t)
	f.user(plantB, "both@x.example", Admin)
	f.user(plantA, "both@x.example", Operator)
	f.user(plantB, "only.b@x.example", Admin)
	first := f.login("both@x.example")
	f.watch.advance(time.Minute)
	second := f.login(boss)
	f.login("only.b@x.example")
	for role, p := range f.everyRole() {
		list, err := f.PendingLogins(p)
		if role != Admin {
			f.want(err, errdefs.Forbidden)
			continue
		}
		f.want(err, none)
		now := instant.Of(f.watch.Now())
		want := []PendingLogin{
			{second.Code, boss, Admin, plantA, "10.0.0.7", now, instant.Of(now.Add(15 * time.Minute))},
			{first.Code, "both@x.example", Operator, plantA, "10.0.0.7", instant.Of(now.Add(-time.Minute)), instant.Of(now.Add(14 * time.Minute))},
		}
		if diff := cmp.Diff(want, list); diff != "" {
			t.Error(diff)
		}
	}
	f.watch.advance(14 * time.Minute)
	list, err := f.PendingLogins(f.admin)
	f.want(err, none)
	if len(list) != 1 || list[0].Code != second.Code {
		t.Errorf("%+v", list)
	}
	f.open1(f.linkFor(f.admin, second.Code).Token)
	list, err = f.PendingLogins(f.admin)
	f.want(err, none)
	if list == nil || len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestLinkFor(t *testing.T) {
	f := newFixture(t)
	r := f.login(boss)
	for role, p := range f.everyRole() {
		if role != Admin {
			_, err := f.LinkFor(p, r.Code)
			f.want(err, errdefs.Forbidden)
		}
	}
	link := f.linkFor(f.admin, r.Code)
	want := Link{
		Token: link.Token, Code: r.Code, ExpiresAt: r.Session.Expires, Email: boss, Role: Admin, Account: plantA, From: "10.0.0.7",
	}
	if diff := cmp.Diff(want, link); diff != "" {
		t.Error(diff)
	}
	if url := LinkURL("https://plant.local/", "opl_x"); url != "https://plant.local/link#opl_x" {
		t.Error(url)
	}
	again := f.linkFor(f.admin, r.Code)
	_, err := f.Callback(link.Token, "")
	f.want(err, errdefs.Forbidden) // replaced
	f.open1(again.Token)
	_, err = f.LinkFor(f.admin, r.Code) // no longer pending
	f.want(err, errdefs.NotFound)
	for _, unknown := range []string{"", "x", "00000", "99999"} {
		if unknown != r.Code {
			_, err = f.LinkFor(f.admin, unknown)
			f.want(err, errdefs.NotFound)
		}
	}
	f.user(plantB, "b@x.example", Member)
	_, err = f.LinkFor(f.admin, f.login("b@x.example").Code) // another account's
	f.want(err, errdefs.NotFound)
	r = f.login(boss)
	f.watch.advance(15 * time.Minute)
	_, err = f.LinkFor(f.admin, r.Code)
	f.want(err, errdefs.NotFound)
}

// TestAdminsLinkStaysInTheirAccount checks that an admin of one account cannot get into another one as its user.
func TestAdminsLinkStaysInTheirAccount(t *testing.T) {
	f := newFixture(t)
	f.user(plantB, "both@x.example", Admin)
	f.signIn(plantB, "both@x.example") // last used
	f.user(plantA, "both@x.example", Readonly)
	r := f.login("both@x.example")
	if r.Session.AccountID != plantB {
		t.Errorf("%+v", r.Session)
	}
	grant := f.open1(f.linkFor(f.admin, r.Code).Token)
	if p := grant.Principal; p.AccountID != plantA || p.Role != Readonly {
		t.Errorf("%+v", p)
	}
	_, err := f.SwitchAccount(grant.Principal, plantB)
	f.want(err, errdefs.Forbidden)

	// If its account is gone, the link opens no other.
	link := f.linkFor(f.admin, f.login("both@x.example").Code)
	f.want(f.RemoveUser(f.admin, "both@x.example"), none)
	_, err = f.Callback(link.Token, "")
	f.want(err, errdefs.Forbidden)

	// The command line's link opens the person's own account.
	grant = f.open1(f.linkFor(Local(plantB), f.login("both@x.example").Code).Token)
	if p := grant.Principal; p.AccountID != plantB || p.Role != Admin {
		t.Errorf("%+v", p)
	}
}

func TestLinkOutright(t *testing.T) {
	f := newFixture(t)
	link, err := f.LinkOutright(Local(plantA), "BOSS@a.example")
	f.want(err, none)
	if link.Email != boss || link.Role != Admin || link.Account != plantA || len(link.Code) != 5 {
		t.Errorf("%+v", link)
	}
	f.want(f.Approve(f.hide(link.Token), link.Code, ""), errdefs.Conflict) // no browser waits
	f.open1(link.Token)
	_, err = f.LinkOutright(Local(plantA), "who@x.example")
	f.want(err, errdefs.NotFound)
	_, err = f.LinkOutright(Local(plantA), "who")
	f.wantField(err, "email")
	_, err = f.LinkOutright(f.admin, boss)
	f.want(err, errdefs.Forbidden)
	_, err = f.LinkOutright(Local("nowhere"), boss)
	f.want(err, errdefs.NotFound)
}

// TestLoginThrottle checks the limits of 20 requests from one address and 5 of them for one person within 15 minutes.
func TestLoginThrottle(t *testing.T) {
	f := newFixture(t)
	ask := func(email, address string) error {
		_, err := f.Login(LoginRequest{Destination: email, Address: address})
		return err
	}
	for range 5 {
		f.want(ask("x@a.example", "10.0.0.1"), none)
	}
	err := ask("X@a.example", "10.0.0.1:99")
	f.want(err, errdefs.TooMany)
	if e := err.(*errdefs.Error); e.RetryAfter != 3*time.Minute || !strings.Contains(e.Message, "20 requests in 15 minutes, and 5 for one person") {
		t.Errorf("%+v", e)
	}
	f.want(ask("x@a.example", "10.0.0.2"), none) // a stranger cannot lock anybody out
	f.watch.advance(3 * time.Minute)
	f.want(ask("x@a.example", "10.0.0.1"), none)
	for i := range 20 {
		f.want(ask(string(rune('a'+i))+"@a.example", "2001:db8::1"), none)
	}
	f.want(ask("z@a.example", "2001:db8::2"), errdefs.TooMany) // the same network
	f.want(ask("z@a.example", "2001:db8:0:1::2"), none)
}

// TestManyAddressesLockNobodyOut checks that requests from many addresses for one person share a limit, and that the
// person can still sign in from a known address, also after a restart.
func TestManyAddressesLockNobodyOut(t *testing.T) {
	f := newFixture(t)
	const email, desk, home = "x@a.example", "10.0.1.1", "10.0.1.2"
	ask := func(address string) (LoginResult, error) {
		return f.Login(LoginRequest{Destination: email, Address: address})
	}
	enter := func(address string) Grant {
		t.Helper()
		login, err := ask(address)
		f.want(err, none)
		g, err := f.Callback(f.hide(f.linkFor(Local(plantA), login.Code).Token), address)
		f.want(err, none)
		f.hide(g.Session)
		return g
	}
	enter(desk)
	left := enter(home)
	f.want(f.Logout(left.Principal), none)
	refused := 0
	for i := range 100 {
		if _, err := ask(fmt.Sprintf("10.0.0.%d", i)); err != nil {
			f.want(err, errdefs.TooMany)
			refused++
		}
	}
	if refused != 100-30+2 { // the person's first requests came from unknown addresses too
		t.Errorf("%d of 100 are refused", refused)
	}
	for _, address := range []string{desk, home} { // the second has no session any more
		for range 4 {
			_, err := ask(address)
			f.want(err, none)
		}
		_, err := ask(address)
		f.want(err, errdefs.TooMany)
	}
	f.restart()
	for i := range 30 {
		_, err := ask(fmt.Sprintf("10.0.0.%d", i))
		f.want(err, none)
	}
	_, err := ask("10.0.0.99")
	f.want(err, errdefs.TooMany)
	_, err = ask(desk)
	f.want(err, none)
	f.watch.advance(31 * 24 * time.Hour)
	if f.familiar(email, desk, f.watch.Now()) {
		t.Error("an address is the person's for ever")
	}
}
