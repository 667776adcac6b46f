package task

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/kv"
)

// many returns a manifest with n stations that each have a Task every minute.
func many(n int) string {
	var list strings.Builder
	for i := range n {
		if i > 0 {
			list.WriteByte(',')
		}
		fmt.Fprintf(&list, `{"code":"S-%d","name":"S %d"}`, i, i)
	}
	m := strings.Replace(floortest.Manifest, `"pattern":"0 */2 * * *","availableBeforeDeadlineMinutes":30`, `"pattern":"* * * * *"`, 1)
	return strings.Replace(m, `{"code":"PACK","name":"Packing","utilisationDowntimeThreshold":120000}`, list.String(), 1)
}

// BenchmarkMinute measures a minute in which the Task of each station is missed and the next becomes due: all
// transactions of the worker with their commits, in ms. The lower bound is one commit of as many records of the same
// size.
func BenchmarkMinute(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("%d stations", n), func(b *testing.B) {
			p := newPlant(b, many(n))
			for len(p.due()) > 0 {
				p.must(p.Floor.Pass(works))
			}
			var took time.Duration
			for b.Loop() {
				p.Pause(time.Minute)
				began := time.Now()
				for codes := p.due(); len(codes) > 0; codes = p.due() {
					p.must(p.Floor.Do(works, func(w *floor.Work) error { return p.tasks.Tick(w, codes) }))
				}
				took += time.Since(began)
			}
			b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms/minute")
		})
		b.Run(fmt.Sprintf("%d stations, floor", n), func(b *testing.B) {
			p := newPlant(b, floortest.Manifest)
			at := int64(0)
			for b.Loop() {
				p.must(p.Store.Update(func(tx *kv.Tx) error {
					text, err := putText(tx, works, Text{TaskCode: "X"}, 0)
					if err != nil {
						return err
					}
					for i := range n {
						k := keyOf(works, fmt.Sprint("S-", i), at, 0)
						if err := instances.Put(tx, k, record{Text: text, State: Missed, Deadline: at}); err != nil {
							return err
						}
						if err := stations.Put(tx, place{A: works, B: fmt.Sprint("S-", i)}, stationRecord{Through: at, Count: int(at/60_000) + 1}); err != nil {
							return err
						}
					}
					return nil
				}))
				at += 60_000
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/minute")
		})
	}
}
