package auth

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Key is an API key as lists show it: never the key itself.
//
// See decisions.md section 5.
//
//openapi:schema Key
type Key struct {
	ID    string `json:"id"`    // public id; good for DELETE /key/{key}
	Name  string `json:"name"`  // what the key is for; may be empty
	Email string `json:"email"` // whose key it is
	// The key's maximum role; its user's role limits it further.
	Role       Role          `json:"role"`
	CreatedAt  instant.Time  `json:"createdAt"`
	LastUsedAt *instant.Time `json:"lastUsedAt"` // null means never
	ExpiresAt  *instant.Time `json:"expiresAt"`  // null means never
}

// KeyInput describes a new key (decisions.md section 5).
type KeyInput struct {
	Name      string     // at most 64 characters; may be empty
	Role      Role       // empty: the caller's role
	ExpiresAt *time.Time // nil: never
}

const maxName = 64 // characters

// The maximum number of keys per person and account, including expired ones that have not been swept. Members and
// admins have programs that create keys; the limit prevents others from filling the store.
const (
	maxKeys       = 100
	maxKeysMember = 100_000
)

// reserveKey reserves a key in a person's quota; done releases the reservation after the key, which is then counted
// itself, was created or failed. Error: Conflict.
func (s *Service) reserveKey(accountID, email string, role Role) (done func(), err error) {
	most := maxKeys
	if role.AtLeast(Member) {
		most = maxKeysMember
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := &keyRecord{AccountID: accountID, Email: email}
	if n := s.keysOf[place{A: accountID, B: email}]; n >= most {
		return nil, errdefs.New(errdefs.Conflict, "%s has %d API keys, and may have %d; revoke those that are not needed", email, n, most)
	}
	s.countKey(asked, 1)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.countKey(asked, -1)
	}, nil
}

// CheckKey validates the input independent of the caller: Invalid (name, role, expiresAt).
func (s *Service) CheckKey(in KeyInput) error { return in.check(s.clock()) }

func (in KeyInput) check(now time.Time) error {
	var details []errdefs.Detail
	if issue := nameIssue(in.Name); issue != "" {
		details = append(details, errdefs.Detail{Field: "name", Issue: issue})
	}
	if in.Role != "" {
		if _, err := ParseRole(string(in.Role)); err != nil {
			details = append(details, detailsOf(err)...)
		}
	}
	if in.ExpiresAt != nil && !in.ExpiresAt.After(now) {
		details = append(details, errdefs.Detail{Field: "expiresAt", Issue: "must be in the future"})
	}
	if in.ExpiresAt != nil && in.ExpiresAt.UTC().Year() > 9999 {
		details = append(details, errdefs.Detail{Field: "expiresAt", Issue: "must be before the year 10000"})
	}
	return errdefs.InvalidDetails("the key", details)
}

func nameIssue(name string) string {
	if n := utf8.RuneCountInString(name); n > maxName {
		return errdefs.InvalidField("", "must be %d characters or fewer; it has %d", maxName, n).Message
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return "must not contain control characters"
	}
	return ""
}

func detailsOf(err error) []errdefs.Detail {
	var e *errdefs.Error
	if errors.As(err, &e) {
		return e.Details
	}
	return nil
}

func (k keyRecord) expired(now time.Time) bool {
	return k.ExpiresAt != nil && !now.Before(k.ExpiresAt.Time)
}

// CreateKey creates a key with the caller's identity and at most its role. The raw key is not shown again. Errors:
// Invalid (name, role, expiresAt), Forbidden for a role above the caller's, for a tablet and for the local command
// line, which has no identity; Conflict on an archived account, and at the maximum number of keys.
func (s *Service) CreateKey(p Principal, in KeyInput) (Key, string, error) {
	if p.Email == "" || strings.HasPrefix(p.Email, tabletPrefix) {
		return Key{}, "", errdefs.New(errdefs.Forbidden, "only a user can have API keys")
	}
	return s.createKey(p, p.Email, in)
}

// CreateKeyFor creates a key for a user of the account; only for the local command line. The empty role is the
// user's. Errors: as CreateKey, and NotFound for an address that is not a user of the account.
func (s *Service) CreateKeyFor(p Principal, email string, in KeyInput) (Key, string, error) {
	if p.Type != TypeLocal {
		return Key{}, "", errdefs.New(errdefs.Forbidden, "only the local command line makes keys for others")
	}
	email, err := ParseEmail(email)
	if err != nil {
		return Key{}, "", err
	}
	return s.createKey(p, email, in)
}

func (s *Service) createKey(p Principal, email string, in KeyInput) (key Key, raw string, err error) {
	if err := in.check(s.clock()); err != nil {
		return Key{}, "", err
	}
	done, err := s.reserveKey(p.AccountID, email, p.Role)
	if err != nil {
		return Key{}, "", err
	}
	defer done()
	raw, made := newToken(prefixKey)
	err = s.write(p, Readonly, func(tx *kv.Tx, role Role, c *changes) error {
		if p.Type == TypeLocal {
			if role, err = s.userRole(tx, p.AccountID, email); errdefs.KindOf(err) == errdefs.Unauthorized {
				return errdefs.New(errdefs.NotFound, "%s is not a user of the account", email)
			} else if err != nil {
				return err
			}
		}
		if in.Role.Rank() > role.Rank() {
			return errdefs.New(errdefs.Forbidden, "a key cannot have the role %s, which is above %s, the role that it is asked for with", in.Role, role)
		}
		if in.Role != "" {
			role = in.Role
		}
		record := keyRecord{
			Hash: made.hash[:], AccountID: p.AccountID, Email: email, Name: in.Name, Role: role, CreatedAt: instant.Of(tx.Now()),
		}
		if in.ExpiresAt != nil {
			record.ExpiresAt = instant.OrNil(*in.ExpiresAt)
		}
		if p.Type == TypeAPIKey {
			if err := record.endWith(tx, p.KeyID); err != nil {
				return err
			}
		}
		key = record.key(made.id, nil)
		c.keys = []string{made.id}
		return putKey(tx, made.id, record, p.Actor())
	})
	if err != nil {
		return Key{}, "", err
	}
	return key, raw, nil
}

