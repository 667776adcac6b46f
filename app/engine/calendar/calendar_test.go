package calendar_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/calendar"
	"opsmon/app/iso"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := iso.Zone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// utc parses "2026-03-29 01:00" as UTC.
func utc(t testing.TB, s string) int64 {
	t.Helper()
	at, err := time.Parse("2006-01-02 15:04", s)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMilli()
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04") }

// shifts parses "Early 1-5 06:00 8h, Late 1-5 14:00 8h30m".
func shifts(t testing.TB, s string) (out []calendar.Shift) {
	t.Helper()
	for _, item := range strings.Split(s, ", ") {
		var name, clock, length string
		var first, last, hour, minute int
		if _, err := fmt.Sscanf(item, "%s %d-%d %s %s", &name, &first, &last, &clock, &length); err != nil {
			t.Fatalf("%s: %v", item, err)
		}
		if _, err := fmt.Sscanf(clock, "%d:%d", &hour, &minute); err != nil {
			t.Fatal(err)
		}
		d, err := time.ParseDuration(length)
		if err != nil {
			t.Fatal(err)
		}
		for day := first; day <= last; day++ {
			out = append(out, calendar.Shift{Name: name, Weekday: day, Start: time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute, Length: d})
		}
	}
	return out
}

func TestShifts(t *testing.T) {
	for _, tt := range []struct {
		name, zone, pattern string
		dayStart            int
		from, to            string
		want                []string // name, start and end in UTC, production day
	}{
		{"two shifts", "Europe/London", "Early 1-5 06:00 8h, Late 1-5 14:00 8h", 6, "2026-01-05 00:00", "2026-01-06 00:00",
			[]string{"Early 2026-01-05 06:00 2026-01-05 14:00 2026-01-05", "Late 2026-01-05 14:00 2026-01-05 22:00 2026-01-05"}},
		{"a night over midnight is whole and of the day it starts in", "Europe/London", "Night 1-1 22:00 8h", 0, "2026-01-06 01:00", "2026-01-06 02:00",
			[]string{"Night 2026-01-05 22:00 2026-01-06 06:00 2026-01-05"}},
		{"before the day's start it is the day before", "Europe/London", "Dawn 1-1 05:00 2h", 6, "2026-01-05 00:00", "2026-01-06 00:00",
			[]string{"Dawn 2026-01-05 05:00 2026-01-05 07:00 2026-01-04"}},
		{"parts of one name that meet over midnight", "Europe/London", "Night 1-1 22:00 2h, Night 2-2 00:00 6h", 0, "2026-01-05 00:00", "2026-01-07 00:00",
			[]string{"Night 2026-01-05 22:00 2026-01-06 06:00 2026-01-05"}},
		{"a break keeps parts of one name apart", "Europe/London", "Early 1-1 06:00 4h, Early 1-1 10:30 3h30m", 6, "2026-01-05 00:00", "2026-01-06 00:00",
			[]string{"Early 2026-01-05 06:00 2026-01-05 10:00 2026-01-05", "Early 2026-01-05 10:30 2026-01-05 14:00 2026-01-05"}},
		{"other names that meet stay two", "Europe/London", "A 1-1 06:00 2h, B 1-1 08:00 2h", 6, "2026-01-05 07:00", "2026-01-05 08:00",
			[]string{"A 2026-01-05 06:00 2026-01-05 08:00 2026-01-05"}},
		{"of an overlap the later start has the time", "Europe/London", "A 1-1 06:00 8h, B 1-1 13:00 8h", 6, "2026-01-05 00:00", "2026-01-06 00:00",
			[]string{"A 2026-01-05 06:00 2026-01-05 13:00 2026-01-05", "B 2026-01-05 13:00 2026-01-05 21:00 2026-01-05"}},
		{"and the earlier goes on after it", "Europe/London", "A 1-1 06:00 8h, B 1-1 09:00 1h", 6, "2026-01-05 00:00", "2026-01-06 00:00",
			[]string{"A 2026-01-05 06:00 2026-01-05 09:00 2026-01-05", "B 2026-01-05 09:00 2026-01-05 10:00 2026-01-05", "A 2026-01-05 10:00 2026-01-05 14:00 2026-01-05"}},
		{"of one start the later in the pattern", "Europe/London", "A 1-1 06:00 2h, B 1-1 06:00 1h", 6, "2026-01-05 00:00", "2026-01-06 00:00",
			[]string{"B 2026-01-05 06:00 2026-01-05 07:00 2026-01-05", "A 2026-01-05 07:00 2026-01-05 08:00 2026-01-05"}},
		{"clocks go forward: an hour less", "Europe/London", "Night 6-6 22:00 8h", 6, "2026-03-28 12:00", "2026-03-29 12:00",
			[]string{"Night 2026-03-28 22:00 2026-03-29 05:00 2026-03-28"}},
		{"clocks go back: an hour more", "Europe/London", "Night 6-6 22:00 8h", 6, "2026-10-24 12:00", "2026-10-25 12:00",
			[]string{"Night 2026-10-24 21:00 2026-10-25 06:00 2026-10-24"}},
		{"a start that is skipped is when the clock jumps", "Europe/London", "A 7-7 01:30 3h", 0, "2026-03-29 00:00", "2026-03-30 00:00",
			[]string{"A 2026-03-29 01:00 2026-03-29 03:30 2026-03-29"}},
		{"shifts that meet at a time that comes twice still meet", "Europe/London", "A 6-6 22:00 3h30m, B 7-7 01:30 3h", 6, "2026-10-25 00:00", "2026-10-25 05:00",
			[]string{"A 2026-10-24 21:00 2026-10-25 00:30 2026-10-24", "B 2026-10-25 00:30 2026-10-25 04:30 2026-10-24"}},
		{"a shift that is skipped whole is none", "Europe/London", "A 7-7 01:00 1h", 0, "2026-03-29 00:00", "2026-03-30 00:00", nil},
		{"a plant that never closes has a shift a day", "Europe/London", "A 1-7 06:00 8h, A 1-7 14:00 8h, A 1-7 22:00 8h", 6, "2026-01-05 07:00", "2026-01-06 07:00",
			[]string{"A 2026-01-05 06:00 2026-01-06 06:00 2026-01-05", "A 2026-01-06 06:00 2026-01-07 06:00 2026-01-06"}},
		{"India is half an hour off", "Asia/Kolkata", "A 1-1 06:00 8h", 6, "2026-01-05 00:00", "2026-01-06 00:00",
			[]string{"A 2026-01-05 00:30 2026-01-05 08:30 2026-01-05"}},
		{"Samoa left out 30 December 2011", "Pacific/Apia", "A 4-6 06:00 8h", 0, "2011-12-29 00:00", "2012-01-01 00:00",
			[]string{"A 2011-12-29 16:00 2011-12-30 00:00 2011-12-29", "A 2011-12-30 16:00 2011-12-31 00:00 2011-12-31"}},
		{"nothing on other days", "Europe/London", "A 1-5 06:00 8h", 6, "2026-01-10 00:00", "2026-01-12 00:00", nil},
		{"a range that ends where a shift starts", "Europe/London", "A 1-5 06:00 8h", 6, "2026-01-12 00:00", "2026-01-12 06:00", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := calendar.NewCalendar(calendar.CalendarConfig{Zone: zone(t, tt.zone), DayStartHour: tt.dayStart, Shifts: shifts(t, tt.pattern)})
			var got []string
			for _, s := range c.Shifts(utc(t, tt.from), utc(t, tt.to)) {
				got = append(got, fmt.Sprint(s.Name, " ", stamp(s.Start), " ", stamp(s.End), " ", s.Day))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecimalHours(t *testing.T) {
	for decimal, want := range map[float64]time.Duration{14.5: 14*time.Hour + 30*time.Minute, 8.3333: 8*time.Hour + 20*time.Minute, 0.01: 36 * time.Second, 23.9997: 23*time.Hour + 59*time.Minute + 59*time.Second} {
		if got := calendar.Hours(decimal); got != want {
			t.Errorf("Hours(%v) = %v, want %v", decimal, got, want)
		}
	}
}

func TestAt(t *testing.T) {
	c := calendar.NewCalendar(calendar.CalendarConfig{Zone: time.UTC, Shifts: shifts(t, "A 1-1 06:00 8h")})
	for _, tt := range []struct {
		at    string
		in    bool
		until string
	}{
		{"2026-01-05 05:59", false, "2026-01-05 06:00"},
		{"2026-01-05 06:00", true, "2026-01-05 14:00"},
		{"2026-01-05 13:59", true, "2026-01-05 14:00"},
		{"2026-01-05 14:00", false, "2026-01-07 14:00"}, // the limit of the search
	} {
		_, in, until := c.At(utc(t, tt.at))
		if in != tt.in || stamp(until) != tt.until {
			t.Errorf("At(%s) = %v until %s, want %v until %s", tt.at, in, stamp(until), tt.in, tt.until)
		}
	}
	if _, in, _ := calendar.NewCalendar(calendar.CalendarConfig{Zone: time.UTC}).At(0); !in {
		t.Error("without a pattern a station is always in shift")
	}
}

func TestBuckets(t *testing.T) {
	for _, tt := range []struct {
		name, zone        string
		dayStart, weekDay int
		unit              calendar.Unit
		at, start, end    string
		hours             int64
	}{
		{"hour", "Asia/Kolkata", 6, 0, calendar.UnitHour, "2026-01-05 10:29", "2026-01-05 09:30", "2026-01-05 10:30", 1},
		{"the hour that comes twice, first", "Europe/London", 6, 0, calendar.UnitHour, "2026-10-25 00:59", "2026-10-25 00:00", "2026-10-25 01:00", 1},
		{"the hour that comes twice, second", "Europe/London", 6, 0, calendar.UnitHour, "2026-10-25 01:00", "2026-10-25 01:00", "2026-10-25 02:00", 1},
		{"half an hour repeated on Lord Howe", "Australia/Lord_Howe", 6, 0, calendar.UnitHour, "2026-04-04 15:10", "2026-04-04 15:00", "2026-04-04 15:30", 0},
		{"day before its start", "Europe/London", 6, 0, calendar.UnitDay, "2026-01-05 05:59", "2026-01-04 06:00", "2026-01-05 06:00", 24},
		{"day of 23 hours", "Europe/London", 0, 0, calendar.UnitDay, "2026-03-29 12:00", "2026-03-29 00:00", "2026-03-29 23:00", 23},
		{"day of 25 hours", "Europe/London", 6, 0, calendar.UnitDay, "2026-10-24 12:00", "2026-10-24 05:00", "2026-10-25 06:00", 25},
		{"week from Monday", "Europe/London", 6, 0, calendar.UnitWeek, "2026-01-05 05:00", "2025-12-29 06:00", "2026-01-05 06:00", 168},
		{"week from Sunday", "Europe/London", 0, 6, calendar.UnitWeek, "2026-01-05 05:00", "2026-01-04 00:00", "2026-01-11 00:00", 168},
		{"month", "Europe/London", 6, 0, calendar.UnitMonth, "2026-03-01 05:00", "2026-02-01 06:00", "2026-03-01 06:00", 28 * 24},
		{"month over a clock change", "Europe/London", 6, 0, calendar.UnitMonth, "2026-03-15 05:00", "2026-03-01 06:00", "2026-04-01 05:00", 31*24 - 1},
		{"the last day of a leap year", "Europe/London", 0, 0, calendar.UnitDay, "2028-12-31 12:00", "2028-12-31 00:00", "2029-01-01 00:00", 24},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := calendar.NewCalendar(calendar.CalendarConfig{Zone: zone(t, tt.zone), DayStartHour: tt.dayStart, WeekStartDay: tt.weekDay})
			got := c.Bucket(utc(t, tt.at), tt.unit)
			if stamp(got.Start) != tt.start || stamp(got.End) != tt.end {
				t.Errorf("got %s to %s, want %s to %s", stamp(got.Start), stamp(got.End), tt.start, tt.end)
			}
			if hours := (got.End - got.Start) / 3_600_000; hours != tt.hours {
				t.Errorf("%d hours, want %d", hours, tt.hours)
			}
		})
	}
}

// TestBucketsCoverARange checks in several zones that buckets are adjacent and contain their own starts.
func TestBucketsCoverARange(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"Europe/London", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "Asia/Kathmandu", "America/Santiago"} {
		c := calendar.NewCalendar(calendar.CalendarConfig{Zone: zone(t, name), DayStartHour: r.IntN(24), WeekStartDay: r.IntN(7), Shifts: shifts(t, "A 1-7 06:00 7h, B 1-5 12:00 9h, A 6-7 22:00 8h")})
		for range 100 {
			from := utc(t, "2011-12-01 00:00") + r.Int64N(20*365*86_400_000)
			to := from + r.Int64N(40*86_400_000)
			for _, u := range []calendar.Unit{calendar.UnitHour, calendar.UnitDay, calendar.UnitWeek, calendar.UnitMonth} {
				at := from
				for _, b := range c.Buckets(from, to, u) {
					if b.Start != at || b.End <= b.Start {
						t.Fatalf("%s unit %d: bucket %v to %v after %v", name, u, stamp(b.Start), stamp(b.End), stamp(at))
					}
					if whole := c.Bucket(b.Start, u); c.Bucket(b.End-1, u) != whole {
						t.Fatalf("%s unit %d: %v and %v are in two buckets", name, u, stamp(b.Start), stamp(b.End-1))
					}
					at = b.End
				}
				if at != to {
					t.Fatalf("%s: the last bucket ends at %s, not %s", name, stamp(at), stamp(to))
				}
			}
			// Shift time is additive however a range is cut, and shifts never overlap.
			cut := from + r.Int64N(to-from+1)
			if whole, parts := c.ShiftTime(from, to), c.ShiftTime(from, cut)+c.ShiftTime(cut, to); whole != parts {
				t.Fatalf("%s: shift time %d of the whole, %d of the parts", name, whole, parts)
			}
			end := int64(0)
			for _, s := range c.Shifts(from, to) {
				if s.Start < end {
					t.Fatalf("%s: a shift starts at %s before the last ended at %s", name, stamp(s.Start), stamp(end))
				}
				end = s.End
			}
		}
	}
}

func TestImplied(t *testing.T) {
	c := calendar.NewCalendar(calendar.CalendarConfig{Zone: time.UTC, Shifts: shifts(t, "Early 1-5 06:00 8h")})
	monday := utc(t, "2026-01-05 12:00") // two hours before the shift's end
	for _, tt := range []struct {
		name     string
		plan     calendar.Plan
		kind     calendar.Type
		end      string
		quantity float64
		rate     float64
	}{
		{"the end of a quantity skips the night", calendar.Plan{Start: monday, Quantity: 180, UnitsPerMinute: 1}, calendar.FixedQuantity, "2026-01-06 07:00", 180, 1},
		{"and a weekend", calendar.Plan{Start: utc(t, "2026-01-09 13:00"), Quantity: 120, UnitsPerMinute: 1}, calendar.FixedQuantity, "2026-01-12 07:00", 120, 1},
		{"but not where the shift is extended", calendar.Plan{Start: monday, Quantity: 180, UnitsPerMinute: 1, ExtendShift: true}, calendar.FixedQuantity, "2026-01-05 15:00", 180, 1},
		{"no rate, no end", calendar.Plan{Start: monday, Quantity: 180}, calendar.FixedQuantity, "1970-01-01 00:00", 180, 0},
		{"the quantity until an end", calendar.Plan{Start: monday, End: utc(t, "2026-01-06 07:00"), UnitsPerMinute: 1. / 3}, calendar.FixedEnd, "2026-01-06 07:00", 60, 1. / 3},
		{"the rate of both", calendar.Plan{Start: monday, End: utc(t, "2026-01-06 07:00"), Quantity: 90, UnitsPerMinute: 7}, calendar.FixedBoth, "2026-01-06 07:00", 90, 0.5},
		{"no shift time between, no rate", calendar.Plan{Start: utc(t, "2026-01-10 06:00"), End: utc(t, "2026-01-10 08:00"), Quantity: 90, UnitsPerMinute: 7}, calendar.FixedBoth, "2026-01-10 08:00", 90, 0},
		{"continuous", calendar.Plan{Start: monday, UnitsPerMinute: 7}, calendar.Continuous, "1970-01-01 00:00", 0, 7},
		{"an end beyond a year is none", calendar.Plan{Start: monday, Quantity: 1e9, UnitsPerMinute: 1}, calendar.FixedQuantity, "1970-01-01 00:00", 1e9, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.plan.Type(); got != tt.kind {
				t.Errorf("type %d, want %d", got, tt.kind)
			}
			got := c.Implied(tt.plan)
			if stamp(got.End) != tt.end || got.Quantity != tt.quantity || got.UnitsPerMinute != tt.rate {
				t.Errorf("end %s, quantity %v, rate %v; want %s, %v, %v", stamp(got.End), got.Quantity, got.UnitsPerMinute, tt.end, tt.quantity, tt.rate)
			}
		})
	}
}

func BenchmarkShiftsOfAYear(b *testing.B) {
	c := calendar.NewCalendar(calendar.CalendarConfig{Zone: zone(b, "Europe/London"), DayStartHour: 6, Shifts: shifts(b, "Early 1-5 06:00 8h, Late 1-5 14:00 8h, Night 1-5 22:00 8h")})
	from := utc(b, "2026-01-01 00:00")
	for b.Loop() {
		c.Shifts(from, from+365*86_400_000)
	}
}

// Named ranges are production days in the plant's zone. On 2026-03-29 daylight saving time begins.
func TestNamed(t *testing.T) {
	c := calendar.NewCalendar(calendar.CalendarConfig{Zone: zone(t, "Europe/Berlin"), DayStartHour: 6, WeekStartDay: 6})
	for _, tt := range []struct{ now, name, want string }{
		{"2026-03-29 12:00", "today", "2026-03-29 04:00 2026-03-30 04:00"},
		{"2026-03-29 03:59", "today", "2026-03-28 05:00 2026-03-29 04:00"}, // before 06:00 there: the day before, 23 hours long
		{"2026-03-29 12:00", "yesterday", "2026-03-28 05:00 2026-03-29 04:00"},
		{"2026-03-28 12:00", "week", "2026-03-22 05:00 2026-03-29 04:00"}, // weeks start on Sunday
		{"2026-03-29 12:00", "last7d", "2026-03-23 05:00 2026-03-30 04:00"},
		{"2026-04-01 03:00", "month", "2026-03-01 05:00 2026-04-01 04:00"}, // 1 April has not begun there
	} {
		r, ok := c.Named(tt.name, utc(t, tt.now))
		if got := stamp(r.Start) + " " + stamp(r.End); !ok || got != tt.want {
			t.Errorf("%s at %s is %s, want %s", tt.name, tt.now, got, tt.want)
		}
	}
	if _, ok := c.Named("tomorrow", 0); ok {
		t.Error("tomorrow is known")
	}
}

// The cache of stretches does not change results: calls in any order return the same as on a new calendar.
func TestRememberedStretches(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pattern := shifts(t, "A 1-7 06:00 7h, B 1-5 12:00 9h, A 6-7 22:00 8h")
	for _, name := range []string{"Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "UTC"} {
		cfg := calendar.CalendarConfig{Zone: zone(t, name), DayStartHour: 6, Shifts: pattern}
		c := calendar.NewCalendar(cfg)
		at := utc(t, "2024-12-31 12:00") // the last day of a leap year, where the zone's answer is least reliable
		for range 2000 {
			fresh := calendar.NewCalendar(cfg)
			if day := c.ProductionDay(at); day != fresh.ProductionDay(at) || c.DayRange(day) != fresh.DayRange(day) {
				t.Fatalf("%s: %s is on day %d from %v, want %d", name, stamp(at), day, c.DayRange(day), fresh.ProductionDay(at))
			}
			if got, want := c.Shifts(at, at+1), fresh.Shifts(at, at+1); !slices.Equal(got, want) {
				t.Fatalf("%s: at %s %v, want %v", name, stamp(at), got, want)
			}
			if at += r.Int64N(10*86_400_000) - 5*86_400_000; r.IntN(20) == 0 {
				at = utc(t, "2011-12-01 00:00") + r.Int64N(20*365*86_400_000)
			}
		}
	}
}
