package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/simulate"
)

// hourMs is an hour in milliseconds.
const hourMs = int64(time.Hour / time.Millisecond)

// restless is a service that is killed again and again, with what it takes to speak to it.
type restless struct {
	dir, key string
	url      atomic.Pointer[string]
}

// send sends to the service as it runs at the moment.
func (r *restless) send(ctx context.Context, in simulate.Request) (simulate.Answer, error) {
	return sender(*r.url.Load(), r.key)(ctx, in)
}

func (r *restless) start(t *testing.T) *process {
	t.Helper()
	p := startService(t, r.dir)
	r.url.Store(&p.url)
	return p
}

// newRestless makes a store with the example plant.
func newRestless(t *testing.T, manifest []byte) *restless {
	t.Helper()
	r := &restless{dir: t.TempDir()}
	file := filepath.Join(t.TempDir(), "plant.json")
	if err := os.WriteFile(file, manifest, 0o600); err != nil {
		t.Fatal(err)
	}
	r.key = initialise(t, r.dir, "--domain", "northgate.example", "--manifest", file)
	return r
}

// roundTheClock is the example plant with work at every hour, so that it does not matter when the test runs, and with
// people who may end what they started.
func roundTheClock(t *testing.T) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(examplePlant(t), &doc); err != nil {
		t.Fatal(err)
	}
	plants := doc["account"].(map[string]any)["plants"].([]any)
	for _, group := range plants[0].(map[string]any)["stationGroups"].([]any) {
		g := group.(map[string]any)
		g["shiftPatternCode"] = "kiln"
		delete(g, "enableScheduleCutShort")
		for _, station := range g["stations"].([]any) {
			delete(station.(map[string]any), "shiftPatternCode")
		}
	}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// shiftPlayed is a shift as a service is to see it: the machines, and people who start and end schedules, at a speed; and
// then, at once, what people enter when they see what came of it.
type shiftPlayed struct {
	manifest []byte
	from, to int64 // ms
}

// play plays events of some deeds, or what machines send for deed 0, and counts what the service took.
func (s *shiftPlayed) play(t *testing.T, r *restless, speed float64, deeds ...simulate.Deed) (simulate.Progress, error) {
	plant, err := simulate.ReadPlant(s.manifest)
	if err != nil {
		return simulate.Progress{}, err
	}
	player := simulate.NewPlayer(simulate.PlayConfig{
		// Which end comes first, that by hand or that by a count, is the service's to find when it hears of both late.
		Generator: simulate.New(plant, simulate.Config{Seed: 11, IDs: true, EndedByHand: true}),
		Send:      r.send, From: s.from, Until: s.to, Speed: speed, Patience: time.Minute, Step: 5 * 60_000,
		Only: func(e *simulate.Event) bool {
			deed := simulate.Deed(0)
			if e.Act != nil {
				deed = e.Act.Deed
			}
			return slices.Contains(deeds, deed)
		},
		Trouble: func(why string) {
			if !strings.HasPrefix(why, "waiting") {
				t.Log(why)
			}
		},
	})
	err = player.Play(t.Context())
	return player.Progress(), err
}

var (
	shiftLive  = []simulate.Deed{0, simulate.Plan, simulate.Start, simulate.End, simulate.SignOn, simulate.Halt, simulate.Resume}
	shiftAfter = []simulate.Deed{simulate.Count, simulate.Reject}
	shiftLast  = []simulate.Deed{simulate.Cause} // of stops that are to be there
)

// calmShift plays the shift to a service that is left alone.
func (s *shiftPlayed) calmShift(t *testing.T, r *restless) (live, after simulate.Progress, p *process) {
	t.Helper()
	p = r.start(t)
	live, err := s.play(t, r, 0, shiftLive...)
	if err != nil {
		t.Fatal(err)
	}
	s.settled(t, r, p)
	if after, err = s.play(t, r, 0, shiftAfter...); err != nil {
		t.Fatal(err)
	}
	return live, after, p
}

