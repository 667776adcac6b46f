package cron

import (
	"iter"
	"math"
	"time"
)

// stretch is a period in which a zone's offset does not change.
type stretch struct {
	start, end int64 // Unix seconds, end exclusive
	offset     int64 // seconds east of UTC
	seen       int64 // the wall time that the clock had already reached; after a gap, it is before the first wall time
}

// overlap is longer than any repetition of wall time: offsets differ by at most 26 hours.
const overlap = 72 * time.Hour

// stretches returns the stretches that cover (after, until), Unix seconds, in order. A few earlier ones come first,
// to determine which wall times have occurred before; callers ignore what precedes after.
func stretches(zone *time.Location, after, until int64) iter.Seq[stretch] {
	return func(yield func(stretch) bool) {
		t := time.Unix(after, 0).Add(-overlap).In(zone)
		_, offset := t.Zone()
		seen := t.Unix() + int64(offset) // the first stretch neither repeats nor skips anything
		for t.Unix() < until {
			_, offset = t.Zone()
			s := stretch{start: t.Unix(), end: min(boundary(t), until), offset: int64(offset), seen: seen}
			if !yield(s) {
				return
			}
			seen = max(seen, s.end+s.offset)
			t = time.Unix(s.end, 0).In(zone)
		}
	}
}

// boundary returns an instant after t until which the zone's offset does not change, in Unix seconds. If the offset
// follows a yearly rule, ZoneBounds returns at most 365 days of the year, which on 31 December of a leap year is not
// after t: then no rule of that year remains, and boundary returns the year's end in UTC.
func boundary(t time.Time) int64 {
	_, end := t.ZoneBounds()
	if end.IsZero() {
		return math.MaxInt64
	}
	if !end.After(t) {
		return time.Date(t.UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
	}
	return end.Unix()
}
