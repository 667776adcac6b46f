package signal

import (
	"slices"
	"testing"
	"time"

	"opsmon/kv"
)

// TestAMomentIsBounded checks that a sender of unlimited signals with one time is refused beyond a maximum, that
// other times and stations are not affected, and that repeated ids do not count.
func TestAMomentIsBounded(t *testing.T) {
	r := newRig(t)
	gw := northgate("device:northgate/gw", "F0", "F1")
	batch := func(station string, at time.Time, id string) []any {
		objects := make([]any, MaxBatch)
		for i := range objects {
			objects[i] = &Signal{Station: station, At: at.UnixMilli(), Values: Values{Mask: 1 << Productive}}
			if id != "" {
				objects[i].(*Signal).ID = id
			}
		}
		return objects
	}
	at := time.UnixMilli(monday).Add(-time.Minute)
	send := func(station string, at time.Time, id string) (accepted int, cause Cause) {
		t.Helper()
		outcomes, err := r.Take(gw, batch(station, at, id), HTTP)
		r.must(err)
		for _, o := range outcomes {
			if o.Accepted {
				accepted++
			}
			cause = o.Cause
		}
		return accepted, cause
	}
	for range 5 {
		if n, _ := send("F0", at, "the same"); n != MaxBatch {
			t.Fatalf("%d of a batch with one id were accepted", n)
		}
	}
	for i, want := range []int{MaxBatch, MaxBatch, 0, 0} {
		if n, cause := send("F0", at, ""); n != want || (n == 0) != (cause == CauseCrowded) {
			t.Errorf("batch %d: %d were accepted, cause %q", i, n, cause)
		}
	}
	for _, other := range []struct {
		station string
		at      time.Time
	}{{"F1", at}, {"F0", at.Add(time.Millisecond)}} {
		if n, cause := send(other.station, other.at, ""); n != MaxBatch {
			t.Errorf("of %s at %v %d were accepted, cause %q", other.station, other.at, n, cause)
		}
	}
	if n := r.Counts().Refused[CauseCrowded]; n != 2*MaxBatch {
		t.Errorf("%d are counted as refused", n)
	}
}

// TestAMomentIsBoundedSlowly checks that neither waiting between batches nor restarts allow more signals of one time,
// and that its count is removed with its signals.
func TestAMomentIsBoundedSlowly(t *testing.T) {
	r := newRig(t)
	gw := northgate("device:northgate/gw", "F0", "F1")
	at, accepted := monday-60_000, 0
	for range 12 {
		objects := make([]any, maxPerMoment/5-1)
		for i := range objects {
			objects[i] = &Signal{Station: "F0", At: at, Values: Values{Mask: 1 << Productive}}
		}
		outcomes, err := r.Take(gw, objects, HTTP)
		r.must(err)
		for _, o := range outcomes {
			if o.Accepted {
				accepted++
			}
		}
		r.now.Add(crowdEvery + 1)
		r.must(r.flushCrowds())
		r.must(r.Pack())
		r.open()
	}
	if accepted < maxPerMoment || accepted > maxPerMoment+maxPerMoment/5 {
		t.Errorf("%d were accepted, want about %d", accepted, maxPerMoment)
	}
	r.check()
	r.now.Add(DefaultRetention.Milliseconds())
	r.must(r.Sweep(t.Context()))
	r.must(r.store.View(func(tx *kv.Tx) error {
		if n := storedCrowds.Count(tx); n != 0 || len(r.crowds.many) != 0 {
			t.Errorf("%d times are kept, %d known", n, len(r.crowds.many))
		}
		return nil
	}))
}

// TestForgottenMoments checks that, with very many crowded times, those with the most signals are still counted.
func TestForgottenMoments(t *testing.T) {
	r := newRig(t)
	batch := func(at int64, n int) {
		one := Signal{Account: "northgate", Station: "F0", At: at}
		r.crowds.add(slices.Repeat([]Signal{one}, n), make([]bool, n), monday)
	}
	batch(1, maxPerMoment)
	for i := range maxCrowds + 1 {
		batch(int64(i+2), crowdFrom)
	}
	if n := len(r.crowds.many); n > maxCrowds {
		t.Errorf("%d times are counted", n)
	}
	if !r.crowds.isFull(&Signal{Account: "northgate", Station: "F0", At: 1}) {
		t.Error("the one with the most signals is forgotten")
	}
}
