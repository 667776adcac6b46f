package task

import (
	"fmt"
	"testing"
	"time"
	_ "time/tzdata" // the tests do not depend on the system's time zones

	"github.com/google/go-cmp/cmp"

	"opsmon/app/account/manifest"
	"opsmon/app/instant"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func ms(t testing.TB, text string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMilli()
}

// cronAsk returns a Task of a list with a cron trigger; minutes "": no availableBeforeDeadlineMinutes.
func cronAsk(t testing.TB, code, pattern, minutes, zoneName string) ask {
	t.Helper()
	a, ok := newAsk(Text{TaskCode: code, ListCode: "L"}, &manifest.Trigger{Type: "cron", Pattern: pattern, AvailableBeforeDeadlineMinutes: manifest.Number(minutes)}, zone(t, zoneName))
	if !ok {
		t.Fatalf("%q is no pattern", pattern)
	}
	return a
}

func TestWindows(t *testing.T) {
	for _, tt := range []struct{ name, pattern, minutes, zone, now, opens, deadline string }{
		{"an hour before", "0 6 * * *", "60", "Europe/Berlin", "2026-03-02T00:00:00+01:00", "2026-03-02T05:00:00+01:00", "2026-03-02T06:00:00+01:00"},
		{"at the fire the next one counts", "0 6 * * *", "60", "Europe/Berlin", "2026-03-02T06:00:00+01:00", "2026-03-03T05:00:00+01:00", "2026-03-03T06:00:00+01:00"},
		{"from the fire before", "0 6,14,22 * * *", "", "Europe/Berlin", "2026-03-02T15:00:00+01:00", "2026-03-02T14:00:00+01:00", "2026-03-02T22:00:00+01:00"},
		{"from the fire before, at that fire", "0 6,14,22 * * *", "", "Europe/Berlin", "2026-03-02T14:00:00+01:00", "2026-03-02T14:00:00+01:00", "2026-03-02T22:00:00+01:00"},
		{"weekdays over a weekend", "0 6 * * 1-5", "", "Europe/Berlin", "2026-03-07T12:00:00+01:00", "2026-03-06T06:00:00+01:00", "2026-03-09T06:00:00+01:00"},
		{"every minute", "* * * * *", "", "UTC", "2026-03-02T08:00:30Z", "2026-03-02T08:00:00Z", "2026-03-02T08:01:00Z"},

		{"clocks go forward: the fire is skipped, and is at the first minute there is", "30 2 * * *", "45", "Europe/Berlin", "2026-03-29T00:00:00+01:00", "2026-03-29T01:15:00+01:00", "2026-03-29T03:00:00+02:00"},
		{"clocks go forward: the day before is an hour longer ago than it looks", "30 2 * * *", "", "Europe/Berlin", "2026-03-29T00:00:00+01:00", "2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00"},
		{"clocks go forward: minutes are elapsed ones", "0 4 * * *", "120", "Europe/Berlin", "2026-03-29T00:00:00+01:00", "2026-03-29T01:00:00+01:00", "2026-03-29T04:00:00+02:00"},
		{"clocks go back: the first of two counts", "30 2 * * *", "45", "Europe/Berlin", "2026-10-25T00:00:00+02:00", "2026-10-25T01:45:00+02:00", "2026-10-25T02:30:00+02:00"},
		{"clocks go back: between the two the next day's counts", "30 2 * * *", "45", "Europe/Berlin", "2026-10-25T02:10:00+01:00", "2026-10-26T01:45:00+01:00", "2026-10-26T02:30:00+01:00"},
		{"clocks go back: an hourly one fires in both", "30 * * * *", "", "Europe/Berlin", "2026-10-25T02:45:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"},
		{"clocks go back: minutes are elapsed ones", "0 4 * * *", "120", "Europe/Berlin", "2026-10-25T00:00:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T04:00:00+01:00"},
	} {
		a := cronAsk(t, "T", tt.pattern, tt.minutes, tt.zone)
		got, ok := a.windowAt(ms(t, tt.now))
		if want := (window{ms(t, tt.opens), ms(t, tt.deadline)}); !ok || got != want {
			z := zone(t, tt.zone)
			t.Errorf("%s: %s to %s", tt.name, time.UnixMilli(got.opens).In(z), time.UnixMilli(got.deadline).In(z))
		}
	}
}

func TestLatestFires(t *testing.T) {
	a := cronAsk(t, "T", "30 2 * * *", "", "Europe/Berlin")
	text := func(fires []int64) (list []string) {
		for _, at := range fires {
			list = append(list, time.UnixMilli(at).In(a.zone).Format("2006-01-02T15:04Z07:00"))
		}
		return list
	}
	fires, cut := a.latest(ms(t, "2026-03-27T02:30:00+01:00"), ms(t, "2026-03-30T02:30:00+02:00"), 10)
	if diff := cmp.Diff([]string{"2026-03-28T02:30+01:00", "2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00"}, text(fires)); diff != "" || cut {
		t.Errorf("cut %v (-want +got):\n%s", cut, diff)
	}
	fires, cut = a.latest(ms(t, "2026-03-27T02:30:00+01:00"), ms(t, "2026-03-30T02:30:00+02:00"), 2)
	if diff := cmp.Diff([]string{"2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00"}, text(fires)); diff != "" || !cut {
		t.Errorf("cut %v (-want +got):\n%s", cut, diff)
	}
	fires, cut = a.latest(ms(t, "2026-10-24T12:00:00+02:00"), ms(t, "2026-10-26T12:00:00+01:00"), 10)
	if diff := cmp.Diff([]string{"2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"}, text(fires)); diff != "" || cut {
		t.Errorf("cut %v (-want +got):\n%s", cut, diff)
	}
	if fires, cut = a.latest(ms(t, "2026-03-27T02:30:00+01:00"), ms(t, "2026-03-27T12:00:00+01:00"), 1); len(fires) != 0 || cut {
		t.Errorf("what lies at the beginning counts: %v", text(fires))
	}
	a = cronAsk(t, "T", "* * * * *", "", "UTC")
	to := ms(t, "2026-03-02T08:00:00Z")
	began := time.Now()
	fires, cut = a.latest(to-365*24*time.Hour.Milliseconds(), to, 1000)
	if len(fires) != 1000 || !cut || fires[999] != to || fires[0] != to-999*60_000 {
		t.Errorf("of a year of minutes came %d, cut %v", len(fires), cut)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("a thousand fires took %v", took)
	}
}

func TestPassed(t *testing.T) {
	early, late := cronAsk(t, "EARLY", "0 6 * * *", "60", "UTC"), cronAsk(t, "LATE", "0 22 * * *", "", "UTC")
	other := ask{text: Text{TaskCode: "X", Trigger: OnDemand}}
	at := func(text string) int64 { return ms(t, text) }
	list, cut := passed([]period{
		{from: at("2026-03-02T06:00:00Z"), to: at("2026-03-03T22:00:00Z"), asks: []ask{early, late, other}},
		{from: at("2026-03-03T22:00:00Z"), to: at("2026-03-05T08:00:00Z"), asks: []ask{late}},
	})
	var got []string
	for _, d := range list {
		got = append(got, d.ask.text.TaskCode+" "+instant.FormatMs(d.opens)+" "+instant.FormatMs(d.deadline))
	}
	want := []string{
		"LATE 2026-03-01T22:00:00.000Z 2026-03-02T22:00:00.000Z",
		"EARLY 2026-03-03T05:00:00.000Z 2026-03-03T06:00:00.000Z",
		"LATE 2026-03-02T22:00:00.000Z 2026-03-03T22:00:00.000Z",
		"LATE 2026-03-03T22:00:00.000Z 2026-03-04T22:00:00.000Z",
	}
	if diff := cmp.Diff(want, got); diff != "" || cut {
		t.Errorf("cut %v (-want +got):\n%s", cut, diff)
	}
	var asks []ask
	for i := range 10 {
		asks = append(asks, cronAsk(t, fmt.Sprint(i), "* * * * *", "", "UTC"))
	}
	list, cut = passed([]period{{from: 0, to: at("2026-03-02T08:00:00Z"), asks: asks}})
	if len(list) != maxDue || !cut || list[0].deadline != at("2026-03-02T08:00:00Z")-(maxDue/10-1)*60_000 {
		t.Errorf("of ten Tasks a minute came %d, cut %v", len(list), cut)
	}
}

func TestIDs(t *testing.T) {
	for _, code := range []string{"PRESS", "a-b_C-9"} {
		i := instance{key: keyOf("works", code, ms(t, "2026-03-02T08:00:00Z"), 12345)}
		if k, ok := parseID("works", i.id()); !ok || k != i.key {
			t.Errorf("%s leads to %v", i.id(), k)
		}
	}
	for _, id := range []string{"", "PRESS", "PRESS.1", ".1.1", "PRESS.1.1.1", "PRESS.01.1", "PRESS.1.-1", "PRESS.1.+1", "PRESS.zzzzzzzzzzzzzzzzzz.1", "PRESS.A.1", "PRESS.1."} {
		if k, ok := parseID("works", id); ok {
			t.Errorf("%q names %v", id, k)
		}
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("PRESS.lx2k3p4q.0")
	f.Fuzz(func(t *testing.T, id string) {
		if k, ok := parseID("works", id); ok && (&instance{key: k}).id() != id {
			t.Errorf("%q is another id than %q", id, (&instance{key: k}).id())
		}
	})
}
