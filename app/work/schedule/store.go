package schedule

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"opsmon/app/errdefs"
	"opsmon/kv"
)

type (
	idKey    = kv.Pair[string, string]
	openKey  = kv.Pair[string, kv.Pair[string, string]]
	timeID   = kv.Pair[uint64, string]
	atKey    = kv.Pair[string, kv.Pair[string, kv.Pair[string, timeID]]]
	planKey  = kv.Pair[string, kv.Pair[string, kv.Pair[string, uint64]]]
	entryKey = kv.Pair[string, kv.Pair[string, timeID]]
)

var (
	schedules = kv.NewBucket("schedule", kv.PairOf(kv.String, kv.String), kv.JSON[Schedule]())
	places    = kv.NewBucket("scheduleAt", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.Uint64, kv.String)))), kv.Raw)
	opens     = kv.NewBucket("scheduleOpen", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.String)), kv.Raw)
	plans     = kv.NewBucket("schedulePlan", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.String, kv.Uint64))), kv.Raw)
	entries   = kv.NewBucket("production", kv.PairOf(kv.String, kv.String), kv.JSON[Entry]())
	entriesAt = kv.NewBucket("productionAt", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.Uint64, kv.String))), kv.Raw)
)

// Buckets returns the names of the package's buckets, for kv.Config.Buckets.
func Buckets() []string {
	return []string{schedules.Name(), places.Name(), opens.Name(), plans.Name(), entries.Name(), entriesAt.Name()}
}

// place is a schedule's entry in the index, which lists use without reading the schedule.
type place struct {
	id, station string
	kind        Kind
	state       State
	begins, end int64 // ms; end 0: unknown
}

var states = [...]State{Planned, Running, Completed, Deleted}

// States returns all states.
func States() []State { return states[:] }

// placeOf returns a schedule's place. Until the schedule has ended, its end is the planned one.
func placeOf(s *Schedule) place {
	p := place{s.ID, s.StationCode, s.Kind, s.State, s.begins(), s.EndDue}
	if s.State == Completed {
		p.end = s.End
	}
	return p
}

// section returns the section of the index for the schedule. Deleted schedules have their own, so that lists skip them.
func (p place) section() string {
	if p.state == Deleted {
		return string(Deleted)
	}
	return string(p.kind)
}

func (p place) key(account string) atKey {
	return placeKey(account, p.station, p.section(), p.begins, p.id)
}

func placeKey(account, station, section string, at int64, id string) atKey {
	return atKey{A: account, B: kv.Pair[string, kv.Pair[string, timeID]]{A: station, B: kv.Pair[string, timeID]{A: section, B: timeID{A: uint64(max(at, 0)), B: id}}}}
}

// value encodes the state, the kind and the end in 10 bytes. It is stored: a change needs a migration.
func (p place) value() []byte {
	kind := byte(0)
	if p.kind == NonProduction {
		kind = 1
	}
	return binary.BigEndian.AppendUint64([]byte{byte(slices.Index(states[:], p.state)), kind}, uint64(p.end))
}

func readPlace(item kv.Item[atKey, []byte]) (place, error) {
	p, ok := parsePlace(item.Value)
	if !ok {
		return place{}, fmt.Errorf("the place of schedule %s cannot be read", item.Key.B.B.B.B)
	}
	p.id, p.station, p.begins = item.Key.B.B.B.B, item.Key.B.A, int64(item.Key.B.B.B.A)
	return p, nil
}

func parsePlace(v []byte) (p place, ok bool) {
	if len(v) < 10 || int(v[0]) >= len(states) {
		return place{}, false
	}
	p.kind, p.state, p.end = Production, states[v[0]], int64(binary.BigEndian.Uint64(v[2:]))
	if v[1] == 1 {
		p.kind = NonProduction
	}
	return p, true
}

func (p place) openKey(account string) openKey {
	return openKey{A: account, B: kv.Pair[string, string]{A: p.station, B: p.id}}
}

