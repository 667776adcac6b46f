package auth

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// LoginRequest requests a one-time link (http-api.md section 4, row 6).
type LoginRequest struct {
	Destination string // the e-mail address
	Address     string // network address of the request
	// the appliance's address for the link in the mail; from the configuration, never from the request
	BaseURL string
}

// LoginResult is the answer to a LoginRequest (decisions.md section 4).
type LoginResult struct {
	Code       string    // five digits to compare with those in the message
	LoginToken string    // for the cookie `login`: lets this browser claim a session later; must not be logged
	Session    Principal // not authenticated: TypeLogin, role readonly; Expires is that of the link
}

// Link is a one-time link shown to an administrator (decisions.md sections 4 and 7).
type Link struct {
	Token     string // the secret in the link: see LinkURL; must not be logged
	Code      string
	ExpiresAt time.Time
	Email     string
	Role      Role // role of the person in Account
	Account   string
	From      string // address of the request; empty for the local command line
}

// LinkURL returns the link for a token. The token is in the fragment, which browsers send neither to servers nor as
// referrer; a script of the page sends the callback.
func LinkURL(baseURL, token string) string {
	return strings.TrimRight(baseURL, "/") + "/link#" + token
}

// PendingLogin is a pending sign-in.
//
// It never holds the token.
//
//openapi:schema LoginRequest
type PendingLogin struct {
	Code      string       `json:"code" schema:"pattern=^[0-9]{5}$"` // the five digits that the waiting browser shows
	Email     string       `json:"email"`
	Role      Role         `json:"role"` // the role that the person will have
	AccountID string       `json:"accountId"`
	Address   string       `json:"address"` // network address of the request
	CreatedAt instant.Time `json:"createdAt"`
	ExpiresAt instant.Time `json:"expiresAt"`
}

// errBadLink is the error for a link that is unknown, expired, replaced or invalidated by wrong codes.
var errBadLink error = errdefs.New(errdefs.Forbidden, "the link is invalid or has expired; request a new one")

// Limits of sign-in requests within loginWindow (decisions.md section 5). The first is for all requests from one
// address. The second is for requests from one address for one person. The third is for requests for one person from
// all addresses that this person has not signed in from recently: it prevents many machines from filling somebody's
// mailbox. A stranger's requests never count against an address that the person uses, and it takes many addresses to
// reach the third limit.
const (
	loginWindow       = 15 * time.Minute
	loginsOfAddress   = 20
	loginsOfPair      = 5
	loginsOfStrangers = 30
	familiar          = 30 * 24 * time.Hour // how long an address counts as a person's own after a sign-in
	tooManyFromHere   = "your address has asked to sign in too often: at most %d requests in 15 minutes, and %d for one person; wait a while"
	tooManyFromOthers = "many addresses have asked to sign in as this person, at most %d requests in 15 minutes; wait a while, or ask an administrator for a link"
)

// admitLogin counts a sign-in request. Error: TooMany.
func (s *Service) admitLogin(email, address string) error {
	now, from := s.clock(), AddressKey(address)
	refuse := func(after time.Duration, format string, args ...any) error {
		return &errdefs.Error{Kind: errdefs.TooMany, Message: fmt.Sprintf(format, args...), RetryAfter: after}
	}
	if allowed, after := s.byAddress.take(from, now); !allowed {
		return refuse(after, tooManyFromHere, loginsOfAddress, loginsOfPair)
	}
	if allowed, after := s.byPair.take(email+" "+from, now); !allowed {
		return refuse(after, tooManyFromHere, loginsOfAddress, loginsOfPair)
	}
	if s.familiar(email, from, now) {
		return nil
	}
	if allowed, after := s.byDestination.take(email, now); !allowed {
		return refuse(after, tooManyFromOthers, loginsOfStrangers)
	}
	return nil
}

// noteEntered records that a person has signed in from an address.
func (s *Service) noteEntered(email, address string) {
	s.entered.put(email+" "+AddressKey(address), s.clock())
}

