package station

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"opsmon/app/account"
	"opsmon/app/engine/energy"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// revisions has an account's manifest revisions: when each came into force, and its changes.
type revisions struct {
	account  string
	accounts Accounts
	store    *kv.Store
	options  Options

	current   atomic.Pointer[inForce]
	resolving sync.Mutex // held while the newest revision is resolved
	reading   sync.Mutex // held while the list of removed stations is read, which can take long

	mu sync.Mutex
	// in order without gaps; the last is the newest, the first may be later than revision 1
	records  []record
	stations map[string]*changes[digest] // by code: their rules
	skus     map[string]*changes[product]
	tariffs  changes[energy.Tariff]
	library  library
	made     map[rulesKey]*Rules
	plans    map[uint64]*planEntry
	held     int    // heldStations, except in tests
	use      uint64 // incremented with each use of a plan
}

// inForce is the state of the newest revision.
type inForce struct {
	plan     *Plan
	document account.Hash // of the manifest's arrays
	own      string       // the account's settings that affect plans
	gone     atomic.Pointer[map[string]*Station]
}

// record is when a revision came into force, and the kind of its change.
type record struct {
	number      uint64
	stored      int64 // ms
	from        int64 // when it came into force: never after a later one, even if the clock was set back
	shape, skus bool  // as in effect
}

// changes are the values of something after each revision that changed it, in order.
type changes[T any] struct {
	through uint64 // the last revision read
	list    []numbered[T]
}

type numbered[T any] struct {
	revision uint64
	value    T
}

// upTo returns the number of changes up to a revision.
func (c *changes[T]) upTo(revision uint64) int {
	return sort.Search(len(c.list), func(i int) bool { return c.list[i].revision > revision })
}

// rulesKey is the key of a station's rules as of a revision.
type rulesKey struct {
	code     string
	revision uint64
}

// planEntry is a plan, or a plan that is being resolved.
type planEntry struct {
	make func() (*Plan, error)
	used uint64
	size int // number of stations, once known
}

const (
	// heldStations limits the cache of past plans, in stations of a few kilobytes each. The three plans used last are
	// kept whatever their size.
	heldStations = 5_000
	// heldRules limits the cache of past rules, of some hundred bytes each.
	heldRules = 10_000
	// chunk is the number of revision records read at a time, which bounds the time that other goroutines wait.
	chunk = 1000
)

func newRevisions(accountID string, c *Config) *revisions {
	return &revisions{
		account: accountID, accounts: c.Accounts, store: c.Store, options: c.Options,
		stations: map[string]*changes[digest]{}, skus: map[string]*changes[product]{}, library: library{store: c.Store, made: map[digest]any{}},
		made: map[rulesKey]*Rules{}, plans: map[uint64]*planEntry{}, held: heldStations,
	}
}

// Now returns the plan of the newest revision.
func (t *revisions) Now() (*Plan, error) {
	f, err := t.now()
	if err != nil {
		return nil, err
	}
	return f.plan, nil
}

func (t *revisions) now() (*inForce, error) {
	snap, err := t.accounts.Get(t.account)
	if err != nil {
		return nil, err
	}
	if f := t.current.Load(); f.covers(snap) {
		return f, nil
	}
	t.resolving.Lock()
	defer t.resolving.Unlock()
	f := t.current.Load()
	if f.covers(snap) { // another goroutine was faster
		return f, nil
	}
	next, err := t.succeed(f, snap)
	if err != nil {
		return nil, err
	}
	t.current.Store(next)
	return next, nil
}

func (f *inForce) covers(snap *account.Snapshot) bool {
	return f != nil && f.plan.Revision >= int64(snap.Account.Revision)
}

// succeed returns the state for a snapshot of the account; was is the previous state, nil if unknown.
func (t *revisions) succeed(was *inForce, snap *account.Snapshot) (*inForce, error) {
	a := snap.Account
	m, err := snap.Manifest()
	if err != nil {
		return nil, err
	}
	from, err := t.storedAt(a.Revision)
	if err != nil {
		return nil, err
	}
	next := &inForce{document: a.Document, own: settingsOf(a)}
	if was != nil && was.document == next.document && was.own == next.own {
		p := *was.plan
		p.Revision, p.From, p.Manifest = int64(a.Revision), from, m
		next.plan = &p
		next.gone.Store(was.gone.Load())
		return next, nil
	}
	var same *Plan
	if was != nil {
		if shape, err := t.shaped(uint64(was.plan.Revision), a.Revision); err != nil {
			return nil, err
		} else if !shape {
			same = was.plan
		}
	}
	if next.plan, err = resolveLike(same, m, int64(a.Revision), from, t.options); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range next.plan.Stations {
		if was != nil {
			if before := was.plan.Of(s.Code); before != nil && before.Same(s.Rules) {
				s.Rules = before.Rules
				continue
			}
		}
		c, err := t.rulesOf(s.Code, a.Revision)
		if err != nil {
			return nil, err
		}
		if n := c.upTo(a.Revision); n > 0 {
			s.Monitor.Revision = int64(c.list[n-1].revision)
		}
		s.Monitor.SKUs, s.OEE.Values = t, nil
	}
	if was != nil {
		next.left(was)
	}
	return next, nil
}

