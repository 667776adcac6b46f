package task

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

const works = floortest.Account

// plant is a plant with Tasks. Its clock starts on Monday, 2 March 2026, at eight.
type plant struct {
	*floortest.Rig
	t     testing.TB
	tasks *Service
}

func newPlant(t testing.TB, manifest string) *plant {
	t.Helper()
	p := &plant{Rig: floortest.New(t, manifest, Buckets()...), t: t}
	t.Cleanup(p.check)
	return p.open()
}

// due returns the stations with work to do.
func (p *plant) due() []string {
	p.t.Helper()
	plan, err := p.Floor.Plan(works)
	p.must(err)
	return p.tasks.Due(plan, p.Now().UnixMilli())
}

// open starts the service, or restarts it without what was in memory.
func (p *plant) open() *plant {
	s := New(Config{Store: p.Store, Authorize: func(_ *kv.Tx, p auth.Principal, need auth.Role) error {
		if !p.Role.AtLeast(need) {
			return errdefs.New(errdefs.Forbidden, "this needs the role %s", need)
		}
		return nil
	}, Log: slog.New(slog.DiscardHandler)})
	p.Open(nil, s)
	s.cfg.Timelines = p.Timelines
	p.tasks = s
	err := p.Floor.Pass(works)
	// a year is being read
	for end := time.Now().Add(2 * time.Minute); errdefs.KindOf(err) == errdefs.Unavailable && time.Now().Before(end); {
		err = p.Floor.Pass(works)
	}
	p.must(err)
	return p
}

// off advances the clock while the service is off.
func (p *plant) off(d time.Duration) {
	p.Floor.Close()
	p.Floor = nil
	p.Pause(d)
}

func (p *plant) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *plant) check() {
	p.must(p.Store.View(func(tx *kv.Tx) error {
		Check(tx, map[string]bool{works: true}, func(problem string) { p.t.Error(problem) })
		return nil
	}))
}

// apply replaces a text of the manifest and applies it.
func (p *plant) apply(old, new string) {
	p.t.Helper()
	snap, err := p.Accounts.Get(works)
	p.must(err)
	before := string(snap.Document().Bytes())
	after := strings.Replace(before, old, new, 1)
	if after == before {
		p.t.Fatalf("the manifest has no %s", old)
	}
	_, err = p.Accounts.Apply(auth.Local(works), account.ApplyInput{Raw: []byte(after)})
	p.must(err)
	p.Floor.Changed(works)
	p.must(p.Floor.Pass(works))
}

// all lists every Instance of a station, ordered by the time at which it became available: list/Task, state, from,
// deadline.
func (p *plant) all(station string) (lines []string) {
	p.t.Helper()
	list, _, err := p.tasks.List(works, Query{Where: []Where{{station, 0, forever}}, Limit: 100_000})
	p.must(err)
	slices.SortFunc(list, func(a, b *View) int {
		return cmp.Or(a.AvailableAt.Compare(b.AvailableAt.Time), cmp.Compare(line(a), line(b)))
	})
	for _, v := range list {
		lines = append(lines, line(v))
	}
	return lines
}

func line(v *View) string {
	list, deadline := "", "-"
	if v.TaskListCode != nil {
		list = *v.TaskListCode + "/"
	}
	if v.DeadlineAt != nil {
		deadline = v.DeadlineAt.Format("02T15:04")
	}
	return fmt.Sprintf("%s%s %s %s %s", list, v.TaskCode, v.State, v.AvailableAt.Format("02T15:04"), deadline)
}

func (p *plant) want(station string, want ...string) {
	p.t.Helper()
	if diff := gocmp.Diff(want, p.all(station)); diff != "" {
		p.t.Errorf("at %s, %s (-want +got):\n%s", p.Now().Format("02T15:04"), station, diff)
	}
}

func (p *plant) record(station string, in monitor.Input) {
	p.t.Helper()
	p.must(p.Floor.Do(works, func(w *floor.Work) error {
		_, err := w.Record(station, in)
		return err
	}))
}

func (p *plant) start(station, id, sku string, at int64) {
	p.t.Helper()
	p.record(station, monitor.Input{At: at, Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: id, SKU: sku}})
}

func (p *plant) end(station, id string, at int64) {
	p.t.Helper()
	p.record(station, monitor.Input{At: at, Kind: monitor.InputScheduleEnd, ID: id})
}

// pending returns the only pending Instance of a Task.
func (p *plant) pending(station, task string) *View {
	p.t.Helper()
	list, _, err := p.tasks.List(works, Query{Where: []Where{{StationCode: station}}, Whole: true, Limit: 1000})
	p.must(err)
	var found *View
	for _, v := range list {
		if v.TaskCode == task {
			if found != nil {
				p.t.Fatalf("%s is pending twice", task)
			}
			found = v
		}
	}
	if found == nil {
		p.t.Fatalf("%s is not pending at %s", task, station)
	}
	return found
}

