package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// service answers like the real one as far as the tests need it.
type service struct {
	t       *testing.T
	taken   []map[string]any // received signals
	times   []time.Time      // times of the requests
	takes   time.Duration    // duration of a request
	refuse  func(n int) *Answer
	fail    func(n int) error // error for the nth request
	asked   int
	refused map[string]bool // unknown stations
}

func (s *service) send(ctx context.Context, r Request) (Answer, error) {
	s.asked++
	if err := sleep(ctx, s.takes); err != nil {
		return Answer{}, err
	}
	if s.fail != nil {
		if err := s.fail(s.asked); err != nil {
			return Answer{}, err
		}
	}
	if s.refuse != nil {
		if a := s.refuse(s.asked); a != nil {
			return *a, nil
		}
	}
	if r.Path != "/signal" {
		return Answer{Status: 404, Body: []byte(`{"isSuccess":false,"errorCode":"notFound","errorMessage":"there is nothing here"}`)}, nil
	}
	var in struct {
		Signals []map[string]any `json:"signals"`
	}
	if err := json.Unmarshal(r.Body, &in); err != nil {
		s.t.Errorf("POST /signal: %v", err)
	}
	s.times = append(s.times, time.Now())
	out := make([]outcome, len(in.Signals))
	for i, sig := range in.Signals {
		out[i] = outcome{Index: i, Accepted: true}
		if s.refused[sig["stationCode"].(string)] {
			out[i] = outcome{Index: i, Issue: "stationCode names a station which the account does not have"}
			continue
		}
		s.taken = append(s.taken, sig)
	}
	body, err := json.Marshal(map[string]any{"isSuccess": true, "results": out})
	return Answer{Status: 200, Body: body}, err
}

// TestPlayKeepsTime: at 60 times the speed an hour takes a minute and ends now.
func TestPlayKeepsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := generator(t, Config{Seed: 1, IDs: true})
		s := &service{t: t}
		now := time.Now()
		from := now.UnixMilli() - hour + minute
		p := NewPlayer(PlayConfig{Generator: g, Send: s.send, From: from, Until: from + hour, Speed: 60, Only: machines})
		if err := p.Play(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(now); took < 59*time.Second || took > 62*time.Second {
			t.Errorf("an hour took %v", took)
		}
		want := events(t, g, nil, from, from+hour)
		signals := 0
		for _, e := range want {
			if e.Act == nil {
				signals++
			}
		}
		if signals == 0 || len(s.taken) != signals || p.Progress().Signals != signals {
			t.Errorf("sent %d signals, counted %d, want %d", len(s.taken), p.Progress().Signals, signals)
		}
		for _, sig := range s.taken {
			if at, err := time.Parse(time.RFC3339, sig["at"].(string)); err != nil || at.After(time.Now().Add(4*time.Minute)) {
				t.Fatalf("a signal is at %v, %v", at, err)
			}
		}
		if half := s.times[len(s.times)/2].Sub(now); half < 20*time.Second || half > 40*time.Second {
			t.Errorf("half of the requests came within %v", half)
		}
	})
}

// TestPlaySaysByHowMuchItLags: a slow service is not overloaded, and the lag is reported.
func TestPlaySaysByHowMuchItLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{t: t, takes: 10 * time.Second}
		var behind int64
		from := time.Now().UnixMilli() - day
		p := NewPlayer(PlayConfig{
			Generator: generator(t, Config{Seed: 1}), Send: s.send, From: from, Until: from + 12*hour, Speed: 10_000, Only: machines, Batch: 500,
			Report: func(now Progress) { behind = max(behind, now.Behind) },
		})
		if err := p.Play(t.Context()); err != nil {
			t.Fatal(err)
		}
		if behind < hour {
			t.Errorf("told a lag of %d ms", behind)
		}
		if p.Progress().Behind != 0 || p.Progress().At != from+12*hour {
			t.Errorf("at the end: %+v", p.Progress())
		}
	})
}

// TestPlayGoesOnLive: without an end it catches up with the clock, continues in real time, and ends when it is stopped.
func TestPlayGoesOnLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{t: t}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		from := time.Now().UnixMilli() - 2*hour
		p := NewPlayer(PlayConfig{Generator: generator(t, Config{Seed: 1}), Send: s.send, From: from, Speed: 1000, Only: machines})
		if err := p.Play(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("ended with %v", err)
		}
		if left := time.Now().UnixMilli() - p.Progress().At; left < 0 || left > 5*second {
			t.Errorf("it stopped %d ms before now", left)
		}
	})
}

func TestPlayTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{t: t}
		s.refuse = func(n int) *Answer {
			switch n {
			case 1:
				return &Answer{Status: 429, RetryAfter: 7 * time.Second, Body: []byte(`{"errorCode":"tooManyRequests","errorMessage":"slower"}`)}
			case 2:
				return &Answer{Status: 503, Body: []byte(`{"errorCode":"unavailable","errorMessage":"the disk is full"}`)}
			}
			return nil
		}
		s.fail = func(n int) error {
			if n == 3 {
				return errors.New("connection refused")
			}
			return nil
		}
		var told []string
		began := time.Now()
		from := began.UnixMilli() - hour
		p := NewPlayer(PlayConfig{
			Generator: generator(t, Config{Seed: 1}), Send: s.send, From: from, Until: from + minute, Only: machines, Patience: time.Minute,
			Trouble: func(why string) { told = append(told, why) },
		})
		if err := p.Play(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 7*time.Second {
			t.Errorf("it waited %v, and was told to wait 7 seconds", took)
		}
		if got := p.Progress(); got.Retried != 3 || got.Refused != 0 || len(s.taken) == 0 || got.Signals != len(s.taken) {
			t.Errorf("%+v, taken %d", got, len(s.taken))
		}
		if len(told) != 3 || !strings.Contains(told[0], "slower") || !strings.Contains(told[1], "full") || !strings.Contains(told[2], "connection refused") {
			t.Errorf("told %q", told)
		}
	})
}

