package httpapi

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/app/work/schedule"
)

// planned creates a continuous schedule of acme at PACK-1, each with another start.
func (s *server) planned() *schedule.View {
	s.t.Helper()
	var made *schedule.View
	start := s.clock.now().Add(time.Duration(s.from.Add(1)) * time.Minute)
	in := schedule.Input{
		StationCode: schedule.Given[string]{Set: true, Value: "PACK-1"}, SKUCode: schedule.Given[string]{Set: true, Value: "B2"},
		PlannedStart: schedule.Given[schedule.Moment]{Set: true, Value: schedule.Moment(start.UnixMilli())},
	}
	s.must(nil, s.Floor.Do("acme", func(w *floor.Work) (err error) {
		made, err = s.Schedules.Write(w, auth.Local("acme"), in)
		return err
	}))
	return made
}

// running creates a running schedule; the previous one ends.
func (s *server) running() *schedule.View {
	s.t.Helper()
	made := s.planned()
	s.must(nil, s.Floor.Do("acme", func(w *floor.Work) (err error) {
		_, err = s.Schedules.Start(w, auth.Local("acme"), made.ID, schedule.StartInput{EndRunning: true})
		return err
	}))
	return made
}

func newSchedule(s *server, _ caller) ask {
	start := s.clock.now().Add(time.Duration(s.from.Add(1)) * time.Minute)
	return ask{path: "/schedule", body: `{"stationCode":"PACK-1","skuCode":"B2","plannedStartAt":"` + start.UTC().Format(time.RFC3339Nano) + `"}`}
}

func someSchedule(then string) func(*server, caller) ask {
	return func(s *server, _ caller) ask { return ask{path: "/schedule/" + s.planned().ID + then} }
}

func runningSchedule(then string) func(*server, caller) ask {
	return func(s *server, _ caller) ask { return ask{path: "/schedule/" + s.running().ID + then} }
}

func movable(s *server, c caller) ask {
	a := newSchedule(s, c)
	var body struct {
		PlannedStartAt string `json:"plannedStartAt"`
	}
	s.must(nil, json.Unmarshal([]byte(a.body), &body))
	return ask{path: "/schedule/" + s.planned().ID + "/move", body: `{"plannedStartAt":"` + body.PlannedStartAt + `"}`}
}

func someProduction(then string) func(*server, caller) ask {
	return func(s *server, _ caller) ask {
		running := s.running()
		if then == "" {
			return ask{path: "/production", body: `{"stationCode":"PACK-1","good":5,"initials":"abc"}`}
		}
		var made *schedule.EntryView
		s.must(nil, s.Floor.Do("acme", func(w *floor.Work) (err error) {
			made, err = s.Schedules.Enter(w, auth.Local("acme"), schedule.EntryInput{StationCode: "PACK-1", ScheduleID: running.ID, Good: 5, Initials: "abc"})
			return err
		}))
		return ask{path: fmt.Sprintf("/production/%s/%s", made.ID, then), body: `{"initials":"abc"}`}
	}
}

const quickly = `{"stationCode":"PACK-1","skuCode":"B2","initials":"abc"}`

