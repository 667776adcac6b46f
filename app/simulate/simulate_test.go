package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/demo"
	"opsmon/app/engine/calendar"
)

// at parses a time of 2026 in UTC: "11-18 06:00:00".
func at(t testing.TB, text string) int64 {
	t.Helper()
	when, err := time.Parse("2006-01-02 15:04:05", "2026-"+text)
	if err != nil {
		t.Fatal(err)
	}
	return when.UnixMilli()
}

func generator(t testing.TB, cfg Config) *Generator {
	t.Helper()
	p, err := ReadPlant(demo.Manifest())
	if err != nil {
		t.Fatal(err)
	}
	return New(p, cfg)
}

func events(t testing.TB, g *Generator, stations []string, from, to int64) []Event {
	t.Helper()
	list, err := g.Events(stations, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// text formats events for comparison.
func text(list []Event) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = fmt.Sprintf("%d %s %s", e.Sent, e.Station, e.Signal.AppendJSON(nil, e.Station))
		if e.Act != nil {
			act := *e.Act
			act.Schedule = nil
			out[i] += fmt.Sprintf(" %+v", act)
			if s := e.Act.Schedule; s != nil {
				out[i] += fmt.Sprintf(" %+v", *s)
			}
		}
	}
	return out
}

func TestARangeInPiecesGivesTheSameEvents(t *testing.T) {
	from := at(t, "11-18 03:12:00") // across the start of a day
	r := rand.New(rand.NewPCG(1, 2))
	for most, length := range map[int64]int64{7 * second: 4 * hour, 11 * minute: 30 * hour, 9 * hour: 60 * hour} {
		to := from + length
		want := text(events(t, generator(t, Config{Seed: 4}), nil, from, to))
		g := generator(t, Config{Seed: 4})
		var got []string
		for t0 := from; t0 < to; {
			t1 := min(to, t0+1+r.Int64N(most))
			got = append(got, text(events(t, g, nil, t0, t1))...)
			t0 = t1
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("in pieces of at most %d ms: %s", most, diff[:min(len(diff), 2000)])
		}
	}
}

func TestAStationIsTheSameWhateverElseIsAsked(t *testing.T) {
	from := at(t, "11-18 06:00:00")
	all := events(t, generator(t, Config{Seed: 4}), nil, from, from+day)
	alone := generator(t, Config{Seed: 4})
	events(t, alone, []string{"GLAZE-1"}, from+3*day, from+4*day) // another day first
	for _, code := range alone.Stations() {
		of := slices.DeleteFunc(slices.Clone(all), func(e Event) bool { return e.Station != code })
		if diff := cmp.Diff(text(of), text(events(t, alone, []string{code}, from, from+day))); diff != "" {
			t.Errorf("%s: %s", code, diff[:min(len(diff), 1000)])
		}
	}
}

func TestTheSeedDecides(t *testing.T) {
	from := at(t, "11-18 06:00:00")
	one := text(events(t, generator(t, Config{Seed: 1}), nil, from, from+hour))
	two := text(events(t, generator(t, Config{Seed: 2}), nil, from, from+hour))
	if !cmp.Equal(one, text(events(t, generator(t, Config{Seed: 1}), nil, from, from+hour))) {
		t.Error("one seed gives two plants")
	}
	same := 0
	for i := range min(len(one), len(two)) {
		if one[i] == two[i] {
			same++
		}
	}
	if same > len(one)/100 {
		t.Errorf("of %d events %d are the same with another seed", len(one), same)
	}
}

func TestEventsAreInOrderAndSentInTheirRange(t *testing.T) {
	from := at(t, "11-18 06:00:00")
	list := events(t, generator(t, Config{}), nil, from, from+day)
	if len(list) < 50_000 {
		t.Fatalf("only %d events in a day", len(list))
	}
	for i, e := range list {
		if e.Sent < from || e.Sent >= from+day {
			t.Fatalf("event %d is sent outside the range", i)
		}
		if i > 0 && e.Sent < list[i-1].Sent {
			t.Fatalf("event %d is sent before the one before it", i)
		}
		if e.Act == nil && e.Signal.Empty() {
			t.Fatalf("event %d says nothing", i)
		}
	}
}

func TestAnUnknownStationIsAnError(t *testing.T) {
	if _, err := generator(t, Config{}).Events([]string{"NO-SUCH"}, 0, 1); err == nil || !strings.Contains(err.Error(), "NO-SUCH") {
		t.Errorf("got %v", err)
	}
}

