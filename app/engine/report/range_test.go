package report

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

func TestParseRange(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	// Production days begin at six: half past five on Friday belongs to Thursday.
	c := calendar.NewCalendar(calendar.CalendarConfig{Zone: berlin, DayStartHour: 6})
	now := time.Date(2026, 11, 20, 4, 30, 0, 0, time.UTC).UnixMilli()
	const most = 366 * 24 * time.Hour
	for _, tt := range []struct{ query, from, to string }{
		{"rangecode=today", "2026-11-19T05:00:00.000Z", "2026-11-20T05:00:00.000Z"},
		{"rangecode=yesterday", "2026-11-18T05:00:00.000Z", "2026-11-19T05:00:00.000Z"},
		{"rangecode=week", "2026-11-16T05:00:00.000Z", "2026-11-23T05:00:00.000Z"},
		{"rangecode=last7d", "2026-11-13T05:00:00.000Z", "2026-11-20T05:00:00.000Z"},
		{"rangecode=month", "2026-11-01T05:00:00.000Z", "2026-12-01T05:00:00.000Z"},
		{"rangecode=2026-11-20T06:00:00Z/2026-11-20T14:00:00.5%2B01:00", "2026-11-20T06:00:00.000Z", "2026-11-20T13:00:00.500Z"},
		{"rangecode=2026-10-25/2026-10-25", "2026-10-25T05:00:00.000Z", "2026-10-26T05:00:00.000Z"},
		{"rangecode=2026-10-24/2026-10-24", "2026-10-24T04:00:00.000Z", "2026-10-25T05:00:00.000Z"}, // clocks go back
		{"from=2026-11-19T00:00:00Z", "2026-11-19T00:00:00.000Z", "2026-11-20T04:30:00.000Z"},
		// a plus decoded as a space
		{"from=2026-11-19T00:00:00+01:00", "2026-11-18T23:00:00.000Z", "2026-11-20T04:30:00.000Z"},
		{"from=2026-11-01&to=2026-11-30", "2026-11-01T05:00:00.000Z", "2026-12-01T05:00:00.000Z"},
	} {
		q, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		r, ok, err := ParseRange(q.Get("rangecode"), q.Get("from"), q.Get("to"), c, now, most)
		if from, to := instant.FormatMs(r.Start), instant.FormatMs(r.End); err != nil || !ok || from != tt.from || to != tt.to {
			t.Errorf("%s: %s to %s, %v, want %s to %s", tt.query, from, to, err, tt.from, tt.to)
		}
	}
	for _, tt := range []struct{ query, want string }{
		{"rangecode=tomorrow", `rangecode must be today, yesterday, week, last7d, month or two times with a slash between them, such as 2026-11-20T06:00:00Z/2026-11-20T14:00:00Z; it is "tomorrow"`},
		{"rangecode=today&from=2026-11-20", "rangecode must not be given together with from and to"},
		{"rangecode=2026-11-20/", `rangecode must be a time such as 2026-11-20T08:15:30Z or a date such as 2026-11-20, from 1970 to 9999; it is ""`},
		{"rangecode=2026-11-21/2026-11-20T00:00:00Z", "rangecode must be later than the beginning of the range, 2026-11-21T05:00:00.000Z; it is 2026-11-20T00:00:00.000Z"},
		{"to=2026-11-20", "from must be given where to is"},
		{"from=2026-13-20", `from must be a time such as 2026-11-20T08:15:30Z or a date such as 2026-11-20, from 1970 to 9999; it is "2026-13-20"`},
		{"from=1969-12-31", `from must be a time such as 2026-11-20T08:15:30Z or a date such as 2026-11-20, from 1970 to 9999; it is "1969-12-31"`},
		{"from=2026-11-20T04:30:00Z", "to must be later than the beginning of the range, 2026-11-20T04:30:00.000Z; it is 2026-11-20T04:30:00.000Z"},
		{"from=2026-11-20T05:00:00Z&to=2026-11-20T04:00:00Z", "to must be later than the beginning of the range, 2026-11-20T05:00:00.000Z; it is 2026-11-20T04:00:00.000Z"},
		{"from=1976-11-20T05:00:00Z&to=2026-11-20T05:00:00Z", "from must make a range of 366 days or less; it is one of 18262 days"},
		{"from=1970-01-01&to=9999-12-31", "from must make a range of 366 days or less; it is one of 2932897 days"},
	} {
		q, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		if r, ok, err := ParseRange(q.Get("rangecode"), q.Get("from"), q.Get("to"), c, now, most); err == nil || ok || strings.TrimPrefix(err.Error(), "the query has a problem: ") != tt.want {
			t.Errorf("%s: %v %v, %v, want %s", tt.query, r, ok, err, tt.want)
		}
	}
	if _, ok, err := ParseRange("", "", "", c, now, most); ok || err != nil {
		t.Errorf("no range at all: %v, %v", ok, err)
	}
}

// FuzzParseRange: every input is a range within the limits, or refused with the invalid field.
func FuzzParseRange(f *testing.F) {
	for _, s := range [][3]string{{"today"}, {"2026-11-20/2026-11-21"}, {"2026-11-20T06:00:00Z/2026-11-20T14:00:00.5+01:00"}, {"", "2026-11-19", "2026-11-20T00:00:00Z"}, {"/", "0", "9999-12-31T23:59:59-23:59"}, {"", "1970-01-01", ""}} {
		f.Add(s[0], s[1], s[2])
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	c := calendar.NewCalendar(calendar.CalendarConfig{Zone: berlin, DayStartHour: 6})
	now := time.Date(2026, 11, 20, 4, 30, 0, 0, time.UTC).UnixMilli()
	f.Fuzz(func(t *testing.T, code, from, to string) {
		const most = 40 * 24 * time.Hour
		r, ok, err := ParseRange(code, from, to, c, now, most)
		if err != nil {
			var e *errdefs.Error
			if ok || !errors.As(err, &e) || e.Kind != errdefs.Invalid || len(e.Details) == 0 || len(e.Details) > 2 || e.Details[0].Field == "" {
				t.Errorf("%q %q %q: %v, %v", code, from, to, ok, err)
			}
			return
		}
		if ok != (code+from+to != "") || ok && (r.Start >= r.End || r.End-r.Start > most.Milliseconds()) {
			t.Errorf("%q %q %q: %v, %v", code, from, to, r, ok)
		}
	})
}