func (p *plant) complete(id string, in Completion) (v *View, err error) {
	if in.Initials == "" {
		in.Initials = "ANN"
	}
	err = p.Floor.Do(works, func(w *floor.Work) error {
		v, err = p.tasks.Complete(w, auth.Local(works), id, in)
		return err
	})
	return v, err
}

func (p *plant) startList(station, code string) error {
	return p.Floor.Do(works, func(w *floor.Work) error {
		_, err := p.tasks.Start(w, auth.Local(works), code, ListStart{StationCode: station, Initials: "ANN"})
		return err
	})
}

func (p *plant) wantKind(err error, kind errdefs.Kind, part string) {
	p.t.Helper()
	if err == nil || errdefs.KindOf(err) != kind || !strings.Contains(err.Error(), part) {
		p.t.Errorf("the error is %v (kind %v), want kind %v and %q", err, errdefs.KindOf(err), kind, part)
	}
}

func TestCronTasks(t *testing.T) {
	p := newPlant(t, floortest.Manifest) // ROUND: every two hours, pending for half an hour before
	p.want("PRESS")
	p.Pass(90*time.Minute-time.Second, time.Minute)
	p.want("PRESS")
	p.Pass(time.Second, 0)
	p.want("PRESS", "ROUND/WALK pending 02T09:30 02T10:00")
	p.Pass(30*time.Minute-time.Second, time.Minute)
	p.want("PRESS", "ROUND/WALK pending 02T09:30 02T10:00")
	p.Pass(time.Second, 0)
	p.want("PRESS", "ROUND/WALK missed 02T09:30 02T10:00")
	p.Pass(100*time.Minute, time.Minute)
	v := p.pending("PRESS", "WALK")
	_, err := p.complete(v.ID, Completion{})
	p.wantKind(err, errdefs.Invalid, "note is required")
	_, err = p.complete(v.ID, Completion{Note: " \n"})
	p.wantKind(err, errdefs.Invalid, "note is required")
	done, err := p.complete(v.ID, Completion{Note: "all well"})
	p.must(err)
	if done.State != Completed || *done.CompletedBy != "ANN" || *done.Note != "all well" || done.CompletedAt.Format("15:04:05") != "11:40:00" {
		t.Errorf("completed: %+v", done)
	}
	_, err = p.complete(v.ID, Completion{Note: "again"})
	p.wantKind(err, errdefs.Conflict, "was completed by ANN at 2026-03-02T11:40:00.000Z")
	p.Pass(2*time.Hour, time.Minute) // a completed Task is neither missed nor made again
	p.want("PRESS", "ROUND/WALK missed 02T09:30 02T10:00", "ROUND/WALK completed 02T11:30 02T12:00", "ROUND/WALK pending 02T13:30 02T14:00")
}

// The fires and windows at both clock changes, and a list without availableBeforeDeadlineMinutes.
func TestCronTasksAtClockChanges(t *testing.T) {
	berlin := strings.Replace(strings.Replace(floortest.Manifest, `"timezone":"UTC"`, `"timezone":"Europe/Berlin"`, 1),
		`"pattern":"0 */2 * * *","availableBeforeDeadlineMinutes":30`, `"pattern":"30 2,14 * * *"`, 1)
	p := newPlant(t, berlin) // 2 March, 9:00 there
	p.want("PRESS", "ROUND/WALK pending 02T01:30 02T13:30")
	for _, change := range []struct {
		at   string
		want []string
	}{
		// 14:30; then 2:30 does not exist: 3:00; then 14:30 daylight saving time.
		{"2026-03-28T13:00:00Z", []string{"ROUND/WALK missed 28T01:30 28T13:30", "ROUND/WALK missed 28T13:30 29T01:00", "ROUND/WALK missed 29T01:00 29T12:30", "ROUND/WALK pending 29T12:30 30T00:30"}},
		// 14:30 daylight saving time; the first of two 2:30s; 14:30 standard time.
		{"2026-10-24T12:00:00Z", []string{"ROUND/WALK missed 24T00:30 24T12:30", "ROUND/WALK missed 24T12:30 25T00:30", "ROUND/WALK missed 25T00:30 25T13:30", "ROUND/WALK pending 25T13:30 26T01:30"}},
	} {
		at := ms(t, change.at)
		p.off(time.UnixMilli(at).Sub(p.Now()))
		p.open()
		p.Pass(26*time.Hour, 15*time.Minute)
		got := p.all("PRESS")
		if diff := gocmp.Diff(change.want, got[max(0, len(got)-len(change.want)):]); diff != "" {
			t.Errorf("from %s (-want +got):\n%s", change.at, diff)
		}
	}
}

