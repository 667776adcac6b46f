package auth

import (
	"errors"
	"fmt"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// User is a user who was added to the account.
//
// See decisions.md section 4.
//
//openapi:schema User
type User struct {
	Email     string       `json:"email"` // lower case
	Role      Role         `json:"role"`
	CreatedAt instant.Time `json:"createdAt"`
}

// AddUser adds an address with a role to the caller's account, also after an earlier removal. Requires admin. Errors:
// Invalid (email, role), Forbidden, Conflict if it was added before or the account is archived.
func (s *Service) AddUser(p Principal, email string, role Role) (User, error) {
	email, err := checkUser(email, role)
	if err != nil {
		return User{}, err
	}
	var user User
	err = s.write(p, Admin, func(tx *kv.Tx, _ Role, c *changes) error {
		c.users = []place{{A: p.AccountID, B: email}}
		user, err = addUser(tx, p.AccountID, email, role, p.Actor())
		return err
	})
	return user, err
}

func addUser(tx *kv.Tx, accountID, email string, role Role, actor audit.Actor) (User, error) {
	at := place{A: accountID, B: email}
	before, err := users.Get(tx, at)
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return User{}, err
	}
	if err == nil && !before.Refused {
		return User{}, errdefs.New(errdefs.Conflict, "%s is a user of the account already", email)
	}
	record := userRecord{Role: role, CreatedAt: instant.Of(tx.Now())}
	if err := users.Put(tx, at, record); err != nil {
		return User{}, err
	}
	err = audit.Put(tx, accountID, actor, "user.add", email, map[string]string{"role": string(role)})
	return User{Email: email, Role: role, CreatedAt: record.CreatedAt}, err
}

// CheckUser validates an address and a role: Invalid (email, role).
func CheckUser(email string, role Role) error {
	_, err := checkUser(email, role)
	return err
}

func checkUser(email string, role Role) (string, error) {
	email, wrongEmail := ParseEmail(email)
	_, wrongRole := ParseRole(string(role))
	if wrongEmail == nil && wrongRole == nil {
		return email, nil
	}
	return "", errdefs.InvalidDetails("the user", append(detailsOf(wrongEmail), detailsOf(wrongRole)...))
}

// SetRole changes the role of a user of the caller's account. It adds an address on the account's domain that was
// never added. Requires admin. Errors: Invalid (email, role), Forbidden, NotFound, Conflict if no admin would remain
// or the account is archived.
func (s *Service) SetRole(p Principal, email string, role Role) (User, error) {
	email, err := checkUser(email, role)
	if err != nil {
		return User{}, err
	}
	var user User
	err = s.write(p, Admin, func(tx *kv.Tx, _ Role, c *changes) error {
		at := place{A: p.AccountID, B: email}
		record, err := users.Get(tx, at)
		if errors.Is(err, kv.ErrNotFound) && s.isOnDomain(p.AccountID, email) {
			c.users = []place{at}
			user, err = addUser(tx, p.AccountID, email, role, p.Actor())
			return err
		}
		if errors.Is(err, kv.ErrNotFound) || err == nil && record.Refused {
			return noUser(email)
		}
		if err != nil {
			return err
		}
		before := record.Role
		record.Role = role
		user = User{Email: email, Role: role, CreatedAt: record.CreatedAt}
		if before == role {
			return nil
		}
		if err := keepAdmin(tx, at, before); err != nil {
			return err
		}
		c.users = []place{at}
		if err := users.Put(tx, at, record); err != nil {
			return err
		}
		return audit.Put(tx, p.AccountID, p.Actor(), "user.setRole", email, map[string]string{"from": string(before), "to": string(role)})
	})
	return user, err
}

// keepAdmin refuses to change the role of an account's last admin.
func keepAdmin(tx *kv.Tx, at place, role Role) error {
	if role != Admin {
		return nil
	}
	for item, err := range users.Scan(tx, kv.Under(users, at.A)) {
		if err != nil {
			return err
		}
		if item.Key != at && item.Value.Role == Admin && !item.Value.Refused {
			return nil
		}
	}
	return errdefs.New(errdefs.Conflict, "%s is the account's last admin: make somebody else one first", at.B)
}

// RemoveUser removes an address from the caller's account and ends all its keys and sessions there immediately. An
// address on the account's domain, added or not, is refused until it is added again. Requires admin. Errors: Invalid
// (email), Forbidden, NotFound, Conflict for the last admin and on an archived account.
func (s *Service) RemoveUser(p Principal, email string) error {
	email, err := ParseEmail(email)
	if err != nil {
		return err
	}
	return s.write(p, Admin, func(tx *kv.Tx, _ Role, c *changes) error {
		at := place{A: p.AccountID, B: email}
		record, err := users.Get(tx, at)
		known := err == nil
		if err != nil && !errors.Is(err, kv.ErrNotFound) {
			return err
		}
		domain := s.isOnDomain(p.AccountID, email)
		if known && record.Refused || !known && !domain {
			return noUser(email)
		}
		if err := keepAdmin(tx, at, record.Role); err != nil {
			return err
		}
		c.users = []place{at}
		if domain {
			err = users.Put(tx, at, userRecord{CreatedAt: instant.Of(tx.Now()), Refused: true})
		} else {
			err = users.Delete(tx, at)
		}
		if err != nil {
			return err
		}
		if err := endCredentials(tx, at, c); err != nil {
			return err
		}
		return audit.Put(tx, p.AccountID, p.Actor(), "user.remove", email, map[string]string{
			"role": string(record.Role), "keys": fmt.Sprint(len(c.keys)), "sessions": fmt.Sprint(len(c.sessions)),
		})
	})
}

