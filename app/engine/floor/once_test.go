package floor_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"opsmon/app/audit"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

func TestMoment(t *testing.T) {
	const now = int64(1_772_438_400_000) // 2026-03-02 08:00
	for _, tt := range []struct {
		after time.Duration
		want  time.Duration
		ok    bool
	}{
		{0, 0, true}, {-time.Millisecond, -time.Millisecond, true}, {2 * time.Minute, 0, true}, {2*time.Minute + time.Millisecond, 0, false},
		{-24 * time.Hour, -24 * time.Hour, true}, {-24*time.Hour - time.Millisecond, 0, false},
	} {
		at := now + tt.after.Milliseconds()
		got, err := floor.Moment("at", &at, now)
		if (err == nil) != tt.ok || tt.ok && got != now+tt.want.Milliseconds() {
			t.Errorf("%v from now: %d, %v", tt.after, got-now, err)
		}
		if err != nil && (errdefs.KindOf(err) != errdefs.Invalid || !strings.HasPrefix(err.Error(), "at must not be")) {
			t.Errorf("%v from now: %v", tt.after, err)
		}
	}
	if got, err := floor.Moment("at", nil, now); err != nil || got != now {
		t.Errorf("without one: %d, %v", got, err)
	}
}

// A request that comes again is done once, and has the same answer, for seven days.
func TestOnce(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	done := 0
	ask := func(key, what string) (floor.Answer, error) {
		return r.Floor.Once(floortest.Account, audit.Actor{Email: "a@works.example"}, floor.Request{Key: key, Ask: sha256.Sum256([]byte(what))}, func(w *floor.Work) (floor.Answer, error) {
			if what == "wrong" {
				return floor.Answer{}, errdefs.New(errdefs.Conflict, "no")
			}
			_, err := w.Record(press, monitor.Input{At: w.Now, Kind: monitor.InputEntry, ID: fmt.Sprint(done), Entry: monitor.Entry{Good: 1}})
			w.After(func() { done++ })
			return floor.Answer{Status: 200, Body: []byte(fmt.Sprint(done))}, err
		})
	}
	expect := func(key, what, want string, times int) {
		t.Helper()
		got, err := ask(key, what)
		if err != nil || string(got.Body) != want || done != times {
			t.Errorf("%s: %s, %v after %d times; want %s after %d", key, got.Body, err, done, want, times)
		}
	}
	expect("k", "one", "0", 1)
	expect("k", "one", "0", 1)
	expect("", "one", "1", 2)
	expect("", "one", "2", 3)
	if _, err := ask("k", "two"); errdefs.KindOf(err) != errdefs.Conflict || !strings.Contains(err.Error(), "Idempotency-Key") {
		t.Errorf("another request with the same key: %v", err)
	}
	if _, err := ask("w", "wrong"); errdefs.KindOf(err) != errdefs.Conflict {
		t.Errorf("a request that is refused: %v", err)
	}
	expect("w", "one", "3", 4) // what was refused is not remembered
	r.Open(nil)
	expect("k", "one", "0", 4) // also after a restart
	r.Pass(7*24*time.Hour-time.Millisecond, 0)
	expect("k", "one", "0", 4)
	r.Pass(time.Millisecond, 0)
	expect("k", "one", "4", 5)
	expect("k", "one", "4", 5)
	checked(t, r)
	r.Pass(7*24*time.Hour+time.Millisecond, 0)
	if err := r.Floor.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	checked(t, r)
	expect("k", "one", "5", 6)
}

