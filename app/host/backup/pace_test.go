//go:build soak

package backup

import "testing"

// TestPace: a backup of a store of 1 GiB that 64 goroutines write to is at least half as fast as a plain copy of its file,
// synced, and the writes' 99th percentile is at most three times what it is without.
func TestPace(t *testing.T) {
	const turns, speed, wait = 7, 0.5, 3.0
	s := largeStore(t)
	p := measure(t, Config{Store: s, Overwrite: true}, turns)
	t.Logf("%d MiB: a backup has %.2f of a copy's speed, the writes' p99 is %.1f times the quiet one; %v", s.Size()>>20, p.speed(), p.wait(), p)
	if p.speed() < speed {
		t.Errorf("a backup has %.2f of a copy's speed, less than %.1f", p.speed(), speed)
	}
	if p.wait() > wait {
		t.Errorf("the writes' p99 is %.1f times the quiet one, more than %.0f times", p.wait(), wait)
	}
}
