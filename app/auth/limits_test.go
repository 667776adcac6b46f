package auth

import (
	"sync"
	"testing"
	"time"

	"opsmon/app/errdefs"
	"opsmon/kv"
)

// TestRevokedBySeveralAtOnce checks that a key is invalid once any revocation has returned, also one that found it
// already revoked.
func TestRevokedBySeveralAtOnce(t *testing.T) {
	f := newFixture(t)
	for range 200 {
		key, raw, err := f.CreateKey(f.admin, KeyInput{})
		f.want(err, none)
		f.hide(raw)
		var alive sync.Map
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				if err := f.RevokeKey(f.admin, key.ID); err != nil {
					t.Errorf("revoke: %v", err)
				}
				if _, err := f.AuthenticateKey(raw); err == nil {
					alive.Store(i, true)
				}
			})
		}
		all.Wait()
		alive.Range(func(i, _ any) bool {
			t.Fatalf("the key was alive after revocation %v had answered", i)
			return false
		})
	}
}

func TestKeyOfAKeyEndsWithIt(t *testing.T) {
	f := newFixture(t)
	ends := f.watch.Now().Add(24 * time.Hour)
	_, raw, err := f.CreateKey(f.admin, KeyInput{ExpiresAt: &ends})
	f.want(err, none)
	short := f.key(raw)

	child, raw, err := f.CreateKey(short, KeyInput{})
	f.want(err, none)
	f.hide(raw)
	if child.ExpiresAt == nil || !child.ExpiresAt.Equal(short.Expires) {
		t.Errorf("a key without an end of its own ends at %v, want %v", child.ExpiresAt, short.Expires)
	}
	sooner, later := ends.Add(-time.Hour), ends.Add(time.Hour)
	child, raw, err = f.CreateKey(short, KeyInput{ExpiresAt: &sooner})
	f.want(err, none)
	f.hide(raw)
	if !child.ExpiresAt.Equal(sooner.Truncate(time.Millisecond)) {
		t.Errorf("it ends at %v, want %v", child.ExpiresAt, sooner)
	}
	_, _, err = f.CreateKey(short, KeyInput{ExpiresAt: &later})
	f.want(err, errdefs.Forbidden)
}

// TestSessionOfAWrongClock checks that a session created while the clock was years ahead is valid for at most 30 days
// once the clock is correct.
func TestSessionOfAWrongClock(t *testing.T) {
	f := newFixture(t)
	f.user(plantA, "ann@a.example", Member)
	years := 9 * 365 * 24 * time.Hour
	f.watch.advance(years)
	grant := f.signIn(plantA, "ann@a.example")
	f.watch.advance(-years)
	p, err := f.AuthenticateSession(grant.Session)
	f.want(err, none)
	if most := f.watch.Now().Add(SessionLifetime); p.Expires.After(most) {
		t.Errorf("it ends at %v, want at most %v", p.Expires, most)
	}
	f.watch.advance(SessionLifetime + time.Minute)
	_, err = f.AuthenticateSession(grant.Session)
	f.want(err, errdefs.Unauthorized)
}

// TestAuthorize checks that the transaction refuses an operation that began before a revocation.
func TestAuthorize(t *testing.T) {
	f := newFixture(t)
	member := f.user(plantA, "mem@a.example", Member)
	check := func(need Role) (err error) {
		_ = f.store.Update(func(tx *kv.Tx) error {
			err = f.Authorize(tx, member, need)
			return nil
		})
		return err
	}
	f.want(check(Member), none)
	f.want(check(Admin), errdefs.Forbidden)
	_, err := f.SetRole(f.admin, "mem@a.example", Readonly)
	f.want(err, none)
	f.want(check(Member), errdefs.Forbidden)
	f.want(f.RevokeKey(f.admin, member.KeyID), none)
	f.want(check(Readonly), errdefs.Unauthorized)
}
