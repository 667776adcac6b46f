package auth

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"opsmon/app/instant"
	"opsmon/kv"
)

// memory is the index that authenticates requests without reading the store.
type memory struct {
	// held while a part of the memory is reloaded, so that an older reading never replaces a newer one
	catchUp sync.Mutex

	mu           sync.RWMutex
	users        map[string]map[string]userRecord // by e-mail, then account; including refused ones
	keys         map[[32]byte]*liveKey            // by hash
	keysByID     map[string]*liveKey
	keysOf       map[place]int // number of keys by account and e-mail, including reserved ones
	sessions     map[[32]byte]*liveSession
	sessionsByID map[string]*liveSession
	devices      map[[32]byte]*liveDevice // by hash
	devicesByID  map[place]*liveDevice
	onRevoked    []func(deviceID string)
}

// liveKey is a key that is not revoked. It must not be changed once it is in memory, except for its use.
type liveKey struct {
	id      string
	hash    [32]byte
	record  keyRecord
	expires time.Time // zero: never
	use     *moment   // the last use
}

// moment is a time in milliseconds since 1970 that is updated in memory; flush stores it. 0 is never.
type moment struct{ at, written atomic.Int64 }

// liveSession is a session. It must not be changed once it is in memory, except for its end.
type liveSession struct {
	id     string
	hash   [32]byte
	record sessionRecord
	end    *moment // when it expires
}

func newMemory() memory {
	return memory{
		users: map[string]map[string]userRecord{},
		keys:  map[[32]byte]*liveKey{}, keysByID: map[string]*liveKey{}, keysOf: map[place]int{},
		sessions: map[[32]byte]*liveSession{}, sessionsByID: map[string]*liveSession{},
		devices: map[[32]byte]*liveDevice{}, devicesByID: map[place]*liveDevice{},
	}
}

// changes lists what a transaction changed, by key in the store.
type changes struct {
	users    []place
	keys     []string
	sessions []string
	devices  []place
}

// reading is a part of the store's state; nil values are missing records.
type reading struct {
	users    map[place]*userRecord
	keys     map[string]*keyRecord
	sessions map[string]*sessionRecord
	devices  map[place]*deviceRecord
}

