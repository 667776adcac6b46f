package signal

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opsmon/app/instant"
	"opsmon/kv"
)

func northgate(source string, stations ...string) Sender {
	s := Sender{Account: "northgate", Source: source, Known: func(code string) bool { return code != "GONE" }}
	if stations != nil {
		s.Mine = func(code string) bool { return slices.Contains(stations, code) }
	}
	return s
}

func object(pairs ...any) map[string]any {
	o := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		o[pairs[i].(string)] = pairs[i+1]
	}
	return o
}

// TestMeters checks that an energy meter's machine fields are ignored, and that its sender is informed.
func TestMeters(t *testing.T) {
	r := newRig(t)
	r.cfg.Meter = func(account, station string) bool { return account == "northgate" && station == "METER" }
	outcomes, err := r.Take(northgate("device:northgate/gw"), []any{
		object("stationCode", "METER", "productive", true), object("stationCode", "METER", "electricalKw", json.Number("3.5")), object("stationCode", "F0", "productive", true),
		object("stationCode", "METER", "lineSpeed", json.Number("2"), "electricalKw", json.Number("3.5"), "at", "2026-11-19T00:10:00Z"), object("stationCode", "METER", "rssi", json.Number("-60")),
	}, HTTP)
	r.must(err)
	const meter = `the station "METER" is an energy meter, of which only electrical values count`
	for i, want := range []string{meter, "", "", "at is 600 seconds in the future: a clock is wrong; it was taken at its arrival; " + meter, ""} {
		if !outcomes[i].Accepted || outcomes[i].Issue != want {
			t.Errorf("signal %d: %+v, want the issue %q", i, outcomes[i], want)
		}
	}
}