// familiar reports whether a person has signed in from an address recently: since the service started, or with a
// session that is still valid.
func (s *Service) familiar(email, from string, now time.Time) bool {
	if at, ok := s.entered.get(email + " " + from); ok && now.Sub(at) < familiar {
		return true
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, session := range s.sessionsByID {
		if session.record.Email == email && AddressKey(session.record.Address) == from && now.UnixMilli() < session.end.at.Load() {
			return true
		}
	}
	return false
}

// Login creates a one-time link for an address. With a Mailer, it sends the link after the commit; otherwise an
// administrator has to pass it on. Errors: Invalid (destination); Forbidden for an address that is neither added nor
// on an account's domain, or only on archived accounts; TooMany beyond the limits of admitLogin; Unavailable if every
// code is in use.
func (s *Service) Login(r LoginRequest) (LoginResult, error) {
	email, err := parseEmail("destination", r.Destination)
	if err != nil {
		return LoginResult{}, err
	}
	if err := s.admitLogin(email, r.Address); err != nil {
		return LoginResult{}, err
	}
	token, link := newToken(prefixLink)
	waitToken, wait := newToken(prefixWait)
	var record linkRecord
	err = s.update(func(tx *kv.Tx, _ *changes) error {
		record = linkRecord{Email: email, Address: r.Address, Wait: wait.hash[:]}
		if record.AccountID, err = s.enterable(tx, email, ""); err != nil {
			return err
		}
		if err := putRequest(tx, link.hash, &record); err != nil {
			return err
		}
		actor := audit.Actor{Email: email, Credential: "login", Address: r.Address}
		return audit.Put(tx, record.AccountID, actor, "login.request", email, nil)
	})
	if err != nil {
		return LoginResult{}, err
	}
	if s.mailer != nil {
		s.mailer.send(message{
			to: email, code: record.Code, url: LinkURL(r.BaseURL, token), from: r.Address, expires: record.ExpiresAt.Time,
		})
	}
	return LoginResult{Code: record.Code, LoginToken: waitToken, Session: Principal{
		Type: TypeLogin, Email: email, AccountID: record.AccountID, Role: Readonly, UserRole: UserRoleCustomer,
		Expires: record.ExpiresAt.Time, Address: r.Address,
	}}, nil
}

// enterable selects the account to sign in to: the wanted one, else the last used, else the first by id. Error:
// Forbidden if there is no such account.
func (s *Service) enterable(tx *kv.Tx, email, wanted string) (string, error) {
	if wanted == "" {
		last, err := lastAccounts.Get(tx, email)
		if err != nil && !errors.Is(err, kv.ErrNotFound) {
			return "", err
		}
		wanted = string(last)
	}
	ids := []string{wanted}
	for _, m := range s.Memberships(email) {
		ids = append(ids, m.AccountID)
	}
	for _, id := range ids {
		if s.writable(id) != nil {
			continue
		}
		// The memory may lag behind a recently committed removal.
		_, err := s.userRole(tx, id, email)
		if err == nil {
			return id, nil
		}
		if errdefs.KindOf(err) != errdefs.Unauthorized {
			return "", err
		}
	}
	return "", errdefs.New(errdefs.Forbidden, "this address cannot sign in here: ask an administrator to add it")
}

// putRequest stores a new request under its link, with a code that no other pending request has.
func putRequest(tx *kv.Tx, hash [32]byte, record *linkRecord) error {
	record.CreatedAt = instant.Of(tx.Now())
	record.ExpiresAt = instant.Of(tx.Now().Add(LinkLifetime))
	const tries = 100
	for range tries {
		n, err := rand.Int(rand.Reader, big.NewInt(100_000))
		if err != nil {
			return err
		}
		if code := fmt.Sprintf("%05d", n); !codes.Has(tx, code) {
			record.Code = code
			return putLink(tx, hash, *record)
		}
	}
	return &errdefs.Error{
		Kind: errdefs.Unavailable, Message: "too many requests to sign in are waiting", RetryAfter: LinkLifetime,
	}
}

// putLink stores a link and the records that refer to it.
func putLink(tx *kv.Tx, hash [32]byte, record linkRecord) error {
	if record.Code != "" {
		if err := codes.Put(tx, record.Code, hash[:]); err != nil {
			return err
		}
	}
	if len(record.Wait) == 32 {
		if err := waits.Put(tx, [32]byte(record.Wait), hash[:]); err != nil {
			return err
		}
	}
	return links.Put(tx, hash, record)
}

// dropLink deletes a link and the records that refer to it.
func dropLink(tx *kv.Tx, hash [32]byte, record linkRecord) error {
	return errors.Join(freeCode(tx, hash, record), dropWait(tx, record), links.Delete(tx, hash))
}

// freeCode makes a code available again, unless it belongs to another request by now.
func freeCode(tx *kv.Tx, hash [32]byte, record linkRecord) error {
	owner, err := codes.Get(tx, record.Code)
	if errors.Is(err, kv.ErrNotFound) || err == nil && string(owner) != string(hash[:]) {
		return nil
	}
	if err != nil {
		return err
	}
	return codes.Delete(tx, record.Code)
}

func dropWait(tx *kv.Tx, record linkRecord) error {
	if len(record.Wait) != 32 {
		return nil
	}
	return waits.Delete(tx, [32]byte(record.Wait))
}

// PendingLogins returns the pending sign-in requests of the account's people, newest first. Requires admin. The list
// is never nil. Errors: Forbidden.
func (s *Service) PendingLogins(p Principal) ([]PendingLogin, error) {
	list := []PendingLogin{}
	err := s.view(p, func(tx *kv.Tx) error {
		for item, err := range links.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			link := item.Value
			if !link.pending(tx.Now()) {
				continue
			}
			role, err := s.userRole(tx, p.AccountID, link.Email)
			if errdefs.KindOf(err) == errdefs.Unauthorized {
				continue
			}
			if err != nil {
				return err
			}
			list = append(list, PendingLogin{
				Code: link.Code, Email: link.Email, Role: role, AccountID: p.AccountID,
				Address: link.Address, CreatedAt: link.CreatedAt, ExpiresAt: link.ExpiresAt,
			})
		}
		return nil
	})
	slices.SortFunc(list, func(a, b PendingLogin) int {
		if c := b.CreatedAt.Compare(a.CreatedAt.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Code, b.Code)
	})
	return list, err
}

