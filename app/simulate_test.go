package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/demo"
	"opsmon/app/ingest/signal"
	"opsmon/app/simulate"
	"opsmon/app/test/apptest"
)

// sender sends a simulator's requests to a service.
func sender(url, key string) simulate.Send {
	return func(ctx context.Context, in simulate.Request) (simulate.Answer, error) {
		req, err := http.NewRequestWithContext(ctx, in.Method, url+in.Path+"?"+in.Query.Encode(), bytes.NewReader(in.Body))
		if err != nil {
			return simulate.Answer{}, err
		}
		req.Header.Set("X-API-KEY", key)
		if in.Body != nil {
			req.Header.Set("Content-Type", "application/json")
		}
		if in.IdempotencyKey != "" {
			req.Header.Set("Idempotency-Key", in.IdempotencyKey)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return simulate.Answer{}, err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		return simulate.Answer{Status: resp.StatusCode, Body: b}, err
	}
}

// examplePlant returns the example plant as an account of northgate.example has it.
func examplePlant(t *testing.T) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(demo.Manifest(), &doc); err != nil {
		t.Fatal(err)
	}
	account := doc["account"].(map[string]any)
	account["id"], account["domain"] = "northgate", "northgate.example"
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// plant puts the example plant into a service's account.
func (r *running) plant(t *testing.T) *simulate.Plant {
	t.Helper()
	manifest := examplePlant(t)
	if status := r.request(t, http.MethodPut, "/account/manifest", r.key, string(manifest)); status != http.StatusOK {
		t.Fatalf("PUT /account/manifest: %d", status)
	}
	plant, err := simulate.ReadPlant(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return plant
}

// TestReplayedSignalsAreInTheLog: a file that was written by one is, replayed, the same signals in the log.
func TestReplayedSignalsAreInTheLog(t *testing.T) {
	r := serve(t, testConfig(t))
	plant := r.plant(t)
	const hour = 3_600_000
	from := time.Now().UnixMilli()/hour*hour - 4*hour
	events, err := simulate.New(plant, simulate.Config{Seed: 8, IDs: true}).Events(nil, from, from+3*hour)
	if err != nil {
		t.Fatal(err)
	}
	var file []byte
	want := map[string]map[string]string{} // by station and id: as it is to be in the log
	for _, e := range events {
		if e.Act != nil {
			continue
		}
		file = append(e.Signal.AppendJSON(file, e.Station), '\n')
		if want[e.Station] == nil {
			want[e.Station] = map[string]string{}
		}
		want[e.Station][e.Signal.ID] = string(e.Signal.AppendJSON(nil, e.Station))
	}
	done, err := simulate.Replay(t.Context(), simulate.ReplayConfig{Log: bytes.NewReader(file), Send: sender(r.url, r.key), Refused: func(line int, issue string) {
		t.Errorf("line %d: %s", line, issue)
	}})
	if err != nil || done.Accepted == 0 || done.Accepted != done.Signals {
		t.Fatalf("%+v, %v", done, err)
	}
	got := map[string]map[string]string{}
	for code := range want {
		got[code] = map[string]string{}
		// A machine that was away sends what it has from before.
		for day := signal.Day(from - 24*hour); day <= signal.Day(from+4*hour); day++ {
			list, err := r.services.Signals.Of("northgate", code, day)
			if err != nil {
				t.Fatal(err)
			}
			for i := range list {
				if _, twice := got[code][list[i].ID]; twice {
					t.Errorf("%s: %s is in the log twice", code, list[i].ID)
				}
				got[code][list[i].ID] = string(inFile(&list[i]).AppendJSON(nil, code))
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff[:min(len(diff), 3000)])
	}
}

// inFile returns a signal of the log as the simulator has it.
func inFile(s *signal.Signal) *simulate.Signal {
	out := simulate.Signal{At: s.At, ID: s.ID, ErrorCode: s.ErrorCode}
	for from, to := range map[signal.Field]simulate.Field{
		signal.ProductionCompleteGood: simulate.CompleteGood, signal.ProductionCompleteBad: simulate.CompleteBad,
		signal.ProductionCountGood: simulate.CountGood, signal.ProductionCountBad: simulate.CountBad,
		signal.Productive: simulate.Productive, signal.LineSpeed: simulate.LineSpeed, signal.ElectricalKwh: simulate.Kwh,
		signal.ElectricalKw: simulate.Kw, signal.ElectricalVolts: simulate.Volts, signal.ElectricalAmps: simulate.Amps, signal.RSSI: simulate.RSSI,
	} {
		if v, ok := s.Get(from); ok {
			out.Set(to, v)
		}
	}
	return &out
}

// TestDemoLives: the demonstration's page is there at once, and a little later its stations have a past and a present.
func TestDemoLives(t *testing.T) {
	apptest.Long(t)
	apptest.Binary(t) // it may have to be built first
	began := time.Now()
	p := apptest.Start(t, "URL", "demo", "--listen", "127.0.0.1:0")
	p.URL = strings.TrimSpace(p.URL)
	if p.Status(http.MethodGet, "/", "", "") != http.StatusOK {
		t.Error("there is no page")
	}
	t.Logf("the page came after %v", time.Since(began)) // a second, on a machine that has nothing else to do
	line, err := p.Lines.ReadString('\n')
	key, found := strings.CutPrefix(line, "API key")
	if err != nil || !found {
		t.Fatalf("it printed %q, %v", line, err)
	}
	key = strings.TrimSpace(key)
	apptest.Eventually(t, "what a schedule has made", func() bool {
		var out struct {
			Results []struct {
				Good float64 `json:"goodCount"`
			} `json:"results"`
		}
		if _, err := p.Do(http.MethodGet, "/schedule?state=running&rangecode=last7d", key, "", &out); err != nil {
			t.Fatal(err)
		}
		made := 0
		for _, s := range out.Results {
			if s.Good > 0 {
				made++
			}
		}
		return made >= 2 // the kilns never stop
	})
	if status := p.End(t, apptest.Terminate); status != 0 {
		t.Errorf("it ended with %d: %s", status, p.Stderr)
	}
	if p.Stderr.Len() > 0 {
		t.Errorf("it said %s", p.Stderr)
	}
}
