package app

import (
	"slices"
	"testing"
)

// TestLasting: what an upgrade counts is there to be counted.
func TestLasting(t *testing.T) {
	for bucket, name := range lasting {
		if !slices.Contains(buckets(), bucket) {
			t.Errorf("there is no bucket %s, in which the %s are", bucket, name)
		}
	}
	if got := holds(map[string]int{"account": 2}); len(got) != len(lasting) || got["accounts"] != 2 {
		t.Errorf("%v", got)
	}
}
