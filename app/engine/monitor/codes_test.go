package monitor_test

import (
	"fmt"
	"testing"

	"opsmon/app/engine/monitor"
)

// TestErrorCodesOfAMinute checks that a minute keeps only the first hundred different codes.
func TestErrorCodesOfAMinute(t *testing.T) {
	s := monitor.New(config(), 0)
	for at := int64(1); at <= 2*minute; at += 50 {
		in := monitor.Input{At: at, Kind: monitor.InputSignal, Signal: monitor.Signal{ErrorCode: fmt.Sprint("E", at/100)}}
		if err := s.Apply(&in); err != nil {
			t.Fatal(err)
		}
	}
	out := s.View(2 * minute)
	if len(out.Minutes) < 2 {
		t.Fatalf("%d minutes", len(out.Minutes))
	}
	for _, m := range out.Minutes[:2] {
		if n := len(m.ErrorCodes); n != 100 || m.ErrorCodes[1] != fmt.Sprint("E", m.Start/100+1) {
			t.Errorf("minute %d has %d codes: %v", m.Start, n, m.ErrorCodes)
		}
	}
}
