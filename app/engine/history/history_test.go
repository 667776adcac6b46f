package history

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

func open(t testing.TB) (*Store, *kv.Store) {
	t.Helper()
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = Buckets() })
	s, err := New(Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	return s, store
}

func update(t testing.TB, store *kv.Store, fn func(tx *kv.Tx) error) {
	t.Helper()
	if err := store.Update(fn); err != nil {
		t.Fatal(err)
	}
}

func view(t testing.TB, store *kv.Store, fn func(tx *kv.Tx) error) {
	t.Helper()
	if err := store.View(fn); err != nil {
		t.Fatal(err)
	}
}

// want returns the expected result of Detail for some outputs.
func want(out monitor.Outputs, from, to int64) monitor.Outputs {
	cut := Cut(out, from, to)
	cut.Issues = nil
	for _, x := range out.Issues {
		if x.Start < to && x.End > from {
			cut.Issues = append(cut.Issues, x)
		}
	}
	return cut
}

// everything returns all stored bytes of a station.
func everything(t testing.TB, store *kv.Store) map[string][]byte {
	all := map[string][]byte{}
	view(t, store, func(tx *kv.Tx) error {
		for _, b := range []*kv.Bucket[dayKey, []byte]{details, hours, days} {
			for item, err := range b.Scan(tx, kv.Range{}) {
				if err != nil {
					return err
				}
				all[b.Name()+item.Key.A+item.Key.B.A+time.UnixMilli(numberOf(item.Key)*instant.DayMs).UTC().Format(time.DateOnly)] = item.Value
			}
		}
		for item, err := range issues.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			all[issues.Name()+item.Key.A+item.Key.B.A+monitor.IssueID(monitor.IssueType(item.Key.B.B.A), endOf(item.Key))] = item.Value
		}
		return nil
	})
	return all
}

// TestDetail stores a station's outputs in random steps, and again from random moments on. Every range is read back
// unchanged, and the bytes equal those of storing all at once.
func TestDetail(t *testing.T) {
	for seed := range uint64(8) {
		p := run(seed, time.UTC, 4, 20*secondMs)
		other := run(seed+100, time.UTC, 4, 20*secondMs)
		r := rand.New(rand.NewPCG(seed, 5))
		s, store := open(t)
		put := func(from, to int64, out monitor.Outputs) {
			update(t, store, func(tx *kv.Tx) error { return s.Replace(tx, "a", "F1", from, to, out) })
		}
		minute := func(lo, hi int64) int64 { return lo + r.Int64N((hi-lo)/instant.MinuteMs+1)*instant.MinuteMs }
		check := func(through int64) {
			t.Helper()
			from := minute(p.from, p.to)
			to := minute(from, p.to)
			view(t, store, func(tx *kv.Tx) error {
				got, known, err := s.Detail(tx, "a", "F1", from, to)
				if known != min(through, to) {
					t.Errorf("seed %d: %d to %d is known through %d, want %d", seed, from, to, known, min(through, to))
				}
				stored := Cut(p.out, p.from, through)
				if w := want(stored, from, to); !reflect.DeepEqual(w, got) {
					t.Fatalf("seed %d: %d to %d of what is stored through %d: %s", seed, from, to, through, cmp.Diff(w, got))
				}
				return err
			})
		}
		at := p.from
		for at < p.to {
			to := minute(at+instant.MinuteMs, min(p.to, at+36*instant.HourMs))
			put(at, to, p.out)
			at = to
			check(at)
			switch r.IntN(4) {
			case 0: // something late: everything after it differs
				from := minute(p.from, at)
				put(from, minute(from, p.to), other.out)
				if from > p.from { // and then again the original results, from an earlier moment
					from = minute(p.from, from)
				}
				at = minute(from, p.to)
				put(from, at, p.out)
				check(at)
			case 1:
				from := minute(p.from, at)
				update(t, store, func(tx *kv.Tx) error { return s.Forget(tx, "a", "F1", from) })
				at = from
			}
		}
		for range 20 {
			check(p.to)
		}
		again, once := open(t)
		update(t, once, func(tx *kv.Tx) error { return again.Replace(tx, "a", "F1", p.from, p.to, p.out) })
		got, all := everything(t, store), everything(t, once)
		if len(got) != len(all) {
			t.Errorf("seed %d: %d values, and at once %d", seed, len(got), len(all))
		}
		for k, v := range all {
			if !bytes.Equal(got[k], v) {
				t.Errorf("seed %d: %s: other bytes than at once", seed, k)
			}
		}
		if len(all) < 5 {
			t.Errorf("seed %d: no issue lies over midnight: the station is too quiet", seed)
		}
	}
}

func TestReplaceRefuses(t *testing.T) {
	p := run(1, time.UTC, 1, 20*secondMs)
	hole := p.out
	hole.Segments = append(append([]monitor.Segment{}, p.out.Segments[:5]...), p.out.Segments[6:]...)
	bare := p.out
	bare.Segments = append([]monitor.Segment{{Start: p.from, End: p.out.Segments[0].End}}, p.out.Segments[1:]...)
	odd := p.out
	odd.Minutes = append([]monitor.Minute{{Start: p.from + 1}}, p.out.Minutes...)
	long := p.out
	long.Issues = []monitor.Issue{{Type: monitor.IssueStop, Start: p.from + 10, End: p.from + 10}}
	for _, tt := range []struct {
		name     string
		from, to int64
		out      monitor.Outputs
		want     string
	}{
		{"not whole", p.from + 1, p.to, p.out, "is no range of whole minutes"},
		{"the wrong way", p.to, p.from, p.out, "is no range of whole minutes"},
		{"beyond the end", p.from, p.to + instant.MinuteMs, p.out, "leave a hole"},
		{"a hole", p.from, p.to, hole, "leave a hole"},
		{"no context", p.from, p.to, bare, "segment 0"},
		{"a minute that is none", p.from, p.to, odd, "minute 0"},
		{"an issue of no time", p.from, p.to, long, "issue 0"},
	} {
		s, store := open(t)
		err := store.Update(func(tx *kv.Tx) error { return s.Replace(tx, "a", "F1", tt.from, tt.to, tt.out) })
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "keep the history of F1: ") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestCutOfNothingIsEmpty(t *testing.T) {
	x := &monitor.Context{Plan: &monitor.Plan{}}
	out := monitor.Outputs{Segments: []monitor.Segment{{Start: 0, End: 120_000, Ctx: x}}}
	for _, r := range [][2]int64{{60_000, 60_000}, {90_000, 60_000}, {0, 0}, {120_000, 120_000}} {
		if cut := Cut(out, r[0], r[1]); len(cut.Segments) != 0 {
			t.Errorf("the cut of %d to %d has the segments %v", r[0], r[1], cut.Segments)
		}
	}
}
