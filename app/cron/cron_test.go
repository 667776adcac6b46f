package cron

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	_ "time/tzdata" // the tests do not depend on the machine's zones

	"github.com/google/go-cmp/cmp"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func parse(t testing.TB, s string) Pattern {
	t.Helper()
	p, err := Parse(s)
	if err != nil {
		t.Fatalf("Parse(%q): %v", s, err)
	}
	return p
}

func TestNext(t *testing.T) {
	tests := []struct {
		name, pattern, zone, after string
		want                       []string
	}{
		{"plain day", "30 6 * * *", "Europe/London", "2026-01-10T06:30:00Z", []string{"2026-01-11T06:30:00Z", "2026-01-12T06:30:00Z"}},
		{"strictly after, seconds count", "30 6 * * *", "UTC", "2026-01-10T06:29:59Z", []string{"2026-01-10T06:30:00Z"}},
		{"within the minute", "* * * * *", "UTC", "2026-01-10T06:29:59.5Z", []string{"2026-01-10T06:30:00Z", "2026-01-10T06:31:00Z"}},
		{"fraction of a second past", "30 6 * * *", "UTC", "2026-01-10T06:30:00.5Z", []string{"2026-01-11T06:30:00Z"}},
		{"half-hour zone", "0 6 * * *", "Asia/Kolkata", "2026-01-10T00:00:00Z", []string{"2026-01-10T06:00:00+05:30"}},
		{"end of month", "0 0 31 * *", "UTC", "2026-01-31T00:00:00Z", []string{"2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z"}},
		{"leap day over a year 2100 without one", "0 0 29 2 *", "UTC", "2092-03-01T00:00:00Z", []string{"2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"}},
		{"leap day on a Sunday", "0 0 29 2 */7", "UTC", "2026-01-01T00:00:00Z", []string{"2032-02-29T00:00:00Z", "2060-02-29T00:00:00Z", "2088-02-29T00:00:00Z", "2128-02-29T00:00:00Z"}},
		{"either day", "0 0 13 * fri", "UTC", "2026-02-10T00:00:00Z", []string{"2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z", "2026-02-27T00:00:00Z", "2026-03-06T00:00:00Z", "2026-03-13T00:00:00Z"}},
		{"a stepped star restricts no day", "0 0 */2 * mon", "UTC", "2026-02-01T00:00:00Z", []string{"2026-02-09T00:00:00Z", "2026-02-23T00:00:00Z", "2026-03-09T00:00:00Z"}},

		{"fixed, skipped", "30 1 * * *", "Europe/London", "2026-03-28T02:00:00Z", []string{"2026-03-29T02:00:00+01:00", "2026-03-30T01:30:00+01:00"}},
		{"fixed, skipped minutes make one fire", "*/20 1 * * *", "Europe/London", "2026-03-28T01:40:00Z", []string{"2026-03-29T02:00:00+01:00", "2026-03-30T01:00:00+01:00"}},
		{"fixed, skipped and next hour share it", "0 1,2 * * *", "Europe/London", "2026-03-28T02:00:00Z", []string{"2026-03-29T02:00:00+01:00", "2026-03-30T01:00:00+01:00"}},
		{"fixed, asked within the gap's second", "30 1 * * *", "Europe/London", "2026-03-29T00:59:59Z", []string{"2026-03-29T02:00:00+01:00"}},
		{"fixed, asked at the gap's end", "30 1 * * *", "Europe/London", "2026-03-29T01:00:00Z", []string{"2026-03-30T01:30:00+01:00"}},
		{"fixed, comes twice", "30 1 * * *", "Europe/London", "2026-10-25T00:00:00Z", []string{"2026-10-25T01:30:00+01:00", "2026-10-26T01:30:00Z"}},
		{"fixed, asked between the two", "30 1 * * *", "Europe/London", "2026-10-25T01:10:00Z", []string{"2026-10-26T01:30:00Z"}},
		{"fixed, at the end of the repeated hour", "0 1,2 * * *", "Europe/London", "2026-10-25T00:00:00Z", []string{"2026-10-25T02:00:00Z", "2026-10-26T01:00:00Z"}},
		{"star, skipped", "30 * * * *", "Europe/London", "2026-03-29T00:00:00Z", []string{"2026-03-29T00:30:00Z", "2026-03-29T02:30:00+01:00"}},
		{"star, comes twice", "30 * * * *", "Europe/London", "2026-10-25T00:00:00Z", []string{"2026-10-25T01:30:00+01:00", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"}},
		{"stepped star, skipped for good", "0 */2 * * *", "America/New_York", "2026-03-08T05:00:00Z", []string{"2026-03-08T04:00:00-04:00"}},
		{"half-hour gap", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", []string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"}},
		{"half-hour repeat", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", []string{"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"}},
		{"a day that never was", "0 8 * * *", "Pacific/Apia", "2011-12-29T18:00:00Z", []string{"2011-12-31T00:00:00+14:00", "2011-12-31T08:00:00+14:00"}},
		{"last day of a leap year under a yearly rule", "0 12 * * *", "America/New_York", "2028-12-30T20:00:00Z", []string{"2028-12-31T12:00:00-05:00", "2029-01-01T12:00:00-05:00"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, z := parse(t, tt.pattern), zone(t, tt.zone)
			at, err := time.Parse(time.RFC3339Nano, tt.after)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for range tt.want {
				at = p.Next(at, z)
				got = append(got, at.Format(time.RFC3339))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("fires of %q in %s after %s (-want +got):\n%s", tt.pattern, tt.zone, tt.after, diff)
			}
		})
	}
}

// TestLast checks that Last returns each result of Next for all instants from that fire until the next one.
func TestLast(t *testing.T) {
	for _, pattern := range []string{"30 6 * * *", "* * * * *", "*/20 1 * * *", "30 1 * * *", "30 * * * *", "0 */2 * * *", "0 0 13 * fri", "59 23 31 12 *", "0 0 29 2 *"} {
		for _, name := range []string{"UTC", "Europe/London", "Australia/Lord_Howe", "America/New_York"} {
			p, z := parse(t, pattern), zone(t, name)
			for _, from := range []string{"2026-03-07T12:00:00Z", "2026-03-28T22:00:00Z", "2026-04-04T10:00:00Z", "2026-10-03T10:00:00Z", "2026-10-24T22:00:00Z", "2026-11-01T02:00:00Z"} {
				at, err := time.Parse(time.RFC3339, from)
				if err != nil {
					t.Fatal(err)
				}
				fire := p.Next(at, z)
				for range 10 {
					next := p.Next(fire, z)
					for _, upTo := range []time.Time{fire, fire.Add(time.Second), next.Add(-time.Nanosecond)} {
						if got := p.Last(upTo, z); !got.Equal(fire) {
							t.Errorf("the last fire of %q in %s up to %s is %s, want %s", pattern, name, upTo.In(z), got, fire)
						}
					}
					fire = next
				}
			}
		}
	}
}

// TestNeverFires uses Santiago, where the clocks skip 0:00 to 1:00 on the Sunday between 2 and 8 September.
func TestNeverFires(t *testing.T) {
	santiago, from := zone(t, "America/Santiago"), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := parse(t, "15 */24 2-8 9 */7")
	if got := p.Next(from, santiago); !got.IsZero() {
		t.Errorf("Next = %v, want the zero time", got)
	}
	if gap, z := p.SmallestGap([]*time.Location{santiago}, from); gap != 0 || z != nil {
		t.Errorf("SmallestGap = %v, %v, want none", gap, z)
	}
	if gap, z := p.SmallestGap([]*time.Location{santiago, time.UTC}, from); gap != 52*7*24*time.Hour || z != time.UTC {
		t.Errorf("SmallestGap = %v, %v, want 52 weeks in UTC", gap, z)
	}
	if got := (Pattern{}).Next(from, santiago); !got.IsZero() {
		t.Errorf("the zero pattern fires at %v", got)
	}
}

func TestSmallestGap(t *testing.T) {
	const dayLong = 24 * time.Hour
	tests := []struct {
		pattern string
		zones   []string
		want    time.Duration
		where   string
	}{
		{"* * * * *", []string{"Europe/London"}, time.Minute, "Europe/London"},
		{"0 6 * * *", []string{"UTC", "Europe/London"}, dayLong - time.Hour, "Europe/London"},
		{"0 6 * * *", []string{"Asia/Kolkata", "Australia/Lord_Howe"}, dayLong - 30*time.Minute, "Australia/Lord_Howe"},
		{"0 6,14,22 * * *", []string{"Europe/London"}, 7 * time.Hour, "Europe/London"},
		{"0 6,14,22 * * *", []string{"Asia/Kolkata"}, 8 * time.Hour, "Asia/Kolkata"},
		{"0 6 * * mon-fri", []string{"America/New_York"}, dayLong, "America/New_York"}, // the clocks change on Sundays
		{"0 6 * * mon,sun", []string{"America/New_York"}, dayLong, "America/New_York"},
		{"0 1 * * mon,sun", []string{"America/New_York"}, dayLong - time.Hour, "America/New_York"},
		{"30 1,2 * * *", []string{"Europe/London"}, 30 * time.Minute, "Europe/London"}, // 1:30 is moved to 2:00
		{"0 */2 * * *", []string{"UTC"}, 2 * time.Hour, "UTC"},
		{"0 1-23/2 * * *", []string{"Europe/London"}, time.Hour, "Europe/London"},
		{"0 */2 * * *", []string{"Europe/London"}, time.Hour, "Europe/London"}, // from 0:00 over the gap to 2:00
		{"0 */2 * * *", []string{"Australia/Lord_Howe"}, 2 * time.Hour, "Australia/Lord_Howe"},
		{"15 * * * *", []string{"Australia/Lord_Howe"}, time.Hour, "Australia/Lord_Howe"},
		{"45 * * * *", []string{"Australia/Lord_Howe"}, 30 * time.Minute, "Australia/Lord_Howe"},
		{"0 0 1 * *", []string{"UTC"}, 28 * dayLong, "UTC"},
		{"0 12 1 * *", []string{"Europe/London"}, 28 * dayLong, "Europe/London"},
		{"0 12 1 3,4 *", []string{"Europe/London"}, 31*dayLong - time.Hour, "Europe/London"},
		{"0 0 1 1 *", []string{"UTC"}, 365 * dayLong, "UTC"},
		{"0 0 29 2 *", []string{"UTC"}, 1461 * dayLong, "UTC"},
		{"59 23 28 2 *", []string{"UTC"}, 365 * dayLong, "UTC"},
		{"0 0 29 2 */7", []string{"UTC"}, 28 * 1461 / 4 * dayLong, "UTC"},
		{"0 0 1 * *", nil, 0, ""},
	}
	for _, tt := range tests {
		var zones []*time.Location
		for _, name := range tt.zones {
			zones = append(zones, zone(t, name))
		}
		gap, z := parse(t, tt.pattern).SmallestGap(zones, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		where := ""
		if z != nil {
			where = z.String()
		}
		if gap != tt.want || where != tt.where {
			t.Errorf("SmallestGap of %q in %v = %v in %q, want %v in %q", tt.pattern, tt.zones, gap, where, tt.want, tt.where)
		}
	}
}

// minute is one wall clock minute for the brute-force search.
type minute struct {
	unix   int64
	wall   time.Time // wall clock time, represented in UTC
	repeat bool      // the wall clock showed it before
}

// minutesOf returns the minutes of some days in a zone.
func minutesOf(z *time.Location, from time.Time, days int) []minute {
	var list []minute
	var latest time.Time
	for i := range days * 24 * 60 {
		at := from.Add(time.Duration(i) * time.Minute).In(z)
		wall := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), 0, 0, time.UTC)
		list = append(list, minute{at.Unix(), wall, !wall.After(latest)})
		if wall.After(latest) {
			latest = wall
		}
	}
	return list
}

// slow returns the fires among the minutes by testing each of them.
func slow(p Pattern, minutes []minute) []int64 {
	match := func(w time.Time) bool {
		if p.minutes>>w.Minute()&1 == 0 || p.hours>>w.Hour()&1 == 0 || p.months>>w.Month()&1 == 0 {
			return false
		}
		dom, dow := p.daysOfMonth>>w.Day()&1 == 1, p.daysOfWeek>>w.Weekday()&1 == 1
		if p.dayOfMonthStar || p.dayOfWeekStar {
			return dom && dow
		}
		return dom || dow
	}
	var fires []int64
	latest := minutes[0].wall
	for _, m := range minutes[1:] {
		fire := match(m.wall) && (p.hourStar || !m.repeat)
		if !p.hourStar {
			for skipped := latest.Add(time.Minute); skipped.Before(m.wall); skipped = skipped.Add(time.Minute) {
				fire = fire || match(skipped)
			}
		}
		if m.wall.After(latest) {
			latest = m.wall
		}
		if fire {
			fires = append(fires, m.unix)
		}
	}
	return fires
}

// randomField returns a field, half of the time a star.
func randomField(r *rand.Rand, low, high int) string {
	a, b := low+r.IntN(high-low+1), low+r.IntN(high-low+1)
	switch r.IntN(8) {
	case 0, 1, 2:
		return "*"
	case 3:
		return fmt.Sprintf("*/%d", 1+r.IntN(high/2+1))
	case 4:
		return fmt.Sprintf("%d-%d", min(a, b), max(a, b))
	case 5:
		return fmt.Sprintf("%d-%d/%d", min(a, b), max(a, b), 1+r.IntN(7))
	case 6:
		return fmt.Sprintf("%d,%d", a, b)
	}
	return fmt.Sprint(a)
}

func randomPattern(r *rand.Rand) (string, Pattern) {
	for {
		hours := randomField(r, 0, 23)
		if r.IntN(2) == 0 {
			hours = randomField(r, 0, 3) // when most clocks change
		}
		s := fmt.Sprintf("%s %s %s %s %s", randomField(r, 0, 59), hours, randomField(r, 1, 31), randomField(r, 1, 12), randomField(r, 0, 7))
		if p, err := Parse(s); err == nil {
			return s, p
		}
	}
}

func TestAgainstBruteForce(t *testing.T) {
	const days = 400 // every clock change of a year, and the last day of a leap year
	patterns := 10
	if testing.Short() {
		patterns = 4
	}
	for _, name := range []string{"Europe/London", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC", "Africa/Casablanca", "America/Nuuk"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			z := zone(t, name)
			starts := []time.Time{
				time.Date(2022, 11, 3, 7, 13, 0, 0, time.UTC),  // Nuuk changes its offset permanently in 2023
				time.Date(2039, 12, 30, 22, 0, 0, 0, time.UTC), // by the zone's yearly rule; a leap year begins
			}
			for _, start := range starts {
				minutes := minutesOf(z, start, days)
				end := start.AddDate(0, 0, days)
				for range patterns {
					s, p := randomPattern(r)
					fires := slow(p, minutes)

					var want time.Duration
					for i := 1; i < len(fires); i++ {
						if gap := time.Duration(fires[i]-fires[i-1]) * time.Second; want == 0 || gap < want {
							want = gap
						}
					}
					got, ok := p.smallestGap(z, start.Unix(), end.Unix())
					if ok != (want > 0) || got != want {
						t.Errorf("smallest gap of %q from %v = %v, %v, brute force %v", s, start, got, ok, want)
					}

					at := start
					for i, unix := range fires {
						if i > 100 && !nearChange(z, unix) {
							continue // checking every fire of a dense pattern would take too long
						}
						at = time.Unix(unix-1, 0)
						if i > 0 {
							at = time.Unix(fires[i-1], 0)
						}
						if next := p.Next(at, z); next.Unix() != unix {
							t.Fatalf("Next of %q after %v = %v, brute force %v", s, at.In(z), next, time.Unix(unix, 0).In(z))
						}
					}
				}
			}
		})
	}
}

