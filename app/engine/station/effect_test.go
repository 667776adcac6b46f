package station

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/kv"
)

// kept formats the stored effect of a revision: its kind, the changed stations and SKUs, the tariff.
func (h *house) kept(revision uint64) string {
	h.t.Helper()
	out := ""
	err := h.store.View(func(tx *kv.Tx) error {
		e, err := effects.Get(tx, kv.Pair[string, uint64]{A: "millbrook", B: revision})
		if err != nil {
			return err
		}
		if e.Shape {
			out += "shape "
		}
		for item, err := range ruleChanges.Scan(tx, kv.Under(ruleChanges, "millbrook")) {
			if err != nil {
				return err
			}
			if item.Key.B.B == revision {
				out += item.Key.B.A + " "
			}
		}
		for item, err := range skuChanges.Scan(tx, kv.Under(skuChanges, "millbrook")) {
			if err != nil {
				return err
			}
			if item.Key.B.B == revision {
				out += fmt.Sprintf("SKU %s %v ", item.Key.B.A, e.SKUs && !item.Value.Gone)
			}
		}
		if tariffChanges.Has(tx, ofRevision("millbrook", "", revision)) {
			out += "tariff "
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

// TestEffect checks the stored effect of each kind of change.
func TestEffect(t *testing.T) {
	const press = `plants[0].stationGroups[0].stations[0].`
	for _, c := range []struct{ edit, want string }{
		{press + `name = "Renamed"`, ""},
		{press + `description = "by the door"`, ""},
		{`plants[0].name = "Leeds 2"`, ""},
		{`reasons[0].name = "Jammed"`, ""},
		{`currency = "GBP"`, ""},
		{`electricalPricePerKwh = 0.25`, "tariff "},
		{`skus[0].cycleTime = 11000`, "SKU A true "},
		{`skus[0].value = 5`, "SKU A true "},
		{`skus[0].name = "Another"`, ""},
		{`skus[0].specifications = "blue"`, ""},
		{`skus[1] -`, "shape SKU B false "},
		{`skus[1].stationCodes = ["PRESS-2"]`, "shape "},
		{press + `utilisationDowntimeThreshold = 60000`, "shape PRESS-1 "},
		{press + `idleCostPerMinute = 3`, "shape PRESS-1 "},
		{press + `enableManualDowntime = "on"`, "shape "},
		{`plants[1].dayStartHour = 3`, "shape PRESSE-1 "},
		{`reasons[1].oee = null`, "shape PRESS-1 PRESS-2 PRESSE-1 WELD-1 "},
		{`shiftPatterns[1].shifts[0].duration = 7`, "shape PRESS-2 "},
		{`enableEditPartsPerCycle = "on"`, "shape PRESS-1 PRESS-2 PRESSE-1 WELD-1 "},
		{`tasks[0].title = "Look closely"`, "shape "},
		{`plants[1] -`, "shape PRESSE-1 "},
		{`plants[0].stationGroups[1].stations += {"code":"NEW-1","name":"New"}`, "shape NEW-1 "},
	} {
		h := newHouse(t, small)
		h.apply(h1, edit(t, small, c.edit))
		if got := h.kept(2); got != c.want {
			t.Errorf("%s: %q, want %q", c.edit, got, c.want)
		}
	}
	h := newHouse(t, small)
	if got := h.kept(1); got != "shape PRESS-1 PRESS-2 PRESSE-1 WELD-1 SKU A true SKU B true SKU C true tariff " {
		t.Errorf("the first manifest: %q", got)
	}
	h.post(h1, map[string]any{"enableAlwaysConnected": "on"})
	h.post(2*h1, map[string]any{"electricalCo2PerKwh": 0.2, "enableQuickScheduleStart": "on"})
	if got := h.kept(2) + "| " + h.kept(3); got != "shape PRESS-1 PRESS-2 PRESSE-1 WELD-1 | shape tariff " {
		t.Errorf("settings: %q", got)
	}
}

// TestSKUs checks the SKU at each moment and until when it is valid, with revisions of other fields in between.
func TestSKUs(t *testing.T) {
	h := years(t) // the cycle of A changes at 6 h
	for range 2 {
		line := h.line()
		for _, c := range []struct {
			sku          string
			at           int64
			cycle, until float64
		}{
			{"A", math.MinInt64, 12000, float64(ms(6 * h1))}, {"A", ms(0), 12000, float64(ms(6 * h1))}, {"A", ms(6*h1) - 1, 12000, float64(ms(6 * h1))},
			{"A", ms(6 * h1), 11000, math.MaxInt64}, {"A", latest, 11000, math.MaxInt64}, {"Z", ms(0), 0, math.MaxInt64},
		} {
			if sku, until := line.SKU(c.sku, c.at); sku.CycleTime != c.cycle || float64(until) != c.until {
				t.Errorf("%s at %d: cycle %v until %d, want %v until %v", c.sku, c.at, sku.CycleTime, until, c.cycle, c.until)
			}
		}
		if at, changed, err := line.SKUChanged("A", 6); at != ms(6*h1) || !changed || err != nil {
			t.Errorf("A changed after revision 6: %d, %v, %v", at, changed, err)
		}
		if _, changed, err := line.SKUChanged("A", 7); changed || err != nil {
			t.Errorf("A changed after revision 7: %v, %v", changed, err)
		}
		for after, want := range map[int64]string{1: "true true", 5: "true true", 6: "true true", 7: "true false", 8: "false false"} {
			if rules, skus, err := line.Since(after); fmt.Sprint(rules, skus) != want || err != nil {
				t.Errorf("since revision %d: %v %v, %v; want %s", after, rules, skus, err, want)
			}
		}
		if list, err := line.Shapes(ms(2*h1), ms(9*h1)); !slices.Equal(list, []int64{3, 5, 6, 8}) || err != nil {
			t.Errorf("shapes are of %v, %v", list, err)
		}
		h.reopen()
	}
	doc := edit(t, small, `plants[0].dayStartHour = 5`)
	h.apply(10*h1, edit(t, doc, `skus[0].lineSpeedTarget = 31`))
	h.apply(11*h1, edit(t, doc, `skus[0].lineSpeedTarget = 31`, `skus[0].value = 9`))
	for at, want := range map[time.Duration]string{8 * h1: "map[A:4.5] 11h0m0s", 10 * h1: "map[A:4.5] 11h0m0s", 11 * h1: "map[A:9] never"} {
		values, until, err := h.line().Values(map[string]bool{"A": true, "B": true}, ms(at))
		text := "never"
		if until != math.MaxInt64 {
			text = time.UnixMilli(until).Sub(start).String()
		}
		if got := fmt.Sprint(values, " ", text); got != want || err != nil {
			t.Errorf("values at %v: %s, %v; want %s", at, got, err, want)
		}
	}
}

// TestRulesAt: a station has rules even at moments at which it is not in the manifest.
func TestRulesAt(t *testing.T) {
	h := years(t)
	for at, want := range map[time.Duration]int64{-h1: 1, 0: 1, 4*h1 - 1: 1, 4 * h1: 5, 5 * h1: 5, 7*h1 - 1: 5, 7 * h1: 8, 90 * h1: 8} {
		if r, err := h.line().RulesAt("PRESS-1", ms(at)); err != nil || r.Monitor.Revision != want {
			t.Errorf("at %v: %+v, %v; want those of revision %d", at, r, err, want)
		}
	}
	if _, err := h.line().RulesAt("PRESS-9", ms(0)); err == nil {
		t.Error("a station that never was has rules")
	}
}

// TestThePlanSharesRules: a revision that does not change a station reuses its Rules, and one that only changes a price
// reuses the stations.
func TestThePlanSharesRules(t *testing.T) {
	h := newHouse(t, small)
	now := func() *Plan {
		p, err := h.line().Now()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := now()
	h.post(h1, map[string]any{"electricalPricePerKwh": 1})
	priced := now()
	if priced.Revision != 2 || priced.Of("WELD-1") != first.Of("WELD-1") || priced.Manifest.Settings.ElectricalPricePerKwh != "1" {
		t.Errorf("a price made another station: %+v", priced)
	}
	h.apply(2*h1, edit(t, small, `electricalPricePerKwh = 1`, `plants[0].stationGroups[0].stations[0].name = "Renamed"`, `plants[0].stationGroups[0].stations[1].minimumCycleTime = 7`))
	third := now()
	if third.Of("PRESS-1").Name != "Renamed" || third.Of("PRESS-1").Rules != first.Of("PRESS-1").Rules || third.Of("PRESS-2").Monitor.Revision != 3 {
		t.Errorf("%+v, %+v", third.Of("PRESS-1"), third.Of("PRESS-2"))
	}

	// No plan is requested between the next two, of which only the first changes rules.
	const priced1, renamed, slower = `electricalPricePerKwh = 1`, `plants[0].stationGroups[0].stations[0].name = "Renamed"`, `plants[0].stationGroups[0].stations[1].minimumCycleTime = 9`
	h.apply(3*h1, edit(t, small, priced1, renamed, slower))
	h.apply(4*h1, edit(t, small, priced1, slower, `skus[0].cycleTime = 500`, `reasons[0].name = "Stuck"`))
	fifth := now()
	if fifth.Of("PRESS-2").Monitor.MinimumCycle != 9 || fifth.Of("PRESS-2").Monitor.Revision != 4 || fifth.Of("PRESS-1").Rules != first.Of("PRESS-1").Rules {
		t.Errorf("%+v", fifth.Of("PRESS-2"))
	}
	h.apply(5*h1, edit(t, small, priced1, slower, `skus[0].cycleTime = 400`, `skus[0].name = "Part"`, `reasons[0].name = "Jam"`))
	sixth := now()
	press := sixth.Of("PRESS-1")
	if press.Rules != fifth.Of("PRESS-1").Rules || press.Name != "Press 1" || press.SKUs["A"].Name != "Part" || press.Reasons["jam"].Name != "Jam" || sixth.Of("PRESS-2").Rules != fifth.Of("PRESS-2").Rules {
		t.Errorf("%+v", press)
	}
	if sku, _ := press.Monitor.SKU("A", ms(5*h1)); sku.CycleTime != 400 {
		t.Errorf("a unit of A takes %v ms", sku.CycleTime)
	}
}

// TestMigrateEffects calculates the effects of years from the documents and compares them with the stored ones.
func TestMigrateEffects(t *testing.T) {
	h := years(t)
	dump := func() map[string]string {
		all := map[string]string{}
		if err := h.store.View(func(tx *kv.Tx) error {
			for _, item := range []func(){
				func() { dumpBucket(t, tx, all, effects) }, func() { dumpBucket(t, tx, all, ruleChanges) }, func() { dumpBucket(t, tx, all, skuChanges) },
				func() { dumpBucket(t, tx, all, tariffChanges) }, func() { dumpBucket(t, tx, all, ruleParts) },
			} {
				item()
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := dump()
	if len(want) < 20 {
		t.Fatalf("%d records are stored", len(want))
	}
	if err := h.store.Update(func(tx *kv.Tx) error {
		empty(t, tx, effects)
		empty(t, tx, ruleChanges)
		empty(t, tx, skuChanges)
		empty(t, tx, tariffChanges)
		empty(t, tx, ruleParts)
		return MigrateEffects(tx)
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, dump()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func dumpBucket[K comparable, V any](t *testing.T, tx *kv.Tx, all map[string]string, b *kv.Bucket[K, V]) {
	t.Helper()
	for item, err := range b.Scan(tx, kv.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(item.Value)
		if err != nil {
			t.Fatal(err)
		}
		all[fmt.Sprint(b.Name(), " ", item.Key)] = string(text)
	}
}

func empty[K comparable, V any](t *testing.T, tx *kv.Tx, b *kv.Bucket[K, V]) {
	t.Helper()
	for item, err := range b.Scan(tx, kv.Range{}) {
		if err == nil {
			err = b.Delete(tx, item.Key)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestRulesAreStoredOnce: stations and revisions with equal rules share their stored parts.
func TestRulesAreStoredOnce(t *testing.T) {
	h := newHouse(t, small)
	h.apply(h1, edit(t, small, `enableEditPartsPerCycle = "on"`))
	count := func() (n int) {
		if err := h.store.View(func(tx *kv.Tx) error {
			for _, err := range ruleParts.Scan(tx, kv.Range{}) {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	h.apply(2*h1, small)
	h.apply(3*h1, edit(t, small, `enableEditPartsPerCycle = "on"`))
	if after := count(); after != before {
		t.Errorf("%d parts are stored after a change was taken back and made again, %d before", after, before)
	}
}