// endWith limits the lifetime of a key that is created with another key to that of the other. A later end is
// Forbidden; a missing one is set.
func (k *keyRecord) endWith(tx *kv.Tx, parent string) error {
	asking, err := keys.Get(tx, parent)
	if err != nil || asking.ExpiresAt == nil {
		return err
	}
	if k.ExpiresAt != nil && k.ExpiresAt.After(asking.ExpiresAt.Time) {
		return errdefs.New(errdefs.Forbidden, "a key cannot live longer than the key that asks for it, which ends at %s", instant.Format(asking.ExpiresAt.Time))
	}
	if k.ExpiresAt == nil {
		k.ExpiresAt = asking.ExpiresAt
	}
	return nil
}

// putKey writes a new key and its audit record.
func putKey(tx *kv.Tx, id string, record keyRecord, actor audit.Actor) error {
	if keys.Has(tx, id) {
		return errdefs.New(errdefs.Internal, "a key of the same id exists") // a chance of 1 in 2^60
	}
	if err := keys.Put(tx, id, record); err != nil {
		return err
	}
	detail := map[string]string{"email": record.Email, "name": record.Name, "role": string(record.Role)}
	if record.ExpiresAt != nil {
		detail["expiresAt"] = instant.Format(record.ExpiresAt.Time)
	}
	return audit.Put(tx, record.AccountID, actor, "key.create", id, detail)
}

func (k keyRecord) key(id string, used *instant.Time) Key {
	return Key{
		ID: id, Name: k.Name, Email: k.Email, Role: k.Role, CreatedAt: k.CreatedAt, LastUsedAt: used, ExpiresAt: k.ExpiresAt,
	}
}

// ListKeys returns the caller's keys, for an admin those of the whole account, oldest first, including expired ones
// that have not been swept. It reads from memory; the list is never nil. Errors: Forbidden for callers that cannot
// have keys.
func (s *Service) ListKeys(p Principal) ([]Key, error) {
	if p.Role.Rank() == 0 || p.Type == TypeLogin || p.Type == TypeDevice {
		return nil, errdefs.New(errdefs.Forbidden, "this credential cannot list keys")
	}
	list := []Key{}
	s.mu.RLock()
	for id, key := range s.keysByID {
		if key.record.AccountID != p.AccountID || !p.Role.AtLeast(Admin) && key.record.Email != p.Email {
			continue
		}
		var used *instant.Time
		if at := key.use.at.Load(); at != 0 {
			used = instant.OrNil(time.UnixMilli(at))
		}
		list = append(list, key.record.key(id, used))
	}
	s.mu.RUnlock()
	slices.SortFunc(list, func(a, b Key) int {
		if c := a.CreatedAt.Compare(b.CreatedAt.Time); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list, nil
}

// RevokeKey revokes a key by its raw form or public id, also on an archived account (decisions.md section 5). It
// returns nil for a key that was revoked earlier. Errors: Invalid, field "key", for an unknown key and for the id of
// another account's; Forbidden for another person's key, except for an admin of its account.
func (s *Service) RevokeKey(p Principal, keyOrID string) error {
	hash, isRaw := parseToken(prefixKey, keyOrID)
	id := keyOrID
	if isRaw {
		id = publicID(hash)
	}
	unknown := errdefs.InvalidField("key", "is neither an API key nor the id of one")
	if !isRaw && !isID(id) {
		return unknown
	}
	return s.update(func(tx *kv.Tx, c *changes) error {
		record, err := keys.Get(tx, id)
		if errors.Is(err, kv.ErrNotFound) || err == nil && isRaw && string(hash[:]) != string(record.Hash) {
			return unknown
		}
		if err != nil {
			return err
		}
		if record.AccountID != p.AccountID {
			if isRaw {
				return errdefs.New(errdefs.Forbidden, "the key belongs to another account")
			}
			return unknown
		}
		c.keys = []string{id} // even if it is revoked already: the other caller may not have updated the memory yet
		own := p.Email != "" && record.Email == p.Email
		if own && record.RevokedAt != nil {
			return nil // even if it is the key of this request: two such requests may overlap
		}
		role, err := s.authorize(tx, p, Readonly)
		if err != nil {
			return err
		}
		if !own && role != Admin {
			return errdefs.New(errdefs.Forbidden, "the key belongs to another user")
		}
		if record.RevokedAt != nil {
			return nil
		}
		if err := buryKey(tx, id, record); err != nil {
			return err
		}
		return audit.Put(tx, record.AccountID, p.Actor(), "key.revoke", id, map[string]string{"email": record.Email, "name": record.Name})
	})
}

// isID reports whether a string has the form of a public id.
func isID(s string) bool {
	return len(s) == publicLen && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// buryKey leaves only the tombstone of a key, so that revoking it again succeeds.
func buryKey(tx *kv.Tx, id string, record keyRecord) error {
	record.RevokedAt = instant.OrNil(tx.Now())
	if err := keyUses.Delete(tx, id); err != nil {
		return err
	}
	return keys.Put(tx, id, record)
}