func TestScheduleTasks(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.apply(`"value":0.5`, `"taskCodes":["CHECK","WIPE"],"value":0.5`) // of BOWL
	p.Pass(time.Minute, 0)
	p.start("PRESS", "s1", "BOWL", floortest.At(30*time.Second))
	// WIPE is added by the SKU; CHECK is already in a list.
	p.want("PRESS", "START/CHECK pending 02T08:00 -", "WIPE pending 02T08:00 -")
	p.start("PRESS", "s1", "BOWL", floortest.At(30*time.Second))
	p.want("PRESS", "START/CHECK pending 02T08:00 -", "WIPE pending 02T08:00 -")
	p.record("PRESS", monitor.Input{At: floortest.At(time.Minute), Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: "n1", NonProduction: true, Reason: "BREAK"}})
	p.start("PRESS-2", "s2", "PLATE", floortest.At(time.Minute))
	p.want("PRESS-2", "START/CHECK pending 02T08:01 -")
	_, err := p.complete(p.pending("PRESS", "CHECK").ID, Completion{})
	p.must(err)
	p.Pass(10*time.Minute, time.Minute)
	p.end("PRESS", "n1", floortest.At(10*time.Minute))
	p.want("PRESS", "START/CHECK completed 02T08:00 -", "WIPE pending 02T08:00 -")
	wipe := p.pending("PRESS", "WIPE")
	p.end("PRESS", "s1", floortest.At(10*time.Minute))
	p.want("PRESS", "START/CHECK completed 02T08:00 -", "WIPE missed 02T08:00 02T08:10")
	at := floortest.At(10 * time.Minute)
	_, err = p.complete(wipe.ID, Completion{At: &at})
	p.wantKind(err, errdefs.Conflict, "was missed at 2026-03-02T08:10:00.000Z")
	at--
	_, err = p.complete(wipe.ID, Completion{At: &at})
	p.must(err)
	p.want("PRESS", "START/CHECK completed 02T08:00 -", "WIPE completed 02T08:00 02T08:10")
	p.want("PRESS-2", "START/CHECK pending 02T08:01 -")
	p.record("PRESS-2", monitor.Input{At: floortest.At(11 * time.Minute), Kind: monitor.InputQuantityEnd, ID: "s2"})
	p.want("PRESS-2", "START/CHECK missed 02T08:01 02T08:11")
}

// Reopening a schedule reverses its end: Tasks missed at that end are pending again, completed ones stay completed, and
// those that the manifest no longer requires stay missed.
func TestAScheduleRunsOn(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.apply(`"value":0.5`, `"taskCodes":["CHECK","WIPE","WALK"],"value":0.5`) // of BOWL
	p.start("PRESS", "s1", "BOWL", floortest.At(0))
	_, err := p.complete(p.pending("PRESS", "CHECK").ID, Completion{})
	p.must(err)
	p.Pass(10*time.Minute, time.Minute)
	var number uint64
	p.must(p.Floor.Do(works, func(w *floor.Work) (err error) {
		number, err = w.Record("PRESS", monitor.Input{At: w.Now, Kind: monitor.InputQuantityEnd, ID: "s1"})
		return err
	}))
	p.want("PRESS", "START/CHECK completed 02T08:00 -", "WALK missed 02T08:00 02T08:10", "WIPE missed 02T08:00 02T08:10")
	p.apply(`"CHECK","WIPE","WALK"`, `"CHECK","WIPE"`)
	p.apply(`"code":"WALK"`, `"code":"STROLL"`)
	p.Pass(10*time.Minute, time.Minute)
	p.must(p.Floor.Do(works, func(w *floor.Work) error { return w.Cancel("PRESS", floortest.At(10*time.Minute), number) }))
	runs := []string{"START/CHECK completed 02T08:00 -", "WALK missed 02T08:00 02T08:10", "WIPE pending 02T08:00 -"}
	p.want("PRESS", runs...)
	p.open()
	p.Pass(10*time.Minute, time.Minute)
	p.want("PRESS", runs...)
	p.end("PRESS", "s1", floortest.At(30*time.Minute))
	p.want("PRESS", "START/CHECK completed 02T08:00 -", "WALK missed 02T08:00 02T08:10", "WIPE missed 02T08:00 02T08:30")
}

// A schedule whose start was recorded late gets the Tasks of its start.
func TestScheduleTasksOfThePast(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.Pass(10*time.Minute, time.Minute)
	p.apply(`"includeTaskListCodes":["START","ROUND","CLEAN"]`, `"includeTaskListCodes":["ROUND","CLEAN"]`)
	p.start("PRESS", "s1", "BOWL", floortest.At(time.Minute))
	p.want("PRESS", "START/CHECK pending 02T08:01 -")
	p.end("PRESS", "s1", floortest.At(2*time.Minute))
	p.want("PRESS", "START/CHECK missed 02T08:01 02T08:02")
	p.start("PRESS", "s2", "BOWL", floortest.At(10*time.Minute))
	p.want("PRESS", "START/CHECK missed 02T08:01 02T08:02")
}

