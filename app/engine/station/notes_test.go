package station

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

func (h *house) notes(changed func(accountID, stationCode string)) *Notes {
	h.t.Helper()
	b, err := NewNotes(NotesConfig{Store: h.store, Accounts: h.accounts, Changed: changed})
	if err != nil {
		h.t.Fatal(err)
	}
	return b
}

func as(role auth.Role, stations ...string) auth.Principal {
	p := boss()
	p.Role, p.StationCodes = role, stations
	if role == auth.Operator && stations == nil {
		p.StationCodes = []string{"PRESS-1", "PRESS-2", "WELD-1"}
	}
	return p
}

// TestBoard sets and removes operators and alerts, and reads them again from the store.
func TestBoard(t *testing.T) {
	h := newHouse(t, small)
	var told []string
	b := h.notes(func(account, station string) { told = append(told, account+" "+station) })
	step := func(after time.Duration, want Note, n Note, err error) {
		t.Helper()
		if diff := cmp.Diff(want, n); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		for _, b := range []*Notes{b, h.notes(nil)} {
			if got := b.Of("millbrook", "PRESS-1", ms(after)); got != want {
				t.Errorf("shown is %+v, want %+v", got, want)
			}
		}
	}
	operator := func(after time.Duration, initials *string) (Note, error) {
		h.clock.set(after)
		return b.SetOperator(as(auth.Operator), "PRESS-1", initials)
	}
	alert := func(after time.Duration, message *string, until *time.Time) (Note, error) {
		h.clock.set(after)
		return b.SetAlert(as(auth.Supervisor), "PRESS-1", message, until)
	}
	n, err := operator(1, new("ABC"))
	step(1, Note{OperatorInitials: "ABC", OperatorBy: "session:s1", OperatorSince: ms(1)}, n, err)
	n, err = operator(h1, new("ABC")) // the same again: set again
	step(h1, Note{OperatorInitials: "ABC", OperatorBy: "session:s1", OperatorSince: ms(h1)}, n, err)
	until := start.Add(3 * h1)
	n, err = alert(2*h1, new("Mind the <step>"), &until)
	step(2*h1, Note{OperatorInitials: "ABC", OperatorBy: "session:s1", OperatorSince: ms(h1), AlertMessage: "Mind the <step>", AlertSince: ms(2 * h1), AlertExpiresAt: ms(3 * h1)}, n, err)
	for after, want := range map[time.Duration]string{3*h1 - time.Millisecond: "Mind the <step>", 3 * h1: ""} {
		if got := b.Of("millbrook", "PRESS-1", ms(after)).AlertMessage; got != want {
			t.Errorf("after %v the alert is %q, want %q", after, got, want)
		}
	}
	n, err = operator(4*h1, nil)
	if err == nil {
		n, err = operator(4*h1, nil) // removing nobody is no change
	}
	step(4*h1, Note{OperatorSince: ms(4 * h1)}, n, err)
	n, err = alert(5*h1, new("Stays"), nil)
	step(5*h1, Note{OperatorSince: ms(4 * h1), AlertMessage: "Stays", AlertSince: ms(5 * h1)}, n, err)
	n, err = alert(6*h1, nil, nil)
	step(6*h1, Note{OperatorSince: ms(4 * h1)}, n, err)
	if want := slices.Repeat([]string{"millbrook PRESS-1"}, 6); !slices.Equal(told, want) {
		t.Errorf("told of %q, want %q", told, want)
	}
	var trail []string
	var records []audit.Record
	if err := h.store.View(func(tx *kv.Tx) (err error) {
		page, err := audit.List(tx, "millbrook", audit.Query{Limit: 20})
		records = page.Records
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if strings.HasPrefix(r.Action, "station.") {
			trail = append(trail, fmt.Sprint(r.Action, " ", r.Target, " ", r.Detail))
		}
	}
	slices.Reverse(trail)
	want := []string{
		"station.operator PRESS-1 map[initials:ABC]", "station.operator PRESS-1 map[initials:ABC]", "station.alert PRESS-1 map[expiresAt:2026-01-12T11:00:00.000Z message:Mind the <step>]", "station.operator PRESS-1 map[initials:]",
		"station.alert PRESS-1 map[message:Stays]", "station.alert PRESS-1 map[message:]",
	}
	if diff := cmp.Diff(want, trail); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
	if got := b.Of("millbrook", "PRESS-2", ms(2*h1)); got != (Note{}) {
		t.Errorf("another station shows %+v", got)
	}
}

// TestTheSameInitialsAgain: a tablet whose answers are lost repeats its initials. Within a minute that is no change;
// from another tablet it is, and the operator then belongs to that tablet.
func TestTheSameInitialsAgain(t *testing.T) {
	h := newHouse(t, small)
	told := 0
	b := h.notes(func(string, string) { told++ })
	for _, c := range []struct {
		after    time.Duration
		session  string
		initials string
		since    time.Duration
		told     int
	}{
		{0, "s1", "ABC", 0, 1}, {time.Second, "s1", "ABC", 0, 1}, {time.Minute - time.Millisecond, "s1", "ABC", 0, 1}, {time.Minute, "s1", "ABC", time.Minute, 2},
		{61 * time.Second, "s1", "DEF", 61 * time.Second, 3}, {62 * time.Second, "s2", "DEF", 62 * time.Second, 4}, {63 * time.Second, "s2", "DEF", 62 * time.Second, 4},
		{64 * time.Second, "s1", "DEF", 64 * time.Second, 5}, {60 * time.Second, "s1", "DEF", 60 * time.Second, 6}, // the clock was set back
	} {
		h.clock.set(c.after)
		p := as(auth.Operator)
		p.SessionID = c.session
		n, err := b.SetOperator(p, "PRESS-1", &c.initials)
		if err != nil || n.OperatorInitials != c.initials || n.OperatorSince != ms(c.since) || told != c.told {
			t.Errorf("%v %s says %s: %+v, told %d times, %v", c.after, c.session, c.initials, n, told, err)
		}
	}
}

// TestBoardRefuses checks which values, callers and stations are refused, without any change.
func TestBoardRefuses(t *testing.T) {
	h := newHouse(t, edit(t, small, `plants[0].stationGroups[1].enableMeterOnly = "on"`))
	b := h.notes(func(string, string) { t.Error("something changed") })
	soon, past, far, unset := start.Add(h1), start, start.Add(367*24*h1), time.UnixMilli(0)
	for _, c := range []struct {
		p        auth.Principal
		station  string
		initials string
		kind     errdefs.Kind
		want     string
	}{
		{as(auth.Readonly), "PRESS-1", "ABC", errdefs.Forbidden, "this needs the role operator; yours is readonly"},
		{as(auth.Operator, "PRESS-2"), "PRESS-1", "ABC", errdefs.Forbidden, "an operator acts on the stations that its tablet is bound to, and on no other"},
		{as(auth.Operator, []string{}...), "PRESS-1", "ABC", errdefs.Forbidden, "an operator acts on the stations that its tablet is bound to, and on no other"},
		{as(auth.Operator), "WELD-1", "ABC", errdefs.Invalid, "stationCode must be a station that somebody works at; WELD-1 is an energy meter"},
		{as(auth.Operator, "PRESS-1"), "WELD-1", "ABC", errdefs.Forbidden, "an operator acts on the stations that its tablet is bound to, and on no other"},
		{as(auth.Operator), "PRESS-9", "ABC", errdefs.NotFound, "there is no station with this code"},
		{as(auth.Operator), "PRESS-1", "AB", errdefs.Invalid, "initials must be 3 to 8 letters or digits; it is \"AB\""},
		{as(auth.Operator), "PRESS-1", "ABCDEFGHÄ", errdefs.Invalid, "initials must be 3 to 8 letters or digits; it is \"ABCDEFGHÄ\""},
		{as(auth.Operator), "PRESS-1", "", errdefs.Invalid, "initials must be given: 3 to 8 letters or digits"},
		{as(auth.Operator), "PRESS-1", "A\nC", errdefs.Invalid, "initials must be 3 to 8 letters or digits; it is \"A\\nC\""},
	} {
		_, err := b.SetOperator(c.p, c.station, &c.initials)
		if err == nil || err.Error() != c.want || errdefs.KindOf(err) != c.kind {
			t.Errorf("%q at %s: %v, want %s", c.initials, c.station, err, c.want)
		}
	}
	for _, c := range []struct {
		p       auth.Principal
		message *string
		until   *time.Time
		kind    errdefs.Kind
		want    string
	}{
		{as(auth.Operator), new("x"), nil, errdefs.Forbidden, "this needs the role supervisor; yours is operator"},
		{as(auth.Supervisor), new(""), nil, errdefs.Invalid, "message must be 1 to 280 characters that can be seen; it has 0"},
		{as(auth.Supervisor), new("  "), nil, errdefs.Invalid, "message must be 1 to 280 characters that can be seen; it has 2"},
		{as(auth.Supervisor), new(strings.Repeat("é", 281)), nil, errdefs.Invalid, "message must be 1 to 280 characters that can be seen; it has 281"},
		{as(auth.Supervisor), new("a\x00"), nil, errdefs.Invalid, "message must be one line of text without control characters"},
		{as(auth.Supervisor), nil, &soon, errdefs.Invalid, "expiresAt must not be there without a message"},
		{as(auth.Supervisor), new("x"), &past, errdefs.Invalid, "expiresAt must lie in the future; it is 2026-01-12T08:00:00.000Z"},
		{as(auth.Supervisor), new("x"), &unset, errdefs.Invalid, "expiresAt must lie in the future; it is 1970-01-01T00:00:00.000Z"},
		{as(auth.Supervisor), new("x"), &far, errdefs.Invalid, "expiresAt must lie within 366 days; it is 2027-01-14T08:00:00.000Z"},
	} {
		_, err := b.SetAlert(c.p, "PRESS-1", c.message, c.until)
		if err == nil || strings.TrimPrefix(err.Error(), "the alert has a problem: ") != c.want || errdefs.KindOf(err) != c.kind {
			t.Errorf("alert: %v, want %s", err, c.want)
		}
	}
	if _, err := h.accounts.SetArchived(auth.Local("millbrook"), true); err != nil {
		t.Fatal(err)
	}
	if _, err := b.SetOperator(as(auth.Operator), "PRESS-1", new("ABC")); errdefs.KindOf(err) != errdefs.Conflict {
		t.Errorf("on an archived account: %v", err)
	}
	if got := h.notes(nil).Of("millbrook", "PRESS-1", ms(0)); got != (Note{}) {
		t.Errorf("something is put up: %+v", got)
	}
}

// TestCheckFinds checks the reports of Check.
func TestCheckFinds(t *testing.T) {
	h := newHouse(t, small)
	if _, err := h.notes(nil).SetOperator(boss(), "PRESS-1", new("ABC")); err != nil {
		t.Fatal(err)
	}
	check := func(known map[string]bool) (found []string) {
		err := h.store.View(func(tx *kv.Tx) error {
			Check(tx, known, func(problem string) { found = append(found, problem) })
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := check(map[string]bool{"millbrook": true}); found != nil {
		t.Errorf("found %q", found)
	}
	if found := check(nil); len(found) != 10 || found[0] != "what is put up at the station PRESS-1: there is no account millbrook" {
		t.Errorf("found %q", found)
	}
	for _, c := range []struct {
		damage func(tx *kv.Tx) error
		want   string
	}{
		{func(tx *kv.Tx) error { return effects.Delete(tx, kv.Pair[string, uint64]{A: "millbrook", B: 1}) }, "of 1 revisions it is known of 0 what they changed"},
		{func(tx *kv.Tx) error {
			return ruleChanges.Put(tx, ofRevision("millbrook", "WELD-1", 1), ruleChange{digest{1}})
		}, `what revision 1 changed of "WELD-1": read a station's rules`},
		{func(tx *kv.Tx) error { return ruleParts.Put(tx, digest{2}, []byte("{}")) }, "are others"},
	} {
		if err := h.store.Update(c.damage); err != nil {
			t.Fatal(err)
		}
		if found := check(map[string]bool{"millbrook": true}); !strings.Contains(strings.Join(found, "\n"), c.want) {
			t.Errorf("found %q, want %q", found, c.want)
		}
	}
}
