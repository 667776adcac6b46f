package report

import (
	"testing"
	"time"
)

func TestStepOf(t *testing.T) {
	for _, tt := range []struct {
		length time.Duration
		points int
		want   time.Duration
	}{
		{time.Minute, 1, time.Minute},
		{25 * time.Hour, 1500, time.Minute},
		{25*time.Hour + time.Minute, 1500, 2 * time.Minute},
		{31 * 24 * time.Hour, 1500, 30 * time.Minute},
		{366 * 24 * time.Hour, 1500, 6 * time.Hour},
		{366 * 24 * time.Hour, 366, 24 * time.Hour},
		{366 * 24 * time.Hour, 365, 48 * time.Hour},
		{366 * 24 * time.Hour, 1, 366 * 24 * time.Hour},
		{0, 1500, time.Minute},
	} {
		if got := stepOf(tt.length.Milliseconds(), tt.points); got != tt.want.Milliseconds() {
			t.Errorf("%s in %d points: %s, want %s", tt.length, tt.points, time.Duration(got)*time.Millisecond, tt.want)
		}
	}
}
