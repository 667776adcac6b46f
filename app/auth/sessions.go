package auth

import (
	"cmp"
	"errors"
	"slices"

	"opsmon/app/audit"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Session is a signed-in browser, or a tablet.
//
// It never holds the secret.
//
//openapi:schema SignedIn
type Session struct {
	ID         string       `json:"id"`
	Current    bool         `json:"current"` // the calling session
	AccountID  string       `json:"accountId"`
	Address    string       `json:"address"` // network address at sign-in
	CreatedAt  instant.Time `json:"createdAt"`
	LastUsedAt instant.Time `json:"lastUsedAt"` // to the hour
	ExpiresAt  instant.Time `json:"expiresAt"`
}

// Sessions returns the caller's sessions, last used first. A caller with a key, or with a link for one account, only
// gets those of that account. The list is never nil. Errors: Unauthorized.
func (s *Service) Sessions(p Principal) ([]Session, error) {
	list := []Session{}
	err := s.store.View(func(tx *kv.Tx) error {
		if _, err := s.authorize(tx, p, Readonly); err != nil {
			return err
		}
		return s.eachSession(tx, p, func(id string, r sessionRecord) error {
			ends := s.sessionEnds(id, r.ExpiresAt.Time)
			if tx.Now().Before(ends) {
				list = append(list, Session{
					ID: id, Current: id == p.SessionID, AccountID: r.AccountID, Address: r.Address, CreatedAt: r.CreatedAt,
					LastUsedAt: s.lastUsed(id, r), ExpiresAt: instant.Of(ends),
				})
			}
			return nil
		})
	})
	slices.SortFunc(list, func(a, b Session) int {
		return cmp.Or(b.LastUsedAt.Compare(a.LastUsedAt.Time), cmp.Compare(a.ID, b.ID))
	})
	return list, err
}

// lastUsed returns when a session was last used, to the hour: a use extends it at most once an hour.
func (s *Service) lastUsed(id string, r sessionRecord) instant.Time {
	return instant.Of(s.sessionEnds(id, r.ExpiresAt.Time).Add(-SessionLifetime))
}

// EndSessions ends the sessions in Sessions, also on an archived account, except the calling one if keepThis is true.
// It returns how many have ended. Errors: Unauthorized.
func (s *Service) EndSessions(p Principal, keepThis bool) (ended int, err error) {
	err = s.update(func(tx *kv.Tx, c *changes) error {
		if _, err := s.authorize(tx, p, Readonly); err != nil {
			return err
		}
		err := s.eachSession(tx, p, func(id string, r sessionRecord) error {
			if keepThis && id == p.SessionID {
				return nil
			}
			return endSession(tx, p, id, r, c)
		})
		ended = len(c.sessions)
		return err
	})
	return ended, err
}

// EndSessionsOf ends a user's sessions in the caller's account and returns how many have ended. Sessions in other
// accounts continue, but can no longer switch to this one. Requires admin. Errors: Invalid (email), Forbidden,
// NotFound, Conflict on an archived account.
func (s *Service) EndSessionsOf(p Principal, email string) (ended int, err error) {
	if email, err = ParseEmail(email); err != nil {
		return 0, err
	}
	err = s.write(p, Admin, func(tx *kv.Tx, _ Role, c *changes) error {
		if !users.Has(tx, place{A: p.AccountID, B: email}) && !s.isOnDomain(p.AccountID, email) {
			return noUser(email)
		}
		ended = 0
		return sessionsOf(tx, email, "", func(id string, r sessionRecord) error {
			if r.AccountID == p.AccountID {
				ended++
				return endSession(tx, p, id, r, c)
			}
			r.Bound = true
			return sessions.Put(tx, id, r)
		})
	})
	return ended, err
}

// eachSession calls fn for the sessions that a caller may see and end.
func (s *Service) eachSession(tx *kv.Tx, p Principal, fn func(id string, r sessionRecord) error) error {
	account := p.AccountID
	if p.Type == TypeSession {
		own, err := sessions.Get(tx, p.SessionID)
		if err != nil {
			return err
		}
		if !own.Bound && own.TabletID == "" {
			account = "" // a person's, with a verified address
		}
	}
	return sessionsOf(tx, p.Email, account, fn)
}

// sessionsOf calls fn for the sessions of an address in an account, "" for all.
func sessionsOf(tx *kv.Tx, email, account string, fn func(id string, r sessionRecord) error) error {
	found := map[string]sessionRecord{} // collected first, because fn may delete them
	for item, err := range sessions.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		if r := item.Value; r.Email == email && (account == "" || r.AccountID == account) {
			found[item.Key] = r
		}
	}
	for id, r := range found {
		if err := fn(id, r); err != nil {
			return err
		}
	}
	return nil
}

// endSession deletes a session, and a tablet's record with it.
func endSession(tx *kv.Tx, p Principal, id string, r sessionRecord, c *changes) error {
	c.sessions = append(c.sessions, id)
	err := sessions.Delete(tx, id)
	if err == nil && r.TabletID != "" {
		err = tablets.Delete(tx, place{A: r.AccountID, B: r.TabletID})
	}
	return errors.Join(err, audit.Put(tx, r.AccountID, p.Actor(), "session.end", id, nil))
}
