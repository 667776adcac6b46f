package station

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"opsmon/app/account/manifest"
	"opsmon/app/instant"
	"opsmon/kv"
	"opsmon/schema/strictjson"
)

// corrections has the corrections of an account by number, from 1 without gaps.
var corrections = kv.NewBucket("correction", kv.PairOf(kv.String, kv.Uint64), kv.JSON[Correction]())

// Correction changes the configuration of stations for a range in the past (monitoring.md section 8). It overrides the
// manifest's revisions of that time. Where several overlap, the one with the highest number wins, field by field. A
// correction is never edited, only undone.
//
// Stored as JSON: a changed field needs a migration.
type Correction struct {
	Number       uint64          `json:"number"`
	CreatedAt    time.Time       `json:"createdAt"`
	Author       string          `json:"author"`
	Note         string          `json:"note,omitempty"`
	StationCodes []string        `json:"stationCodes"`
	From         int64           `json:"from"`    // Unix ms, a whole minute
	To           int64           `json:"to"`      // Unix ms, a whole minute; exclusive
	Changes      json.RawMessage `json:"changes"` // {station, skus, reasons, shiftPatterns} of fields as in a manifest
	UndoneAt     time.Time       `json:"undoneAt,omitzero"`
	UndoneBy     string          `json:"undoneBy,omitempty"`
}

// MaxCorrections is the limit for an account. It includes undone ones, whose numbers are not used again.
const MaxCorrections = 10_000

// Patch decodes the changes.
func (c *Correction) Patch() (*manifest.Patch, error) {
	tree, err := strictjson.Decode(c.Changes)
	if err != nil {
		return nil, fmt.Errorf("read correction %d: %w", c.Number, err)
	}
	return PatchOf(tree), nil
}

// PatchOf converts the changes of a correction, as decoded by strictjson, to a patch. It ignores values that do not
// match the schema.
func PatchOf(tree any) *manifest.Patch {
	root, _ := tree.(map[string]any)
	list := func(name string) (objects []map[string]any) {
		items, _ := root[name].([]any)
		for _, item := range items {
			if o, ok := item.(map[string]any); ok {
				objects = append(objects, o)
			}
		}
		return objects
	}
	p := &manifest.Patch{SKUs: list("skus"), Reasons: list("reasons"), ShiftPatterns: list("shiftPatterns")}
	p.Station, _ = root["station"].(map[string]any)
	return p
}

// readCorrections reads all corrections of an account in order. Errors are the store's.
func readCorrections(store *kv.Store, accountID string) (list []Correction, err error) {
	if store == nil {
		return nil, nil
	}
	err = store.View(func(tx *kv.Tx) error {
		list = nil
		for item, err := range corrections.Scan(tx, kv.Under(corrections, accountID)) {
			if err != nil {
				return fmt.Errorf("read the corrections of %s: %w", accountID, err)
			}
			list = append(list, item.Value)
		}
		return nil
	})
	return list, err
}

// AddCorrection stores a correction under the next number and returns it. Errors are the store's.
func AddCorrection(tx *kv.Tx, accountID string, c Correction) (Correction, error) {
	c.Number = 1
	for item, err := range corrections.ScanDown(tx, kv.Under(corrections, accountID)) {
		if err != nil {
			return c, fmt.Errorf("read the corrections of %s: %w", accountID, err)
		}
		c.Number = item.Key.B + 1
		break
	}
	return c, corrections.Put(tx, kv.Pair[string, uint64]{A: accountID, B: c.Number}, c)
}

// GetCorrection reads a correction. Error: kv.ErrNotFound.
func GetCorrection(tx *kv.Tx, accountID string, number uint64) (Correction, error) {
	return corrections.Get(tx, kv.Pair[string, uint64]{A: accountID, B: number})
}

// UndoCorrection marks a correction as undone. Errors are the store's.
func UndoCorrection(tx *kv.Tx, accountID string, c Correction, by string) (Correction, error) {
	c.UndoneAt, c.UndoneBy = tx.Now(), by
	return c, corrections.Put(tx, kv.Pair[string, uint64]{A: accountID, B: c.Number}, c)
}

// Corrections returns the corrections of the account in order, including undone ones.
func (t *Timeline) Corrections() []Correction { return t.corrected.Load().all }

// Correct updates the timeline after a correction was stored or undone.
func (t *Timeline) Correct(c Correction) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := slices.Clone(t.corrected.Load().all)
	if at, found := slices.BinarySearchFunc(list, c.Number, func(x Correction, n uint64) int { return cmp.Compare(x.Number, n) }); found {
		list[at] = c
	} else {
		list = slices.Insert(list, at, c)
	}
	t.corrected.Store(newCorrectionSet(list))
}

// With returns a copy of the timeline as if a correction were stored or, if it is undone, as if it were undone. The
// copy remains valid for as long as it is used.
func (t *Timeline) With(c Correction) *Timeline {
	all := t.Corrections()
	if c.Number == 0 {
		c.Number = uint64(len(all)) + 1
	}
	list := slices.DeleteFunc(slices.Clone(all), func(x Correction) bool { return x.Number == c.Number })
	list = append(list, c)
	slices.SortFunc(list, func(a, b Correction) int { return cmp.Compare(a.Number, b.Number) })
	with := &Timeline{revisions: t.revisions}
	with.corrected.Store(newCorrectionSet(list))
	return with
}

