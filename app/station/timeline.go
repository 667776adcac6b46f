package station

import (
	"sync"
	"sync/atomic"

	"opsmon/app/account"
	"opsmon/app/monitor"
	"opsmon/kv"
)

// Accounts is what Timelines need of package account.
type Accounts interface {
	Get(accountID string) (*account.Snapshot, error)
	Records(accountID string, first, last uint64) ([]account.Revision, error)
	ManifestOf(accountID string, number uint64) (*account.Manifest, error)
	GoneStations(accountID string) (map[string]account.Lifetime, error)
}

// Config is what New needs.
type Config struct {
	Accounts Accounts
	Store    *kv.Store // of the corrections; nil: there are none
	Options
}

// Timelines holds the timelines of all accounts. It may be used by many goroutines.
type Timelines struct {
	cfg Config
	mu  sync.Mutex
	all map[string]*Timeline
}

// New makes the timelines. It reads nothing: plans are made, and corrections read, when they are first asked for.
func New(cfg Config) *Timelines {
	return &Timelines{cfg: cfg, all: map[string]*Timeline{}}
}

// Of gives the timeline of an account. Errors: errdefs.NotFound when there is no such account, the store's.
func (t *Timelines) Of(accountID string) (*Timeline, error) {
	if _, err := t.cfg.Accounts.Get(accountID); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	line, ok := t.all[accountID]
	if !ok {
		corrections, err := readCorrections(t.cfg.Store, accountID)
		if err != nil {
			return nil, err
		}
		line = &Timeline{revisions: &revisions{
			account: accountID, accounts: t.cfg.Accounts, options: t.cfg.Options, plans: map[uint64]*planEntry{}, differ: map[uint64]*difference{}, held: heldStations,
		}}
		line.corrected.Store(newOverlay(corrections))
		t.all[accountID] = line
	}
	return line, nil
}

// Timeline is an account's configuration over time. It may be used by many goroutines, and always knows the newest
// revision. Plans that were not asked for lately are let go and made anew when they are needed. A plan is what the manifest
// said; corrections are laid over it in Changes, StationAt and Config.
type Timeline struct {
	*revisions
	corrected atomic.Pointer[overlay]
}

// Config gives the engine's configuration of a station that a monitor.Config.Revision names, for monitor.Decode; nil when
// there is none.
func (t *Timeline) Config(stationCode string, revision int64) *monitor.Config {
	number, boundary := revision&maxRevision, revision>>32
	p, err := t.PlanOf(number)
	if err != nil || p.Of(stationCode) == nil {
		return nil
	}
	s, err := t.corrected.Load().named(p, stationCode, boundary)
	if err != nil || s == nil {
		return nil
	}
	return s.Monitor
}

// StationAt gives a station as of a moment, corrections included; nil when the manifest of that time has none of its code.
func (t *Timeline) StationAt(stationCode string, at int64) (*Station, error) {
	p, err := t.At(at)
	if err != nil || p.Of(stationCode) == nil {
		return nil, err
	}
	return t.corrected.Load().station(p, stationCode, at)
}

// Change is a moment at which a station's configuration became another one.
type Change struct {
	At      int64
	Station *Station // from then on. Archived: the station has left the manifest, and this is how it last was
	Engine  bool     // the engine's part changed: Station.Monitor is to be given to it
}

// Changes gives the moments in (from, to] at which a station's configuration became another one, in order; and before
// them, as of from, what held there. Where the station was not there yet at from, the first is when it appeared, and there
// are none when it never was. The first revision counts from the beginning of time.
func (t *Timeline) Changes(stationCode string, from, to int64) ([]Change, error) {
	first, err := t.recordAt(from)
	if err != nil {
		return nil, err
	}
	var list []Change
	over := t.corrected.Load()
	last, err := t.stationOf(over, first.number, stationCode, from)
	if err != nil {
		return nil, err
	}
	if last != nil {
		list = append(list, Change{At: from, Station: last, Engine: true})
	}
	number := first.number
	for _, m := range over.moments(stationCode, from, t.between(first.number, to), to) {
		if m.revision != 0 {
			number = m.revision
			d, err := t.difference(number)
			if err != nil {
				return nil, err
			}
			if !d.touches(stationCode) && !m.corrected {
				continue
			}
		}
		s, err := t.stationOf(over, number, stationCode, m.at)
		if err != nil {
			return nil, err
		}
		if s == nil && last != nil {
			s = last.archived()
		}
		if s == nil || last != nil && s.Same(last) {
			continue
		}
		if n := len(list); n > 1 && list[n-1].At == m.at { // overtaken before it was in force
			list = list[:n-1]
		}
		list = append(list, Change{At: m.at, Station: s, Engine: last == nil || !s.sameEngine(last)})
		last = s
	}
	return list, nil
}

// stationOf gives a station of a revision as corrected at a moment; nil when the revision has none of its code.
func (t *Timeline) stationOf(over *overlay, number uint64, stationCode string, at int64) (*Station, error) {
	p, err := t.plan(number)
	if err != nil || p.Of(stationCode) == nil {
		return nil, err
	}
	return over.station(p, stationCode, at)
}

// archived gives the station as one that has left the manifest.
func (s *Station) archived() *Station {
	if s.Archived {
		return s
	}
	gone := *s
	gone.Archived = true
	return &gone
}
