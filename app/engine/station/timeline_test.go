package station

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/account"
	"opsmon/app/account/manifest"
	"opsmon/app/engine/energy"
	"opsmon/app/errdefs"
)

// sharedMap reports whether two maps are the same one.
func sharedMap[K comparable, V any](a, b map[K]V) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// told formats changes: the time after start, the revision, "engine" if its part changed, "gone" for a removed station.
func told(t *testing.T, h *house, code string, from, to int64) string {
	t.Helper()
	list, err := h.line().Changes(code, from, to)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range list {
		text := fmt.Sprintf("%v %d", time.UnixMilli(c.At).Sub(start), c.Rules.Monitor.Revision)
		if c.Engine {
			text += " engine"
		}
		if c.Gone {
			text += " gone"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// ms returns a moment after start.
func ms(after time.Duration) int64 { return start.Add(after).UnixMilli() }

const h1 = time.Hour

// years returns a house with a history; comments state the change of each revision.
func years(t *testing.T) *house {
	h := newHouse(t, small) // 1
	doc := edit(t, small, `plants[0].stationGroups[0].stations[0].description = "by the door"`)
	h.apply(1*h1, doc)                                         // 2: a description
	h.post(2*h1, map[string]any{"dashboardConfig": `{"a":1}`}) // 3: no station
	h.post(3*h1, map[string]any{"electricalPricePerKwh": 0.3}) // 4: the tariff of all
	doc = edit(t, doc, `electricalPricePerKwh = 0.3`, `plants[0].stationGroups[0].stations[0].utilisationDowntimeThreshold = 60000`)
	h.apply(4*h1, doc) // 5: a threshold of PRESS-1
	without := edit(t, doc, `skus[1].stationCodes = []`, `plants[0].stationGroups[0].stations[0] -`)
	h.apply(5*h1, without) // 6: PRESS-1 leaves
	// 7: the rate of all present stations
	h.apply(6*h1, edit(t, without, `skus[0].cycleTime = 11000`))
	h.apply(7*h1, edit(t, doc, `skus[0].cycleTime = 11000`, `plants[0].dayStartHour = 5`)) // 8: PRESS-1 is back, Leeds starts its days earlier
	return h
}

// TestChanges checks which revisions are changes, over years in which stations are removed and added again.
func TestChanges(t *testing.T) {
	h := years(t)
	for round := range 2 { // the second time only from the store
		for _, c := range []struct {
			station  string
			from, to int64
			want     string
		}{
			{"PRESS-1", ms(0), ms(9 * h1), "0s 1 engine, 4h0m0s 5 engine, 5h0m0s 5 gone, 7h0m0s 8 engine"},
			{"PRESS-2", ms(0), ms(9 * h1), "0s 1 engine, 7h0m0s 8 engine"},
			{"PRESSE-1", ms(0), ms(9 * h1), "0s 1 engine"},
			{"PRESS-1", ms(-10 * h1), ms(0), "-10h0m0s 1 engine"},
			{"PRESS-1", ms(2 * h1), ms(4*h1) - 1, "2h0m0s 1 engine"},
			{"PRESS-1", ms(4 * h1), ms(4 * h1), "4h0m0s 5 engine"},
			{"PRESS-1", ms(5 * h1), ms(6 * h1), ""},
			{"PRESS-1", ms(5 * h1), ms(8 * h1), "7h0m0s 8 engine"},
			{"PRESS-9", ms(0), ms(9 * h1), ""},
		} {
			if got := told(t, h, c.station, c.from, c.to); got != c.want {
				t.Errorf("round %d, %s: %s, want %s", round, c.station, got, c.want)
			}
		}
		h.reopen()
	}
}

// TestRevisionInForce checks which revision is in force at a moment.
func TestRevisionInForce(t *testing.T) {
	h := years(t)
	for _, c := range []struct {
		at   int64
		want int64
	}{{math.MinInt64, 1}, {ms(-h1), 1}, {ms(0), 1}, {ms(h1) - 1, 1}, {ms(h1), 2}, {ms(7*h1) - 1, 7}, {ms(7 * h1), 8}, {math.MaxInt64, 8}} {
		p, err := h.line().At(c.at)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := h.line().Revision(c.at); n != c.want || p.Revision != c.want || err != nil {
			t.Errorf("at %d: revision %d, plan %d, %v; want %d", c.at, n, p.Revision, err, c.want)
		}
		h.reopen()
	}
	h.clock.set(20 * h1)
	h.post(30*h1, map[string]any{"electricalPricePerKwh": 0.5})
	h.post(25*h1, map[string]any{"electricalPricePerKwh": 0.6}) // the clock was set back
	for at, want := range map[time.Duration]int64{24 * h1: 8, 26 * h1: 10, 31 * h1: 10} {
		if n, err := h.line().Revision(ms(at)); n != want || err != nil {
			t.Errorf("after the clock went back, at %v: revision %d, %v; want %d", at, n, err, want)
		}
	}
	if got := told(t, h, "WELD-1", ms(10*h1), ms(40*h1)); got != "10h0m0s 8 engine" {
		t.Errorf("changes where the clock went back: %s", got)
	}
	for _, revision := range []int64{1, 5, 8} {
		if c := h.line().Config("PRESS-1", revision); c == nil || c.Revision != revision {
			t.Errorf("configuration of revision %d: %+v", revision, c)
		}
	}
	for _, revision := range []int64{0, 6, 7, 99, -1} {
		if c := h.line().Config("PRESS-1", revision); c != nil {
			t.Errorf("configuration of revision %d: %+v", revision, c)
		}
	}
	if _, err := h.Of("nowhere"); errdefs.KindOf(err) != errdefs.NotFound {
		t.Errorf("an account that is not there: %v", err)
	}
}

// TestTariffs checks which prices apply when.
func TestTariffs(t *testing.T) {
	h := years(t)
	h.post(8*h1, map[string]any{"electricalPricePerKwh": nil, "electricalCo2PerKwh": 0.2})
	got, err := h.line().Tariffs(ms(0), ms(10*h1))
	want := []energy.Tariff{{From: math.MinInt64}, {From: ms(3 * h1), Price: 0.3, HasPrice: true}, {From: ms(8 * h1), CO2: 0.2, HasCO2: true}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	got, err = h.line().Tariffs(ms(5*h1), ms(8*h1))
	if diff := cmp.Diff([]energy.Tariff{{From: ms(5 * h1), Price: 0.3, HasPrice: true}}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestTariffsOfAMinute: of several tariffs in one minute the last applies, and none is missing otherwise.
func TestTariffsOfAMinute(t *testing.T) {
	h := newHouse(t, small)
	for i, after := range []time.Duration{60 * time.Second, 61 * time.Second, 62 * time.Second, 120 * time.Second, 121 * time.Second, 300 * time.Second} {
		h.post(after, map[string]any{"electricalPricePerKwh": float64(i + 1)})
	}
	for _, c := range []struct {
		from, to time.Duration
		want     string
	}{{0, h1, "0@start 1@1m0s 4@2m0s 5@2m1s 6@5m0s"}, {61500 * time.Millisecond, h1, "2@1m1.5s 4@2m0s 5@2m1s 6@5m0s"}, {0, 62 * time.Second, "0@start 1@1m0s 2@1m1s"}, {h1, 2 * h1, "6@1h0m0s"}} {
		list, err := h.line().Tariffs(ms(c.from), ms(c.to))
		got := ""
		for _, tariff := range list {
			at := time.UnixMilli(tariff.From).Sub(start).String()
			if tariff.From == math.MinInt64 {
				at = "start"
			}
			got += fmt.Sprintf("%v@%s ", tariff.Price, at)
		}
		if strings.TrimSpace(got) != c.want || err != nil {
			t.Errorf("%v to %v: %s, %v; want %s", c.from, c.to, got, err, c.want)
		}
	}
}

// TestArchived checks the representation of removed stations.
func TestArchived(t *testing.T) {
	h := newHouse(t, small)
	h.apply(h1, edit(t, small, `plants[1] -`, `plants[0].stationGroups[1].name = "Weld shop"`))
	h.post(2*h1, map[string]any{"currency": "EUR"})
	_, list, err := h.line().All()
	if err != nil || len(list) != 1 || list[0].Code != "PRESSE-1" || !list[0].Archived || list[0].Plant.Name != "Graz" || list[0].Monitor.Revision != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	h.apply(3*h1, edit(t, small, `currency = "EUR"`))
	if _, list, err := h.line().All(); len(list) != 0 || err != nil {
		t.Errorf("a station that is back is still archived: %v, %v", list, err)
	}
	if s := h.at(4*h1, "PRESSE-1"); s.Archived || s.Monitor.Revision != 4 {
		t.Errorf("%+v", s)
	}
}

// A station that was added and removed between two calls is archived, and one that was renamed before its removal has
// its last name.
func TestArchivedBetweenLooks(t *testing.T) {
	h := newHouse(t, small)
	if _, list, err := h.line().All(); len(list) != 0 || err != nil {
		t.Fatalf("%+v, %v", list, err)
	}
	without := edit(t, small, `plants[1] -`)
	h.apply(h1, without)
	h.apply(2*h1, edit(t, small, `plants[1].stationGroups[0].stations[0].name = "Renamed"`))
	h.apply(3*h1, without)
	_, list, err := h.line().All()
	if err != nil || len(list) != 1 || list[0].Code != "PRESSE-1" || list[0].Name != "Renamed" {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestManyRevisions reads more revisions than are read or cached at a time.
func TestManyRevisions(t *testing.T) {
	h := newHouse(t, small)
	doc := small
	for i := range 150 {
		doc = edit(t, doc, fmt.Sprintf(`plants[0].stationGroups[0].stations[%d].description = "%d"`, i%2, i))
		if i%50 == 0 {
			doc = edit(t, doc, fmt.Sprintf(`plants[0].stationGroups[0].stations[0].minimumCycleTime = %d`, i+1))
		}
		h.apply(time.Duration(i+1)*time.Minute, doc)
	}
	h.reopen()
	if n, err := h.line().Revision(ms(149*time.Minute + 30*time.Second)); n != 150 || err != nil {
		t.Fatalf("revision %d, %v", n, err)
	}
	if got := told(t, h, "PRESS-1", ms(0), ms(3*h1)); got != "0s 1 engine, 1m0s 2 engine, 51m0s 52 engine, 1h41m0s 102 engine" {
		t.Errorf("changes: %s", got)
	}
	if got := told(t, h, "PRESS-2", ms(0), ms(3*h1)); got != "0s 1 engine" {
		t.Errorf("changes: %s", got)
	}
	line := h.line()
	if len(line.records) != 151 || line.records[0].number != 1 {
		t.Errorf("%d records from %d on", len(line.records), line.records[0].number)
	}
}

// TestPlansAreLetGo limits the cache of plans and checks that plans resolved again are equal, with concurrent calls and
// new revisions.
func TestPlansAreLetGo(t *testing.T) {
	h := years(t)
	want := told(t, h, "PRESS-1", ms(0), ms(9*h1))
	h.reopen()
	line := h.line()
	line.held = 6 // stations, of four each
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for round := range 8 {
				if _, err := line.PlanOf(int64((round*3+i*5)%8) + 1); err != nil {
					t.Error(err)
				}
				if list, err := line.Changes("PRESS-1", ms(0), ms(9*h1)); err != nil || len(list) != 4 {
					t.Errorf("%d changes, %v", len(list), err)
				}
			}
		})
	}
	for i := range 5 {
		h.post(time.Duration(10+i)*h1, map[string]any{"electricalPricePerKwh": float64(i + 1)})
		if _, err := line.Now(); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
	if n := len(line.plans); n > 3 {
		t.Errorf("%d plans are kept", n)
	}
	if got := told(t, h, "PRESS-1", ms(0), ms(9*h1)); got != want {
		t.Errorf("changes are %s, want %s", got, want)
	}
}

// interrupted are accounts that change before the list of removed stations is read.
type interrupted struct {
	*account.Service
	before func()
}

func (x *interrupted) GoneStations(accountID string) (map[string]manifest.Lifetime, error) {
	if before := x.before; before != nil {
		x.before = nil
		before()
	}
	return x.Service.GoneStations(accountID)
}

// A station that is added again or removed while the list is made is in it once, either current or as it last was.
func TestAllWhileStationsComeAndLeave(t *testing.T) {
	without := edit(t, small, `plants[1] -`)
	for _, manifests := range [][2]string{{without, small}, {small, without}} {
		h := newHouse(t, small)
		h.apply(h1, manifests[0])
		accounts := &interrupted{Service: h.accounts}
		h.Timelines = New(Config{Accounts: accounts, Store: h.store})
		line := h.line()
		if _, err := line.Now(); err != nil {
			t.Fatal(err)
		}
		accounts.before = func() { h.apply(2*h1, manifests[1]) }
		plan, gone, err := line.All()
		if err != nil {
			t.Fatal(err)
		}
		if there, left := plan.Of("PRESSE-1") != nil, len(gone) == 1 && gone[0].Code == "PRESSE-1"; there == left {
			t.Errorf("the station is there: %t, gone: %t", there, left)
		}
	}
}
