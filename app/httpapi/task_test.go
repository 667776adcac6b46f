package httpapi

import (
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
)

// A Task from its schedule's start to its completion by a tablet, with refused requests in between.
func TestTasksOverTheAPI(t *testing.T) {
	s := newServer(t, options{})
	operator, reader := s.roleKey(auth.Supervisor), s.roleKey(auth.Readonly)
	now := time.Now().UnixMilli()
	s.must(nil, s.Floor.Do("acme", func(w *floor.Work) error {
		_, err := w.Record("PACK-1", monitor.Input{At: now - 60_000, Kind: monitor.InputScheduleStart, Schedule: monitor.Schedule{ID: "s1", SKU: "A1"}})
		return err
	}))
	pending := s.do(ask{method: "GET", path: "/task?stationcode=PACK-1&state=pending", key: reader}).want(t, 200)
	if n := pending.at("paging", "totalElements"); n != 1.0 {
		t.Fatalf("pending: %s", pending.body)
	}
	oil := pending.at("results").([]any)[0].(map[string]any)
	if oil["taskCode"] != "oil" || oil["scheduleId"] != "s1" || oil["taskListName"] != "Start-up" || oil["order"] != 1.5 || oil["deadlineAt"] != nil || oil["availableAt"] != instant.FormatMs(now-60_000) {
		t.Errorf("pending: %v", oil)
	}
	path := "/task/" + oil["id"].(string) + "/complete"
	s.do(ask{method: "POST", path: path, body: `{"initials":"ANN","note":"x"}`, key: reader}).want(t, 403)
	s.do(ask{method: "POST", path: path, body: `{"initials":"AN","note":"x"}`, key: operator}).wantDetail(t, "initials", "3")
	s.do(ask{method: "POST", path: path, body: `{"initials":"ANN"}`, key: operator}).wantDetail(t, "note", "is required")
	s.do(ask{method: "POST", path: path, body: `{"initials":"ANN","note":"x","at":"` + instant.FormatMs(now-61_000) + `"}`, key: operator}).wantDetail(t, "at", "before the Task was there")
	s.do(ask{method: "POST", path: path, body: `{"initials":"ANN","note":"x","at":"` + instant.FormatMs(now-25*3600_000) + `"}`, key: operator}).wantDetail(t, "at", "24 hours")
	s.do(ask{method: "POST", path: path, body: `{"initials":"ANN","note":"x","at":"` + instant.FormatMs(now+3600_000) + `"}`, key: operator}).wantDetail(t, "at", "future")
	s.do(ask{method: "POST", path: path, body: `{"initials":"ANN","note":"x","at":"yesterday"}`, key: operator}).wantDetail(t, "at", "")
	done := s.do(ask{method: "POST", path: path, body: `{"initials":"ANN","note":"topped up","at":"` + instant.FormatMs(now-30_000) + `"}`, key: operator}).want(t, 200)
	if done.text("result", "state") != "completed" || done.text("result", "completedAt") != instant.FormatMs(now-30_000) || done.text("result", "completedBy") != "ANN" {
		t.Errorf("completed: %s", done.body)
	}
	s.do(ask{method: "POST", path: path, body: `{"initials":"BOB","note":"x"}`, key: operator}).want(t, 409)
	for _, id := range []string{"nothing", "PACK-1.1.1", "%2F", strings.Repeat("x", 5000)} {
		s.do(ask{method: "POST", path: "/task/" + id + "/complete", body: `{"initials":"ANN"}`, key: operator}).want(t, 404)
	}

	for query, want := range map[string]float64{
		"":                                   1,
		"?state=completed":                   1,
		"?state=completed,missed":            1,
		"?state=pending":                     0,
		"?stationcode=PACK-2":                0,
		"?plantcode=north&groupcode=packing": 1,
		"?groupcode=meters":                  0,
		"?rangecode=last7d":                  1,
		"?stationcodes=PACK-1,PACK-2&archived=true":          1,
		"?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z": 0,
	} {
		if query == "?rangecode=last7d" {
			query, want = "?rangecode="+instant.FormatMs(now-3600_000)+"/"+instant.FormatMs(now), 1
		}
		got := s.do(ask{method: "GET", path: "/task" + query, key: reader}).want(t, 200)
		if n := got.at("paging", "totalElements"); n != want {
			t.Errorf("GET /task%s: %v, want %v", query, n, want)
		}
	}
	for query, field := range map[string]string{
		"?state=withdrawn": "state", "?stationcode=PACK-9": "stationcode", "?plantcode=south": "plantcode", "?archived=perhaps": "archived", "?stationcode=PACK-1&stationcodes=PACK-2": "stationcode", "?stationcode=PACK-9&archived=true": "stationcode", "?limit=0": "limit", "?skip=-1": "skip",
		"?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "to", "?from=1976-01-01": "from", "?from=2026-01-01&to=2026-03-01": "from", "?rangecode=ever": "rangecode", "?to=2026-01-01": "from",
	} {
		got := s.do(ask{method: "GET", path: "/task" + query, key: reader})
		got.wantDetail(t, field, "")
	}
}

