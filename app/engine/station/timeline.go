package station

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"opsmon/app/account"
	"opsmon/app/account/manifest"
	"opsmon/app/engine/monitor"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

// Accounts is the part of package account that Timelines needs.
type Accounts interface {
	Get(accountID string) (*account.Snapshot, error)
	ManifestOf(accountID string, number uint64) (*manifest.Manifest, error)
	GoneStations(accountID string) (map[string]manifest.Lifetime, error)
}

// Config has the dependencies of Timelines.
type Config struct {
	Accounts Accounts
	Store    *kv.Store
	Options
}

// Timelines has the timelines of all accounts. It is safe for concurrent use.
type Timelines struct {
	cfg Config
	mu  sync.Mutex
	all map[string]*Timeline
}

// New returns Timelines. It reads nothing: plans and corrections are read on demand.
func New(cfg Config) *Timelines {
	return &Timelines{cfg: cfg, all: map[string]*Timeline{}}
}

// Of returns the timeline of an account. Errors: errdefs.NotFound for an unknown account; the store's.
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
		line = &Timeline{revisions: newRevisions(accountID, &t.cfg)}
		line.corrected.Store(newCorrectionSet(corrections))
		t.all[accountID] = line
	}
	return line, nil
}

// Timeline is an account's configuration over time. It is safe for concurrent use and always has the newest revision.
// Plans are cached, and resolved again when they are needed later. A plan is the manifest's configuration; Changes,
// StationAt and Config include the corrections.
type Timeline struct {
	*revisions
	corrected atomic.Pointer[correctionSet]
}

// Config returns the engine's configuration of a station with a monitor.Config.Revision, for monitor.Decode; nil: none.
func (t *Timeline) Config(stationCode string, revision int64) *monitor.Config {
	number, boundary := revision&maxRevision, revision>>32
	if number < 1 || revision < 0 {
		return nil
	}
	var r *Rules
	var err error
	if boundary == 0 {
		r, err = t.rulesSince(stationCode, uint64(number))
	} else {
		r, err = t.correctedSince(stationCode, uint64(number), boundary)
	}
	if err != nil || r == nil {
		return nil
	}
	return r.Monitor
}

// rulesSince returns the rules that a revision introduced at a station; nil: none.
func (t *Timeline) rulesSince(code string, number uint64) (*Rules, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.rulesOf(code, number)
	if err != nil {
		return nil, err
	}
	n := c.upTo(number)
	if n == 0 || c.list[n-1].revision != number || c.list[n-1].value == (digest{}) {
		return nil, nil
	}
	return t.rules(code, c.list[n-1])
}

func (t *Timeline) correctedSince(code string, number uint64, boundary int64) (*Rules, error) {
	p, err := t.plan(number)
	if err != nil || p.Of(code) == nil {
		return nil, err
	}
	s, err := t.corrected.Load().named(p, code, boundary)
	if err != nil || s == nil {
		return nil, err
	}
	return s.Rules, nil
}

// StationAt returns a station at a moment, with corrections; nil: not in the manifest of that time.
func (t *Timeline) StationAt(stationCode string, at int64) (*Station, error) {
	p, err := t.At(at)
	if err != nil || p.Of(stationCode) == nil {
		return nil, err
	}
	return t.corrected.Load().station(p, stationCode, at)
}

