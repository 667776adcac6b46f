package rest

import (
	"context"
	"io"
	"log/slog"
	"net/http"
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
	a := New(Config{Log: slog.New(slog.DiscardHandler)})
	ask := func(ctx context.Context, account, who string) *Call {
		return &Call{api: a, Principal: auth.Principal{AccountID: account, Email: who}, Writer: httptest.NewRecorder(), Request: httptest.NewRequestWithContext(ctx, "GET", "/pareto", nil)}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var busy []*Call
	begin := func(account, who string) {
		t.Helper()
		c := ask(t.Context(), account, who)
		must(t, c.WaitIfLong(days(LongDetail), LongDetail))
		busy = append(busy, c)
	}
	refused := func(account, who string) {
		t.Helper()
		c := ask(gone, account, who)
		if err := c.WaitIfLong(days(LongDetail), LongDetail); errdefs.KindOf(err) != errdefs.Unavailable {
			t.Errorf("one more of %s of %s: %v", who, account, err)
		}
		c.letGo()
		c = ask(gone, account, who)
		must(t, c.WaitIfLong(days(LongDetail-1), LongDetail))
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
	local.Principal = auth.Local("acme")
	must(t, local.WaitIfLong(days(LongDetail), LongDetail)) // the local command line does not wait
	local.letGo()
	busy[0].letGo()
	begin("bolt", "b")
	for _, c := range busy[1:] {
		c.letGo()
	}
	if n := len(a.load.longBy); n != 0 {
		t.Errorf("%d callers are remembered", n)
	}
}

// TestALongReadHasItsTurnUntilItIsSent: an answer generated while it is sent keeps its slot after its handler returned.
func TestALongReadHasItsTurnUntilItIsSent(t *testing.T) {
	a := New(Config{Log: slog.New(slog.DiscardHandler)})
	running := 0
	api := a.Handler([]Route{{Method: "GET", Path: "/long", Access: Open, Handle: func(c *Call) (Reply, error) {
		c.Principal = auth.Principal{AccountID: "acme", Email: "a"}
		return Reply{Chunked: &Chunked{Kind: CSVType, Run: func(context.Context, io.Writer) error {
			running = len(a.load.longBy)
			return nil
		}}}, c.WaitIfLong(days(LongDetail), LongDetail)
	}}})
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/long", nil))
	if w.Code != http.StatusOK || running != 2 { // the account's and the caller's
		t.Errorf("its turn is over before it is sent: %d, %d", w.Code, running)
	}
	if len(a.load.longBy) != 0 {
		t.Error("its turn goes on after it was sent")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