// openValue is value followed by the start, 18 bytes. It is stored: a change needs a migration.
func (p place) openValue() []byte { return binary.BigEndian.AppendUint64(p.value(), uint64(p.begins)) }

func readOpen(item kv.Item[openKey, []byte]) (place, error) {
	p, ok := parsePlace(item.Value)
	if !ok || len(item.Value) != 18 {
		return place{}, fmt.Errorf("the place of the open schedule %s cannot be read", item.Key.B.B)
	}
	p.id, p.station, p.begins = item.Key.B.B, item.Key.B.A, int64(binary.BigEndian.Uint64(item.Value[10:]))
	return p, nil
}

// openUnder returns the key range of a station's open schedules.
func openUnder(account, station string) kv.Range {
	at := func(station string) openKey { return openKey{A: account, B: kv.Pair[string, string]{A: station}} }
	return opens.Between(at(station), at(station+"\x00"))
}

// load reads a schedule. Error: errdefs.NotFound.
func load(tx *kv.Tx, account, id string) (*Schedule, error) {
	s, err := schedules.Get(tx, idKey{A: account, B: id})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, errdefs.New(errdefs.NotFound, "there is no such schedule")
	}
	if err != nil {
		return nil, fmt.Errorf("read schedule %s: %w", id, err)
	}
	return &s, nil
}

// save writes a schedule and its indexes. old is its previous state, nil for a new one.
func save(tx *kv.Tx, account string, old, s *Schedule) error {
	before := place{}
	if old != nil {
		before = placeOf(old)
	}
	now := placeOf(s)
	if old != nil && before.key(account) != now.key(account) {
		if err := places.Delete(tx, before.key(account)); err != nil {
			return err
		}
	}
	if before != now {
		if err := places.Put(tx, now.key(account), now.value()); err != nil {
			return err
		}
	}
	if old != nil && old.open() && (!s.open() || old.StationCode != s.StationCode) {
		if err := opens.Delete(tx, before.openKey(account)); err != nil {
			return err
		}
	}
	if s.open() && before != now {
		if err := opens.Put(tx, now.openKey(account), now.openValue()); err != nil {
			return err
		}
	}
	if old != nil && old.unique() && (!s.unique() || old.planKey(account) != s.planKey(account)) {
		if err := plans.Delete(tx, old.planKey(account)); err != nil {
			return err
		}
	}
	if s.unique() && (old == nil || old.planKey(account) != s.planKey(account)) {
		if err := plans.Put(tx, s.planKey(account), []byte(s.ID)); err != nil {
			return err
		}
	}
	return schedules.Put(tx, idKey{A: account, B: s.ID}, *s)
}

// unique reports whether station, SKU and planned start of the schedule must be unique.
func (s *Schedule) unique() bool { return s.Kind == Production && s.State != Deleted }

func (s *Schedule) planKey(account string) planKey {
	return planKey{A: account, B: kv.Pair[string, kv.Pair[string, uint64]]{A: s.StationCode, B: kv.Pair[string, uint64]{A: s.SKUCode, B: uint64(max(s.PlannedStart, 0))}}}
}

// plannedAs returns the ID of the schedule with the same station, SKU and planned start; "": none.
func plannedAs(tx *kv.Tx, account string, s *Schedule) (string, error) {
	id, err := plans.Get(tx, s.planKey(account))
	if errors.Is(err, kv.ErrNotFound) {
		return "", nil
	}
	return string(id), err
}

