package monitor_test

import (
	"sync"
	"testing"

	"opsmon/app/engine/monitor"
)

// TestEncodeOnlyReads encodes a state while others read it, for the race detector.
func TestEncodeOnlyReads(t *testing.T) {
	s := monitor.New(config(func(c *monitor.Config) { c.DowntimeMode = monitor.DowntimeProduction }), clock(t, "06:00"))
	for _, in := range script(t, "alive 06:00 06:20", "06:05 start S sku=A", "every 7s 06:05 06:20 good 1") {
		if err := s.Apply(&in); err != nil {
			t.Fatal(err)
		}
	}
	s.Take()
	var all sync.WaitGroup
	all.Go(func() {
		if len(s.View(clock(t, "06:20")).Segments) == 0 {
			t.Error("nothing is seen of it")
		}
	})
	if len(s.Encode()) == 0 {
		t.Error("nothing is written")
	}
	all.Wait()
}
