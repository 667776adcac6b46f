package httpapi

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/report"
)

// TestTooManyResults: a request with too many results is refused before its stations are read.
func TestTooManyResults(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Readonly)
	start := s.plant()
	week := rangeOf(start, 0, 7*24*time.Hour)
	s.api.cfg.Reports = report.New(report.Config{Floor: s.Floor, Signals: s.Signals, MostResults: 150})
	for path, least := range map[string]int{"/oee?by=station,hour&": 2 * 168, "/energy?by=station,hour&": 2 * 168} {
		a := s.do(ask{method: "GET", path: path + week, key: key}).want(t, 400)
		holds(t, a, map[string]any{"details.0.field": "by"})
		if want := fmt.Sprintf("makes %d results or more, and at most 150 are given", least); !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %s, want %s", path, a.body, want)
		}
	}
	for _, path := range []string{"/oee?by=station,day&", "/oee?by=hour&", "/energy?by=hour&stationcodes=PACK-1&"} {
		s.do(ask{method: "GET", path: path + rangeOf(start, 0, 5*24*time.Hour), key: key}).want(t, 200)
	}
	// There is no data before: few results, however long the range.
	s.do(ask{method: "GET", path: "/oee?by=station,hour&" + rangeOf(start, -100*24*time.Hour, time.Hour), key: key}).want(t, 200)
}

// TestMemoryIsGivenBack: the memory of a long read is returned to the system soon after it.
func TestMemoryIsGivenBack(t *testing.T) {
	var g giveBack
	g.begin()
	g.begin()
	before := heapBytes()
	size := 2 * giveBackBytes
	garbage := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		garbage[i] = 1
	}
	garbage = nil
	g.end()
	if heapBytes() < before+giveBackBytes {
		t.Error("memory is given back while another long read goes on")
	}
	g.end()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for heapBytes() > before+giveBackBytes/2 {
		if ctx.Err() != nil {
			t.Fatalf("%d bytes are held, %d before", heapBytes(), before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
