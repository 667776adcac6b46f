package report

import (
	"strings"
	"testing"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/ingest/signal"
)

// must fails the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sent returns signals of a station, one each minute.
func sent(code string, minutes int, fields map[signal.Field]float64) (list []signal.Signal) {
	for m := range minutes {
		list = append(list, floortest.Signal(code, floortest.At(time.Duration(m)*time.Minute), fields))
	}
	return list
}

// plant returns a plant whose presses have run for 30 hours from floortest.Start on, and a function that selects its
// stations in a range after that.
func plant(t *testing.T) (*floortest.Rig, *Service, func(from, to time.Duration) *Selection) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	for range 30 {
		r.Pass(time.Hour, time.Hour)
	}
	one := map[signal.Field]float64{signal.Productive: 1, signal.ProductionCompleteGood: 1, signal.ElectricalKwhInterval: 0.1}
	r.Send(append(sent("PRESS", 30*60, one), sent("PRESS-2", 30*60, one)...)...)
	r.Compute()
	s := New(Config{Floor: r.Floor, Signals: r.Signals})
	return r, s, func(from, to time.Duration) *Selection {
		plan, err := r.Floor.Plan(floortest.Account)
		must(t, err)
		x := &Selection{Account: floortest.Account, Plan: plan, Now: r.Floor.Time()}
		for _, st := range plan.Stations {
			x.Add(st, calendar.Range{Start: floortest.At(from), End: floortest.At(to)})
		}
		return x
	}
}

// TestAtLeast: the estimate is close, and never above the number of results.
func TestAtLeast(t *testing.T) {
	r, s, choose := plant(t)
	all := []oee.By{oee.ByPlant, oee.ByGroup, oee.ByStation, oee.BySKU, oee.ByShift, oee.ByHour, oee.ByDay, oee.ByWeek, oee.ByMonth}
	for _, text := range []string{"", "station", "hour", "day", "station,hour", "group,day", "plant,week", "station,month", "sku,hour", "shift,day", "sku,station"} {
		by, err := ParseBy(text, all...)
		must(t, err)
		for _, to := range []time.Duration{time.Minute, 3 * time.Hour, 30 * time.Hour} {
			x := choose(-50*time.Hour, to)
			list := x.Captured()
			since := make([]int64, len(list))
			for i := range list {
				since[i], err = r.Floor.Since(floortest.Account, list[i].Code)
				must(t, err)
			}
			sums, err := s.OEE(t.Context(), x, by)
			must(t, err)
			least := atLeast(list, by, since)
			if least > len(sums) || !strings.ContainsAny(text, "sk") && least < len(sums)/2 {
				t.Errorf("by %s to %v: %d results, estimated %d", text, to, len(sums), least)
			}
		}
	}
}

// TestSelection: sums without a time bucket have the time of the selection, and the number of results is limited.
func TestSelection(t *testing.T) {
	r, s, choose := plant(t)
	x := choose(0, 90*time.Minute)
	sums, err := s.OEE(t.Context(), x, nil)
	must(t, err)
	if len(sums) != 1 || sums[0].Start != floortest.At(0) || sums[0].End != floortest.At(90*time.Minute) || sums[0].Good != 2*90*monitor.Micro {
		t.Errorf("%+v", sums)
	}
	used, err := s.Energy(t.Context(), x, []oee.By{oee.ByStation})
	must(t, err)
	if len(used) < 2 || used[0].Station != "PRESS" || used[0].End != floortest.At(90*time.Minute) || used[0].Coverage().Value > 1 || !used[0].Figures().KWh.Known {
		t.Errorf("%+v", used)
	}
	few := New(Config{Floor: r.Floor, Signals: r.Signals, MostResults: 1})
	if few.CheckOEE(x, []oee.By{oee.ByStation}) == nil || few.CheckEnergy(x, []oee.By{oee.ByStation}) == nil || few.CheckOEE(x, nil) != nil {
		t.Error("too many results are not refused, or few are")
	}
	if x := choose(0, 100*time.Hour); x.To > x.Now || x.Stations[0].To > x.Now || x.Stations[0].End != floortest.At(100*time.Hour) {
		t.Errorf("time that lies ahead is selected: %+v", x)
	}
}
