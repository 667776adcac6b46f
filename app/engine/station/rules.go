package station

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"opsmon/app/account"
	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/iso"
	"opsmon/kv"
)

// Rules are what a station's figures are made by, from one change of them to the next. They must not be changed.
type Rules struct {
	Code     string // of the station
	Calendar *calendar.Calendar
	Monitor  *monitor.Config // Revision is that of the manifest which brought these rules
	OEE      oee.Config      // Values is nil where SKUs are looked up over time: Timeline.Values

	digest digest // of all but the code and the revision: equal rules have equal digests
	engine digest // of what the engine takes
}

// Same reports whether figures are made in the same way by both.
func (r *Rules) Same(o *Rules) bool { return r == o || r.digest == o.digest }

// sameEngine reports whether the engine does the same by both.
func (r *Rules) sameEngine(o *Rules) bool { return r == o || r.engine == o.engine }

// digest stands for a part of the configuration that may be large: equal ones have equal digests.
type digest account.Hash

// MarshalText writes the digest in hexadecimal.
func (d digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *digest) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(d) {
		return fmt.Errorf("a digest of %d characters", len(text))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// ruleParts holds rules, and the larger parts that rules share, by the digest of their JSON. They are kept once, however
// many stations and revisions have them, and for as long as the account's revisions are.
var ruleParts = kv.NewBucket("ruleParts", kv.Bytes32, kv.Raw)

// storedRules are Rules as they are kept, as JSON: a changed field needs a migration.
type storedRules struct {
	Engine            digest  // of a storedEngine
	Roles             digest  // of oee.Config.Roles
	Money             bool    `json:",omitempty"`
	IdleCostPerMinute float64 `json:",omitempty"`
}

// storedEngine is what the engine takes, as it is kept, as JSON. A field of monitor.Config that gets another meaning needs a
// migration; one that is new has its zero value in what was stored before.
type storedEngine struct {
	Calendar digest // of a storedCalendar
	Causes   digest // of the sorted codes
	monitor.Config
}

// storedCalendar is a calendar as it is kept, as JSON: a changed field needs a migration.
type storedCalendar struct {
	Zone                       string
	DayStartHour, WeekStartDay int
	Shifts                     []calendar.Shift `json:",omitempty"`
}

// parts are what was made for storing some rules, by digest.
type parts map[digest][]byte

// add returns the digest of a part, and keeps it.
func (p parts) add(v any) (digest, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return digest{}, fmt.Errorf("store a station's rules: %w", err)
	}
	d := digest(sha256.Sum256(b))
	if p[d] == nil {
		p[d] = b
	}
	return d, nil
}

func (p parts) calendar(zone string, c *calendar.CalendarConfig) (digest, error) {
	return p.add(storedCalendar{zone, c.DayStartHour, c.WeekStartDay, c.Shifts})
}

func (p parts) causes(causes map[string]bool) (digest, error) {
	return p.add(slices.Sorted(maps.Keys(causes)))
}

// seal sets the digests of rules whose shared parts have those that are given.
func (p parts) seal(r *Rules, calendar, causes, roles digest) (err error) {
	if r.engine, err = p.add(storedEngine{calendar, causes, *r.Monitor}); err != nil {
		return err
	}
	r.digest, err = p.add(storedRules{r.engine, roles, r.OEE.Money, r.OEE.IdleCostPerMinute})
	return err
}

// put stores a digest's rules with all that they name.
func (p parts) put(tx *kv.Tx, d digest) error {
	if ruleParts.Has(tx, d) {
		return nil
	}
	r, err := decoded[storedRules](p[d])
	if err != nil {
		return fmt.Errorf("store a station's rules: %w", err)
	}
	e, err := decoded[storedEngine](p[r.Engine])
	if err != nil {
		return fmt.Errorf("store a station's rules: %w", err)
	}
	for _, part := range []digest{e.Calendar, e.Causes, r.Engine, r.Roles, d} {
		if !ruleParts.Has(tx, part) {
			if err := ruleParts.Put(tx, part, p[part]); err != nil {
				return err
			}
		}
	}
	return nil
}

// library makes rules of what is stored, and remembers the parts that they share. It belongs to who holds the lock of its
// timeline.
type library struct {
	store *kv.Store
	made  map[digest]any
}

// held bounds what a library remembers: it starts over then.
const heldParts = 4096

// part returns what make makes of a stored part, once.
func part[T any](l *library, tx *kv.Tx, d digest, make func(stored []byte) (T, error)) (v T, err error) {
	if v, ok := l.made[d].(T); ok {
		return v, nil
	}
	stored, err := ruleParts.Get(tx, d)
	if errors.Is(err, kv.ErrNotFound) {
		err = &kv.Error{Op: "read", Kind: kv.ErrDamaged, Err: errors.New("it is not there")}
	}
	if err == nil {
		v, err = make(stored)
	}
	if err != nil {
		return v, fmt.Errorf("read a station's rules: %w", err)
	}
	if len(l.made) >= heldParts {
		clear(l.made)
	}
	l.made[d] = v
	return v, nil
}

// decoded reads a part that is JSON and nothing more.
func decoded[T any](stored []byte) (v T, err error) {
	err = json.Unmarshal(stored, &v)
	return v, err
}

// rules returns the rules of a digest as a revision brought them to a station.
func (l *library) rules(code string, d digest, revision int64, products monitor.Products, o Options) (*Rules, error) {
	var r *Rules
	err := l.store.View(func(tx *kv.Tx) (err error) {
		r, err = l.read(tx, d)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.Code, r.Monitor.Revision, r.Monitor.SKUs = code, revision, products
	r.Monitor.AliveTimeout, r.Monitor.Spread = o.AliveTimeout, o.Spread
	return r, nil
}

// read makes the rules of a digest, without what is not stored with them.
func (l *library) read(tx *kv.Tx, d digest) (*Rules, error) {
	s, err := part(l, tx, d, decoded[*storedRules])
	if err != nil {
		return nil, err
	}
	roles, err := part(l, tx, s.Roles, decoded[map[string]oee.Role])
	if err != nil {
		return nil, err
	}
	e, err := part(l, tx, s.Engine, decoded[*storedEngine])
	if err != nil {
		return nil, err
	}
	days, err := part(l, tx, e.Calendar, newCalendar)
	if err != nil {
		return nil, err
	}
	c := e.Config
	if c.Causes, err = part(l, tx, e.Causes, newCauses); err != nil {
		return nil, err
	}
	c.Calendar = days
	return &Rules{
		digest: d, engine: s.Engine, Calendar: days, Monitor: &c,
		OEE: oee.Config{Calendar: days, Roles: roles, Money: s.Money, IdleCostPerMinute: s.IdleCostPerMinute},
	}, nil
}

func newCalendar(stored []byte) (*calendar.Calendar, error) {
	s, err := decoded[storedCalendar](stored)
	if err != nil {
		return nil, err
	}
	zone, err := iso.Zone(s.Zone)
	if err != nil {
		return nil, err
	}
	return calendar.NewCalendar(calendar.CalendarConfig{Zone: zone, DayStartHour: s.DayStartHour, WeekStartDay: s.WeekStartDay, Shifts: s.Shifts}), nil
}

func newCauses(stored []byte) (map[string]bool, error) {
	codes, err := decoded[[]string](stored)
	causes := make(map[string]bool, len(codes))
	for _, code := range codes {
		causes[code] = true
	}
	return causes, err
}
