package correction

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/idempotency"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/apptest"
	"opsmon/kv"
	"opsmon/schema/strictjson"
)

func person(role auth.Role) auth.Principal {
	return auth.Principal{Type: auth.TypeSession, SessionID: "s1", Email: "boss@works.example", AccountID: floortest.Account, Role: role, UserRole: auth.UserRoleCustomer}
}

func configOf(r *floortest.Rig) Config {
	return Config{
		Accounts: r.Accounts, Floor: r.Floor, Retention: 30 * 24 * time.Hour, Clock: r.Now,
		Requests: idempotency.New(idempotency.Config{Store: r.Store, Clock: r.Now}),
	}
}

// newPlant returns a plant that has run from 8 to 10 at PRESS, with BOWL at 60 a minute: productive except for ten
// minutes from 8:10, 3,000 good units at 8:30, and a sign of life every minute.
func newPlant(t *testing.T) (*floortest.Rig, *Service) {
	r := floortest.New(t, floortest.Manifest, idempotency.Buckets()...).Open(nil)
	if err := r.Floor.Do(floortest.Account, func(w *floor.Work) error {
		_, err := w.Record("PRESS", monitor.Input{At: floortest.At(0), Kind: monitor.InputScheduleStart, Source: "s1", Schedule: monitor.Schedule{ID: "s1", SKU: "BOWL"}})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for i := range 120 {
		at := floortest.At(time.Duration(i) * time.Minute)
		list := []signal.Signal{floortest.Signal("PRESS", at, map[signal.Field]float64{signal.RSSI: -60})}
		switch i {
		case 0, 20:
			list = append(list, floortest.Signal("PRESS", at, map[signal.Field]float64{signal.Productive: 1}))
		case 10:
			list = append(list, floortest.Signal("PRESS", at, map[signal.Field]float64{signal.Productive: 0}))
		case 30:
			list = append(list, floortest.Signal("PRESS", at, map[signal.Field]float64{signal.ProductionCompleteGood: 3000}))
		}
		r.Send(list...)
		r.Pass(time.Minute, 0)
	}
	return r, New(configOf(r))
}

func input(t *testing.T, from, to time.Duration, changes string, codes ...string) Input {
	t.Helper()
	tree, err := strictjson.Decode([]byte(changes))
	if err != nil {
		t.Fatal(err)
	}
	return Input{StationCodes: codes, From: floortest.Start.Add(from), To: floortest.Start.Add(to), Changes: tree, Note: "as it was"}
}

// sums returns the rows of PRESS in the two hours as JSON.
func sums(t *testing.T, r *floortest.Rig) string {
	t.Helper()
	var out string
	err := r.Floor.Rows(floortest.Account, []string{"PRESS"}, floortest.At(0), floortest.At(2*time.Hour), func(_ *station.Rules, rows []oee.Row, _ []energy.Row) error {
		b, err := json.Marshal(rows)
		out = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// downtime returns the minutes of downtime and the target of the sums.
func downtime(t *testing.T, r *floortest.Rig) string {
	t.Helper()
	var terms oee.Terms
	err := r.Floor.Rows(floortest.Account, []string{"PRESS"}, floortest.At(0), floortest.At(2*time.Hour), func(_ *station.Rules, rows []oee.Row, _ []energy.Row) error {
		for i := range rows {
			terms.Add(&rows[i].Terms)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(terms.Was(monitor.Downtime)/60_000, " ", terms.Target)
}

// TestCorrection corrects a threshold and a rate, each after a preview, undoes the first correction, and recalculates
// everything from the log.
func TestCorrection(t *testing.T) {
	r, s := newPlant(t)
	// 120 minutes of production, 10 of them downtime by the threshold of 2 minutes: 110 x 60 units were due.
	if got := downtime(t, r); got != "10 6600" {
		t.Fatalf("downtime and target are %s", got)
	}
	original := sums(t, r)
	slack := input(t, 0, time.Hour, `{"station":{"utilisationDowntimeThreshold":1200000}}`, "PRESS")
	look, err := s.Preview(t.Context(), person(auth.Admin), slack)
	if err != nil {
		t.Fatal(err)
	}
	before := Figures{
		ScheduledProductionMs: 120 * 60_000, DowntimeMs: 10 * 60_000, GoodCount: 3000, TargetCount: new(6600.0),
		Availability: new(110.0 / 120), Performance: new(3000.0 / 6600), Quality: new(1.0), OEE: new(110.0 / 120 * (3000.0 / 6600)), Coverage: new(1.0),
	}
	after := Figures{
		ScheduledProductionMs: 120 * 60_000, GoodCount: 3000, TargetCount: new(7200.0),
		Availability: new(1.0), Performance: new(3000.0 / 7200), Quality: new(1.0), OEE: new(3000.0 / 7200), Coverage: new(1.0),
	}
	want := &Preview{Effects: []Effect{{StationCode: "PRESS", Day: "2026-03-02", Before: before, After: after}}, Complete: true}
	if diff := cmp.Diff(want, look, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("a look at it (-want +got):\n%s", diff)
	}
	if sums(t, r) != original {
		t.Error("looking changed the figures")
	}
	steps := []struct {
		what, want string
		do         func() error
	}{
		{"the threshold", "0 7200", func() error { _, err := s.Make(person(auth.Admin), idempotency.Request{}, slack); return err }},
		// 60 minutes at 60 and 60 at 30 units a minute.
		{"the rate of the second hour", "0 5400", func() error {
			_, err := s.Make(person(auth.Admin), idempotency.Request{}, input(t, time.Hour, 2*time.Hour, `{"skus":[{"code":"BOWL","unitsPerMinute":30}]}`, "PRESS"))
			return err
		}},
		{"the threshold undone", "10 4800", func() error { _, err := s.Undo(person(auth.Admin), idempotency.Request{}, "1"); return err }},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		r.Pass(2*time.Second, time.Second)
		if got := downtime(t, r); got != step.want {
			t.Errorf("%s: downtime and target are %s, want %s", step.what, got, step.want)
		}
		shown := sums(t, r)
		r.Open(nil)
		s.cfg.Floor = r.Floor
		r.Pass(time.Second, 0)
		if sums(t, r) != shown {
			t.Errorf("%s: after a restart the figures are others", step.what)
		}
		r.Forget("PRESS")
		s.cfg.Floor = r.Floor
		r.Pass(time.Second, 0)
		if sums(t, r) != shown {
			t.Errorf("%s: computed again from the log the figures are others", step.what)
		}
	}
	list, total, err := s.List(floortest.Account, 10, 0)
	if err != nil || total != 2 || len(list) != 2 || list[0].ID != "2" || list[0].UndoneAt != nil || list[1].UndoneAt == nil || *list[1].UndoneBy != "boss@works.example" || list[1].Note != "as it was" {
		t.Errorf("list: %+v, %d, %v", list, total, err)
	}
	if list, _, _ := s.List(floortest.Account, 1, 1); len(list) != 1 || list[0].ID != "1" {
		t.Errorf("second page: %+v", list)
	}
	look, err = s.PreviewUndo(t.Context(), person(auth.Admin), "2")
	if err != nil || len(look.Effects) != 1 || *look.Effects[0].After.TargetCount != 6600 || *look.Effects[0].Before.TargetCount != 4800 {
		t.Errorf("a look at the undoing: %+v, %v", look, err)
	}
	if _, err := s.Undo(person(auth.Admin), idempotency.Request{}, "2"); err != nil {
		t.Fatal(err)
	}
	r.Pass(2*time.Second, time.Second)
	if sums(t, r) != original {
		t.Errorf("with all undone the figures are not what they were:\n%s\n%s", sums(t, r), original)
	}
	var records []audit.Record
	if err := r.Store.View(func(tx *kv.Tx) (err error) {
		page, err := audit.List(tx, floortest.Account, audit.Query{Limit: 10, Action: "correction.make"})
		records = page.Records
		return err
	}); err != nil || len(records) != 2 || records[1].Detail["from"] != "2026-03-02T08:00:00.000Z" {
		t.Errorf("audit: %+v, %v", records, err)
	}
}

// TestCorrectionSurvives stops the service right after a correction is stored, before the recalculation.
func TestCorrectionSurvives(t *testing.T) {
	r, s := newPlant(t)
	if _, err := s.Make(person(auth.Admin), idempotency.Request{}, input(t, 0, time.Hour, `{"station":{"downtimeDetectionMode":"off"}}`, "PRESS")); err != nil {
		t.Fatal(err)
	}
	r.Open(nil)
	r.Pass(time.Second, 0)
	if got := downtime(t, r); got != "0 7200" {
		t.Errorf("downtime and target are %s, want 0 7200", got)
	}
}

// TestCorrectionRefuses checks invalid corrections, and that nothing is stored.
func TestCorrectionRefuses(t *testing.T) {
	r, s := newPlant(t)
	const h = time.Hour
	good := `{"station":{"minimumCycleTime":5}}`
	for _, c := range []struct {
		in   Input
		want string
	}{
		{input(t, h, h, good, "PRESS"), "to must lie after from"},
		{input(t, h, h/2, good, "PRESS"), "to must lie after from"},
		{input(t, h, 3*h, good, "PRESS"), "to must not lie in the future: for what is to come, change the manifest"},
		{input(t, h+1e9, 2*h, good, "PRESS"), "from must be a whole minute; it is 2026-03-02T09:00:01.000Z"},
		{input(t, h, 2*h-1e6, good, "PRESS"), "to must be a whole minute; it is 2026-03-02T09:59:59.999Z"},
		{input(t, -40*24*h, h, good, "PRESS"), "from must not lie before 2026-02-01T10:00:00.000Z: older signals are not kept, so that their time cannot be computed again"},
		{input(t, 0, h, good, "PRESS", "NOPE", "PRESS"), `stationCodes[1] names the station "NOPE", which the account did not have then; stationCodes[2] must not be there twice`},
		{input(t, 0, h, `{}`, "PRESS"), "changes must change something of station, skus, reasons or shiftPatterns"},
		{input(t, 0, h, `{"station":{}}`, "PRESS"), "changes must change something of station, skus, reasons or shiftPatterns"},
		{input(t, 0, h, `{"station":{"shiftPatternCode":"late"}}`, "PRESS"), `changes.station.shiftPatternCode names the shift pattern "late", which is neither in changes.shiftPatterns nor in revision 1 of the manifest`},
		{input(t, 0, h, `{"skus":[{"code":"CUP","unitsPerHour":5}]}`, "PRESS"), `changes.skus[0].code names the SKU "CUP", which is not in revision 1 of the manifest`},
		{input(t, 0, h, `{"skus":[{"code":"BOWL","unitsPerHour":5,"cycleTime":3}]}`, "PRESS"), `changes.skus[0] must have exactly one of cycleTime, unitsPerMinute and unitsPerHour; cycleTime and unitsPerHour are set`},
		{input(t, 0, h, `{"skus":[{"code":"BOWL","unitsPerMinute":null}]}`, "PRESS"), `changes.skus[0] must have exactly one of cycleTime, unitsPerMinute and unitsPerHour; none is set`},
		{input(t, 0, h, `{"skus":[{"code":"BOWL"}]}`, "PRESS"), `changes.skus[0] must change something`},
		{input(t, 0, h, `{"skus":[{"code":"BOWL","value":1},{"code":"BOWL","value":2}]}`, "PRESS"), `changes.skus[1].code must be there once; it is also at changes.skus[0]`},
		{input(t, 0, h, `{"reasons":[{"code":"FIRE","oee":"setup"}]}`, "PRESS"), `changes.reasons[0].code names the reason "FIRE", which is not in revision 1 of the manifest`},
	} {
		_, err := s.Make(person(auth.Admin), idempotency.Request{}, c.in)
		_, look := s.Preview(t.Context(), person(auth.Admin), c.in)
		for _, err := range []error{err, look} {
			var e *errdefs.Error
			if !errors.As(err, &e) || e.Kind != errdefs.Invalid {
				t.Errorf("%v, want %s", err, c.want)
				continue
			}
			var got []string
			for _, d := range e.Details {
				got = append(got, d.Field+" "+d.Issue)
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("%s, want %s", strings.Join(got, "; "), c.want)
			}
		}
	}
	for _, role := range []auth.Role{auth.Member, auth.Supervisor} {
		if _, err := s.Make(person(role), idempotency.Request{}, input(t, 0, h, good, "PRESS")); errdefs.KindOf(err) != errdefs.Forbidden {
			t.Errorf("%s: %v", role, err)
		}
		if _, err := s.Preview(t.Context(), person(role), input(t, 0, h, good, "PRESS")); errdefs.KindOf(err) != errdefs.Forbidden {
			t.Errorf("%s looks: %v", role, err)
		}
	}
	for _, id := range []string{"0", "1", "x", "-1", "99999999999999999999"} {
		if _, err := s.Undo(person(auth.Admin), idempotency.Request{}, id); errdefs.KindOf(err) != errdefs.NotFound {
			t.Errorf("undo %s: %v", id, err)
		}
	}
	if _, total, err := s.List(floortest.Account, 10, 0); total != 0 || err != nil {
		t.Errorf("%d corrections are there, %v", total, err)
	}
	if _, err := s.Make(person(auth.Admin), idempotency.Request{}, input(t, 0, h, good, "PRESS")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo(person(auth.Member), idempotency.Request{}, "1"); errdefs.KindOf(err) != errdefs.Forbidden {
		t.Errorf("a member undid it: %v", err)
	}
	if _, err := s.Undo(person(auth.Admin), idempotency.Request{}, "1"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo(person(auth.Admin), idempotency.Request{}, "1"); errdefs.KindOf(err) != errdefs.Conflict {
		t.Errorf("undone twice: %v", err)
	}
	if _, err := r.Accounts.SetArchived(auth.Local(floortest.Account), true); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Make(person(auth.Admin), idempotency.Request{}, input(t, 0, h, good, "PRESS")); errdefs.KindOf(err) != errdefs.Conflict {
		t.Errorf("on an archived account: %v", err)
	}
}

// The answer to a correction has recalculated figures, without time passing in between. A correction of long ago lists
// the stations that are not finished, and they are in the end.
func TestFiguresFollow(t *testing.T) {
	apptest.Long(t)
	r, s := newPlant(t)
	follow := func(c *Correction, err error) []string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		left, err := s.Follow(floortest.Account, c)
		if err != nil {
			t.Fatal(err)
		}
		return left
	}
	slack := input(t, 0, time.Hour, `{"station":{"utilisationDowntimeThreshold":1200000}}`, "PRESS")
	for range 3 { // repeatedly, without a pause
		if left := follow(s.Make(person(auth.Admin), idempotency.Request{}, slack)); len(left) > 0 {
			t.Errorf("%v are computed still", left)
		}
		if got := downtime(t, r); got != "0 7200" {
			t.Errorf("corrected, downtime and target are %s", got)
		}
		all, n, err := s.List(floortest.Account, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if left := follow(s.Undo(person(auth.Admin), idempotency.Request{}, all[0].ID)); len(left) > 0 {
			t.Errorf("%v are computed still", left)
		}
		if got := downtime(t, r); got != "10 6600" {
			t.Errorf("%d undone, downtime and target are %s", n, got)
		}
	}
	r.Pass(20*24*time.Hour, 12*time.Hour)
	if left := follow(s.Make(person(auth.Admin), idempotency.Request{}, slack)); len(left) > 0 {
		t.Errorf("of three weeks ago %v are computed still", left)
	}
	if got := downtime(t, r); got != "0 7140" { // no signal came after the last minute
		t.Errorf("three weeks later downtime and target are %s", got)
	}
}