// pending reports whether a link is a person's and can still be used.
func (l linkRecord) pending(now time.Time) bool {
	return l.Code != "" && l.UsedAt == nil && l.live(now)
}

// LinkFor returns a link for a pending request to an admin of an account of the person. Only the hash of a link is
// stored, so it is a new link; the previous one, which may have been mailed, becomes invalid. The new link opens only
// the admin's account: an admin must not get into another account as its user. For the local command line it opens
// the account of the request. Errors: Forbidden, NotFound for a code without a pending request, Conflict on an
// archived account.
func (s *Service) LinkFor(p Principal, code string) (Link, error) {
	token, made := newToken(prefixLink)
	var shown Link
	err := s.write(p, Admin, func(tx *kv.Tx, _ Role, _ *changes) error {
		unknown := errdefs.New(errdefs.NotFound, "no request to sign in with this code is waiting")
		stored, err := codes.Get(tx, code)
		if errors.Is(err, kv.ErrNotFound) {
			return unknown
		}
		if err != nil {
			return err
		}
		hash := [32]byte(stored)
		record, err := links.Get(tx, hash)
		if err != nil {
			return err
		}
		if !record.pending(tx.Now()) {
			return unknown
		}
		role, err := s.userRole(tx, p.AccountID, record.Email)
		if errdefs.KindOf(err) == errdefs.Unauthorized {
			return unknown
		}
		if err != nil {
			return err
		}
		if err := dropLink(tx, hash, record); err != nil {
			return err
		}
		record.Tries = 0
		if p.Type != TypeLocal {
			record.AccountID, record.Enter, record.Bound = p.AccountID, p.AccountID, true
		}
		shown = record.link(token, role, p.AccountID)
		if err := putLink(tx, made.hash, record); err != nil {
			return err
		}
		return audit.Put(tx, p.AccountID, p.Actor(), "login.link", record.Email, map[string]string{"from": record.Address})
	})
	return shown, err
}

func (l linkRecord) link(token string, role Role, accountID string) Link {
	return Link{
		Token: token, Code: l.Code, ExpiresAt: l.ExpiresAt.Time, Email: l.Email, Role: role, Account: accountID, From: l.Address,
	}
}

// LinkOutright creates a request with its link, for the principal's account; only for the local command line. Errors:
// Invalid (email), Forbidden, NotFound for an address that is neither a user of the account nor on its domain,
// Conflict on an archived account.
func (s *Service) LinkOutright(p Principal, email string) (Link, error) {
	if p.Type != TypeLocal {
		return Link{}, errdefs.New(errdefs.Forbidden, "only the local command line makes links outright")
	}
	email, err := ParseEmail(email)
	if err != nil {
		return Link{}, err
	}
	token, made := newToken(prefixLink)
	var shown Link
	err = s.write(p, Admin, func(tx *kv.Tx, _ Role, _ *changes) error {
		role, err := s.userRole(tx, p.AccountID, email)
		if errdefs.KindOf(err) == errdefs.Unauthorized {
			return noUser(email)
		}
		if err != nil {
			return err
		}
		record := linkRecord{Email: email, AccountID: p.AccountID, Enter: p.AccountID, Address: p.Address}
		if err := putRequest(tx, made.hash, &record); err != nil {
			return err
		}
		shown = record.link(token, role, p.AccountID)
		return audit.Put(tx, p.AccountID, p.Actor(), "login.link", email, map[string]string{"from": p.Address})
	})
	return shown, err
}
