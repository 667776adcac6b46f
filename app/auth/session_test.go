package auth

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/errdefs"
)

func TestCallback(t *testing.T) {
	f := newFixture(t)
	_, err := f.Callback("", "")
	f.wantField(err, "token")
	for _, unknown := range []string{"x", f.hide(first(newToken(prefixLink))), f.hide(first(newToken(prefixKey)))} {
		_, err = f.Callback(unknown, "")
		f.want(err, errdefs.Forbidden)
	}
	link, err := f.LinkOutright(Local(plantA), boss)
	f.want(err, none)
	grant := f.open1(link.Token)
	want := Principal{
		Type: TypeSession, Email: boss, AccountID: plantA, Role: Admin, UserRole: UserRoleCustomer, Address: "10.0.0.9",
		SessionID: grant.Principal.SessionID, Expires: f.watch.Now().Add(SessionLifetime).Truncate(time.Millisecond),
	}
	if diff := cmp.Diff(want, grant.Principal); diff != "" {
		t.Error(diff)
	}
	_, err = f.Callback(link.Token, "")
	f.want(err, errdefs.Conflict)
	f.want(f.Approve(link.Token, link.Code, ""), errdefs.Conflict)
	late, err := f.LinkOutright(Local(plantA), boss)
	f.want(err, none)
	f.watch.advance(15 * time.Minute)
	_, err = f.Callback(f.hide(late.Token), "")
	f.want(err, errdefs.Forbidden)
	_, err = f.Callback(link.Token, "") // used, and expired by now
	f.want(err, errdefs.Forbidden)
}

func TestLinkIsUsedOnce(t *testing.T) {
	f := newFixture(t)
	link, err := f.LinkOutright(Local(plantA), boss)
	f.want(err, none)
	f.hide(link.Token)
	var wins atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			grant, err := f.Callback(link.Token, "")
			if err == nil {
				wins.Add(1)
				f.hide(grant.Session)
				return
			}
			f.want(err, errdefs.Conflict)
		})
	}
	wg.Wait()
	if n := wins.Load(); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestEntersAccountUsedLast(t *testing.T) {
	f := newFixture(t)
	f.user(plantA, "both@x.example", Operator)
	f.user(plantB, "both@x.example", Member)
	enter := func() Grant {
		t.Helper()
		return f.open1(f.linkFor(Local(plantB), f.login("both@x.example").Code).Token)
	}
	grant := enter()
	if grant.Principal.AccountID != plantA { // the first by id
		t.Errorf("%+v", grant.Principal)
	}
	p, err := f.SwitchAccount(grant.Principal, plantB)
	f.want(err, none)
	if p.AccountID != plantB || p.Role != Member || p.SessionID != grant.Principal.SessionID {
		t.Errorf("%+v", p)
	}
	again, err := f.AuthenticateSession(grant.Session)
	f.want(err, none)
	if again.AccountID != plantB {
		t.Errorf("%+v", again)
	}
	f.restart()
	if p := enter().Principal; p.AccountID != plantB {
		t.Errorf("%+v", p)
	}
	f.accounts.archive(plantB, true)
	r := f.login("both@x.example")
	if r.Session.AccountID != plantA {
		t.Errorf("%+v", r.Session)
	}
	_, err = f.SwitchAccount(p, plantB)
	f.want(err, errdefs.Forbidden)
	f.accounts.archive(plantB, false)
	if got := f.audited(plantB, "session.switch"); len(got) != 1 || got[0].Detail["from"] != plantA {
		t.Errorf("%+v", got)
	}
}

func TestSwitchAccount(t *testing.T) {
	f := newFixture(t)
	session := f.signIn(plantA, boss).Principal
	for _, account := range []string{plantB, "nowhere", ""} {
		_, err := f.SwitchAccount(session, account)
		f.want(err, errdefs.Forbidden)
	}
	_, err := f.SwitchAccount(f.admin, plantA)
	f.want(err, errdefs.Forbidden)
	_, err = f.SwitchAccount(Local(plantA), plantA)
	f.want(err, errdefs.Forbidden)
	p, err := f.SwitchAccount(session, plantA)
	f.want(err, none)
	if diff := cmp.Diff(session, p); diff != "" {
		t.Error(diff)
	}
	f.want(f.Logout(session), none)
	_, err = f.SwitchAccount(session, plantA)
	f.want(err, errdefs.Unauthorized)
}

