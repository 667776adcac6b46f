package floor_test

import (
	"strings"
	"testing"
	"time"

	"opsmon/app/engine/floor"
	"opsmon/app/errdefs"
)

func TestMoment(t *testing.T) {
	const now = int64(1_772_438_400_000) // 2026-03-02 08:00
	for _, tt := range []struct {
		after time.Duration
		want  time.Duration
		ok    bool
	}{
		{0, 0, true}, {-time.Millisecond, -time.Millisecond, true}, {2 * time.Minute, 0, true}, {2*time.Minute + time.Millisecond, 0, false},
		{-24 * time.Hour, -24 * time.Hour, true}, {-24*time.Hour - time.Millisecond, 0, false},
	} {
		at := now + tt.after.Milliseconds()
		got, err := floor.Moment("at", &at, now)
		if (err == nil) != tt.ok || tt.ok && got != now+tt.want.Milliseconds() {
			t.Errorf("%v from now: %d, %v", tt.after, got-now, err)
		}
		if err != nil && (errdefs.KindOf(err) != errdefs.Invalid || !strings.HasPrefix(err.Error(), "at must not be")) {
			t.Errorf("%v from now: %v", tt.after, err)
		}
	}
	if got, err := floor.Moment("at", nil, now); err != nil || got != now {
		t.Errorf("without one: %d, %v", got, err)
	}
}
