package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/kv/file"
)

func day(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		panic(err)
	}
	return t
}

// kept makes a list of backups of 100 bytes each, named after their times.
func kept(times ...string) (list []Kept) {
	for _, text := range times {
		list = append(list, Kept{Name: text, MadeAt: day(text), Bytes: 100})
	}
	return list
}

func names(list []Kept) (all []string) {
	for _, b := range list {
		all = append(all, b.Name)
	}
	return all
}

// usual is what a service is set to that is told nothing.
var usual = Policy{Daily: 7, Weekly: 4, Monthly: 6, MinFreePercent: 10}

func TestExcess(t *testing.T) {
	roomy := file.Space{Free: 1 << 40, Total: 1 << 41}
	days := kept("2026-11-16 02:00", "2026-11-17 02:00", "2026-11-18 02:00", "2026-11-18 14:00", "2026-11-19 02:00")
	for name, test := range map[string]struct {
		policy Policy
		list   []Kept
		disk   file.Space
		want   []string
	}{
		"nothing there":                 {usual, nil, roomy, nil},
		"all are kept":                  {usual, kept("2026-11-18 02:00", "2026-11-19 02:00"), roomy, nil},
		"one a day":                     {Policy{Daily: 7}, days, roomy, []string{"2026-11-18 02:00"}},
		"the newest days":               {Policy{Daily: 2}, days, roomy, []string{"2026-11-16 02:00", "2026-11-17 02:00", "2026-11-18 02:00"}},
		"days without one do not count": {Policy{Daily: 2}, kept("2026-01-01 02:00", "2026-05-01 02:00"), roomy, nil},
		"weeks start on Monday": {Policy{Weekly: 2}, kept("2026-11-08 02:00", "2026-11-09 02:00", "2026-11-15 02:00", "2026-11-16 02:00"), roomy,
			[]string{"2026-11-08 02:00", "2026-11-09 02:00"}},
		"a week across years": {Policy{Weekly: 3}, kept("2026-12-28 02:00", "2027-01-03 02:00", "2027-01-04 02:00"), roomy, []string{"2026-12-28 02:00"}},
		"months":              {Policy{Monthly: 2}, kept("2025-11-30 02:00", "2026-10-01 02:00", "2026-10-31 02:00", "2026-11-01 02:00"), roomy, []string{"2025-11-30 02:00", "2026-10-01 02:00"}},
		"no rule keeps any":   {Policy{}, days, roomy, []string{"2026-11-16 02:00", "2026-11-17 02:00", "2026-11-18 02:00", "2026-11-18 14:00"}},
		"size":                {Policy{Daily: 7, MaxBytes: 250}, days, roomy, []string{"2026-11-16 02:00", "2026-11-17 02:00", "2026-11-18 02:00"}},
		"the newest is larger than all may be": {Policy{Daily: 7, MaxBytes: 50}, days, roomy,
			[]string{"2026-11-16 02:00", "2026-11-17 02:00", "2026-11-18 02:00", "2026-11-18 14:00"}},
		"room is made": {Policy{Daily: 7, MinFreePercent: 10}, days, file.Space{Free: 4700, Total: 50_000},
			[]string{"2026-11-16 02:00", "2026-11-17 02:00", "2026-11-18 02:00"}},
		"room cannot be made": {Policy{Daily: 7, MinFreePercent: 10}, days, file.Space{Free: 0, Total: 50_000},
			[]string{"2026-11-16 02:00", "2026-11-17 02:00", "2026-11-18 02:00", "2026-11-18 14:00"}},
		"room enough": {Policy{Daily: 7, MinFreePercent: 10}, days[4:], file.Space{Free: 5000, Total: 50_000}, nil},
	} {
		if diff := cmp.Diff(test.want, names(test.policy.Excess(test.list, test.disk))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestTwoYears makes a backup a day for two years and removes what goes each time: in the end the days, weeks and months
// are there that the policy promises, although each was decided without knowing what comes.
func TestTwoYears(t *testing.T) {
	policy := usual
	var list []Kept
	now := day("2025-01-01 02:00")
	for range 730 {
		list = append(list, Kept{Name: now.Format(time.DateOnly), MadeAt: now, Bytes: 1})
		for _, gone := range policy.Excess(list, file.Space{Free: 1, Total: 1}) {
			for i, b := range list {
				if b.Name == gone.Name {
					list = append(list[:i:i], list[i+1:]...)
					break
				}
			}
		}
		now = now.AddDate(0, 0, 1)
	}
	want := []string{
		"2026-07-31", "2026-08-31", "2026-09-30", "2026-10-31", "2026-11-30", // months; December is the newest
		"2026-12-13", "2026-12-20", // Sundays; the weeks of the 27th and of the newest are among the days
		"2026-12-25", "2026-12-26", "2026-12-27", "2026-12-28", "2026-12-29", "2026-12-30", "2026-12-31",
	}
	if diff := cmp.Diff(want, names(list)); diff != "" {
		t.Error(diff)
	}
}

// TestPrune removes scheduled backups alone.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	others := []string{"app-2026.backup", "app-20261101T020000Z.backup.partial-1", "app-20261131T020000Z.backup", "mine.backup", "x-20261101T020000Z.backup"}
	for _, name := range others {
		writeFile(t, filepath.Join(dir, name), "")
	}
	if err := os.Mkdir(filepath.Join(dir, "app-20261102T020000Z.backup"), 0o700); err != nil {
		t.Fatal(err)
	}
	for d := range 5 {
		writeFile(t, filepath.Join(dir, fileName(day("2026-11-10 02:00").AddDate(0, 0, d))), "12345")
	}
	list, err := List(dir)
	if err != nil || len(list) != 5 || list[0] != (Kept{"app-20261114T020000Z.backup", day("2026-11-14 02:00"), 5}) {
		t.Fatalf("%v, %v", list, err)
	}
	removed, err := Prune(dir, Policy{Daily: 2}, 0, time.Now())
	if want := []string{"app-20261110T020000Z.backup", "app-20261111T020000Z.backup", "app-20261112T020000Z.backup"}; err != nil || !cmp.Equal(names(removed), want) {
		t.Errorf("removed %v, %v", names(removed), err)
	}
	expectOnly(t, dir, append([]string{"app-2026.backup", others[1], "app-20261102T020000Z.backup", "app-20261113T020000Z.backup", "app-20261114T020000Z.backup"}, others[2:]...)...)
	if _, err := Prune(dir, Policy{Daily: 2, MinFreePercent: 100}, 1, time.Now()); err != nil {
		t.Error(err)
	}
	if list, err := List(dir); err != nil || len(list) != 1 {
		t.Errorf("no room: %v, %v", list, err)
	}
	if _, err := Prune(filepath.Join(dir, "none"), Policy{}, 0, time.Now()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

func TestSchedule(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	in := func(text string) time.Time { // in Berlin
		at, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	nightly := Schedule{Hour: 2, Minute: 30, Zone: berlin}
	for i, test := range []struct {
		schedule   Schedule
		last, want time.Time
	}{
		{nightly, time.Time{}, time.Time{}},
		{nightly, in("2026-11-20 02:30"), in("2026-11-21 02:30")},
		{nightly, in("2026-11-20 02:29"), in("2026-11-20 02:30")},
		{nightly, in("2026-11-20 15:00"), in("2026-11-21 02:30")},
		{nightly, in("2026-12-31 15:00"), in("2027-01-01 02:30")},
		{nightly, in("2026-10-24 02:31"), in("2026-10-25 02:30")}, // the day of 25 hours
		{nightly, in("2026-10-25 12:00"), in("2026-10-26 02:30")},
		{Schedule{Hour: 2, Minute: 30, Zone: berlin, Days: 7}, in("2026-11-20 02:30"), in("2026-11-27 02:30")},
		{Schedule{}, day("2026-11-20 15:00"), day("2026-11-21 00:00")},
	} {
		if got := test.schedule.Next(test.last); !got.Equal(test.want) {
			t.Errorf("%d: after %v comes %v, want %v", i, test.last, got, test.want)
		}
	}
	// Where the clock skips 02:30 there is one backup all the same.
	skipped := nightly.Next(in("2026-03-28 02:30"))
	if gap := skipped.Sub(in("2026-03-29 02:00")); gap < -time.Hour || gap > time.Hour {
		t.Errorf("the skipped one is due at %v", skipped)
	}
	if next := nightly.Next(skipped); !next.Equal(in("2026-03-30 02:30")) {
		t.Errorf("after the skipped one comes %v", next)
	}
	// Every day has one, through a year.
	at, n := in("2026-01-01 02:30"), 0
	for ; at.Before(in("2027-01-01 02:30")); at = nightly.Next(at) {
		n++
	}
	if n != 365 {
		t.Errorf("%d backups in a year", n)
	}
}

func TestDueAndOverdue(t *testing.T) {
	nightly := Schedule{Hour: 2}
	newest := day("2026-11-20 02:00")
	if got := due(nightly, newest, time.Time{}, day("2026-11-21 12:00")); !got.Equal(day("2026-11-21 02:00")) {
		t.Errorf("due at %v", got)
	}
	if got := due(nightly, newest, day("2026-11-21 02:01"), day("2026-11-21 12:00")); !got.Equal(day("2026-11-21 03:01")) {
		t.Errorf("after a failure due at %v", got)
	}
	if got := due(nightly, newest, day("2026-11-20 12:00"), day("2026-11-21 12:00")); !got.Equal(day("2026-11-21 02:00")) {
		t.Errorf("after an extra one failed, due at %v", got)
	}
	start := day("2026-11-01 00:00")
	for now, want := range map[string]bool{"2026-11-21 01:00": false, "2026-11-21 07:59": false, "2026-11-21 08:00": true, "2026-11-25 00:00": true} {
		if got := overdue(nightly, newest, start, day(now)); got != want {
			t.Errorf("overdue at %s: %v", now, got)
		}
	}
	if overdue(nightly, newest, day("2026-11-25 00:00"), day("2026-11-25 01:00")) {
		t.Error("overdue just after the service was switched on")
	}
	// A clock that was a year ahead when an attempt failed, or when the service was started, and is right now.
	if got := due(nightly, newest, day("2027-11-21 02:01"), day("2026-11-21 03:00")); !got.Equal(day("2026-11-21 02:00")) {
		t.Errorf("after a failure in the future due %v", got)
	}
	if !overdue(nightly, newest, day("2027-11-21 00:00"), day("2026-11-21 09:00")) {
		t.Error("not overdue after a start in the future")
	}
	if overdue(nightly, time.Time{}, start, start.Add(time.Hour)) || !overdue(nightly, time.Time{}, start, start.Add(6*time.Hour)) {
		t.Error("the first one")
	}
}

func ExamplePolicy_Excess() {
	list := []Kept{
		{"monday", day("2026-11-16 02:00"), 100},
		{"tuesday", day("2026-11-17 02:00"), 100},
		{"wednesday", day("2026-11-18 02:00"), 100},
	}
	for _, b := range (Policy{Daily: 2}).Excess(list, file.Space{Free: 1 << 40, Total: 1 << 41}) {
		fmt.Println(b.Name)
	}
	// Output: monday
}
