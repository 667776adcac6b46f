package app

import (
	"bytes"
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
	"opsmon/app/test/apptest"
)

// hourMs is an hour in milliseconds.
const hourMs = int64(time.Hour / time.Millisecond)

// restless is a service that is killed again and again, with what it takes to speak to it.
type restless struct {
	dir, key string
	url      atomic.Pointer[string]
}

// noneLate reports whether the service has computed all that came late.
func (r *restless) noneLate(ctx context.Context) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, *r.url.Load()+"/metrics", nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("X-API-KEY", r.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && !strings.Contains(string(text), "\napp_floor_late_stations ") {
		err = fmt.Errorf("GET /metrics: %s", resp.Status)
	}
	return strings.Contains(string(text), "\napp_floor_late_stations 0\n"), err
}

// send sends to the service as it runs at the moment. No schedule ends by its quantity: that is an act of the service's
// own, which is an input from then on (monitoring.md section 4), and of a shift that is played in seconds it depends on
// the processor whether the service or a person comes first.
func (r *restless) send(ctx context.Context, in simulate.Request) (simulate.Answer, error) {
	if in.Path == "/schedule" && bytes.Contains(in.Body, []byte(`"plannedQuantity"`)) {
		var order map[string]any
		if err := json.Unmarshal(in.Body, &order); err != nil {
			return simulate.Answer{}, err
		}
		order["autoEndOnQuantityComplete"] = false
		in.Body, _ = json.Marshal(order)
	}
	return sender(*r.url.Load(), r.key)(ctx, in)
}

func (r *restless) start(t *testing.T) *apptest.Process {
	t.Helper()
	p := apptest.StartService(t, r.dir)
	r.url.Store(&p.URL)
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
	r.key = apptest.Initialise(t, r.dir, "--domain", "northgate.example", "--manifest", file)
	return r
}

// roundTheClock is the example plant with work at every hour, so that it does not matter when the test runs, with
// people who may end what they started, and without the Tasks that fall due by the clock on the wall, which is not that
// of the shift.
func roundTheClock(t *testing.T) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(examplePlant(t), &doc); err != nil {
		t.Fatal(err)
	}
	account := doc["account"].(map[string]any)
	account["includeTaskListCodes"] = []string{"START", "SAFETY"}
	plants := account["plants"].([]any)
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

// shiftPlayed is a shift as a service is to see it: the machines, and people who start and end schedules, at a speed;
// and then, at once, what people enter when they see what came of it.
type shiftPlayed struct {
	manifest []byte
	seed     uint64
	from, to int64 // ms
}

// eventful picks a shift of today in which enough happens: machines send, people start and end schedules, count and
// reject. What there is in it depends on the hour and the day: the first hour of a production day ends nothing.
func (s *shiftPlayed) eventful(t *testing.T) {
	t.Helper()
	plant, err := simulate.ReadPlant(s.manifest)
	if err != nil {
		t.Fatal(err)
	}
	s.seed = 11
	for ago := int64(10); ago < 20; ago++ { // what people enter may be a day old
		s.from = (time.Now().UnixMilli()/hourMs - ago) * hourMs
		s.to = s.from + shiftMinutes*hourMs/60
		events, err := simulate.New(plant, simulate.Config{Seed: s.seed, IDs: true}).Events(nil, s.from, s.to)
		if err != nil {
			t.Fatal(err)
		}
		signals, acts := 0, [3]int{}
		for i := range events {
			if events[i].Act == nil {
				signals++
				continue
			}
			for phase, kinds := range shiftPhases {
				if slices.Contains(kinds, events[i].Act.Kind) {
					acts[phase]++
				}
			}
		}
		if signals >= 1000 && acts[0] >= 30 && acts[1] > 0 && (acts[2] > 0 || shiftMinutes <= 100) {
			return
		}
	}
	t.Fatal("in no shift of today enough happens to tell anything")
}

