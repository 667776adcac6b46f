package signal

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"opsmon/app/instant"
	"opsmon/kv"
)

// TestRun checks that the tail is packed periodically, and that past days are merged.
func TestRun(t *testing.T) {
	r := newRig(t)
	r.packEvery, r.mergeEvery = time.Millisecond, 2*time.Millisecond
	eventually := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s did not come", what)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	defer running.Wait()
	defer cancel()
	for n := range int64(3) {
		r.append(beat("F0", monday+n, 1), beat("F1", monday+n, 1))
		eventually("an empty tail", func() bool { return r.Tail() == 0 })
	}
	if n := r.count("parts"); n != 6 {
		t.Errorf("%d parts of a day that goes on, want 6", n)
	}
	r.now.Add(2 * instant.DayMs)
	eventually("a merge", func() bool { return r.count("parts") == 2 })
}

// TestCheck checks that an intact log has no problem, and that each kind of damage is reported.
func TestCheck(t *testing.T) {
	r := newRig(t)
	problems := func() (list []string) {
		t.Helper()
		r.must(r.store.View(func(tx *kv.Tx) error {
			Check(tx, map[string]bool{"northgate": true}, func(p string) { list = append(list, p) })
			return nil
		}))
		return list
	}
	for n := range int64(3) {
		r.append(beat("F0", monday+n, 1))
		r.must(r.Pack())
	}
	r.append(beat("F0", monday+9, 1))
	if got := problems(); len(got) > 0 {
		t.Errorf("what is whole has problems: %v", got)
	}
	foreign := beat("F0", monday, 1)
	foreign.Account = "gone"
	for _, c := range []struct {
		do   func(tx *kv.Tx) error
		want string
	}{
		{func(tx *kv.Tx) error { return tail.Put(tx, 90, []byte("x")) }, "batch 90"},
		{func(tx *kv.Tx) error { return tail.Put(tx, 91, pack([]Signal{foreign}, false)) }, "account gone is not there"},
		{func(tx *kv.Tx) error { return parts.Put(tx, partOf("northgate", "F5", 7, 0), []byte("x")) }, "northgate/F5/7/0"},
		{func(tx *kv.Tx) error {
			return parts.Put(tx, partOf("northgate", "F6", 7, 0), pack([]Signal{beat("F0", monday, 1)}, true))
		}, "one of F0 is among them"},
		{func(tx *kv.Tx) error { return open.Put(tx, openOf("northgate", "F7", 7), nil) }, "F7 has none on day 7"},
	} {
		r.must(r.store.Update(c.do))
		if got := problems(); !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, c.want) }) {
			t.Errorf("want %q among %q", c.want, got)
		}
	}
}

// TestLongTail checks that a flood is packed continuously, and refused temporarily if packing is too slow.
func TestLongTail(t *testing.T) {
	r := newRig(t)
	batch := make([]Signal, 50_000)
	for i := range batch {
		batch[i] = beat("F0", monday+int64(i), float64(i%7))
	}
	for range longestTail / len(batch) {
		r.append(batch...)
	}
	var passing interface{ Unavailable() bool }
	if _, err := r.Append(batch[:1]); !errors.As(err, &passing) || !passing.Unavailable() {
		t.Fatalf("one more than the tail may hold: %v", err)
	}
	r.open() // accepted signals remain after a restart, and are packed immediately
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	for end := time.Now().Add(30 * time.Second); r.Tail() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the tail was not packed")
		}
	}
	r.append(batch[0])
	cancel()
	running.Wait()
	if n := len(r.of("F0", Day(monday))); n != longestTail+1 {
		t.Errorf("%d signals are there", n)
	}
}