func TestPlayGivesUp(t *testing.T) {
	for name, tt := range map[string]struct {
		service service
		want    string
	}{
		"no answer":   {service{fail: func(int) error { return errors.New("connection refused") }}, "gave up after"},
		"no entry":    {service{refuse: func(int) *Answer { return &Answer{Status: 401} }}, "401"},
		"no right":    {service{refuse: func(int) *Answer { return &Answer{Status: 403, Body: []byte(`{"errorMessage":"not yours"}`)} }}, "not yours"},
		"not an API":  {service{refuse: func(int) *Answer { return &Answer{Status: 200, Body: []byte(`<html>`)} }}, "read the answer"},
		"always busy": {service{refuse: func(int) *Answer { return &Answer{Status: 429, RetryAfter: time.Second} }}, "gave up after"},
	} {
		synctest.Test(t, func(t *testing.T) {
			tt.service.t = t
			from := time.Now().UnixMilli() - hour
			p := NewPlayer(PlayConfig{Generator: generator(t, Config{Seed: 1}), Send: tt.service.send, From: from, Until: from + minute, Only: machines, Patience: 20 * time.Second})
			if err := p.Play(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestPlayCountsWhatIsRefused: an unknown station loses only its own signals.
func TestPlayCountsWhatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{t: t, refused: map[string]bool{"PACK-1": true}}
		var told []string
		from := time.Now().UnixMilli() - hour
		p := NewPlayer(PlayConfig{
			Generator: generator(t, Config{Seed: 1}), Send: s.send, From: from, Until: from + 30*minute, Only: machines,
			Trouble: func(why string) { told = append(told, why) },
		})
		if err := p.Play(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := p.Progress()
		if got.Refused == 0 || got.Signals != len(s.taken) || got.Signals < got.Refused {
			t.Errorf("%+v", got)
		}
		if fmt.Sprint(told) != "[signals: stationCode names a station which the account does not have]" {
			t.Errorf("told %q", told)
		}
	})
}

// machines selects the events of machines.
func machines(e *Event) bool { return e.Act == nil }

// TestPeopleAskTheServiceForWhatIsThere: actions of people apply to the service's schedules, stops and Tasks, which the
// player looks up. A plant that was simulated before is not planned twice.
func TestPeopleAskTheServiceForWhatIsThere(t *testing.T) {
	stop := at(t, "11-18 10:00:00")
	for _, tt := range []struct {
		name    string
		act     Act
		answers map[string]Answer // by method and path
		want    []string          // the writes, method and path and body
		err     bool              // nothing to do
	}{
		{
			name: "a plan", act: Act{Kind: Plan, At: stop, Schedule: &Schedule{Ref: "WO-1", SKU: "BOWL", PlannedStart: stop, Quantity: 50}},
			answers: map[string]Answer{"POST /schedule": {Status: 200, Body: []byte(`{"result":{"id":"s"}}`)}},
			want:    []string{`POST /schedule {"at":"2026-11-18T10:00:00.000Z","autoEndOnQuantityComplete":false,"kind":"production","plannedQuantity":50,"plannedStartAt":"2026-11-18T10:00:00.000Z","skuCode":"BOWL","stationCode":"PRESS","workOrderReference":"WO-1"}`},
		},
		{
			name: "a plan that is there", act: Act{Kind: Plan, At: stop, Schedule: &Schedule{Ref: "WO-1", SKU: "BOWL", PlannedStart: stop}}, err: true,
			answers: map[string]Answer{
				"POST /schedule": {Status: 409, Body: []byte(`{"errorMessage":"it is there"}`)},
				"GET /schedule":  {Status: 200, Body: []byte(`{"results":[{"id":"s","state":"planned","workOrderReference":"WO-1"}]}`)},
			},
			want: []string{`POST /schedule {"at":"2026-11-18T10:00:00.000Z","kind":"production","plannedStartAt":"2026-11-18T10:00:00.000Z","skuCode":"BOWL","stationCode":"PRESS","workOrderReference":"WO-1"}`},
		},
		{
			name: "a start", act: Act{Kind: Start, At: stop, Initials: "ABD", Schedule: &Schedule{Ref: "WO-1", SKU: "BOWL", PlannedStart: stop}},
			answers: map[string]Answer{
				"GET /schedule":          {Status: 200, Body: []byte(`{"results":[{"id":"r","state":"planned","workOrderReference":"WO-0"},{"id":"s","state":"planned","workOrderReference":"WO-1"}]}`)},
				"POST /schedule/s/start": {Status: 200},
			},
			want: []string{`POST /schedule/s/start {"at":"2026-11-18T10:00:00.000Z","initials":"ABD"}`},
		},
		{
			name: "a break", act: Act{Kind: Start, At: stop, Initials: "ABD", Schedule: &Schedule{Ref: "NP-1", Reason: "BREAK", PlannedStart: stop, PlannedEnd: stop + minute, Quick: true}},
			answers: map[string]Answer{"GET /schedule": {Status: 200, Body: []byte(`{"results":[]}`)}, "POST /quick-schedule": {Status: 200, Body: []byte(`{"result":{"id":"s"}}`)}},
			want:    []string{`POST /quick-schedule {"at":"2026-11-18T10:00:00.000Z","initials":"ABD","plannedEndAt":"2026-11-18T10:01:00.000Z","reasonCode":"BREAK","stationCode":"PRESS","workOrderReference":"NP-1"}`},
		},
		{
			name: "a cause", act: Act{Kind: Cause, At: stop + hour, From: stop, To: stop + 10*minute, Reason: "JAM", Initials: "ABD"},
			answers: map[string]Answer{
				"GET /issue": {Status: 200, Body: []byte(`{"results":[
{"id":"PRESS.slow-1","type":"slow","startAt":"2026-11-18T10:00:00Z","endAt":"2026-11-18T10:10:00Z","causeCode":null},
{"id":"PRESS.stop-1","type":"stop","startAt":"2026-11-18T09:50:00Z","endAt":"2026-11-18T10:01:00Z","causeCode":null},
{"id":"PRESS.stop-2","type":"stop","startAt":"2026-11-18T10:02:00Z","endAt":null,"causeCode":null}]}`)},
				"POST /issue/PRESS.stop-2/cause": {Status: 200},
			},
			want: []string{`POST /issue/PRESS.stop-2/cause {"at":"2026-11-18T11:00:00.000Z","causeCode":"JAM","initials":"ABD"}`},
		},
		{
			name: "a cause of nothing", act: Act{Kind: Cause, At: stop, From: stop, To: stop + minute, Reason: "JAM"}, err: true,
			answers: map[string]Answer{"GET /issue": {Status: 200, Body: []byte(`{"results":[]}`)}},
		},
		{
			name: "tasks", act: Act{Kind: DoTasks, At: stop, Initials: "ABD"},
			answers: map[string]Answer{
				"GET /task":               {Status: 200, Body: []byte(`{"results":[{"id":"a.1","taskCode":"CHECK","requireNotes":true}]}`)},
				"POST /task/a.1/complete": {Status: 200},
			},
			want: []string{`POST /task/a.1/complete {"at":"2026-11-18T10:00:00.000Z","initials":"ABD","note":"as it should be"}`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var writes []string
			keys := map[string]bool{}
			p := people{schedules: map[string]string{}, client: &client{send: func(_ context.Context, r Request) (Answer, error) {
				if r.Method != "GET" {
					writes = append(writes, r.Method+" "+r.Path+" "+string(r.Body))
					if r.IdempotencyKey == "" || len(r.IdempotencyKey) > 128 || keys[r.IdempotencyKey] {
						t.Errorf("the key of %s is %q", r.Path, r.IdempotencyKey)
					}
					keys[r.IdempotencyKey] = true
				}
				for path, a := range tt.answers {
					if path == r.Method+" "+r.Path {
						return a, nil
					}
				}
				return Answer{Status: 404}, nil
			}}}
			err := p.do(t.Context(), &Event{Station: "PRESS", Sent: tt.act.At, Act: &tt.act})
			if tt.err != errors.Is(err, errNothingToDo) || err != nil && !tt.err {
				t.Errorf("it ended with %v", err)
			}
			if !slices.Equal(writes, tt.want) {
				t.Errorf("it wrote\n%s\nwant\n%s", strings.Join(writes, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}