// A tablet whose answer was lost repeats its request and gets the same answer; nothing is done twice.
func TestIdempotency(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Supervisor)
	send := func(idempotency, path, body string) *answer {
		t.Helper()
		return s.do(ask{method: "POST", path: path, body: body, key: key, header: map[string]string{"Idempotency-Key": idempotency}})
	}
	const path = "/quick-schedule?endrunning=true"
	var wait sync.WaitGroup
	answers := make([]*answer, 4)
	for i := range answers { // the second arrives during the first
		wait.Go(func() {
			answers[i], _ = s.try(ask{method: "POST", path: path, body: quickly, key: key, header: map[string]string{"Idempotency-Key": "one"}})
		})
	}
	wait.Wait()
	for _, a := range answers {
		if a == nil || a.status != 200 || string(a.body) != string(answers[0].body) {
			t.Fatalf("the same request was answered with %v and %s", a, answers[0].body)
		}
	}
	id := answers[0].text("result", "id")
	if again := send("one", path, quickly).want(t, 200); string(again.body) != string(answers[0].body) {
		t.Errorf("later it was answered with %s", again.body)
	}
	send("one", "/quick-schedule", quickly).want(t, 409)
	send("one", path, strings.Replace(quickly, "abc", "abd", 1)).want(t, 409)
	list := s.do(ask{path: "/schedule?state=running", key: key}).want(t, 200)
	if list.at("paging", "totalElements") != 1.0 || list.text("results", "0", "id") != id {
		t.Errorf("there run %s", list.body)
	}
	// without a key it is another request
	s.do(ask{method: "POST", path: "/quick-schedule", body: quickly, key: key}).want(t, 409)
	send("two", "/schedule/"+id+"/end", "").want(t, 200)
	send("two", "/schedule/"+id+"/end", "").want(t, 200)
	s.do(ask{method: "POST", path: "/schedule/" + id + "/end", key: key}).want(t, 409)

	supervisor := s.roleKey(auth.Supervisor)
	made := s.planned()
	for range 2 {
		s.do(ask{method: "DELETE", path: "/schedule/" + made.ID, key: supervisor, header: map[string]string{"Idempotency-Key": "three"}}).want(t, 204)
	}
	for _, wrong := range []string{"a b", strings.Repeat("k", 129), "é"} {
		send(wrong, path, quickly).wantDetail(t, "Idempotency-Key", "must be one text of 1 to 128 printable ASCII characters without blanks")
	}
	send(strings.Repeat("k", 128), path, quickly).want(t, 200)
	s.clock.advance(7*24*time.Hour + time.Second)
	if later := send("one", path, quickly).want(t, 200); later.text("result", "id") == id {
		t.Error("after seven days the key is still known")
	}
}

// A refused write with a key is listed for supervisors until it succeeds.
func TestRefusedWrites(t *testing.T) {
	s := newServer(t, options{})
	operator, supervisor := s.roleKey(auth.Supervisor), s.roleKey(auth.Supervisor)
	running := s.running()
	other := s.planned()
	start := ask{method: "POST", path: "/schedule/" + other.ID + "/start", body: `{"initials":"abc"}`, key: operator, header: map[string]string{"Idempotency-Key": "k1"}}
	s.do(start).want(t, 409)
	s.do(start).want(t, 409)
	s.do(ask{method: "POST", path: "/production", body: `{"stationCode":"PACK-1","good":-1,"initials":"abc"}`, key: operator, header: map[string]string{"Idempotency-Key": "k2"}}).want(t, 400)
	s.do(ask{method: "POST", path: "/schedule", body: `{}`, key: s.roleKey(auth.Operator), header: map[string]string{"Idempotency-Key": "k3"}}).want(t, 403)
	// without a key: the sender knows
	s.do(ask{method: "POST", path: "/production", body: `{}`, key: operator}).want(t, 400)
	// nobody who works on the floor
	s.do(ask{method: "POST", path: "/production", body: `{}`, key: s.roleKey(auth.Readonly), header: map[string]string{"Idempotency-Key": "k4"}}).want(t, 403)
	s.do(ask{method: "POST", path: "/production", body: `{}`, key: "opk_none", header: map[string]string{"Idempotency-Key": "k5"}}).want(t, 401)
	keys := func() string {
		list := s.do(ask{path: "/refused", key: supervisor}).want(t, 200)
		text := ""
		for i := range int(list.at("paging", "totalElements").(float64)) {
			text += list.text("results", strconv.Itoa(i), "key") + " "
		}
		return text
	}
	if got := keys(); got != "k3 k2 k1 " {
		t.Errorf("kept are %s", got)
	}
	list := s.do(ask{path: "/refused?limit=1&skip=2", key: supervisor}).want(t, 200)
	if list.at("results", "0", "times") != 2.0 || list.at("results", "0", "status") != 409.0 || list.text("results", "0", "body") != start.body ||
		list.text("results", "0", "by") != mailOf(auth.Supervisor) || !strings.Contains(list.text("results", "0", "errorMessage"), running.ID) {
		t.Errorf("shown is %s", list.body)
	}
	s.do(ask{path: "/refused", key: s.roleKey(auth.Operator)}).want(t, 403)
	s.do(ask{method: "POST", path: "/schedule/" + running.ID + "/end", key: operator}).want(t, 200)
	s.do(start).want(t, 200)
	if got := keys(); got != "k3 k2 " {
		t.Errorf("after one was accepted, kept are %s", got)
	}
}

