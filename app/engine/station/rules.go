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

// Rules has the configuration of a station for its figures, from one change of it to the next. It must not be changed.
type Rules struct {
	Code     string // of the station
	Calendar *calendar.Calendar
	Monitor  *monitor.Config // Revision is the revision that introduced these rules
	OEE      oee.Config      // Values is nil if the values of SKUs are looked up over time by Timeline.Values

	digest digest // of everything except code and revision: equal rules have equal digests
	engine digest // of the engine's part
}

// Same reports whether both lead to the same figures.
func (r *Rules) Same(o *Rules) bool { return r == o || r.digest == o.digest }

// sameEngine reports whether both are equal for the engine.
func (r *Rules) sameEngine(o *Rules) bool { return r == o || r.engine == o.engine }

// digest is the hash of a possibly large part of the configuration: equal parts have equal digests.
type digest account.Hash

// MarshalText encodes the digest in hexadecimal.
func (d digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText decodes the result of MarshalText.
func (d *digest) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(d) {
		return fmt.Errorf("a digest of %d characters", len(text))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// ruleParts has rules, and the larger parts that rules share, by the digest of their JSON. Each is stored once for all
// stations and revisions, for as long as the account's revisions.
var ruleParts = kv.NewBucket("ruleParts", kv.Bytes32, kv.Raw)

// storedRules are Rules as stored, as JSON: a changed field needs a migration.
type storedRules struct {
	Engine            digest  // key of a storedEngine
	Roles             digest  // key of oee.Config.Roles
	Money             bool    `json:",omitempty"`
	IdleCostPerMinute float64 `json:",omitempty"`
}

// storedEngine is the engine's part as stored, as JSON. A field of monitor.Config with a new meaning needs a migration;
// a new field has its zero value in older records.
type storedEngine struct {
	Calendar digest // key of a storedCalendar
	Causes   digest // key of the sorted codes
	monitor.Config
}

// storedCalendar is a calendar as stored, as JSON: a changed field needs a migration.
type storedCalendar struct {
	Zone                       string
	DayStartHour, WeekStartDay int
	Shifts                     []calendar.Shift `json:",omitempty"`
}

// parts has encoded parts to be stored, by digest.
type parts map[digest][]byte

// add encodes a part, adds it and returns its digest.
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

// seal sets the digests of rules with the given digests of their shared parts.
func (p parts) seal(r *Rules, calendar, causes, roles digest) (err error) {
	if r.engine, err = p.add(storedEngine{calendar, causes, *r.Monitor}); err != nil {
		return err
	}
	r.digest, err = p.add(storedRules{r.engine, roles, r.OEE.Money, r.OEE.IdleCostPerMinute})
	return err
}

// put stores the rules with a digest and all their parts.
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

// library decodes stored rules and caches their shared parts. It is protected by the lock of its timeline.
type library struct {
	store *kv.Store
	made  map[digest]any
}

// heldParts limits the cache, which is emptied when it is full.
const heldParts = 4096

// part returns the result of make for a stored part, cached.
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

// decoded decodes a part that is plain JSON.
func decoded[T any](stored []byte) (v T, err error) {
	err = json.Unmarshal(stored, &v)
	return v, err
}

// rules returns the rules with a digest, for a station and a revision.
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

// read returns the rules with a digest, without the values that are not stored with them.
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
