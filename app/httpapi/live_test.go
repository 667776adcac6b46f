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
	"opsmon/app/floor"
	"opsmon/app/monitor"
	"opsmon/app/signal"
)

// screen is what one client has seen: what a station showed, by its sequence number.
type screen struct {
	t    *testing.T
	name string
	seen map[string]string // "station sequence" -> the value
	last map[string]uint64 // by station
}

func newScreen(t *testing.T, name string) *screen {
	return &screen{t: t, name: name, seen: map[string]string{}, last: map[string]uint64{}}
}

// shows notes a value; a sequence number never goes back, and never shows another value.
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

// take notes what a stream has brought so far.
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

// TestAllScreensShowTheSame: two streams and whoever asks see with a sequence number one value, in one order, and in the end
// the same; without waiting for a second to be over.
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
	s.must(nil, s.floor.Do("acme", func(w *floor.Work) error {
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
			_, err := s.signals.Append([]signal.Signal{x})
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

// TestASignalIsToldAtOnce: nobody waits for the second to be over.
func TestASignalIsToldAtOnce(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	key := s.roleKey(auth.Readonly)
	s.do(ask{method: "GET", path: "/station", key: key}).want(t, 200) // the stations are there
	s.clock.advance(time.Minute)
	s.must(nil, s.floor.Pass("acme"))
	l := s.listen(ask{path: "/events?types=station&stationcodes=PACK-1", key: key})
	<-l.blocks
	s.clock.advance(500 * time.Millisecond) // half of the second until the next look at all stations
	x := signal.Signal{Account: "acme", Station: "PACK-1", Source: "device:acme/gw", At: s.clock.now().UnixMilli(), Arrived: s.clock.now().UnixMilli()}
	x.Set(signal.LineSpeed, 17)
	_, err := s.signals.Append([]signal.Signal{x})
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
