package audit

import "time"

// Layout is how every moment is written: RFC 3339, UTC, milliseconds (decisions.md section 1).
const Layout = "2006-01-02T15:04:05.000Z"

// Timestamp writes a moment as every answer and stored record does: RFC 3339 in UTC with exactly three digits
// of milliseconds, such as 2026-11-20T08:15:30.123Z (decisions.md section 1). What is finer is cut off.
func Timestamp(t time.Time) string { return t.UTC().Format(Layout) }

// Time is a point in time: RFC 3339, in UTC, with milliseconds.
//
// It is written to JSON as Timestamp does, and read from any RFC 3339 text.
//
//openapi:schema Moment {"type": "string", "format": "date-time",
//openapi:and "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"}
type Time struct{ time.Time }

// TimeOf cuts a moment to milliseconds and sets it in UTC, so that it is equal to what is read back.
func TimeOf(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// TimeOrNil is TimeOf, and nil for the zero time: null in JSON.
func TimeOrNil(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	cut := TimeOf(t)
	return &cut
}

// AtMs is TimeOf for a moment in Unix ms.
func AtMs(ms int64) Time { return TimeOf(time.UnixMilli(ms)) }

// AtMsOrNil is AtMs, and nil for 0: null in JSON.
func AtMsOrNil(ms int64) *Time {
	if ms == 0 {
		return nil
	}
	return new(AtMs(ms))
}

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(t.UTC().Format(`"` + Layout + `"`)), nil }