// TestSeenIsKept checks that the state of a sender survives a restart, and that a new device with a used name starts
// without it.
func TestSeenIsKept(t *testing.T) {
	r := newRig(t)
	gw := northgate("device:northgate/gw", "F0", "GONE")
	outcomes, err := r.Take(gw, []any{
		object("stationCode", "F0", "productive", true, "id", "1"), object("stationCode", "F0", "productive", true, "id", "1"),
		object("stationCode", "F1", "productive", true), object("stationCode", "GONE", "productive", true), 7, object("stationCode", "F0", "rssi", "x"),
		object("stationCode", "F0", "productive", true, "at", "2026-11-19T00:10:00Z"), object("stationCode", "F0", "productive", true, "at", "2001-01-01T00:00:00Z"),
	}, HTTP)
	r.must(err)
	for i, want := range []Cause{"", "", CauseForeign, CauseStation, CauseMalformed, CauseValue, "", CauseOld} {
		if outcomes[i].Cause != want || outcomes[i].Accepted != (want == "") {
			t.Errorf("signal %d: %+v, want the cause %q", i, outcomes[i], want)
		}
	}
	c := r.Counts()
	if c.Accepted != 3 || c.Repeated != 1 || c.Corrected != 1 || c.Skewed != 1 || len(c.Refused) != 5 || c.Refused[CauseForeign] != 1 {
		t.Errorf("counts are %+v", c)
	}
	r.NoteRefused(gw, CauseMalformed, "is no JSON", 2)
	want := r.Seen("northgate", gw.Source)
	if want.LastAt != monday || want.Accepted != 3 || want.Refused != 7 || want.Issue != "is no JSON" || want.IssueAt != monday || want.Rate < 0.15 || want.Rate > 0.17 {
		t.Errorf("seen is %+v", want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Run(ctx) // it ends immediately, after storing the state
	r.open()
	got := r.Seen("northgate", gw.Source)
	want.Rate = 0
	if got != want {
		t.Errorf("after a restart it is %+v, want %+v", got, want)
	}
	r.must(r.Forget("northgate", gw.Source))
	r.open()
	if got := r.Seen("northgate", gw.Source); got != (Seen{}) {
		t.Errorf("what was forgotten is %+v", got)
	}
}

// TestRateIsOverAMinute checks that the rate follows the signals of the last minute.
func TestRateIsOverAMinute(t *testing.T) {
	r := newRig(t)
	gw := northgate("device:northgate/gw")
	for range 600 { // ten signals a second for five minutes
		r.now.Add(500)
		_, err := r.Take(gw, []any{object("stationCode", "F0", "rssi", true), object("stationCode", "F0", "productive", true), object(), 1, 2}, HTTP)
		r.must(err)
	}
	if rate := r.Seen("northgate", gw.Source).Rate; rate < 9 || rate > 11 {
		t.Errorf("ten a second are told as %g", rate)
	}
	r.now.Add(10 * 60_000)
	if rate := r.Seen("northgate", gw.Source).Rate; rate > 0.01 {
		t.Errorf("after ten minutes of silence it is %g a second", rate)
	}
}

// TestSkewIsToldOnce checks that a clock that is ahead is logged once, and again only after it was correct in
// between.
func TestSkewIsToldOnce(t *testing.T) {
	r := newRig(t)
	var said bytes.Buffer
	r.cfg.Log = slog.New(slog.NewTextHandler(&said, nil))
	gw := northgate("device:northgate/gw")
	send := func(at string) {
		_, err := r.Take(gw, []any{object("stationCode", "F0", "productive", true, "at", at)}, HTTP)
		r.must(err)
	}
	told := func() int { return strings.Count(said.String(), "the clock of a device is ahead") }
	for _, step := range []struct {
		at     string
		told   int
		skewed int
	}{
		{"2026-11-19T00:02:00Z", 0, 0}, // two minutes are accepted
		{"2026-11-19T00:02:00.001Z", 1, 1},
		{"2026-11-19T01:00:00Z", 1, 1},
		{"2026-11-18T23:59:00Z", 1, 0},
		{"2026-11-19T00:03:00Z", 2, 1},
	} {
		send(step.at)
		if told() != step.told || r.Counts().Skewed != step.skewed {
			t.Errorf("after %s it was told %d times, want %d; %d are skewed, want %d", step.at, told(), step.told, r.Counts().Skewed, step.skewed)
		}
	}
}

// TestWhatTellsNoTimeSaysNothingOfAClock checks that a skew remains reported while the sender also sends signals
// without a time, or invalid ones, but not for ever if it sends no more times.
func TestWhatTellsNoTimeSaysNothingOfAClock(t *testing.T) {
	r := newRig(t)
	gw := northgate("device:northgate/gw")
	take := func(properties ...any) {
		_, err := r.Take(gw, []any{object(append([]any{"stationCode", "F0", "productive", true}, properties...)...)}, HTTP)
		r.must(err)
	}
	ahead := func(when string, want int64, skewed int) {
		t.Helper()
		if got := r.Seen("northgate", gw.Source).AheadMs; got != want || r.Counts().Skewed != skewed {
			t.Errorf("%s its clock is %d ms ahead, want %d; %d are skewed, want %d", when, got, want, r.Counts().Skewed, skewed)
		}
	}
	take("at", "2026-11-19T00:03:00Z")
	ahead("at first", 3*60_000, 1)
	take()
	ahead("after a heartbeat without a time", 3*60_000, 1)
	r.NoteRefused(gw, CauseMalformed, "not JSON", 1)
	ahead("after nonsense", 3*60_000, 1)
	r.now.Add(10 * 60_000)
	take()
	ahead("ten minutes on", 3*60_000, 1)
	r.now.Add(1)
	take()
	ahead("later", 0, 0)
	take("at", "2026-11-19T00:30:00Z")
	ahead("with a time again", 30*60_000-10*60_000-1, 1)
	take("at", "2026-11-19T00:01:00Z")
	ahead("set right", 0, 0)
}

// TestAdmit checks that a sender within its rate is never delayed, and that one that floods is delayed as long as
// announced, without affecting others.
func TestAdmit(t *testing.T) {
	store := newRig(t).store
	synctest.Test(t, func(t *testing.T) {
		l, err := NewLog(Config{Store: store, Rate: 10_000})
		if err != nil {
			t.Fatal(err)
		}
		for range 200 { // a batch of a thousand every tenth of a second
			done, wait := l.Admit("northgate", "device:steady")
			if wait > 0 {
				t.Fatalf("a sender within its rate is told to wait %s", wait)
			}
			done(1000)
			time.Sleep(100 * time.Millisecond)
		}
		var wait time.Duration
		admitted := 0
		for range 100 {
			done, w := l.Admit("northgate", "device:flood")
			if wait = w; wait > 0 {
				break
			}
			admitted++
			done(10_000)
		}
		if admitted != 2 || wait < time.Microsecond || wait > time.Second {
			t.Errorf("a flood got %d batches of 10,000 through and is told to wait %s", admitted, wait)
		}
		if done, w := l.Admit("northgate", "device:steady"); w > 0 {
			t.Errorf("another sender is told to wait %s", w)
		} else {
			done(0)
		}
		time.Sleep(wait + time.Millisecond)
		if _, w := l.Admit("northgate", "device:flood"); w > 0 {
			t.Errorf("after the time it was told it is to wait %s more", w)
		}
		for range 3 {
			if _, w := l.Admit("northgate", "device:slow"); w > 0 {
				t.Fatal("four batches may be under way")
			}
		}
		done, _ := l.Admit("northgate", "device:slow")
		if _, w := l.Admit("northgate", "device:slow"); w != time.Second {
			t.Errorf("a fifth batch under way is told to wait %s", w)
		}
		done(1)
		if _, w := l.Admit("northgate", "device:slow"); w > 0 {
			t.Errorf("when one of them is done the next is told to wait %s", w)
		}
		if l.Seen("northgate", "device:flood").Throttled != 1 || l.Counts().Throttled != 2 {
			t.Errorf("counted are %+v", l.Counts())
		}
		waits := time.Duration(0)
		for range 30_000 {
			waits = l.Pace("northgate", "device:one-by-one")
		}
		if waits < 900*time.Millisecond || waits > 1100*time.Millisecond {
			t.Errorf("after 30,000 messages at once the next waits %s, want a second", waits)
		}
	})
}

// TestRefusedTakesNoMemory checks that a mostly refused batch retains only the memory of the accepted signals.
func TestRefusedTakesNoMemory(t *testing.T) {
	r := newRig(t)
	gw := northgate("device:northgate/gw")
	known, gone := &Signal{Station: "F0"}, &Signal{Station: "GONE"}
	known.Set(RSSI, -60)
	gone.Set(RSSI, -60)
	objects := make([]any, MaxBatch)
	for i := range objects {
		objects[i] = gone
	}
	objects[MaxBatch/2] = known
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc) >> 20
	}
	before := heap()
	const requests = 20 // their full lists would take 40 MiB
	for range requests {
		_, err := r.Take(gw, objects, HTTP)
		r.must(err)
	}
	if held := heap() - before; held > 10 || r.Tail() != requests {
		t.Errorf("%d accepted signals hold %d MiB", r.Tail(), held)
	}
}

