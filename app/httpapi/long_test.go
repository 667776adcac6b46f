package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"testing"

	"opsmon/app/auth"
	"opsmon/app/engine/report"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// days selects n days of a station.
func days(n int64) *report.Selection {
	return &report.Selection{Stations: []report.Station{{End: n * instant.DayMs}}}
}

// TestLongReadsTakeTurns: two at a time of one caller, three of one account, four in total. Others wait until their
// clients disconnect, and short reads do not wait. A read that is sent in pieces keeps its slot until it is sent.
func TestLongReadsTakeTurns(t *testing.T) {
	s := newServer(t, options{})
	ask := func(ctx context.Context, account, who string) *call {
		return &call{api: s.api, p: auth.Principal{AccountID: account, Email: who}, w: httptest.NewRecorder(), r: httptest.NewRequestWithContext(ctx, "GET", "/pareto", nil)}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var busy []*call
	begin := func(account, who string) {
		t.Helper()
		c := ask(t.Context(), account, who)
		s.must(nil, c.long(days(longDetail), longDetail))
		busy = append(busy, c)
	}
	refused := func(account, who string) {
		t.Helper()
		c := ask(gone, account, who)
		if err := c.long(days(longDetail), longDetail); errdefs.KindOf(err) != errdefs.Unavailable {
			t.Errorf("one more of %s of %s: %v", who, account, err)
		}
		c.letGo()
		c = ask(gone, account, who)
		s.must(nil, c.long(days(longDetail-1), longDetail))
		c.letGo()
	}
	begin("acme", "a")
	begin("acme", "a")
	refused("acme", "a")
	begin("acme", "b")
	refused("acme", "c")
	begin("bolt", "a") // another account's caller with the same name
	refused("bolt", "b")
	local := ask(gone, "acme", "")
	local.p = auth.Local("acme")
	s.must(nil, local.long(days(longDetail), longDetail)) // the local command line does not wait
	local.letGo()
	busy[0].letGo()
	begin("bolt", "b")
	for _, c := range busy[1:] {
		c.letGo()
	}
	if n := len(s.api.load.longBy); n != 0 {
		t.Errorf("%d callers are remembered", n)
	}
}

// TestALongReadEnds: a long read ends when its client disconnects, which is no error, or when it takes too long.
func TestALongReadEnds(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Readonly)
	s.must(nil, s.Floor.Pass("acme"))
	reads := map[string]func(*call) (reply, error){
		"/oee": getOEE, "/oee?by=minute&rangecode=today": getOEE, "/energy": getEnergy, "/pareto": getPareto,
		"/analysis/cycletime": getCycleTimes, "/issue": getIssues, "/timeline?stationcode=PACK-1&rangecode=yesterday": getTimeline,
	}
	for path, handle := range reads {
		for _, tt := range []struct {
			why  string
			ctx  func() (context.Context, context.CancelFunc)
			want string
		}{
			{"gone", func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) }, "the client has gone"},
			{"too long", func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), 0) }, "this takes longer than 2m0s; ask for a shorter time, or for fewer stations"},
		} {
			ctx, cancel := tt.ctx()
			r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
			r.Header.Set("X-API-KEY", key)
			_, err := s.api.handle(&call{api: s.api, r: r, w: httptest.NewRecorder(), route: &route{handle: func(c *call) (reply, error) {
				cancel() // during the work
				c.r = c.r.WithContext(ctx)
				return handle(c)
			}}})
			if known := (*errdefs.Error)(nil); !errors.As(err, &known) || known.Kind != errdefs.Unavailable || known.Message != tt.want {
				t.Errorf("%s, %s: %v", path, tt.why, err)
			}
		}
	}
}

// TestALongReadHasItsTurnUntilItIsSent: an answer generated while it is sent keeps its slot after its handler returned.
func TestALongReadHasItsTurnUntilItIsSent(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Readonly)
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/export/windows?resolution=hour&from=2025-11-20&to=2026-11-19", nil)
	r.Header.Set("X-API-KEY", key)
	c := &call{api: s.api, r: r, w: httptest.NewRecorder(), route: &route{handle: func(c *call) (reply, error) {
		x, err := c.choose(report.LongestDetail, "")
		if err == nil {
			err = c.long(x, longDetail)
		}
		return reply{chunked: &chunked{kind: csvType, run: func(context.Context, io.Writer) error { return nil }}}, err
	}}}
	out, err := s.api.handle(c)
	s.must(nil, err)
	if len(s.api.load.longBy) != 2 { // the account's and the caller's
		t.Error("its turn is over before it is sent")
	}
	s.api.writeChunked(httptest.NewRecorder(), r, out.chunked)
	if len(s.api.load.longBy) != 0 {
		t.Error("its turn goes on after it was sent")
	}
}
