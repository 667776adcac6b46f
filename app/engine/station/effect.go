package station

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"opsmon/app/account"
	"opsmon/app/account/manifest"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/monitor"
	"opsmon/kv"
)

// The changes of each manifest revision that matter to monitoring are calculated when it is applied, and stored with
// it. The cost of a revision is therefore proportional to its changes, and the past is read without old documents.
var (
	effects       = kv.NewBucket("revisionEffect", kv.PairOf(kv.String, kv.Uint64), kv.JSON[effect]())                            // by account and revision
	ruleChanges   = kv.NewBucket("ruleChange", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.Uint64)), kv.JSON[ruleChange]())      // by account, station and revision
	tariffChanges = kv.NewBucket("tariffChange", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.Uint64)), kv.JSON[energy.Tariff]()) // by account, "" and revision; without From
	skuChanges    = kv.NewBucket("skuChange", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.Uint64)), kv.JSON[product]())          // by account, SKU and revision
)

// effect has a revision's changes of the account as a whole. It is stored as JSON: a changed field needs a migration.
type effect struct {
	At int64 `json:"at"` // when the revision was stored, Unix ms
	// changes beyond names, prices and stored SKUs: rules of stations may have changed
	Shape bool `json:"shape,omitempty"`
	SKUs  bool `json:"skus,omitempty"` // the revision has records in skuChanges
}

// ruleChange is a revision's change of a station's rules. It is stored as JSON: a changed field needs a migration.
type ruleChange struct {
	Rules digest `json:"rules,omitzero"` // zero: the station left the manifest
}

// product has the fields of a SKU that figures need. It is stored as JSON, as is monitor.SKU: a changed field needs a
// migration.
type product struct {
	monitor.SKU
	Value    float64 `json:",omitempty"` // value of a unit, in the account's currency
	HasValue bool    `json:",omitempty"`
	Gone     bool    `json:",omitempty"` // it was removed from the manifest
}

func (p product) same(o product) bool { return reflect.DeepEqual(p, o) }

// revisionChange is the change of a revision, to be stored in its transaction.
type revisionChange struct {
	effect
	tariff *energy.Tariff    // nil: unchanged
	rules  map[string]digest // by station; zero: removed
	skus   map[string]product
	parts  parts
}

// EffectOf calculates the changes of a manifest relative to the one before, or nil for the first. It returns an error
// if one of them is invalid.
func EffectOf(was, is *manifest.Manifest) (account.Effect, error) {
	e := &revisionChange{rules: map[string]digest{}, skus: map[string]product{}, parts: parts{}}
	before := energy.Tariff{}
	if was != nil {
		before = tariffOf(was)
	}
	if now := tariffOf(is); was == nil || now != before {
		e.tariff = &now
	}
	if was == nil || !sameArray(was.SKUs, is.SKUs) {
		e.products(was, is)
	}
	if e.Shape = was == nil || !sameShape(was, is); !e.Shape {
		return e, nil
	}
	old := map[string]*Rules{}
	if was != nil {
		before, err := newResolver(was, 0, Options{})
		if err != nil {
			return nil, err
		}
		if err := before.each(func(_ *place, s *Station) { old[s.Code] = s.Rules }); err != nil {
			return nil, err
		}
	}
	after, err := newResolver(is, 0, Options{})
	if err != nil {
		return nil, err
	}
	e.parts = after.parts
	err = after.each(func(_ *place, s *Station) {
		if r := old[s.Code]; r == nil || !r.Same(s.Rules) {
			e.rules[s.Code] = s.digest
		}
		delete(old, s.Code)
	})
	for code := range old {
		e.rules[code] = digest{}
	}
	return e, err
}

// products adds the changed SKUs.
func (e *revisionChange) products(was, is *manifest.Manifest) {
	old := map[string]product{}
	if was != nil {
		for i := range was.SKUs {
			old[was.SKUs[i].Code] = productOf(&was.SKUs[i])
		}
	}
	for i := range is.SKUs {
		code, now := is.SKUs[i].Code, productOf(&is.SKUs[i])
		if before, there := old[code]; !there || !now.same(before) {
			e.skus[code] = now
		}
		delete(old, code)
	}
	for code := range old {
		e.skus[code] = product{Gone: true}
	}
	e.SKUs = len(e.skus) > 0
}