// nearChange reports whether the zone's offset changes within three hours.
func nearChange(z *time.Location, unix int64) bool {
	_, before := time.Unix(unix-3*3600, 0).In(z).Zone()
	_, after := time.Unix(unix+3*3600, 0).In(z).Zone()
	return before != after
}

// TestSmallestGapOfSparsePatterns checks patterns that are too sparse for a few years of brute force, by calling Next
// over 28 years.
func TestSmallestGapOfSparsePatterns(t *testing.T) {
	from := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	until := from.Add(calendarCycle)
	for _, s := range []string{"30 1 29 3 *", "30 1 25-31 3,10 */7", "0 2 29 2 *", "15 2 1-7 4,10 */7", "0 0 31 * 1", "30 2 * 5,6 0"} {
		for _, name := range []string{"Europe/London", "Australia/Lord_Howe", "Africa/Casablanca"} {
			p, z := parse(t, s), zone(t, name)
			var want time.Duration
			for at := p.Next(from, z); ; {
				next := p.Next(at, z)
				if next.IsZero() || !next.Before(until) {
					break
				}
				if gap := next.Sub(at); want == 0 || gap < want {
					want = gap
				}
				at = next
			}
			if got, _ := p.SmallestGap([]*time.Location{z}, from); got != want {
				t.Errorf("SmallestGap of %q in %s = %v, by Next %v", s, name, got, want)
			}
		}
	}
}

