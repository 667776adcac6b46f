package issue

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/monitor"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

func store(t *testing.T) *kv.Store {
	t.Helper()
	return kvtest.New(t, func(c *kv.Config) { c.Buckets = Buckets() })
}

// TestAbout finds the records that overlap a range, including a long one that began days before it.
func TestAbout(t *testing.T) {
	s := store(t)
	record := func(typ monitor.IssueType, from, to int64) *Record {
		r := &Record{Type: typ, Start: from, Until: to, Events: []Event{}}
		if typ == monitor.IssueManual {
			r.Manual = &Manual{End: to}
		}
		return r
	}
	if err := s.Update(func(tx *kv.Tx) error {
		for _, p := range []struct {
			account, station string
			*Record
		}{
			{"acme", "A", record(monitor.IssueStop, day, day+2*24*hour)},
			{"acme", "A", record(monitor.IssueStop, day+24*hour, day+25*hour)},
			{"acme", "A", record(monitor.IssueSlow, day+48*hour, day+49*hour)},
			{"acme", "A", record(monitor.IssueManual, day+48*hour, day+48*hour)},
			{"acme", "AA", record(monitor.IssueStop, day+48*hour, day+49*hour)},
			{"acme", "B", record(monitor.IssueStop, day+48*hour, day+49*hour)},
			{"bolt", "A", record(monitor.IssueStop, day+48*hour, day+49*hour)},
		} {
			if err := put(tx, p.account, p.station, p.Record); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		from, to int64 // hours
		want     []string
	}{
		{0, 1, []string{"stop 0"}},
		{-5, 0, nil},
		{47, 48, []string{"stop 0"}},
		{24, 25, []string{"stop 0", "stop 24"}},
		{25, 26, []string{"stop 0"}},
		{48, 50, []string{"manual 48", "slow 48"}},
		{48, 49, []string{"manual 48", "slow 48"}},
		{49, 60, nil},
	} {
		var got []string
		if err := s.View(func(tx *kv.Tx) error {
			list, err := about(tx, "acme", "A", day+tt.from*hour, day+tt.to*hour)
			for _, r := range list {
				got = append(got, r.Type.String()+" "+strconv.FormatInt((r.Start-day)/hour, 10))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("from %d to %d: %s", tt.from, tt.to, diff)
		}
	}
	check(t, s, map[string]bool{"acme": true, "bolt": true})
	check(t, s, map[string]bool{"acme": true}, `issue stop of A: its account bolt is not there`, `reach of issues of A: its account bolt is not there`)
}

func check(t *testing.T, s *kv.Store, known map[string]bool, want ...string) {
	t.Helper()
	var got []string
	if err := s.View(func(tx *kv.Tx) error {
		Check(tx, known, func(p string) { got = append(got, p) })
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the check: %s", diff)
	}
}

// TestCheck damages records in each way that the check detects.
func TestCheck(t *testing.T) {
	s := store(t)
	if err := s.Update(func(tx *kv.Tx) error {
		for start, r := range map[int64]Record{
			day:     {Type: 9, Start: day},
			day + 1: {Type: monitor.IssueStop, Start: day},
			day + 2: {Type: monitor.IssueStop, Start: day + 2, Manual: &Manual{}},
			day + 3: {Type: monitor.IssueStop, Start: day + 3, Cuts: []Cut{{At: day + 4}}},
			day + 4: {Type: monitor.IssueStop, Start: day + 4, Cuts: []Cut{{At: day + 4}, {At: day + 1}}},
			day + 5: {Type: monitor.IssueStop, Start: day + 5, Until: day + 6},
		} {
			if err := records.Put(tx, at("acme", "A", start, "stop"), r); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	check(t, s, map[string]bool{"acme": true},
		"issue stop of A: its type is 9",
		"issue stop of A: it calls itself A.stop-1767571200000",
		"issue stop of A: what the ledger knows of it does not fit its type",
		"issue stop of A: its parts are not in order",
		"issue stop of A: its parts are not in order",
		"issue stop of A: it reaches further than is noted for the station")
}

// TestSweep checks that only records that ended before the retention period are deleted, in batches.
func TestSweep(t *testing.T) {
	const batch = 1000
	s := store(t)
	now := time.UnixMilli(day).Add(400 * 24 * time.Hour)
	if err := s.Update(func(tx *kv.Tx) error {
		for i := range int64(2*batch + 10) {
			if err := put(tx, "acme", "A", &Record{Type: monitor.IssueStop, Start: day + i*minute, Until: day + i*minute + 1000}); err != nil {
				return err
			}
		}
		if err := opens.Put(tx, kv.Pair[string, string]{A: "acme", B: "B"}, day); err != nil {
			return err
		}
		if err := put(tx, "acme", "B", &Record{Type: monitor.IssueManual, Start: day, Until: day, Manual: &Manual{}}); err != nil {
			return err
		}
		return put(tx, "acme", "A", &Record{Type: monitor.IssueSlow, Start: day, Until: now.UnixMilli()})
	}); err != nil {
		t.Fatal(err)
	}
	left := func() (n int) {
		t.Helper()
		if err := s.View(func(tx *kv.Tx) error { n = records.Count(tx); return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, tt := range []struct {
		retention time.Duration
		want      int
	}{{0, 2*batch + 12}, {500 * 24 * time.Hour, 2*batch + 12}, {400*24*time.Hour - 10*time.Minute, 2*batch + 2}, {time.Hour, 2}} {
		if err := New(Config{Store: s, Clock: func() time.Time { return now }, Retention: tt.retention}).Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := left(); got != tt.want {
			t.Errorf("kept for %s, %d records are left, want %d", tt.retention, got, tt.want)
		}
	}
	check(t, s, map[string]bool{"acme": true})
}
