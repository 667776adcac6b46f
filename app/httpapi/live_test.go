package httpapi

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/ingest/signal"
	"opsmon/app/instant"
	"opsmon/app/test/apptest"
)

// screen has what one client received: the states of stations by sequence number.
type screen struct {
	t    *testing.T
	name string
	seen map[string]string // "station sequence" -> the value
	last map[string]uint64 // by station
}

func newScreen(t *testing.T, name string) *screen {
	return &screen{t: t, name: name, seen: map[string]string{}, last: map[string]uint64{}}
}

// shows records a value. A sequence number never decreases, and never has another value.
func (x *screen) shows(value []byte) {
	x.t.Helper()
	var st floor.Status
	if err := json.Unmarshal(value, &st); err != nil {
		x.t.Fatal(err)
	}
	k := fmt.Sprint(st.StationCode, " ", st.Sequence)
	if was, known := x.seen[k]; known && was != string(value) {
		x.t.Errorf("%s: %s was\n%s\nand is\n%s", x.name, k, was, value)
	}
	if st.Sequence < x.last[st.StationCode] {
		x.t.Errorf("%s: %s after %d", x.name, k, x.last[st.StationCode])
	}
	x.seen[k], x.last[st.StationCode] = string(value), st.Sequence
}

// take records the events of a stream so far.
func (x *screen) take(l *listener, wait time.Duration) {
	x.t.Helper()
	for {
		select {
		case block := <-l.blocks:
			_, data, found := strings.Cut(block, "data: ")
			if !found {
				continue
			}
			data = strings.TrimSuffix(data, "\n")
			var st floor.Status
			if err := json.Unmarshal([]byte(data), &st); err != nil {
				x.t.Fatal(err)
			}
			if !strings.HasPrefix(block, "id: "+strconv.FormatUint(st.Sequence, 10)+"\n") {
				x.t.Errorf("%s: a value with another sequence number than its event: %s", x.name, block)
			}
			x.shows([]byte(data))
		case <-time.After(wait):
			return
		}
	}
}

// TestAllScreensShowTheSame: two streams and a polling client get one value for each sequence number, in the same
// order, and end with the same state, without waiting for the end of a second.
func TestAllScreensShowTheSame(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	key := s.roleKey(auth.Readonly)
	reads := newScreen(t, "GET /station")
	read := func() {
		t.Helper()
		var body struct{ Results []json.RawMessage }
		s.must(nil, json.Unmarshal(s.do(ask{method: "GET", path: "/station", key: key}).want(t, 200).body, &body))
		for _, one := range body.Results {
			reads.shows(one)
		}
	}
	read()
	screens := []*screen{newScreen(t, "one"), newScreen(t, "two")}
	var streams []*listener
	for range screens {
		l := s.listen(ask{path: "/events?types=station", key: key})
		<-l.blocks
		streams = append(streams, l)
	}
	s.must(nil, s.Floor.Do("acme", func(w *floor.Work) error {
		_, err := w.Record("PACK-1", monitor.Input{At: w.Now, Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: "s1", SKU: "B2"}})
		return err
	}))
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		s.clock.advance(time.Duration(rng.IntN(20_000)) * time.Millisecond)
		for _, code := range []string{"PACK-1", "PACK-2"} {
			x := signal.Signal{Account: "acme", Station: code, Source: "device:acme/gw", At: s.clock.now().UnixMilli() - rng.Int64N(30_000), Arrived: s.clock.now().UnixMilli()}
			x.Set(signal.ProductionCompleteGood, float64(rng.IntN(5)))
			x.Set(signal.Productive, float64(rng.IntN(2)))
			_, err := s.Signals.Append([]signal.Signal{x})
			s.must(nil, err)
			if rng.IntN(3) == 0 {
				read()
			}
		}
		for i := range screens {
			screens[i].take(streams[i], 0)
		}
	}
	s.clock.advance(time.Second)
	eventually(t, func() bool {
		read()
		for i := range screens {
			screens[i].take(streams[i], 20*time.Millisecond)
		}
		return screens[0].last["PACK-1"] == reads.last["PACK-1"] && screens[1].last["PACK-1"] == reads.last["PACK-1"] && screens[1].last["PACK-2"] == reads.last["PACK-2"]
	})
	compared := 0
	for k, value := range reads.seen {
		for _, x := range screens {
			if other, known := x.seen[k]; known {
				if compared++; other != value {
					t.Errorf("%s shows of %s\n%s\nand GET /station\n%s", x.name, k, other, value)
				}
			}
		}
	}
	if compared < 30 || len(screens[0].seen) < 20 {
		t.Errorf("%d values were compared, of %d", compared, len(screens[0].seen))
	}
}

// TestASignalIsToldAtOnce: an event does not wait for the end of the second.
func TestASignalIsToldAtOnce(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	key := s.roleKey(auth.Readonly)
	s.do(ask{method: "GET", path: "/station", key: key}).want(t, 200) // makes the stations exist
	s.clock.advance(time.Minute)
	s.must(nil, s.Floor.Pass("acme"))
	l := s.listen(ask{path: "/events?types=station&stationcodes=PACK-1", key: key})
	<-l.blocks
	s.clock.advance(500 * time.Millisecond) // half of the second until the next pass over all stations
	x := signal.Signal{Account: "acme", Station: "PACK-1", Source: "device:acme/gw", At: s.clock.now().UnixMilli(), Arrived: s.clock.now().UnixMilli()}
	x.Set(signal.LineSpeed, 17)
	_, err := s.Signals.Append([]signal.Signal{x})
	s.must(nil, err)
	select {
	case block := <-l.blocks:
		if !strings.Contains(block, `"lineSpeed":17,`) {
			t.Errorf("told is %s", block)
		}
	case <-time.After(20 * time.Second):
		t.Error("nothing is told")
	}
}

