// Package instant formats and parses the API's moments, and defines units of time in milliseconds.
package instant

import "time"

// Units of time, ms.
const (
	SecondMs = 1000
	MinuteMs = 60 * SecondMs
	HourMs   = 60 * MinuteMs
	DayMs    = 24 * HourMs
)

// FloorMinute returns the start of the minute of a moment, both in Unix ms.
func FloorMinute(ms int64) int64 {
	rest := ms % MinuteMs
	if rest < 0 {
		rest += MinuteMs
	}
	return ms - rest
}

// CeilMinute returns the first start of a minute that is not before a moment, both in Unix ms.
func CeilMinute(ms int64) int64 { return -FloorMinute(-ms) }

// Layout is the format of every moment: RFC 3339, UTC, milliseconds (decisions.md section 1).
const Layout = "2006-01-02T15:04:05.000Z"

// Format formats a moment as in every answer and stored record: RFC 3339 in UTC with exactly three digits of
// milliseconds, such as 2026-11-20T08:15:30.123Z (decisions.md section 1). It truncates smaller fractions.
func Format(t time.Time) string { return t.UTC().Format(Layout) }

// FormatMs is Format for a moment in Unix ms.
func FormatMs(ms int64) string { return Format(time.UnixMilli(ms)) }

// Parse parses a moment in a request: any RFC 3339 text.
func Parse(text string) (time.Time, error) { return time.Parse(time.RFC3339Nano, text) }

// Time is a point in time: RFC 3339, UTC, with milliseconds.
//
// It is written to JSON as Format does, and read from any RFC 3339 text.
//
//openapi:schema Moment {"type": "string", "format": "date-time",
//openapi:and "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"}
type Time struct{ time.Time }

// Of converts a moment to UTC and truncates it to milliseconds, which makes it equal to its stored form.
func Of(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// OrNil is Of, but nil for the zero time: null in JSON.
func OrNil(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	cut := Of(t)
	return &cut
}

// OfMs is Of for a moment in Unix ms.
func OfMs(ms int64) Time { return Of(time.UnixMilli(ms)) }

// OfMsOrNil is OfMs, but nil for 0: null in JSON.
func OfMsOrNil(ms int64) *Time {
	if ms == 0 {
		return nil
	}
	return new(OfMs(ms))
}

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(t.UTC().Format(`"` + Layout + `"`)), nil }