// TestKilledInAShift plays a shift at a thousand times its speed to a service that is killed at random moments. In the end
// its figures are those of a service that was left alone.
func TestKilledInAShift(t *testing.T) {
	shift := &shiftPlayed{manifest: roundTheClock(t)}
	shift.from = (time.Now().UnixMilli()/hourMs - 10) * hourMs
	shift.to = shift.from + shiftMinutes*hourMs/60
	calm := newRestless(t, shift.manifest)
	wantLive, wantAfter, calmly := shift.calmShift(t, calm)

	rough := newRestless(t, shift.manifest)
	p := rough.start(t)
	kills := 0
	killed := func(play func() (simulate.Progress, error)) simulate.Progress {
		t.Helper()
		type result struct {
			simulate.Progress
			error
		}
		played := make(chan result, 1)
		go func() {
			progress, err := play()
			played <- result{progress, err}
		}()
		for {
			select {
			case r := <-played:
				if r.error != nil {
					t.Fatal(r.error)
				}
				p.kill()
				kills++
				p = rough.start(t)
				return r.Progress
			case <-time.After(time.Duration(50+rand.IntN(shiftMinutes*60/shiftKills)) * time.Millisecond):
			}
			p.kill()
			kills++
			p = rough.start(t)
		}
	}
	live := killed(func() (simulate.Progress, error) { return shift.play(t, rough, 1000, shiftLive...) })
	shift.settled(t, rough, p)
	after := killed(func() (simulate.Progress, error) { return shift.play(t, rough, 0, shiftAfter...) })
	causes := shift.explain(t, rough, p)
	p.kill()
	p = rough.start(t)
	t.Logf("%d kills; %+v %+v, %d causes", kills, live, after, causes)
	if kills < shiftKills {
		t.Errorf("only %d kills", kills)
	}
	if live.Signals < 1000 || live.Acts < 30 || after.Acts == 0 {
		t.Errorf("too little happened to tell anything: %+v %+v", live, after)
	}
	if live.Signals != wantLive.Signals || live.Acts != wantLive.Acts || after.Acts != wantAfter.Acts {
		t.Errorf("taken were %+v and %+v; undisturbed %+v and %+v", live, after, wantLive, wantAfter)
	}
	if want := shift.explain(t, calm, calmly); causes != want || want == 0 && shiftMinutes > 100 {
		t.Errorf("%d stops were explained, undisturbed %d", causes, want)
	}
	want := shift.settled(t, calm, calmly)
	diff := ""
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if diff = cmp.Diff(want, shift.figures(t, rough, p)); diff == "" && rough.noneLate(t, p) { // what came last is being computed
			break
		}
	}
	if diff != "" {
		t.Errorf("the figures are not those of an undisturbed run: %s", diff[:min(len(diff), 8000)])
	}
	if status := p.end(t, terminate); status != 0 {
		t.Errorf("exit status %d: %s", status, p.stderr)
	}
	if out, stderr, status := command(t, "check", "--data-dir", rough.dir); status != 0 {
		t.Errorf("check: %s%s", out, stderr)
	}
}

// explain says what caused the stops, when all of them are there, and gives how many those were.
func (s *shiftPlayed) explain(t *testing.T, r *restless, p *process) int {
	t.Helper()
	s.settled(t, r, p)
	done, err := s.play(t, r, 0, shiftLast...)
	if err != nil {
		t.Fatal(err)
	}
	return done.Acts
}

// noneLate tells whether the service has computed all that came late.
func (r *restless) noneLate(t *testing.T, p *process) bool {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-KEY", r.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(text), "\napp_floor_late_stations ") {
		t.Fatalf("GET /metrics: %s, %v", resp.Status, err)
	}
	return strings.Contains(string(text), "\napp_floor_late_stations 0\n")
}

// settled waits until nothing is to be computed again and the figures stay as they are, and gives them.
func (s *shiftPlayed) settled(t *testing.T, r *restless, p *process) []string {
	t.Helper()
	last, since := s.figures(t, r, p), time.Now()
	for end := time.Now().Add(time.Minute); time.Since(since) < 3*time.Second; time.Sleep(300 * time.Millisecond) {
		if now := s.figures(t, r, p); !slices.Equal(now, last) || !r.noneLate(t, p) {
			last, since = now, time.Now()
		}
		if time.Now().After(end) {
			t.Fatal("the figures do not come to rest")
		}
	}
	return last
}

// figures gives what the service tells of the shift: windows by the minute, OEE by the hour and by the schedule. The ids of
// schedules are left out: each run makes its own.
func (s *shiftPlayed) figures(t *testing.T, r *restless, p *process) (lines []string) {
	t.Helper()
	span := fmt.Sprintf("from=%s&to=%s", time.UnixMilli(s.from).UTC().Format(time.RFC3339), time.UnixMilli(s.to).UTC().Format(time.RFC3339))
	names := map[string]string{}
	list := func(path string) {
		t.Helper()
		var out struct {
			Results []json.RawMessage `json:"results"`
		}
		resp, err := p.do(http.MethodGet, path, r.key, "", &out)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: %v %v", path, resp, err)
		}
		for _, row := range out.Results {
			text := string(row)
			for id, name := range names {
				text = strings.ReplaceAll(text, id, name)
			}
			lines = append(lines, text)
		}
	}
	var schedules struct {
		Results []struct {
			ID    string  `json:"id"`
			Ref   string  `json:"workOrderReference"`
			State string  `json:"state"`
			Start string  `json:"actualStartAt"`
			End   string  `json:"actualEndAt"`
			Good  float64 `json:"goodCount"`
			Bad   float64 `json:"badCount"`
			Other float64 `json:"otherCount"`
		} `json:"results"`
	}
	if resp, err := p.do(http.MethodGet, "/schedule?limit=1000&"+span, r.key, "", &schedules); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET /schedule: %v %v", resp, err)
	}
	for i, x := range schedules.Results {
		name := x.Ref
		if name == "" {
			name = fmt.Sprint("schedule ", i)
		}
		names[x.ID] = name
		lines = append(lines, fmt.Sprint(name, " ", x.State, " ", x.Start, " ", x.End, " ", x.Good, " ", x.Bad, " ", x.Other))
	}
	sort.Strings(lines)
	var issues struct {
		Results []struct{ ID, StartAt, EndAt, CauseCode, CauseFrom string } `json:"results"`
	}
	if resp, err := p.do(http.MethodGet, "/issue?limit=1000&"+span, r.key, "", &issues); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET /issue: %v %v", resp, err)
	}
	for _, x := range issues.Results {
		lines = append(lines, fmt.Sprintf("%+v", x)) // not for how long one lasts that goes on
	}
	list("/station-window?limit=100000&" + span)
	list("/oee?by=station,hour&" + span)
	list("/oee?by=sku&profile=vorne&" + span)
	return lines
}
