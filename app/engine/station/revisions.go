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

// revisions are an account's manifest revisions: when each came into force, and what it changed.
type revisions struct {
	account  string
	accounts Accounts
	store    *kv.Store
	options  Options

	current   atomic.Pointer[inForce]
	resolving sync.Mutex // held by who makes the next one
	reading   sync.Mutex // held by who reads which stations have left: where there are many it takes long

	mu       sync.Mutex
	records  []record                    // without a gap, in order; the last is the newest, the first need not be revision 1
	stations map[string]*changes[digest] // by code: their rules
	skus     map[string]*changes[product]
	tariffs  changes[energy.Tariff]
	library  library
	made     map[rulesKey]*Rules
	plans    map[uint64]*planEntry
	held     int    // heldStations, but in tests
	use      uint64 // counts up with each use of a plan
}

// inForce is what holds now.
type inForce struct {
	plan     *Plan
	document account.Hash // of the manifest's arrays
	own      string       // the account's settings that plans are made of
	gone     atomic.Pointer[map[string]*Station]
}

// record says when a revision came into force, and what kind of change it was.
type record struct {
	number      uint64
	stored      int64 // ms
	from        int64 // when it came into force: never after a later one, even where the clock went back
	shape, skus bool  // as in effect
}

// changes are the revisions that changed something, in order, with what it became.
type changes[T any] struct {
	through uint64 // the last revision that was looked at
	list    []numbered[T]
}

type numbered[T any] struct {
	revision uint64
	value    T
}

// upTo returns how many of the changes came with a revision or before it.
func (c *changes[T]) upTo(revision uint64) int {
	return sort.Search(len(c.list), func(i int) bool { return c.list[i].revision > revision })
}

// rulesKey names the rules that a revision brought to a station.
type rulesKey struct {
	code     string
	revision uint64
}

// planEntry is a plan that is being made or is there.
type planEntry struct {
	make func() (*Plan, error)
	used uint64
	size int // stations, once known
}

const (
	// heldStations bounds the plans of the past that are kept, in stations: a few kilobytes each. The three used last are kept
	// whatever their size.
	heldStations = 5_000
	// heldRules bounds the rules of the past that are kept: some hundred bytes each.
	heldRules = 10_000
	// chunk is how many revisions' records are read at a time, so that nobody waits long for somebody who looks far back.
	chunk = 1000
)

func newRevisions(accountID string, c *Config) *revisions {
	return &revisions{
		account: accountID, accounts: c.Accounts, store: c.Store, options: c.Options,
		stations: map[string]*changes[digest]{}, skus: map[string]*changes[product]{}, library: library{store: c.Store, made: map[digest]any{}},
		made: map[rulesKey]*Rules{}, plans: map[uint64]*planEntry{}, held: heldStations,
	}
}

// Now returns the plan in force: that of the newest revision of which anybody has been told.
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
	if f.covers(snap) { // another one was quicker
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

// succeed makes what holds with a snapshot of the account; was is what held before, nil where nothing is known.
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

// left notes the stations that left with a revision, and forgets those that are back.
func (f *inForce) left(was *inForce) {
	before := was.gone.Load()
	if before == nil || f.plan.Revision > was.plan.Revision+1 {
		return // they are read when somebody asks for them: a revision that nobody looked at may have had others
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

// At returns the plan in force at a moment, ms, without corrections; before the first revision it is the first one. That of an
// earlier revision is made of its document. Errors are the store's, or say that a revision cannot be read.
func (t *revisions) At(at int64) (*Plan, error) {
	r, err := t.recordAt(at)
	if err != nil {
		return nil, err
	}
	return t.plan(r.number)
}

// Revision returns the number of the revision in force at a moment, without reading its manifest.
func (t *revisions) Revision(at int64) (int64, error) {
	r, err := t.recordAt(at)
	return int64(r.number), err
}

// PlanOf returns the plan of a revision.
func (t *revisions) PlanOf(revision int64) (*Plan, error) { return t.plan(uint64(revision)) }

// Shapes returns the numbers of the revision in force at a moment, ms, and of those since, in order, that changed more than
// names, prices and figures of SKUs: for all else the plans between them say the same.
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

// Plans returns the plans in force in [from, to), in order, but for those that only repeat what the one before says of the
// stations. More than most of them are an error that says so.
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

// Tariffs returns the account's electricity tariffs that hold in [from, to), in order. Minutes are charged by the tariff of
// their start: of those that came in one minute there is the last alone.
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
		list[0].From = math.MinInt64 // before the first revision the first one counts
	}
	for n := 1; n < len(changes); {
		// Those that came by the next minute's start: a search, as there may be thousands in a minute.
		by := instant.CeilMinute(t.from(changes[n].revision))
		n += sort.Search(len(changes)-n-1, func(i int) bool { return t.from(changes[n+1+i].revision) > by })
		tariff := changes[n].value
		tariff.From = t.from(changes[n].revision)
		list = append(list, tariff)
		n++
	}
	return list, nil
}

// All returns the plan in force and beside it the stations that have left the manifest, as they last were, by code: each station
// is in one of the two. One that never was in a revision that can be read is left out.
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
	if gone := f.gone.Load(); gone != nil { // another one was quicker
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
	for _, s := range newest.Stations { // one that has come back since then is gone in the plan that is asked about
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

// lastOf returns a station as it was in the newest revision that has it; nil when there is none.
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

// GoneCodes returns the codes of the stations that have left the manifest.
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

// settingsOf returns the account's own settings that matter to stations, as text to compare.
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
		delete(t.plans, number) // the next one may have more luck
	case err == nil && e.size == 0:
		e.size = len(p.Stations) + 1
		t.drop()
	}
	return p, err
}

// drop lets go of the plans that have not been used for longest, until the rest are few enough.
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

// resolve makes the plan of a revision of its document.
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