// A key is its asker's own: who asks elsewhere with the same one is not answered with another's answer. A person may have signed
// in anew since.
func TestOnceIsOfWhoAsks(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	for i, tt := range []struct {
		by   audit.Actor
		want string
	}{
		{audit.Actor{Email: "tablet:one@works.example", Credential: "session:1"}, "0"},
		{audit.Actor{Email: "tablet:two@works.example", Credential: "session:2"}, "1"},
		{audit.Actor{Email: "tablet:one@works.example", Credential: "session:3"}, "0"},
		{audit.Actor{Email: "a@works.example", Credential: "key:1"}, "3"},
		{audit.Actor{Email: "a@works.example", Credential: "key:2"}, "4"},
		{audit.Actor{Email: "a@works.example", Credential: "session:4"}, "5"},
		{audit.Actor{Email: "a@works.example", Credential: "key:1"}, "3"},
	} {
		got, err := r.Floor.Once(floortest.Account, tt.by, floor.Request{Key: "k"}, func(*floor.Work) (floor.Answer, error) {
			return floor.Answer{Body: []byte(fmt.Sprint(i))}, nil
		})
		if err != nil || string(got.Body) != tt.want {
			t.Errorf("request %d of %+v: %s, %v; want %s", i, tt.by, got.Body, err, tt.want)
		}
		refused := floor.Refused{Key: "r", Method: "POST", Status: 409, By: tt.by}
		if err := r.Floor.Refuse(floortest.Account, refused); err != nil {
			t.Fatal(err)
		}
	}
	list, total, err := r.Floor.Refusals(floortest.Account, 10, 0)
	times := 0
	for _, one := range list {
		times += one.Times
	}
	if err != nil || total != 5 || times != 7 {
		t.Errorf("%d are kept as refused, %d times, %v: %+v", total, times, err, list)
	}
	checked(t, r)
}

// The answer is stored with what was done, or neither is.
func TestOnceKeepsBothOrNone(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	failed := errors.New("the power went")
	for _, key := range []string{"k", "k"} {
		_, err := r.Floor.Once(floortest.Account, audit.Actor{}, floor.Request{Key: key}, func(w *floor.Work) (floor.Answer, error) {
			_, err := w.Record(press, monitor.Input{At: w.Now, Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: "s"}})
			return floor.Answer{}, errors.Join(err, failed)
		})
		if !errors.Is(err, failed) {
			t.Fatalf("the second try did not run: %v", err)
		}
	}
	if l, err := r.Floor.LiveOf(floortest.Account, press); err != nil || len(l.View.Running) != 0 {
		t.Errorf("what was not stored runs: %+v, %v", l.View.Running, err)
	}
}

// What was refused is kept, the latest first, once for each key and not without bound; what is accepted in the end is not.
func TestRefused(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	refuse := func(key string) {
		t.Helper()
		if err := r.Floor.Refuse(floortest.Account, floor.Refused{Key: key, Method: "POST", Path: "/schedule/x/start", Body: strings.Repeat("b", 5000), Status: 409, Message: "no"}); err != nil {
			t.Fatal(err)
		}
	}
	keys := func() string {
		t.Helper()
		list, total, err := r.Floor.Refusals(floortest.Account, 3, 0)
		text := fmt.Sprint(total)
		for _, one := range list {
			text += fmt.Sprintf(" %s×%d", one.Key, one.Times)
			if len(one.Body) != 4096 {
				t.Errorf("of a body %d bytes are kept", len(one.Body))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, key := range []string{"a", "b", "a"} {
		refuse(key)
		r.Pass(time.Second, 0)
	}
	if got := keys(); got != "2 a×2 b×1" {
		t.Errorf("kept are %s", got)
	}
	if _, err := r.Floor.Once(floortest.Account, audit.Actor{}, floor.Request{Key: "a"}, func(*floor.Work) (floor.Answer, error) { return floor.Answer{}, nil }); err != nil {
		t.Fatal(err)
	}
	if got := keys(); got != "1 b×1" {
		t.Errorf("after one was accepted: %s", got)
	}
	for i := range 1001 {
		refuse(fmt.Sprintf("k%04d", i))
	}
	if got := keys(); got != "1000 k1000×1 k0999×1 k0998×1" {
		t.Errorf("of many: %s", got)
	}
	checked(t, r)
	r.Pass(31*24*time.Hour, 0)
	if err := r.Floor.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := keys(); got != "0" {
		t.Errorf("after a month: %s", got)
	}
}

func checked(t *testing.T, r *floortest.Rig) {
	t.Helper()
	err := r.Store.View(func(tx *kv.Tx) error {
		floor.Check(tx, map[string]bool{floortest.Account: true}, func(problem string) { t.Errorf("check: %s", problem) })
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
