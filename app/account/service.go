// Package account stores the accounts of the appliance: their settings, their manifests and all revisions of both. It
// also resolves the configuration in force at a station (http-api.md sections 2, 4.1 and 8; decisions.md sections 2
// and 3).
//
// A manifest is checked before the transaction and stored as the received bytes, from which its typed form is
// decoded. Reads use an immutable Snapshot per account, which is replaced after a change has been committed.
//
// The bucket tree:
//
//	account   account id -> Account                        the record: settings and system fields
//	rendered  account id -> the manifest's arrays          as in answers, with times and live fields
//	revision  (account id, number) -> Revision             numbered from 1 without a gap
//	document  SHA-256 -> the manifest's arrays, compressed  as received, shared by revisions
//	gone      (account id, kind, code) -> storedLifetime   plants, groups and stations removed from the manifest
package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"opsmon/app/account/manifest"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

// The package's buckets.
var (
	// by id
	accounts = kv.NewBucket("account", kv.String, kv.Cached(kv.JSON[Account](), func(a Account) Account { return *a.clone() }))
	// by SHA-256: the arrays of a manifest, compressed
	documents = kv.NewBucket("document", kv.Bytes32, kv.Raw)
	// by account: the arrays as in answers
	rendered = kv.NewBucket("rendered", kv.String, kv.Raw)
	// by account and number
	revisions = kv.NewBucket("revision", kv.PairOf(kv.String, kv.Uint64), kv.JSON[Revision]())
	// by account, kind and code: entities removed from the manifest
	gone = kv.NewBucket("gone", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.String)), kv.JSON[storedLifetime]())
)

// Buckets returns the names of the package's buckets.
func Buckets() []string {
	return []string{accounts.Name(), documents.Name(), rendered.Name(), revisions.Name(), gone.Name()}
}

// IDs returns the ids of all accounts in a store, including archived ones. Errors are those of the store.
func IDs(tx *kv.Tx) (ids []string, err error) {
	for item, err := range accounts.Scan(tx, kv.Range{}) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, item.Key)
	}
	return ids, nil
}

// storedLifetime is the stored form of a Lifetime; a changed field needs a migration.
type storedLifetime struct {
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	ArchivedAt time.Time `json:"archivedAt"`
}

// Service manages the accounts of the appliance.
type Service struct {
	store *kv.Store
	clock func() time.Time
	log   *slog.Logger

	authorize func(*kv.Tx, auth.Principal, auth.Role) error
	changed   func(accountID string)
	await     func(accountID string)
	live      func(accountID string) *Live
	effect    func(was, is *manifest.Manifest) (Effect, error)

	// by account id, *sync.RWMutex: read-locked by every change; locked by an Apply after repeated conflicts
	locks    sync.Map
	mu       sync.Mutex // orders the replacement of current
	current  atomic.Pointer[map[string]*Snapshot]
	warming  sync.WaitGroup
	stopWarm context.CancelFunc
}

// changeLock returns the lock for changes of an account.
func (s *Service) changeLock(id string) *sync.RWMutex {
	lock, _ := s.locks.LoadOrStore(id, new(sync.RWMutex))
	return lock.(*sync.RWMutex)
}

// Config configures a Service.
type Config struct {
	Store *kv.Store
	Clock func() time.Time // nil = time.Now
	Log   *slog.Logger
	// Authorize checks in the transaction of a change that the caller's credential is still valid and has the role;
	// nil = no check.
	Authorize func(*kv.Tx, auth.Principal, auth.Role) error
	// Changed is called after every change of an account, once it can be read: a manifest, a setting, creation,
	// archiving and unarchiving. It is called by the goroutine of the change and must return immediately. May be nil.
	Changed func(accountID string)
	// Effect computes the effect of a new manifest on monitoring, compared with the previous one (nil if none). The
	// result is stored with the revision. May be nil.
	Effect func(was, is *manifest.Manifest) (Effect, error)
	// Await is called before a changed manifest is stored, and returns when the consumers of configurations have
	// caught up. May be nil.
	Await func(accountID string)
	// Live returns the live fields of an account. If it is nil or returns nil, live fields are null. It is called
	// about once a second per account, by requests for the account, and must return immediately.
	Live func(accountID string) *Live
}

// Effect is the effect of a revision, which is stored in the revision's transaction.
type Effect interface {
	Put(tx *kv.Tx, accountID string, revision uint64, at time.Time) error
}

