package oee_test

import (
	"testing"

	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
)

func TestLengths(t *testing.T) {
	var l oee.Lengths
	lengths := []int64{1, 999, 1000, 59_999, 60_000, 89_999, 28_799_999, 28_800_000, 1 << 40}
	total := int64(0)
	for _, ms := range lengths {
		l.Add(ms)
		total += ms
	}
	bins, at, count := l.Bins(), int64(0), 0
	for i, b := range bins {
		if b.From != at || (b.To == 0) != (i == len(bins)-1) {
			t.Fatalf("bin %d is %+v, after %d", i, b, at)
		}
		n, ms := 0, int64(0)
		for _, x := range lengths {
			if x >= b.From && (x < b.To || b.To == 0) {
				n, ms = n+1, ms+x
			}
		}
		if b.Count != n || b.Ms != ms {
			t.Errorf("bin %+v, want %d of %d ms", b, n, ms)
		}
		at, count = b.To, count+n
	}
	if l.Count != len(lengths) || count != len(lengths) || l.Ms != total {
		t.Errorf("%d of %d ms", l.Count, l.Ms)
	}
}

func TestStops(t *testing.T) {
	l := &line{at: day}
	l.add(10, production, productive)
	l.add(4, production, jam)
	other := jam
	other.Cause = "tool" // split by a person
	l.add(2, production, other)
	l.add(1, production, tool) // the next one follows directly
	l.add(5, production, idle)
	manual := jam
	manual.Stop, manual.Manual = 9, 9
	l.add(7, production, manual)
	l.add(1, out, jam)
	got := oee.Stops(l.segments)
	if got.Count != 2 || got.Ms != 7*minute {
		t.Errorf("%d stops of %d ms", got.Count, got.Ms)
	}
	for _, b := range got.Bins() {
		if want := map[int64]int{6 * minute: 1, minute: 1}; b.Count > 0 && (b.Count != 1 || want[b.Ms] != 1) {
			t.Errorf("%+v", b)
		}
	}
	if empty := oee.Stops([]monitor.Segment{}); empty.Count != 0 {
		t.Errorf("%+v", empty)
	}
}
