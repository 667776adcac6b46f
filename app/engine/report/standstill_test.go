package report

import (
	"slices"
	"testing"
)

func TestLongest(t *testing.T) {
	l := longest{most: 3}
	for i, length := range []int64{5, 1, 9, 9, 2, 7, 9, 9, 1} {
		l.add(Stretch{int64(i) * 10, int64(i)*10 + length})
	}
	if got, want := l.byTime(), []Stretch{{20, 29}, {30, 39}, {60, 69}}; !slices.Equal(got, want) {
		t.Errorf("the longest are %v, want %v", got, want)
	}
}
