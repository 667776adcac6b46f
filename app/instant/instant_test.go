package instant

import (
	"encoding/json"
	"testing"
	"time"
)

func TestTimes(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 15, 30, 123_999_999, time.FixedZone("", 3600))
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{now, "2026-11-20T08:15:30.123Z"},
		{time.Date(2026, 1, 2, 3, 4, 5, 100_000_000, time.UTC), "2026-01-02T03:04:05.100Z"},
		{time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), "9999-12-31T23:59:59.000Z"},
	} {
		if got := Format(c.at); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		text, err := json.Marshal(Of(c.at))
		if err != nil || string(text) != `"`+c.want+`"` {
			t.Errorf("%s, %v, want %s", text, err, c.want)
		}
		var read Time
		if err := json.Unmarshal(text, &read); err != nil || read != Of(c.at) {
			t.Errorf("%v is read back as %v, %v", Of(c.at), read, err)
		}
	}
	if OrNil(time.Time{}) != nil || *OrNil(now) != Of(now) {
		t.Error("OrNil")
	}
}

func TestMinutes(t *testing.T) {
	for ms, want := range map[int64][2]int64{
		0: {0, 0}, 1: {0, 60_000}, 59_999: {0, 60_000}, 60_000: {60_000, 60_000}, -1: {-60_000, 0},
	} {
		if floor, ceil := FloorMinute(ms), CeilMinute(ms); floor != want[0] || ceil != want[1] {
			t.Errorf("%d is from %d to %d, want %v", ms, floor, ceil, want)
		}
	}
}