// TestTheShiftSoFarOverTheAPI: the shift in GET /station is byte for byte the answer of GET /oee for its time: during
// the shift, after late signals, after a change of the manifest and after corrections.
func TestTheShiftSoFarOverTheAPI(t *testing.T) {
	apptest.Long(t)
	s := newServer(t, options{})
	key, member, admin := s.roleKey(auth.Readonly), s.roleKey(auth.Member), s.roleKey(auth.Admin)
	begins := monday(t, s.clock.now()).AddDate(0, 0, 21) // an early shift in the future
	s.clock.advance(begins.Add(-2 * time.Minute).Sub(s.clock.now()))
	s.must(nil, s.Floor.Pass("acme"))
	if a := s.do(ask{method: "GET", path: "/station?stationcodes=PACK-1", key: key}).want(t, 200); a.at("results", "0", "shift") != nil {
		t.Errorf("before the shift there is %s", a.body)
	}
	s.must(nil, s.Floor.Do("acme", func(w *floor.Work) error {
		_, err := w.Record("PACK-1", monitor.Input{At: w.Now, Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: "s1", SKU: "B2"}})
		return err
	}))
	names := map[string]string{
		"availability": "availability", "performance": "performance", "quality": "quality", "oee": "oee", "coverage": "coverage", "goodCount": "productionGoodCount", "badCount": "productionBadCount",
		"unscheduledGoodCount": "unscheduledGoodCount", "unscheduledBadCount": "unscheduledBadCount",
		"idealCount": "productionIdealCount", "targetCount": "productionTargetCount", "scheduledProductionMs": "scheduledProductionMs", "downtimeMs": "downtimeMs", "productiveMs": "productiveMs",
	}
	compared := 0
	same := func() (differs string) {
		t.Helper()
		var station struct {
			Results []struct{ Shift map[string]json.RawMessage }
		}
		s.must(nil, json.Unmarshal(s.do(ask{method: "GET", path: "/station?stationcodes=PACK-1", key: key}).want(t, 200).body, &station))
		shift := station.Results[0].Shift
		if string(shift["startAt"]) == string(shift["until"]) {
			return ""
		}
		if got, want := string(shift["name"])+string(shift["startAt"])+string(shift["endAt"]), fmt.Sprintf("%q%q%q", "Early", instant.Format(begins), instant.Format(begins.Add(8*time.Hour))); got != want {
			t.Fatalf("the shift is %s, want %s", got, want)
		}
		var oee struct{ Results []map[string]json.RawMessage }
		path := "/oee?stationcodes=PACK-1&by=station&from=" + strings.Trim(string(shift["startAt"]), `"`) + "&to=" + strings.Trim(string(shift["until"]), `"`)
		s.must(nil, json.Unmarshal(s.do(ask{method: "GET", path: path, key: key}).want(t, 200).body, &oee))
		for ours, theirs := range names {
			compared++
			if a, b := string(shift[ours]), string(oee.Results[0][theirs]); a != b {
				differs += fmt.Sprintf("%s is %s, and asked for %s; ", ours, a, b)
			}
		}
		return differs
	}
	send := func(ago time.Duration, good, bad float64, productive bool) {
		t.Helper()
		x := signal.Signal{Account: "acme", Station: "PACK-1", Source: "device:acme/gw", At: s.clock.now().Add(-ago).UnixMilli(), Arrived: s.clock.now().UnixMilli()}
		x.Set(signal.ProductionCompleteGood, good)
		x.Set(signal.ProductionCompleteBad, bad)
		if x.Set(signal.Productive, 0); productive {
			x.Set(signal.Productive, 1)
		}
		_, err := s.Signals.Append([]signal.Signal{x})
		s.must(nil, err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for round := range 150 {
		s.clock.advance(time.Duration(20+rng.IntN(120)) * time.Second)
		switch {
		case round%10 == 7:
			send(time.Duration(rng.IntN(1800))*time.Second, 3, 1, true)
		case rng.IntN(6) > 0:
			send(0, float64(rng.IntN(4)), float64(rng.IntN(2)), rng.IntN(4) > 0)
		}
		switch round {
		case 60:
			s.do(ask{method: "PUT", path: "/account/manifest", key: member, body: strings.Replace(acme, `"unitsPerHour":90`, `"unitsPerHour":77.7`, 1)}).want(t, 200)
		case 90:
			s.do(ask{method: "POST", path: "/correction", key: admin, body: fmt.Sprintf(`{"stationCodes":["PACK-1"],"from":%q,"to":%q,"note":"n","changes":{"station":{"utilisationDowntimeThreshold":60000},"skus":[{"code":"B2","unitsPerHour":101}]}}`,
				instant.Format(begins.Add(20*time.Minute)), instant.Format(begins.Add(80*time.Minute)))}).want(t, 200)
		case 105: // causes no recalculation
			s.do(ask{method: "POST", path: "/correction", key: admin, body: fmt.Sprintf(`{"stationCodes":["PACK-1"],"from":%q,"to":%q,"note":"n","changes":{"reasons":[{"code":"BRK","oee":"planned"}]}}`,
				instant.Format(begins.Add(25*time.Minute)), instant.Format(begins.Add(71*time.Minute)))}).want(t, 200)
		case 120:
			s.do(ask{method: "POST", path: "/correction/1/undo", key: admin}).want(t, 200)
		}
		s.must(nil, s.Floor.Pass("acme"))
		differs := ""
		for range 200 { // late signals are processed concurrently
			if differs = same(); differs == "" {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		if differs != "" {
			t.Fatalf("round %d, at %v: %s", round, s.clock.now(), differs)
		}
	}
	if compared < 1000 {
		t.Errorf("%d figures were compared", compared)
	}
}
