package correction

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/auth"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/idempotency"
	"opsmon/kv"
)

// TestACorrectionIsMadeOnceByTwoAtOnce repeats a request while the first one is in progress and its result is not yet
// known. The second gets the answer of the first, and nothing is made or undone twice.
func TestACorrectionIsMadeOnceByTwoAtOnce(t *testing.T) {
	r, _ := newPlant(t)
	in := input(t, 0, time.Hour, `{"station":{"downtimeDetectionMode":"off"}}`, "PRESS")
	both := func(key string, do func(s *Service, request idempotency.Request) (*Correction, error)) *Correction {
		t.Helper()
		var answers [2]*Correction
		var wait sync.WaitGroup
		begun, stored := make(chan struct{}), 0
		send := func(i int, c Config) {
			var err error
			if answers[i], err = do(New(c), idempotency.Request{Key: key}); err != nil {
				t.Errorf("%s %d: %v", key, i, err)
			}
		}
		first := configOf(r)
		second := first
		first.Authorize = func(*kv.Tx, auth.Principal, auth.Role) error { // inside its transaction
			stored++
			wait.Go(func() { send(1, second) })
			select {
			case <-begun:
			case <-time.After(20 * time.Second):
				t.Error("the second one waits for the first before it looks whether it was done")
			}
			return nil
		}
		once := sync.OnceFunc(func() { close(begun) })
		second.Clock = func() time.Time { once(); return r.Now() } // not done yet while the request is validated
		second.Authorize = func(*kv.Tx, auth.Principal, auth.Role) error { stored++; return nil }
		send(0, first)
		wait.Wait()
		if diff := cmp.Diff(answers[0], answers[1]); diff != "" || stored != 1 {
			t.Errorf("%s was done %d times (-first +second): %s", key, stored, diff)
		}
		return answers[0]
	}
	made := both("make", func(s *Service, request idempotency.Request) (*Correction, error) {
		return s.Make(person(auth.Admin), request, in)
	})
	undone := both("undo", func(s *Service, request idempotency.Request) (*Correction, error) {
		return s.Undo(person(auth.Admin), request, made.ID)
	})
	if undone.UndoneAt == nil {
		t.Errorf("undone is %+v", undone)
	}
	// The same after a restart, when the state that the first one read has changed.
	r.Reopen()
	s := New(configOf(r))
	for _, again := range []struct {
		key  string
		want *Correction
	}{{"make", made}, {"undo", undone}} {
		got, err := s.Make(person(auth.Admin), idempotency.Request{Key: again.key}, in)
		if again.key == "undo" {
			got, err = s.Undo(person(auth.Admin), idempotency.Request{Key: again.key}, made.ID)
		}
		if diff := cmp.Diff(again.want, got); err != nil || diff != "" {
			t.Errorf("%s again: %v (-first +again) %s", again.key, err, diff)
		}
	}
	if list, total, err := s.List(floortest.Account, 10, 0); err != nil || total != 1 || list[0].UndoneAt == nil {
		t.Errorf("there are %d corrections: %+v, %v", total, list, err)
	}
}

// TestChangesAreShownAsTheyWereSent: making, repeating, undoing and listing a correction return its changes exactly as
// sent, also when they are read from the store.
func TestChangesAreShownAsTheyWereSent(t *testing.T) {
	r, s := newPlant(t)
	const changes = `{"shiftPatterns":[{"code":"early","shifts":[{"name":"<Früh> & \"spät\" \\u003c","weekDay":"1","startTime":"06:00","duration":28800000}]}]}`
	in := input(t, 0, time.Hour, changes, "PACK")
	check := func(what string, c *Correction, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(what, err)
		}
		if got := string(c.Changes); !strings.Contains(got, `"<Früh> & \"spät\" \\u003c"`) {
			t.Errorf("%s shows %s", what, got)
		}
	}
	listed := func(what string) {
		t.Helper()
		list, _, err := s.List(floortest.Account, 1, 0)
		check(what, &list[0], err)
	}
	for _, what := range []string{"made", "made again"} {
		c, err := s.Make(person(auth.Admin), idempotency.Request{Key: "k"}, in)
		check(what, c, err)
	}
	listed("the list")
	r.Reopen()
	s = New(configOf(r))
	listed("the list after a restart")
	c, err := s.Undo(person(auth.Admin), idempotency.Request{}, "1")
	check("undone", c, err)
}
