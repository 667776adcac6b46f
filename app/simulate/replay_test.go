package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/instant"
)

// feed replays a log and returns the service's result and the reported lines.
func feed(t *testing.T, cfg ReplayConfig, log string, s *service) (done Replayed, told []string, err error) {
	t.Helper()
	s.t = t
	cfg.Log, cfg.Send = strings.NewReader(log), s.send
	cfg.Refused = func(line int, issue string) { told = append(told, fmt.Sprint(line, " ", issue)) }
	done, err = Replay(t.Context(), cfg)
	return done, told, err
}

func TestReplayReads(t *testing.T) {
	for _, tt := range []struct {
		name   string
		format Format
		log    string
		want   string // received signals
		told   []string
	}{
		{name: "empty", want: "null"},
		{name: "blank lines and a mark at the start", log: "\ufeff{\"stationCode\":\"A\",\"rssi\":-4}\r\n\n  \n{\"stationCode\":\"B\",\"rssi\":-5}",
			want: `[{"rssi":-4,"stationCode":"A"},{"rssi":-5,"stationCode":"B"}]`},
		{name: "bad lines between good ones",
			log:  "{\"stationCode\":\"A\",\"rssi\":1}\n{\n[1]\n{\"stationCode\":\"A\",\"rssi\":{}}\n{\"a\":1,\"a\":2}\n{\"stationCode\":\"\xff\"}\n{\"stationCode\":\"NO\",\"rssi\":1}\n{\"stationCode\":\"A\",\"rssi\":1e999}\n{\"stationCode\":\"A\",\"rssi\":2}\n",
			want: `[{"rssi":1,"stationCode":"A"},{"rssi":2,"stationCode":"A"}]`,
			told: []string{
				"2 column 2: a property name", "3 must be an object", "4 rssi must not be an object or an array",
				"5 column 8: the property \"a\" appears twice", "6 column", "8 column", "7 stationCode names a station which the account does not have",
			}},
		{name: "a long line", log: `{"stationCode":"A","id":"` + strings.Repeat("x", 2*lineLimit) + "\"}\n{\"stationCode\":\"A\",\"rssi\":2}\n",
			want: `[{"rssi":2,"stationCode":"A"}]`, told: []string{"1 must be 65536 bytes or fewer"}},
		{name: "CSV", format: CSV, log: "stationCode,at,productive,electricalKw,id\nA,2026-11-20T08:00:00Z,true,4.5,7\nA,,0,,\n\"A\",,,\"1e1\",\"x y\"\n",
			want: `[{"at":"2026-11-20T08:00:00Z","electricalKw":4.5,"id":"7","productive":true,"stationCode":"A"},{"productive":0,"stationCode":"A"},{"electricalKw":10,"id":"x y","stationCode":"A"}]`},
		{name: "CSV with semicolons", format: CSV, log: "\ufeffstationCode;electricalKw\nA;4,5\nA;1.25\n",
			want: `[{"electricalKw":4.5,"stationCode":"A"},{"electricalKw":1.25,"stationCode":"A"}]`},
		{name: "CSV with bad lines", format: CSV, log: "stationCode,rssi\nA,\"4\nA,1,2\n\xff,1\nNO,1\nA,5\n",
			want: `[{"rssi":5,"stationCode":"A"}]`,
			told: []string{`2 extraneous or missing " in quoted-field`, "3 must have 2 cells or fewer; it has 3", "4 must be text in UTF-8", "5 stationCode names"}},
		{name: "CSV with a text for a number", format: CSV, log: "stationCode,rssi\nA,weak\n", want: `[{"rssi":"weak","stationCode":"A"}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &service{refused: map[string]bool{"NO": true}}
			done, told, err := feed(t, ReplayConfig{Format: tt.format}, tt.log, s)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(s.taken)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if len(told) != len(tt.told) {
				t.Errorf("told %q", told)
			}
			for i, want := range tt.told {
				if i < len(told) && !strings.HasPrefix(told[i], want) {
					t.Errorf("told %q, want %q", told[i], want)
				}
			}
			if done.Accepted != len(s.taken) || done.Refused != len(told) || done.Signals != done.Accepted+done.Refused {
				t.Errorf("counted %+v", done)
			}
		})
	}
}

func TestReplayRefusesAWholeFile(t *testing.T) {
	for log, want := range map[string]string{
		"":                             "it is empty",
		"stationCode,nonsense\nA,1\n":  `column 2 is named "nonsense"`,
		"stationCode,stationCode\n":    "two columns are named",
		"stationCode,\"rssi\n":         "the line that names the columns",
		strings.Repeat("x", lineLimit): "line 1 must be",
	} {
		if _, _, err := feed(t, ReplayConfig{Format: CSV}, log, &service{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v", log, err)
		}
	}
}

const threeTimes = `{"stationCode":"A","at":"2020-01-01T00:01:00Z","rssi":1}
{"stationCode":"A","at":"2020-01-01T00:00:00.500Z","rssi":2}
{"stationCode":"A","rssi":3}
{"stationCode":"A","at":"2020-01-01T00:02:00.500Z","rssi":4}
`

func TestReplayMovesTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		if _, _, err := feed(t, ReplayConfig{ShiftNow: true}, threeTimes, s); err != nil {
			t.Fatal(err)
		}
		for i, back := range []time.Duration{60500 * time.Millisecond, 2 * time.Minute, -1, 0} {
			if back < 0 {
				if s.taken[i]["at"] != nil {
					t.Errorf("a signal without a time got %v", s.taken[i]["at"])
				}
				continue
			}
			if want := instant.Format(time.Now().Add(-back)); s.taken[i]["at"] != want {
				t.Errorf("signal %d is at %v, want %s", i, s.taken[i]["at"], want)
			}
		}
	})
}

// TestReplayKeepsPace: at twice the speed two minutes take one, and the last signal has the time at which it is sent.
func TestReplayKeepsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		began := time.Now()
		if _, _, err := feed(t, ReplayConfig{ShiftNow: true, Speed: 2}, threeTimes, s); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it took %v", took)
		}
		if want := instant.Format(time.Now()); s.taken[3]["at"] != want {
			t.Errorf("the last is at %v, and it is %s", s.taken[3]["at"], want)
		}
	})
}

// TestReplayDoesNotSendTwice: signals that may have been accepted are not repeated, because without IDs they would
// count twice. Signals refused by a busy service are.
func TestReplayDoesNotSendTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{fail: func(n int) error {
			if n == 2 {
				return errors.New("connection reset")
			}
			return nil
		}}
		_, _, err := feed(t, ReplayConfig{Batch: 2}, threeTimes, s)
		if err == nil || !strings.Contains(err.Error(), "lines 3 to 4: ") || !strings.Contains(err.Error(), "connection reset") || s.asked != 2 {
			t.Errorf("after %d requests: %v", s.asked, err)
		}
		s = &service{refuse: func(n int) *Answer {
			if n == 1 {
				return &Answer{Status: 429, RetryAfter: 3 * time.Second}
			}
			return nil
		}}
		done, _, err := feed(t, ReplayConfig{Patience: time.Minute}, threeTimes, s)
		if err != nil || done.Accepted != 4 || s.asked != 2 {
			t.Errorf("after %d requests: %+v, %v", s.asked, done, err)
		}
	})
}

// TestReplayOfABadRequest: an error of a whole request is reported for each line, and the next request is sent.
func TestReplayOfABadRequest(t *testing.T) {
	s := &service{refuse: func(n int) *Answer {
		if n == 1 {
			return &Answer{Status: 400, Body: []byte(`{"errorCode":"invalidInput","errorMessage":"odd","details":[{"field":"signals","issue":"are odd"}]}`)}
		}
		return nil
	}}
	done, told, err := feed(t, ReplayConfig{Batch: 3}, threeTimes, s)
	if err != nil || done.Refused != 3 || done.Accepted != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	if want := []string{"1 signals are odd", "2 signals are odd", "3 signals are odd"}; !cmp.Equal(told, want) {
		t.Errorf("told %q", told)
	}
}

// FuzzReplay: every line of a log is sent or reported, and requests are valid JSON.
func FuzzReplay(f *testing.F) {
	f.Add([]byte(threeTimes), false)
	f.Add([]byte("stationCode;rssi\nA;1,5\n\"\n"), true)
	f.Add([]byte("{\"a\":\"\\ud800\"}\n{\"at\":\"2020-01-01T00:01:00Z\",\"a\":1e400}"), false)
	f.Fuzz(func(t *testing.T, log []byte, table bool) {
		cfg := ReplayConfig{ShiftNow: true}
		if table {
			cfg.Format = CSV
		}
		s := &service{t: t}
		cfg.Log, cfg.Send = strings.NewReader(string(log)), func(_ context.Context, r Request) (Answer, error) {
			var in struct{ Signals []json.RawMessage }
			if err := json.Unmarshal(r.Body, &in); err != nil {
				t.Fatalf("%q: %v", r.Body, err)
			}
			s.asked += len(in.Signals)
			return Answer{Status: 200, Body: []byte(`{"results":[]}`)}, nil
		}
		done, err := Replay(t.Context(), cfg)
		if err == nil && done.Signals != s.asked+done.Refused {
			t.Errorf("%+v, sent %d", done, s.asked)
		}
	})
}
