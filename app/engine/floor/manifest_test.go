package floor_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/account"
	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/apptest"
)

func apply(t *testing.T, r *floortest.Rig, old, new string) {
	t.Helper()
	doc := strings.ReplaceAll(floortest.Manifest, old, new)
	if doc == floortest.Manifest && old != "" {
		t.Fatalf("the manifest has no %s", old)
	}
	p := auth.Local(floortest.Account)
	if _, err := r.Accounts.Apply(p, account.ApplyInput{Raw: []byte(doc)}); err != nil {
		t.Fatal(err)
	}
}

// TestAManifestChangeInMidShift holds that each minute is judged by the manifest of its time: at 30 units a minute until
// 8:30 and at 60 after it, half an hour of each makes 900 + 1800 ideal units.
func TestAManifestChangeInMidShift(t *testing.T) {
	r := floortest.New(t, strings.ReplaceAll(floortest.Manifest, `"unitsPerMinute":60`, `"unitsPerMinute":30`)).Open(nil)
	start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
	minutes := func(n int) {
		t.Helper()
		for range n * 2 {
			r.Send(floortest.Signal(press, 0, units(10)))
			r.Pass(30*time.Second, 0)
		}
	}
	minutes(30)
	apply(t, r, "", "")
	minutes(30)
	r.Pass(3*time.Minute, time.Second)
	ideal := func() (sum float64) {
		t.Helper()
		d, err := r.Floor.Detail(floortest.Account, press, floortest.At(0), floortest.At(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range monitor.Windows(d.Segments, d.Minutes) {
			sum += w.Ideal
		}
		return sum
	}
	if got := ideal(); got < 2699.9 || got > 2700.1 {
		t.Errorf("%v units were due in the hour, want 900 + 1800", got)
	}
	before := figuresOf(t, r, press, floortest.At(0), floortest.At(time.Hour))
	r.Open(nil)
	if diff := cmp.Diff(before, figuresOf(t, r, press, floortest.At(0), floortest.At(time.Hour))); diff != "" {
		t.Errorf("after a restart (-before +after):\n%s", diff)
	}
	r.Forget(press)
	if diff := cmp.Diff(before, figuresOf(t, r, press, floortest.At(0), floortest.At(time.Hour))); diff != "" {
		t.Errorf("computed again (-before +again):\n%s", diff)
	}
}

// leaving is a rule that notes the stations that left.
type leaving struct{ left []string }

func (*leaving) Due(*station.Plan, int64) []string                 { return nil }
func (*leaving) Tick(*floor.Work, []string) error                  { return nil }
func (*leaving) Happened(*floor.Work, string, monitor.Event) error { return nil }
func (*leaving) Recorded(*floor.Work, string, monitor.Input) error { return nil }

func (*leaving) Cancelled(*floor.Work, string, monitor.Input) error { return nil }
func (l *leaving) Left(_ *floor.Work, code string) error            { l.left = append(l.left, code); return nil }

func TestAStationThatLeavesTheManifestKeepsItsHistory(t *testing.T) {
	rule := &leaving{}
	r := floortest.New(t, floortest.Manifest).Open(nil, rule)
	r.Send(floortest.Signal(press, 0, units(7)))
	r.Pass(2*time.Hour, time.Minute)
	before := figuresOf(t, r, press, floortest.At(0), floortest.At(time.Hour))
	apply(t, r, `{"code":"PRESS","name":"Press","downtimeDetectionMode":"utilisation","utilisationDowntimeThreshold":120000},`, "")
	r.Pass(time.Second, 0)
	if diff := cmp.Diff([]string{press}, rule.left); diff != "" {
		t.Errorf("rules were told of other stations that left (-want +got):\n%s", diff)
	}
	if _, err := r.Floor.LiveOf(floortest.Account, press); err == nil {
		t.Error("a station that left is shown as one that is there")
	}
	for _, again := range []bool{false, true} {
		if again {
			r.Open(nil, rule)
		}
		if diff := cmp.Diff(before, figuresOf(t, r, press, floortest.At(0), floortest.At(time.Hour))); diff != "" {
			t.Errorf("its history changed (opened anew: %v; -before +after):\n%s", again, diff)
		}
	}
	apply(t, r, "", "")
	r.Pass(time.Second, 0)
	if got := status(t, r, press); got.StatusCode != "disconnected" {
		t.Errorf("revived the station is %s", got.StatusCode)
	}
}

// TestFiguresAfterManyChanges: what was counted while the configuration changed hundreds of times, back and forth and with
// restarts in between, is what the log and the revisions give when all is computed from nothing.
func TestFiguresAfterManyChanges(t *testing.T) {
	apptest.Long(t)
	r := floortest.New(t, floortest.Manifest).Open(nil)
	random := rand.New(rand.NewPCG(7, 1))
	start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
	pick := func(from string, values ...string) func(string) string {
		return func(doc string) string { return strings.Replace(doc, from, values[random.IntN(len(values))], 1) }
	}
	edits := []func(string) string{
		pick(`"name":"Press"`, `"name":"Press"`, `"name":"Press 1"`, `"name":"Old press"`),
		pick(`"unitsPerMinute":60`, `"unitsPerMinute":60`, `"unitsPerMinute":30`, `"unitsPerMinute":45`),
		pick(`"value":0.5`, `"value":0.5`, `"value":0.75`),
		pick(`"cycleTime":2000`, `"cycleTime":2000`, `"cycleTime":4000`),
		pick(`"downtimeDetectionMode":"utilisation","utilisationDowntimeThreshold":120000`,
			`"downtimeDetectionMode":"utilisation","utilisationDowntimeThreshold":120000`, `"downtimeDetectionMode":"utilisation","utilisationDowntimeThreshold":30000`,
			`"downtimeDetectionMode":"production"`),
		pick(`"startHour":6,"duration":8,"weekDay":"1"`, `"startHour":6,"duration":8,"weekDay":"1"`, `"startHour":6,"duration":3,"weekDay":"1"`),
		pick(`"enableLostProductionCost":"on"`, `"enableLostProductionCost":"on"`, `"enableLostProductionCost":"off"`, `"enableLostProductionCost":"on","electricalPricePerKwh":0.31`,
			`"enableLostProductionCost":"on","electricalPricePerKwh":0.11`),
	}
	applied := 0
	for range 150 { // some three hours
		for range 1 + random.IntN(2) {
			doc := floortest.Manifest
			for _, edit := range edits {
				doc = edit(doc)
			}
			result, err := r.Accounts.Apply(auth.Local(floortest.Account), account.ApplyInput{Raw: []byte(doc)})
			if err != nil {
				t.Fatal(err)
			}
			applied = int(result.Revision)
			r.Pass(time.Duration(random.IntN(30))*time.Second, 0)
		}
		if random.IntN(6) != 0 {
			fields := units(float64(random.IntN(60)))
			fields[signal.ElectricalKwh] = random.Float64()
			r.Send(floortest.Signal(press, r.Now().UnixMilli()-int64(random.IntN(240_000)), fields), floortest.Signal("PACK", 0, units(3)))
		}
		r.Pass(30*time.Second, 0)
		if random.IntN(60) == 0 {
			r.Reopen()
		}
	}
	if applied < 120 {
		t.Fatalf("%d changes were applied", applied)
	}
	r.Pass(time.Hour, time.Minute)
	from, to := floortest.At(0), r.Now().Add(-30*time.Minute).Truncate(time.Hour).UnixMilli()
	for _, code := range []string{press, "PACK", "PRESS-2"} {
		live := figuresOf(t, r, code, from, to)
		if code != "PRESS-2" && len(live.Rows) == 0 {
			t.Errorf("%s has no rows", code)
		}
		r.Forget(code)
		if diff := cmp.Diff(figuresOf(t, r, code, from, to), live); diff != "" {
			t.Errorf("%s: (-from nothing +live): %.3000s", code, diff)
		}
	}
	checked(t, r)
}
