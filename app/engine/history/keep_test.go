package history

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
	"opsmon/kv"
)

// statesOf returns the moments of the stored states, in minutes since a moment.
func statesOf(t testing.TB, store *kv.Store, name string, since int64) (list []int64) {
	t.Helper()
	view(t, store, func(tx *kv.Tx) error {
		for item, err := range states.Scan(tx, of("a", name, math.MinInt64, math.MaxInt64)) {
			if err != nil {
				return err
			}
			list = append(list, (numberOf(item.Key)-since)/instant.MinuteMs)
		}
		return nil
	})
	return list
}

// TestStates: the first state of each hour and the two newest are stored, and one a day of those older than two days.
func TestStates(t *testing.T) {
	s, store := open(t)
	start := firstDay * instant.DayMs
	keep := func(name string, minutes ...int64) {
		t.Helper()
		for _, m := range minutes {
			update(t, store, func(tx *kv.Tx) error {
				return s.PutState(tx, "a", name, start+m*instant.MinuteMs, []byte{byte(m), byte(m >> 8)})
			})
		}
	}
	keep("F1", 0, 10, 20, 59, 60, 61, 119, 125, 300, 310, 320)
	if diff := cmp.Diff([]int64{0, 60, 125, 300, 310, 320}, statesOf(t, store, "F1", start)); diff != "" {
		t.Errorf("the first of each hour and the two newest: %s", diff)
	}
	for _, tt := range []struct{ before, want int64 }{{0, -1}, {1, 0}, {60, 0}, {61, 60}, {310, 300}, {320, 310}, {321, 320}, {1 << 30, 320}} {
		view(t, store, func(tx *kv.Tx) error {
			at, state, err := s.StateBefore(tx, "a", "F1", start+tt.before*instant.MinuteMs)
			if tt.want < 0 && state == nil && err == nil {
				return nil
			}
			if err != nil || at != start+tt.want*instant.MinuteMs || !bytes.Equal(state, []byte{byte(tt.want), byte(tt.want >> 8)}) {
				t.Errorf("before %d: %v of %d, %v, want %d", tt.before, state, (at-start)/instant.MinuteMs, err, tt.want)
			}
			return nil
		})
	}
	update(t, store, func(tx *kv.Tx) error { return s.ForgetStates(tx, "a", "F1", start+60*instant.MinuteMs) })
	if diff := cmp.Diff([]int64{0}, statesOf(t, store, "F1", start)); diff != "" {
		t.Errorf("forgotten from an hour on: %s", diff)
	}

	// Five days of hourly states; it is noon of the sixth.
	for h := range int64(5*24 + 12) {
		keep("F2", h*60)
	}
	keep("F3", 0) // it never sends again
	for _, signals := range []time.Duration{DefaultSignals, 80 * time.Hour} {
		s.cfg.Signals = signals
		s.cfg.Clock = func() time.Time { return time.UnixMilli(start + 132*instant.HourMs) }
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		var want []int64
		for h := range int64(132) {
			// The first stored signals are of the third day, which is recalculated from the state at its start.
			if age := 132 - h; age <= 48 || h%24 == 0 && (signals == DefaultSignals || h >= 48) {
				want = append(want, h*60)
			}
		}
		if diff := cmp.Diff(want, statesOf(t, store, "F2", start)); diff != "" {
			t.Errorf("signals kept for %v: %s", signals, diff)
		}
		if diff := cmp.Diff([]int64{0}, statesOf(t, store, "F3", start)); diff != "" {
			t.Errorf("a station's only state: %s", diff)
		}
	}
}

// TestStatesOfWhatIsOtherwise: late results delete the states from their time on; appended results do not.
func TestStatesOfWhatIsOtherwise(t *testing.T) {
	p := run(5, time.UTC, 1, 60*secondMs)
	s, store := open(t)
	at := func(minute int64) int64 { return p.from + minute*instant.MinuteMs }
	put := func(from, to int64) {
		update(t, store, func(tx *kv.Tx) error { return s.Replace(tx, "a", "F1", at(from), at(to), p.out) })
	}
	put(0, 200)
	update(t, store, func(tx *kv.Tx) error {
		return errors.Join(s.PutState(tx, "a", "F1", at(30), []byte{1}), s.PutState(tx, "a", "F1", at(100), []byte{2}), s.PutState(tx, "a", "F1", at(230), []byte{3}))
	})
	put(200, 220)
	if diff := cmp.Diff([]int64{30, 100, 230}, statesOf(t, store, "F1", p.from)); diff != "" {
		t.Errorf("more of the same: %s", diff)
	}
	put(100, 220)
	if diff := cmp.Diff([]int64{30}, statesOf(t, store, "F1", p.from)); diff != "" {
		t.Errorf("something late: %s", diff)
	}
	update(t, store, func(tx *kv.Tx) error { return s.Forget(tx, "a", "F1", p.from) })
	if left := statesOf(t, store, "F1", p.from); left != nil {
		t.Errorf("forgotten, and there is %v", left)
	}
}

