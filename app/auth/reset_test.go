package auth

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/errdefs"
	"opsmon/kv"
)

func TestResetAdmin(t *testing.T) {
	const who = "lost@a.example"
	for was, before := range map[string]func(f *fixture){
		"none":   func(*fixture) {},
		"member": func(f *fixture) { f.user(plantA, who, Member) },
		"admin":  func(f *fixture) { f.user(plantA, who, Admin) },
		"removed": func(f *fixture) {
			f.user(plantA, who, Member)
			f.want(f.RemoveUser(f.admin, who), none)
		},
	} {
		t.Run(was, func(t *testing.T) {
			f := newFixture(t)
			before(f)
			var session, elsewhere Grant
			if was != "removed" {
				session = f.signIn(plantA, who)
				f.want(f.add(plantB, who), none)
				elsewhere = f.signIn(plantB, who)
			}
			other := f.signIn(plantA, boss)
			late, lateErr := f.LinkOutright(Local(plantA), who)
			f.hide(late.Token)
			link, err := f.ResetAdmin(Local(plantA), "LOST@a.example")
			f.want(err, none)
			if link.Email != who || link.Role != Admin || link.Account != plantA {
				t.Errorf("%+v", link)
			}
			for _, ended := range []Grant{session, elsewhere} {
				if ended.Session == "" {
					continue
				}
				_, err = f.AuthenticateSession(ended.Session)
				f.want(err, errdefs.Unauthorized)
			}
			if _, err := f.AuthenticateSession(other.Session); err != nil {
				t.Errorf("another's session: %v", err)
			}
			if lateErr == nil {
				_, err = f.Callback(late.Token, "10.0.0.9")
				f.want(err, errdefs.Forbidden)
			}
			grant := f.open1(link.Token)
			if grant.Principal.Role != Admin || grant.Principal.AccountID != plantA {
				t.Errorf("%+v", grant.Principal)
			}
			_, err = f.ListUsers(grant.Principal)
			f.want(err, none)
			record := f.audited(plantA, "user.resetAdmin")[0]
			want := map[string]string{"was": was, "sessions": "2"}
			if was == "removed" {
				want["sessions"] = "0"
			}
			if diff := cmp.Diff(want, record.Detail); diff != "" || record.Target != who || record.Actor.Credential != "local" {
				t.Errorf("%+v: %s", record, diff)
			}
			f.restart()
			if _, err := f.AuthenticateSession(grant.Session); err != nil {
				t.Error(err)
			}
		})
	}
}

// add adds a member to an account.
func (f *fixture) add(accountID, email string) error {
	_, err := f.AddUser(Local(accountID), email, Member)
	return err
}

func TestResetAdminRefuses(t *testing.T) {
	f := newFixture(t)
	_, err := f.ResetAdmin(f.admin, boss)
	f.want(err, errdefs.Forbidden)
	_, err = f.ResetAdmin(Local(plantA), "nobody")
	f.wantField(err, "email")
	_, err = f.ResetAdmin(Local("nowhere"), boss)
	f.want(err, errdefs.NotFound)
	f.accounts.archive(plantA, true)
	_, err = f.ResetAdmin(Local(plantA), boss)
	f.want(err, errdefs.Conflict)
	err = f.store.View(func(tx *kv.Tx) error {
		if n := links.Count(tx); n != 0 {
			t.Errorf("%d links", n)
		}
		return nil
	})
	f.want(err, none)
}