// TestDaysArePlausible checks the course of two weeks at the stations.
func TestDaysArePlausible(t *testing.T) {
	g := generator(t, Config{Seed: 9})
	var days, usual, short, long int
	for _, s := range g.plant.Stations {
		if s.meterOnly {
			continue
		}
		first := s.calendar.ProductionDay(at(t, "11-02 12:00:00"))
		for d := first; d < first+14; d++ {
			p := g.stationDay(s, d)
			checkDay(t, p)
			var due, good float64
			for _, j := range p.jobs {
				if j.endsByQuantity {
					continue // its output is limited by the quantity
				}
				due += j.perMinute * float64(j.end-j.start) / float64(minute)
				for _, b := range p.pauses {
					due -= j.perMinute * float64(max(0, min(b.end, j.end)-max(b.start, j.start))) / float64(minute)
				}
				from, _ := p.counted(j.start)
				to, _ := p.counted(j.end)
				good += (to - from) * j.sku.perCycle
			}
			for _, sp := range p.spells {
				switch length := sp.end - sp.start; {
				case sp.activity != stop:
				case length < 7*minute:
					short++
				case length > 20*minute:
					long++
				}
			}
			if due > 0 {
				days++
				if oee := good / due; oee > 0.55 && oee < 0.88 {
					usual++
				} else if oee < 0.2 || oee > 1 {
					t.Errorf("%s on %s: OEE %.2f", s.Code, d, oee)
				}
			}
		}
	}
	if days < 100 || usual*100 < days*85 {
		t.Errorf("of %d days %d have an OEE between 55 and 88 %%", days, usual)
	}
	if long == 0 || short < 12*long {
		t.Errorf("%d short stops and %d long ones", short, long)
	}
}

// checkDay checks the invariants of a day.
func checkDay(t *testing.T, p *stationDay) {
	t.Helper()
	at := p.Start
	for i, sp := range p.spells {
		if sp.start != at || sp.end <= sp.start {
			t.Fatalf("%s on %s: spell %d has a gap before it", p.station.Code, p.day, i)
		}
		at = sp.end
	}
	if at != p.End {
		t.Fatalf("%s on %s: the day is not filled", p.station.Code, p.day)
	}
	for i, j := range p.jobs {
		if j.start >= j.end || i > 0 && j.start < p.jobs[i-1].end {
			t.Fatalf("%s on %s: job %d overlaps the one before it", p.station.Code, p.day, i)
		}
		if i > 0 && p.jobs[i-1].plannedEnd > j.plannedStart {
			t.Fatalf("%s on %s: job %d is planned to start before the one before it ends", p.station.Code, p.day, i)
		}
		if j.sku != nil && !slices.ContainsFunc(p.station.skus, func(k sku) bool { return k.code == j.sku.code }) {
			t.Fatalf("%s makes %s, which it must not", p.station.Code, j.sku.code)
		}
		if j.quantity > 0 && j.plannedEnd == 0 && float64(j.plannedStart)+j.quantity/j.perMinute*float64(minute) > float64(j.end) {
			t.Fatalf("%s on %s: job %d cannot make its quantity in its time", p.station.Code, p.day, i)
		}
		inShift := slices.ContainsFunc(p.shifts, func(r calendar.Instance) bool { return r.Start <= j.start && j.start < r.End })
		if !inShift {
			t.Fatalf("%s on %s: job %d starts out of shift", p.station.Code, p.day, i)
		}
	}
	for i, b := range p.pauses {
		if b.start >= b.end || i > 0 && b.start < p.pauses[i-1].end {
			t.Fatalf("%s on %s: pause %d overlaps the one before it", p.station.Code, p.day, i)
		}
	}
}

// TestEachFaultOccurs finds every fault in the events of three weeks.
func TestEachFaultOccurs(t *testing.T) {
	g := generator(t, Config{Seed: 3, Interval: minute})
	from := at(t, "11-02 06:00:00")
	found := map[string]int{}
	ids := map[string]bool{}
	lastGood, lastSent := map[string]float64{}, map[string]int64{}
	for d := range int64(21) {
		for _, e := range events(t, g, nil, from+d*day, from+(d+1)*day) {
			if e.Act != nil {
				continue
			}
			delay := e.Sent - e.Signal.At
			switch {
			case delay > 5*minute:
				found["late batch"]++
			case delay > 3*second:
				found["late message"]++
			case delay < -2*minute:
				found["clock two minutes ahead"]++
			case delay < 0:
				found["clock ahead"]++
			}
			if last := lastSent[e.Station]; last != 0 && e.Sent-last > 10*minute {
				found["silence"]++
			}
			lastSent[e.Station] = e.Sent
			if e.Signal.ID != "" {
				if ids[e.Station+e.Signal.ID] {
					found["id twice"]++
				}
				ids[e.Station+e.Signal.ID] = true
			}
			if e.Signal.ErrorCode != "" {
				found["error code"]++
			}
			if v, ok := e.Signal.Get(CountGood); ok && delay < 3*second && delay >= 0 {
				if v < lastGood[e.Station] {
					found["counter reset"]++
				}
				lastGood[e.Station] = v
			}
			if v, ok := e.Signal.Get(CompleteBad); ok && v > 0 {
				found["scrap"]++
			}
		}
	}
	for _, p := range g.days {
		for _, sp := range p.spells {
			if sp.activity == slow {
				found["slow"]++
			}
		}
	}
	for _, fault := range []string{"late batch", "late message", "clock two minutes ahead", "clock ahead", "silence", "id twice", "error code", "counter reset", "scrap", "slow"} {
		if found[fault] == 0 {
			t.Errorf("in three weeks of a plant there is no %s", fault)
		}
	}
	t.Log(found)
}

