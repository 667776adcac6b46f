package schedule_test

import (
	"fmt"
	"strings"
	"testing"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/errdefs"
	"opsmon/app/work/schedule"
)

// The four types of schedule over shift time (monitoring.md section 4). PACK has a shift from 06:00 to 14:00 on
// weekdays; 2026-03-02 is a Monday. BOWL is made at 60 a minute. PLATE takes 2 s a cycle and 4 units a cycle: 120 a
// minute.
func TestTypes(t *testing.T) {
	give := given[float64]
	for _, tt := range []struct {
		name  string
		in    func(*schedule.Input)
		want  string // type, expected end, expected quantity, rate and its source
		sku   string
		start string
	}{
		{"continuous", func(*schedule.Input) {}, "continuous - - 60 sku", "BOWL", "08:00"},
		{"fixed quantity: 600 at 60 a minute", func(in *schedule.Input) { in.PlannedQuantity = give(600) }, "fixedQuantity 08:10 600 60 sku", "BOWL", "08:00"},
		{"goes on in the next shift: 06:00 is the shift's first hour", func(in *schedule.Input) { in.PlannedQuantity = give(7200) }, "fixedQuantity +1 07:00 7200 60 sku", "BOWL", "13:00"},
		{"does not, where it extends the shift", func(in *schedule.Input) { in.PlannedQuantity, in.ExtendShift = give(7200), given(true) }, "fixedQuantity 15:00 7200 60 sku", "BOWL", "13:00"},
		{"fixed end: two hours, one of them in shift", func(in *schedule.Input) { in.PlannedEnd = given(*moment("15:00")) }, "fixedEnd 15:00 3600 60 sku", "BOWL", "13:00"},
		{"both: 3600 in the hour that is in shift", func(in *schedule.Input) {
			in.PlannedEnd, in.PlannedQuantity = given(*moment("15:00")), give(1800)
		}, "fixedQuantityAndEnd 15:00 1800 30 implied", "BOWL", "13:00"},
		{"both win over an own rate", func(in *schedule.Input) {
			in.PlannedEnd, in.PlannedQuantity, in.UnitsPerHour = given(*moment("15:00")), give(1800), give(7)
		}, "fixedQuantityAndEnd 15:00 1800 30 implied", "BOWL", "13:00"},
		{"both where no shift time lies between", func(in *schedule.Input) {
			in.PlannedEnd, in.PlannedQuantity = given(*moment("16:00")), give(1800)
		}, "fixedQuantityAndEnd 16:00 1800 60 sku", "BOWL", "15:00"},
		{"an own cycle time", func(in *schedule.Input) { in.PlannedQuantity, in.CycleTime = give(60), give(2000) }, "fixedQuantity 08:02 60 30 schedule", "BOWL", "08:00"},
		{"an own rate by the hour", func(in *schedule.Input) { in.PlannedQuantity, in.UnitsPerHour = give(60), give(120) }, "fixedQuantity 08:30 60 2 schedule", "BOWL", "08:00"},
		{"a cycle of four", func(in *schedule.Input) { in.StationCode = given("PRESS"); in.PlannedQuantity = give(240) }, "fixedQuantity 08:02 240 120 sku", "PLATE", "08:00"},
		{"more than a year of it", func(in *schedule.Input) { in.PlannedQuantity = give(1e9) }, "fixedQuantity - 1e+09 60 sku", "BOWL", "08:00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlant(t)
			in := input(tt.start)
			in.StationCode, in.SKUCode = given("PACK"), given(tt.sku)
			tt.in(&in)
			v := p.make(in)
			got := v.Type
			if got += " -"; v.ExpectedEnd != nil {
				got = v.Type + " " + show(v.ExpectedEnd.UnixMilli())
			}
			if v.ExpectedQuantity == nil {
				got += " -"
			} else {
				got += fmt.Sprintf(" %v", *v.ExpectedQuantity)
			}
			got += fmt.Sprintf(" %v %s", *v.Rate.UnitsPerMinute, *v.Rate.From)
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if again := p.get(v.ID); again.Type != v.Type || fmt.Sprint(again.ExpectedEnd) != fmt.Sprint(v.ExpectedEnd) {
				t.Errorf("read again it is %+v", again)
			}
		})
	}
}

