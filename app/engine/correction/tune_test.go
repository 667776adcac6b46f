package correction

import (
	"context"
	"errors"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/errdefs"
	"opsmon/app/idempotency"
	"opsmon/app/ingest/signal"
)

// inBin returns the bin of a length.
func inBin(l Lengths, ms int64) Bin {
	for _, b := range l.Bins {
		if ms >= b.FromMs && (b.ToMs == nil || ms < *b.ToMs) {
			return b
		}
	}
	return Bin{}
}

// TestTune tries settings on the two hours of newPlant, which have a stop of ten minutes: first on the whole range,
// then on a part that begins in the middle of an hour.
func TestTune(t *testing.T) {
	r, s := newPlant(t)
	before := sums(t, r)
	const ten = 10 * 60_000
	got, err := s.Tune(t.Context(), person(auth.Supervisor), input(t, 0, 2*time.Hour, `{"station":{"utilisationDowntimeThreshold":600001}}`, "PRESS"))
	if err != nil {
		t.Fatal(err)
	}
	if b := got.Before; b.Figures.DowntimeMs != ten || *b.Figures.Availability != 110./120 || b.Figures.GoodCount != 3000 || b.Stops.Count != 1 || b.Stops.TotalMs != ten || inBin(b.Stops, ten).Count != 1 || inBin(b.Stops, ten).TotalMs != ten {
		t.Errorf("before: %+v", b)
	}
	if a := got.After; a.Figures.DowntimeMs != 0 || *a.Figures.Availability != 1 || *a.Figures.TargetCount != 7200 || a.Stops.Count != 0 || a.Stops.TotalMs != 0 {
		t.Errorf("after: %+v", a)
	}
	// Productive lasts for 25 minutes from each signal: from 8:00 to 8:45. The stop after it lasts to the end.
	if got, err = s.Tune(t.Context(), person(auth.Supervisor), input(t, 5*time.Minute, 2*time.Hour, `{"station":{"productiveHoldOnTime":1500000}}`, "PRESS")); err != nil {
		t.Fatal(err)
	}
	if b, a := got.Before, got.After; b.Figures.ScheduledProductionMs != 115*60_000 || b.Figures.DowntimeMs != ten || a.Figures.ScheduledProductionMs != 115*60_000 || a.Stops.Count != 2 {
		t.Errorf("before %+v, after %+v", b, a)
	}
	// The settings in force change nothing.
	if got, err = s.Tune(t.Context(), person(auth.Supervisor), input(t, 5*time.Minute, 2*time.Hour, `{"station":{"utilisationDowntimeThreshold":120000}}`, "PRESS")); err != nil || got.After.Figures.DowntimeMs != ten || got.After.Stops.Count != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if list, _, _ := s.List(floortest.Account, 10, 0); len(list) != 0 || sums(t, r) != before {
		t.Error("looking changed something")
	}
}

func TestTuneRefuses(t *testing.T) {
	_, s := newPlant(t)
	const good = `{"station":{"productiveHoldOnTime":null}}`
	for want, in := range map[string]Input{
		"stationCodes": input(t, 0, time.Hour, good, "PRESS", "PACK"),
		"from":         input(t, -32*24*time.Hour, time.Hour, good, "PRESS"),
		"to":           input(t, 0, 200*time.Hour, good, "PRESS"),
		"changes":      input(t, 0, time.Hour, `{}`, "PRESS"),
	} {
		_, err := s.Tune(t.Context(), person(auth.Supervisor), in)
		var e *errdefs.Error
		if !errors.As(err, &e) || e.Kind != errdefs.Invalid || len(e.Details) != 1 || e.Details[0].Field != want {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := s.Tune(t.Context(), person(auth.Operator), input(t, 0, time.Hour, good, "PRESS")); errdefs.KindOf(err) != errdefs.Forbidden {
		t.Errorf("an operator: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Tune(gone, person(auth.Supervisor), input(t, 0, time.Hour, good, "PRESS")); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits for it: %v", err)
	}
}

// TestStandstills finds every range without production, whatever the thresholds: by productive signals that last, by
// those with a hold-on time, and by units. In every mode, a unit restarts the time.
func TestStandstills(t *testing.T) {
	for _, tt := range []struct {
		name, settings string
		want           []time.Duration // start and end in turn
	}{
		{"signals that last", `"utilisationDowntimeThreshold":7200000`, []time.Duration{10 * time.Minute, 20 * time.Minute, 40 * time.Minute, 40*time.Minute + 2*time.Second}},
		{"detection that is off", `"downtimeDetectionMode":"off"`, []time.Duration{10 * time.Minute, 20 * time.Minute, 40 * time.Minute, 40*time.Minute + 2*time.Second}},
		{"signals that hold on", `"productiveHoldOnTime":3600000`, []time.Duration{1, 20 * time.Minute, 20*time.Minute + 1, 30 * time.Minute, 30 * time.Minute, 40*time.Minute + 2*time.Second, 40*time.Minute + 2*time.Second + 1, time.Hour}},
		{"units", `"downtimeDetectionMode":"production"`, []time.Duration{0, 30 * time.Minute, 30 * time.Minute, time.Hour}},
	} {
		r, s := newPlant(t)
		r.Send(floortest.Signal("PRESS", floortest.At(40*time.Minute), map[signal.Field]float64{signal.Productive: 0}),
			floortest.Signal("PRESS", floortest.At(40*time.Minute+2*time.Second), map[signal.Field]float64{signal.Productive: 1}))
		r.Pass(time.Minute, 0)
		if _, err := s.Make(person(auth.Admin), idempotency.Request{}, input(t, 0, 2*time.Hour, `{"station":{`+tt.settings+`}}`, "PRESS")); err != nil {
			t.Fatal(err)
		}
		var got []time.Duration
		err := r.Floor.Standstills(t.Context(), floortest.Account, "PRESS", floortest.At(0), floortest.At(time.Hour), func(start, end int64) {
			for _, at := range []int64{start, end} {
				after := time.Duration(at-floortest.At(0)) * time.Millisecond
				if rest := after % time.Second; rest == time.Millisecond { // a millisecond of the hold-on time
					after += 1 - rest
				}
				got = append(got, after)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
				break
			}
		}
	}
}
