package floor_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"opsmon/app/engine/energy"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// asked returns what GET /oee by station is made of, in the form that shift figures have.
func asked(t *testing.T, r *floortest.Rig, stationCode string, shift *floor.ShiftStatus) string {
	t.Helper()
	at := func(text string) int64 {
		moment, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		return moment.UnixMilli()
	}
	sums := oee.NewSummer(oee.ByStation)
	err := r.Floor.Days(floortest.Account, []string{stationCode}, at(shift.StartAt), at(shift.Until), func(s *station.Rules, rows []oee.Row, _ []energy.Row) error {
		sums.Add(oee.Place{Station: s.Code}, s.Calendar, rows)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := append(sums.Sums(), oee.Sum{})
	return terms(&all[0].Terms)
}

// terms writes all that is shown of terms to the last bit.
func terms(sum *oee.Terms) string {
	f := sum.Figures(oee.ProfileDefault)
	st := floor.ShiftStatus{
		Availability: floor.FigureOf(f.A), Performance: floor.FigureOf(f.P), Quality: floor.FigureOf(f.Q), OEE: floor.FigureOf(f.OEE), Coverage: floor.FigureOf(f.Coverage),
		GoodCount: float64(sum.Good) / 1e6, BadCount: float64(sum.Bad) / 1e6,
		UnscheduledGoodCount: float64(sum.UnscheduledGood) / 1e6, UnscheduledBadCount: float64(sum.UnscheduledBad) / 1e6,
		ScheduledProductionMs: sum.Of(monitor.Production), DowntimeMs: sum.Was(monitor.Downtime), ProductiveMs: sum.Was(monitor.Productive),
	}
	if sum.HasRate {
		st.IdealCount, st.TargetCount = &sum.Ideal, &sum.Target
	}
	return figuresText(&st)
}

func figuresText(st *floor.ShiftStatus) string {
	x := *st
	x.Name, x.StartAt, x.EndAt, x.Until = nil, "", nil, ""
	b, _ := json.Marshal(&x)
	return string(b)
}

// sameAsAsked compares the shift so far of a station with what is asked for the same time.
func sameAsAsked(t *testing.T, r *floortest.Rig, stationCode string) *floor.ShiftStatus {
	t.Helper()
	shift := status(t, r, stationCode).Shift
	if shift == nil {
		return nil
	}
	if got, want := figuresText(shift), asked(t, r, stationCode, shift); got != want {
		t.Fatalf("%s at %s, the shift from %s until %s:\n%s\nasked for\n%s", stationCode, r.Now().UTC().Format(time.RFC3339), shift.StartAt, shift.Until, got, want)
	}
	return shift
}

// TestTheShiftSoFarIsWhatIsAskedFor holds that what is shown of a shift is, to the last bit, what asking for its time
// gives: while signals come late, a schedule is told of late, the manifest changes and the service starts again. With
// the last seed sums rest, as they do where very much is not kept.
func TestTheShiftSoFarIsWhatIsAskedFor(t *testing.T) {
	apptest.Long(t)
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			if seed == 2 {
				t.Cleanup(floor.AllHeavy())
			}
			rng := rand.New(rand.NewPCG(seed, 7))
			list := shift(rng, press, 9)
			list = append(list, shift(rng, "PACK", 9)...)
			slices.SortStableFunc(list, func(a, b message) int { return int(a.arrives - b.arrives) })
			spared := map[int64]bool{} // stops that people took out of the figures
			r := floortest.New(t, floortest.Manifest).Open(func(c *floor.Config) {
				c.Findings = func(_ *kv.Tx, _, _ string, issues []monitor.Issue) (list []monitor.Finding, _ error) {
					for _, i := range issues {
						if i.Type == monitor.IssueStop && spared[i.Start] {
							list = append(list, monitor.Finding{Type: i.Type, Issue: i.Start, Start: i.Start, End: math.MaxInt64, Excluded: true})
						}
					}
					return list, nil
				}
			})
			starts := []struct {
				code string
				s    monitor.Schedule
				at   time.Duration // when it is told
				late time.Duration
			}{
				{press, monitor.Schedule{ID: "a", SKU: "BOWL"}, 7 * time.Minute, 0},
				{"PACK", monitor.Schedule{ID: "b", SKU: "PLATE"}, 30 * time.Minute, 25 * time.Minute},
				{press, monitor.Schedule{ID: "c", NonProduction: true, Reason: "BREAK"}, 2 * time.Hour, 70 * time.Minute},
			}
			compared, seen := 0, map[string]bool{}
			for i, now := 0, floortest.At(0); now < floortest.At(9*time.Hour); now += 20_000 {
				r.Pass(20*time.Second, 0)
				now := r.Now().UnixMilli()
				var arrived []signal.Signal
				for i < len(list) && list[i].arrives <= now {
					arrived = append(arrived, list[i].Signal)
					i++
				}
				if len(arrived) > 0 {
					r.Send(arrived...)
				}
				for k := range starts {
					if s := &starts[k]; s.at > 0 && now >= floortest.At(s.at) {
						start(t, r, s.code, s.s, now-s.late.Milliseconds())
						s.at = 0
					}
				}
				switch rng.IntN(200) {
				case 0:
					r.Reopen()
				case 1:
					apply(t, r, `"unitsPerMinute":60,"value":0.5`, `"unitsPerMinute":57.3,"value":0.7`)
				case 2:
					apply(t, r, "", "")
				case 3:
					spare(t, r, press, spared)
				case 4: // what held there is another
					must(t, r.Floor.Do(floortest.Account, func(w *floor.Work) error { return w.Backfill(press, now-rng.Int64N(3*3600_000)) }))
				}
				if seed == 2 { // sums that rest may be so old
					r.Pass(5*time.Second, 0)
				}
				for _, code := range []string{press, "PACK", "PRESS-2"} {
					if x := sameAsAsked(t, r, code); x != nil {
						seen[fmt.Sprintf("%s named %v due %v known %v", code, x.Name != nil, x.TargetCount != nil, x.OEE.Value != nil)] = true
						compared++
					}
				}
			}
			if compared < 2000 || !seen["PRESS named false due true known true"] || !seen["PACK named true due true known true"] || status(t, r, "PACK").Shift != nil {
				t.Errorf("%d moments were compared, of %v", compared, seen)
			}
		})
	}
}

