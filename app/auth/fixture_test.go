package auth

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

const (
	plantA = "plant-a" // domain a.example
	plantB = "plant-b" // domain b.example
	boss   = "boss@a.example"
)

// directory has the accounts of a test.
type directory struct {
	mu   sync.RWMutex
	byID map[string]AccountInfo
}

func (d *directory) Account(id string) (AccountInfo, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	a, ok := d.byID[id]
	return a, ok
}

func (d *directory) AccountByDomain(domain string) (AccountInfo, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, a := range d.byID {
		if a.Domain == domain {
			return a, true
		}
	}
	return AccountInfo{}, false
}

func (d *directory) archive(id string, archived bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.byID[id]
	a.Archived = archived
	d.byID[id] = a
}

// watch is a clock that the test advances.
type watch struct {
	mu  sync.Mutex
	now time.Time
}

func (w *watch) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *watch) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// syncBuffer is a log for concurrent use.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// fixture is a real store and service with two accounts, of which the first has an admin. At the end of the test, no
// file or log may contain a secret, and records and audit must agree.
type fixture struct {
	*Service
	t        testing.TB
	path     string
	store    *kv.Store
	accounts *directory
	watch    *watch
	logged   *syncBuffer
	mailer   *Mailer
	admin    Principal // of plantA, with a key

	swept bool // audited keys may have been removed

	mu      sync.Mutex
	secrets []string
	said    []string
}

func newFixture(t testing.TB) *fixture { return newMailFixture(t, nil) }