func TestTasksOnDemand(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.must(p.startList("PRESS", "CLEAN"))
	p.want("PRESS", "CLEAN/WIPE pending 02T08:00 -")
	p.wantKind(p.startList("PRESS", "CLEAN"), errdefs.Conflict, "1 of its Tasks are pending")
	p.must(p.startList("PACK", "CLEAN"))
	p.wantKind(p.startList("PRESS", "START"), errdefs.Conflict, "no Task that is started by hand")
	p.wantKind(p.startList("PRESS", "NOTHING"), errdefs.NotFound, "no Task list of this code")
	p.wantKind(p.startList("PRESS-9", "CLEAN"), errdefs.Invalid, "stationCode")
	p.off(40 * 24 * time.Hour)
	p.open()
	v := p.pending("PRESS", "WIPE")
	if *v.StartedBy != "ANN" || v.DeadlineAt != nil {
		t.Errorf("after forty days: %+v", v)
	}
	_, err := p.complete(v.ID, Completion{})
	p.must(err)
	p.must(p.startList("PRESS", "CLEAN"))
	if again := p.pending("PRESS", "WIPE"); again.ID == v.ID {
		t.Error("a second start gives the first one's Task")
	}
}

// The list's trigger takes precedence, a Task's own applies if the list has none, and a Task without any is on demand.
func TestTriggers(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.apply(`"code":"CHECK","title":"Check the tool"`, `"code":"CHECK","trigger":{"type":"cron","pattern":"0 9 * * *","availableBeforeDeadlineMinutes":45},"title":"Check the tool"`)
	p.Pass(30*time.Minute, time.Minute)
	p.want("PRESS")
	p.apply(`"code":"START","name":"At the start","trigger":{"type":"schedule"}`, `"code":"START","name":"At the start"`)
	p.want("PRESS", "START/CHECK pending 02T08:15 02T09:00")
	p.apply(`"trigger":{"type":"cron","pattern":"0 9 * * *","availableBeforeDeadlineMinutes":45},"title":"Check the tool"`, `"title":"Check the tool"`)
	p.want("PRESS")
	p.must(p.startList("PRESS", "START"))
	p.want("PRESS", "START/CHECK pending 02T08:30 -")
}

// There is one Instance for each Task and list, and each is completed separately.
func TestATaskInTwoLists(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.apply(`"taskListCodes":[{"code":"CLEAN","order":1}]`, `"taskListCodes":[{"code":"CLEAN","order":1},{"code":"START","order":0.5},{"code":"ROUND","order":2}]`)
	p.start("PRESS", "s1", "BOWL", floortest.At(0))
	p.must(p.startList("PRESS", "CLEAN"))
	p.Pass(90*time.Minute, time.Minute)
	p.want("PRESS", "CLEAN/WIPE pending 02T08:00 -", "START/CHECK pending 02T08:00 -", "START/WIPE pending 02T08:00 -",
		"ROUND/WALK pending 02T09:30 02T10:00", "ROUND/WIPE pending 02T09:30 02T10:00")
	list, total, err := p.tasks.List(works, Query{Where: []Where{{StationCode: "PRESS"}, {StationCode: "PACK"}}, Whole: true, Limit: 3, Skip: 0})
	p.must(err)
	var got []string
	for _, v := range list {
		got = append(got, v.StationCode+" "+line(v))
	}
	want := []string{"PACK ROUND/WALK pending 02T09:30 02T10:00", "PACK ROUND/WIPE pending 02T09:30 02T10:00", "PRESS ROUND/WALK pending 02T09:30 02T10:00"}
	if diff := gocmp.Diff(want, got); diff != "" || total != 7 {
		t.Errorf("of %d (-want +got):\n%s", total, diff)
	}
}