// The machine's expected rate is the implied one.
func TestImpliedRateAtTheMachine(t *testing.T) {
	p := newPlant(t)
	in := input("08:00")
	in.PlannedEnd, in.PlannedQuantity = given(*moment("10:00")), given(1200.0)
	v := p.make(in)
	p.must(p.start(v.ID, schedule.StartInput{}))
	p.until("08:01")
	if got := p.rate(); got != 10 {
		t.Errorf("the machine's rate is %v units a minute, want 10", got)
	}
	p.must(p.write(schedule.Input{ID: v.ID, PlannedQuantity: given(2400.0)}))
	p.until("08:02")
	if got := p.rate(); got != 20 {
		t.Errorf("after a change it is %v, want 20", got)
	}
}

// rate returns the current rate at PRESS.
func (p *plant) rate() float64 {
	p.t.Helper()
	d, err := p.Floor.Detail(account, "PRESS", p.Now().UnixMilli()-60_000, p.Now().UnixMilli())
	p.must(d, err)
	return d.Segments[len(d.Segments)-1].Ctx.UnitsPerMinute
}

func TestRefusedPlans(t *testing.T) {
	p := newPlant(t, `"stationCodes":null`, `"stationCodes":["PRESS"]`)
	for _, tt := range []struct {
		name  string
		in    func(*schedule.Input)
		kind  errdefs.Kind
		parts []string
	}{
		{"no station", func(in *schedule.Input) { in.StationCode = schedule.Given[string]{} }, errdefs.Invalid, []string{"stationCode", "is required"}},
		{"an unknown station", func(in *schedule.Input) { in.StationCode = given("X") }, errdefs.Invalid, []string{"stationCode", `"X"`}},
		{"an unknown SKU", func(in *schedule.Input) { in.SKUCode = given("X") }, errdefs.Invalid, []string{"skuCode", `"X"`}},
		{"a SKU of another station", func(in *schedule.Input) { in.SKUCode, in.StationCode = given("PLATE"), given("PACK") }, errdefs.Invalid, []string{"skuCode", "PLATE", "PACK"}},
		{"neither SKU nor reason", func(in *schedule.Input) { in.SKUCode = schedule.Given[string]{} }, errdefs.Invalid, []string{"kind"}},
		{"both", func(in *schedule.Input) { in.ReasonCode = given("BREAK") }, errdefs.Invalid, []string{"kind"}},
		{"a reason for production", func(in *schedule.Input) {
			in.ReasonCode, in.Kind = given("BREAK"), given(schedule.Production)
		}, errdefs.Invalid, []string{"reasonCode"}},
		{"a reason of downtime", func(in *schedule.Input) { *in = pause("09:00"); in.ReasonCode = given("JAM") }, errdefs.Invalid, []string{"reasonCode", `"JAM"`}},
		{"a quantity of nothing made", func(in *schedule.Input) { *in = pause("09:00"); in.PlannedQuantity = given(1.0) }, errdefs.Invalid, []string{"plannedQuantity"}},
		{"no start", func(in *schedule.Input) { in.PlannedStart = schedule.Given[schedule.Moment]{} }, errdefs.Invalid, []string{"plannedStartAt", "is required"}},
		{"the end before the start", func(in *schedule.Input) { in.PlannedEnd = given(*moment("08:59")) }, errdefs.Invalid, []string{"plannedEndAt", "2026-03-02T09:00:00.000Z"}},
		{"the end at the start", func(in *schedule.Input) { in.PlannedEnd = given(*moment("09:00")) }, errdefs.Invalid, []string{"plannedEndAt"}},
		{"50 years", func(in *schedule.Input) {
			in.PlannedEnd = given(*moment("09:00") + 50*365*24*3600*1000)
		}, errdefs.Invalid, []string{"plannedEndAt", "366 days"}},
		{"in three years", func(in *schedule.Input) { in.PlannedStart = given(*moment("09:00") + 3*365*24*3600*1000) }, errdefs.Invalid, []string{"plannedStartAt", "two years"}},
		{"too long ago", func(in *schedule.Input) { in.PlannedStart = given(*moment("-1 07:59")) }, errdefs.Invalid, []string{"plannedStartAt", "24 hours"}},
		{"two rates", func(in *schedule.Input) { in.CycleTime, in.UnitsPerHour = given(1.0), given(1.0) }, errdefs.Invalid, []string{"cycleTime"}},
		{"an automatic end without an end", func(in *schedule.Input) { in.AutoEnd = given(true) }, errdefs.Invalid, []string{"autoEnd"}},
		{"an automatic start that has passed", func(in *schedule.Input) {
			in.AutoStart, in.PlannedStart = given(true), given(*moment("07:57"))
		}, errdefs.Invalid, []string{"autoStart"}},
		{"an end with the quantity without one", func(in *schedule.Input) { in.AutoEndQuantity = given(true) }, errdefs.Invalid, []string{"autoEndOnQuantityComplete"}},
		{"parts of a cycle where they are the SKU's", func(in *schedule.Input) { in.PartsPerCycle = given(2.0) }, errdefs.Forbidden, []string{"enableEditPartsPerCycle", "PRESS"}},
		{"a moment to come", func(in *schedule.Input) { in.At = moment("08:02:00.001") }, errdefs.Invalid, []string{"at", "future"}},
		{"one that is not there", func(in *schedule.Input) { in.ID = "nothing" }, errdefs.NotFound, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := input("09:00")
			tt.in(&in)
			_, err := p.write(in)
			refused(t, err, tt.kind, tt.parts...)
		})
	}
	if _, total, err := p.s.List(account, everything()); total != 0 || err != nil {
		t.Errorf("of what was refused %d were kept, %v", total, err)
	}
}

