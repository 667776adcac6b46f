package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/floor"
	"opsmon/app/monitor"
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

// roundTheClock is the example plant with work at every hour, so that it does not matter when the test runs.
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

// TestKilledInAShift plays a shift at a thousand times its speed to a service that is killed at random moments. In the end
// its figures are those of a service that was left alone.
func TestKilledInAShift(t *testing.T) {
	manifest := roundTheClock(t)
	from := (time.Now().UnixMilli()/hourMs - 10) * hourMs
	to := from + shiftMinutes*hourMs/60
	play := func(r *restless, speed float64) (simulate.Progress, error) {
		plant, err := simulate.ReadPlant(manifest)
		if err != nil {
			t.Fatal(err)
		}
		player := simulate.NewPlayer(simulate.PlayConfig{
			Generator: simulate.New(plant, simulate.Config{Seed: 11, IDs: true}), Send: r.send, From: from, Until: to, Speed: speed, Patience: time.Minute,
			Step:    5 * 60_000,
			Trouble: func(why string) { t.Log(why) },
		})
		err = player.Play(t.Context())
		return player.Progress(), err
	}

	calm := newRestless(t, manifest)
	p := calm.start(t)
	wanted, err := play(calm, 0)
	if err != nil {
		t.Fatal(err)
	}
	if status := p.end(t, terminate); status != 0 {
		t.Errorf("exit status %d: %s", status, p.stderr)
	}

	rough := newRestless(t, manifest)
	p = rough.start(t)
	type result struct {
		simulate.Progress
		error
	}
	played := make(chan result, 1)
	go func() {
		progress, err := play(rough, 1000)
		played <- result{progress, err}
	}()
	var got *result
	kills := 0
	for got == nil {
		select {
		case r := <-played:
			got = &r
			continue
		case <-time.After(time.Duration(50+rand.IntN(2*shiftMinutes*60/shiftKills)) * time.Millisecond):
		}
		p.kill()
		kills++
		p = rough.start(t)
	}
	if got.error != nil {
		t.Fatal(got.error)
	}
	p.kill()
	t.Logf("%d kills; %+v; undisturbed %+v", kills, got.Progress, wanted)
	if kills < shiftKills/2 {
		t.Errorf("only %d kills", kills)
	}
	if got.Signals != wanted.Signals || got.Acts != wanted.Acts {
		t.Errorf("%d signals and %d acts were taken, undisturbed %d and %d", got.Signals, got.Acts, wanted.Signals, wanted.Acts)
	}
	if out, stderr, status := command(t, "check", "--data-dir", rough.dir); status != 0 {
		t.Errorf("check: %s%s", out, stderr)
	}
	want := figures(t, calm, from, to)()
	if len(want) < 10 {
		t.Fatalf("there are figures of %d stations", len(want))
	}
	figuresNow, diff := figures(t, rough, from, to), ""
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if diff = cmp.Diff(want, figuresNow()); diff == "" { // what came last is being computed
			break
		}
	}
	if diff != "" {
		t.Errorf("the figures are not those of an undisturbed run: %s", diff[:min(len(diff), 8000)])
	}
}

// figures starts the service in this process, until the test ends, and gives what tells what it knows of the range, station
// by station. The ids of schedules are left out: each run makes its own.
func figures(t *testing.T, r *restless, from, to int64) func() map[string][]string {
	t.Helper()
	cfg := DefaultConfig()
	cfg.DataDir, cfg.Backup.Every = r.dir, 0
	a, err := Open(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a.start()
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return func() map[string][]string {
		list, err := a.floor.Now("northgate")
		if err != nil {
			t.Fatal(err)
		}
		out := map[string][]string{}
		for _, live := range list {
			d, err := a.floor.Detail("northgate", live.Station.Code, from, to)
			if err != nil {
				t.Fatal(err)
			}
			out[live.Station.Code] = figuresOf(d)
		}
		return out
	}
}

// figuresOf writes what is known of a station, a line for each thing.
func figuresOf(d *floor.Detail) (lines []string) {
	names := map[string]string{"": ""}
	name := func(id string) string {
		if _, found := names[id]; !found {
			names[id] = fmt.Sprint("schedule ", len(names))
		}
		return names[id]
	}
	context := func(c *monitor.Context) monitor.Context {
		out := *c
		out.Production, out.NonProduction = name(c.Production), name(c.NonProduction)
		return out
	}
	for i := range d.Segments {
		s := d.Segments[i]
		c := context(s.Ctx)
		s.Ctx = nil
		lines = append(lines, fmt.Sprintf("segment %+v %+v", s, c))
	}
	for _, m := range d.Minutes {
		parts := m.Parts
		m.Parts = nil
		line := fmt.Sprintf("minute %+v", m)
		for _, part := range parts {
			c := context(part.Ctx)
			part.Ctx = nil
			line += fmt.Sprintf(" %+v %+v", part, c)
		}
		lines = append(lines, line)
	}
	for _, issue := range d.Issues {
		issue.Production = name(issue.Production)
		lines = append(lines, fmt.Sprintf("issue %+v", issue))
	}
	return lines
}
