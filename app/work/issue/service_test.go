package issue

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/ingest/signal"
	"opsmon/app/instant"
	"opsmon/kv"
)

const press = "PRESS"

// works is a plant with a Service. It is 08:00 on Monday 2 March 2026, UTC. PRESS should make one unit a second and is
// stopped after two minutes without production.
type works struct {
	*floortest.Rig
	*Service
}

func newWorks(t *testing.T, edit ...string) *works {
	t.Helper()
	manifest := strings.NewReplacer(edit...).Replace(floortest.Manifest)
	w := &works{Rig: floortest.New(t, manifest, Buckets()...)}
	w.open()
	t.Cleanup(func() {
		check(t, w.Store, map[string]bool{floortest.Account: true})
	})
	return w
}

// open opens the floor, as after a restart.
func (w *works) open() {
	w.Service = New(Config{
		Store: w.Store, Clock: w.Rig.Now,
		Detail: func(account, station string, from, to int64) (*floor.Detail, error) {
			return w.Rig.Floor.Detail(account, station, from, to)
		},
		Authorize: func(_ *kv.Tx, p auth.Principal, need auth.Role) error {
			if !p.Role.AtLeast(need) {
				return errdefs.New(errdefs.Forbidden, "this needs the role %s; yours is %s", need, p.Role)
			}
			return nil
		},
	})
	w.Open(func(c *floor.Config) { c.Findings, c.Issue = Findings, EventData }, w.Service)
}

func person(role auth.Role) auth.Principal {
	p := auth.Principal{Type: auth.TypeSession, Email: string(role) + "@works.example", AccountID: floortest.Account, Role: role}
	if role == auth.Operator {
		p.StationCodes = []string{"PRESS", "PRESS-2", "PACK", "METER"}
	}
	return p
}

// do runs fn in the transaction of the station worker.
func (w *works) do(fn func(f *floor.Work) (*View, error)) (v *View, err error) {
	w.T.Helper()
	err = w.Rig.Floor.Do(floortest.Account, func(f *floor.Work) (err error) {
		v, err = fn(f)
		return err
	})
	return v, err
}

func (w *works) must(v *View, err error) *View {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
	return v
}

// cause sets a cause by an issue's ID; "" is null.
func (w *works) cause(id, code string) (*View, error) {
	w.T.Helper()
	target := w.Find(floortest.Account, id)
	return w.do(func(f *floor.Work) (*View, error) {
		return w.Cause(f, person(auth.Operator), target, CauseInput{Entry: Entry{Initials: "ABC"}, Cause: textOrNil(code)})
	})
}

func (w *works) exclude(id string, out bool) (*View, error) {
	w.T.Helper()
	target := w.Find(floortest.Account, id)
	return w.do(func(f *floor.Work) (*View, error) {
		return w.Exclude(f, person(auth.Supervisor), target, ExcludeInput{Entry: Entry{Note: "a visit"}, Excluded: out})
	})
}

// at parses a time of the first day, such as "08:30".
func (w *works) at(s string) time.Time {
	w.T.Helper()
	t, err := time.Parse("15:04", s)
	if err != nil {
		w.T.Fatal(err)
	}
	return floortest.Start.Truncate(24 * time.Hour).Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute)
}

func (w *works) ms(s string) int64 { w.T.Helper(); return w.at(s).UnixMilli() }

// until advances the clock to a time of the first day, with a heartbeat of PRESS each minute.
func (w *works) until(s string) {
	w.T.Helper()
	for to := w.at(s); w.Rig.Now().Before(to); {
		w.Pass(min(time.Minute, to.Sub(w.Rig.Now())), 0)
		w.Send(floortest.Signal(press, 0, map[signal.Field]float64{signal.RSSI: -60}))
	}
}

func (w *works) produce(on float64, at string) {
	w.T.Helper()
	ms := int64(0)
	if at != "" {
		ms = w.ms(at)
	}
	w.Send(floortest.Signal(press, ms, map[signal.Field]float64{signal.Productive: on}))
}

func (w *works) schedule() {
	w.T.Helper()
	if _, err := w.do(func(f *floor.Work) (*View, error) {
		_, err := f.Record(press, monitor.Input{At: f.Now, Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: "S", SKU: "BOWL"}})
		return nil, err
	}); err != nil {
		w.T.Fatal(err)
	}
}