func TestApproveAndClaim(t *testing.T) {
	f := newFixture(t)
	r := f.login(boss)
	_, err := f.Claim(r.LoginToken, "")
	f.want(err, errdefs.Conflict)
	link := f.linkFor(f.admin, r.Code)
	_, err = f.Claim(r.LoginToken, "")
	f.want(err, errdefs.Conflict) // a new link, the same waiting browser
	f.wantField(f.Approve("", r.Code, ""), "token")
	f.want(f.Approve("x", r.Code, ""), errdefs.Forbidden)
	f.want(f.Approve(link.Token, other(r.Code), ""), errdefs.Forbidden)
	f.want(f.Approve(link.Token, r.Code, "10.0.0.8"), none)
	f.want(f.Approve(link.Token, r.Code, ""), errdefs.Conflict)
	_, err = f.Callback(link.Token, "")
	f.want(err, errdefs.Conflict)
	grant, err := f.Claim(r.LoginToken, "10.0.0.7")
	f.want(err, none)
	f.hide(grant.Session)
	if p := grant.Principal; p.Email != boss || p.Role != Admin || p.Type != TypeSession || p.Address != "10.0.0.7" {
		t.Errorf("%+v", p)
	}
	_, err = f.Claim(r.LoginToken, "")
	f.want(err, errdefs.Forbidden) // only once
	for _, wrong := range []string{"", "x", f.hide(first(newToken(prefixWait)))} {
		_, err = f.Claim(wrong, "")
		f.want(err, errdefs.Forbidden)
	}
	got := f.audited(plantA, "login.approve")
	if len(got) != 1 || got[0].Actor.Address != "10.0.0.8" || got[0].Detail["from"] != "10.0.0.7" {
		t.Errorf("%+v", got)
	}
}

// other returns a different code.
func other(code string) string {
	if code == "12345" {
		return "54321"
	}
	return "12345"
}

func TestWrongCodesKillTheLink(t *testing.T) {
	f := newFixture(t)
	r := f.login(boss)
	link := f.linkFor(f.admin, r.Code)
	for range 4 {
		f.want(f.Approve(link.Token, other(r.Code), ""), errdefs.Forbidden)
	}
	f.restart()
	f.want(f.Approve(link.Token, other(r.Code), ""), errdefs.Forbidden)
	f.want(f.Approve(link.Token, r.Code, ""), errdefs.Forbidden)
	_, err := f.Callback(link.Token, "")
	f.want(err, errdefs.Forbidden)
	_, err = f.Claim(r.LoginToken, "")
	f.want(err, errdefs.Forbidden)
	_, err = f.LinkFor(f.admin, r.Code)
	f.want(err, errdefs.NotFound)
}

func TestClaimEnds(t *testing.T) {
	f := newFixture(t)
	r := f.login(boss) // the requesting browser opens the link itself
	f.open1(f.linkFor(f.admin, r.Code).Token)
	_, err := f.Claim(r.LoginToken, "")
	f.want(err, errdefs.Forbidden)

	r = f.login(boss) // approved, but claimed too late
	f.want(f.Approve(f.linkFor(f.admin, r.Code).Token, r.Code, ""), none)
	f.watch.advance(15 * time.Minute)
	_, err = f.Claim(r.LoginToken, "")
	f.want(err, errdefs.Forbidden)

	f.user(plantA, "gone@x.example", Member) // approved, but removed before the claim
	r = f.login("gone@x.example")
	f.want(f.Approve(f.linkFor(f.admin, r.Code).Token, r.Code, ""), none)
	f.want(f.RemoveUser(f.admin, "gone@x.example"), none)
	_, err = f.Claim(r.LoginToken, "")
	f.want(err, errdefs.Forbidden)
}