// spare takes the last stop of a station out of the figures.
func spare(t *testing.T, r *floortest.Rig, stationCode string, spared map[int64]bool) {
	t.Helper()
	d, err := r.Floor.Detail(floortest.Account, stationCode, floortest.At(0), r.Now().UnixMilli()/60_000*60_000)
	must(t, err)
	for _, i := range slices.Backward(d.Issues) {
		if i.Type != monitor.IssueStop || spared[i.Start] {
			continue
		}
		must(t, r.Floor.Do(floortest.Account, func(w *floor.Work) error {
			spared[i.Start] = true
			w.Changed(stationCode, i.Start/60_000*60_000)
			return nil
		}))
		return
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAShiftAcrossAFullHour: what comes out of order for the hour before is in the shift. Nothing is known of the first
// minute.
func TestAShiftAcrossAFullHour(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	start(t, r, "PACK", monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
	for range 60 {
		r.Pass(time.Minute, 0)
		r.Send(floortest.Signal("PACK", 0, units(50)))
	}
	r.Pass(70*time.Second, 10*time.Second)
	r.Send(floortest.Signal("PACK", 0, units(7)))
	sameAsAsked(t, r, "PACK")
	r.Send(floortest.Signal("PACK", floortest.At(time.Hour-5*time.Second), units(1000)))
	if got := sameAsAsked(t, r, "PACK"); got.GoodCount != 60*50+1000 || *got.Name != "Early" || got.StartAt != floor.Instant(floortest.At(-2*time.Hour)) || *got.EndAt != floor.Instant(floortest.At(6*time.Hour)) || got.Until != floor.Instant(floortest.At(61*time.Minute)) {
		t.Errorf("the shift is %+v", got)
	}
	if got := status(t, r, "PACK").Schedule; got.IdealCount == nil || *got.IdealCount != 60*60 {
		t.Errorf("of the schedule %+v is shown", got)
	}
}

// TestTimeAloneIsToldOnceAMinute: a station that runs and sends nothing has no news but its full minutes.
func TestTimeAloneIsToldOnceAMinute(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	start(t, r, "PACK", monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
	r.Send(floortest.Signal("PACK", 0, units(50)))
	_, _, _ = status(t, r, "PACK"), status(t, r, press), status(t, r, "PRESS-2")
	before := r.Events.Last()
	r.Pass(3*time.Minute, time.Second)
	told := map[string]int{}
	list, _ := r.Events.Since(floortest.Account, before)
	for _, e := range list {
		told[e.Station]++
	}
	if told["PACK"] < 3 || told["PACK"] > 4 || told[press] > 4 {
		t.Errorf("in three minutes of silence stations told so often: %v", told)
	}
}
