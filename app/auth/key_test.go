package auth

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"opsmon/app/errdefs"
)

func TestCreateKeyRoles(t *testing.T) {
	f := newFixture(t)
	for own, p := range f.everyRole() {
		for _, asked := range []Role{"", Admin, Member, Supervisor, Operator, Readonly} {
			key, raw, err := f.CreateKey(p, KeyInput{Name: "made", Role: asked})
			if asked.Rank() > own.Rank() {
				f.want(err, errdefs.Forbidden)
				continue
			}
			f.want(err, none)
			wanted := asked
			if asked == "" {
				wanted = own
			}
			got := f.key(raw)
			if got.Role != wanted || key.Role != wanted || got.KeyID != key.ID || got.Email != p.Email || got.AccountID != plantA {
				t.Errorf("%s asked for %q: key %+v, principal %+v", own, asked, key, got)
			}
			if got.Type != TypeAPIKey || got.UserRole != UserRoleCustomer || !got.Expires.IsZero() {
				t.Errorf("principal %+v", got)
			}
		}
	}
}

func TestKeyForm(t *testing.T) {
	f := newFixture(t)
	key, raw, err := f.CreateKey(f.admin, KeyInput{Name: "PLC gateway"})
	f.want(err, none)
	f.hide(raw)
	if !regexp.MustCompile(`^opk_[a-z2-7]{40}$`).MatchString(raw) {
		t.Error("the key has another form")
	}
	if !regexp.MustCompile(`^[a-z2-7]{12}$`).MatchString(key.ID) {
		t.Errorf("id %q", key.ID)
	}
	text, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"id":%q,"name":"PLC gateway","email":%q,"role":"admin","createdAt":"2026-11-20T08:15:30.123Z","lastUsedAt":null,"expiresAt":null}`, key.ID, boss)
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestCreateKeyInvalid(t *testing.T) {
	f := newFixture(t)
	now := f.watch.Now()
	past, far := now, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	long := string(slices.Repeat([]rune{'é'}, 101))
	for _, c := range []struct {
		in     KeyInput
		fields []string
	}{
		{KeyInput{ExpiresAt: &past}, []string{"expiresAt"}},
		{KeyInput{ExpiresAt: &far}, []string{"expiresAt"}},
		{KeyInput{Role: "root"}, []string{"role"}},
		{KeyInput{Name: long}, []string{"name"}},
		{KeyInput{Name: "a\nb"}, []string{"name"}},
		{KeyInput{Name: "a\xff"}, []string{"name"}},
		{KeyInput{Name: long, Role: "Admin", ExpiresAt: &past}, []string{"name", "role", "expiresAt"}},
	} {
		_, _, err := f.CreateKey(f.admin, c.in)
		f.wantField(err, c.fields...)
	}
	_, _, err := f.CreateKey(f.admin, KeyInput{Name: long[:128]}) // 64 characters of two bytes
	f.want(err, none)
	_, _, err = f.CreateKey(Local(plantA), KeyInput{})
	f.want(err, errdefs.Forbidden)
	_, _, err = f.CreateKey(Principal{Type: TypeLogin, Email: boss, AccountID: plantA, Role: Readonly}, KeyInput{})
	f.want(err, errdefs.Forbidden)
}

func TestKeyExpires(t *testing.T) {
	f := newFixture(t)
	at := f.watch.Now().Add(time.Hour)
	_, raw, err := f.CreateKey(f.admin, KeyInput{ExpiresAt: &at})
	f.want(err, none)
	p := f.key(raw)
	if want := at.Truncate(time.Millisecond); !p.Expires.Equal(want) {
		t.Errorf("expires %v, want %v", p.Expires, want)
	}
	f.watch.advance(time.Hour)
	_, err = f.AuthenticateKey(raw)
	f.want(err, errdefs.Unauthorized)
	_, _, err = f.CreateKey(p, KeyInput{})
	f.want(err, errdefs.Unauthorized) // authenticated before its end, written after it
}

func TestRevokeKey(t *testing.T) {
	f := newFixture(t)
	roles := f.everyRole()
	other := f.user(plantB, "x@b.example", Admin)
	issue := func(p Principal) (Key, string) {
		key, raw, err := f.CreateKey(p, KeyInput{})
		f.want(err, none)
		return key, f.hide(raw)
	}
	dead := func(raw string) {
		t.Helper()
		_, err := f.AuthenticateKey(raw)
		f.want(err, errdefs.Unauthorized)
	}

	for role, p := range roles {
		key, raw := issue(p)
		f.want(f.RevokeKey(p, raw), none) // the caller's own, raw
		dead(raw)
		f.want(f.RevokeKey(p, raw), none) // a second time
		f.want(f.RevokeKey(p, key.ID), none)
		key, raw = issue(p)
		f.want(f.RevokeKey(p, key.ID), none) // by id
		dead(raw)
		_, raw = issue(p)
		self := f.key(raw)
		f.want(f.RevokeKey(self, raw), none) // the key of the request
		f.want(f.RevokeKey(self, raw), none) // two such requests overlap
		_, _, err := f.CreateKey(self, KeyInput{})
		f.want(err, errdefs.Unauthorized)
		dead(raw)

		// Another person's.
		key, raw = issue(f.admin)
		if role == Admin {
			f.want(f.RevokeKey(p, key.ID), none)
			f.want(f.RevokeKey(p, raw), none)
			dead(raw)
		} else {
			f.want(f.RevokeKey(p, key.ID), errdefs.Forbidden)
			f.want(f.RevokeKey(p, raw), errdefs.Forbidden)
			f.key(raw)
		}
	}

	key, raw := issue(f.admin)
	f.want(f.RevokeKey(other, raw), errdefs.Forbidden) // another account's
	f.wantField(f.RevokeKey(other, key.ID), "key")
	f.wantField(f.RevokeKey(Local(plantB), key.ID), "key")
	f.want(f.RevokeKey(Local(plantA), key.ID), none)
	f.want(f.RevokeKey(other, raw), errdefs.Forbidden) // also if it is revoked
	for _, never := range []string{"", "x", "new", "aaaaaaaaaaaa", f.hide(first(newToken(prefixKey))), f.hide(raw + "x"), f.hide(first(newToken(prefixSession)))} {
		f.wantField(f.RevokeKey(f.admin, never), "key")
	}
	if got := f.audited(plantA, "key.revoke")[0]; got.Target != key.ID || got.Actor.Credential != "local" {
		t.Errorf("audit %+v", got)
	}
}

func first[A, B any](a A, _ B) A { return a }

func TestListKeys(t *testing.T) {
	f := newFixture(t)
	for role, p := range f.everyRole() {
		list, err := f.ListKeys(p)
		f.want(err, none)
		want := 1
		if role == Admin {
			want = 6
		}
		if len(list) != want {
			t.Errorf("%s sees %d keys, want %d", role, len(list), want)
		}
	}
	f.user(plantB, "x@b.example", Admin)
	f.watch.advance(time.Second)
	later := f.watch.Now().Truncate(time.Millisecond)
	_, raw, err := f.CreateKey(f.admin, KeyInput{Name: "last"})
	f.want(err, none)
	f.key(raw)
	list, err := f.ListKeys(Local(plantA))
	f.want(err, none)
	if len(list) != 7 || list[6].Name != "last" {
		t.Fatalf("list %+v", list)
	}
	if used := list[6].LastUsedAt; used == nil || !used.Equal(later) {
		t.Errorf("last used %v, want %v", used, later)
	}
	_, err = f.ListKeys(Principal{Type: TypeLogin, AccountID: plantA, Role: Readonly})
	f.want(err, errdefs.Forbidden)
}

func TestCreateKeyFor(t *testing.T) {
	f := newFixture(t)
	f.user(plantA, "op@x.example", Operator)
	_, raw, err := f.CreateKeyFor(Local(plantA), "OP@x.example", KeyInput{})
	f.want(err, none)
	if p := f.key(raw); p.Role != Operator || p.Email != "op@x.example" {
		t.Errorf("%+v", p)
	}
	_, raw, err = f.CreateKeyFor(Local(plantA), "never.added@a.example", KeyInput{})
	f.want(err, none)
	if p := f.key(raw); p.Role != Readonly {
		t.Errorf("%+v", p)
	}
	_, _, err = f.CreateKeyFor(Local(plantA), "op@x.example", KeyInput{Role: Admin})
	f.want(err, errdefs.Forbidden)
	_, _, err = f.CreateKeyFor(Local(plantA), "who@x.example", KeyInput{})
	f.want(err, errdefs.NotFound)
	_, _, err = f.CreateKeyFor(Local("nowhere"), "op@x.example", KeyInput{})
	f.want(err, errdefs.NotFound)
	_, _, err = f.CreateKeyFor(f.admin, "op@x.example", KeyInput{})
	f.want(err, errdefs.Forbidden)
	_, _, err = f.CreateKeyFor(Local(plantA), "op", KeyInput{})
	f.wantField(err, "email")
}

func TestEffectiveRole(t *testing.T) {
	f := newFixture(t)
	p := f.user(plantA, "m@x.example", Member)
	_, raw, err := f.CreateKey(p, KeyInput{Role: Supervisor})
	f.want(err, none)
	for _, c := range []struct{ user, want Role }{{Readonly, Readonly}, {Operator, Operator}, {Admin, Supervisor}, {Supervisor, Supervisor}} {
		_, err := f.SetRole(f.admin, "m@x.example", c.user)
		f.want(err, none)
		if got := f.key(raw); got.Role != c.want {
			t.Errorf("user %s: key has %s, want %s", c.user, got.Role, c.want)
		}
	}
}

func TestArchived(t *testing.T) {
	f := newFixture(t)
	key, raw, err := f.CreateKey(f.admin, KeyInput{})
	f.want(err, none)
	session := f.signIn(plantA, boss)
	f.accounts.archive(plantA, true)
	f.key(raw) // can still read
	_, _, err = f.CreateKey(f.admin, KeyInput{})
	f.want(err, errdefs.Conflict)
	_, _, err = f.CreateKeyFor(Local(plantA), boss, KeyInput{})
	f.want(err, errdefs.Conflict)
	_, err = f.AddUser(f.admin, "n@x.example", Member)
	f.want(err, errdefs.Conflict)
	_, err = f.SetRole(f.admin, boss, Member)
	f.want(err, errdefs.Conflict)
	f.want(f.RemoveUser(f.admin, boss), errdefs.Conflict)
	_, err = f.PairTablet(f.admin, TabletInput{Name: "t", StationCodes: []string{"s"}})
	f.want(err, errdefs.Conflict)
	f.want(f.RevokeTablet(f.admin, "t"), errdefs.Conflict)
	_, err = f.LinkOutright(Local(plantA), boss)
	f.want(err, errdefs.Conflict)
	_, err = f.LinkFor(f.admin, "00000")
	f.want(err, errdefs.Conflict)
	_, err = f.Login(LoginRequest{Destination: boss})
	f.want(err, errdefs.Forbidden)
	if list := f.Memberships(boss); len(list) != 0 {
		t.Errorf("memberships %v", list)
	}
	f.want(f.RevokeKey(f.admin, key.ID), none)
	f.want(f.Logout(session.Principal), none)
	_, err = f.AuthenticateSession(session.Session)
	f.want(err, errdefs.Unauthorized)
	f.accounts.archive(plantA, false)
	_, raw, err = f.CreateKey(f.admin, KeyInput{})
	f.want(err, none)
	f.hide(raw)
}

func TestConcurrentCreates(t *testing.T) {
	f := newFixture(t)
	ids := make([]string, 64)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			key, raw, err := f.CreateKey(f.admin, KeyInput{})
			f.want(err, none)
			if _, err := f.AuthenticateKey(f.hide(raw)); err != nil {
				t.Errorf("not in force: %v", err)
			}
			ids[i] = key.ID
		})
	}
	wg.Wait()
	slices.Sort(ids)
	if got := len(slices.Compact(ids)); got != 64 {
		t.Errorf("%d keys", got)
	}
}

// TestRevokeWhileAuthenticating checks that a key is invalid for everyone once its revocation has returned, during
// concurrent requests.
func TestRevokeWhileAuthenticating(t *testing.T) {
	f := newFixture(t)
	for range 20 {
		_, raw, err := f.CreateKey(f.admin, KeyInput{})
		f.want(err, none)
		f.hide(raw)
		revoked := make(chan struct{})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for over := false; ; {
					select {
					case <-revoked:
						over = true
					default:
					}
					_, err := f.AuthenticateKey(raw)
					if over && err == nil {
						t.Error("a revoked key works")
					}
					if over {
						return
					}
				}
			})
		}
		wg.Go(func() { // a concurrently created key of the same user
			_, raw, err := f.CreateKey(f.admin, KeyInput{})
			f.want(err, none)
			f.hide(raw)
		})
		f.want(f.RevokeKey(f.admin, raw), none)
		close(revoked)
		wg.Wait()
	}
}

func TestAuthenticateKeyDoesNotAllocate(t *testing.T) {
	f := newFixture(t)
	_, raw, err := f.CreateKey(f.admin, KeyInput{})
	f.want(err, none)
	f.hide(raw)
	unknown, cut := first(newToken(prefixKey)), raw[:43]
	if n := testing.AllocsPerRun(100, func() {
		f.AuthenticateKey(raw)
		f.AuthenticateKey(unknown)
		f.AuthenticateKey(cut)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestKeysOfAPersonAreBounded checks the exact maximum with concurrent requests. A revoked key frees a place, also
// after a restart, and roles that may change the configuration have a higher maximum.
func TestKeysOfAPersonAreBounded(t *testing.T) {
	f := newFixture(t)
	p := f.user(plantA, "bi@a.example", Supervisor)
	var mu sync.Mutex
	var ids []string
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range maxKeys {
				key, raw, err := f.CreateKey(p, KeyInput{})
				mu.Lock()
				if err == nil {
					f.hide(raw)
					ids = append(ids, key.ID)
				} else {
					f.want(err, errdefs.Conflict)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(ids) != maxKeys-1 { // one existed before
		t.Errorf("%d keys, want %d", len(ids)+1, maxKeys)
	}
	f.want(f.RevokeKey(p, ids[0]), none)
	_, _, err := f.CreateKey(p, KeyInput{})
	f.want(err, none)
	f.restart()
	_, _, err = f.CreateKey(p, KeyInput{})
	f.want(err, errdefs.Conflict)
	_, _, err = f.CreateKey(f.user(plantA, "other@a.example", Readonly), KeyInput{})
	f.want(err, none)
	for range maxKeys + 1 {
		_, _, err = f.CreateKey(f.admin, KeyInput{})
		f.want(err, none)
	}
}