func TestLogout(t *testing.T) {
	f := newFixture(t)
	one, two := f.signIn(plantA, boss), f.signIn(plantA, boss)
	f.want(f.Logout(one.Principal), none)
	f.want(f.Logout(one.Principal), none)
	_, err := f.AuthenticateSession(one.Session)
	f.want(err, errdefs.Unauthorized)
	_, err = f.AuthenticateSession(two.Session)
	f.want(err, none)
	_, raw, err := f.CreateKey(f.admin, KeyInput{})
	f.want(err, none)
	f.want(f.Logout(f.key(raw)), none)
	f.key(raw)
	if n := len(f.audited(plantA, "session.end")); n != 1 {
		t.Errorf("%d records", n)
	}
}

func TestSessionSlides(t *testing.T) {
	f := newFixture(t)
	grant := f.signIn(plantA, boss)
	use := func(wantRenew bool) {
		t.Helper()
		p, err := f.AuthenticateSession(grant.Session)
		f.want(err, none)
		if p.RenewCookie != wantRenew {
			t.Errorf("renew %v", p.RenewCookie)
		}
		if want := f.watch.Now().Add(SessionLifetime).Truncate(time.Millisecond); wantRenew && !p.Expires.Equal(want) {
			t.Errorf("expires %v, want %v", p.Expires, want)
		}
	}
	use(false)
	f.watch.advance(59 * time.Minute)
	use(false)
	f.watch.advance(time.Minute)
	use(true)
	use(false)
	f.watch.advance(SessionLifetime - time.Minute)
	f.want(f.Sweep(f.watch.Now()), none) // the memory is ahead of the store
	use(true)
	f.restart()
	f.watch.advance(SessionLifetime - time.Millisecond)
	use(true)
	f.watch.advance(SessionLifetime)
	_, err := f.AuthenticateSession(grant.Session)
	f.want(err, errdefs.Unauthorized)
	_, err = f.ListUsers(grant.Principal)
	f.want(err, errdefs.Unauthorized)
}

// TestSwitchAccountKeepsTheEnd checks that a session that switches its account keeps its end, which is not stored
// yet.
func TestSwitchAccountKeepsTheEnd(t *testing.T) {
	f := newFixture(t)
	f.user(plantA, "both@x.example", Operator)
	f.user(plantB, "both@x.example", Member)
	grant := f.signIn(plantA, "both@x.example")
	f.watch.advance(SessionLifetime - time.Minute)
	p, err := f.AuthenticateSession(grant.Session)
	f.want(err, none)
	_, err = f.SwitchAccount(p, plantB)
	f.want(err, none)
	f.watch.advance(time.Hour)
	_, err = f.AuthenticateSession(grant.Session)
	f.want(err, none)
}

func TestSessionFollowsRole(t *testing.T) {
	f := newFixture(t)
	f.user(plantA, "m@x.example", Member)
	grant := f.signIn(plantA, "m@x.example")
	for _, role := range []Role{Operator, Admin} {
		_, err := f.SetRole(f.admin, "m@x.example", role)
		f.want(err, none)
		p, err := f.AuthenticateSession(grant.Session)
		f.want(err, none)
		if p.Role != role {
			t.Errorf("role %s, want %s", p.Role, role)
		}
	}
	for _, wrong := range []string{"", "x", f.hide(first(newToken(prefixSession)))} {
		_, err := f.AuthenticateSession(wrong)
		f.want(err, errdefs.Unauthorized)
	}
}