// play plays events of some kinds, or what machines send for kind 0, and counts what the service took.
func (s *shiftPlayed) play(t *testing.T, r *restless, speed float64, kinds ...simulate.ActKind) (simulate.Progress, error) {
	plant, err := simulate.ReadPlant(s.manifest)
	if err != nil {
		return simulate.Progress{}, err
	}
	player := simulate.NewPlayer(simulate.PlayConfig{
		Generator: simulate.New(plant, simulate.Config{Seed: s.seed, IDs: true}),
		Send:      r.send, From: s.from, Until: s.to, Speed: speed, Patience: time.Minute, Step: 5 * 60_000,
		Only: func(e *simulate.Event) bool {
			kind := simulate.ActKind(0)
			if e.Act != nil {
				kind = e.Act.Kind
			}
			return slices.Contains(kinds, kind)
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
	shiftLive  = []simulate.ActKind{0, simulate.Plan, simulate.Start, simulate.End, simulate.SignOn, simulate.Halt, simulate.Resume, simulate.DoTasks, simulate.Walk}
	shiftAfter = []simulate.ActKind{simulate.Count, simulate.Reject}
	shiftLast  = []simulate.ActKind{simulate.Cause} // of stops that are to be there

	shiftPhases = [][]simulate.ActKind{shiftLive, shiftAfter, shiftLast}
)

// served is a store with the service that runs on it.
type served struct {
	*restless
	p *apptest.Process
}

// TestKilledInAShift plays a shift at a thousand times its speed to a service that is killed at random moments. In the
// end its figures are those of a service that was left alone.
func TestKilledInAShift(t *testing.T) {
	apptest.Long(t)
	t.Parallel()
	shift := &shiftPlayed{manifest: roundTheClock(t)}
	shift.eventful(t)
	calm, rough := &served{restless: newRestless(t, shift.manifest)}, &served{restless: newRestless(t, shift.manifest)}
	calm.p, rough.p = calm.start(t), rough.start(t)
	kills := 0
	kill := func() {
		rough.p.Kill()
		kills++
		rough.p = rough.start(t)
	}
	all := [2][3]simulate.Progress{}
	for phase, kinds := range shiftPhases {
		var err error
		if all[0][phase], err = shift.play(t, calm.restless, 0, kinds...); err != nil {
			t.Fatal(err)
		}
		type result struct {
			simulate.Progress
			error
		}
		played := make(chan result, 1)
		go func() {
			progress, err := shift.play(t, rough.restless, []float64{1000, 0, 0}[phase], kinds...)
			played <- result{progress, err}
		}()
		for last := false; !last; {
			select {
			case r := <-played:
				if all[1][phase] = r.Progress; r.error != nil {
					t.Fatal(r.error)
				}
				last = true
			case <-time.After(time.Duration(50+rand.IntN(shiftMinutes*60/shiftKills)) * time.Millisecond):
			}
			if last || kills < shiftKills {
				kill()
			}
		}
		if diff := shift.agree(t, calm, rough); diff != "" {
			t.Fatalf("after phase %d and %d kills the figures are not those of an undisturbed run: %s", phase, kills, diff[:min(len(diff), 8000)])
		}
	}
	t.Logf("%d kills; %+v", kills, all[1])
	if kills < shiftKills {
		t.Errorf("only %d kills", kills)
	}
	for phase := range all[0] {
		if calm, rough := &all[0][phase], &all[1][phase]; calm.Signals != rough.Signals || phase > 0 && calm.Acts != rough.Acts { // of the first phase's the figures tell
			t.Errorf("in phase %d was taken %+v; undisturbed %+v", phase, *rough, *calm)
		}
	}
	if live := all[1][0]; live.Signals < 1000 || live.Acts < 30 || all[1][1].Acts == 0 || all[1][2].Acts == 0 && shiftMinutes > 100 {
		t.Errorf("too little happened to tell anything: %+v", all[1])
	}
	text := strings.Join(shift.figures(t, rough.restless, rough.p), "\n")
	if strings.Contains(text, "{quantityReached ") || !strings.Contains(text, "\ntask ") {
		t.Errorf("a schedule ended by its quantity, or there was no Task: %s", text[:3000])
	}
	if status := rough.p.End(t, apptest.Terminate); status != 0 {
		t.Errorf("exit status %d: %s", status, rough.p.Stderr)
	}
	if out, stderr, status := apptest.Command(t, "check", "--data-dir", rough.dir); status != 0 {
		t.Errorf("check: %s%s", out, stderr)
	}
}

// agree waits until nothing is to be computed again at two services and they tell the same, for half a second.
// Otherwise it gives how they differ.
func (s *shiftPlayed) agree(t *testing.T, a, b *served) (diff string) {
	t.Helper()
	var last []string
	settled := func(x *served) bool {
		none, err := x.noneLate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return none
	}
	since := time.Now()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		one, other := s.figures(t, a.restless, a.p), s.figures(t, b.restless, b.p)
		diff = cmp.Diff(one, other)
		if diff != "" || !slices.Equal(one, last) || !settled(a) || !settled(b) {
			last, since = one, time.Now()
		}
		if diff == "" && time.Since(since) > time.Second/2 {
			return ""
		}
	}
	return diff + "\n(or they do not come to rest)"
}

// figures returns what the service tells of the shift: windows by the minute, OEE by the hour and by the schedule. The
// ids of schedules are left out: each run makes its own.
func (s *shiftPlayed) figures(t *testing.T, r *restless, p *apptest.Process) (lines []string) {
	t.Helper()
	span := fmt.Sprintf("from=%s&to=%s", time.UnixMilli(s.from).UTC().Format(time.RFC3339), time.UnixMilli(s.to).UTC().Format(time.RFC3339))
	names := map[string]string{} // of schedules
	type move struct{ Move, At string }
	list := func(path string) {
		t.Helper()
		var out struct {
			Results []json.RawMessage `json:"results"`
		}
		resp, err := p.Do(http.MethodGet, path, r.key, "", &out)
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
			ID     string  `json:"id"`
			Ref    string  `json:"workOrderReference"`
			State  string  `json:"state"`
			Start  string  `json:"actualStartAt"`
			End    string  `json:"actualEndAt"`
			Good   float64 `json:"goodCount"`
			Bad    float64 `json:"badCount"`
			Other  float64 `json:"otherCount"`
			Events []move  `json:"events"`
		} `json:"results"`
	}
	if resp, err := p.Do(http.MethodGet, "/schedule?limit=1000&"+span, r.key, "", &schedules); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET /schedule: %v %v", resp, err)
	}
	for i, x := range schedules.Results {
		name := x.Ref
		if name == "" {
			name = fmt.Sprint("schedule ", i)
		}
		names[x.ID] = name
		lines = append(lines, fmt.Sprint(name, " ", x.State, " ", x.Start, " ", x.End, " ", x.Good, " ", x.Bad, " ", x.Other, x.Events))
	}
	sort.Strings(lines)
	var tasks struct {
		Results []struct {
			Station   string  `json:"stationCode"`
			Task      string  `json:"taskCode"`
			State     string  `json:"state"`
			Schedule  string  `json:"scheduleId"`
			Completed *string `json:"completedAt"`
			By        *string `json:"completedBy"`
		} `json:"results"`
	}
	if resp, err := p.Do(http.MethodGet, "/task?limit=1000&"+span, r.key, "", &tasks); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET /task: %v %v", resp, err)
	}
	for _, x := range tasks.Results {
		if x.Completed != nil {
			x.State += " " + *x.Completed + " " + *x.By
		}
		lines = append(lines, fmt.Sprint("task ", x.Station, " ", x.Task, " ", names[x.Schedule], " ", x.State))
	}
	sort.Strings(lines)
	var issues struct {
		Results []struct{ ID, StartAt, EndAt, CauseCode, CauseFrom string } `json:"results"`
	}
	if resp, err := p.Do(http.MethodGet, "/issue?limit=1000&"+span, r.key, "", &issues); err != nil || resp.StatusCode != http.StatusOK {
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
