package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"opsmon/app/auth"
	"opsmon/app/engine/report"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"testing"
)

// days selects n days of a station.
func days(n int64) *report.Selection {
	return &report.Selection{Stations: []report.Station{{End: n * instant.DayMs}}}
}

// TestLongReadsTakeTurns: two at a time of one caller, three of one account, four in total. Others wait until their
// clients disconnect, and short reads do not wait. A read that is sent in pieces keeps its slot until it is sent.
func TestLongReadsTakeTurns(t *testing.T) {
	a := newRest(restConfig{Log: slog.New(slog.DiscardHandler)})
	ask := func(ctx context.Context, account, who string) *call {
		return &call{api: a, p: auth.Principal{AccountID: account, Email: who}, w: httptest.NewRecorder(), r: httptest.NewRequestWithContext(ctx, "GET", "/pareto", nil)}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var busy []*call
	begin := func(account, who string) {
		t.Helper()
		c := ask(t.Context(), account, who)
		must(t, c.long(days(longDetail), longDetail))
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
		must(t, c.long(days(longDetail-1), longDetail))
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
	must(t, local.long(days(longDetail), longDetail)) // the local command line does not wait
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
	a := newRest(restConfig{Log: slog.New(slog.DiscardHandler)})
	running := 0
	api := a.handler([]route{{method: "GET", path: "/long", access: open, handle: func(c *call) (reply, error) {
		c.p = auth.Principal{AccountID: "acme", Email: "a"}
		return reply{chunked: &chunked{kind: csvType, run: func(context.Context, io.Writer) error {
			running = len(a.load.longBy)
			return nil
		}}}, c.long(days(longDetail), longDetail)
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