// endCredentials revokes every key and ends every session of a user in an account. It reads all of them from the
// store, because the memory may lack a recent one.
func endCredentials(tx *kv.Tx, at place, c *changes) error {
	for item, err := range keys.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		if k := item.Value; k.AccountID == at.A && k.Email == at.B && k.RevokedAt == nil {
			c.keys = append(c.keys, item.Key)
			if err := buryKey(tx, item.Key, k); err != nil {
				return err
			}
		}
	}
	for item, err := range sessions.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		if item.Value.AccountID == at.A && item.Value.Email == at.B {
			c.sessions = append(c.sessions, item.Key)
			if err := sessions.Delete(tx, item.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// ListUsers returns the users who were added to the caller's account, by e-mail, not those who only share its domain.
// Requires admin. The list is never nil. Errors: Forbidden.
func (s *Service) ListUsers(p Principal) ([]User, error) {
	list := []User{}
	err := s.view(p, func(tx *kv.Tx) error {
		for item, err := range users.Scan(tx, kv.Under(users, p.AccountID)) {
			if err != nil {
				return err
			}
			if !item.Value.Refused {
				list = append(list, User{Email: item.Key.B, Role: item.Value.Role, CreatedAt: item.Value.CreatedAt})
			}
		}
		return nil
	})
	return list, err
}

// User returns one user of the caller's account. Requires admin. Errors: Invalid (email), Forbidden, NotFound.
func (s *Service) User(p Principal, email string) (User, error) {
	email, err := ParseEmail(email)
	if err != nil {
		return User{}, err
	}
	var user User
	err = s.view(p, func(tx *kv.Tx) error {
		record, err := users.Get(tx, place{A: p.AccountID, B: email})
		if errors.Is(err, kv.ErrNotFound) || err == nil && record.Refused {
			return noUser(email)
		}
		user = User{Email: email, Role: record.Role, CreatedAt: record.CreatedAt}
		return err
	})
	return user, err
}

// view runs a read that requires admin.
func (s *Service) view(p Principal, fn func(tx *kv.Tx) error) error {
	return s.store.View(func(tx *kv.Tx) error {
		if _, err := s.authorize(tx, p, Admin); err != nil {
			return err
		}
		return fn(tx)
	})
}

func noUser(email string) error {
	return errdefs.New(errdefs.NotFound, "%s is not a user of the account", email)
}

func (s *Service) isOnDomain(accountID, email string) bool {
	account, found := s.accounts.Account(accountID)
	return found && onDomain(email, account.Domain)
}

// First is the first admin of a new account and its credential.
type First struct {
	AccountID, Email string
	SignIn           bool // with a session rather than an API key
	Actor            audit.Actor
}

// BootstrapTx creates a new account's first admin, with an API key or a session, in the transaction that creates the
// account (decisions.md section 7, `app init`). After the commit, and once Accounts has the account, the caller must
// call done, which updates the memory. Like a transaction's function it may run more than once; the raw credential
// and the done of the last run count. Errors: Invalid (email), Conflict if the address is already a user of the
// account.
func (s *Service) BootstrapTx(tx *kv.Tx, in First) (raw string, done func(), err error) {
	email, err := ParseEmail(in.Email)
	if err != nil {
		return "", nil, err
	}
	if _, err := addUser(tx, in.AccountID, email, Admin, in.Actor); err != nil {
		return "", nil, err
	}
	c := changes{users: []place{{A: in.AccountID, B: email}}}
	var made secret
	if in.SignIn {
		raw, made = newToken(prefixSession)
		c.sessions = []string{made.id}
		first := newSession(tx, made, in.AccountID, email, in.Actor.Address)
		first.Bound = true // the address is not verified: the session must not open accounts that are added later
		err = putSession(tx, made, first)
	} else {
		raw, made = newToken(prefixKey)
		c.keys = []string{made.id}
		err = putKey(tx, made.id, keyRecord{
			Hash: made.hash[:], AccountID: in.AccountID, Email: email, Name: "first key", Role: Admin, CreatedAt: instant.Of(tx.Now()),
		}, in.Actor)
	}
	return raw, func() {
		if err := s.refresh(c); err != nil {
			s.log.Error("the first user cannot sign in before a restart", "account", in.AccountID, "error", err)
		}
	}, err
}
