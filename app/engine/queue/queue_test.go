package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/monitor"
)

// input makes a random input: mostly a signal, else a change of configuration or a manual stop.
func input(random *rand.Rand, at int64) monitor.Input {
	in := monitor.Input{At: at, Source: fmt.Sprintf("device-%d", random.IntN(3))}
	switch random.IntN(10) {
	case 0:
		in.Kind, in.Config = monitor.InputConfig, &monitor.Config{Revision: random.Int64N(5)}
		return in
	case 1:
		in.Kind, in.Reason = monitor.InputManualStart, "BRK"
		return in
	}
	in.Kind, in.ID = monitor.InputSignal, fmt.Sprint(random.IntN(4))
	in.Productive = random.IntN(2) == 0
	for i, v := range values(&in.Signal) {
		if random.IntN(3) == 0 {
			in.Has |= valueBits[i]
			*v = []float64{0, 1, -3, 0.1, 1e300, float64(random.IntN(1e6))}[random.IntN(6)]
		}
	}
	if random.IntN(4) == 0 {
		in.ErrorCode = "E4711"
	}
	return in
}

// TestQueue adds and removes random inputs, and compares the queue with a plain sorted list after each step.
func TestQueue(t *testing.T) {
	for seed := range uint64(15) {
		random := rand.New(rand.NewPCG(seed, 1))
		var q Queue
		var want []monitor.Input
		for step := range 200 {
			var added []monitor.Input
			for range random.IntN(20) {
				added = append(added, input(random, random.Int64N(500)))
			}
			slices.SortStableFunc(added, func(a, b monitor.Input) int { return monitor.Compare(&a, &b) })
			first := q.Put(added)
			place := len(want)
			if len(added) > 0 {
				place = slices.IndexFunc(want, func(in monitor.Input) bool { return monitor.Compare(&added[0], &in) < 0 })
				if place < 0 {
					place = len(want)
				}
			}
			want = append(want, added...)
			slices.SortStableFunc(want, func(a, b monitor.Input) int { return monitor.Compare(&a, &b) })
			if first != place {
				t.Fatalf("seed %d, step %d: the first of %d inputs is at %d, want %d", seed, step, len(added), first, place)
			}
			if len(want) > 0 && random.IntN(3) == 0 {
				n := random.IntN(len(want) + 1)
				q.Drop(n)
				want = want[n:]
			}
			compare(t, &q, want)
		}
	}
}

func compare(t *testing.T, q *Queue, want []monitor.Input) {
	t.Helper()
	if q.Len() != len(want) {
		t.Fatalf("%d inputs, want %d", q.Len(), len(want))
	}
	signals := map[string]int{}
	for i := range want {
		in := want[i]
		if in.Kind == monitor.InputSignal {
			in.ID = "" // At leaves it out
			signals[in.Source]++
		}
		if diff := cmp.Diff(in, *q.At(i)); diff != "" || q.Time(i) != in.At {
			t.Fatalf("input %d at %d: %s", i, q.Time(i), diff)
		}
		if before := q.Before(in.At); before > i || before > 0 && want[before-1].At >= in.At {
			t.Fatalf("%d inputs are before that of %d", before, i)
		}
		if in.Kind == monitor.InputConfig {
			if !q.Has(&in) {
				t.Fatalf("the queue does not have the change of configuration %d", i)
			}
		}
	}
	if q.Has(&monitor.Input{Kind: monitor.InputConfig, Config: &monitor.Config{Revision: 99}}) {
		t.Fatal("the queue has a change of configuration that was not added")
	}
	by := map[string]int{}
	q.Weigh(by, 1000*total(signals))
	for source, n := range signals {
		if by[source] != 1000*n {
			t.Fatalf("%s has a share of %d, want %d", source, by[source], 1000*n)
		}
	}
}

func total(by map[string]int) (n int) {
	for _, v := range by {
		n += v
	}
	return n
}
