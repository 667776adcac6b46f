package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/oee"
	"opsmon/app/instant"
	"opsmon/kv"
)

// keepAll stores a station's days with their sums.
func keepAll(t testing.TB, s *Store, store *kv.Store, name string, p *station) {
	t.Helper()
	update(t, store, func(tx *kv.Tx) error { return s.Replace(tx, "a", name, p.from, p.to, p.out) })
	update(t, store, func(tx *kv.Tx) error {
		for day := Day(p.from); day*instant.DayMs < p.to; day++ {
			rows, used := p.rows(max(p.from, day*instant.DayMs), min(p.to, (day+1)*instant.DayMs))
			if err := s.ReplaceRows(tx, "a", name, p.cfg.Calendar, day, rows, used); err != nil {
				return err
			}
		}
		return nil
	})
}

// nearly reports whether sums are equal: integers exactly, others except for rounding by the order of addition.
func nearly(a, b oee.Terms) bool {
	for i := range floats {
		x, y := float(&a, i), float(&b, i)
		if math.Abs(*x-*y) > 1e-9*max(1, math.Abs(*x)) {
			return false
		}
		*x, *y = 0, 0
	}
	return a == b
}

// TestRows compares the rows of any hours with those of one Collect, and their sums with those by day, by any grouping:
// integers exactly, others exactly if they are added in the same order.
func TestRows(t *testing.T) {
	for seed := range uint64(6) {
		place := []string{"UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns", "Pacific/Auckland", "America/New_York"}[seed]
		p := run(seed, zone(place), 9, 30*secondMs) // the clocks change in New York on the Sunday
		s, store := open(t)
		keepAll(t, s, store, "F1", p)
		r := rand.New(rand.NewPCG(seed, 9))
		hour := func(at int64) int64 { return p.cfg.Calendar.Bucket(at, calendar.UnitHour).Start }
		for range 40 {
			from := hour(p.from + instant.HourMs + r.Int64N(p.to-p.from-instant.HourMs))
			to := hour(from + r.Int64N(p.to-from))
			if r.IntN(2) == 0 {
				from, to = p.cfg.Calendar.Bucket(from, calendar.UnitDay).Start, p.cfg.Calendar.Bucket(to, calendar.UnitDay).Start
				from = max(from, hour(p.from+instant.HourMs))
			}
			to = max(from, to)
			want, wantUsed := p.rows(from, to)
			view(t, store, func(tx *kv.Tx) error {
				rows, used, through, err := s.Rows(tx, "a", "F1", from, to)
				if err != nil || through != to {
					t.Fatalf("%s: through %d, want %d, %v", place, through, to, err)
				}
				if len(rows) != len(want) || len(used) != len(wantUsed) {
					t.Fatalf("%s: %d and %d rows, want %d and %d", place, len(rows), len(used), len(want), len(wantUsed))
				}
				exact := place != "Asia/Kolkata" && place != "America/St_Johns" // no hour extends over midnight
				for i := range rows {
					if exact && rows[i] != want[i] || rows[i].Start != want[i].Start || rows[i].SKU != want[i].SKU || rows[i].Shift != want[i].Shift || !nearly(rows[i].Terms, want[i].Terms) {
						t.Fatalf("%s: row %d: %s", place, i, cmp.Diff(want[i], rows[i]))
					}
				}
				for i := range used {
					if exact && used[i] != wantUsed[i] || used[i].KWh != wantUsed[i].KWh || used[i].Start != wantUsed[i].Start {
						t.Fatalf("%s: energy %d: %s", place, i, cmp.Diff(wantUsed[i], used[i]))
					}
				}
				c := p.cfg.Calendar
				if seed%2 == 1 && r.IntN(3) == 0 { // the days now begin at another hour
					c = calendar.NewCalendar(calendar.CalendarConfig{Zone: zone(place), DayStartHour: 8})
				}
				var byDay []oee.Row
				var usedByDay []energy.Row
				through, err = s.Days(tx, "a", "F1", c, from, to, func(rows []oee.Row, used []energy.Row) {
					byDay, usedByDay = append(byDay, rows...), append(usedByDay, used...)
				})
				if err != nil || through != to {
					t.Fatalf("%s: through %d, want %d, %v", place, through, to, err)
				}
				for _, by := range [][]oee.By{{}, {oee.ByShift}, {oee.BySKU, oee.ByDay}, {oee.ByShift, oee.ByDay}, {oee.ByShift, oee.ByWeek}, {oee.ByMonth}, {oee.ByStation, oee.ByWeek}} {
					sum := func(rows []oee.Row) []oee.Sum {
						x := oee.NewSummer(by...)
						x.Add(oee.Place{Plant: "P", Group: "G", Station: "F1"}, c, rows)
						return x.Sums()
					}
					a, b := sum(rows), sum(byDay)
					if len(a) != len(b) {
						t.Fatalf("%s %v: %d sums, by day %d", place, by, len(a), len(b))
					}
					for i := range a {
						if a[i].Bucket != b[i].Bucket || !nearly(a[i].Terms, b[i].Terms) {
							t.Fatalf("%s %v: %s", place, by, cmp.Diff(a[i], b[i]))
						}
					}
				}
				var a, b energy.Usage
				for i := range used {
					a.Add(&used[i].Usage)
				}
				for i := range usedByDay {
					b.Add(&usedByDay[i].Usage)
				}
				if math.Abs(a.Cost-b.Cost) > 1e-9*a.Cost || math.Abs(a.CO2-b.CO2) > 1e-9*a.CO2 {
					t.Errorf("%s: the cost is %v, by day %v", place, a, b)
				}
				if a.Cost, a.CO2, b.Cost, b.CO2 = 0, 0, 0, 0; a != b {
					t.Errorf("%s: energy %v, by day %v", place, a, b)
				}
				return nil
			})
		}
	}
}