func newMailFixture(t testing.TB, mailer *Mailer) *fixture {
	t.Helper()
	f := &fixture{
		t: t, path: filepath.Join(t.TempDir(), "store.db"), mailer: mailer, logged: &syncBuffer{},
		accounts: &directory{byID: map[string]AccountInfo{
			plantA: {ID: plantA, Domain: "a.example"},
			plantB: {ID: plantB, Domain: "b.example"},
		}},
		watch: &watch{now: time.Date(2026, 11, 20, 8, 15, 30, 123456789, time.UTC)},
	}
	f.open()
	t.Cleanup(f.finish)
	var raw string
	var done func()
	err := f.store.Update(func(tx *kv.Tx) (err error) {
		raw, done, err = f.BootstrapTx(tx, First{AccountID: plantA, Email: "Boss@A.example", Actor: Local(plantA).Actor()})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	done()
	f.admin = f.key(raw)
	return f
}

func (f *fixture) open() {
	f.t.Helper()
	store, err := kv.Open(kv.Config{Path: f.path, Clock: f.watch.Now, Buckets: append(Buckets(), audit.Buckets()...)})
	if err != nil {
		f.t.Fatal(err)
	}
	service, err := New(Config{
		Store: store, Accounts: f.accounts, Mailer: f.mailer, Clock: f.watch.Now, Log: slog.New(slog.NewTextHandler(f.logged, nil)),
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.store, f.Service = store, service
}

// restart closes everything and opens it again.
func (f *fixture) restart() {
	f.t.Helper()
	f.close()
	f.open()
}

func (f *fixture) close() {
	f.t.Helper()
	if err := f.Close(); err != nil {
		f.t.Fatal(err)
	}
	if err := f.store.Close(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) finish() {
	f.checkBooks()
	for _, problem := range f.problems() {
		f.t.Errorf("records: %s", problem)
	}
	if err := f.store.Check(func(problem string) { f.t.Errorf("store: %s", problem) }); err != nil {
		f.t.Error(err)
	}
	f.close()
	file, err := os.ReadFile(f.path)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, secret := range f.secrets {
		if bytes.Contains(file, []byte(secret)) {
			f.t.Error("a secret is in the store")
		}
		if strings.Contains(f.logged.String(), secret) {
			f.t.Errorf("a secret is in the log: %s", f.logged)
		}
		for _, text := range f.said {
			if strings.Contains(text, secret) {
				f.t.Errorf("a secret is in an error: %s", text)
			}
		}
	}
}

// checkBooks checks that every record was written together with its audit record.
func (f *fixture) checkBooks() {
	err := f.store.View(func(tx *kv.Tx) error {
		written := map[string]bool{}
		for _, account := range []string{plantA, plantB} {
			first, err := audit.List(tx, account, audit.Query{Limit: audit.Piece})
			if err != nil {
				return err
			}
			listed := 0
			for page := first; ; {
				for _, r := range page.Records {
					written[r.Action+" "+r.Target] = true
				}
				listed += len(page.Records)
				if page.Next == 0 {
					break
				}
				if page, err = audit.List(tx, account, audit.Query{Limit: audit.Piece, Before: page.Next}); err != nil {
					return err
				}
			}
			if listed != first.Total {
				f.t.Errorf("audit lists %d records of %d", listed, first.Total)
			}
		}
		for item := range keys.Scan(tx, kv.Range{}) {
			if !written["key.create "+item.Key] {
				f.t.Errorf("key %s has no audit record", item.Key)
			}
			if item.Value.RevokedAt != nil && !written["key.revoke "+item.Key] && !written["user.remove "+item.Value.Email] {
				f.t.Errorf("the end of key %s has no audit record", item.Key)
			}
			delete(written, "key.create "+item.Key)
		}
		for item := range sessions.Scan(tx, kv.Range{}) {
			if !written["session.create "+item.Key] {
				f.t.Errorf("session %s has no audit record", item.Key)
			}
		}
		for item := range users.Scan(tx, kv.Range{}) {
			if item.Value.Refused && !written["user.remove "+item.Key.B] || !item.Value.Refused && !written["user.add "+item.Key.B] {
				f.t.Errorf("user %s has no audit record", item.Key.B)
			}
		}
		for text := range written {
			if strings.HasPrefix(text, "key.create ") && !f.swept {
				f.t.Errorf("audit tells of a key that is not there: %s", text)
			}
		}
		return nil
	})
	if err != nil {
		f.t.Error(err)
	}
}

// hide registers a secret that must not appear anywhere.
func (f *fixture) hide(secret string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if secret != "" {
		f.secrets = append(f.secrets, secret)
	}
	return secret
}

// want checks the kind of an error; none is no error.
const none = errdefs.Kind(255)

func (f *fixture) want(err error, kind errdefs.Kind) {
	f.t.Helper()
	if err == nil {
		if kind != none {
			f.t.Errorf("no error, want kind %d", kind)
		}
		return
	}
	f.mu.Lock()
	f.said = append(f.said, err.Error())
	f.mu.Unlock()
	if got := errdefs.KindOf(err); got != kind {
		f.t.Errorf("error %q of kind %d, want kind %d", err, got, kind)
	}
}

// wantField checks that an error is Invalid and names the fields.
func (f *fixture) wantField(err error, fields ...string) {
	f.t.Helper()
	f.want(err, errdefs.Invalid)
	var e *errdefs.Error
	var got []string
	if errors.As(err, &e) {
		for _, d := range e.Details {
			got = append(got, d.Field)
		}
	}
	if strings.Join(got, " ") != strings.Join(fields, " ") {
		f.t.Errorf("fields %v, want %v", got, fields)
	}
}

// key authenticates a valid key.
func (f *fixture) key(raw string) Principal {
	f.t.Helper()
	p, err := f.AuthenticateKey(f.hide(raw))
	if err != nil {
		f.t.Fatalf("authenticate key: %v", err)
	}
	return p
}

// user adds a user to an account and creates a key for it.
func (f *fixture) user(accountID, email string, role Role) Principal {
	f.t.Helper()
	if _, err := f.AddUser(Local(accountID), email, role); err != nil {
		f.t.Fatal(err)
	}
	return f.keyFor(accountID, email)
}

func (f *fixture) keyFor(accountID, email string) Principal {
	f.t.Helper()
	_, raw, err := f.CreateKeyFor(Local(accountID), email, KeyInput{})
	if err != nil {
		f.t.Fatal(err)
	}
	return f.key(raw)
}

// signIn opens a session for a person with a link by LinkOutright.
func (f *fixture) signIn(accountID, email string) Grant {
	f.t.Helper()
	link, err := f.LinkOutright(Local(accountID), email)
	if err != nil {
		f.t.Fatal(err)
	}
	return f.open1(link.Token)
}

// open1 uses a link.
func (f *fixture) open1(token string) Grant {
	f.t.Helper()
	grant, err := f.Callback(f.hide(token), "10.0.0.9")
	if err != nil {
		f.t.Fatal(err)
	}
	f.hide(grant.Session)
	return grant
}

// audited returns an account's audit records of an action, newest first.
func (f *fixture) audited(accountID, action string) []audit.Record {
	f.t.Helper()
	var list []audit.Record
	err := f.store.View(func(tx *kv.Tx) (err error) {
		page, err := audit.List(tx, accountID, audit.Query{Limit: 1000, Action: action})
		list = page.Records
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return list
}

// everyRole creates one user of each role in plantA.
func (f *fixture) everyRole() map[Role]Principal {
	f.t.Helper()
	all := map[Role]Principal{}
	for _, role := range []Role{Admin, Member, Supervisor, Operator, Readonly} {
		all[role] = f.user(plantA, string(role)+"@elsewhere.example", role)
	}
	return all
}

// problems returns the problems that Check reports.
func (f *fixture) problems() []string {
	f.t.Helper()
	var list []string
	err := f.store.View(func(tx *kv.Tx) error {
		known := map[string]bool{plantA: true, plantB: true}
		Check(tx, known, func(problem string) { list = append(list, problem) })
		audit.Check(tx, known, func(problem string) { list = append(list, problem) })
		return nil
	})
	if err != nil {
		f.t.Error(err)
	}
	return list
}
