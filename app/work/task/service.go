package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/station"
	"opsmon/kv"
)

// flag enables Tasks, at the account (http-api.md section 2.2).
const flag = "enableTasks"

// Config has the dependencies of a Service.
type Config struct {
	Store     *kv.Store
	Timelines *station.Timelines
	// Authorize checks in the transaction of a change that the caller's credential is still valid and has the role.
	Authorize func(*kv.Tx, auth.Principal, auth.Role) error
	Log       *slog.Logger
}

// Service makes Tasks due and completes them. It implements floor.Rule. Its methods may be called from any goroutine.
type Service struct {
	cfg Config

	mu       sync.Mutex
	accounts map[string]*memory
}

// memory caches an account's next due times, so that the store is read only when there is work.
type memory struct {
	revision int64            // the manifest revision that all stations were processed with; 0: none yet
	next     map[string]int64 // by station, the time of its next work, ms
	soonest  int64            // the earliest of these
	seen     int64            // the time of the last call of Due, ms
}

// New returns a Service. The caller must register it with the Floor as a rule and call Sweep regularly.
func New(cfg Config) *Service { return &Service{cfg: cfg, accounts: map[string]*memory{}} }

var _ floor.Rule = (*Service)(nil)

func (s *Service) memory(accountID string) *memory {
	m := s.accounts[accountID]
	if m == nil {
		m = &memory{next: map[string]int64{}, soonest: forever}
		s.accounts[accountID] = m
	}
	return m
}

// note caches the times of the next work of stations.
func (s *Service) note(accountID string, next map[string]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.memory(accountID)
	for code, at := range next {
		if m.next[code] = at; at == forever {
			delete(m.next, code)
		}
	}
	m.soonest = forever
	for _, at := range m.next {
		m.soonest = min(m.soonest, at)
	}
}

// Retention of Instances that are no longer current.
const (
	maxAge  = 400 * 24 * time.Hour
	maxKept = 10_000 // of one station
	// sweepStep limits the deletions of one transaction.
	sweepStep = 1000
)

// Sweep deletes expired Instances and texts. now must be a trusted time. Errors are the store's.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	oldest := now.Add(-maxAge).UnixMilli()
	var all []place
	err := s.cfg.Store.View(func(tx *kv.Tx) error {
		for item, err := range stations.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			all = append(all, item.Key)
		}
		return nil
	})
	for _, at := range all {
		for more := err == nil; more && ctx.Err() == nil && err == nil; {
			err = s.cfg.Store.Update(func(tx *kv.Tx) (err error) {
				more, err = sweepStation(tx, at, oldest)
				return err
			})
		}
	}
	if err == nil && ctx.Err() == nil {
		err = s.cfg.Store.Update(func(tx *kv.Tx) error { return sweepTexts(tx, oldest) })
	}
	if err != nil {
		return fmt.Errorf("remove old Tasks: %w", err)
	}
	return nil
}

// sweepStation deletes some of a station's Instances that are too old or too many; more reports whether to continue.
func sweepStation(tx *kv.Tx, at place, oldest int64) (more bool, err error) {
	rec, err := stations.Get(tx, at)
	if errors.Is(err, kv.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	removed, kept := 0, 0
	for item, err := range instances.Scan(tx, during(at.A, at.B, 0, forever)) {
		if err != nil {
			return false, err
		}
		if int64(item.Key.B.B.A) >= oldest && rec.Count-removed <= maxKept || removed+kept == sweepStep {
			break
		}
		if currents.Has(tx, item.Key) {
			kept++
			continue
		}
		if err := instances.Delete(tx, item.Key); err != nil {
			return false, err
		}
		removed++
	}
	if removed == 0 {
		return false, nil
	}
	rec.Count -= removed
	return true, stations.Put(tx, at, rec)
}

// sweepTexts deletes texts that no Instance uses. Texts of current Instances stay.
func sweepTexts(tx *kv.Tx, oldest int64) error {
	used := map[textKey]bool{}
	for item, err := range currents.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		rec, err := instances.Get(tx, item.Key)
		if err != nil {
			return err
		}
		used[textKey{A: item.Key.A, B: string(rec.Text)}] = true
	}
	for item, err := range texts.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		// An Instance may be made later than the time from which it was available, but never by that much.
		if item.Value.Used+textStep.Milliseconds() < oldest && !used[item.Key] {
			if err := texts.Delete(tx, item.Key); err != nil {
				return err
			}
		}
	}
	return nil
}
