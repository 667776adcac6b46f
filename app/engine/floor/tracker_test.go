package floor

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
)

// TestALookIsUsedAgain: what is not kept of a tracker is taken from the look at it, unless something came since.
func TestALookIsUsedAgain(t *testing.T) {
	start := int64(1_790_000_000_000) / minute * minute
	cfg := &monitor.Config{Revision: 1, Calendar: calendar.NewCalendar(calendar.CalendarConfig{Zone: time.UTC})}
	tr := &tracker{code: "A", base: monitor.New(cfg, start), watermark: start, touched: true}
	unit := func(second int64) monitor.Input {
		return monitor.Input{At: start + second*1000, Kind: monitor.InputSignal, Signal: monitor.Signal{Has: monitor.HasCompleteGood, CompleteGood: 1}}
	}
	for second := range int64(30) {
		tr.feed(unit(second))
	}
	now := start + 31_000
	g, ok, err := tr.liveView(now, showEvery)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	same := func(now int64) bool {
		t.Helper()
		with, _, err := tr.recent(now, &g)
		if err != nil {
			t.Fatal(err)
		}
		without, _, err := tr.recent(now, nil)
		if err != nil {
			t.Fatal(err)
		}
		return cmp.Equal(with, without)
	}
	if !same(now) {
		t.Error("what was looked at is not what there is")
	}
	if same(now + 10_000) {
		t.Error("the look was not used again, so this test shows nothing")
	}
	tr.feed(unit(30))
	if !same(now) {
		t.Error("what came since is missing")
	}
}
