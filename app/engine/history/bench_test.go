package history

import (
	"strconv"
	"testing"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/instant"
	"opsmon/app/test/scaling"
	"opsmon/kv"
)

// BenchmarkDay packs and reads the day of a station with a signal every five seconds.
func BenchmarkDay(b *testing.B) {
	p := run(1, zone("Europe/Berlin"), 3, 5*secondMs)
	day := Day(p.from) + 1
	out := Cut(p.out, day*instant.DayMs, (day+1)*instant.DayMs)
	out.Issues = nil
	rows, used := p.rows(day*instant.DayMs, (day+1)*instant.DayMs)
	detail, err := pack(day, out)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("pack", func(b *testing.B) {
		for b.Loop() {
			if _, err := pack(day, out); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(detail)), "B/station-day")
		b.ReportMetric(float64(len(out.Segments)), "segments")
	})
	b.Run("unpack", func(b *testing.B) {
		for b.Loop() {
			if _, err := unpack(day, detail, &monitor.Contexts{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	hourly, err := packHours(day, 0, rows, used)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("hours/unpack", func(b *testing.B) {
		for b.Loop() {
			if _, err := unpackHours(day, hourly); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(hourly)), "B/station-day")
		b.ReportMetric(float64(len(rows)), "rows")
	})
	sums, usedSums := byDay(p.cfg.Calendar, rows, used)
	quick := packDays(day, 0, sums, usedSums)
	b.Run("days/unpack", func(b *testing.B) {
		var s daySums
		for b.Loop() {
			if err := s.unpack(day, quick); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(quick)), "B/station-day")
		b.ReportMetric(float64(len(sums)), "rows")
	})
}

// later moves a week's sums by some weeks.
func later(rows []oee.Row, weeks int64) []oee.Row {
	out := make([]oee.Row, len(rows))
	for i := range rows {
		out[i] = rows[i]
		out[i].Start += weeks * 7 * instant.DayMs
		if out[i].Shift.Name != "" {
			out[i].Shift.Start += weeks * 7 * instant.DayMs
			out[i].Shift.Day += calendar.Day(weeks * 7)
		}
	}
	return out
}

// BenchmarkScalingSums adds up a month by day and a year by week. Goals for 100 stations: 100 and 500 ms.
func BenchmarkScalingSums(b *testing.B) {
	berlin := zone("Europe/Berlin")
	var weeks []*station
	for seed := range uint64(3) {
		weeks = append(weeks, run(seed, berlin, 7, 30*secondMs))
	}
	s, store := open(b)
	const stations, year = 1000, 53
	name := func(i int) string { return "F" + strconv.Itoa(10_000+i) }
	to := (firstDay + 7*year) * instant.DayMs
	var packed [3][7 * year][]byte
	for k, p := range weeks {
		for d := range int64(7) {
			rows, used := p.rows((firstDay+d)*instant.DayMs, (firstDay+d+1)*instant.DayMs)
			for w := range int64(year) {
				moved := append(used[:0:0], used...)
				for i := range moved {
					moved[i].Start += w * 7 * instant.DayMs
				}
				sums, usedSums := byDay(p.cfg.Calendar, later(rows, w), moved)
				packed[k][w*7+d] = packDays(firstDay+w*7+d, (firstDay+w*7+d+1)*instant.DayMs, sums, usedSums)
			}
		}
	}
	bytes := 0
	for first := 0; first < stations; first += 100 {
		update(b, store, func(tx *kv.Tx) error {
			for i := first; i < first+100; i++ {
				for d, v := range packed[i%3] {
					if err := days.Put(tx, keyOf("a", name(i), firstDay+int64(d)), v); err != nil {
						return err
					}
					bytes += len(v)
				}
				// The last day's detail defines the end of the history.
				end := monitor.Outputs{Segments: []monitor.Segment{{Start: to - instant.DayMs, End: to, Ctx: weeks[0].out.Segments[0].Ctx}}}
				if err := putDetail(tx, "a", name(i), Day(to-1), end); err != nil {
					return err
				}
			}
			return nil
		})
	}
	b.Logf("%d bytes a station and day", bytes/stations/7/year)
	sum := func(b *testing.B, n int, from int64, by oee.By) {
		x := oee.NewSummer(oee.ByStation, by)
		view(b, store, func(tx *kv.Tx) error {
			for i := range n {
				through, err := s.Days(tx, "a", name(i), weeks[i%3].cfg.Calendar, from, to, func(rows []oee.Row, _ []energy.Row) {
					x.Add(oee.Place{Plant: "P", Group: "G", Station: name(i)}, weeks[i%3].cfg.Calendar, rows)
				})
				if err != nil || through != to {
					b.Fatalf("through %d, %v", through, err)
				}
			}
			return nil
		})
		if len(x.Sums()) == 0 {
			b.Fatal("there is nothing")
		}
	}
	read := func(b *testing.B, n int, from int64) {
		view(b, store, func(tx *kv.Tx) error {
			for i := range n {
				for d := Day(from); d*instant.DayMs < to; d++ {
					if _, err := days.Get(tx, keyOf("a", name(i), d)); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	scaling.Table(b, []scaling.Figure{
		{What: "a month's OEE by day, ms", Floor: "reading the same bytes"}, {What: "a year's by week, ms", Floor: "reading the same bytes"},
	}, func(b *testing.B, n int) []scaling.Measured {
		out, times := make([]scaling.Measured, 2), 0.0
		took := func(fn func()) float64 {
			began := time.Now()
			fn()
			return time.Since(began).Seconds() * 1000
		}
		for b.Loop() {
			times++
			for i, span := range []struct {
				from int64
				by   oee.By
			}{{to - 31*instant.DayMs, oee.ByDay}, {to - 365*instant.DayMs, oee.ByWeek}} {
				out[i].Ours += took(func() { sum(b, n, span.from, span.by) })
				out[i].Floor += took(func() { read(b, n, span.from) })
			}
		}
		for i := range out {
			out[i].Ours, out[i].Floor = out[i].Ours/times, out[i].Floor/times
		}
		return out
	})
}

// BenchmarkMonthChart aggregates a month of a station, with a signal every ten seconds, into the 1,500 rows of a chart,
// and for comparison reads the same days raw. Goal: 50 ms on one core, including the time to send it.
func BenchmarkMonthChart(b *testing.B) {
	const month = 31
	p := run(1, zone("Europe/Berlin"), month, 10*secondMs)
	s, store := open(b)
	update(b, store, func(tx *kv.Tx) error { return s.Replace(tx, "a", "F1", p.from, p.to, p.out) })
	b.Run("chart", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c := monitor.NewChart(p.from, p.to, 30*instant.MinuteMs, 5000)
			for from := p.from; from < p.to; from += 1 * instant.DayMs {
				view(b, store, func(tx *kv.Tx) error {
					out, _, err := s.Detail(tx, "a", "F1", from, min(p.to, from+1*instant.DayMs))
					c.Add(out.Segments, out.Minutes)
					return err
				})
			}
			c.Close()
		}
	})
	b.Run("raw", func(b *testing.B) {
		b.ReportAllocs()
		bytes := 0
		for b.Loop() {
			bytes = 0
			view(b, store, func(tx *kv.Tx) error {
				for item, err := range details.Scan(tx, of("a", "F1", Day(p.from), Day(p.to))) {
					if err != nil {
						return err
					}
					bytes += len(item.Value)
				}
				return nil
			})
		}
		b.ReportMetric(float64(bytes), "bytes")
	})
	b.Run("decompressed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			view(b, store, func(tx *kv.Tx) error {
				for item, err := range details.Scan(tx, of("a", "F1", Day(p.from), Day(p.to))) {
					if err != nil {
						return err
					}
					if _, err := compression.Decompress(item.Value[detailHead:]); err != nil {
						return err
					}
				}
				return nil
			})
		}
	})
}