// Planned schedules of a kind do not overlap; one without a known end occupies one moment.
func TestOverlaps(t *testing.T) {
	for _, tt := range []struct {
		name     string
		has, new string // start-end; without an end it is continuous
		free     bool
	}{
		{"before", "09:00-10:00", "08:00-09:00", true},
		{"after", "09:00-10:00", "10:00-11:00", true},
		{"across the start", "09:00-10:00", "08:00-09:01", false},
		{"across the end", "09:00-10:00", "09:59-11:00", false},
		{"around", "09:00-10:00", "08:00-11:00", false},
		{"within", "09:00-10:00", "09:20-09:40", false},
		{"the same", "09:00-10:00", "09:00-10:00", false},
		{"a moment within", "09:00-10:00", "09:30", false},
		{"a moment at the start", "09:00-10:00", "09:00", false},
		{"a moment at the end", "09:00-10:00", "10:00", true},
		{"around a moment", "09:30", "09:00-10:00", false},
		{"after a moment", "09:30", "09:31-10:00", true},
		{"a moment after a moment", "09:30", "09:31", true},
		{"two moments", "09:30", "09:30", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlant(t)
			made := func(span string, in schedule.Input) schedule.Input {
				from, to, ends := strings.Cut(span, "-")
				in.PlannedStart = given(*moment(from))
				if ends {
					in.PlannedEnd = given(*moment(to))
				}
				return in
			}
			first := p.make(made(tt.has, input("09:00")))
			other := made(tt.new, input("09:00"))
			other.SKUCode = given("PLATE")
			_, err := p.write(other)
			if tt.free {
				p.must(nil, err)
			} else {
				refused(t, err, errdefs.Conflict, first.ID, "overlap")
			}
			p.make(made(tt.new, pause("09:00"))) // schedules of the other kind do not conflict
			elsewhere := made(tt.new, input("09:00"))
			elsewhere.StationCode = given("PRESS-2")
			p.make(elsewhere)
			changed := made(tt.has, schedule.Input{ID: first.ID})
			changed.Note = given("does not overlap itself")
			p.make(changed)
		})
	}
}