// TestWhatIsSentAddsUp: the messages of machines have the correct counts and consumption, whatever fields they use.
func TestWhatIsSentAddsUp(t *testing.T) {
	g := generator(t, Config{Seed: 5})
	for _, s := range g.plant.Stations {
		p := g.stationDay(s, s.calendar.ProductionDay(at(t, "11-18 12:00:00")))
		p.dead, p.drift, p.resets = nil, drift{}, nil // without faults
		seen := map[string]bool{}
		var complete, bad, counter, counterBad, kWh float64
		list := events(t, g, []string{s.Code}, p.Start, p.End)
		slices.SortStableFunc(list, func(a, b Event) int { return int(a.Signal.At - b.Signal.At) })
		first := -1.0
		for _, e := range list {
			if id := e.Signal.ID; id != "" {
				if seen[id] {
					continue
				}
				seen[id] = true
			}
			v, _ := e.Signal.Get(CompleteGood)
			complete += v
			v, _ = e.Signal.Get(CompleteBad)
			bad += v
			if v, ok := e.Signal.Get(CountGood); ok {
				if v < counter {
					t.Fatalf("%s: the counter goes back from %v to %v", s.Code, counter, v)
				}
				counter = v
				counterBad, _ = e.Signal.Get(CountBad)
			}
			if v, ok := e.Signal.Get(Kwh); ok {
				if first < 0 {
					first = v
				}
				if v < kWh {
					t.Fatalf("%s: the meter goes back", s.Code)
				}
				kWh = v
			}
		}
		good, scrap := p.counted(p.End - 1)
		switch {
		case s.schedulingOnly:
			if len(seen)+int(complete+counter) != 0 {
				t.Errorf("%s sends, and has no machine that could", s.Code)
			}
		case s.meterOnly:
			if used := kWh - first; used < 4000 || used > 9000 {
				t.Errorf("%s shows %v kWh for the day", s.Code, used)
			}
		case s.countsUp():
			if counter != good || counterBad != scrap {
				t.Errorf("%s counts up to %v and %v, and made %v and %v", s.Code, counter, counterBad, good, scrap)
			}
		case s.sendsCycles():
			if complete != good || bad != scrap {
				t.Errorf("%s tells of %v and %v, and made %v and %v", s.Code, complete, bad, good, scrap)
			}
		default:
			if complete+bad+counter != 0 {
				t.Errorf("%s counts, and should not", s.Code)
			}
		}
		if nominal := s.nominalKw; nominal > 0 && !s.meterOnly && (kWh-first < nominal || kWh-first > 24*nominal) {
			t.Errorf("%s of %v kW uses %v kWh a day", s.Code, nominal, kWh-first)
		}
	}
}

// TestCyclesKeepTheirDistance: cycles are never closer than the minimum cycle, and never far enough apart for a stop by
// missing units.
func TestCyclesKeepTheirDistance(t *testing.T) {
	g := generator(t, Config{Seed: 6})
	s := g.by["JIGGER-1"]
	if s.downtime != "production" {
		t.Fatal("the roller head finds its stops in another way")
	}
	p := g.stationDay(s, s.calendar.ProductionDay(at(t, "11-18 12:00:00")))
	p.dead, p.drift = nil, drift{}
	var last int64
	n := 0
	list := events(t, g, []string{s.Code}, p.Start, p.End)
	slices.SortStableFunc(list, func(a, b Event) int { return int(a.Signal.At - b.Signal.At) })
	for _, e := range list {
		_, good := e.Signal.Get(CompleteGood)
		_, bad := e.Signal.Get(CompleteBad)
		if !good && !bad {
			continue
		}
		sp := &p.spells[p.spellAt(e.Signal.At)]
		k := p.jobs[sp.job].sku
		if gap := e.Signal.At - last; last >= sp.start && (gap <= k.minimumCycle || gap >= k.gap) {
			t.Errorf("a cycle of %s comes %d ms after the last", k.code, gap)
		}
		last = max(last, e.Signal.At)
		n++
	}
	if n < 1000 {
		t.Errorf("only %d cycles", n)
	}
}