// A request intended for another user is refused, whatever it is, and not recorded.
func TestWhatIsMeantForSomebodyElse(t *testing.T) {
	s := newServer(t, options{})
	operator, member, reader := s.session("acme", mailOf(auth.Supervisor)), s.session("acme", mailOf(auth.Member)), s.session("acme", mailOf(auth.Readonly))
	s.running()
	meant := func(whom string) ask {
		return ask{method: "POST", path: "/production", body: `{"stationCode":"PACK-1","good":5,"initials":"abc"}`, session: member, header: map[string]string{"Idempotency-Key": "k1", "X-For": whom}}
	}
	whom := "acme/" + mailOf(auth.Supervisor)
	a := s.do(meant(whom)).want(t, 409)
	if is, _ := url.PathUnescape(a.header.Get("X-For")); is != "acme/"+mailOf(auth.Member) || !strings.Contains(a.text("errorMessage"), whom) || !strings.Contains(a.text("errorMessage"), mailOf(auth.Member)) {
		t.Errorf("it tells %s", a.body)
	}
	for _, other := range []string{"ACME/" + mailOf(auth.Member), "else/" + mailOf(auth.Member)} {
		s.do(meant(other)).want(t, 409)
	}
	// invalid values, which no client sends
	for _, wrong := range []string{"", "acme", "/", "acme/", "/" + mailOf(auth.Member), mailOf(auth.Member), "%zz"} {
		a := s.do(ask{path: "/auth/profile", session: member, header: map[string]string{"X-For": wrong}}).want(t, 400)
		if a.wantDetail(t, "X-For", "must be an accountId and an email"); a.header.Get("X-For") != "" {
			t.Errorf("an answer to %q names who asks", wrong)
		}
	}
	if a := s.do(ask{method: "POST", path: "/production", body: `{}`, session: member, header: map[string]string{"X-For": "acme/" + mailOf(auth.Member)}}).want(t, 400); a.header.Get("X-For") != "" {
		t.Error("an answer to whom it was meant for names another")
	}
	for _, rt := range s.routes {
		if rt.Access != rest.Open {
			a := ask{method: rt.Method, path: strings.ReplaceAll(rt.Path, ":", ""), session: reader, header: map[string]string{"X-For": whom}}
			s.do(a).want(t, 409)
			a.header = map[string]string{"X-For": "%zz"}
			s.do(a).want(t, 400)
		}
	}
	for _, list := range []string{"/production?rangecode=today", "/refused"} {
		if got := s.do(ask{path: list, session: member}).want(t, 200); len(got.at("results").([]any)) != 0 {
			t.Errorf("%s has %s", list, got.body)
		}
	}
	mine := meant("acme/" + url.PathEscape(mailOf(auth.Supervisor)))
	mine.session = operator
	s.do(mine).want(t, 200)
	s.do(ask{path: "/auth/profile", key: s.roleKey(auth.Supervisor), header: map[string]string{"X-For": whom}}).want(t, 200)
}

// Two tablets start a schedule each at the same station: one succeeds, the other gets an error that names the running
// one.
func TestTwoTablets(t *testing.T) {
	s := newServer(t, options{})
	ids := [2]string{s.planned().ID, s.planned().ID}
	keys := [2]string{s.roleKey(auth.Supervisor), s.roleKey(auth.Supervisor)}
	var got [2]*answer
	var wait sync.WaitGroup
	for i := range 2 {
		wait.Go(func() { got[i], _ = s.try(ask{method: "POST", path: "/schedule/" + ids[i] + "/start", key: keys[i]}) })
	}
	wait.Wait()
	won := 0
	if got[0].status != 200 {
		won = 1
	}
	got[won].want(t, 200)
	if lost := got[1-won].want(t, 409); !strings.Contains(lost.text("errorMessage"), ids[won]) {
		t.Errorf("the other was told %s", lost.body)
	}
}

