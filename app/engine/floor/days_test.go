package floor_test

import (
	"math"
	"math/rand/v2"
	"regexp"
	"testing"
	"time"

	"opsmon/app/engine/energy"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// TestDaysAddUpAsRowsDo: over days that are kept, the one that goes on, and one that something late came for, Days gives
// what Rows gives, by everything that is not shorter than a day.
func TestDaysAddUpAsRowsDo(t *testing.T) {
	apptest.Long(t)
	t.Run("hours", func(t *testing.T) { daysAddUpAsRowsDo(t, floortest.Manifest, 30, 22*time.Hour, 3) })
	t.Run("half hours", func(t *testing.T) { // hours that lie over midnight
		daysAddUpAsRowsDo(t, regexp.MustCompile(`"timezone": *"[^"]*"`).ReplaceAllString(floortest.Manifest, `"timezone":"Asia/Kolkata"`), 5, 16*time.Hour+30*time.Minute, 1.5)
	})
}

// daysAddUpAsRowsDo tries ranges at random, and one of production days, the first of which begins at a moment after the start: for
// that Rows gives so many times as many rows.
func daysAddUpAsRowsDo(t *testing.T, manifest string, ranges int, first time.Duration, times float64) {
	r := floortest.New(t, manifest).Open(nil)
	random := rand.New(rand.NewPCG(1, 2))
	codes := []string{press, "PACK"}
	for i, code := range codes {
		start(t, r, code, monitor.Schedule{ID: code, SKU: "BOWL"}, r.Now().Add(time.Duration(i)*time.Minute).UnixMilli())
	}
	for range 6 * 24 * 6 {
		r.Pass(10*time.Minute, 0)
		for _, code := range codes {
			s := floortest.Signal(code, 0, units(float64(random.IntN(500))))
			s.Set(signal.ElectricalKwhInterval, random.Float64())
			s.Set(signal.LineSpeed, 10)
			r.Send(s, floortest.Signal(code, r.Now().Add(-4*time.Minute).UnixMilli(), map[signal.Field]float64{signal.Productive: 1}))
		}
	}
	r.Pass(2*time.Minute+30*time.Second, 0)
	lost := func() { // as if something late had come in between
		if err := r.Store.Update(func(tx *kv.Tx) error {
			day := floortest.At(0)/86_400_000 + 2
			d, _, err := r.History.Detail(tx, floortest.Account, press, day*86_400_000, floortest.At(200*time.Hour))
			if err != nil {
				return err
			}
			through, err := r.History.Through(tx, floortest.Account, press)
			if err != nil {
				return err
			}
			return r.History.Replace(tx, floortest.Account, press, day*86_400_000, through, d)
		}); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 2 {
		for i := range ranges {
			from := floortest.At(time.Duration(random.IntN(6*24*60)) * time.Minute)
			to := from + int64(1+random.IntN(6*24*60))*60_000
			whole := i == 0 && round == 0 // production days, each of which is kept
			if whole {
				from, to = floortest.At(first), floortest.At(first+4*24*time.Hour)
			}
			for _, by := range [][]oee.By{{oee.ByStation}, {oee.ByStation, oee.ByDay}, {oee.ByShift, oee.ByWeek}, {oee.BySKU}, {oee.ByGroup, oee.ByMonth}} {
				type sums func(accountID string, codes []string, from, to int64, use func(*station.Rules, []oee.Row, []energy.Row) error) error
				plan, err := r.Floor.Plan(floortest.Account)
				if err != nil {
					t.Fatal(err)
				}
				groups := map[string]string{}
				for _, s := range plan.Stations {
					groups[s.Code] = s.Group.Code
				}
				add := func(of sums) ([]oee.Sum, energy.Usage, int) {
					x := oee.NewSummer(by...)
					var all energy.Usage
					n := 0
					done := make(chan error, 1)
					go func() {
						done <- of(floortest.Account, codes, from, to, func(s *station.Rules, rows []oee.Row, used []energy.Row) error {
							x.Add(oee.Place{Group: groups[s.Code], Station: s.Code}, s.Calendar, rows)
							for i := range used {
								all.Add(&used[i].Usage)
							}
							n += len(rows)
							return nil
						})
					}()
					select {
					case err := <-done:
						if err != nil {
							t.Fatal(err)
						}
					case <-time.After(time.Minute):
						t.Fatalf("round %d, %d to %d: no end after a minute", round, from, to)
					}
					return x.Sums(), all, n
				}
				want, wantUsed, rows := add(r.Floor.Rows)
				got, gotUsed, days := add(r.Floor.Days)
				if len(got) != len(want) || math.Abs(gotUsed.Cost-wantUsed.Cost) > 1e-9 || gotUsed.KWh != wantUsed.KWh || gotUsed.Units != wantUsed.Units || gotUsed.ProductiveMs != wantUsed.ProductiveMs {
					t.Fatalf("round %d, %d to %d: %d sums and %+v, want %d and %+v", round, from, to, len(got), gotUsed, len(want), wantUsed)
				}
				if whole && float64(days)*times > float64(rows) {
					t.Errorf("round %d, %d to %d: %d rows where there are %d by the hour", round, from, to, days, rows)
				}
				for i := range want {
					a, b := want[i], got[i]
					if math.Abs(a.Ideal-b.Ideal) > 1e-6 || math.Abs(a.Target-b.Target) > 1e-6 || math.Abs(a.IdealTime-b.IdealTime) > 1e-3 || math.Abs(a.Cost[oee.LossDowntime]-b.Cost[oee.LossDowntime]) > 1e-6 {
						t.Fatalf("round %d: %+v, want %+v", round, b, a)
					}
					for _, s := range []*oee.Sum{&a, &b} {
						s.Ideal, s.Target, s.IdealTime, s.BadTime, s.Cost = 0, 0, 0, 0, [oee.Losses]float64{}
					}
					if a != b {
						t.Fatalf("round %d: %+v, want %+v", round, b, a)
					}
				}
			}
		}
		if round == 0 {
			lost()
		}
	}
}
