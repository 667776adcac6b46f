package floor_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/ledger"
	"opsmon/app/engine/monitor"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// ledgerOf counts the records of what happened.
func ledgerOf(t *testing.T, r *floortest.Rig) (n int) {
	t.Helper()
	b := kv.NewBucket("ledger", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.Uint64, kv.Uint64))), kv.Raw)
	if err := r.Store.View(func(tx *kv.Tx) error { n = b.Count(tx); return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

func record(t *testing.T, r *floortest.Rig, stationCode string, in monitor.Input) {
	t.Helper()
	if err := r.Floor.Do(floortest.Account, func(w *floor.Work) error {
		in.At = w.Now
		_, err := w.Record(stationCode, in)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestTheLedgerIsPrunedWithTheSignals: of what ended before the first signals that are kept nothing stays; what goes on since
// then does, and all that comes of it is the same.
func TestTheLedgerIsPrunedWithTheSignals(t *testing.T) {
	apptest.Long(t)
	r := floortest.New(t, floortest.Manifest)
	r.Retention = 5 * 24 * time.Hour
	rule := &reached{}
	r.Open(nil, rule)
	start(t, r, "PRESS-2", monitor.Schedule{ID: "long", SKU: "PLATE"}, r.Now().UnixMilli())
	r.Floor.Linked(floortest.Account, "works/gateway", []string{"PACK"}, r.Now().UnixMilli(), true)
	for day := range 12 {
		id := fmt.Sprint("s", day)
		start(t, r, press, monitor.Schedule{ID: id, SKU: "BOWL", Quantity: 10}, r.Now().UnixMilli())
		for range 23 {
			r.Send(floortest.Signal(press, 0, units(20)))
			r.Pass(time.Hour, 0)
		}
		record(t, r, press, monitor.Input{Kind: monitor.InputScheduleEnd, ID: id})
		r.Pass(time.Hour, 30*time.Minute)
	}
	if n := r.Floor.Told(floortest.Account, press); len(rule.schedules) != 12 || n > 2 {
		t.Errorf("of %d schedules that reached their quantity, %d are remembered", len(rule.schedules), n)
	}
	before := ledgerOf(t, r)
	if err := r.Signals.Pack(); err != nil {
		t.Fatal(err)
	}
	for _, sweep := range []func(context.Context) error{r.Signals.Sweep, r.History.Sweep, r.Floor.Sweep, r.Floor.Sweep} {
		if err := sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := ledgerOf(t, r); n > before-12 || n < 12 {
		t.Errorf("of %d records %d are left", before, n)
	}
	from, to := floortest.At(8*24*time.Hour), r.Now().UnixMilli()/60_000*60_000
	shown := func() (all []figures) {
		for _, code := range []string{press, "PRESS-2", "PACK"} {
			all = append(all, figuresOf(t, r, code, from, to))
		}
		return all
	}
	want := shown()
	for _, code := range []string{press, "PRESS-2", "PACK"} { // what was kept of three days is computed again
		if err := r.Floor.Do(floortest.Account, func(w *floor.Work) error { return w.Backfill(code, w.Now-3*24*3600_000) }); err != nil {
			t.Fatal(err)
		}
	}
	untilComputed(t, r, nil)
	if diff := cmp.Diff(want, shown()); diff != "" {
		t.Errorf("(-before +computed again): %.1500s", diff)
	}
	if st := status(t, r, "PRESS-2"); st.Schedule == nil || st.Schedule.ID != "long" {
		t.Errorf("what runs since the beginning is %+v", st.Schedule)
	}
	if st := status(t, r, "PACK"); !st.IsAlive {
		t.Error("a connection that is there since the beginning is none any more")
	}
	checked(t, r)
}

// TestADeviceThatConnectsAnewLeavesNoRecords: when it was away for less than a minute. One that stays away is recorded at the
// moment at which it went.
func TestADeviceThatConnectsAnewLeavesNoRecords(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	link := func(up bool, stations ...string) {
		t.Helper()
		r.Floor.Linked(floortest.Account, "works/gateway", stations, r.Now().UnixMilli(), up)
		r.Pass(20*time.Second, time.Second)
	}
	link(true, press, "PACK")
	before := ledgerOf(t, r)
	for range 50 {
		link(false, press, "PACK")
		link(true, press, "PACK")
	}
	if n := ledgerOf(t, r) - before; n != 0 {
		t.Errorf("fifty connections made %d records", n)
	}
	link(false, press, "PACK")
	link(true, press) // it was given other stations
	r.Pass(10*time.Minute, time.Second)
	if n := ledgerOf(t, r) - before; n != 1 {
		t.Errorf("of a device that left one of two stations there are %d records", n)
	}
	if a, b := status(t, r, press).StatusCode, status(t, r, "PACK").StatusCode; a == "disconnected" || b != "disconnected" {
		t.Errorf("the station that it left is %s, the other one %s", b, a)
	}
}

// TestShortAbsencesOfADevice: a device goes for three minutes and comes for one and a half, for seven hours, and once it is
// away for ten minutes. Nothing is known of those alone; what was counted live is what comes of the ledger, wherever it is begun, and
// who is connected is known.
func TestShortAbsencesOfADevice(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	link := func(up bool, stays time.Duration) {
		t.Helper()
		r.Floor.Linked(floortest.Account, "works/gateway", []string{press}, r.Now().UnixMilli(), up)
		r.Pass(stays, 30*time.Second)
	}
	r.Floor.Linked(floortest.Account, "works/other", []string{"PACK"}, r.Now().UnixMilli(), true)
	link(true, time.Minute)
	for i := range 90 {
		away := 3 * time.Minute
		if i == 40 {
			away = 10 * time.Minute
		}
		link(false, away)
		link(true, 90*time.Second)
	}
	r.Pass(time.Hour, time.Minute)
	from, to := floortest.At(0), r.Now().UnixMilli()/60_000*60_000
	live := figuresOf(t, r, press, from, to)
	silent := int64(0)
	for _, g := range live.Segments {
		if !g.Known {
			silent += g.End - g.Start
		}
	}
	if silent != 10*60_000 {
		t.Errorf("nothing is known of %d s, want the ten minutes", silent/1000)
	}
	for from := 7*time.Hour + 30*time.Minute; from >= 0; from -= 30 * time.Minute { // from each state that is kept, and from nothing
		if err := r.Floor.Do(floortest.Account, func(w *floor.Work) error { return w.Backfill(press, floortest.At(from)) }); err != nil {
			t.Fatal(err)
		}
		untilComputed(t, r, nil)
		if diff := cmp.Diff(live, figuresOf(t, r, press, floortest.At(0), to)); diff != "" {
			t.Errorf("from %v on (-live +from the ledger): %.1500s", from, diff)
		}
	}
	checked(t, r)
	r.Pass(20*time.Minute, time.Minute)
	for _, code := range []string{press, "PACK"} {
		if st := status(t, r, code); !st.IsAlive {
			t.Errorf("at %s a connection that is there is none any more", code)
		}
	}
}

func checked(t *testing.T, r *floortest.Rig) {
	t.Helper()
	err := r.Store.View(func(tx *kv.Tx) error {
		check := func(problem string) { t.Errorf("check: %s", problem) }
		ledger.Check(tx, map[string]bool{floortest.Account: true}, check)
		floor.Check(tx, map[string]bool{floortest.Account: true}, check)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