// New loads the accounts. It reads only the stored bytes of answers, so a large manifest does not delay the start;
// Warm does the rest.
func New(cfg Config) (*Service, error) {
	s := &Service{store: cfg.Store, clock: cfg.Clock, log: cfg.Log, authorize: cfg.Authorize, changed: cfg.Changed, await: cfg.Await, live: cfg.Live, effect: cfg.Effect}
	if s.effect == nil {
		s.effect = func(_, _ *manifest.Manifest) (Effect, error) { return noEffect{}, nil }
	}
	if s.await == nil {
		s.await = func(string) {}
	}
	if s.changed == nil {
		s.changed = func(string) {}
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	all := map[string]*Snapshot{}
	err := s.store.View(func(tx *kv.Tx) error {
		for item, err := range accounts.Scan(tx, kv.Range{}) {
			if err != nil {
				return fmt.Errorf("read accounts: %w", err)
			}
			snap, err := load(tx, item.Key)
			if err != nil {
				return err
			}
			all[item.Key] = snap
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.current.Store(&all)
	return s, nil
}

func load(tx *kv.Tx, id string) (*Snapshot, error) {
	a, err := accounts.Get(tx, id)
	if err != nil {
		return nil, fmt.Errorf("read account %s: %w", id, err)
	}
	b, err := rendered.Get(tx, id)
	if errors.Is(err, kv.ErrNotFound) {
		err = &kv.Error{Op: "read", Kind: kv.ErrDamaged, Err: errors.New("it is missing")}
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest of %s: %w", id, err)
	}
	return newSnapshot(&a, newArrays(b, nil)), nil
}

// Warm compresses the answers and decodes the manifests in the background, one account at a time; Close waits for it.
func (s *Service) Warm() {
	ctx, cancel := context.WithCancel(context.Background())
	s.stopWarm = cancel
	s.warming.Go(func() {
		for _, snap := range *s.current.Load() {
			if ctx.Err() != nil {
				return
			}
			snap.warm(s.live == nil)
		}
	})
}

// Close stops the background work.
func (s *Service) Close() {
	if s.stopWarm != nil {
		s.stopWarm()
	}
	s.warming.Wait()
}

// Get returns the current state of an account; errdefs.NotFound if unknown.
func (s *Service) Get(id string) (*Snapshot, error) {
	if snap, ok := (*s.current.Load())[id]; ok {
		return snap, nil
	}
	return nil, noAccount(id)
}

// List returns the accounts by id; archived ones only if requested.
func (s *Service) List(archived bool) []*Account {
	var list []*Account
	for _, snap := range *s.current.Load() {
		if archived || snap.Account.ArchivedAt == nil {
			list = append(list, snap.Account)
		}
	}
	slices.SortFunc(list, func(a, b *Account) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// Account implements auth.Accounts.
func (s *Service) Account(id string) (auth.AccountInfo, bool) {
	snap, ok := (*s.current.Load())[id]
	if !ok {
		return auth.AccountInfo{}, false
	}
	return info(snap.Account), true
}

// AccountByDomain implements auth.Accounts.
func (s *Service) AccountByDomain(domain string) (auth.AccountInfo, bool) {
	for _, snap := range *s.current.Load() {
		if strings.EqualFold(snap.Account.Domain, domain) {
			return info(snap.Account), true
		}
	}
	return auth.AccountInfo{}, false
}

func info(a *Account) auth.AccountInfo {
	return auth.AccountInfo{ID: a.ID, Domain: a.Domain, Archived: a.ArchivedAt != nil}
}

// publish makes a committed state visible to readers. Sequence numbers of the records determine the order, even if a
// goroutine arrives late.
func (s *Service) publish(snap *Snapshot) {
	if s.replace(snap) {
		s.changed(snap.Account.ID)
	}
}

// replace replaces the current state if the new one is newer, and reports whether it did.
func (s *Service) replace(snap *Snapshot) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := *s.current.Load()
	if was, ok := old[snap.Account.ID]; ok && was.Account.Sequence >= snap.Account.Sequence {
		return false
	}
	next := maps.Clone(old)
	next[snap.Account.ID] = snap
	s.current.Store(&next)
	return true
}

// publishRecord publishes a change of the record that did not change the arrays.
func (s *Service) publishRecord(a *Account) error {
	if cur, ok := (*s.current.Load())[a.ID]; ok && cur.Account.Rendered == a.Rendered {
		s.publish(newSnapshot(a, cur.arrays))
		return nil
	}
	// Another manifest was committed together with this change and has not been published yet.
	var snap *Snapshot
	err := s.store.View(func(tx *kv.Tx) (err error) {
		snap, err = load(tx, a.ID)
		return err
	})
	if err == nil {
		s.publish(snap)
	}
	return err
}

// Match is the condition of If-Match.
type Match struct {
	Any       bool // "*"
	Revisions []uint64
}

// ParseMatch parses an If-Match header; nil if it is empty. A tag of another origin matches nothing.
func ParseMatch(header string) *Match {
	if strings.TrimSpace(header) == "" {
		return nil
	}
	m := &Match{}
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" {
			m.Any = true
			continue
		}
		var n uint64
		// A weak tag is sufficient: only its revision counts.
		if _, err := fmt.Sscanf(strings.TrimPrefix(tag, "W/"), `"%d-`, &n); err == nil {
			m.Revisions = append(m.Revisions, n)
		}
	}
	return m
}

func (m *Match) check(a *Account) error {
	if m == nil || m.Any || slices.Contains(m.Revisions, a.Revision) {
		return nil
	}
	return errdefs.New(errdefs.Conflict, "If-Match does not name the configuration in force, which is revision %d; read it again and repeat your change", a.Revision)
}

// mayWrite checks the permission to change the configuration (decisions.md section 4).
func mayWrite(p auth.Principal) error {
	if !p.Role.AtLeast(auth.Member) {
		return errdefs.New(errdefs.Forbidden, "your role %s may read the configuration but not change it; this requires member or admin", p.Role)
	}
	return nil
}

// writable checks the permission again, because it may have been revoked while the change arrived. It returns the
// record to change, and refuses an archived account.
func (s *Service) writable(tx *kv.Tx, p auth.Principal, match *Match) (*Account, error) {
	id := p.AccountID
	if s.authorize != nil {
		if err := s.authorize(tx, p, auth.Member); err != nil {
			return nil, err
		}
	}
	a, err := readAccount(tx, id)
	if err != nil {
		return nil, err
	}
	if err := a.Writable(); err != nil {
		return nil, err
	}
	return a, match.check(a)
}

// readAccount returns a record; errdefs.NotFound for an unknown account.
func readAccount(tx *kv.Tx, id string) (*Account, error) {
	a, err := accounts.Get(tx, id)
	switch {
	case errors.Is(err, kv.ErrNotFound):
		return nil, noAccount(id)
	case err != nil:
		return nil, fmt.Errorf("read account %s: %w", id, err)
	}
	return &a, nil
}

func noAccount(id string) error {
	return errdefs.New(errdefs.NotFound, "there is no account %q on this appliance", errdefs.Shorten(id))
}

// put stores a changed record. touch stores one in which no configuration changed; revise makes it the next revision of
// the configuration.
func put(tx *kv.Tx, a *Account) error {
	a.Sequence++
	return accounts.Put(tx, a.ID, *a)
}

func touch(tx *kv.Tx, a *Account) error {
	a.UpdatedAt = tx.Now()
	return put(tx, a)
}

func revise(tx *kv.Tx, a *Account, p auth.Principal, note string, effect Effect) error {
	a.UpdatedAt = tx.Now()
	a.Revision++
	if err := put(tx, a); err != nil {
		return err
	}
	r := Revision{Number: a.Revision, CreatedAt: a.UpdatedAt, Author: author(p), Note: note, Account: *a}
	r.Account.WarehousePassword = nil // every role can read revisions
	if err := revisions.Put(tx, kv.Pair[string, uint64]{A: a.ID, B: r.Number}, r); err != nil {
		return err
	}
	return effect.Put(tx, a.ID, r.Number, r.CreatedAt)
}

// noEffect is the Effect of a service without Config.Effect.
type noEffect struct{}

func (noEffect) Put(*kv.Tx, string, uint64, time.Time) error { return nil }

// reviseSettings is revise for a change of the account's own fields that does not change the manifest's arrays; was
// is the account before.
func (s *Service) reviseSettings(tx *kv.Tx, was, a *Account, p auth.Principal) error {
	before, err := s.manifestIn(tx, was)
	if err != nil {
		return err
	}
	after := *before
	if err := a.into(&after); err != nil {
		return err
	}
	effect, err := s.effect(before, &after)
	if err != nil {
		return err
	}
	return revise(tx, a, p, "", effect)
}

// manifestIn returns the typed manifest of an account's record in a transaction.
func (s *Service) manifestIn(tx *kv.Tx, a *Account) (*manifest.Manifest, error) {
	cur, err := s.Get(a.ID)
	if err != nil {
		return nil, err
	}
	// another manifest was committed together with this change and has not been published yet
	if cur.Account.Rendered != a.Rendered {
		if cur, err = load(tx, a.ID); err != nil {
			return nil, err
		}
	}
	t, err := cur.arrays.typed()
	if err != nil {
		return nil, err
	}
	m := *t.Manifest
	return &m, a.into(&m)
}

func author(p auth.Principal) string {
	if p.Type == auth.TypeLocal {
		return "local administrator"
	}
	return p.Email
}

// HaveStations returns an error unless every code is a station of the account.
func (s *Service) HaveStations(id, field string, codes []string) error {
	snap, err := s.Get(id)
	if err != nil {
		return err
	}
	t, err := snap.arrays.typed()
	if err != nil {
		return err
	}
	var problems []errdefs.Detail
	for i, code := range codes {
		if _, ok := t.stations[code]; !ok {
			problems = append(problems, errdefs.Detail{Field: fmt.Sprintf("%s[%d]", field, i), Issue: fmt.Sprintf("names the station %q, which the account does not have", errdefs.Shorten(code))})
		}
	}
	return errdefs.InvalidDetails("the body", problems)
}
