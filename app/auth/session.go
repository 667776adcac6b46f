package auth

import (
	"errors"
	"time"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Grant is a new session.
type Grant struct {
	Session   string    // raw, for the cookie `session`; must not be logged
	Principal Principal // Expires is the end of the cookie
}

// Callback uses a one-time link and signs in the browser that has it (http-api.md section 4, row 4; decisions.md
// section 4). A person with several accounts is signed in to the last used one, else to the first by id. address is
// that of the request. Errors: Invalid (token) if missing; Forbidden for an unknown or expired one; Conflict if it
// was used.
func (s *Service) Callback(token, address string) (Grant, error) {
	hash, err := linkHash(token)
	if err != nil {
		return Grant{}, err
	}
	raw, made := newToken(prefixSession)
	var signed sessionRecord
	err = s.update(func(tx *kv.Tx, c *changes) error {
		link, err := usableLink(tx, hash)
		if err != nil {
			return err
		}
		link.UsedAt = instant.OrNil(tx.Now())
		if err := errors.Join(freeCode(tx, hash, link), dropWait(tx, link), links.Put(tx, hash, link)); err != nil {
			return err
		}
		c.sessions = []string{made.id}
		if link.TabletID != "" {
			signed, err = s.pairUp(tx, made, link, address)
		} else {
			signed, err = s.signIn(tx, made, link, address)
		}
		return err
	})
	if err != nil {
		return Grant{}, err
	}
	return s.grant(raw, made, signed, address)
}

func linkHash(token string) ([32]byte, error) {
	if token == "" {
		return [32]byte{}, errdefs.InvalidField("token", "must not be empty")
	}
	hash, ok := parseToken(prefixLink, token)
	if !ok {
		return hash, errBadLink
	}
	return hash, nil
}

// usableLink returns a link that can be used now. Errors: Forbidden, Conflict.
func usableLink(tx *kv.Tx, hash [32]byte) (linkRecord, error) {
	link, err := links.Get(tx, hash)
	if errors.Is(err, kv.ErrNotFound) || err == nil && !link.live(tx.Now()) {
		return link, errBadLink
	}
	if err == nil && link.UsedAt != nil {
		err = errdefs.New(errdefs.Conflict, "the link was used before: ask for a new one")
	}
	return link, err
}

// signIn stores a person's session.
func (s *Service) signIn(tx *kv.Tx, made secret, link linkRecord, address string) (sessionRecord, error) {
	accountID, err := s.enterable(tx, link.Email, link.Enter)
	if err != nil {
		return sessionRecord{}, err
	}
	if link.Bound && accountID != link.Enter {
		return sessionRecord{}, errBadLink
	}
	session := newSession(tx, made, accountID, link.Email, address)
	session.Bound = link.Bound
	return session, putSession(tx, made, session)
}

// putSession stores a person's new session and its account as the last used one.
func putSession(tx *kv.Tx, made secret, session sessionRecord) error {
	if err := sessions.Put(tx, made.id, session); err != nil {
		return err
	}
	if err := lastAccounts.Put(tx, session.Email, []byte(session.AccountID)); err != nil {
		return err
	}
	return auditSignIn(tx, made.id, session)
}

func newSession(tx *kv.Tx, made secret, accountID, email, address string) sessionRecord {
	return sessionRecord{
		Hash: made.hash[:], AccountID: accountID, Email: email, Address: address,
		CreatedAt: instant.Of(tx.Now()), ExpiresAt: instant.Of(tx.Now().Add(SessionLifetime)),
	}
}

func auditSignIn(tx *kv.Tx, id string, session sessionRecord) error {
	actor := audit.Actor{Email: session.Email, Credential: "login", Address: session.Address}
	return audit.Put(tx, session.AccountID, actor, "session.create", id, map[string]string{"email": session.Email})
}

// grant returns the result of a sign-in.
func (s *Service) grant(raw string, made secret, session sessionRecord, address string) (Grant, error) {
	p, err := s.AuthenticateSession(raw)
	if err != nil {
		return Grant{}, err // removed in the meantime
	}
	p.Address = address
	s.noteEntered(p.Email, address)
	return Grant{Session: raw, Principal: p}, nil
}

// Approve uses a one-time link to sign in the browser that requested it, if the five digits are those that it shows
// (decisions.md section 4). Five wrong codes invalidate the link. address is that of the request. Errors: Invalid
// (token) if missing; Forbidden for an unknown or expired link and a wrong code; Conflict if the link was used, or if
// no browser waits for it.
func (s *Service) Approve(token, code, address string) error {
	hash, err := linkHash(token)
	if err != nil {
		return err
	}
	wrong := false
	err = s.update(func(tx *kv.Tx, _ *changes) error {
		wrong = false
		link, err := usableLink(tx, hash)
		if err != nil {
			return err
		}
		if len(link.Wait) == 0 {
			return errdefs.New(errdefs.Conflict, "no other browser waits for this link")
		}
		if link.Code != code {
			wrong = true
			if link.Tries++; link.Tries >= maxTries {
				actor := audit.Actor{Credential: "login", Address: address}
				return errors.Join(dropLink(tx, hash, link), audit.Put(tx, link.AccountID, actor, "login.kill", link.Email, map[string]string{"from": link.Address}))
			}
			return links.Put(tx, hash, link)
		}
		link.UsedAt, link.Approved = instant.OrNil(tx.Now()), true
		if err := errors.Join(freeCode(tx, hash, link), links.Put(tx, hash, link)); err != nil {
			return err
		}
		actor := audit.Actor{Email: link.Email, Credential: "login", Address: address}
		return audit.Put(tx, link.AccountID, actor, "login.approve", link.Email, map[string]string{"from": link.Address})
	})
	if err == nil && wrong {
		err = errdefs.New(errdefs.Forbidden, "the code is not the one that the waiting browser shows")
	}
	return err
}

// Claim signs in the browser that requested a sign-in, once, after its link was approved (decisions.md section 4).
// loginToken is its cookie `login`; address is that of the request. Errors: Conflict while not approved; Forbidden
// for a token that is unknown, expired or was claimed.
func (s *Service) Claim(loginToken, address string) (Grant, error) {
	refused := errdefs.New(errdefs.Forbidden, "this browser has no pending sign-in, or it has expired; request a new link")
	wait, ok := parseToken(prefixWait, loginToken)
	if !ok {
		return Grant{}, refused
	}
	// A waiting page polls every few seconds: usually there is nothing to write.
	err := s.store.View(func(tx *kv.Tx) error {
		_, err := claimable(tx, wait, refused)
		return err
	})
	if err != nil {
		return Grant{}, err
	}
	raw, made := newToken(prefixSession)
	var signed sessionRecord
	err = s.update(func(tx *kv.Tx, c *changes) error {
		link, err := claimable(tx, wait, refused)
		if err != nil {
			return err
		}
		if err := waits.Delete(tx, wait); err != nil {
			return err
		}
		c.sessions = []string{made.id}
		signed, err = s.signIn(tx, made, link, address)
		return err
	})
	if err != nil {
		return Grant{}, err
	}
	return s.grant(raw, made, signed, address)
}

// claimable returns the approved link of a waiting browser.
func claimable(tx *kv.Tx, wait [32]byte, refused error) (linkRecord, error) {
	stored, err := waits.Get(tx, wait)
	if errors.Is(err, kv.ErrNotFound) {
		return linkRecord{}, refused
	}
	if err != nil {
		return linkRecord{}, err
	}
	link, err := links.Get(tx, [32]byte(stored))
	if errors.Is(err, kv.ErrNotFound) || err == nil && !link.live(tx.Now()) {
		return link, refused
	}
	if err == nil && !link.Approved {
		err = errdefs.New(errdefs.Conflict, "the link has not been opened yet")
	}
	return link, err
}

// SwitchAccount switches a session to another account of its person (decisions.md section 4). Errors: Forbidden for
// anything except a person's session, for an account that the person does not belong to, and for a session that an
// administrator's link bound to one account.
func (s *Service) SwitchAccount(p Principal, accountID string) (Principal, error) {
	if p.Type != TypeSession {
		return Principal{}, errdefs.New(errdefs.Forbidden, "only a session can change its account")
	}
	err := s.update(func(tx *kv.Tx, c *changes) error {
		if _, err := s.authorize(tx, p, Readonly); err != nil {
			return err
		}
		session, err := sessions.Get(tx, p.SessionID)
		if err != nil {
			return err
		}
		if session.TabletID != "" {
			return errdefs.New(errdefs.Forbidden, "a tablet stays in its account")
		}
		if session.Bound && accountID != session.AccountID {
			return errdefs.New(errdefs.Forbidden, "you signed in through a link for this account only: sign in again to enter another")
		}
		entered, err := s.enterable(tx, session.Email, accountID)
		if err != nil && errdefs.KindOf(err) != errdefs.Forbidden {
			return err
		}
		if entered != accountID {
			return errdefs.New(errdefs.Forbidden, "you are not a member of that account")
		}
		if session.AccountID == accountID {
			return nil
		}
		from := session.AccountID
		session.AccountID = accountID
		c.sessions = []string{p.SessionID}
		if err := sessions.Put(tx, p.SessionID, session); err != nil {
			return err
		}
		if err := lastAccounts.Put(tx, session.Email, []byte(accountID)); err != nil {
			return err
		}
		return audit.Put(tx, accountID, p.Actor(), "session.switch", p.SessionID, map[string]string{"from": from})
	})
	if err != nil {
		return Principal{}, err
	}
	return s.principal(p, accountID)
}

// principal returns the caller in its new account.
func (s *Service) principal(p Principal, accountID string) (Principal, error) {
	account, found := s.accounts.Account(accountID)
	s.mu.RLock()
	entitlement := s.entitled(accountID, p.Email)
	s.mu.RUnlock()
	role, entitled := entitlement.role(account, p.Email)
	if !found || !entitled {
		return Principal{}, errUnauthorized
	}
	p.AccountID, p.Role, p.RenewCookie = accountID, role, false
	return p, nil
}

// Logout ends the calling session, also on an archived account; it returns nil if the session has already ended. A
// tablet is removed from the list of tablets too. For an API key it does nothing (decisions.md section 4).
func (s *Service) Logout(p Principal) error {
	if p.Type != TypeSession {
		return nil
	}
	return s.update(func(tx *kv.Tx, c *changes) error {
		c.sessions = []string{p.SessionID} // even if it is gone: the other caller may not have updated the memory yet
		session, err := sessions.Get(tx, p.SessionID)
		if errors.Is(err, kv.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		c.sessions = nil
		return endSession(tx, p, p.SessionID, session, c)
	})
}

// sessionEnds returns when a session expires: memory is ahead of the store.
func (s *Service) sessionEnds(id string, stored time.Time) time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if session := s.sessionsByID[id]; session != nil {
		return time.UnixMilli(session.end.at.Load()).UTC()
	}
	return stored
}