// TestThrough: sums are returned only as far as they are complete.
func TestThrough(t *testing.T) {
	p := run(2, time.UTC, 4, 60*secondMs)
	noon := func(day int64) int64 { return p.from + day*instant.DayMs + 12*instant.HourMs }
	for _, tt := range []struct {
		name string
		do   func(s *Store, tx *kv.Tx) error
		want int64
	}{
		{"all", nil, p.to},
		{"late at noon of the second day", func(s *Store, tx *kv.Tx) error { return s.Replace(tx, "a", "F1", noon(1), p.to, p.out) }, p.from + instant.DayMs},
		{"and a day's sums made again", func(s *Store, tx *kv.Tx) error {
			if err := s.Replace(tx, "a", "F1", noon(1), p.to, p.out); err != nil {
				return err
			}
			rows, used := p.rows(p.from+instant.DayMs, p.from+2*instant.DayMs)
			return s.ReplaceRows(tx, "a", "F1", p.cfg.Calendar, 1+Day(p.from), rows, used)
		}, p.from + 2*instant.DayMs},
		{"forgotten from the start of a day", func(s *Store, tx *kv.Tx) error { return s.Forget(tx, "a", "F1", p.from+2*instant.DayMs) }, p.from + 2*instant.DayMs},
		{"forgotten from noon", func(s *Store, tx *kv.Tx) error { return s.Forget(tx, "a", "F1", noon(2)) }, p.from + 2*instant.DayMs},
		{"all forgotten", func(s *Store, tx *kv.Tx) error { return s.Forget(tx, "a", "F1", p.from) }, 0},
		{"more, whose sums wait", func(s *Store, tx *kv.Tx) error {
			if err := s.Forget(tx, "a", "F1", noon(2)); err != nil {
				return err
			}
			rows, used := p.rows(p.from+2*instant.DayMs, noon(2))
			if err := s.ReplaceRows(tx, "a", "F1", p.cfg.Calendar, 2+Day(p.from), rows, used); err != nil {
				return err
			}
			return s.Replace(tx, "a", "F1", noon(2), p.to, p.out)
		}, noon(2)},
	} {
		s, store := open(t)
		keepAll(t, s, store, "F1", p)
		if tt.do != nil {
			update(t, store, func(tx *kv.Tx) error { return tt.do(s, tx) })
		}
		view(t, store, func(tx *kv.Tx) error {
			want, _ := p.rows(p.from, max(tt.want, p.from))
			rows, _, through, err := s.Rows(tx, "a", "F1", p.from, p.to)
			if err != nil || through != tt.want || len(rows) != len(want) || len(rows) > 0 && !reflect.DeepEqual(rows, want) {
				t.Errorf("%s: %d rows through %d, want %d through %d, %v", tt.name, len(rows), through, len(want), tt.want, err)
			}
			if through, err = s.Days(tx, "a", "F1", p.cfg.Calendar, p.from, p.to, func([]oee.Row, []energy.Row) {}); err != nil || through != tt.want {
				t.Errorf("%s: by day through %d, want %d, %v", tt.name, through, tt.want, err)
			}
			// The requested range counts, not the stored one.
			if _, _, through, err = s.Rows(tx, "a", "F1", p.from, p.from+instant.HourMs); err != nil || through != min(tt.want, p.from+instant.HourMs) {
				t.Errorf("%s: of an hour through %d, %v", tt.name, through, err)
			}
			problems := ""
			Check(tx, map[string]bool{"a": true}, func(p string) { problems += p + "\n" })
			if problems != "" {
				t.Errorf("%s: %s", tt.name, problems)
			}
			return nil
		})
	}
}

func TestRowsOfNothing(t *testing.T) {
	p := run(2, time.UTC, 1, 60*secondMs)
	s, store := open(t)
	rows, used := p.rows(p.from, p.to)
	err := store.Update(func(tx *kv.Tx) error {
		return s.ReplaceRows(tx, "a", "F1", p.cfg.Calendar, Day(p.from), rows, used)
	})
	if want := fmt.Sprintf("keep the sums of F1 on day %d: nothing else is stored of it", Day(p.from)); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