// RulesAt returns the rules of a station at a moment, with corrections. Before the station was added they are its first
// rules, after it was removed its last. Error: errdefs.NotFound if no manifest ever had it.
func (t *Timeline) RulesAt(stationCode string, at int64) (*Rules, error) {
	r, err := t.recordAt(at)
	if err != nil {
		return nil, err
	}
	if list := t.corrected.Load().over(stationCode, at); len(list) > 0 {
		s, err := t.StationAt(stationCode, at)
		if err != nil {
			return nil, err
		}
		if s != nil {
			return s.Rules, nil
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.rulesOf(stationCode, t.records[len(t.records)-1].number)
	if err != nil {
		return nil, err
	}
	n := c.upTo(r.number)
	for n > 0 && c.list[n-1].value == (digest{}) {
		n--
	}
	if n == 0 && len(c.list) == 0 {
		return nil, errdefs.New(errdefs.NotFound, "no manifest has had the station %s", stationCode)
	}
	return t.rules(stationCode, c.list[max(n-1, 0)])
}

// Appeared returns when the first revision with a station was stored, ms. Error: errdefs.NotFound.
func (t *Timeline) Appeared(stationCode string) (int64, error) {
	if _, err := t.recordAt(latest); err != nil {
		return 0, err
	}
	t.mu.Lock()
	c, err := t.rulesOf(stationCode, t.records[len(t.records)-1].number)
	t.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if len(c.list) == 0 {
		return 0, errdefs.New(errdefs.NotFound, "no manifest has had the station %s", stationCode)
	}
	return t.storedAt(c.list[0].revision)
}

// Change is a change of a station's rules.
type Change struct {
	At     int64
	Rules  *Rules // from then on
	Gone   bool   // the station was removed from the manifest; Rules are its last
	Engine bool   // the engine's part changed: Rules.Monitor must be passed to it
}

// Changes returns the rules of a station at from and their changes in (from, to], in order. If the station did not
// exist at from, the first change is its addition, and there are none if it was never added. The first revision applies
// since the beginning of time. SKUs and tariffs are not part of the rules: they have their own changes
// (monitor.Products, Tariffs).
func (t *Timeline) Changes(stationCode string, from, to int64) ([]Change, error) {
	first, err := t.recordAt(from)
	if err != nil {
		return nil, err
	}
	over := t.corrected.Load()
	moments, err := t.moments(over, stationCode, first, from, to)
	if err != nil {
		return nil, err
	}
	var list []Change
	var last *Rules
	there := false
	for _, m := range moments {
		r, err := t.rulesOn(over, stationCode, m)
		if err != nil {
			return nil, err
		}
		c := Change{At: m.at, Rules: r, Gone: r == nil}
		switch {
		case r == nil && !there, r != nil && there && r.Same(last):
			continue
		case r == nil:
			c.Rules = last
		default:
			c.Engine = last == nil || !r.sameEngine(last)
		}
		if n := len(list); n > 1 && list[n-1].At == m.at { // replaced before it came into force
			c.Engine = c.Engine || list[n-1].Engine
			list = list[:n-1]
		}
		list = append(list, c)
		last, there = c.Rules, r != nil
	}
	return list, nil
}

// rulesOn returns the rules of a station at a moment; nil: the station does not exist.
func (t *Timeline) rulesOn(over *correctionSet, code string, m moment) (*Rules, error) {
	if len(over.over(code, m.at)) > 0 {
		p, err := t.plan(m.revision)
		if err != nil || p.Of(code) == nil {
			return nil, err
		}
		s, err := over.station(p, code, m.at)
		if err != nil {
			return nil, err
		}
		return s.Rules, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.rulesOf(code, m.revision)
	if err != nil {
		return nil, err
	}
	n := c.upTo(m.revision)
	if n == 0 || c.list[n-1].value == (digest{}) {
		return nil, nil
	}
	return t.rules(code, c.list[n-1])
}

// moment is a time at which the rules of a station may have changed.
type moment struct {
	at       int64
	revision uint64 // in force then
}

// moments returns from and the moments in (from, to] at which the rules of a station may have changed, in order. first
// is in force at from.
func (t *Timeline) moments(over *correctionSet, code string, first record, from, to int64) ([]moment, error) {
	list := []moment{{from, first.number}}
	corrected := over.byCode[code]
	t.mu.Lock()
	c, err := t.rulesOf(code, t.records[len(t.records)-1].number)
	if err != nil {
		t.mu.Unlock()
		return nil, err
	}
	for _, x := range c.list[c.upTo(first.number):] {
		if at := t.from(x.revision); at <= to {
			list = append(list, moment{at, x.revision})
		}
	}
	t.mu.Unlock()
	if len(corrected) == 0 {
		return list, nil
	}
	for _, r := range t.between(first.number, to) {
		if (r.shape || r.skus) && len(over.over(code, r.from)) > 0 {
			list = append(list, moment{r.from, r.number})
		}
	}
	for _, l := range corrected {
		for _, at := range [...]int64{l.From, l.To} {
			if at > from && at <= to {
				r, err := t.recordAt(at)
				if err != nil {
					return nil, err
				}
				list = append(list, moment{at, r.number})
			}
		}
	}
	slices.SortFunc(list, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.revision, b.revision)) })
	return slices.Compact(list), nil
}

// archived returns the station marked as archived.
func (s *Station) archived() *Station {
	gone := *s
	gone.Archived = true
	return &gone
}
