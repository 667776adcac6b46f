package signal

import (
	"testing"
	"time"
)

// TestAMomentIsBounded: a sender that gives any number of signals the same time is refused from some number on, which other times
// and stations do not notice; an id that is sent again does not count.
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