// lines formats the issues of PRESS from 08:00 to a time, oldest first: "stop 08:10-08:30: 08:10 JAM person, 08:20 ?".
func (w *works) lines(to string, change ...func(*Query)) []string {
	w.T.Helper()
	q := Query{Where: []Where{{press, w.ms("08:00"), w.ms(to)}}, Limit: MaxList}
	for _, f := range change {
		f(&q)
	}
	list, _, err := w.List(w.T.Context(), floortest.Account, q)
	if err != nil {
		w.T.Fatal(err)
	}
	var out []string
	for _, v := range list {
		end, parts := "…", []string{}
		if v.EndAt != nil {
			end = v.EndAt.Format("15:04")
		}
		sum := int64(0)
		for _, p := range v.Parts {
			s := p.StartAt.Format("15:04") + " ?"
			if p.CauseCode != nil {
				s = p.StartAt.Format("15:04") + " " + *p.CauseCode + " " + *p.CauseFrom
			}
			if p.Excluded {
				s += "!"
			}
			parts = append(parts, s)
			sum += p.DurationMs
		}
		if sum != v.DurationMs {
			w.T.Errorf("%s lasts %d ms, its parts %d", v.ID, v.DurationMs, sum)
		}
		s := fmt.Sprintf("%s %s-%s: %s", v.Type, v.StartAt.Format("15:04"), end, strings.Join(parts, ", "))
		if v.Orphaned {
			s = "orphaned " + s
		}
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

func (w *works) want(to string, want ...string) {
	w.T.Helper()
	// Late signals are processed when the worker has time for them, by the real and the simulated clock.
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		diff := cmp.Diff(want, w.lines(to))
		if diff == "" {
			return
		}
		if time.Now().After(until) {
			w.T.Error(diff)
			return
		}
		w.Pass(50*time.Millisecond, 0)
	}
}

func id(typ monitor.IssueType, start int64) string { return ID(press, typ, start) }

// figures adds up the rows of PRESS: A in minutes, and the coverage.
func (w *works) figures(to string) string {
	w.T.Helper()
	var terms oee.Terms
	if err := w.Rig.Floor.Rows(floortest.Account, []string{press}, w.ms("08:00"), w.ms(to), func(_ *station.Rules, rows []oee.Row, _ []energy.Row) error {
		for i := range rows {
			terms.Add(&rows[i].Terms)
		}
		return nil
	}); err != nil {
		w.T.Fatal(err)
	}
	f := terms.Figures(oee.ProfileDefault)
	setup := terms.Down[monitor.Production][oee.RoleSetup] / minute
	return fmt.Sprintf("A %g/%g, known %g of %g, setup %d", f.A.Numerator/minute, f.A.Denominator/minute, f.Coverage.Numerator/minute, f.Coverage.Denominator/minute, setup)
}

// TestAStopIsNamed follows a stop from its start to stored figures: a cause while it is in progress, another one after
// its end, a split, an exclusion and its reversal, and the same again after a restart and after a recalculation.
func TestAStopIsNamed(t *testing.T) {
	w := newWorks(t)
	w.schedule()
	w.produce(1, "")
	w.until("08:10")
	w.produce(0, "")
	w.until("08:20")
	stop := id(monitor.IssueStop, w.ms("08:10"))
	w.want("08:20", "stop 08:10-…: 08:10 ?")
	v := w.must(w.cause(stop, "JAM"))
	if v.ID != stop || *v.CauseCode != "JAM" || *v.CauseFrom != "person" || v.EndAt != nil || v.UncausedMs != 0 || *v.ScheduleID != "S" || *v.SKUCode != "BOWL" {
		t.Errorf("the answer is %+v", v)
	}
	live, err := w.Rig.Floor.LiveOf(floortest.Account, press)
	if err != nil {
		t.Fatal(err)
	}
	if st := live.Status(); len(st.Issues) != 1 || st.Issues[0].ID != stop || *st.Issues[0].CauseCode != "JAM" {
		t.Errorf("the station shows %+v", st.Issues)
	}
	w.until("08:30")
	w.produce(1, "")
	w.until("09:00")
	w.want("09:00", "stop 08:10-08:30: 08:10 JAM person")
	var told []string
	shown := ""
	news, _ := w.Events.Since(floortest.Account, 0)
	for _, e := range news {
		var i struct {
			View
			Issues []struct{ CauseCode *string }
		}
		if err := json.Unmarshal(e.Data, &i); err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Type == event.Issue:
			told = append(told, fmt.Sprint("issue ", i.CauseCode != nil, i.EndAt != nil, len(i.Events), " ", i.DurationMs/minute, i.UncausedMs/minute, len(i.Parts)))
		case len(i.Issues) > 0:
			if now := fmt.Sprint("station ", i.Issues[0].CauseCode != nil); now != shown { // its counts change as well
				told, shown = append(told, now), now
			}
		}
	}
	// The stop begins, gets a cause and ends. The station sends events as well, but none without a visible change.
	if diff := cmp.Diff([]string{"station false", "issue false false 0 2 2 1", "station true", "issue true false 1 10 0 1", "issue true true 1 20 0 1"}, told); diff != "" {
		t.Error(diff)
	}
	if got, want := w.figures("09:00"), "A 40/60, known 60 of 60, setup 0"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w.must(w.cause(stop, "SETUP"))
	if got, want := w.figures("09:00"), "A 40/60, known 60 of 60, setup 20"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w.until("11:10") // from here on it is stored
	target := w.Find(floortest.Account, stop)
	from := instant.Of(w.at("08:15"))
	w.must(w.do(func(f *floor.Work) (*View, error) {
		return w.Split(f, person(auth.Operator), target, SplitInput{Parts: []PartInput{{Cause: textOrNil("SETUP")}, {StartAt: &from}}})
	}))
	all := func(what, line, figures string) {
		t.Helper()
		for _, open := range []func(){func() {}, w.open, func() { w.Forget(press); w.open() }} {
			open()
			w.want("11:00", line)
			if got := w.figures("11:00"); got != figures {
				t.Errorf("%s\ngot  %s\nwant %s", what, got, figures)
			}
		}
	}
	all("split", "stop 08:10-08:30: 08:10 SETUP person, 08:15 ?", "A 160/180, known 180 of 180, setup 5")
	w.must(w.exclude(stop, true))
	all("taken out", "stop 08:10-08:30: 08:10 SETUP person!, 08:15 ?!", "A 160/160, known 180 of 180, setup 0")
	w.must(w.exclude(stop, false))
	w.must(w.cause(stop, ""))
	all("as at first", "stop 08:10-08:30: 08:10 ?", "A 160/180, known 180 of 180, setup 0")

	// The event names the author, and subscribers were notified.
	list, _, err := w.List(w.T.Context(), floortest.Account, Query{Where: []Where{{press, w.ms("08:00"), w.ms("11:00")}}, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for _, e := range list[0].Events {
		events = append(events, fmt.Sprint(e.Action, " ", e.By))
	}
	if diff := cmp.Diff([]string{"cause operator@works.example", "cause operator@works.example", "split operator@works.example", "exclude supervisor@works.example", "include supervisor@works.example", "cause operator@works.example"}, events); diff != "" {
		t.Error(diff)
	}
	if err := w.Store.View(func(tx *kv.Tx) error {
		page, err := audit.List(tx, floortest.Account, audit.Query{Limit: 10, Action: "issue.cause"})
		log, n := page.Records, page.Total
		if n != 3 || log[0].Target != stop {
			t.Errorf("%d causes are in the audit", n)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// TestWhichStopsHaveTimeInARange checks, to the millisecond, that a range includes its start and excludes its end.
func TestWhichStopsHaveTimeInARange(t *testing.T) {
	w := newWorks(t)
	w.schedule()
	w.produce(1, "")
	w.until("08:10")
	w.Pass(20*time.Second, 0)
	w.produce(0, "")
	w.until("08:30")
	w.Pass(20*time.Second, 0)
	w.produce(1, "")
	w.until("08:40")
	w.must(w.do(func(f *floor.Work) (*View, error) {
		return w.Manual(f, person(auth.Operator), CreateInput{StationCode: press})
	}))
	stop, end, manual := w.ms("08:10")+20_000, w.ms("08:30")+20_000, w.ms("08:40")
	w.until("08:41")
	for _, tt := range []struct {
		name     string
		from, to int64
		want     int
	}{
		{"it begins where the range ends", stop - 1000, stop, 0},
		{"its first millisecond", stop - 1000, stop + 1, 1},
		{"within it", stop + 1, stop + 2, 1},
		{"its last millisecond", end - 1, end + 1000, 1},
		{"it ends where the range begins", end, end + 1000, 0},
		{"one that goes on, to its beginning", end, manual, 0},
		{"one that goes on", end, manual + 1, 1},
		{"both", end - 1, manual + 1, 2},
	} {
		_, total, err := w.List(w.T.Context(), floortest.Account, Query{Where: []Where{{press, tt.from, tt.to}}, Limit: MaxList})
		if err != nil || total != tt.want {
			t.Errorf("%s: %d issues (%v), want %d", tt.name, total, err, tt.want)
		}
	}
}

// TestLateSignals moves, cuts and removes a stop by late signals; its records follow.
func TestLateSignals(t *testing.T) {
	w := newWorks(t)
	w.schedule()
	w.produce(1, "")
	w.until("08:10")
	w.produce(0, "")
	w.until("08:40")
	w.produce(1, "")
	w.until("09:00")
	stop := id(monitor.IssueStop, w.ms("08:10"))
	w.must(w.cause(stop, "SETUP"))
	w.want("09:00", "stop 08:10-08:40: 08:10 SETUP person")

	w.produce(0, "08:05") // it had stopped five minutes before
	w.want("09:00", "stop 08:05-08:40: 08:05 SETUP person")
	if got, want := w.figures("09:00"), "A 25/60, known 60 of 60, setup 35"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w.produce(1, "08:20") // and had run for five minutes in between
	w.produce(0, "08:25")
	w.want("09:00", "stop 08:05-08:20: 08:05 SETUP person", "stop 08:25-08:40: 08:25 SETUP person")
	if got, want := w.figures("09:00"), "A 30/60, known 60 of 60, setup 30"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// The old ID finds the first stop. The second gets its own record.
	w.must(w.cause(stop, "JAM"))
	w.want("09:00", "stop 08:05-08:20: 08:05 JAM person", "stop 08:25-08:40: 08:25 SETUP person")
	w.must(w.cause(id(monitor.IssueStop, w.ms("08:25")), "JAM"))
	w.want("09:00", "stop 08:05-08:20: 08:05 JAM person", "stop 08:25-08:40: 08:25 JAM person")
	w.produce(1, "08:26") // the second was no stop
	w.want("09:00", "stop 08:05-08:20: 08:05 JAM person", "orphaned stop 08:25-08:40: 08:25 JAM person")
	if _, err := w.cause(id(monitor.IssueStop, w.ms("08:25")), "JAM"); errdefs.KindOf(err) != errdefs.NotFound {
		t.Errorf("a stop that is none was given a cause: %v", err)
	}
	w.produce(0, "08:27") // but the machine stopped a minute later
	w.want("09:00", "stop 08:05-08:20: 08:05 JAM person", "stop 08:27-08:40: 08:27 JAM person")
	w.Forget(press)
	w.open()
	w.want("09:00", "stop 08:05-08:20: 08:05 JAM person", "stop 08:27-08:40: 08:27 JAM person")
}

// TestManual starts, ends and records manual downtime.
func TestManual(t *testing.T) {
	w := newWorks(t)
	w.schedule()
	w.produce(1, "")
	w.until("09:00")
	moment := func(s string) *instant.Time {
		if s == "" {
			return nil
		}
		at := instant.Of(w.at(s))
		return &at
	}
	manual := func(from, to, cause string, role auth.Role) (*View, error) {
		return w.do(func(f *floor.Work) (*View, error) {
			return w.Manual(f, person(role), CreateInput{StationCode: press, StartAt: moment(from), EndAt: moment(to), Cause: textOrNil(cause)})
		})
	}
	refused := func(kind errdefs.Kind, text string, _ *View, err error) {
		t.Helper()
		if errdefs.KindOf(err) != kind || !strings.Contains(fmt.Sprint(err), text) {
			t.Errorf("got %v, want %s", err, text)
		}
	}
	refuse := func(kind errdefs.Kind, text, from, to, cause string) {
		t.Helper()
		v, err := manual(from, to, cause, auth.Operator)
		refused(kind, text, v, err)
	}
	refuse(errdefs.Conflict, "no manual downtime is in progress at PRESS; startAt must be given", "", "08:30", "")
	w.must(manual("08:20", "08:30", "JAM", auth.Operator))
	w.want("09:00", "manual 08:20-08:30: 08:20 JAM person")
	if got, want := w.figures("09:00"), "A 50/60, known 60 of 60, setup 0"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	refuse(errdefs.Conflict, "overlaps a manual downtime that began at 2026-03-02T08:20:00.000Z", "08:29", "08:40", "")
	refuse(errdefs.Conflict, "overlaps", "08:10", "08:21", "")
	refuse(errdefs.Conflict, "overlaps", "08:29", "", "")
	refuse(errdefs.Invalid, "endAt must lie after startAt", "08:50", "08:50", "")
	refuse(errdefs.Invalid, "endAt must not be in the future", "08:50", "10:00", "")
	refuse(errdefs.Invalid, "startAt must not be in the future", "10:00", "", "")
	refuse(errdefs.Invalid, "causeCode must be a reason for downtime; BREAK is only for non-production", "", "", "BREAK")
	refuse(errdefs.Invalid, "causeCode must be a reason that is available at the station PRESS", "", "", "NONE")
	w.must(manual("08:30", "08:35", "", auth.Operator)) // downtimes may be adjacent
	v := w.must(manual("08:50", "", "", auth.Operator))
	if v.EndAt != nil || v.CauseCode != nil || v.UncausedMs != 10*minute {
		t.Errorf("started is %+v", v)
	}
	refuse(errdefs.Conflict, "a manual downtime has been in progress at PRESS since 2026-03-02T08:50:00.000Z: PRESS.manual-", "", "", "")
	refuse(errdefs.Conflict, "overlaps a manual downtime that began at 2026-03-02T08:50:00.000Z", "08:49", "08:55", "")
	w.must(w.cause(id(monitor.IssueManual, w.ms("08:50")), "SETUP"))
	w.until("09:10")
	w.want("09:10", "manual 08:20-08:30: 08:20 JAM person", "manual 08:30-08:35: 08:30 ?", "manual 08:50-…: 08:50 SETUP person")
	refuse(errdefs.Invalid, "endAt must lie after the start of the downtime, 2026-03-02T08:50:00.000Z", "", "08:50", "")
	w.must(manual("", "09:05", "", auth.Operator))
	w.want("09:10", "manual 08:20-08:30: 08:20 JAM person", "manual 08:30-08:35: 08:30 ?", "manual 08:50-09:05: 08:50 SETUP person")
	w.must(manual("", "", "JAM", auth.Operator))

	// A supervisor may record a downtime of two days ago, an operator may not, and nobody may record one of two months
	// ago.
	old := func(days int, role auth.Role) (*View, error) {
		from := instant.Of(w.Rig.Now().AddDate(0, 0, -days))
		to := instant.Of(w.Rig.Now().Add(-23 * time.Hour))
		return w.do(func(f *floor.Work) (*View, error) {
			return w.Manual(f, person(role), CreateInput{StationCode: press, StartAt: &from, EndAt: &to})
		})
	}
	w.must(old(2, auth.Supervisor))
	v, err := old(2, auth.Operator)
	refused(errdefs.Invalid, "startAt must not be more than 24 hours ago", v, err)
	v, err = old(62, auth.Supervisor)
	refused(errdefs.Invalid, "startAt must not be more than 31 days ago", v, err)
	v, err = old(2, auth.Readonly)
	refused(errdefs.Forbidden, "this needs the role operator", v, err)

	// It ends when its station leaves the manifest, and accepts no further entries.
	w.until("09:30")
	_, err = w.Accounts.Apply(auth.Local(floortest.Account), account.ApplyInput{Raw: []byte(strings.Replace(floortest.Manifest, `{"code":"PRESS","name":"Press","downtimeDetectionMode":"utilisation","utilisationDowntimeThreshold":120000},`, "", 1))})
	w.must(nil, err)
	w.Rig.Floor.Changed(floortest.Account)
	w.Pass(time.Millisecond, 0)
	w.want("09:40", "manual 08:20-08:30: 08:20 JAM person", "manual 08:30-08:35: 08:30 ?", "manual 08:50-09:05: 08:50 SETUP person", "manual 09:10-09:30: 09:10 JAM person")
	v, err = w.cause(id(monitor.IssueManual, w.ms("08:30")), "JAM")
	refused(errdefs.Conflict, "the station PRESS is not in the manifest any more", v, err)
}

// TestManualDowntimeThatGoesOnWhereNoneMayBegin turns manual downtime off, or makes the station an energy meter, while
// a downtime is in progress. It can be ended, but no earlier one can be recorded and no new one started.
func TestManualDowntimeThatGoesOnWhereNoneMayBegin(t *testing.T) {
	for _, c := range []struct{ name, from, to, text string }{
		{"off", `"enableManualDowntime":"on"`, `"enableManualDowntime":"off"`, "enableManualDowntime"},
		{"a meter", `{"code":"PRESS","name":"Press",`, `{"code":"PRESS","name":"Press","enableMeterOnly":"on",`, "PRESS is an energy meter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorks(t)
			manual := func(from, to string) (*View, error) {
				in := CreateInput{StationCode: press}
				for text, into := range map[string]**instant.Time{from: &in.StartAt, to: &in.EndAt} {
					if text != "" {
						at := instant.Of(w.at(text))
						*into = &at
					}
				}
				return w.do(func(f *floor.Work) (*View, error) { return w.Manual(f, person(auth.Operator), in) })
			}
			w.until("08:30")
			w.must(manual("08:20", ""))
			_, err := w.Accounts.Apply(auth.Local(floortest.Account), account.ApplyInput{Raw: []byte(strings.Replace(floortest.Manifest, c.from, c.to, 1))})
			w.must(nil, err)
			w.Rig.Floor.Changed(floortest.Account)
			w.until("08:40")
			if _, err := manual("08:05", "08:10"); err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("an earlier one: %v", err)
			}
			w.must(manual("08:20", "08:35"))
			if _, err := manual("", ""); err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("a new one: %v", err)
			}
		})
	}
}

// TestALateWord checks that an entry received late from a tablet keeps its time: it does not replace newer entries and
// cannot be before the start of the stop.
func TestALateWord(t *testing.T) {
	w := newWorks(t)
	w.schedule()
	w.produce(1, "")
	w.until("08:10")
	w.produce(0, "")
	w.until("08:30")
	stop := id(monitor.IssueStop, w.ms("08:10"))
	w.must(w.cause(stop, "JAM"))
	said := func(at, code string) (*View, error) {
		target := w.Find(floortest.Account, stop)
		when := instant.Of(w.at(at))
		return w.do(func(f *floor.Work) (*View, error) {
			return w.Cause(f, person(auth.Operator), target, CauseInput{Entry: Entry{Initials: "ABC", At: &when}, Cause: &code})
		})
	}
	v := w.must(said("08:20", "SETUP"))
	if *v.CauseCode != "JAM" || len(v.Events) != 2 || *v.Events[1].Value != "SETUP" {
		t.Errorf("what was said later is replaced: %+v", v)
	}
	_, err := said("08:09", "SETUP")
	var e *errdefs.Error
	if !errors.As(err, &e) || e.Kind != errdefs.Invalid || e.Details[0].Field != "at" || !strings.Contains(e.Details[0].Issue, "must not be before the start of the stop, 2026-03-02T08:10:00.000Z") {
		t.Errorf("before the stop began: %v", err)
	}
	w.until("08:31")
	if v := w.must(said("08:31", "SETUP")); *v.CauseCode != "SETUP" {
		t.Errorf("the newest word does not count: %+v", v)
	}
}

// TestManualDowntimeOlderThanTheSignals refuses manual downtime at a time whose signals are deleted: it would change
// nothing.
func TestManualDowntimeOlderThanTheSignals(t *testing.T) {
	w := newWorks(t)
	w.Retention = 3 * 24 * time.Hour
	w.open()
	w.Pass(5*24*time.Hour, 12*time.Hour)
	at := func(back time.Duration) *instant.Time { m := instant.Of(w.Rig.Now().Add(-back)); return &m }
	_, err := w.do(func(f *floor.Work) (*View, error) {
		return w.Manual(f, person(auth.Supervisor), CreateInput{StationCode: press, StartAt: at(100 * time.Hour), EndAt: at(time.Hour)})
	})
	if errdefs.KindOf(err) != errdefs.Conflict || !strings.Contains(err.Error(), "signals are kept for 3 days") {
		t.Errorf("of a time whose signals are gone: %v", err)
	}
	w.must(w.do(func(f *floor.Work) (*View, error) {
		return w.Manual(f, person(auth.Supervisor), CreateInput{StationCode: press, StartAt: at(50 * time.Hour), EndAt: at(time.Hour)})
	}))
}