// A tablet acts on its own stations.
func TestTabletsAndSchedules(t *testing.T) {
	s := newServer(t, options{})
	link, err := s.Auth.PairTablet(auth.Local("acme"), auth.TabletInput{Name: "line 2", Role: auth.Operator, StationCodes: []string{"PACK-2"}})
	s.must(nil, err)
	grant, err := s.Auth.Callback(s.hide(link.Token), "10.0.0.1")
	s.must(nil, err)
	tablet := s.hide(grant.Session)
	s.do(ask{method: "POST", path: "/quick-schedule", body: quickly, session: tablet}).want(t, 403)
	s.do(ask{method: "POST", path: "/schedule/" + s.planned().ID + "/start", session: tablet}).want(t, 403)
	// Several people share a tablet, so initials are required; a person is known.
	nameless := s.do(ask{method: "POST", path: "/quick-schedule", body: `{"stationCode":"PACK-2","skuCode":"B2"}`, session: tablet}).want(t, 400)
	if nameless.text("details", "0", "field") != "initials" {
		t.Errorf("a tablet without initials: %s", nameless.body)
	}
	s.do(ask{method: "POST", path: "/quick-schedule", body: strings.Replace(quickly, "PACK-1", "PACK-2", 1), session: tablet}).want(t, 200)
	s.do(ask{method: "POST", path: "/quick-schedule", body: `{"stationCode":"PACK-1","skuCode":"B2"}`, key: s.roleKey(auth.Supervisor)}).want(t, 200)
	// null means missing, as in a planned schedule.
	unset := s.do(ask{method: "POST", path: "/quick-schedule?endrunning=true", body: `{"stationCode":"PACK-1","skuCode":"B2","reasonCode":null,"workOrderReference":null,"plannedQuantity":null,"plannedEndAt":null,"note":null}`, key: s.roleKey(auth.Supervisor)}).want(t, 200)
	if unset.text("result", "type") != "continuous" || unset.text("result", "kind") != "production" {
		t.Errorf("started: %s", unset.body)
	}
}

