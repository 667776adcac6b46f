package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/oee"
)

// TestTooManyResults: a request whose answer would be too large is refused before its stations are read one after another.
func TestTooManyResults(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Readonly)
	start := s.plant()
	week := rangeOf(start, 0, 7*24*time.Hour)
	s.api.mostSums = 150
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
	// Nothing is known of the time before: few results, however long it is.
	s.do(ask{method: "GET", path: "/oee?by=station,hour&" + rangeOf(start, -100*24*time.Hour, time.Hour), key: key}).want(t, 200)
}

// TestAtLeast: the estimate is close, and never above what there is.
func TestAtLeast(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Readonly)
	start := s.plant()
	for _, by := range []string{"", "station", "hour", "day", "station,hour", "group,day", "plant,week", "station,month", "sku,hour", "shift,day", "sku,station"} {
		for _, to := range []time.Duration{time.Minute, 3 * time.Hour, 30 * time.Hour, 7 * 24 * time.Hour} {
			q := fmt.Sprintf("/oee?by=%s&%s", by, rangeOf(start, -50*time.Hour, to))
			r, err := http.NewRequest("GET", q, nil)
			s.must(nil, err)
			c := &call{api: s.api, r: r, p: auth.Principal{AccountID: "acme"}}
			x, err := c.choose(longestSums, "")
			s.must(nil, err)
			list := x.captured()
			since := make([]int64, len(list))
			for i := range list {
				since[i], err = s.floor.Since("acme", list[i].Code)
				s.must(nil, err)
			}
			names, err := readBy(by, []oee.By{oee.ByPlant, oee.ByGroup, oee.ByStation, oee.BySKU, oee.ByShift, oee.ByHour, oee.ByDay, oee.ByWeek, oee.ByMonth})
			s.must(nil, err)
			results := len(s.do(ask{method: "GET", path: q, key: key}).want(t, 200).at("results").([]any))
			least := atLeast(list, names, since)
			if least > results || !strings.ContainsAny(by, "sk") && least < results/2 {
				t.Errorf("by %s to %v: %d results, estimated %d", by, to, results, least)
			}
		}
	}
}

// TestMemoryIsGivenBack: what a long read took is the system's again soon after it.
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