// Tasks of a station that has left the manifest are returned with archived=true, and its missed Tasks are exported.
func TestTasksOfArchivedStations(t *testing.T) {
	s := newServer(t, options{})
	reader := s.roleKey(auth.Readonly)
	_, err := s.startTasks("PACK-2")
	s.must(nil, err)
	s.finishTasks("PACK-2")
	other := strings.Replace(acme, `"code":"PACK-2","name":"Packer 2"`, `"code":"PACK-3","name":"Packer 3"`, 1)
	s.do(ask{method: "PUT", path: "/account/manifest", body: other, key: s.roleKey(auth.Member)}).want(t, 200)
	eventually(t, func() bool {
		return s.do(ask{method: "GET", path: "/task?stationcode=PACK-2", key: reader}).status == 400
	})
	if got := s.do(ask{method: "GET", path: "/task", key: reader}).want(t, 200); got.at("paging", "totalElements") != 0.0 {
		t.Errorf("without archived=true: %s", got.body)
	}
	for _, query := range []string{"?stationcode=PACK-2&archived=true", "?archived=true"} {
		if got := s.do(ask{method: "GET", path: "/task" + query, key: reader}).want(t, 200); got.at("paging", "totalElements") != 1.0 {
			t.Errorf("%s: %s", query, got.body)
		}
	}
	s.clock.advance(2 * time.Minute)
	got := s.do(ask{method: "GET", path: "/export/tasks?rangecode=last7d&archived=true", key: reader}).want(t, 200)
	rows := strings.Split(string(got.body), "\r\n")
	if len(rows) < 2 || rows[0] != "id,stationCode,state,trigger,taskCode,title,taskListCode,taskListName,scheduleId,availableAt,deadlineAt,startedBy,completedAt,recordedAt,completedBy,note" || !strings.Contains(rows[1], ",PACK-2,completed,on_demand,wipe,Wipe,clean,Cleaning,,") || !strings.HasSuffix(rows[1], ",BOB,x") {
		t.Errorf("exported: %s", got.body)
	}
}

// A date is the production day of each station's plant, in every list.
func TestDaysAreThoseOfTheStationsPlant(t *testing.T) {
	s := newServer(t, options{})
	now := s.clock.now().UTC()
	evening := now.Truncate(24 * time.Hour).Add(20 * time.Hour)
	if evening.Before(now) {
		evening = evening.Add(24 * time.Hour)
	}
	s.clock.advance(evening.Sub(now)) // 05:00 of the next day in Tokyo, and 21:00 or 22:00 in Berlin
	reader := s.roleKey(auth.Readonly)
	two := strings.TrimSuffix(acme, "]}}") + `,{"code":"east","name":"East","timezone":"Asia/Tokyo","dayStartHour":0,"weekStartDay":0,"stationGroups":[{"code":"wrapping","name":"Wrapping","stations":[{"code":"WRAP-1","name":"Wrapper"}]}]}]}}`
	s.do(ask{method: "PUT", path: "/account/manifest", body: two, key: s.roleKey(auth.Member)}).want(t, 200)
	eventually(t, func() bool {
		return s.do(ask{path: "/task?stationcode=WRAP-1", key: reader}).status == 200
	})
	for _, code := range []string{"PACK-1", "WRAP-1"} {
		_, err := s.startTasks(code)
		s.must(nil, err)
	}
	date := evening.Format(time.DateOnly)
	next := evening.Add(24 * time.Hour).Format(time.DateOnly)
	for query, want := range map[string]float64{
		"stationcode=PACK-1&from=" + date + "&to=" + date: 1, "stationcode=PACK-1&from=" + next + "&to=" + next: 0,
		"stationcode=WRAP-1&from=" + date + "&to=" + date: 0, "stationcode=WRAP-1&from=" + next + "&to=" + next: 1,
		"stationcode=PACK-1&rangecode=today": 1, "stationcode=WRAP-1&rangecode=today": 1, "rangecode=today": 2, "from=" + next + "&to=" + next: 1,
	} {
		if got := s.do(ask{path: "/task?" + query, key: reader}).want(t, 200); got.at("paging", "totalElements") != want {
			t.Errorf("GET /task?%s: %v Tasks, want %v", query, got.at("paging", "totalElements"), want)
		}
	}
	// The 19th ends in Berlin at 05:00 UTC of the 20th.
	for _, path := range []string{"/issue", "/station-window", "/pareto", "/oee", "/energy", "/schedule", "/production", "/task"} {
		s.do(ask{path: path + "?plantcode=north&from=2026-11-20T03:00:00Z&to=2026-11-19", key: reader}).want(t, 200)
		s.do(ask{path: path + "?plantcode=north&from=2026-11-20T05:00:00Z&to=2026-11-19", key: reader}).wantDetail(t, "to", "later than the beginning of the range, 2026-11-20T05:00:00.000Z; it is 2026-11-20T05:00:00.000Z")
	}
}