// left adds the stations removed in a revision, and deletes those that were added again.
func (f *inForce) left(was *inForce) {
	before := was.gone.Load()
	if before == nil || f.plan.Revision > was.plan.Revision+1 {
		return // they are read on demand: a revision that was never requested may have had others
	}
	gone := map[string]*Station{}
	for code, s := range *before {
		if f.plan.Of(code) == nil {
			gone[code] = s
		}
	}
	for _, s := range was.plan.Stations {
		if f.plan.Of(s.Code) == nil {
			gone[s.Code] = s.archived()
		}
	}
	f.gone.Store(&gone)
}

// At returns the plan in force at a moment, ms, without corrections, or the first one for a moment before it. It
// resolves earlier revisions from their documents. Errors are the store's, or report an unreadable revision.
func (t *revisions) At(at int64) (*Plan, error) {
	r, err := t.recordAt(at)
	if err != nil {
		return nil, err
	}
	return t.plan(r.number)
}

// Revision returns the number of the revision in force at a moment without reading its manifest.
func (t *revisions) Revision(at int64) (int64, error) {
	r, err := t.recordAt(at)
	return int64(r.number), err
}

// PlanOf returns the plan of a revision.
func (t *revisions) PlanOf(revision int64) (*Plan, error) { return t.plan(uint64(revision)) }

// Shapes returns the number of the revision in force at a moment, ms, and of those up to to that changed more than
// names, prices and figures of SKUs. All others have equal plans.
func (t *revisions) Shapes(from, to int64) ([]int64, error) {
	first, err := t.recordAt(from)
	if err != nil {
		return nil, err
	}
	list := []int64{int64(first.number)}
	for _, r := range t.between(first.number, to) {
		if r.shape {
			list = append(list, int64(r.number))
		}
	}
	return list, nil
}

// Plans returns the plans in force in [from, to), in order, without those equal to the previous one. More than most
// plans are an error.
func (t *revisions) Plans(from, to int64, most int) ([]*Plan, error) {
	numbers, err := t.Shapes(from, to-1)
	if err != nil {
		return nil, err
	}
	if len(numbers) > most {
		return nil, errdefs.New(errdefs.Invalid, "%d revisions of the manifest were in force in that time, and %d are the most that can be looked at together; choose a shorter time", len(numbers), most)
	}
	plans := make([]*Plan, len(numbers))
	for i, n := range numbers {
		if plans[i], err = t.plan(uint64(n)); err != nil {
			return nil, err
		}
	}
	return plans, nil
}

// Tariffs returns the account's electricity tariffs in [from, to), in order. The tariff at the start of a minute
// applies to the minute, so only the last of several changes in one minute is returned.
func (t *revisions) Tariffs(from, to int64) ([]energy.Tariff, error) {
	first, err := t.recordAt(from)
	if err != nil {
		return nil, err
	}
	last, err := t.recordAt(to - 1)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := follow(t, &t.tariffs, last.number, tariffChanges, "", func(v energy.Tariff) energy.Tariff { return v }); err != nil {
		return nil, err
	}
	changes := t.tariffs.list[max(t.tariffs.upTo(first.number)-1, 0):t.tariffs.upTo(last.number)]
	list := []energy.Tariff{changes[0].value}
	if list[0].From = from; first.number == 1 {
		list[0].From = math.MinInt64 // the first tariff also applies before the first revision
	}
	for n := 1; n < len(changes); {
		// The revisions up to the start of the next minute: a binary search, because a minute may have thousands.
		by := instant.CeilMinute(t.from(changes[n].revision))
		n += sort.Search(len(changes)-n-1, func(i int) bool { return t.from(changes[n+1+i].revision) > by })
		tariff := changes[n].value
		tariff.From = t.from(changes[n].revision)
		list = append(list, tariff)
		n++
	}
	return list, nil
}

