package floor_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/kv"
)

// TestAPanicFarBackIsOneStationsError: a station whose staged run panics, where it is computed or where it is
// committed, is logged, rests and is computed later; the other stations are followed on with all that they know.
func TestAPanicFarBackIsOneStationsError(t *testing.T) {
	for _, where := range []string{"computed", "committed"} {
		t.Run(where, func(t *testing.T) {
			var log bytes.Buffer
			panics := false
			r := floortest.New(t, floortest.Manifest).Open(func(c *floor.Config) {
				c.Log = slog.New(slog.NewTextHandler(&log, nil))
				c.Findings = func(_ *kv.Tx, _, code string, _ []monitor.Issue) ([]monitor.Finding, error) {
					if panics && code == press {
						panic("a finding makes no sense")
					}
					return nil, nil
				}
			})
			weeks(t, r, 20)
			if err := r.Floor.Slots(floortest.Account, 4); err != nil {
				t.Fatal(err)
			}
			r.Send(floortest.Signal("PACK", 0, units(4)))
			r.Pass(time.Second, 0)
			from, to := floortest.At(0), floortest.At(20*24*time.Hour)
			before := figuresOf(t, r, press, from, to)
			packed, packing := r.Floor.Tracker(floortest.Account, "PACK"), status(t, r, "PACK")
			r.Send(floortest.Signal(press, floortest.At(24*time.Hour+time.Minute), units(70)))
			r.Pass(time.Second, 0) // the first step or more
			if where == "committed" {
				panics = true
			} else if !r.Floor.BreakRun(floortest.Account, press) {
				t.Fatal("no staged run goes on")
			}
			r.Pass(time.Second, 0)
			panics = false
			failed := strings.Count(log.String(), "the station PRESS cannot be recomputed; retrying")
			if failed != 1 || !strings.Contains(log.String(), "panic: ") || strings.Contains(log.String(), "they are read again") {
				t.Errorf("the log has:\n%.2000s", log.String())
			}
			if r.Floor.Tracker(floortest.Account, "PACK") != packed {
				t.Error("another station was read again")
			}
			if got := status(t, r, "PACK"); got.StatusCode != packing.StatusCode {
				t.Errorf("another station is %s, and was %s", got.StatusCode, packing.StatusCode)
			}
			if diff := cmp.Diff(before, figuresOf(t, r, press, from, to)); diff != "" {
				t.Errorf("the station's figures changed: %.1000s", diff)
			}
			untilComputed(t, r, func() { r.Pause(time.Hour) })
			if got, want := goodOf(figuresOf(t, r, press, from, to)), goodOf(before)+70_000_000; got != want {
				t.Errorf("%d millionths of units in the end, want %d", got, want)
			}
			checked(t, r)
		})
	}
}

// TestAStopIsHeardInTheMiddleOfABackfill: a service that stops while years are computed computes no further day, and
// after the next start the run goes on behind the last day that was committed.
func TestAStopIsHeardInTheMiddleOfABackfill(t *testing.T) {
	days, stopped := 0, make(chan struct{})
	stop := func() {}
	r := floortest.New(t, floortest.Manifest).Open(func(c *floor.Config) {
		c.Findings = func(*kv.Tx, string, string, []monitor.Issue) ([]monitor.Finding, error) {
			days++
			stop()
			return nil, nil
		}
	})
	weeks(t, r, 60)
	from, to := floortest.At(0), floortest.At(60*24*time.Hour)
	before := figuresOf(t, r, press, from, to)
	if err := r.Floor.Takes(floortest.Account, 0); err != nil {
		t.Fatal(err)
	}
	days = 0
	stop = func() {
		if days == 20 {
			go func() {
				r.Floor.Close()
				close(stopped)
			}()
			time.Sleep(50 * time.Millisecond) // until the worker can know of it
		}
	}
	r.Send(floortest.Signal(press, floortest.At(24*time.Hour), units(70)))
	select {
	case <-stopped:
	case <-time.After(10 * time.Second):
		t.Fatal("the service goes on")
	}
	if days < 20 || days > 21 {
		t.Errorf("%d days were computed, and the stop came at the 20th", days)
	}
	stop = func() {}
	days = 0
	r.Reopen()
	if err := r.Floor.Takes(floortest.Account, 0); err != nil { // else a busy machine takes several hours, which are summed, too
		t.Fatal(err)
	}
	r.Pass(time.Second, 0)
	untilComputed(t, r, func() { r.Pause(time.Hour) })
	if days < 30 || days > 50 {
		t.Errorf("%d days were computed after the start, of about 40 that were left", days)
	}
	if got, want := goodOf(figuresOf(t, r, press, from, to)), goodOf(before)+70_000_000; got != want {
		t.Errorf("%d millionths of units, want %d", got, want)
	}
}
