package station

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"opsmon/app/account"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/monitor"
	"opsmon/kv"
)

// What each revision of a manifest changed for monitoring is worked out once, when it is applied, and stored with it. So
// the cost of a change is what it changed, and the past is read without the documents of that time.
var (
	effects       = kv.NewBucket("revisionEffect", kv.PairOf(kv.String, kv.Uint64), kv.JSON[effect]())                            // by account and revision
	ruleChanges   = kv.NewBucket("ruleChange", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.Uint64)), kv.JSON[ruleChange]())      // by account, station and revision
	tariffChanges = kv.NewBucket("tariffChange", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.Uint64)), kv.JSON[energy.Tariff]()) // by account, "" and revision; without From
	skuChanges    = kv.NewBucket("skuChange", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.Uint64)), kv.JSON[product]())          // by account, SKU and revision
)

// effect is what a revision changed for the account as a whole. It is stored as JSON: a changed field needs a migration.
type effect struct {
	At    int64 `json:"at"`              // when the revision was stored, Unix ms
	Shape bool  `json:"shape,omitempty"` // more than names, prices and what is stored of SKUs: rules of stations may have changed
	SKUs  bool  `json:"skus,omitempty"`  // some of skuChanges are of this revision
}

// ruleChange is what a revision made of a station's rules. It is stored as JSON: a changed field needs a migration.
type ruleChange struct {
	Rules digest `json:"rules,omitzero"` // zero: the station left the manifest
}

// product is what figures need of a SKU. It is stored as JSON, and so is monitor.SKU: a changed field needs a migration.
type product struct {
	monitor.SKU
	Value    float64 `json:",omitempty"` // worth of a unit, in the account's currency
	HasValue bool    `json:",omitempty"`
	Gone     bool    `json:",omitempty"` // it left the manifest
}

func (p product) same(o product) bool { return reflect.DeepEqual(p, o) }

// revisionChange is what a revision changed, to be stored in its transaction.
type revisionChange struct {
	effect
	tariff *energy.Tariff    // where it is another one
	rules  map[string]digest // by station; zero: it left
	skus   map[string]product
	parts  parts
}

// EffectOf works out what a manifest changes in comparison with the one before; nil where there was none. It is an error
// where one of them did not pass the checks.
func EffectOf(was, is *account.Manifest) (account.Effect, error) {
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

// products notes the SKUs that changed.
func (e *revisionChange) products(was, is *account.Manifest) {
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

// sameArray reports whether two slices are one and the same.
func sameArray[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// tariffOf returns the tariff of a manifest, without its From.
func tariffOf(m *account.Manifest) energy.Tariff {
	price, co2 := m.Settings.ElectricalPricePerKwh, m.Settings.ElectricalCo2PerKwh
	return energy.Tariff{Price: float(price), CO2: float(co2), HasPrice: price.Set(), HasCO2: co2.Set()}
}

// sameShape reports whether two manifests differ in nothing but names and texts that people read, prices, and what effects
// hold of SKUs.
func sameShape(a, b *account.Manifest) bool {
	if !reflect.DeepEqual(plainSettings(a), plainSettings(b)) {
		return false
	}
	if sameArray(a.Plants, b.Plants) && sameArray(a.Reasons, b.Reasons) && sameArray(a.SKUs, b.SKUs) {
		return true // all arrays come from one document
	}
	return reflect.DeepEqual(plainArrays(a), plainArrays(b))
}

func plainSettings(m *account.Manifest) account.Settings {
	s := m.Settings
	s.ElectricalPricePerKwh, s.ElectricalCo2PerKwh, s.Currency, s.DashboardConfig, s.DurationFormat = "", "", nil, nil, nil
	return s
}

// plainArrays returns the arrays of a manifest without what does not matter to its shape.
func plainArrays(m *account.Manifest) *account.Manifest {
	p := &account.Manifest{
		ShiftPatterns: slices.Clone(m.ShiftPatterns), Reasons: plainReasons(m.Reasons), Tasks: m.Tasks, TaskLists: m.TaskLists,
		SKUs: slices.Clone(m.SKUs), Plants: slices.Clone(m.Plants),
	}
	for i := range p.ShiftPatterns {
		p.ShiftPatterns[i].Title = ""
	}
	for i := range p.SKUs {
		k := &p.SKUs[i]
		*k = account.SKU{Code: k.Code, AllowUseInQuickSchedule: k.AllowUseInQuickSchedule, StationCodes: k.StationCodes, StationGroupCodes: k.StationGroupCodes, TaskCodes: k.TaskCodes}
	}
	for i := range p.Plants {
		plant := &p.Plants[i]
		plant.Name, plant.Life, plant.Groups = "", account.Lifetime{}, slices.Clone(plant.Groups)
		for j := range plant.Groups {
			group := &plant.Groups[j]
			group.Name, group.Life, group.Stations = "", account.Lifetime{}, slices.Clone(group.Stations)
			for k := range group.Stations {
				s := &group.Stations[k]
				s.Name, s.Description, s.Life = "", nil, account.Lifetime{}
			}
		}
	}
	return p
}

func plainReasons(list []account.Reason) []account.Reason {
	list = slices.Clone(list)
	for i := range list {
		r := &list[i]
		r.Name, r.Description, r.Extra, r.Reasons = nil, nil, nil, plainReasons(r.Reasons)
	}
	return list
}

// Put stores the effect of a revision, in the transaction that stores that. Errors are the store's.
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

// revisionKey names what a revision of an account changed of a station or SKU.
type revisionKey = kv.Pair[string, kv.Pair[string, uint64]]

func ofRevision(accountID, code string, revision uint64) revisionKey {
	return revisionKey{A: accountID, B: kv.Pair[string, uint64]{A: code, B: revision}}
}

// MigrateEffects stores the effects of all revisions that were made before there were any. Errors are the store's.
func MigrateEffects(tx *kv.Tx) error {
	ids, err := account.IDs(tx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		var was *account.Manifest
		err := account.EachManifest(tx, id, func(r *account.Revision, is *account.Manifest) error {
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