// refresh reads the changed records again and updates the memory. Because it reads after the commit instead of
// applying the intended changes, the order in which two writers arrive does not matter: the later one sees both
// changes. It reads the store without holding the lock that authentication needs. If it cannot read the store, the
// changed credentials are rejected.
func (s *Service) refresh(c changes) error {
	if len(c.users)+len(c.keys)+len(c.sessions)+len(c.devices) == 0 {
		return nil
	}
	s.catchUp.Lock()
	defer s.catchUp.Unlock()
	r := reading{map[place]*userRecord{}, map[string]*keyRecord{}, map[string]*sessionRecord{}, map[place]*deviceRecord{}}
	err := s.store.View(func(tx *kv.Tx) error {
		return errors.Join(
			read(tx, users, c.users, r.users),
			read(tx, keys, c.keys, r.keys),
			read(tx, sessions, c.sessions, r.sessions),
			read(tx, devices, c.devices, r.devices),
		)
	})
	if err != nil {
		for _, at := range c.users {
			r.users[at] = &userRecord{Refused: true}
		}
		for _, id := range c.keys {
			r.keys[id] = nil
		}
		for _, id := range c.sessions {
			r.sessions[id] = nil
		}
		for _, at := range c.devices {
			r.devices[at] = nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apply(r)
	return err
}

func read[K comparable, V any](tx *kv.Tx, b *kv.Bucket[K, V], ids []K, into map[K]*V) error {
	for _, id := range ids {
		v, err := b.Get(tx, id)
		switch {
		case err == nil:
			into[id] = &v
		case errors.Is(err, kv.ErrNotFound):
			into[id] = nil
		default:
			return err
		}
	}
	return nil
}

// load fills the memory when the service starts.
func (s *Service) load() error {
	r := reading{map[place]*userRecord{}, map[string]*keyRecord{}, map[string]*sessionRecord{}, nil}
	used := map[string]instant.Time{}
	err := s.store.View(func(tx *kv.Tx) (err error) {
		if r.devices, err = loadDevices(tx); err != nil {
			return err
		}
		if err := each(tx, users, func(k place, v *userRecord) { r.users[k] = v }); err != nil {
			return err
		}
		if err := each(tx, keys, func(k string, v *keyRecord) { r.keys[k] = v }); err != nil {
			return err
		}
		if err := each(tx, sessions, func(k string, v *sessionRecord) { r.sessions[k] = v }); err != nil {
			return err
		}
		return each(tx, keyUses, func(k string, v *instant.Time) { used[k] = *v })
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apply(r)
	for id, at := range used {
		if key := s.keysByID[id]; key != nil {
			key.use.at.Store(at.UnixMilli())
			key.use.written.Store(at.UnixMilli())
		}
	}
	return nil
}

// each calls use for all items of a bucket.
func each[K, V any](tx *kv.Tx, b *kv.Bucket[K, V], use func(K, *V)) error {
	for item, err := range b.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		use(item.Key, &item.Value)
	}
	return nil
}

// apply updates the memory. s.mu must be held.
func (m *memory) apply(r reading) {
	for at, user := range r.users {
		if user == nil {
			delete(m.users[at.B], at.A)
			if len(m.users[at.B]) == 0 {
				delete(m.users, at.B)
			}
			continue
		}
		if m.users[at.B] == nil {
			m.users[at.B] = map[string]userRecord{}
		}
		m.users[at.B][at.A] = *user
	}
	for id, record := range r.keys {
		m.setKey(id, record)
	}
	for id, record := range r.sessions {
		m.setSession(id, record)
	}
	for at, record := range r.devices {
		m.setDevice(at, record)
	}
}

func (m *memory) setKey(id string, record *keyRecord) {
	if old := m.keysByID[id]; old != nil {
		delete(m.keys, old.hash)
		delete(m.keysByID, id)
		m.countKey(&old.record, -1)
	}
	if record == nil || record.RevokedAt != nil || len(record.Hash) != 32 {
		return
	}
	key := &liveKey{id: id, hash: [32]byte(record.Hash), record: *record, use: new(moment)}
	if record.ExpiresAt != nil {
		key.expires = record.ExpiresAt.Time
	}
	m.keys[key.hash], m.keysByID[id] = key, key
	m.countKey(record, 1)
}

// countKey adds n to the number of a person's keys. m.mu must be held.
func (m *memory) countKey(k *keyRecord, n int) {
	of := place{A: k.AccountID, B: k.Email}
	if m.keysOf[of] += n; m.keysOf[of] == 0 {
		delete(m.keysOf, of)
	}
}

func (m *memory) setSession(id string, record *sessionRecord) {
	old := m.sessionsByID[id]
	if old != nil {
		delete(m.sessions, old.hash)
		delete(m.sessionsByID, id)
	}
	if record == nil || len(record.Hash) != 32 {
		return
	}
	session := &liveSession{id: id, hash: [32]byte(record.Hash), record: *record, end: new(moment)}
	if old != nil {
		session.end = old.end // the stored end lags behind
	} else {
		session.end.at.Store(record.ExpiresAt.UnixMilli())
		session.end.written.Store(record.ExpiresAt.UnixMilli())
	}
	m.sessions[session.hash], m.sessionsByID[id] = session, session
}

// entitlement is the membership of an address in an account, from memory. Accounts is called without any lock held.
type entitlement struct {
	user  userRecord
	added bool // or refused
}

// entitled returns an entitlement. s.mu must be held.
func (m *memory) entitled(accountID, email string) (e entitlement) {
	e.user, e.added = m.users[email][accountID]
	return e
}

// role returns the current role; false if none.
func (e entitlement) role(account AccountInfo, email string) (Role, bool) {
	if e.added {
		return e.user.Role, !e.user.Refused
	}
	return Readonly, onDomain(email, account.Domain)
}

// AuthenticateKey returns the principal of an API key, from memory, and records the use in memory (http-api.md
// section 5). The role is the lower one of the key's and its user's current role. Errors: Unauthorized.
func (s *Service) AuthenticateKey(raw string) (Principal, error) {
	hash, ok := parseToken(prefixKey, raw)
	if !ok {
		return Principal{}, errMalformed
	}
	s.mu.RLock()
	key := s.keys[hash]
	if key == nil {
		s.mu.RUnlock()
		return Principal{}, errUnauthorized
	}
	entitlement := s.entitled(key.record.AccountID, key.record.Email)
	s.mu.RUnlock()
	account, found := s.accounts.Account(key.record.AccountID)
	role, entitled := entitlement.role(account, key.record.Email)
	now := s.clock()
	if !found || !entitled || !key.expires.IsZero() && !now.Before(key.expires) {
		return Principal{}, errUnauthorized
	}
	// Written only after a change of at least a second, to avoid contention between processors' caches.
	if ms, last := now.UnixMilli(), key.use.at.Load(); ms-last >= 1000 || ms < last {
		key.use.at.Store(ms)
	}
	return Principal{
		Type: TypeAPIKey, Email: key.record.Email, AccountID: key.record.AccountID, Role: lower(key.record.Role, role),
		UserRole: UserRoleCustomer, Expires: key.expires, KeyID: key.id,
	}, nil
}

// AuthenticateSession returns the principal of a session, from memory, and extends the session (decisions.md section
// 4). RenewCookie is set if the end was extended, at most once an hour. Errors: Unauthorized.
func (s *Service) AuthenticateSession(raw string) (Principal, error) {
	hash, ok := parseToken(prefixSession, raw)
	if !ok {
		return Principal{}, errMalformed
	}
	s.mu.RLock()
	session := s.sessions[hash]
	if session == nil {
		s.mu.RUnlock()
		return Principal{}, errUnauthorized
	}
	record := &session.record
	entitlement := s.entitled(record.AccountID, record.Email)
	s.mu.RUnlock()
	role, entitled := s.sessionRole(record, entitlement)
	now := s.clock().UnixMilli()
	ends := session.end.at.Load()
	if !entitled || now >= ends {
		return Principal{}, errUnauthorized
	}
	renew := false
	// Also shortens: a session from when the clock was wrong must not remain valid for years.
	if later := now + SessionLifetime.Milliseconds(); later-ends >= slideStep.Milliseconds() || ends > later {
		if renew = session.end.at.CompareAndSwap(ends, later); renew {
			ends = later
		}
	}
	return Principal{
		Type: TypeSession, Email: record.Email, AccountID: record.AccountID, Role: role, UserRole: UserRoleCustomer,
		Expires: time.UnixMilli(ends).UTC(), SessionID: session.id, StationCodes: record.StationCodes, RenewCookie: renew,
	}, nil
}

// sessionRole returns the current role of a session; false if its account or user no longer exists.
func (s *Service) sessionRole(record *sessionRecord, e entitlement) (Role, bool) {
	account, found := s.accounts.Account(record.AccountID)
	if record.TabletID != "" {
		return record.Role, found
	}
	role, entitled := e.role(account, record.Email)
	return role, found && entitled
}

// Memberships returns the accounts of a person by id, without archived ones (http-api.md section 2.4). The list is
// never nil.
func (s *Service) Memberships(email string) []Membership {
	email = strings.ToLower(email)
	s.mu.RLock()
	added := maps.Clone(s.users[email])
	s.mu.RUnlock()
	list := []Membership{}
	for id, user := range added {
		account, found := s.accounts.Account(id)
		if found && !account.Archived && !user.Refused {
			list = append(list, Membership{Role: user.Role, AccountID: id, Domain: account.Domain})
		}
	}
	if account, found := s.accounts.AccountByDomain(domainOf(email)); found && !account.Archived {
		if _, known := added[account.ID]; !known && onDomain(email, account.Domain) {
			list = append(list, Membership{Role: Readonly, AccountID: account.ID, Domain: account.Domain})
		}
	}
	slices.SortFunc(list, func(a, b Membership) int { return strings.Compare(a.AccountID, b.AccountID) })
	return list
}
