package auth

import (
	"errors"
	"fmt"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

// ResetAdmin recovers an appliance when nobody can sign in as an administrator. In one transaction, it makes the
// address an admin of the account (added, promoted, or readmitted after a removal), ends every session and pending
// sign-in of the address on every account, and creates a new one-time link to the account. The user's keys remain.
// Only for the local command line. Errors: Invalid (email), Forbidden, Conflict on an archived account.
func (s *Service) ResetAdmin(p Principal, email string) (Link, error) {
	if p.Type != TypeLocal {
		return Link{}, errdefs.New(errdefs.Forbidden, "only the local command line can make somebody an administrator directly")
	}
	email, err := ParseEmail(email)
	if err != nil {
		return Link{}, err
	}
	token, made := newToken(prefixLink)
	var shown Link
	err = s.write(p, Admin, func(tx *kv.Tx, _ Role, c *changes) error {
		at := place{A: p.AccountID, B: email}
		was, err := raise(tx, at, p.Actor())
		if err != nil {
			return err
		}
		c.users = []place{at}
		if err := endSignIns(tx, email, c); err != nil {
			return err
		}
		record := linkRecord{Email: email, AccountID: p.AccountID, Enter: p.AccountID, Address: p.Address}
		if err := putRequest(tx, made.hash, &record); err != nil {
			return err
		}
		shown = record.link(token, Admin, p.AccountID)
		return audit.Put(tx, p.AccountID, p.Actor(), "user.resetAdmin", email, map[string]string{
			"was": was, "sessions": fmt.Sprint(len(c.sessions)),
		})
	})
	return shown, err
}

// raise makes an address an admin and returns its previous state: a role, "none" or "removed".
func raise(tx *kv.Tx, at place, actor audit.Actor) (was string, err error) {
	record, err := users.Get(tx, at)
	switch {
	case errors.Is(err, kv.ErrNotFound), err == nil && record.Refused:
		was = "none"
		if err == nil {
			was = "removed"
		}
		_, err = addUser(tx, at.A, at.B, Admin, actor)
		return was, err
	case err != nil:
		return "", err
	}
	was = string(record.Role)
	record.Role = Admin
	return was, users.Put(tx, at, record)
}

// endSignIns ends every session and every pending link of an address.
func endSignIns(tx *kv.Tx, email string, c *changes) error {
	for item, err := range sessions.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		if item.Value.Email == email {
			c.sessions = append(c.sessions, item.Key)
			if err := sessions.Delete(tx, item.Key); err != nil {
				return err
			}
		}
	}
	for item, err := range links.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		if item.Value.Email == email && item.Value.pending(tx.Now()) {
			if err := dropLink(tx, item.Key, item.Value); err != nil {
				return err
			}
		}
	}
	return nil
}