func TestTasksAreOff(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.apply(`"value":0.5`, `"taskCodes":["WIPE"],"value":0.5`) // of BOWL
	p.Pass(100*time.Minute, 10*time.Minute)
	p.start("PRESS", "s1", "BOWL", floortest.At(100*time.Minute))
	p.must(p.startList("PACK", "CLEAN"))
	began := []string{"ROUND/WALK pending 02T09:30 02T10:00", "START/CHECK pending 02T09:40 -", "WIPE pending 02T09:40 -"}
	p.want("PRESS", began...)
	check, walk := p.pending("PRESS", "CHECK"), p.pending("PRESS", "WALK")
	p.apply(`"enableTasks":"on"`, `"enableTasks":"off"`)
	p.want("PRESS", began[1:]...)
	for _, id := range []string{check.ID, walk.ID} { // the second was withdrawn just after it was listed
		_, err := p.complete(id, Completion{Note: "x"})
		p.wantKind(err, errdefs.Forbidden, "enableTasks")
	}
	err := p.startList("PRESS", "CLEAN")
	p.wantKind(err, errdefs.Forbidden, "enableTasks")
	p.wantKind(err, errdefs.Forbidden, "account")
	p.apply(`"enableTasks":"off"`, `"enableTasks":"on"`)
	p.want("PRESS", began...) // as if the flag had never been off
	p.apply(`"enableTasks":"on"`, `"enableTasks":"off"`)
	p.open()
	p.Pass(140*time.Minute, 10*time.Minute) // 12:00: two fires later
	p.start("PRESS-2", "s2", "BOWL", floortest.At(4*time.Hour))
	p.want("PRESS-2")
	p.apply(`"enableTasks":"off"`, `"enableTasks":"on"`)
	p.want("PRESS-2") // Tasks that became due while the flag was off are not made
	p.want("PRESS", began[1:]...)
	_, err = p.complete(check.ID, Completion{})
	p.must(err)
	p.apply(`"enableTasks":"on"`, `"enableTasks":"off"`)
	p.end("PRESS", "s1", floortest.At(4*time.Hour))
	p.want("PRESS", "START/CHECK completed 02T09:40 -", "WIPE missed 02T09:40 02T12:00")
	p.want("PACK", "CLEAN/WIPE pending 02T09:40 -")
	at := floortest.At(3 * time.Hour)
	list, _, err := p.tasks.List(works, Query{Where: []Where{{"PRESS", 0, forever}}, States: []State{Missed}, Limit: 10})
	p.must(err)
	_, err = p.complete(list[0].ID, Completion{At: &at})
	p.wantKind(err, errdefs.Forbidden, "enableTasks")
}

// An energy meter has no Tasks, and those of a station that becomes one are withdrawn.
func TestNoTasksAtAMeter(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.Pass(100*time.Minute, 10*time.Minute) // 9:40
	p.must(p.startList("PACK", "CLEAN"))
	p.want("PACK", "ROUND/WALK pending 02T09:30 02T10:00", "CLEAN/WIPE pending 02T09:40 -")
	p.apply(`"code":"PACK","name"`, `"code":"PACK","enableMeterOnly":"on","name"`)
	p.want("PACK")
	p.wantKind(p.startList("PACK", "CLEAN"), errdefs.Invalid, "stationCode must be a station that somebody works at; PACK is an energy meter")
	p.Pass(3*time.Hour, 10*time.Minute)
	p.want("PACK")
}

func TestAManifestChangesWhileTasksArePending(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.Pass(100*time.Minute, 10*time.Minute) // 9:40
	p.want("PRESS", "ROUND/WALK pending 02T09:30 02T10:00")
	p.apply(`"title":"Walk round"`, `"title":"Walk all round"`)
	if v := p.pending("PRESS", "WALK"); v.Title != "Walk round" {
		t.Errorf("its words are now %q", v.Title)
	}
	p.apply(`"availableBeforeDeadlineMinutes":30`, `"availableBeforeDeadlineMinutes":90`) // the same deadline
	p.want("PRESS", "ROUND/WALK pending 02T09:30 02T10:00")
	p.apply(`"pattern":"0 */2 * * *"`, `"pattern":"15 */2 * * *"`) // from 8:45 to 10:15
	p.want("PRESS", "ROUND/WALK pending 02T08:45 02T10:15")
	if v := p.pending("PRESS", "WALK"); v.Title != "Walk all round" {
		t.Errorf("its words are %q", v.Title)
	}
	p.apply(`"includeTaskListCodes":["START","ROUND","CLEAN"]`, `"includeTaskListCodes":["START","CLEAN"]`)
	p.want("PRESS")
	p.apply(`"includeTaskListCodes":["START","CLEAN"]`, `"includeTaskListCodes":["START","ROUND","CLEAN"]`)
	p.want("PRESS", "ROUND/WALK pending 02T08:45 02T10:15")
	_, err := p.complete(p.pending("PRESS", "WALK").ID, Completion{Note: "x"})
	p.must(err)
	p.apply(`"includeTaskListCodes":["START","ROUND","CLEAN"]`, `"includeTaskListCodes":["START","CLEAN"]`)
	p.apply(`"includeTaskListCodes":["START","CLEAN"]`, `"includeTaskListCodes":["START","ROUND","CLEAN"]`)
	p.Pass(time.Hour, 10*time.Minute)
	p.want("PRESS", "ROUND/WALK completed 02T08:45 02T10:15") // neither withdrawn nor made again
	withdrawn := 0
	p.must(p.Store.View(func(tx *kv.Tx) error {
		page, err := audit.List(tx, works, audit.Query{Limit: 100, Action: "task.withdraw"})
		n := page.Total
		withdrawn = n
		return err
	}))
	// the pattern and the list at each of three stations, then at the two where it was not completed
	if withdrawn != 8 {
		t.Errorf("%d audit records tell of what was withdrawn", withdrawn)
	}
}