func TestPeopleStartWhatTheyEnd(t *testing.T) {
	g := generator(t, Config{Seed: 7})
	from := at(t, "11-18 06:00:00")
	running := map[string]string{} // station and kind -> work order
	planned, kinds := map[string]bool{}, map[ActKind]int{}
	for _, e := range events(t, g, nil, from-day, from+2*day) {
		if e.Act == nil {
			continue
		}
		kinds[e.Act.Kind]++
		s := e.Act.Schedule
		kind := e.Station
		if s != nil && s.Reason != "" {
			kind += " non-production"
		}
		switch e.Act.Kind {
		case Plan:
			planned[s.Ref] = true
		case Start:
			if e.Sent > from && s.SKU != "" && planned[s.Ref] == s.Quick {
				t.Errorf("%s: planned %v, quick %v", s.Ref, planned[s.Ref], s.Quick)
			}
			if running[kind] != "" {
				t.Errorf("%s starts while %s runs", s.Ref, running[kind])
			}
			running[kind] = s.Ref
		case End:
			if running[kind] != s.Ref {
				t.Errorf("%s ends and %q runs", s.Ref, running[kind])
			}
			delete(running, kind)
		case Count:
			if e.Act.Good < 0 || e.Act.Bad < 0 || e.Act.Good+e.Act.Bad == 0 {
				t.Errorf("counted %v and %v", e.Act.Good, e.Act.Bad)
			}
		case Cause:
			if e.Act.From >= e.Act.To || e.Act.To > e.Sent || e.Act.Reason == "" {
				t.Errorf("an impossible cause %+v", *e.Act)
			}
		}
	}
	if len(running) > 0 {
		t.Errorf("at the end of a day there still run %v", running)
	}
	for deed := Plan; deed <= Resume; deed++ {
		if kinds[deed] == 0 {
			t.Errorf("in three days nobody does deed %d", deed)
		}
	}
	t.Log(kinds)
}

func TestUnderwayIsWhatStillCounts(t *testing.T) {
	g := generator(t, Config{Seed: 7})
	now := at(t, "11-18 10:20:00")
	list, err := g.Underway([]string{"JIGGER-1"}, now)
	if err != nil {
		t.Fatal(err)
	}
	p := g.stationDay(g.by["JIGGER-1"], g.by["JIGGER-1"].calendar.ProductionDay(now))
	var starts, plans []string
	for _, e := range list {
		if e.Sent != now {
			t.Errorf("sent at %d", e.Sent)
		}
		switch e.Act.Kind {
		case Start:
			starts = append(starts, e.Act.Schedule.Ref)
			if e.Act.At != now {
				t.Errorf("%s starts at %d", e.Act.Schedule.Ref, e.Act.At)
			}
		case Plan:
			plans = append(plans, e.Act.Schedule.Ref)
		}
	}
	var wantStarts, wantPlans []string
	for _, j := range p.jobs {
		if j.end > now && !j.quick {
			wantPlans = append(wantPlans, j.ref)
		}
		if j.start < now && j.end > now {
			wantStarts = append(wantStarts, j.ref)
		}
	}
	for _, b := range p.pauses {
		if b.start < now && b.end > now {
			wantStarts = append(wantStarts, b.ref)
		}
	}
	if len(wantPlans) == 0 || len(wantStarts) == 0 {
		t.Fatal("nothing is under way; choose another moment")
	}
	if !cmp.Equal(starts, wantStarts) || !cmp.Equal(plans, wantPlans) {
		t.Errorf("started %v, want %v; planned %v, want %v", starts, wantStarts, plans, wantPlans)
	}
}