// FuzzPattern checks that the searches end and agree, for any valid pattern at any time.
func FuzzPattern(f *testing.F) {
	f.Add("* * * * *", int64(1_770_000_000))
	f.Add("0 0 29 2 */7", int64(1_861_900_000))
	f.Add("15 */24 2-8 9 */7", int64(0))
	f.Add("30 1 * * *", int64(-5_000_000_000))
	zones := []*time.Location{zone(f, "America/Santiago"), zone(f, "Australia/Lord_Howe")}
	f.Fuzz(func(t *testing.T, s string, unix int64) {
		p, err := Parse(s)
		if err != nil {
			return
		}
		after := time.Unix(unix%(1<<36), 0) // years -200 to 4100
		gap, z := p.SmallestGap(zones, after)
		if z == nil {
			return
		}
		if gap < time.Second {
			t.Fatalf("SmallestGap of %q from %v = %v", s, after, gap)
		}
		first := p.Next(after, z)
		second := p.Next(first, z)
		if !first.After(after) || !second.After(first) || second.Sub(first) < gap {
			t.Fatalf("%q after %v in %v fires at %v and %v, smallest gap %v", s, after, z, first, second, gap)
		}
	})
}

func BenchmarkSmallestGap(b *testing.B) {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, s := range []string{"* * * * *", "*/7 1-23/3 * * *", "0 6 * * mon-fri", "0 0 29 2 */7", "15 */24 2-8 9 */7", "0,59 * * * *"} {
		for _, name := range []string{"America/Santiago", "Africa/Casablanca"} {
			b.Run(s+" "+name, func(b *testing.B) {
				p, zones := parse(b, s), []*time.Location{zone(b, name)}
				for b.Loop() {
					p.SmallestGap(zones, from)
				}
			})
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for _, s := range []string{"* * * * *", "0 6 * * mon-fri", "0 0 29 2 *"} {
		b.Run(s, func(b *testing.B) {
			p, z := parse(b, s), zone(b, "Europe/London")
			from := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
			for b.Loop() {
				p.Next(from, z)
			}
		})
	}
}