func TestTablets(t *testing.T) {
	f := newFixture(t)
	in := TabletInput{Name: "Press  Line 4", StationCodes: []string{"press-4", "Oven_2"}}
	for role, p := range f.everyRole() {
		if role != Admin {
			_, err := f.PairTablet(p, in)
			f.want(err, errdefs.Forbidden)
			_, err = f.ListTablets(p)
			f.want(err, errdefs.Forbidden)
			f.want(f.RevokeTablet(p, "x"), errdefs.Forbidden)
		}
	}
	paired, err := f.PairTablet(f.admin, in)
	f.want(err, none)
	tablet := paired.Tablet
	if tablet.Email != "tablet:press-line-4@a.example" || tablet.Role != Operator || tablet.PairedAt != nil {
		t.Errorf("%+v", tablet)
	}
	_, err = f.PairTablet(f.admin, TabletInput{Name: "press line 4", StationCodes: []string{"x"}})
	f.want(err, errdefs.Conflict)
	f.want(f.Approve(f.hide(paired.Token), "", ""), errdefs.Conflict)

	grant := f.open1(paired.Token)
	p := grant.Principal
	if p.Type != TypeSession || p.Role != Operator || p.Email != tablet.Email || p.AccountID != plantA {
		t.Errorf("%+v", p)
	}
	f.restart()
	p, err = f.AuthenticateSession(grant.Session)
	f.want(err, none)
	if diff := cmp.Diff(in.StationCodes, p.StationCodes); diff != "" {
		t.Error(diff)
	}
	list, err := f.ListTablets(f.admin)
	f.want(err, none)
	if len(list) != 1 || list[0].PairedAt == nil || list[0].ID != tablet.ID {
		t.Errorf("%+v", list)
	}
	_, _, err = f.CreateKey(p, KeyInput{})
	f.want(err, errdefs.Forbidden)
	_, err = f.SwitchAccount(p, plantA)
	f.want(err, errdefs.Forbidden)
	_, err = f.Callback(paired.Token, "")
	f.want(err, errdefs.Conflict)

	f.want(f.RevokeTablet(f.admin, tablet.ID), none)
	_, err = f.AuthenticateSession(grant.Session)
	f.want(err, errdefs.Unauthorized)
	f.want(f.RevokeTablet(f.admin, tablet.ID), errdefs.NotFound)

	// Revoked before it was paired, and logged out.
	paired, err = f.PairTablet(f.admin, in)
	f.want(err, none)
	f.want(f.RevokeTablet(f.admin, paired.Tablet.ID), none)
	_, err = f.Callback(f.hide(paired.Token), "")
	f.want(err, errdefs.Forbidden)
	paired, err = f.PairTablet(f.admin, in)
	f.want(err, none)
	f.want(f.Logout(f.open1(paired.Token).Principal), none)
	list, err = f.ListTablets(f.admin)
	f.want(err, none)
	if list == nil || len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestTabletInput(t *testing.T) {
	f := newFixture(t)
	many := make([]string, 1001)
	for i := range many {
		many[i] = fmt.Sprint("s", i)
	}
	for _, c := range []struct {
		in     TabletInput
		fields []string
	}{
		{TabletInput{}, []string{"name", "stationCodes"}},
		{TabletInput{Name: " ", Role: Supervisor}, []string{"name"}},
		{TabletInput{Name: "a\x00", Role: Admin}, []string{"name", "role"}},
		{TabletInput{Name: "a", Role: Member, StationCodes: []string{"s"}}, []string{"role"}},
		{TabletInput{Name: "a", StationCodes: []string{"s", "", "a b", "s"}}, []string{"stationCodes[1]", "stationCodes[2]", "stationCodes[3]"}},
		{TabletInput{Name: "a", StationCodes: many}, []string{"stationCodes"}},
	} {
		_, err := f.PairTablet(f.admin, c.in)
		f.wantField(err, c.fields...)
	}
	for _, role := range []Role{Supervisor, Readonly} {
		r, err := f.PairTablet(f.admin, TabletInput{Name: string(role), Role: role})
		f.want(err, none)
		if p := f.open1(r.Token).Principal; p.Role != role {
			t.Errorf("%+v", p)
		}
	}
}

// TestNameOfARevokedTablet checks that a tablet revoked during its request is reported as signed out, not as never
// paired.
func TestNameOfARevokedTablet(t *testing.T) {
	f := newFixture(t)
	tablet, err := f.PairTablet(f.admin, TabletInput{Name: "Hall 2", StationCodes: []string{"s"}})
	f.want(err, none)
	grant := f.open1(tablet.Token)
	p, err := f.AuthenticateSession(grant.Session)
	f.want(err, none)
	if name, err := f.TabletName(p); err != nil || name != "Hall 2" {
		t.Errorf("%q, %v", name, err)
	}
	f.want(f.RevokeTablet(f.admin, tablet.Tablet.ID), none)
	_, err = f.TabletName(p)
	f.want(err, errdefs.Unauthorized)
}
