package station

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/kv"
)

// correct stores a correction and updates the timeline.
func (h *house) correct(from, to time.Duration, changes string, codes ...string) Correction {
	h.t.Helper()
	c := Correction{CreatedAt: h.clock.Now(), Author: "boss@millbrook.example", StationCodes: codes, From: ms(from), To: ms(to), Changes: json.RawMessage(changes)}
	line := h.line()
	if err := h.store.Update(func(tx *kv.Tx) (err error) {
		c, err = AddCorrection(tx, "millbrook", c)
		return err
	}); err != nil {
		h.t.Fatal(err)
	}
	line.Correct(c)
	return c
}

// seen formats the changes of a station: time, revision, boundary and the value of what.
func seen(t *testing.T, line *Timeline, code string, from, to time.Duration, what func(*Rules) any) string {
	t.Helper()
	list, err := line.Changes(code, ms(from), ms(to))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range list {
		r := c.Rules.Monitor.Revision
		text := fmt.Sprintf("%v %d.%d %v", time.UnixMilli(c.At).Sub(start), r&maxRevision, r>>32, what(c.Rules))
		if !c.Engine {
			text += " sums"
		}
		out = append(out, text)
		if got := line.Config(code, r); got == nil || got.Revision != r || got.UtilisationThreshold != c.Rules.Monitor.UtilisationThreshold {
			t.Errorf("%s: the configuration %d.%d cannot be had by its name", code, r&maxRevision, r>>32)
		}
		if at, err := line.StationAt(code, c.At); err != nil || (at == nil) != c.Gone || at != nil && !at.Same(c.Rules) {
			t.Errorf("%s at %v is another station than the change says: %v", code, time.UnixMilli(c.At).Sub(start), err)
		}
	}
	return strings.Join(out, ", ")
}

func threshold(s *Rules) any { return s.Monitor.UtilisationThreshold / 1000 }