// TestSweep deletes whole days older than the retention, station by station.
func TestSweep(t *testing.T) {
	p := run(6, time.UTC, 4, 60*secondMs)
	long := monitor.Issue{Type: monitor.IssueManual, Start: p.from + 10, End: p.from + instant.DayMs + 5, Cause: "mould"}
	p.out.Issues = []monitor.Issue{{Type: monitor.IssueStop, Start: p.from + 5, End: p.from + 9}, long, {Type: monitor.IssueManual, Start: long.End + 5, End: long.End + 2*instant.DayMs}}
	s, store := open(t)
	for _, name := range []string{"F1", "F2", "F3"} {
		keepAll(t, s, store, name, p)
	}
	s.cfg.Retention = 30 * 24 * time.Hour
	for _, tt := range []struct {
		after  time.Duration // the end of the last day, before now
		days   int
		issues int
	}{{26 * 24 * time.Hour, 4, 2}, {27*24*time.Hour - 1, 4, 2}, {27 * 24 * time.Hour, 3, 2}, {28 * 24 * time.Hour, 2, 1}, {40 * 24 * time.Hour, 0, 0}} {
		s.cfg.Clock = func() time.Time { return time.UnixMilli(p.to).Add(tt.after) }
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		view(t, store, func(tx *kv.Tx) error {
			for _, b := range []*kv.Bucket[dayKey, []byte]{details, hours, days} {
				if n := b.Count(tx); n != 3*tt.days {
					t.Errorf("after %v: %d values in %s, want %d", tt.after, n, b.Name(), 3*tt.days)
				}
			}
			if n := issues.Count(tx); n != 3*tt.issues {
				t.Errorf("after %v: %d long issues, want %d", tt.after, n, 3*tt.issues)
			}
			return nil
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Sweep(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
}

// TestCheckFinds: every kind of damage is reported by name, and reading it returns kv.ErrDamaged.
func TestCheckFinds(t *testing.T) {
	p := run(7, time.UTC, 3, 60*secondMs)
	first := Day(p.from)
	key := keyOf("a", "F1", first+1)
	for _, tt := range []struct {
		name string
		do   func(s *Store, tx *kv.Tx) error
		want string
		read bool // reading the range fails, too
	}{
		{"nothing", func(*Store, *kv.Tx) error { return nil }, "", false},
		{"detail of another format", func(_ *Store, tx *kv.Tx) error { return details.Put(tx, key, []byte("\x07456789abc")) }, "damaged: the packed data cannot be read: the format is 7", true},
		{"detail cut short", func(_ *Store, tx *kv.Tx) error { return details.Put(tx, key, []byte{1, 2}) }, "damaged: the packed data cannot be read", true},
		{"detail of another day", func(_ *Store, tx *kv.Tx) error {
			b, err := details.Get(tx, keyOf("a", "F1", first))
			return errors.Join(err, details.Put(tx, key, b))
		}, "damaged: the packed data cannot be read", true},
		{"no detail", func(_ *Store, tx *kv.Tx) error { return details.Delete(tx, key) }, "what they are sums of: ", false},
		{"sums of less", func(_ *Store, tx *kv.Tx) error {
			b, err := details.Get(tx, key)
			if err != nil {
				return err
			}
			out, err := unpack(first+1, b, &monitor.Contexts{})
			if err != nil {
				return err
			}
			return putDetail(tx, "a", "F1", first+1, Cut(out, p.from+instant.DayMs, p.from+instant.DayMs+instant.HourMs))
		}, "and what they are sums of to", false},
		{"sums by hour cut short", func(_ *Store, tx *kv.Tx) error { return hours.Put(tx, key, []byte{1, 2}) }, "sums of F1 on day 20515: the packed data cannot be read", true},
		{"no sums by day", func(_ *Store, tx *kv.Tx) error { return days.Delete(tx, key) }, "those by day: ", false},
		{"no sums by hour", func(_ *Store, tx *kv.Tx) error { return hours.Delete(tx, key) }, "those by hour are missing", false},
		{"sums by day of other hours", func(_ *Store, tx *kv.Tx) error {
			b, err := days.Get(tx, key)
			if err != nil {
				return err
			}
			var s daySums
			if err := s.unpack(first+1, b); err != nil {
				return err
			}
			s.rows[0].Good++
			return days.Put(tx, key, packDays(first+1, s.until, s.rows, s.used))
		}, "do not add up", false},
		{"an account that is not there", func(s *Store, tx *kv.Tx) error { return s.PutState(tx, "b", "F1", p.from, []byte{1}) }, "states: their account b is not there", false},
		{"an empty state", func(s *Store, tx *kv.Tx) error { return s.PutState(tx, "a", "F1", p.from, nil) }, "state of F1 at", false},
		{"a state that is none", func(_ *Store, tx *kv.Tx) error { return states.Put(tx, key, []byte{1, 2}) }, "state of F1 at", false},
		{"an issue of another time", func(_ *Store, tx *kv.Tx) error {
			return issues.Put(tx, issueKeyOf("a", "F1", monitor.IssueStop, p.from+9), packIssue(&monitor.Issue{Type: monitor.IssueSlow, Start: p.from - 5, End: p.from + 9}))
		}, "issues: read: bucket historyIssue", true},
	} {
		s, store := open(t)
		keepAll(t, s, store, "F1", p)
		update(t, store, func(tx *kv.Tx) error { return tt.do(s, tx) })
		view(t, store, func(tx *kv.Tx) error {
			var problems []string
			Check(tx, map[string]bool{"a": true}, func(p string) { problems = append(problems, p) })
			if found := slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, tt.want) }); tt.want == "" && problems != nil || tt.want != "" && !found {
				t.Errorf("%s: %q, want %q", tt.name, problems, tt.want)
			}
			_, _, err := s.Detail(tx, "a", "F1", p.from, p.to)
			_, _, _, sums := s.Rows(tx, "a", "F1", p.from, p.to)
			if err := errors.Join(err, sums); tt.read && !errors.Is(err, kv.ErrDamaged) {
				t.Errorf("%s: reading gives %v", tt.name, err)
			}
			return nil
		})
	}
}