func TestBadSchedules(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Admin)
	run := s.running()
	for _, tt := range []struct {
		method, path, body string
		status             int
		part               string
	}{
		{"POST", "/schedule", `{"stationCode":"PACK-1"`, 400, "line 1"},
		{"POST", "/schedule", `{"stationCode":"PACK-1","plannedQuantity":NaN}`, 400, "line 1"},
		{"POST", "/schedule", `{"stationCode":"PACK-1","plannedQuantity":1e400}`, 400, "plannedQuantity"},
		{"POST", "/schedule", `{"stationCode":"PACK-1","plannedQuantity":-5}`, 400, "plannedQuantity"},
		{"POST", "/schedule", `{"stationCode":"PACK-1","plannedQuantity":1e10}`, 400, "plannedQuantity"},
		{"POST", "/schedule", `{"stationcode":"PACK-1"}`, 400, "did you mean stationCode?"},
		{"POST", "/schedule", `{"stationCode":"PACK-9","skuCode":"B2","plannedStartAt":"2099-01-01T00:00:00Z"}`, 400, "PACK-9"},
		{"POST", "/schedule", `{"stationCode":"KWH-1","skuCode":"B2","plannedStartAt":"2099-01-01T00:00:00Z"}`, 400, "energy meter"},
		{"POST", "/schedule", `{"stationCode":"PACK-2","skuCode":"A1","plannedStartAt":"2099-01-01T00:00:00Z"}`, 400, "A1"},
		{"POST", "/schedule", `{"stationCode":"PACK-1","skuCode":"B2","plannedStartAt":"tomorrow"}`, 400, "plannedStartAt"},
		{"POST", "/schedule", `{"id":"` + run.ID + `","skuCode":"A1"}`, 409, "skuCode"},
		{"POST", "/schedule/none/start", ``, 404, "no such schedule"},
		{"POST", "/schedule/" + run.ID + "/start?endrunning=perhaps", ``, 400, "endrunning"},
		{"POST", "/schedule/" + run.ID + "/start?endruning=true", ``, 400, "endruning"},
		{"POST", "/schedule/" + run.ID + "/start", ``, 409, "running"},
		{"POST", "/schedule/" + run.ID + "/end", `{"at":"2099-01-01T00:00:00Z"}`, 400, "future"},
		{"POST", "/schedule/" + run.ID + "/end", `{"at":"2019-01-01T00:00:00Z"}`, 400, "24 hours"},
		{"POST", "/schedule/" + run.ID + "/end", `{"initials":"ab"}`, 400, "initials"},
		{"POST", "/schedule/" + run.ID + "/move", `{"stationCode":"PACK-2"}`, 409, "running"},
		{"DELETE", "/schedule/" + run.ID, ``, 409, "running"},
		{"POST", "/production", `{"stationCode":"PACK-1","good":1e300,"initials":"abc"}`, 400, "good"},
		{"POST", "/production", `{"stationCode":"PACK-1","good":-1,"initials":"abc"}`, 400, "good"},
		{"POST", "/production", `{"stationCode":"PACK-1","good":1}`, 400, "initials"},
		{"POST", "/production", `{"stationCode":"PACK-1","reject":1,"initials":"abc"}`, 403, "enableRejectProduction"},
		{"POST", "/production", `{"stationCode":"PACK-2","good":1,"initials":"abc"}`, 409, "no production schedule runs at PACK-2"},
		{"POST", "/production/none/undo", `{"initials":"abc"}`, 404, "no such entry"},
		{"POST", "/quick-schedule", `{"stationCode":"PACK-1","skuCode":"A1","initials":"abc"}`, 400, "allowUseInQuickSchedule"},
		{"GET", "/schedule?state=lost", ``, 400, "state"},
		{"GET", "/schedule?state=planned,lost", ``, 400, "lost"},
		{"GET", "/schedule?from=2026-11-21&to=2026-11-20", ``, 400, "later than"},
		{"GET", "/schedule?from=1976-01-01&to=2026-01-01", ``, 400, "366 days"},
		{"GET", "/schedule?rangecode=fortnight", ``, 400, "fortnight"},
		{"GET", "/schedule?stationcodes=NONE", ``, 400, "NONE"},
		{"GET", "/schedule?plantcode=south", ``, 400, "south"},
		{"GET", "/schedule?limit=0", ``, 400, "limit"},
		{"GET", "/production?rangecode=2026-11-20/", ``, 400, "rangecode"},
		{"GET", "/schedule/none", ``, 404, "no such schedule"},
	} {
		got := s.do(ask{method: tt.method, path: tt.path, body: tt.body, key: key}).want(t, tt.status)
		if !strings.Contains(string(got.body), tt.part) {
			t.Errorf("%s %s %s: %s; want %q in it", tt.method, tt.path, tt.body, got.body, tt.part)
		}
	}
	s.do(ask{path: "/schedule/" + run.ID, key: key}).want(t, 200)
	for query, want := range map[string]float64{"": 1, "&state=running": 1, "&state=planned,running": 1, "&state=planned,completed": 0} {
		if got := s.do(ask{path: "/schedule?rangecode=week" + query, key: key}).want(t, 200); got.at("paging", "totalElements") != want {
			t.Errorf("the week%s has %s, want %g", query, got.body, want)
		}
	}
}