// maxRevision is the mask for the manifest's revision in a monitor.Config.Revision. The bits above identify the
// correction boundary since which the same corrections apply: 0 for none, else twice the number of the correction,
// minus one if it begins there.
const maxRevision = 1<<32 - 1

// correctionSet has all corrections of an account. It is immutable except for its cache.
type correctionSet struct {
	all    []Correction
	byCode map[string][]*activeCorrection // those in force by station, in order of their numbers

	mu    sync.Mutex
	made  map[string]*resolver // cache by revision and corrections
	order []string             // keys of made
}

// activeCorrection is a correction in force.
type activeCorrection struct {
	*Correction
	patch *manifest.Patch
}

func newCorrectionSet(list []Correction) *correctionSet {
	o := &correctionSet{all: list, byCode: map[string][]*activeCorrection{}, made: map[string]*resolver{}}
	for i := range list {
		c := &list[i]
		if !c.UndoneAt.IsZero() {
			continue
		}
		patch, err := c.Patch()
		if err != nil {
			continue // reported by Check
		}
		l := &activeCorrection{c, patch}
		for _, code := range c.StationCodes {
			o.byCode[code] = append(o.byCode[code], l)
		}
	}
	return o
}

// over returns the corrections of a station at a moment.
func (o *correctionSet) over(code string, at int64) (list []*activeCorrection) {
	for _, l := range o.byCode[code] {
		if l.From <= at && at < l.To {
			list = append(list, l)
		}
	}
	return list
}

// boundary returns the identifier of the latest moment up to at at which a correction of the station began or ended.
func (o *correctionSet) boundary(code string, at int64) (name int64) {
	var latest int64
	for _, l := range o.byCode[code] {
		for side, moment := range [...]int64{l.From, l.To} {
			if moment <= at && (name == 0 || moment >= latest) {
				latest, name = moment, int64(2*l.Number)-1+int64(side)
			}
		}
	}
	return name
}

// station returns a station of a plan with the corrections at a moment.
func (o *correctionSet) station(p *Plan, code string, at int64) (*Station, error) {
	list := o.over(code, at)
	if len(list) == 0 {
		return p.Of(code), nil
	}
	return o.corrected(p, code, list, o.boundary(code, at))
}

// named returns a station of a plan with the corrections from a boundary on; nil: no such boundary.
func (o *correctionSet) named(p *Plan, code string, boundary int64) (*Station, error) {
	if boundary == 0 {
		return p.Of(code), nil
	}
	for _, l := range o.byCode[code] {
		if int64(l.Number) == (boundary+1)/2 {
			at := l.From
			if boundary%2 == 0 {
				at = l.To
			}
			return o.corrected(p, code, o.over(code, at), boundary)
		}
	}
	return nil, nil
}

// keptResolvers limits the cache of a correctionSet; a recalculation of a range uses the same few repeatedly.
const keptResolvers = 32

// corrected resolves a station of a plan with corrections.
func (o *correctionSet) corrected(p *Plan, code string, list []*activeCorrection, boundary int64) (*Station, error) {
	key := fmt.Sprint(p.Revision)
	for _, l := range list {
		key += fmt.Sprint(" ", l.Number)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.made[key]
	if r == nil {
		m := p.Manifest
		for _, l := range list {
			m = l.patch.Apply(m)
		}
		var err error
		if r, err = newResolver(m, p.Revision, p.options); err != nil {
			return nil, err
		}
		if o.order = append(o.order, key); len(o.order) > keptResolvers {
			delete(o.made, o.order[0])
			o.order = o.order[1:]
		}
		o.made[key] = r
	}
	s := p.Of(code)
	at := slices.IndexFunc(r.plants, func(x place) bool { return x.Code == s.Plant.Code })
	plant := &r.plants[at]
	group := &plant.Groups[slices.IndexFunc(plant.Groups, func(g manifest.StationGroup) bool { return g.Code == s.Group.Code })]
	own := &group.Stations[slices.IndexFunc(group.Stations, func(x manifest.Station) bool { return x.Code == code })]
	for _, l := range list {
		own = l.patch.ApplyTo(own)
	}
	corrected, err := r.station(plant, group, own)
	if err != nil {
		return nil, err
	}
	corrected.Monitor.Revision |= boundary << 32
	return corrected, r.fix(corrected.Rules)
}

// checkCorrections reads all corrections and reports problems.
func checkCorrections(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	account, next := "", uint64(1)
	for item, err := range corrections.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("correction: %v", err))
			continue
		}
		if item.Key.A != account {
			if account, next = item.Key.A, 1; !known[account] {
				report(fmt.Sprintf("corrections: there is no account %s", account))
			}
		}
		c := item.Value
		if c.Number != item.Key.B || c.Number != next {
			report(fmt.Sprintf("account %s: correction %d is where %d should be", account, c.Number, next))
		}
		next = item.Key.B + 1
		if _, err := c.Patch(); err != nil {
			report(fmt.Sprintf("account %s: %v", account, err))
		}
		if c.From >= c.To {
			report(fmt.Sprintf("account %s: correction %d ends at %s, before it begins", account, c.Number, instant.FormatMs(c.To)))
		}
	}
}