func TestTaskListsOverTheAPI(t *testing.T) {
	s := newServer(t, options{})
	operator := s.roleKey(auth.Supervisor)
	body := `{"stationCode":"PACK-1","initials":"ANN"}`
	made := s.do(ask{method: "POST", path: "/task-list/clean/start", body: body, key: operator}).want(t, 200)
	if list := made.at("result", "tasks").([]any); len(list) != 1 || list[0].(map[string]any)["startedBy"] != "ANN" {
		t.Errorf("started: %s", made.body)
	}
	s.do(ask{method: "POST", path: "/task-list/clean/start", body: body, key: operator}).want(t, 409)
	s.do(ask{method: "POST", path: "/task-list/start-up/start", body: body, key: operator}).want(t, 409)
	s.do(ask{method: "POST", path: "/task-list/nothing/start", body: body, key: operator}).want(t, 404)
	s.do(ask{method: "POST", path: "/task-list/clean/start", body: `{"stationCode":"PACK-9","initials":"ANN"}`, key: operator}).wantDetail(t, "stationCode", "no station has this code")
	s.do(ask{method: "POST", path: "/task-list/clean/start", body: strings.Replace(body, "PACK-1", "KWH-1", 1), key: operator}).wantDetail(t, "stationCode", "energy meter")

	// A tablet acts on its own stations.
	made1, err := s.Auth.PairTablet(auth.Local("acme"), auth.TabletInput{Name: "line 2", StationCodes: []string{"PACK-2"}})
	s.must(nil, err)
	grant, err := s.Auth.Callback(s.hide(made1.Token), "10.0.0.9")
	s.must(nil, err)
	tablet := s.hide(grant.Session)
	s.do(ask{method: "POST", path: "/task-list/clean/start", body: body, session: tablet}).want(t, 403)
	s.do(ask{method: "POST", path: "/task-list/clean/start", body: strings.Replace(body, "PACK-1", "PACK-2", 1), session: tablet}).want(t, 200)

	s.do(ask{method: "POST", path: "/account", body: `{"enableTasks":"off"}`, key: s.roleKey(auth.Member)}).want(t, 200)
	eventually(t, func() bool { // the floor follows shortly after
		got := s.do(ask{method: "POST", path: "/task-list/clean/start", body: body, key: operator})
		return got.status == 403 && strings.Contains(got.text("errorMessage"), "enableTasks") && strings.Contains(got.text("errorMessage"), "account")
	})
	pending := s.do(ask{method: "GET", path: "/task?stationcode=PACK-1&state=pending", key: operator}).want(t, 200)
	s.do(ask{method: "POST", path: "/task/" + pending.text("results", "0", "id") + "/complete", body: `{"initials":"ANN"}`, key: operator}).want(t, 403)
}

// A tablet without an answer repeats its write. A refused write is recorded for supervisors.
func TestTasksAreCompletedOnce(t *testing.T) {
	s := newServer(t, options{})
	operator := s.roleKey(auth.Supervisor)
	once := func(key, path, body string) *answer {
		return s.do(ask{method: "POST", path: path, body: body, key: operator, header: map[string]string{"Idempotency-Key": key}})
	}
	start := `{"stationCode":"PACK-1","initials":"ANN"}`
	first := once("start-1", "/task-list/clean/start", start).want(t, 200)
	if again := once("start-1", "/task-list/clean/start", start).want(t, 200); string(again.body) != string(first.body) {
		t.Errorf("a second answer is %s", again.body)
	}
	once("start-2", "/task-list/clean/start", start).want(t, 409)
	id := first.at("result", "tasks").([]any)[0].(map[string]any)["id"].(string)
	done := once("done-1", "/task/"+id+"/complete", `{"initials":"ANN"}`).want(t, 200)
	if again := once("done-1", "/task/"+id+"/complete", `{"initials":"ANN"}`).want(t, 200); string(again.body) != string(done.body) {
		t.Errorf("a second answer is %s", again.body)
	}
	once("done-1", "/task/"+id+"/complete", `{"initials":"BOB"}`).want(t, 409)
	once("done-2", "/task/"+id+"/complete", `{"initials":"ANN"}`).want(t, 409)
	refused := s.do(ask{method: "GET", path: "/refused", key: s.roleKey(auth.Supervisor)}).want(t, 200)
	if n := refused.at("paging", "totalElements"); n != 3.0 {
		t.Errorf("%v are kept: %s", n, refused.body)
	}
}
