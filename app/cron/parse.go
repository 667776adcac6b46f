package cron

import (
	"strconv"
	"strings"
	"unicode/utf8"

	robfig "github.com/robfig/cron/v3"

	"opsmon/app/errdefs"
)

// maxLength is the maximum length of a pattern, in characters. A pattern with every value of every field has fewer
// than 500.
const maxLength = 1000

// field describes one of the five fields.
type field struct {
	name   string
	lowest int
	// highest is the largest accepted value; for the day of week 7, an alternative to 0.
	highest int
	limits  string   // range of values, for a message
	names   []string // names of the values from lowest on
}

// fields returns the five fields in the order of a pattern.
func fields() [5]field {
	return [5]field{
		{name: "minute", highest: 59, limits: "0 to 59"},
		{name: "hour", highest: 23, limits: "0 to 23"},
		{name: "day of month", lowest: 1, highest: 31, limits: "1 to 31"},
		{name: "month", lowest: 1, highest: 12, limits: "1 to 12 or jan to dec",
			names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
		{name: "day of week", highest: 7, limits: "0 to 7 or sun to sat",
			names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
	}
}

// Parse parses a pattern: exactly five fields (minute, hour, day of month, month, day of week) separated by blanks. A
// field is a star, a value, a range (9-17), either with a step (*/15, 9-17/2, 5/20 for 5-59/20), or a list of those.
// Months and days of the week may be written as their first three letters, in any case; both 0 and 7 are Sunday, and
// 7 may end a range. Parse refuses @daily, TZ= and ?, and patterns that can never fire (30 February).
//
// The error is an *errdefs.Error of kind Invalid. Its text is one sentence for the user with the field and its limit:
// "hour must be 0 to 23; it is 24" (http-api.md section 2.3, decisions.md section 3).
func Parse(s string) (Pattern, error) {
	if n := utf8.RuneCountInString(s); n > maxLength {
		return Pattern{}, invalid("must be %d characters or fewer; it has %d", maxLength, n)
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(parts) > 0 && strings.HasPrefix(parts[0], "@") {
		return Pattern{}, invalid("must be five fields (minute, hour, day of month, month, day of week); names such as %s are not accepted", quote(parts[0]))
	}
	if strings.Contains(s, "=") {
		return Pattern{}, invalid("must be five fields (minute, hour, day of month, month, day of week) without a time zone; the plant's zone applies")
	}
	if len(parts) != 5 {
		return Pattern{}, invalid("must have exactly five fields (minute, hour, day of month, month, day of week); it has %d", len(parts))
	}
	for i, f := range fields() {
		plain, err := f.check(parts[i])
		if err != nil {
			return Pattern{}, err
		}
		parts[i] = plain
	}

	parser := robfig.NewParser(robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow)
	parsed, err := parser.Parse(strings.Join(parts, " "))
	schedule, ok := parsed.(*robfig.SpecSchedule)
	if err != nil || !ok {
		return Pattern{}, invalid("must be a cron pattern of five fields; %s is not one", quote(s))
	}
	const starBit = 1 << 63 // the library's own flag, which it does not set for "*/2"
	p := Pattern{
		minutes:        schedule.Minute &^ starBit,
		hours:          schedule.Hour &^ starBit,
		daysOfMonth:    schedule.Dom &^ starBit,
		months:         schedule.Month &^ starBit,
		daysOfWeek:     schedule.Dow &^ starBit,
		hourStar:       strings.HasPrefix(parts[1], "*"),
		dayOfMonthStar: strings.HasPrefix(parts[2], "*"),
		dayOfWeekStar:  strings.HasPrefix(parts[4], "*"),
	}
	if !p.possible() {
		return Pattern{}, invalid("must fire at least once; no month in it has such a day of month")
	}
	return p, nil
}

// possible reports whether a date matches. Every day of the week occurs in every month and, over the years, on every
// date.
func (p Pattern) possible() bool {
	if !p.dayOfMonthStar && !p.dayOfWeekStar {
		return true
	}
	lengths := [13]int{1: 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	for month := 1; month <= 12; month++ {
		if p.months>>month&1 == 1 && p.daysOfMonth&(1<<(lengths[month]+1)-1) != 0 {
			return true
		}
	}
	return false
}

// check validates a field's text and returns it in a form for the library, which does not accept 7 for Sunday.
func (f field) check(text string) (string, error) {
	items := strings.Split(text, ",")
	for i, item := range items {
		plain, err := f.checkItem(text, item)
		if err != nil {
			return "", err
		}
		items[i] = plain
	}
	return strings.Join(items, ","), nil
}

// checkItem is check for one element of a field's list.
func (f field) checkItem(text, item string) (string, error) {
	if item == "" {
		return "", invalid("%s must not have an empty place in its list; it is %s", f.name, quote(text))
	}
	values, stepText, stepped := strings.Cut(item, "/")
	step := 1
	if stepped {
		var ok bool
		if step, ok = number(stepText); !ok || step < 1 {
			return "", invalid("%s step must be a number, 1 or more; it is %s", f.name, quote(stepText))
		}
	}
	if values == "*" {
		return item, nil
	}
	if strings.Contains(values, "?") {
		return "", invalid("%s must be %s; %s is not accepted, * stands for any", f.name, f.limits, quote(values))
	}
	low, high, err := f.bounds(values, stepped)
	if err != nil {
		return "", err
	}
	if f.highest != 7 || high < 7 {
		return item, nil
	}
	var list []string
	for v := low; v <= high; v += step {
		list = append(list, strconv.Itoa(v%7))
	}
	return strings.Join(list, ","), nil
}

// bounds parses a value or a range. A single value with a step is a range to the field's end.
func (f field) bounds(values string, stepped bool) (low, high int, err error) {
	lowText, highText, ranged := strings.Cut(values, "-")
	if low, err = f.value(lowText); err != nil {
		return 0, 0, err
	}
	switch {
	case ranged:
		if high, err = f.value(highText); err != nil {
			return 0, 0, err
		}
		if f.highest == 7 && high == 0 && low > 0 && strings.EqualFold(highText, "sun") {
			high = 7 // fri-sun
		}
		if high < low {
			return 0, 0, invalid("%s must be a range that runs upwards; it is %s", f.name, quote(values))
		}
		return low, high, nil
	case stepped && f.highest == 7:
		return low, max(low, 6), nil // 7 would duplicate Sunday
	case stepped:
		return low, max(low, f.highest), nil
	}
	return low, low, nil
}

// value parses a number or a name.
func (f field) value(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(name, text) {
			return f.lowest + i, nil
		}
	}
	v, ok := number(text)
	if !ok {
		return 0, invalid("%s must be %s; it is %s", f.name, f.limits, quote(text))
	}
	if v < f.lowest || v > f.highest {
		return 0, invalid("%s must be %s; it is %d", f.name, f.limits, v)
	}
	return v, nil
}

// number parses one to nine decimal digits; strconv would accept a sign.
func number(text string) (int, bool) {
	if text == "" || len(text) > 9 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	v, err := strconv.Atoi(text)
	return v, err == nil
}

// quote returns a quoted part of the user's text, shortened, and without unprintable characters.
func quote(text string) string {
	return strconv.Quote(errdefs.ShortenTo(text, 20))
}

func invalid(format string, args ...any) error {
	return errdefs.New(errdefs.Invalid, format, args...)
}