// A schedule from its plan to its end, as API clients see it.
func TestScheduleOverTheAPI(t *testing.T) {
	s := newServer(t, options{})
	supervisor, operator := s.roleKey(auth.Supervisor), s.roleKey(auth.Supervisor)
	start := s.clock.now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
	made := s.do(ask{method: "POST", path: "/schedule", key: supervisor, body: `{"stationCode":"PACK-1","skuCode":"B2","plannedStartAt":"` + start + `","plannedQuantity":3,"workOrderReference":"WO-1","extendShift":true}`}).want(t, 200)
	id := made.text("result", "id")
	if made.text("result", "type") != "fixedQuantity" || made.at("result", "rate", "unitsPerMinute") != 1.5 || made.text("result", "rate", "from") != "sku" || made.text("result", "plannedStartAt") != start || made.at("result", "actualStartAt") != nil {
		t.Errorf("made: %s", made.body)
	}
	s.do(ask{method: "POST", path: "/schedule/" + id + "/start", key: operator, body: `{"initials":"klm"}`}).want(t, 200)
	entry := s.do(ask{method: "POST", path: "/production", key: operator, body: `{"stationCode":"PACK-1","good":2,"bad":1,"initials":"klm"}`}).want(t, 200)
	if entry.text("result", "scheduleId") != id {
		t.Errorf("entered: %s", entry.body)
	}
	got := s.do(ask{path: "/schedule/" + id, key: operator}).want(t, 200)
	if got.at("result", "goodCount") != 2.0 || got.at("result", "badCount") != 1.0 || got.text("result", "state") != "running" || got.text("result", "events", "1", "initials") != "klm" {
		t.Errorf("running: %s", got.body)
	}
	if shown := s.do(ask{path: "/station?stationcodes=PACK-1", key: operator}).want(t, 200); shown.text("results", "0", "schedule", "workOrderReference") != "WO-1" {
		t.Errorf("the station shows %s", shown.body)
	}
	refused := s.do(ask{method: "POST", path: "/schedule/" + id + "/end", key: operator}).want(t, 403)
	if !strings.Contains(refused.text("errorMessage"), "enableScheduleCutShort") {
		t.Errorf("a cut short: %s", refused.body)
	}
	s.do(ask{method: "POST", path: "/production", key: operator, body: `{"stationCode":"PACK-1","good":1,"initials":"klm"}`}).want(t, 200)
	ended := s.do(ask{method: "POST", path: "/schedule/" + id + "/end", key: operator}).want(t, 200)
	if ended.at("result", "goodCount") != 3.0 || ended.text("result", "state") != "completed" {
		t.Errorf("ended: %s", ended.body)
	}
	if list := s.do(ask{path: "/production", key: operator}).want(t, 200); list.at("paging", "totalElements") != 2.0 {
		t.Errorf("entries: %s", list.body)
	}
	audited := s.do(ask{path: "/audit?action=schedule.start", key: s.roleKey(auth.Admin)}).want(t, 200)
	if audited.text("results", "0", "target") != id || audited.text("results", "0", "actor", "email") != mailOf(auth.Supervisor) {
		t.Errorf("the audit record of the start is %s", audited.body)
	}
}

// A station shows whether operators' entries count: until the machine counts.
func TestWhoseCountIsCounted(t *testing.T) {
	s := newServer(t, options{})
	s.running()
	station := func(want bool) {
		t.Helper()
		s.clock.advance(3 * time.Second)
		got := s.do(ask{path: "/station?stationcodes=PACK-1", key: s.roleKey(auth.Operator)}).want(t, 200)
		if got.at("results", "0", "schedule", "countedByHand") != want {
			t.Errorf("counted by hand is %v, not %t", got.at("results", "0", "schedule", "countedByHand"), want)
		}
	}
	station(true)
	s.do(ask{method: "POST", path: "/signal", key: s.roleKey(auth.Admin), body: `{"signals":[{"stationCode":"PACK-1","productionCompleteGood":4}]}`}).want(t, 200)
	station(false)
}