func TestAStationLeavesTheManifest(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.Pass(100*time.Minute, 10*time.Minute)
	p.start("PACK", "s1", "BOWL", floortest.At(100*time.Minute))
	p.must(p.startList("PACK", "CLEAN"))
	p.apply(`"code":"PACK","name":"Packing"`, `"code":"PACK-2","name":"Packing"`)
	p.want("PACK")
	p.want("PACK-2", "ROUND/WALK pending 02T09:30 02T10:00")
	p.Pass(30*time.Minute, 10*time.Minute)
	if len(p.due()) > 0 {
		t.Error("a station that has left makes work")
	}
	p.want("PACK")
	p.open()
	p.want("PACK")
	p.apply(`"code":"PACK-2","name":"Packing"`, `"code":"PACK","name":"Packing"`)
	p.Pass(2*time.Hour, 10*time.Minute)
	p.want("PACK", "ROUND/WALK missed 02T11:30 02T12:00") // no Instances of the time in which it was archived
}

func TestAfterTheServiceWasOff(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.Pass(100*time.Minute, 10*time.Minute) // 9:40: pending until 10:00
	p.off(5*time.Hour + 10*time.Minute)     // 14:50
	p.open()
	want := []string{"ROUND/WALK missed 02T09:30 02T10:00", "ROUND/WALK missed 02T11:30 02T12:00", "ROUND/WALK missed 02T13:30 02T14:00"}
	p.want("PRESS", want...)
	p.open()
	p.want("PRESS", want...)
	p.off(50 * time.Minute) // 15:40
	p.open()
	p.want("PRESS", append(want, "ROUND/WALK pending 02T15:30 02T16:00")...)
	// A tablet was in use all the time.
	at := ms(t, "2026-03-02T11:45:00Z")
	list, _, err := p.tasks.List(works, Query{Where: []Where{{"PRESS", 0, forever}}, States: []State{Missed}, Limit: 10})
	p.must(err)
	_, err = p.complete(list[1].ID, Completion{At: &at, Note: "done"})
	p.must(err)
	early := at - 20*60_000
	_, err = p.complete(list[2].ID, Completion{At: &early, Note: "done"})
	p.wantKind(err, errdefs.Conflict, "was missed at")
	_, err = p.complete(list[0].ID, Completion{At: &at, Note: "done"})
	p.wantKind(err, errdefs.Invalid, "must not be before the Task was there")
	ahead := p.Now().Add(time.Hour).UnixMilli()
	_, err = p.complete(list[0].ID, Completion{At: &ahead, Note: "done"})
	p.wantKind(err, errdefs.Invalid, "at")
}

// After a manifest was applied while the service was off, each fire uses the manifest in force at its time.
func TestTheManifestChangedWhileTheServiceWasOff(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.Pass(100*time.Minute, 10*time.Minute) // 9:40
	p.off(3 * time.Hour)                    // 12:40
	snap, err := p.Accounts.Get(works)
	p.must(err)
	raw := strings.Replace(string(snap.Document().Bytes()), `"pattern":"0 */2 * * *"`, `"pattern":"0 */3 * * *"`, 1)
	_, err = p.Accounts.Apply(auth.Local(works), account.ApplyInput{Raw: []byte(raw)})
	p.must(err)
	p.Pause(3 * time.Hour) // 15:40
	p.open()
	p.want("PRESS", "ROUND/WALK missed 02T09:30 02T10:00", "ROUND/WALK missed 02T11:30 02T12:00", "ROUND/WALK missed 02T14:30 02T15:00")
}

// A pause of a year with a Task every minute is processed within limits, and an audit record reports that.
func TestAYearOff(t *testing.T) {
	p := newPlant(t, strings.Replace(floortest.Manifest, `"pattern":"0 */2 * * *","availableBeforeDeadlineMinutes":30`, `"pattern":"* * * * *"`, 1))
	p.want("PRESS", "ROUND/WALK pending 02T08:00 02T08:01")
	p.off(365 * 24 * time.Hour)
	began := time.Now()
	p.open()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	p.must(p.Floor.Pass(works)) // one transaction is not enough for all of it
	got := p.all("PRESS")
	if len(got) != maxFires+1 || got[0] != "ROUND/WALK missed 01T15:20 01T15:21" || got[maxFires] != "ROUND/WALK pending 02T08:00 02T08:01" {
		t.Errorf("there are %d, from %q to %q", len(got), got[0], got[len(got)-1])
	}
	p.must(p.Store.View(func(tx *kv.Tx) error {
		page, err := audit.List(tx, works, audit.Query{Limit: 10, Action: "task.leaveOut"})
		list, n := page.Records, page.Total
		if err == nil && (n != 3 || list[0].Detail["before"] != "2027-03-01T15:21:00.000Z") {
			t.Errorf("%d audit records: %+v", n, list)
		}
		return err
	}))
}