// openAt returns the places of a station's open schedules.
func openAt(tx *kv.Tx, account, station string) (list []place, err error) {
	for item, err := range opens.Scan(tx, openUnder(account, station)) {
		if err != nil {
			return nil, fmt.Errorf("read the open schedules of %s: %w", station, err)
		}
		p, err := readOpen(item)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// runningOf reads the running schedule of a kind at a station; nil: none.
func runningOf(tx *kv.Tx, account, station string, kind Kind) (*Schedule, error) {
	open, err := openAt(tx, account, station)
	if err != nil {
		return nil, err
	}
	for _, p := range open {
		if p.state == Running && p.kind == kind {
			return load(tx, account, p.id)
		}
	}
	return nil, nil
}

// after reads the completed schedules of a kind at a station that ended after a moment, ms, the latest first. They do
// not overlap, so the first one that ended before the moment ends the search.
func after(tx *kv.Tx, account, station string, kind Kind, moment int64) (list []*Schedule, err error) {
	r := places.Between(placeKey(account, station, string(kind), 0, ""), placeKey(account, station, string(kind)+"\x00", 0, ""))
	for item, err := range places.ScanDown(tx, r) {
		if err != nil {
			return nil, fmt.Errorf("read the schedules of %s: %w", station, err)
		}
		p, err := readPlace(item)
		if err != nil {
			return nil, err
		}
		if p.state != Completed {
			continue
		}
		s, err := load(tx, account, p.id)
		if err != nil {
			return nil, err
		}
		if s.End < moment || s.End == moment && !s.byQuantity() {
			return list, nil
		}
		list = append(list, s)
	}
	return list, nil
}

// Check reads every record and reports those that are unreadable or inconsistent. known has the IDs of all accounts.
func Check(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	note := func(format string, args ...any) { report(fmt.Sprintf(format, args...)) }
	placed, open, unique := 0, 0, 0
	for item, err := range schedules.Scan(tx, kv.Range{}) {
		if err != nil {
			note("schedule: %v", err)
			continue
		}
		s := item.Value
		if !known[item.Key.A] {
			note("schedule %s: its account %s is not there", item.Key.B, item.Key.A)
		}
		if s.ID != item.Key.B || !slices.Contains(states[:], s.State) || s.Kind != Production && s.Kind != NonProduction {
			note("schedule %s: what is kept of it is not one", item.Key.B)
			continue
		}
		if value, err := places.Get(tx, placeOf(&s).key(item.Key.A)); err != nil || string(value) != string(placeOf(&s).value()) {
			note("schedule %s: its place in the list is not there", s.ID)
		}
		placed++
		if s.open() {
			open++
			if value, err := opens.Get(tx, placeOf(&s).openKey(item.Key.A)); err != nil || string(value) != string(placeOf(&s).openValue()) {
				note("schedule %s: it is not among the open ones", s.ID)
			}
		}
		if s.unique() {
			unique++
			if id, err := plannedAs(tx, item.Key.A, &s); err != nil || id != s.ID {
				note("schedule %s: another has its station, SKU and planned start", s.ID)
			}
		}
	}
	if n := places.Count(tx); n != placed {
		note("schedules: %d places in the list for %d of them", n, placed)
	}
	if n := opens.Count(tx); n != open {
		note("schedules: %d are listed as open, and %d are", n, open)
	}
	if n := plans.Count(tx); n != unique {
		note("schedules: %d planned starts for %d of them", n, unique)
	}
	checkEntries(tx, note)
}

// checkEntries reports operators' entries that are unreadable, have no schedule or are missing from the index.
func checkEntries(tx *kv.Tx, note func(format string, args ...any)) {
	count := 0
	for item, err := range entries.Scan(tx, kv.Range{}) {
		if err != nil {
			note("operator's entry: %v", err)
			continue
		}
		e := item.Value
		if !schedules.Has(tx, idKey{A: item.Key.A, B: e.ScheduleID}) {
			note("operator's entry %s: its schedule %s is not there", item.Key.B, e.ScheduleID)
		}
		if of, err := entriesAt.Get(tx, e.key(item.Key.A)); err != nil || string(of) != e.ScheduleID {
			note("operator's entry %s: its place in the list is not there", item.Key.B)
		}
		count++
	}
	if n := entriesAt.Count(tx); n != count {
		note("operators' entries: %d places in the list for %d of them", n, count)
	}
}

func (e *Entry) key(account string) entryKey {
	return entryKey{A: account, B: kv.Pair[string, timeID]{A: e.StationCode, B: timeID{A: uint64(max(e.At, 0)), B: e.ID}}}
}
