package cron

import (
	"fmt"
	"strconv"
	"strings"
)

// manyTimes is the maximum number of times of a day that are listed individually.
const manyTimes = 12

var (
	dayNames   = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
	monthNames = []string{1: "January", 2: "February", 3: "March", 4: "April", 5: "May", 6: "June", 7: "July", 8: "August", 9: "September", 10: "October", 11: "November", 12: "December"}
)

// Words describes in English when the pattern fires: "at 06:00 and 14:00, Monday to Friday". Equivalent patterns have
// the same description.
func (p Pattern) Words() string {
	parts := []string{p.timeWords()}
	if days := p.dayWords(); days != "" {
		parts = append(parts, days)
	}
	if months := valuesOf(p.months, 1, 12); len(months) < 12 {
		parts = append(parts, "in "+list(runs(months, func(m int) string { return monthNames[m] })))
	}
	return strings.Join(parts, ", ")
}

// valuesOf returns the values of a field's bits.
func valuesOf(b uint64, low, high int) (values []int) {
	for v := low; v <= high; v++ {
		if b>>v&1 == 1 {
			values = append(values, v)
		}
	}
	return values
}

// every returns the step if the values are all multiples of a step from 0 below end, and the step divides end.
func every(values []int, end int) (step int, ok bool) {
	if values[0] != 0 || end%len(values) != 0 {
		return 0, false
	}
	step = end / len(values)
	for i, v := range values {
		if v != i*step {
			return 0, false
		}
	}
	return step, true
}

func (p Pattern) timeWords() string {
	minutes, hours := valuesOf(p.minutes, 0, 59), valuesOf(p.hours, 0, 23)
	if len(hours) < 24 && len(minutes)*len(hours) <= manyTimes {
		var times []string
		for _, h := range hours {
			for _, m := range minutes {
				times = append(times, fmt.Sprintf("%02d:%02d", h, m))
			}
		}
		if step, ok := every(hours, 24); !ok || step > 11 || len(minutes) > 1 || len(times) < 4 {
			return "at " + list(times)
		}
	}
	return p.minuteWords(minutes) + hourWords(hours)
}

func (p Pattern) minuteWords(minutes []int) string {
	step, ok := every(minutes, 60)
	switch {
	case ok && step == 1:
		return "every minute"
	case ok && step == 60:
		return "on the hour"
	case ok:
		return fmt.Sprintf("every %d minutes", step)
	case len(minutes) == 1:
		return fmt.Sprintf("at minute %d", minutes[0])
	}
	return "at the minutes " + list(runs(minutes, strconv.Itoa))
}

func hourWords(hours []int) string {
	step, ok := every(hours, 24)
	switch {
	case ok && step == 1:
		return " of every hour"
	case ok:
		return fmt.Sprintf(" of every %s hour from midnight", ordinal(step))
	}
	return " of the hours " + list(runs(hours, func(h int) string { return fmt.Sprintf("%02d", h) }))
}

// dayWords describes the days on which the pattern fires; "" for every day.
func (p Pattern) dayWords() string {
	ofMonth, ofWeek := valuesOf(p.daysOfMonth, 1, 31), valuesOf(p.daysOfWeek, 0, 6)
	var month, week string
	if len(ofMonth) < 31 {
		month = "on day " + list(runs(ofMonth, strconv.Itoa)) + " of the month"
	}
	if len(ofWeek) < 7 {
		week = weekWords(ofWeek)
	}
	switch {
	case month == "" || week == "":
		return month + week
	case p.dayOfMonthStar || p.dayOfWeekStar:
		return month + " where that is " + week
	}
	return month + " and also " + week
}

// weekWords returns the names of days of the week, Monday first; consecutive days become ranges.
func weekWords(days []int) string {
	if days[0] == 0 {
		days = append(days[1:], 7)
	}
	return list(runs(days, func(d int) string { return dayNames[d%7] }))
}

// runs returns the names of values; three or more consecutive ones become "a to b".
func runs(values []int, name func(int) string) (names []string) {
	for i := 0; i < len(values); {
		end := i
		for end+1 < len(values) && values[end+1] == values[end]+1 {
			end++
		}
		if end-i >= 2 {
			names = append(names, name(values[i])+" to "+name(values[end]))
			i = end + 1
			continue
		}
		names = append(names, name(values[i]))
		i++
	}
	return names
}

// list joins names as "a", "a and b", "a, b and c".
func list(names []string) string {
	n := len(names) - 1
	if n == 0 {
		return names[0]
	}
	return strings.Join(names[:n], ", ") + " and " + names[n]
}

func ordinal(n int) string {
	return map[int]string{2: "second", 3: "third", 4: "fourth", 6: "sixth", 8: "eighth", 12: "twelfth"}[n]
}