// Setting the clock back makes no Instance twice.
func TestTheClockIsSetBack(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.Pass(130*time.Minute, 10*time.Minute) // 10:10
	p.want("PRESS", "ROUND/WALK missed 02T09:30 02T10:00")
	p.off(-time.Hour) // 9:10
	p.open()
	p.Pass(time.Hour, 5*time.Minute)
	p.want("PRESS", "ROUND/WALK missed 02T09:30 02T10:00")
	p.Pass(2*time.Hour, 5*time.Minute)
	p.want("PRESS", "ROUND/WALK missed 02T09:30 02T10:00", "ROUND/WALK missed 02T11:30 02T12:00")
}

// After a clock that was days or a year ahead is corrected, Tasks become due again: each once, including those already
// missed by the wrong time. A completed one stays completed.
func TestTheClockWasAhead(t *testing.T) {
	for _, ahead := range []time.Duration{30 * time.Hour, 365 * 24 * time.Hour} {
		for _, restart := range []bool{false, true} {
			p := newPlant(t, floortest.Manifest)
			p.Pass(10*time.Minute, 10*time.Minute) // 8:10
			p.Pause(ahead)
			p.Pass(3*time.Hour, 10*time.Minute)
			if restart {
				p.off(-ahead - 3*time.Hour) // 8:10
				p.open()
			} else {
				p.Pause(-ahead - 3*time.Hour)
			}
			p.Pass(90*time.Minute, 10*time.Minute)
			v := p.pending("PRESS", "WALK")
			_, err := p.complete(v.ID, Completion{Note: "x"})
			p.must(err)
			p.Pass(4*time.Hour+20*time.Minute, 10*time.Minute) // 14:00
			want := []string{"ROUND/WALK completed 02T09:30 02T10:00", "ROUND/WALK missed 02T11:30 02T12:00", "ROUND/WALK missed 02T13:30 02T14:00"}
			if got := p.all("PRESS"); len(got) < 3 || !slices.Equal(got[:3], want) {
				t.Errorf("%v ahead, restart %v: %q, want %q and what is in the future", ahead, restart, got, want)
			}
		}
	}
}

// A completion after a fire that was not processed yet is judged by its own time.
func TestACompletionAtTheFire(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.Pass(119*time.Minute, time.Minute)
	v := p.pending("PRESS", "WALK")
	p.Pause(2 * time.Minute) // 10:01, and the fire is not processed yet
	_, err := p.complete(v.ID, Completion{Note: "x"})
	p.wantKind(err, errdefs.Conflict, "was missed at 2026-03-02T10:00:00.000Z")
	at := ms(t, "2026-03-02T09:59:59Z")
	_, err = p.complete(v.ID, Completion{Note: "x", At: &at})
	p.must(err)
	p.Pass(time.Minute, 0)
	p.want("PRESS", "ROUND/WALK completed 02T09:30 02T10:00")
}