// TestCorrections applies corrections to the revisions of years: single and overlapping ones, across a revision and
// while the station was out of the manifest; and undoes them.
func TestCorrections(t *testing.T) {
	h := years(t)
	h.clock.set(20 * h1)
	check := func(step, code, want string) {
		t.Helper()
		for _, line := range []*Timeline{h.line(), func() *Timeline { h.reopen(); return h.line() }()} {
			if got := seen(t, line, code, 0, 9*h1, threshold); got != want {
				t.Errorf("%s, %s:\n%s, want\n%s", step, code, got, want)
			}
		}
	}
	check("none", "PRESS-1", "0s 1.0 3600, 4h0m0s 5.0 60, 5h0m0s 5.0 60 sums, 7h0m0s 8.0 60")
	first := h.correct(h1/2, 7*h1/2, `{"station":{"utilisationDowntimeThreshold":1000}}`, "PRESS-1", "PRESS-2")
	check("one", "PRESS-1", "0s 1.0 3600, 30m0s 1.1 1, 3h30m0s 1.0 3600, 4h0m0s 5.0 60, 5h0m0s 5.0 60 sums, 7h0m0s 8.0 60")
	check("one", "WELD-1", "0s 1.0 3600, 7h0m0s 8.0 3600")
	h.correct(h1, 2*h1, `{"station":{"utilisationDowntimeThreshold":null,"minimumCycleTime":5}}`, "PRESS-1")
	check("two", "PRESS-1", "0s 1.0 3600, 30m0s 1.1 1, 1h0m0s 2.3 3600, 2h0m0s 3.4 1, 3h30m0s 1.0 3600, 4h0m0s 5.0 60, 5h0m0s 5.0 60 sums, 7h0m0s 8.0 60")
	check("two", "PRESS-2", "0s 1.0 3600, 30m0s 1.1 1, 3h30m0s 1.0 3600, 7h0m0s 8.0 3600")
	h.correct(4*h1, 8*h1, `{"station":{"utilisationDowntimeThreshold":7000}}`, "PRESS-1")
	long := "0s 1.0 3600, 30m0s 1.1 1, 1h0m0s 2.3 3600, 2h0m0s 3.4 1, 3h30m0s 1.0 3600, 4h0m0s 5.5 7, 5h0m0s 5.5 7 sums, 7h0m0s 8.5 7, 8h0m0s 8.0 60"
	check("three", "PRESS-1", long)

	undo := h.line().Corrections()[1]
	if got := seen(t, h.line().With(Correction{Number: 2, UndoneAt: start, Changes: undo.Changes}), "PRESS-1", h1/2, 3*h1, threshold); got != "30m0s 1.1 1" {
		t.Errorf("as it would be: %s", got)
	}
	check("as before", "PRESS-1", long)
	if err := h.store.Update(func(tx *kv.Tx) (err error) {
		undo, err = UndoCorrection(tx, "millbrook", undo, "boss")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	h.line().Correct(undo)
	check("undone", "PRESS-1", "0s 1.0 3600, 30m0s 1.1 1, 3h30m0s 1.0 3600, 4h0m0s 5.5 7, 5h0m0s 5.5 7 sums, 7h0m0s 8.5 7, 8h0m0s 8.0 60")
	if list := h.line().Corrections(); len(list) != 3 || list[1].UndoneBy != "boss" || list[0].Number != first.Number {
		t.Errorf("%+v", list)
	}
	var found []string
	if err := h.store.View(func(tx *kv.Tx) error {
		Check(tx, map[string]bool{"millbrook": true}, func(problem string) { found = append(found, problem) })
		return nil
	}); err != nil || found != nil {
		t.Errorf("check found %q, %v", found, err)
	}
}

// TestCorrectionFields checks what each part of a correction changes, and that it changes no other station.
func TestCorrectionFields(t *testing.T) {
	for _, c := range []struct {
		changes string
		what    func(s *Station) any
		is, was any
	}{
		{`{"station":{"shiftPatternCode":"two"}}`, func(s *Station) any { return s.Pattern }, "two", ""},
		{`{"station":{"shiftPatternCode":"short"},"shiftPatterns":[{"code":"short","shifts":[{"name":"s","startHour":9,"duration":1,"weekDay":"1"}]}]}`, func(s *Station) any {
			return len(s.Calendar.Shifts(ms(-24*h1), ms(6*24*h1)))
		}, 1, 0},
		{`{"skus":[{"code":"A","unitsPerHour":60}]}`, func(s *Station) any { return skuA(s).Rate }, monitor.Rate{UnitsPerHour: 60}, monitor.Rate{CycleTime: 12000}},
		{`{"skus":[{"code":"A","partsPerCycle":null,"value":7}]}`, func(s *Station) any { return fmt.Sprint(skuA(s).PartsPerCycle, s.OEE.Values) }, "0 map[A:7]", "2 map[]"},
		{`{"reasons":[{"code":"tool","oee":"setup"}]}`, func(s *Station) any { return s.OEE.Roles["tool"] }, oee.RoleSetup, oee.RoleChangeover},
		{`{"reasons":[{"code":"clean","type":["downtime"],"oee":null}]}`, func(s *Station) any { return fmt.Sprint(s.Monitor.Causes["clean"], s.OEE.Roles["clean"]) }, "true 0", "false 3"},
		{`{"station":{"excludeReasonCodes":["jam"]}}`, func(s *Station) any { return s.Monitor.Causes["jam"] }, false, true},
		{`{"station":{"enableAlwaysConnected":"on"}}`, func(s *Station) any { return s.Monitor.AlwaysConnected }, true, false},
		{`{"station":{"downtimeDetectionMode":"off","unitsPerMinute":3}}`, func(s *Station) any { return fmt.Sprint(s.Monitor.DowntimeMode, s.Monitor.Rate.UnitsPerMinute) }, "3 3", "0 0"},
		{`{"station":{"idleCostPerMinute":2.5}}`, func(s *Station) any { return s.OEE.IdleCostPerMinute }, 2.5, 0.0},
	} {
		h := newHouse(t, small)
		h.clock.set(20 * h1)
		h.correct(h1, 2*h1, c.changes, "WELD-1")
		for after, want := range map[time.Duration]any{0: c.was, h1: c.is, 2 * h1: c.was} {
			s, err := h.line().StationAt("WELD-1", ms(after))
			if err != nil || c.what(s) != want {
				t.Errorf("%s after %v: %v, want %v; %v", c.changes, after, c.what(s), want, err)
			}
		}
		list, err := h.line().Changes("WELD-1", ms(0), ms(3*h1))
		if err != nil || len(list) != 3 {
			t.Errorf("%s makes %d changes, %v", c.changes, len(list), err)
		}
		if list, err = h.line().Changes("PRESS-1", ms(0), ms(3*h1)); err != nil || len(list) != 1 {
			t.Errorf("%s makes %d changes of another station, %v", c.changes, len(list), err)
		}
		p, err := h.line().At(ms(h1))
		if err != nil || p.Of("WELD-1").Monitor.Revision != 1 || len(p.Manifest.ShiftPatterns) != 2 || p.Manifest.SKUs[0].CycleTime != "12000" || len(p.Manifest.Reasons[1].Reasons[1].Type) != 1 {
			t.Errorf("%s changed the plan of the manifest: %v", c.changes, err)
		}
	}
}

// TestCheckCorrections checks what Check reports of corrections.
func TestCheckCorrections(t *testing.T) {
	h := newHouse(t, small)
	put := func(number uint64, c Correction) {
		if err := h.store.Update(func(tx *kv.Tx) error {
			return corrections.Put(tx, kv.Pair[string, uint64]{A: "millbrook", B: number}, c)
		}); err != nil {
			t.Fatal(err)
		}
	}
	put(2, Correction{Number: 2, From: 5000, To: 4000, Changes: json.RawMessage(`{}`)})
	put(3, Correction{Number: 4, From: 1, To: 2, Changes: json.RawMessage(`{}`)})
	var found []string
	if err := h.store.View(func(tx *kv.Tx) error {
		Check(tx, map[string]bool{"millbrook": true}, func(problem string) { found = append(found, problem) })
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"account millbrook: correction 2 is where 1 should be", "account millbrook: correction 2 ends at 1970-01-01T00:00:04.000Z, before it begins",
		"account millbrook: correction 4 is where 3 should be",
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}

// skuA returns the engine's SKU A at a station.
func skuA(s *Station) monitor.SKU {
	k, _ := s.Monitor.SKU("A", latest)
	return k
}
