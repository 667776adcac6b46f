package cron

import (
	"strings"
	"testing"

	robfig "github.com/robfig/cron/v3"

	"opsmon/app/errdefs"
)

func set(values ...int) uint64 {
	var s uint64
	for _, v := range values {
		s |= 1 << v
	}
	return s
}

func rangeSet(low, high int) uint64 {
	var s uint64
	for v := low; v <= high; v++ {
		s |= 1 << v
	}
	return s
}

func TestParse(t *testing.T) {
	anyMinute, anyHour := rangeSet(0, 59), rangeSet(0, 23)
	anyDay, anyMonth, anyWeekday := rangeSet(1, 31), rangeSet(1, 12), rangeSet(0, 6)
	tests := []struct {
		text string
		want Pattern
	}{
		{"* * * * *", Pattern{anyMinute, anyHour, anyDay, anyMonth, anyWeekday, true, true, true}},
		{" \t0   6\t1  1 1 ", Pattern{set(0), set(6), set(1), set(1), set(1), false, false, false}},
		{"*/15 */6 */10 */6 */3", Pattern{set(0, 15, 30, 45), set(0, 6, 12, 18), set(1, 11, 21, 31), set(1, 7), set(0, 3, 6), true, true, true}},
		{"0,30 9-17/4 1,15 jan,JUL mon-fri", Pattern{set(0, 30), set(9, 13, 17), set(1, 15), set(1, 7), rangeSet(1, 5), false, false, false}},
		{"05 08 * * 7", Pattern{set(5), set(8), anyDay, anyMonth, set(0), false, true, false}},
		{"0 0 * * 5-7", Pattern{set(0), set(0), anyDay, anyMonth, set(5, 6, 0), false, true, false}},
		{"0 0 * * 1-7", Pattern{set(0), set(0), anyDay, anyMonth, anyWeekday, false, true, false}},
		{"0 0 * * 0-7/2", Pattern{set(0), set(0), anyDay, anyMonth, set(0, 2, 4, 6), false, true, false}},
		{"0 0 * * 1-7/3", Pattern{set(0), set(0), anyDay, anyMonth, set(1, 4, 0), false, true, false}},
		{"0 0 * * 3,7", Pattern{set(0), set(0), anyDay, anyMonth, set(3, 0), false, true, false}},
		{"0 0 * * 7-7", Pattern{set(0), set(0), anyDay, anyMonth, set(0), false, true, false}},
		{"0 0 * * 7/2", Pattern{set(0), set(0), anyDay, anyMonth, set(0), false, true, false}},
		{"0 0 * * 1/2", Pattern{set(0), set(0), anyDay, anyMonth, set(1, 3, 5), false, true, false}},
		{"0 0 * * fri-sun", Pattern{set(0), set(0), anyDay, anyMonth, set(5, 6, 0), false, true, false}},
		{"0 0 * * sun-tue", Pattern{set(0), set(0), anyDay, anyMonth, set(0, 1, 2), false, true, false}},
		{"5/20 0 * * *", Pattern{set(5, 25, 45), set(0), anyDay, anyMonth, anyWeekday, false, true, true}},
		{"0 */24 * * *", Pattern{set(0), set(0), anyDay, anyMonth, anyWeekday, true, true, true}},
		{"0 0-23 1-31 * 0-6", Pattern{set(0), anyHour, anyDay, anyMonth, anyWeekday, false, false, false}},
		{"0 0 29 2 *", Pattern{set(0), set(0), set(29), set(2), anyWeekday, false, false, true}},
		{"0 0 30 2 1", Pattern{set(0), set(0), set(30), set(2), set(1), false, false, false}},
		{"0 0 31 2,4,5 *", Pattern{set(0), set(0), set(31), set(2, 4, 5), anyWeekday, false, false, true}},
		{strings.TrimSuffix(strings.Repeat("59,", 60), ",") + " 0 * * *", Pattern{set(59), set(0), anyDay, anyMonth, anyWeekday, false, true, true}},
	}
	for _, tt := range tests {
		got, err := Parse(tt.text)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.text, err)
		} else if got != tt.want {
			t.Errorf("Parse(%q)\n got %+v\nwant %+v", tt.text, got, tt.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const count = "must have exactly five fields (minute, hour, day of month, month, day of week); it has "
	const five = "must be five fields (minute, hour, day of month, month, day of week)"
	tests := []struct{ text, want string }{
		{"", count + "0"},
		{"   ", count + "0"},
		{"* * * *", count + "4"},
		{"* * * * * *", count + "6"},
		{"@daily", five + `; names such as "@daily" are not accepted`},
		{"@every 1h", five + `; names such as "@every" are not accepted`},
		{"TZ=UTC", five + " without a time zone; the plant's zone applies"},
		{"TZ=UTC * * * * *", five + " without a time zone; the plant's zone applies"},
		{"CRON_TZ=Asia/Tokyo * * * *", five + " without a time zone; the plant's zone applies"},
		{"60 * * * *", "minute must be 0 to 59; it is 60"},
		{"* 24 * * *", "hour must be 0 to 23; it is 24"},
		{"* * 0 * *", "day of month must be 1 to 31; it is 0"},
		{"* * 32 * *", "day of month must be 1 to 31; it is 32"},
		{"* * * 13 *", "month must be 1 to 12 or jan to dec; it is 13"},
		{"* * * january *", `month must be 1 to 12 or jan to dec; it is "january"`},
		{"* * * * 8", "day of week must be 0 to 7 or sun to sat; it is 8"},
		{"* * * * jan", `day of week must be 0 to 7 or sun to sat; it is "jan"`},
		{"mon * * * *", `minute must be 0 to 59; it is "mon"`},
		{"* * ? * *", `day of month must be 1 to 31; "?" is not accepted, * stands for any`},
		{"+5 * * * *", `minute must be 0 to 59; it is "+5"`},
		{"-5 * * * *", `minute must be 0 to 59; it is ""`},
		{"1--5 * * * *", `minute must be 0 to 59; it is "-5"`},
		{"1-2-3 * * * *", `minute must be 0 to 59; it is "2-3"`},
		{"*-5 * * * *", `minute must be 0 to 59; it is "*"`},
		{"** * * * *", `minute must be 0 to 59; it is "**"`},
		{"1.5 * * * *", `minute must be 0 to 59; it is "1.5"`},
		{"١ * * * *", `minute must be 0 to 59; it is "١"`},
		{"9999999999 * * * *", `minute must be 0 to 59; it is "9999999999"`},
		{"0 17-9 * * *", `hour must be a range that runs upwards; it is "17-9"`},
		{"0 0 * * 7-2", `day of week must be a range that runs upwards; it is "7-2"`},
		{"*/0 * * * *", `minute step must be a number, 1 or more; it is "0"`},
		{"*/ * * * *", `minute step must be a number, 1 or more; it is ""`},
		{"*/5/5 * * * *", `minute step must be a number, 1 or more; it is "5/5"`},
		{"*/-5 * * * *", `minute step must be a number, 1 or more; it is "-5"`},
		{"1,,2 * * * *", `minute must not have an empty place in its list; it is "1,,2"`},
		{", * * * *", `minute must not have an empty place in its list; it is ","`},
		{"0\n0 * * * *", `minute must be 0 to 59; it is "0\n0"`},
		{"0 0 * * *\n", `day of week must be 0 to 7 or sun to sat; it is "*\n"`},
		{"0 0 30 2 *", "must fire at least once; no month in it has such a day of month"},
		{"0 0 31 2,4,6,9,11 *", "must fire at least once; no month in it has such a day of month"},
		{"0 0 30 2 */2", "must fire at least once; no month in it has such a day of month"},
		{strings.Repeat("x", 50) + " * * * *", `minute must be 0 to 59; it is "xxxxxxxxxxxxxxxxxxxx…"`},
		{strings.Repeat("é", 1001), "must be 1000 characters or fewer; it has 1001"},
	}
	for _, tt := range tests {
		_, err := Parse(tt.text)
		if err == nil {
			t.Errorf("Parse(%q) accepted it, want %q", tt.text, tt.want)
			continue
		}
		if err.Error() != tt.want {
			t.Errorf("Parse(%q)\n got %q\nwant %q", tt.text, err, tt.want)
		}
		if errdefs.KindOf(err) != errdefs.Invalid {
			t.Errorf("Parse(%q) gives an error of kind %v", tt.text, errdefs.KindOf(err))
		}
	}
}

// FuzzParse checks that Parse never panics, and that the library accepts every accepted pattern, with the same bits
// as for the original text if it accepts that too.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"* * * * *", "*/15 9-17 1,15 jan-mar mon-fri", "0 0 29 2 *", "5/20 0 * * 5-7", "TZ=UTC", "@daily", "0 0 30 2 1", "59 23 31 12 7"} {
		f.Add(s)
	}
	library := robfig.NewParser(robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow)
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Parse(s)
		if err != nil {
			if errdefs.KindOf(err) != errdefs.Invalid || strings.Contains(err.Error(), "must be a cron pattern") {
				t.Fatalf("Parse(%q): %v", s, err)
			}
			return
		}
		if p.minutes == 0 || p.hours == 0 || p.daysOfMonth == 0 || p.months == 0 || p.daysOfWeek == 0 {
			t.Fatalf("Parse(%q) = %+v, a field without values", s, p)
		}
		if strings.Contains(s, "7") || strings.Contains(strings.ToLower(s), "sun") {
			return
		}
		parsed, err := library.Parse(s)
		if err != nil {
			t.Fatalf("the library refuses %q: %v", s, err)
		}
		const star = 1 << 63
		want := parsed.(*robfig.SpecSchedule)
		if p.minutes != want.Minute&^star || p.hours != want.Hour&^star || p.daysOfMonth != want.Dom&^star || p.months != want.Month&^star || p.daysOfWeek != want.Dow&^star {
			t.Fatalf("Parse(%q) = %+v, the library has %+v", s, p, want)
		}
	})
}
