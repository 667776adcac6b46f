package station

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"

	"opsmon/app/account"
	"opsmon/app/energy"
	"opsmon/app/errdefs"
)

// revisions are an account's manifest revisions.
type revisions struct {
	account  string
	accounts Accounts
	options  Options

	mu      sync.Mutex
	records []record // without a gap, in order; the last is the newest, the first need not be revision 1
	plans   map[uint64]*planEntry
	held    int    // heldStations, but in tests
	use     uint64 // counts up with each use of a plan
	differ  map[uint64]*difference
}

// record is what is kept of a revision that was looked at.
type record struct {
	number   uint64
	stored   int64        // ms
	from     int64        // when it came into force: never after a later one, even where the clock went back
	document account.Hash // of the manifest's arrays
	own      string       // the account's settings that plans are made of
	tariff   energy.Tariff
}

// planEntry is a plan that is being made or is there.
type planEntry struct {
	make func() (*Plan, error)
	used uint64
	size int // stations, once known
}

// difference names the stations whose configuration a revision changed, those that it brought or took among them.
type difference struct {
	all   bool // or nearly
	codes map[string]bool
}

func (d *difference) touches(code string) bool { return d.all || d.codes[code] }

// heldStations bounds the plans that are kept, in stations: a few kilobytes each. The three used last are kept whatever
// their size.
const heldStations = 20_000

// chunk is how many revisions' records are read at a time.
const chunk = 64

// Now gives the plan in force.
func (t *revisions) Now() (*Plan, error) { return t.At(math.MaxInt64) }

// At gives the plan in force at a moment, ms, without corrections; before the first revision it is the first one. Errors are the store's, or say
// that a revision cannot be read.
func (t *revisions) At(at int64) (*Plan, error) {
	r, err := t.recordAt(at)
	if err != nil {
		return nil, err
	}
	return t.plan(r.number)
}

// Revision gives the number of the revision in force at a moment, without reading its manifest.
func (t *revisions) Revision(at int64) (int64, error) {
	r, err := t.recordAt(at)
	return int64(r.number), err
}

// PlanOf gives the plan of a revision.
func (t *revisions) PlanOf(revision int64) (*Plan, error) { return t.plan(uint64(revision)) }

// Plans gives the plans in force in [from, to), in order, but for those that only repeat what the one before says of the
// stations. More than most of them are an error that says so.
func (t *revisions) Plans(from, to int64, most int) ([]*Plan, error) {
	first, err := t.recordAt(from)
	if err != nil {
		return nil, err
	}
	records := []record{first}
	for _, r := range t.between(first.number, to-1) {
		if last := records[len(records)-1]; r.document != last.document || r.own != last.own {
			records = append(records, r)
		}
	}
	if len(records) > most {
		return nil, errdefs.New(errdefs.Invalid, "%d revisions of the manifest were in force in that time, and %d are the most that can be looked at together; choose a shorter time", len(records), most)
	}
	plans := make([]*Plan, len(records))
	for i, r := range records {
		if plans[i], err = t.plan(r.number); err != nil {
			return nil, err
		}
	}
	return plans, nil
}

// Tariffs gives the account's electricity tariffs that hold in [from, to), in order.
func (t *revisions) Tariffs(from, to int64) ([]energy.Tariff, error) {
	first, err := t.recordAt(from)
	if err != nil {
		return nil, err
	}
	list := []energy.Tariff{first.tariff}
	if first.number == 1 {
		list[0].From = math.MinInt64 // before the first revision the first one counts
	}
	for _, r := range t.between(first.number, to-1) {
		if !sameTariff(list[len(list)-1], r.tariff) {
			list = append(list, r.tariff)
		}
	}
	return list, nil
}

// Archived gives the stations that have left the manifest, as they last were, by code. One that never was in a revision
// that can be read is left out.
func (t *revisions) Archived() ([]*Station, error) {
	gone, err := t.accounts.GoneStations(t.account)
	if err != nil {
		return nil, err
	}
	var list []*Station
	for code, life := range gone {
		s, err := t.lastOf(code, life.ArchivedAt.UnixMilli())
		if err != nil {
			return nil, err
		}
		if s != nil {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *Station) int { return strings.Compare(a.Code, b.Code) })
	return list, nil
}

// lastOf gives a station as it was in the newest revision that has it, which is not later than the one that took it away;
// nil when there is none. The revision stored at the moment it left, or the one before, is the one nearly always.
func (t *revisions) lastOf(code string, left int64) (*Station, error) {
	r, err := t.recordAt(left + 60_000) // a manifest takes seconds to be stored
	if err != nil {
		return nil, err
	}
	for n := r.number; n > 0; n-- {
		p, err := t.plan(n)
		if err != nil {
			return nil, err
		}
		if s := p.Of(code); s != nil {
			return s.archived(), nil
		}
	}
	return nil, nil
}