// TestTakeAll checks that signals of several senders are stored as one batch, and that each sender gets its own
// outcomes.
func TestTakeAll(t *testing.T) {
	r := newRig(t)
	parcels := []Parcel{
		{From: northgate("device:a", "F0"), Objects: []any{object("stationCode", "F0", "productive", true), object("stationCode", "F1", "productive", true)}},
		{From: northgate("device:b", "F1"), Objects: []any{object("station_code", "F1", "production_complete", 2.0), object("station_code", "F1", "line_speed", true, "id", "1")}, Style: MQTT},
		{From: northgate("device:c"), Objects: nil},
		{From: northgate("device:a", "F0"), Objects: []any{object("stationCode", "F0", "productive", false, "id", "1"), object("stationCode", "F0", "productive", false, "id", "1")}},
	}
	outcomes, err := r.TakeAll(parcels)
	r.must(err)
	got := ""
	for _, list := range outcomes {
		for _, o := range list {
			got += map[bool]string{true: "+", false: "-"}[o.Accepted]
			if strings.Contains(o.Issue, "counts once") {
				got += "2"
			}
		}
		got += "|"
	}
	if want := "+-|--||++2|"; got != want { // a number must be a json.Number
		t.Errorf("outcomes are %s, want %s", got, want)
	}
	if r.count("tail") != 1 || r.Tail() != 2 {
		t.Errorf("%d batches of %d signals are stored, want one of two", r.count("tail"), r.Tail())
	}
	if a := r.Seen("northgate", "device:a"); a.Accepted != 3 || a.Refused != 1 {
		t.Errorf("the first is seen as %+v", a)
	}
}

// TestSweepForgetsSenders checks that a sender without signals within the retention is removed.
func TestSweepForgetsSenders(t *testing.T) {
	r := newRig(t)
	_, err := r.Take(northgate("device:old"), []any{object("stationCode", "F0", "productive", true)}, HTTP)
	r.must(err)
	r.must(r.flushSenders())
	r.now.Add(401 * instant.DayMs)
	_, err = r.Take(northgate("device:new"), []any{object("stationCode", "F0", "productive", true)}, HTTP)
	r.must(err)
	r.must(r.flushSenders())
	r.must(r.Sweep(t.Context()))
	var kept []string
	r.must(r.store.View(func(tx *kv.Tx) error {
		for item, err := range storedSenders.Scan(tx, kv.Range{}) {
			r.must(err)
			kept = append(kept, item.Key.B)
		}
		return nil
	}))
	if len(kept) != 1 || kept[0] != "device:new" {
		t.Errorf("kept are %v", kept)
	}
}
