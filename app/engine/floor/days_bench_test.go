package floor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"opsmon/app/engine/energy"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
)

// BenchmarkFigures adds up what stations did, by day, up to now: what is not kept by day yet is made of its minutes.
func BenchmarkFigures(b *testing.B) {
	for _, n := range []int{10, 100} {
		if n > 10 && testing.Short() {
			continue // the plant's day takes half a minute
		}
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"code":"S%03d","name":"Station"}`, i))
		}
		manifest := `{"version":"v1","account":{"id":"works","domain":"works.example","skus":[{"code":"BOWL","name":"Bowl","unitsPerMinute":60}],"plants":[{"code":"main","name":"Main","timezone":"UTC","dayStartHour":6,"weekStartDay":0,` +
			`"stationGroups":[{"code":"g","name":"G","stations":[` + strings.Join(list, ",") + `]}]}]}}`
		r := floortest.New(b, manifest).Open(nil)
		var codes []string
		for i := range n {
			codes = append(codes, fmt.Sprintf("S%03d", i))
		}
		for _, code := range codes {
			if err := r.Floor.Do(floortest.Account, func(w *floor.Work) error {
				_, err := w.Record(code, monitor.Input{At: r.Now().UnixMilli(), Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: code, SKU: "BOWL"}})
				return err
			}); err != nil {
				b.Fatal(err)
			}
		}
		for m := range 22 * 60 {
			r.Pass(time.Minute, 0)
			var batch []signal.Signal
			for i, code := range codes {
				s := floortest.Signal(code, 0, map[signal.Field]float64{signal.Productive: float64((m + i) / 20 % 2), signal.ProductionCompleteGood: 50, signal.LineSpeed: 60})
				batch = append(batch, s)
			}
			r.Send(batch...)
		}
		b.Run(fmt.Sprintf("stations=%d", n), func(b *testing.B) {
			for b.Loop() {
				x := oee.NewSummer(oee.ByStation, oee.ByDay)
				if err := r.Floor.Days(floortest.Account, codes, floortest.At(-48*time.Hour), r.Now().UnixMilli(), func(s *station.Rules, rows []oee.Row, _ []energy.Row) error {
					x.Add(oee.Place{Station: s.Code}, s.Calendar, rows)
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
