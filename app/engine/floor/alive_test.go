package floor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/station"
	"opsmon/app/test/apptest"
)

// TestHowLongAStationMayBeSilentIsASetting: of one minute as of one hour, time is unknown from the last sign of life before a
// silence that is as long, and only then; however the figures are computed, and when the setting becomes another.
func TestHowLongAStationMayBeSilentIsASetting(t *testing.T) {
	apptest.Long(t)
	for _, timeout := range []time.Duration{time.Minute, time.Hour} {
		t.Run(timeout.String(), func(t *testing.T) {
			r := floortest.New(t, floortest.Manifest)
			set := timeout
			r.Open(func(c *floor.Config) {
				c.Timelines = station.New(station.Config{Accounts: r.Accounts, Store: r.Store, Options: station.Options{AliveTimeout: set.Milliseconds()}})
			})
			want := int64(0)
			for i := range int(9 * time.Hour / timeout) {
				gap := timeout * time.Duration(i%3+1) * 3 / 5 // 0.6, 1.2 and 1.8 of it
				r.Send(floortest.Signal(press, r.Now().UnixMilli(), units(1)))
				r.Pass(gap, timeout/5)
				if is := status(t, r, press).StatusCode == "disconnected"; is != (gap >= timeout) {
					t.Fatalf("after %v disconnected is %v", gap, is)
				} else if is {
					want += gap.Milliseconds()
				}
			}
			r.Send(floortest.Signal(press, r.Now().UnixMilli(), units(1)))
			to := r.Now().UnixMilli() / 60_000 * 60_000
			for r.Now().UnixMilli() < to+timeout.Milliseconds() { // so that all before is known
				r.Pass(timeout/5, 0)
			}
			live := figuresOf(t, r, press, floortest.At(0), to)
			silent := int64(0)
			for _, g := range live.Segments {
				if !g.Known {
					silent += g.End - g.Start
				}
			}
			if silent != want {
				t.Errorf("nothing is known of %d s, want %d", silent/1000, want/1000)
			}
			same := func(how string) {
				t.Helper()
				if diff := cmp.Diff(live, figuresOf(t, r, press, floortest.At(0), to)); diff != "" {
					t.Errorf("%s (-live +computed again): %.1500s", how, diff)
				}
			}
			for from := 8 * time.Hour; from >= 0; from -= 90 * time.Minute {
				if err := r.Floor.Do(floortest.Account, func(w *floor.Work) error { return w.Backfill(press, floortest.At(from)) }); err != nil {
					t.Fatal(err)
				}
				untilComputed(t, r, nil)
				same(fmt.Sprint("from ", from, " on"))
			}
			set = time.Minute + time.Hour - timeout
			r.Reopen()
			r.Pass(2*time.Minute, time.Minute)
			if err := r.Floor.Do(floortest.Account, func(w *floor.Work) error { return w.Backfill(press, floortest.At(0)) }); err != nil {
				t.Fatal(err)
			}
			untilComputed(t, r, nil)
			other := figuresOf(t, r, press, floortest.At(0), to)
			set = timeout
			r.Reopen()
			if err := r.Floor.Do(floortest.Account, func(w *floor.Work) error { return w.Backfill(press, floortest.At(0)) }); err != nil {
				t.Fatal(err)
			}
			untilComputed(t, r, nil)
			same("with another setting and back")
			if cmp.Equal(live, other) {
				t.Error("another setting changes nothing")
			}
			checked(t, r)
		})
	}
}
