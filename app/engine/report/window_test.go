package report

import (
	"runtime"
	"testing"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/station"
)

// BenchmarkRowsOfAPlant measures the memory of the windows of a thousand stations and a year, by the hour, before they
// are calculated.
func BenchmarkRowsOfAPlant(b *testing.B) {
	s := &station.Station{Rules: &station.Rules{Calendar: calendar.NewCalendar(calendar.CalendarConfig{Zone: time.UTC})}}
	from, to := time.Date(2025, 11, 20, 0, 0, 0, 0, time.UTC).UnixMilli(), time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC).UnixMilli()
	var before, after runtime.MemStats
	for range b.N {
		runtime.GC()
		runtime.ReadMemStats(&before)
		var list []rows
		for range 1000 {
			list = append(list, rows{station: s, from: from, to: to, by: ByHour, last: len(ByHour.cut(s, from, to))})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
		runtime.KeepAlive(list)
		kept := make([]stretch, len(list))
		for i := range list {
			kept[i] = list[i].stretch()
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB-all-at-once")
		runtime.KeepAlive(kept)
	}
}