// The schedules of a station that left the manifest end, and can still be read.
func TestSchedulesOfArchivedStations(t *testing.T) {
	s := newServer(t, options{})
	admin := s.roleKey(auth.Admin)
	made := s.do(ask{method: "POST", path: "/quick-schedule", body: strings.Replace(quickly, "PACK-1", "PACK-2", 1), key: admin}).want(t, 200)
	s.do(ask{method: "PUT", path: "/account/manifest", body: strings.Replace(acme, `,{"code":"PACK-2","name":"Packer 2"}`, "", 1), key: admin}).want(t, 200)
	var shown *answer
	for range 100 {
		shown = s.do(ask{path: "/schedule?archived=true&stationcodes=PACK-2", key: admin})
		if shown.status == 200 && shown.text("results", "0", "state") == "completed" {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if shown.text("results", "0", "id") != made.text("result", "id") || shown.text("results", "0", "events", "2", "move") != "stationLeft" {
		t.Errorf("shown is %s", shown.body)
	}
	s.do(ask{path: "/schedule?stationcodes=PACK-2", key: admin}).want(t, 400)
	s.do(ask{path: "/schedule?archived=perhaps", key: admin}).wantDetail(t, "archived", `must be true or false; it is "perhaps"`)
}

// A dry run is validated and answered like the real request, and leaves nothing behind: no schedule, event, audit
// record, idempotency key or refusal.
func TestSchedulesAreTried(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Supervisor)
	start := s.clock.now().Add(48 * time.Hour).UTC().Truncate(time.Minute)
	at := func(after time.Duration) string { return instant.Format(start.Add(after)) }
	body := `{"stationCode":"PACK-1","skuCode":"B2","plannedStartAt":"` + at(0) + `","plannedEndAt":"` + at(time.Hour) + `","extendShift":true}`
	named := map[string]string{"Idempotency-Key": "dry"}
	planned := s.do(ask{method: "POST", path: "/schedule", body: body, key: key}).want(t, 200)
	id := planned.text("result", "id")

	state := func() string {
		var text strings.Builder
		for _, path := range []string{"/schedule?rangecode=" + at(-24*time.Hour) + "/" + at(240*time.Hour), "/audit?action=schedule", "/refused"} {
			text.Write(s.do(ask{path: path, key: s.roleKey(auth.Admin)}).want(t, 200).body)
		}
		return text.String()
	}
	before := state()
	for _, tt := range []struct {
		path, body string
		status     int
		part       string
	}{
		{"/schedule", body, 409, id}, // the existing one
		{"/schedule", strings.ReplaceAll(body, at(0), at(30*time.Minute)), 409, id},
		{"/schedule", strings.Replace(body, "B2", "NONE", 1), 400, "skuCode"},
		{"/schedule", strings.NewReplacer(at(time.Hour), at(4*time.Hour), at(0), at(2*time.Hour)).Replace(body), 200, `"expectedQuantity":180`},
		{"/schedule", `{"id":"` + id + `","plannedEndAt":"` + at(3*time.Hour) + `"}`, 200, `"expectedQuantity":270`},
		{"/schedule/" + id + "/move", `{"stationCode":"PACK-2"}`, 403, "enableDragBetweenStationsOnGantt"},
		{"/schedule/" + id + "/move", `{"plannedStartAt":"` + at(5*time.Hour) + `"}`, 200, `"expectedEndAt":"` + at(6*time.Hour) + `"`},
		{"/schedule/none/move", `{"stationCode":"PACK-2"}`, 404, "no such schedule"},
	} {
		for range 2 { // the key is not used
			a := s.do(ask{method: "POST", path: tt.path + "?dryrun=true", body: tt.body, key: key, header: named}).want(t, tt.status)
			if !strings.Contains(string(a.body), tt.part) {
				t.Errorf("%s %s: %s; want %q in it", tt.path, tt.body, a.body, tt.part)
			}
		}
	}
	made := s.do(ask{method: "POST", path: "/schedule?dryrun=true", body: strings.NewReplacer(at(time.Hour), at(9*time.Hour), at(0), at(8*time.Hour)).Replace(body), key: key}).want(t, 200)
	if made.at("result", "id") != "" || made.at("result", "state") != "planned" {
		t.Errorf("tried: %s", made.body)
	}
	if after := state(); after != before {
		t.Errorf("trying left something behind:\n%s\nbefore:\n%s", after, before)
	}
	s.do(ask{method: "POST", path: "/schedule?dryrun=perhaps", body: body, key: key}).want(t, 400)
	// The real request with the same key is executed.
	s.do(ask{method: "POST", path: "/schedule/" + id + "/move", body: `{"plannedStartAt":"` + at(5*time.Hour) + `"}`, key: key, header: named}).want(t, 200)
}

// A dry run does not change a running schedule.
func TestRunningSchedulesAreTried(t *testing.T) {
	s := newServer(t, options{})
	key, id := s.roleKey(auth.Supervisor), s.running().ID
	for range 2 {
		a := s.do(ask{method: "POST", path: "/schedule?dryrun=true", body: `{"id":"` + id + `","plannedQuantity":700}`, key: key}).want(t, 200)
		if a.at("result", "plannedQuantity") != 700.0 || a.at("result", "state") != "running" {
			t.Errorf("tried: %s", a.body)
		}
	}
	if a := s.do(ask{path: "/schedule/" + id, key: key}).want(t, 200); a.at("result", "plannedQuantity") == 700.0 {
		t.Errorf("it has changed: %s", a.body)
	}
}