// load makes sure that the newest revision is known, and all that came into force since a moment.
func (t *revisions) load(since int64) error {
	snap, err := t.accounts.Get(t.account)
	if err != nil {
		return err
	}
	newest := snap.Account.Revision
	if n := len(t.records); n > 0 && t.records[n-1].number < newest {
		more, err := t.read(t.records[n-1].number+1, newest)
		if err != nil {
			return err
		}
		t.records = append(t.records, more...)
		t.order()
	}
	for len(t.records) == 0 || t.records[0].number > 1 && t.records[0].from > since {
		last := newest
		if len(t.records) > 0 {
			last = t.records[0].number - 1
		}
		first := uint64(1)
		if last > chunk {
			first = last - chunk + 1
		}
		more, err := t.read(first, last)
		if err != nil {
			return err
		}
		t.records = append(more, t.records...)
		t.order()
	}
	return nil
}

// order works out when each revision came into force: not after a later one.
func (t *revisions) order() {
	from := int64(math.MaxInt64)
	for i := len(t.records) - 1; i >= 0; i-- {
		r := &t.records[i]
		from = min(from, r.stored)
		r.from, r.tariff.From = from, from
	}
}

func (t *revisions) read(first, last uint64) ([]record, error) {
	list, err := t.accounts.Records(t.account, first, last)
	if err != nil {
		return nil, err
	}
	if uint64(len(list)) != last-first+1 {
		return nil, fmt.Errorf("read the revisions of %s: of %d to %d there are %d", t.account, first, last, len(list))
	}
	records := make([]record, len(list))
	for i := range list {
		a := &list[i].Account
		price, co2 := a.SettingNumber("electricalPricePerKwh"), a.SettingNumber("electricalCo2PerKwh")
		records[i] = record{
			number: list[i].Number, stored: list[i].CreatedAt.UnixMilli(), document: a.Document, own: settingsOf(a),
			tariff: energy.Tariff{Price: float(price), CO2: float(co2), HasPrice: price.Set(), HasCO2: co2.Set()},
		}
	}
	return records, nil
}

// settingsOf gives the account's own settings that matter to stations, as text to compare.
func settingsOf(a *account.Account) string {
	var b strings.Builder
	names := make([]string, 0, len(a.Own))
	for name := range a.Own {
		switch name {
		case "dashboardConfig", "durationFormat", "currency":
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

// recordAt gives the record of the revision in force at a moment.
func (t *revisions) recordAt(at int64) (record, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(at); err != nil {
		return record{}, err
	}
	i := sort.Search(len(t.records), func(i int) bool { return t.records[i].from > at })
	return t.records[max(i-1, 0)], nil
}

// between gives the records of the revisions after a number that came into force at a moment or before.
func (t *revisions) between(after uint64, to int64) []record {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []record
	for i := range t.records {
		if r := t.records[i]; r.number > after && r.from <= to {
			list = append(list, r)
		}
	}
	return list
}

// plan gives the plan of a revision.
func (t *revisions) plan(number uint64) (*Plan, error) {
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

// resolve makes the plan of a revision.
func (t *revisions) resolve(number uint64) (*Plan, error) {
	list, err := t.accounts.Records(t.account, number, number)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errdefs.New(errdefs.NotFound, "there is no revision %d of the manifest", number)
	}
	m, err := t.accounts.ManifestOf(t.account, number)
	if err != nil {
		return nil, err
	}
	return Resolve(m, int64(number), list[0].CreatedAt.UnixMilli(), t.options)
}

// difference tells whose configuration a revision changed. Its record and the one before are loaded.
func (t *revisions) difference(number uint64) (*difference, error) {
	t.mu.Lock()
	d := t.differ[number]
	i := int(number - t.records[0].number)
	was, is := t.records[i-1], t.records[i]
	t.mu.Unlock()
	if d != nil {
		return d, nil
	}
	d = &difference{}
	if was.document != is.document || was.own != is.own {
		before, err := t.plan(number - 1)
		if err != nil {
			return nil, err
		}
		after, err := t.plan(number)
		if err != nil {
			return nil, err
		}
		d = compare(before, after)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.differ[number] = d
	return d, nil
}

// compare tells whose configuration differs between two plans.
func compare(before, after *Plan) *difference {
	d := &difference{codes: map[string]bool{}}
	for _, s := range after.Stations {
		if was := before.Of(s.Code); was == nil || !s.Same(was) {
			d.codes[s.Code] = true
		}
	}
	for _, s := range before.Stations {
		if after.Of(s.Code) == nil {
			d.codes[s.Code] = true
		}
	}
	if len(d.codes) > len(after.Stations)/2 && len(d.codes) > 16 {
		return &difference{all: true}
	}
	return d
}