// sameArray reports whether two slices share the same array.
func sameArray[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// tariffOf returns the tariff of a manifest without From.
func tariffOf(m *manifest.Manifest) energy.Tariff {
	price, co2 := m.Settings.ElectricalPricePerKwh, m.Settings.ElectricalCo2PerKwh
	return energy.Tariff{Price: float(price), CO2: float(co2), HasPrice: price.Set(), HasCO2: co2.Set()}
}

// sameShape reports whether two manifests differ only in names and texts for people, prices, and the SKU fields of
// product.
func sameShape(a, b *manifest.Manifest) bool {
	if !reflect.DeepEqual(plainSettings(a), plainSettings(b)) {
		return false
	}
	if sameArray(a.Plants, b.Plants) && sameArray(a.Reasons, b.Reasons) && sameArray(a.SKUs, b.SKUs) {
		return true // both share the arrays of one document
	}
	return reflect.DeepEqual(plainArrays(a), plainArrays(b))
}

func plainSettings(m *manifest.Manifest) manifest.Settings {
	s := m.Settings
	s.ElectricalPricePerKwh, s.ElectricalCo2PerKwh, s.Currency, s.DashboardConfig, s.DurationFormat = "", "", nil, nil, nil
	return s
}

// plainArrays returns the arrays of a manifest without the fields that sameShape ignores.
func plainArrays(m *manifest.Manifest) *manifest.Manifest {
	p := &manifest.Manifest{
		ShiftPatterns: slices.Clone(m.ShiftPatterns), Reasons: plainReasons(m.Reasons), Tasks: m.Tasks, TaskLists: m.TaskLists,
		SKUs: slices.Clone(m.SKUs), Plants: slices.Clone(m.Plants),
	}
	for i := range p.ShiftPatterns {
		p.ShiftPatterns[i].Title = ""
	}
	for i := range p.SKUs {
		k := &p.SKUs[i]
		*k = manifest.SKU{Code: k.Code, AllowUseInQuickSchedule: k.AllowUseInQuickSchedule, StationCodes: k.StationCodes, StationGroupCodes: k.StationGroupCodes, TaskCodes: k.TaskCodes}
	}
	for i := range p.Plants {
		plant := &p.Plants[i]
		plant.Name, plant.Life, plant.Groups = "", manifest.Lifetime{}, slices.Clone(plant.Groups)
		for j := range plant.Groups {
			group := &plant.Groups[j]
			group.Name, group.Life, group.Stations = "", manifest.Lifetime{}, slices.Clone(group.Stations)
			for k := range group.Stations {
				s := &group.Stations[k]
				s.Name, s.Description, s.Life = "", nil, manifest.Lifetime{}
			}
		}
	}
	return p
}

func plainReasons(list []manifest.Reason) []manifest.Reason {
	list = slices.Clone(list)
	for i := range list {
		r := &list[i]
		r.Name, r.Description, r.Extra, r.Reasons = nil, nil, nil, plainReasons(r.Reasons)
	}
	return list
}

// Put stores the effect in the transaction that stores the revision. Errors are the store's.
func (e *revisionChange) Put(tx *kv.Tx, accountID string, revision uint64, at time.Time) error {
	e.At = at.UnixMilli()
	for _, code := range slices.Sorted(maps.Keys(e.rules)) {
		d := e.rules[code]
		if d != (digest{}) {
			if err := e.parts.put(tx, d); err != nil {
				return err
			}
		}
		if err := ruleChanges.Put(tx, ofRevision(accountID, code, revision), ruleChange{d}); err != nil {
			return err
		}
	}
	for _, code := range slices.Sorted(maps.Keys(e.skus)) {
		if err := skuChanges.Put(tx, ofRevision(accountID, code, revision), e.skus[code]); err != nil {
			return err
		}
	}
	if e.tariff != nil {
		if err := tariffChanges.Put(tx, ofRevision(accountID, "", revision), *e.tariff); err != nil {
			return err
		}
	}
	return effects.Put(tx, kv.Pair[string, uint64]{A: accountID, B: revision}, e.effect)
}

// revisionKey is the key of a change: account, station or SKU, revision.
type revisionKey = kv.Pair[string, kv.Pair[string, uint64]]

func ofRevision(accountID, code string, revision uint64) revisionKey {
	return revisionKey{A: accountID, B: kv.Pair[string, uint64]{A: code, B: revision}}
}

// MigrateEffects stores the effects of revisions made before effects were stored. Errors are the store's.
func MigrateEffects(tx *kv.Tx) error {
	ids, err := account.IDs(tx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		var was *manifest.Manifest
		err := account.EachManifest(tx, id, func(r *account.Revision, is *manifest.Manifest) error {
			e, err := EffectOf(was, is)
			if err != nil {
				return err
			}
			was = is
			return e.Put(tx, id, r.Number, r.CreatedAt)
		})
		if err != nil {
			return fmt.Errorf("work out what the revisions of %s changed: %w", id, err)
		}
	}
	return nil
}