func TestSameSKUAndStart(t *testing.T) {
	p := newPlant(t)
	v := p.make(input("08:00"))
	p.must(p.start(v.ID, schedule.StartInput{}))
	p.until("08:30")
	p.must(p.end(v.ID, ""))
	_, err := p.write(input("08:00"))
	refused(t, err, errdefs.Conflict, v.ID, "same SKU and planned start")
	d := p.make(input("10:00"))
	p.must(nil, p.delete(d.ID))
	p.must(nil, p.delete(d.ID)) // deleting it again has no effect
	p.make(input("10:00"))      // a deleted schedule does not conflict
	refused(t, p.delete(v.ID), errdefs.Conflict, "ended at")
}

func (p *plant) delete(id string) error {
	_, err := do(p, func(w *floor.Work) (any, error) { return nil, p.s.Delete(w, person(auth.Supervisor), id) })
	return err
}

// All fields of a planned schedule can change, and quantity, end and note of a running one. null clears; absent means
// unchanged.
func TestChanges(t *testing.T) {
	p := newPlant(t)
	in := input("09:00")
	in.PlannedQuantity, in.WorkOrder, in.Note = given(600.0), given("WO-1"), given("first")
	v := p.make(in)
	v = p.make(schedule.Input{ID: v.ID, SKUCode: given("PLATE"), PlannedStart: given(*moment("09:30")), WorkOrder: schedule.Given[string]{Set: true, Null: true}})
	if *v.SKUCode != "PLATE" || v.WorkOrder != nil || *v.Note != "first" || show(v.ExpectedEnd.UnixMilli()) != "09:35" {
		t.Errorf("changed it is %+v", v)
	}
	p.must(p.start(v.ID, schedule.StartInput{}))
	_, err := p.write(schedule.Input{ID: v.ID, SKUCode: given("BOWL"), WorkOrder: given("WO-2")})
	refused(t, err, errdefs.Conflict, "skuCode, workOrderReference")
	same := schedule.Input{ID: v.ID, SKUCode: given("PLATE"), PlannedQuantity: given(1200.0), Note: given("second")}
	v = p.make(same) // unchanged values are accepted
	if *v.PlannedQuantity != 1200 || *v.Note != "second" || show(v.ExpectedEnd.UnixMilli()) != "08:10" {
		t.Errorf("running it is %+v", v)
	}
	_, err = p.write(schedule.Input{ID: v.ID, PlannedEnd: given(*moment("08:00"))})
	refused(t, err, errdefs.Invalid, "plannedEndAt")
	_, err = p.write(schedule.Input{ID: v.ID, PlannedEnd: given(*moment("08:00") + 366*24*60*60*1000 + 1)})
	refused(t, err, errdefs.Invalid, "plannedEndAt", "366 days")
	// It was started early. Its end may be before its planned start, and calculations use the actual start.
	v = p.make(schedule.Input{ID: v.ID, PlannedEnd: given(*moment("08:30"))})
	if *v.Rate.UnitsPerMinute != 40 || *v.Rate.From != "implied" || show(v.ExpectedEnd.UnixMilli()) != "08:30" {
		t.Errorf("with an end before its planned start it is %+v, at %+v", v, v.Rate)
	}
	v = p.make(schedule.Input{ID: v.ID, PlannedQuantity: schedule.Given[float64]{Set: true, Null: true}})
	if v.ExpectedQuantity == nil || *v.ExpectedQuantity != 3600 {
		t.Errorf("with an end alone it is %+v", v)
	}
	p.until("08:05")
	p.must(p.end(v.ID, ""))
	_, err = p.write(schedule.Input{ID: v.ID, Note: given("third")})
	refused(t, err, errdefs.Conflict, "ended at")
}
