package cron

import (
	"iter"
	"math"
	"time"
)

// stretch is a piece of a zone's time line in which its offset does not change.
type stretch struct {
	start, end int64 // Unix seconds, the end not included
	offset     int64 // seconds east of UTC
	seen       int64 // the wall time up to which the clock had come before; below the first reading after a gap
}

// overlap is further back than a wall time can repeat: zones differ by at most 26 hours.
const overlap = 72 * time.Hour

// stretches returns the stretches that cover (after, until), Unix seconds, in order. A few earlier ones come first,
// for what they tell about wall times already seen; callers leave out what does not lie after the instant.
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

// boundary returns an instant after t up to which the zone's offset stays as it is at t, in Unix seconds. Where the
// offset comes from a yearly rule, ZoneBounds ends its answer after 365 days of the year, which on 31 December of a
// leap year is not later than t: then no rule of that year is left, and the answer is the year's end in UTC.
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