// All returns the plan in force, and the stations that were removed from the manifest, as they last were, by code. Each
// station is in one of the two. A station without a readable revision is left out.
func (t *revisions) All() (*Plan, []*Station, error) {
	f, err := t.now()
	if err != nil {
		return nil, nil, err
	}
	gone, err := t.goneOf(f)
	if err != nil {
		return nil, nil, err
	}
	list := make([]*Station, 0, len(gone))
	for _, s := range gone {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *Station) int { return strings.Compare(a.Code, b.Code) })
	return f.plan, list, nil
}

func (t *revisions) goneOf(f *inForce) (map[string]*Station, error) {
	if gone := f.gone.Load(); gone != nil {
		return *gone, nil
	}
	t.reading.Lock()
	defer t.reading.Unlock()
	if gone := f.gone.Load(); gone != nil { // another goroutine was faster
		return *gone, nil
	}
	gone, err := t.readGone(f.plan)
	if err != nil {
		return nil, err
	}
	f.gone.Store(&gone)
	return gone, nil
}

func (t *revisions) readGone(now *Plan) (map[string]*Station, error) {
	lives, err := t.accounts.GoneStations(t.account)
	if err != nil {
		return nil, err
	}
	newest, err := t.Now()
	if err != nil {
		return nil, err
	}
	codes := slices.Collect(maps.Keys(lives))
	for _, s := range newest.Stations { // a station that was added again since then is missing in the requested plan
		codes = append(codes, s.Code)
	}
	gone := map[string]*Station{}
	for _, code := range codes {
		if now.Of(code) != nil {
			continue
		}
		s, err := t.lastOf(code, uint64(now.Revision))
		if err != nil {
			return nil, err
		}
		if s != nil {
			gone[code] = s
		}
	}
	return gone, nil
}

// lastOf returns a station as of the newest revision that has it; nil: none.
func (t *revisions) lastOf(code string, newest uint64) (*Station, error) {
	t.mu.Lock()
	c, err := t.rulesOf(code, newest)
	left := uint64(0)
	if err == nil {
		if n := c.upTo(newest); n > 0 {
			left = c.list[n-1].revision
		}
	}
	t.mu.Unlock()
	if err != nil || left < 2 {
		return nil, err
	}
	p, err := t.plan(left - 1)
	if err != nil {
		return nil, err
	}
	if s := p.Of(code); s != nil {
		return s.archived(), nil
	}
	return nil, nil
}

// GoneCodes returns the codes of the stations that were removed from the manifest.
func (t *revisions) GoneCodes() ([]string, error) {
	p, err := t.Now()
	if err != nil {
		return nil, err
	}
	lives, err := t.accounts.GoneStations(t.account)
	if err != nil {
		return nil, err
	}
	codes := make([]string, 0, len(lives))
	for code := range lives {
		if p.Of(code) == nil {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	return codes, nil
}

// settingsOf returns the account's settings that affect stations, as a text to compare.
func settingsOf(a *account.Account) string {
	var b strings.Builder
	names := make([]string, 0, len(a.Own))
	for name := range a.Own {
		switch name {
		case "dashboardConfig", "durationFormat", "currency", "electricalPricePerKwh", "electricalCo2PerKwh":
		default:
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%s=%s\n", name, a.Own[name])
	}
	return b.String()
}

// plan returns the plan of a revision.
func (t *revisions) plan(number uint64) (*Plan, error) {
	f, err := t.now()
	if err != nil {
		return nil, err
	}
	if f.plan.Revision == int64(number) {
		return f.plan, nil
	}
	t.mu.Lock()
	e := t.plans[number]
	if e == nil {
		e = &planEntry{make: sync.OnceValues(func() (*Plan, error) { return t.resolve(number) })}
		t.plans[number] = e
	}
	t.use++
	e.used = t.use
	t.mu.Unlock()
	p, err := e.make()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil && t.plans[number] == e:
		delete(t.plans, number) // the next attempt may succeed
	case err == nil && e.size == 0:
		e.size = len(p.Stations) + 1
		t.drop()
	}
	return p, err
}

// drop removes the least recently used plans from the cache until it is small enough.
func (t *revisions) drop() {
	byUse := make([]uint64, 0, len(t.plans))
	for number := range t.plans {
		byUse = append(byUse, number)
	}
	slices.SortFunc(byUse, func(a, b uint64) int { return int(t.plans[b].used) - int(t.plans[a].used) })
	held := 0
	for i, number := range byUse {
		held += t.plans[number].size
		if i >= 3 && held > t.held {
			delete(t.plans, number)
		}
	}
}

// resolve resolves a revision from its document.
func (t *revisions) resolve(number uint64) (*Plan, error) {
	at, err := t.storedAt(number)
	if err != nil {
		return nil, err
	}
	m, err := t.accounts.ManifestOf(t.account, number)
	if err != nil {
		return nil, err
	}
	return Resolve(m, int64(number), at, t.options)
}