// A failed operation leaves no changes.
func TestNothingIsHalfDone(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	broken := errors.New("broken")
	err := p.Floor.Do(works, func(w *floor.Work) error {
		if _, err := w.Record("PRESS", monitor.Input{At: floortest.At(0), Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: "s1", SKU: "BOWL"}}); err != nil {
			return err
		}
		if _, err := p.tasks.Start(w, auth.Local(works), "CLEAN", ListStart{StationCode: "PRESS", Initials: "ANN"}); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	p.want("PRESS")
}

func TestTabletsActOnTheirStations(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	p.start("PRESS", "s1", "BOWL", floortest.At(0))
	v := p.pending("PRESS", "CHECK")
	tablet := auth.Principal{Type: auth.TypeSession, Role: auth.Operator, AccountID: works, StationCodes: []string{"PACK"}}
	err := p.Floor.Do(works, func(w *floor.Work) error {
		_, err := p.tasks.Complete(w, tablet, v.ID, Completion{Initials: "ANN"})
		return err
	})
	p.wantKind(err, errdefs.Forbidden, "stations that its tablet is bound to")
	err = p.Floor.Do(works, func(w *floor.Work) error {
		_, err := p.tasks.Start(w, tablet, "CLEAN", ListStart{StationCode: "PRESS", Initials: "ANN"})
		return err
	})
	p.wantKind(err, errdefs.Forbidden, "stations that its tablet is bound to")
	p.want("PRESS", "START/CHECK pending 02T08:00 -")
}

func TestWatchersAreTold(t *testing.T) {
	p := newPlant(t, floortest.Manifest)
	last := p.Events.Last()
	told := func() (lines []string) {
		list, _ := p.Events.Since(works, last)
		last = p.Events.Last()
		for _, e := range list {
			if e.Type != "task" || e.Station != "PRESS" {
				continue
			}
			var v View
			p.must(json.Unmarshal(e.Data, &v))
			if v.ID == "" {
				lines = append(lines, string(e.Data))
			} else {
				lines = append(lines, line(&v))
			}
		}
		return lines
	}
	p.start("PRESS", "s1", "BOWL", floortest.At(0))
	if diff := gocmp.Diff([]string{"START/CHECK pending 02T08:00 -"}, told()); diff != "" {
		t.Error(diff)
	}
	_, err := p.complete(p.pending("PRESS", "CHECK").ID, Completion{})
	p.must(err)
	p.must(p.startList("PRESS", "CLEAN"))
	p.apply(`"includeTaskListCodes":["START","ROUND","CLEAN"]`, `"includeTaskListCodes":["START","ROUND"]`)
	if diff := gocmp.Diff([]string{"START/CHECK completed 02T08:00 -", "CLEAN/WIPE pending 02T08:00 -", "CLEAN/WIPE withdrawn 02T08:00 -"}, told()); diff != "" {
		t.Error(diff)
	}
	p.off(72 * time.Hour)
	p.open()
	last = 0
	if diff := gocmp.Diff([]string{`{"stationCode":"PRESS","changed":36}`}, told()); diff != "" {
		t.Error(diff)
	}
}

func TestSweep(t *testing.T) {
	p := newPlant(t, strings.Replace(floortest.Manifest, `"pattern":"0 */2 * * *","availableBeforeDeadlineMinutes":30`, `"pattern":"* * * * *"`, 1))
	p.must(p.startList("PRESS", "CLEAN"))
	for range 11 {
		p.off(1000 * time.Minute)
		p.open()
	}
	before := len(p.all("PRESS"))
	p.must(p.tasks.Sweep(context.Background(), p.Now()))
	got := p.all("PRESS")
	if before != 11002 || len(got) != maxKept || got[0] != "CLEAN/WIPE pending 02T08:00 -" {
		t.Errorf("of %d are left %d, the first %q", before, len(got), got[0])
	}
	p.check()
	p.apply(`"includeTaskListCodes":["START","ROUND","CLEAN"]`, `"includeTaskListCodes":["CLEAN"]`)
	p.off(500 * 24 * time.Hour)
	p.open()
	p.must(p.tasks.Sweep(context.Background(), p.Now()))
	p.want("PRESS", "CLEAN/WIPE pending 02T08:00 -")
	texts := 0
	p.must(p.Store.View(func(tx *kv.Tx) error { texts = countTexts(tx); return nil }))
	if texts != 1 {
		t.Errorf("the words of %d Tasks are left", texts)
	}
	_, err := p.complete(p.pending("PRESS", "WIPE").ID, Completion{})
	p.must(err)
	p.must(p.tasks.Sweep(context.Background(), p.Now()))
	p.want("PRESS")
}

func countTexts(tx *kv.Tx) int { return texts.Count(tx) }

func TestCheckFindsDamage(t *testing.T) {
	for name, tt := range map[string]struct {
		harm func(tx *kv.Tx, k key) error
		want string
	}{
		"words":   {func(tx *kv.Tx, k key) error { return sweepAllTexts(tx) }, "its words are not there"},
		"current": {func(tx *kv.Tx, k key) error { return currents.Delete(tx, k) }, "it is pending and not among the current ones"},
		"record":  {func(tx *kv.Tx, k key) error { return instances.Delete(tx, k) }, "it is not there"},
		"count":   {func(tx *kv.Tx, k key) error { return stations.Delete(tx, place{A: works, B: "PRESS"}) }, "they are not counted"},
		"state": {func(tx *kv.Tx, k key) error {
			r, _ := instances.Get(tx, k)
			r.State = "lost"
			return instances.Put(tx, k, r)
		}, "its state is"},
		"a stranger": {func(tx *kv.Tx, k key) error {
			r, _ := instances.Get(tx, k)
			k.A = "other"
			return instances.Put(tx, k, r)
		}, "its account other is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plant{Rig: floortest.New(t, floortest.Manifest, Buckets()...), t: t}
			p.open()
			p.must(p.startList("PRESS", "CLEAN"))
			k, _ := parseID(works, p.pending("PRESS", "WIPE").ID)
			var found []string
			p.must(p.Store.Update(func(tx *kv.Tx) error { return tt.harm(tx, k) }))
			p.must(p.Store.View(func(tx *kv.Tx) error {
				Check(tx, map[string]bool{works: true}, func(problem string) { found = append(found, problem) })
				return nil
			}))
			if !strings.Contains(strings.Join(found, "\n"), tt.want) {
				t.Errorf("it reports %q, want %q", found, tt.want)
			}
		})
	}
}

func sweepAllTexts(tx *kv.Tx) error {
	for item, err := range texts.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		if err := texts.Delete(tx, item.Key); err != nil {
			return err
		}
	}
	return nil
}
