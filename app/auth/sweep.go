package auth

import (
	"errors"
	"fmt"
	"time"

	"opsmon/app/instant"
	"opsmon/kv"
)

// flush stores the changed last uses of keys and ends of sessions, in one transaction.
func (s *Service) flush() error {
	used, ends := s.moved()
	if len(used)+len(ends) == 0 {
		return nil
	}
	err := s.store.Update(func(tx *kv.Tx) error {
		for id, m := range used {
			if !keys.Has(tx, id) {
				continue // swept in the meantime
			}
			if err := keyUses.Put(tx, id, instant.OfMs(m.at)); err != nil {
				return err
			}
		}
		for id, m := range ends {
			session, err := sessions.Get(tx, id)
			if errors.Is(err, kv.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			session.ExpiresAt = instant.OfMs(m.at)
			if err := sessions.Put(tx, id, session); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write last uses: %w", err)
	}
	for _, list := range []map[string]move{used, ends} {
		for _, m := range list {
			m.of.written.Store(m.at)
		}
	}
	return nil
}

// move is the new value, in ms, of a moment that is not stored yet.
type move struct {
	of *moment
	at int64
}

// moved returns the last uses of keys and the ends of sessions that are not stored yet, by id.
func (s *Service) moved() (used, ends map[string]move) {
	used, ends = map[string]move{}, map[string]move{}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for id, key := range s.keysByID {
		if at := key.use.at.Load(); at != key.use.written.Load() {
			used[id] = move{key.use, at}
		}
	}
	for id, session := range s.sessionsByID {
		if at := session.end.at.Load(); at != session.end.written.Load() {
			ends[id] = move{session.end, at}
		}
	}
	return used, ends
}

// Sweep removes expired records: sessions; links, with their codes and with tablets that were never paired; and, 400
// days after their end, revoked and expired keys, which until then distinguish a revoked key from an unknown one. It
// shortens sessions from when the clock was ahead. It should be called about once an hour, with a trustworthy time,
// because removal is permanent. Errors are those of the store.
func (s *Service) Sweep(now time.Time) error {
	err := s.update(func(tx *kv.Tx, c *changes) error {
		return errors.Join(s.sweepSessions(tx, now, c), sweepLinks(tx, now), sweepKeys(tx, now, c))
	})
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}

func (s *Service) sweepSessions(tx *kv.Tx, now time.Time, c *changes) error {
	for item, err := range sessions.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		ends := s.sessionEnds(item.Key, item.Value.ExpiresAt.Time)
		if ends.Sub(now) > SessionLifetime+slideStep {
			s.shorten(item.Key, now.Add(SessionLifetime))
		}
		if now.Before(ends) {
			continue
		}
		c.sessions = append(c.sessions, item.Key)
		if err := sessions.Delete(tx, item.Key); err != nil {
			return err
		}
		if id := item.Value.TabletID; id != "" {
			if err := tablets.Delete(tx, place{A: item.Value.AccountID, B: id}); err != nil {
				return err
			}
		}
	}
	return nil
}

// shorten sets the end of a session; flush stores it.
func (s *Service) shorten(id string, at time.Time) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if session := s.sessionsByID[id]; session != nil {
		session.end.at.Store(at.UnixMilli())
	}
}

func sweepLinks(tx *kv.Tx, now time.Time) error {
	for item, err := range links.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		link := item.Value
		if link.live(now) {
			continue
		}
		if err := dropLink(tx, item.Key, link); err != nil {
			return err
		}
		if link.TabletID != "" && link.UsedAt == nil {
			if err := tablets.Delete(tx, place{A: link.AccountID, B: link.TabletID}); err != nil {
				return err
			}
		}
	}
	return nil
}

func sweepKeys(tx *kv.Tx, now time.Time, c *changes) error {
	for item, err := range keys.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		ended := item.Value.RevokedAt
		if ended == nil {
			ended = item.Value.ExpiresAt
		}
		if ended == nil || now.Before(ended.Add(tombstoneLife)) {
			continue
		}
		c.keys = append(c.keys, item.Key)
		if err := errors.Join(keyUses.Delete(tx, item.Key), keys.Delete(tx, item.Key)); err != nil {
			return err
		}
	}
	return nil
}