// TestModes: stations send the signals that their detection modes need.
func TestModes(t *testing.T) {
	const manifest = `{"version":"v1","account":{"id":"a","domain":"a.example","enableTasks":"on",
"shiftPatterns":[{"code":"day","title":"Day","shifts":[{"name":"Day","startHour":6,"duration":12,"weekDay":"3"}]}],
"reasons":[{"code":"P","reasons":[{"code":"BREAK","type":["non_production"]},{"code":"CHANGE","type":["non_production"],"oee":"changeover"}]},{"code":"F","type":["downtime"]}],
"skus":[{"code":"A","name":"A","unitsPerMinute":6}],
"plants":[{"code":"one","name":"One","timezone":"Europe/Berlin","dayStartHour":6,"weekStartDay":0,"stationGroups":[{"code":"g","name":"G","shiftPatternCode":"day","stations":[
{"code":"SIGNAL","name":"a"},
{"code":"POWER","name":"a","productiveStatusMode":"electrical_usage","electricalUsageStoppedThresholdKw":3},
{"code":"SPEED","name":"a","productiveStatusMode":"line_speed","lineSpeedStoppedThreshold":2,"lineSpeedTarget":40,"speedScale":2,"speedOffset":1},
{"code":"RATIO","name":"a","speedToProductionRatio":3},
{"code":"UNITS","name":"a","downtimeDetectionMode":"production"},
{"code":"METER","name":"a","enableMeterOnly":"on"},
{"code":"PLAN","name":"a","enableSchedulingOnly":"on"},
{"code":"HAND","name":"a","enableManualProduction":"on"},
{"code":"ALWAYS","name":"a","enableAlwaysConnected":"on"}]}]}]}}`
	p, err := ReadPlant([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	g := New(p, Config{Seed: 2})
	from := at(t, "11-18 05:00:00") // a Wednesday, 06:00 in Berlin
	sent := map[string]map[Field]int{}
	people := map[string]int{}
	for _, e := range events(t, g, nil, from, from+day) {
		if e.Act != nil {
			people[e.Station]++
			continue
		}
		if sent[e.Station] == nil {
			sent[e.Station] = map[Field]int{}
		}
		for f := range fieldCount {
			if _, ok := e.Signal.Get(f); ok {
				sent[e.Station][f]++
			}
		}
		if v, ok := e.Signal.Get(LineSpeed); ok && e.Station == "SPEED" {
			if shown := v*2 + 1; shown != 0 && (shown < 20 || shown > 41) {
				t.Errorf("the speed is shown as %v", shown)
			}
		}
	}
	for code, want := range map[string]struct{ has, hasNot []Field }{
		"SIGNAL": {[]Field{Productive, RSSI}, []Field{LineSpeed, Kw, Kwh}},
		"POWER":  {[]Field{Kw, RSSI}, []Field{Productive, LineSpeed}},
		"SPEED":  {[]Field{LineSpeed}, []Field{Productive}},
		"RATIO":  {[]Field{Productive, LineSpeed}, []Field{CompleteGood, CountGood}},
		"UNITS":  {[]Field{CompleteGood, CompleteBad}, []Field{CountGood}},
		"METER":  {[]Field{Kwh, Kw, Volts, Amps}, []Field{Productive, CompleteGood, CountGood}},
		"HAND":   {[]Field{Productive}, []Field{CompleteGood, CountGood}},
		"ALWAYS": {[]Field{Productive}, nil},
	} {
		for _, f := range want.has {
			if sent[code][f] == 0 {
				t.Errorf("%s does not send %s", code, names[f])
			}
		}
		for _, f := range want.hasNot {
			if sent[code][f] != 0 {
				t.Errorf("%s sends %s", code, names[f])
			}
		}
	}
	if len(sent["PLAN"]) != 0 || people["PLAN"] == 0 || people["METER"] != 0 {
		t.Errorf("the station without machines sends %v and people act %d times; at the meter %d times", sent["PLAN"], people["PLAN"], people["METER"])
	}
	pl := g.stationDay(g.by["RATIO"], g.by["RATIO"].calendar.ProductionDay(from))
	w := &writer{day: pl}
	for i := range pl.spells {
		if sp := &pl.spells[i]; sp.activity == run {
			if units, want := w.speed(sp)*3, 6*sp.pace; math.Abs(units-want) > 1e-9 {
				t.Errorf("at speed %v there are %v units a minute, want %v", w.speed(sp), units, want)
			}
		}
	}
}

func TestReadPlantRefuses(t *testing.T) {
	for name, manifest := range map[string]string{
		"no JSON":     `{`,
		"no stations": `{"version":"v1","account":{"id":"a","plants":[]}}`,
		"no zone":     `{"version":"v1","account":{"id":"a","plants":[{"timezone":"Nowhere/Land","stationGroups":[]}]}}`,
	} {
		if _, err := ReadPlant([]byte(manifest)); err == nil || !strings.Contains(err.Error(), "manifest") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkADay(b *testing.B) {
	from := at(b, "11-18 06:00:00")
	for b.Loop() {
		g := generator(b, Config{Interval: 20 * second})
		b.ReportMetric(float64(len(events(b, g, nil, from, from+day))), "events/op")
	}
}
