// Package instant is how the API writes and reads moments, and the units that Unix milliseconds are counted in.
package instant

import "time"

// Units of time, ms.
const (
	SecondMs = 1000
	MinuteMs = 60 * SecondMs
	HourMs   = 60 * MinuteMs
	DayMs    = 24 * HourMs
)

// FloorMinute returns the beginning of the minute that a moment is in, both in Unix ms.
func FloorMinute(ms int64) int64 {
	rest := ms % MinuteMs
	if rest < 0 {
		rest += MinuteMs
	}
	return ms - rest
}

// CeilMinute returns the first beginning of a minute that is not before a moment, both in Unix ms.
func CeilMinute(ms int64) int64 { return -FloorMinute(-ms) }

// Layout is how every moment is written: RFC 3339, UTC, milliseconds (decisions.md section 1).
const Layout = "2006-01-02T15:04:05.000Z"

// Format writes a moment as every answer and stored record does: RFC 3339 in UTC with exactly three digits of
// milliseconds, such as 2026-11-20T08:15:30.123Z (decisions.md section 1). What is finer is cut off.
func Format(t time.Time) string { return t.UTC().Format(Layout) }

// FormatMs writes a moment in Unix ms as Format does.
func FormatMs(ms int64) string { return Format(time.UnixMilli(ms)) }

// Parse reads a moment as requests may write it: any RFC 3339 text.
func Parse(text string) (time.Time, error) { return time.Parse(time.RFC3339Nano, text) }

// Time is a point in time: RFC 3339, UTC, with milliseconds.
//
// It is written to JSON as Format does, and read from any RFC 3339 text.
//
//openapi:schema Moment {"type": "string", "format": "date-time",
//openapi:and "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"}
type Time struct{ time.Time }

// Of cuts a moment to milliseconds and sets it in UTC, so that it is equal to what is read back.
func Of(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// OrNil is Of, and nil for the zero time: null in JSON.
func OrNil(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	cut := Of(t)
	return &cut
}

// OfMs is Of for a moment in Unix ms.
func OfMs(ms int64) Time { return Of(time.UnixMilli(ms)) }

// OfMsOrNil is OfMs, and nil for 0: null in JSON.
func OfMsOrNil(ms int64) *Time {
	if ms == 0 {
		return nil
	}
	return new(OfMs(ms))
}

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(t.UTC().Format(`"` + Layout + `"`)), nil }
