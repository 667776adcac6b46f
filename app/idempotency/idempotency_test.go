package idempotency

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

const works = "works"

// rig is a store with a clock that the test sets.
type rig struct {
	*testing.T
	store *kv.Store
	at    time.Time
	*Service
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{T: t, at: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)}
	r.store = kvtest.New(t, func(c *kv.Config) { c.Buckets = Buckets() })
	r.open()
	return r
}

// open recreates the Service, as a restart does.
func (r *rig) open() {
	r.Service = New(Config{Store: r.store, Clock: func() time.Time { return r.at }})
}

// do executes a request in its own transaction.
func (r *rig) do(by audit.Actor, request Request, fn func() (Answer, error)) (answer Answer, err error) {
	err = r.store.Update(func(tx *kv.Tx) (err error) {
		answer, err = Do(tx, works, by, request, r.at.UnixMilli(), fn)
		return err
	})
	return answer, err
}

// checked checks the store.
func (r *rig) checked() {
	r.Helper()
	if err := r.store.View(func(tx *kv.Tx) error {
		Check(tx, map[string]bool{works: true}, func(problem string) { r.Errorf("check: %s", problem) })
		return nil
	}); err != nil {
		r.Error(err)
	}
}

// TestDo checks that a repeated request is executed once and has the same answer, for seven days.
func TestDo(t *testing.T) {
	r := newRig(t)
	ann, done := audit.Actor{Email: "ann@works.example"}, 0
	ask := func(key, what string) (Answer, error) {
		return r.do(ann, Request{Key: key, Ask: sha256.Sum256([]byte(what))}, func() (Answer, error) {
			if what == "wrong" {
				return Answer{}, errdefs.New(errdefs.Conflict, "no")
			}
			done++
			return Answer{Status: 200, Body: []byte(fmt.Sprint(done - 1))}, nil
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
	expect("w", "one", "3", 4) // a refused request is not remembered
	r.open()
	expect("k", "one", "0", 4) // also after a restart
	r.at = r.at.Add(7*24*time.Hour - time.Millisecond)
	expect("k", "one", "0", 4)
	if got, known, err := r.Answered(works, ann, Request{Key: "k", Ask: sha256.Sum256([]byte("one"))}); err != nil || !known || string(got.Body) != "0" {
		t.Errorf("answered was %s, %t, %v", got.Body, known, err)
	}
	r.at = r.at.Add(time.Millisecond)
	if _, known, err := r.Answered(works, ann, Request{Key: "k"}); err != nil || known {
		t.Errorf("after seven days it is known: %t, %v", known, err)
	}
	expect("k", "one", "4", 5)
	expect("k", "one", "4", 5)
	r.checked()
	r.at = r.at.Add(7*24*time.Hour + time.Millisecond)
	if err := r.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.checked()
	expect("k", "one", "5", 6)
}

// TestKeysAreOfWhoAsks checks that another sender with the same key does not get the answer. A person may have signed
// in again in the meantime.
func TestKeysAreOfWhoAsks(t *testing.T) {
	r := newRig(t)
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
		got, err := r.do(tt.by, Request{Key: "k"}, func() (Answer, error) { return Answer{Body: []byte(fmt.Sprint(i))}, nil })
		if err != nil || string(got.Body) != tt.want {
			t.Errorf("request %d of %+v: %s, %v; want %s", i, tt.by, got.Body, err, tt.want)
		}
		if err := r.Refuse(works, Refused{Key: "r", Method: "POST", Status: 409, By: tt.by}); err != nil {
			t.Fatal(err)
		}
	}
	list, total, err := r.Refused(works, 10, 0)
	times := 0
	for _, one := range list {
		times += one.Times
	}
	if err != nil || total != 5 || times != 7 {
		t.Errorf("%d are retained as refused, %d times, %v: %+v", total, times, err, list)
	}
	r.checked()
}

// TestBothOrNone checks that the answer is stored together with the write, or neither is.
func TestBothOrNone(t *testing.T) {
	r := newRig(t)
	failed, ran := errors.New("the power went"), 0
	for range 2 {
		err := r.store.Update(func(tx *kv.Tx) error {
			_, err := Do(tx, works, audit.Actor{}, Request{Key: "k"}, r.at.UnixMilli(), func() (Answer, error) {
				ran++
				return Answer{Status: 200}, nil
			})
			return errors.Join(err, failed)
		})
		if !errors.Is(err, failed) {
			t.Fatal(err)
		}
	}
	if _, known, err := r.Answered(works, audit.Actor{}, Request{Key: "k"}); ran != 2 || known || err != nil {
		t.Errorf("it ran %d times, and is known: %t, %v", ran, known, err)
	}
}

// TestRefused checks that refused writes are listed latest first, once per key and up to a maximum, and that finally
// accepted ones are not listed.
func TestRefused(t *testing.T) {
	r := newRig(t)
	refuse := func(key string) {
		t.Helper()
		if err := r.Refuse(works, Refused{Key: key, Method: "POST", Path: "/schedule/x/start", Body: strings.Repeat("b", 5000), Status: 409, Message: "no"}); err != nil {
			t.Fatal(err)
		}
	}
	keys := func() string {
		t.Helper()
		list, total, err := r.Refused(works, 3, 0)
		text := fmt.Sprint(total)
		for _, one := range list {
			text += fmt.Sprintf(" %s×%d", one.Key, one.Times)
			if len(one.Body) != 4096 {
				t.Errorf("of a body %d bytes are retained", len(one.Body))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, key := range []string{"a", "b", "a"} {
		refuse(key)
		r.at = r.at.Add(time.Second)
	}
	if got := keys(); got != "2 a×2 b×1" {
		t.Errorf("retained are %s", got)
	}
	if _, err := r.do(audit.Actor{}, Request{Key: "a"}, func() (Answer, error) { return Answer{}, nil }); err != nil {
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
	r.checked()
	r.at = r.at.Add(31 * 24 * time.Hour)
	if err := r.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := keys(); got != "0" {
		t.Errorf("after a month: %s", got)
	}
}

// TestCheckFindsDamage damages stored requests in each way that the check reports.
func TestCheckFindsDamage(t *testing.T) {
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = Buckets() })
	three := kv.PairOf(kv.String, kv.PairOf(kv.String, kv.String))
	asked := func(account string) recordKey { return keyOf(account, audit.Actor{Email: "ann"}, "key") }
	for _, tt := range []struct {
		do   func(tx *kv.Tx) error
		want []string
	}{
		{func(tx *kv.Tx) error {
			return kv.NewBucket("once", three, kv.Raw).Put(tx, asked(works), []byte("damaged"))
		}, []string{"a request that was done: "}},
		{func(tx *kv.Tx) error { return answers.Put(tx, asked("zoo"), answerRecord{}) }, []string{`a request that was done is of the account "zoo"`, "a request that was done has no place", "0 places in the order of age for 1 requests that were done"}},
		{func(tx *kv.Tx) error {
			return kv.NewBucket("refused", three, kv.Raw).Put(tx, asked(works), []byte("damaged"))
		}, []string{"a request that was refused: "}},
		{func(tx *kv.Tx) error { return refused.Put(tx, asked("zoo"), Refused{}) }, []string{`a request that was refused is of the account "zoo"`, "a request that was refused has no place", "0 places in the order of age for 1 requests that were refused"}},
	} {
		var found []string
		undo := errors.New("as it was")
		err := store.Update(func(tx *kv.Tx) error {
			if err := tt.do(tx); err != nil {
				return err
			}
			Check(tx, map[string]bool{works: true}, func(problem string) { found = append(found, problem) })
			return undo
		})
		if !errors.Is(err, undo) || !slices.EqualFunc(found, tt.want, strings.HasPrefix) {
			t.Errorf("found %q (%v), want %q", found, err, tt.want)
		}
	}
}
