package httpapi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/httpapi/rest"
	"opsmon/app/test/apptest"
)

// fields returns the distinct fields of an answer's details.
func (a *answer) fields() (names []string) {
	var body struct {
		Details []struct{ Field string }
	}
	_ = json.Unmarshal(a.body, &body)
	for _, d := range body.Details {
		names = append(names, d.Field)
	}
	slices.Sort(names)
	return names
}

// The format of a body, its meaning and the query are validated together (decisions.md section 1). For every route with
// a body the test has problems of different kinds, and exactly the fields that the answer must name.
func TestAllProblemsAtOnce(t *testing.T) {
	s := newServer(t, options{})
	soon, past := s.clock.now().UTC().Add(time.Hour).Format(time.RFC3339), "2001-01-01T00:00:00Z"
	issue := func(verb string) string { return openDowntime(verb, "")(s, caller{}).path }
	task, message, entry := someTask(s, caller{}).path, someMessage(s, caller{}).path, someProduction("undo")(s, caller{}).path
	schedule := someSchedule("")(s, caller{}).path
	rows := []struct{ method, path, body, fields string }{
		{"POST", "/user", `{"email":"no address","role":"owner"}`, "email role"},
		{"POST", "/user", `{"email":5,"role":"owner","x":1}`, "email role x"},
		{"PUT", "/user/member@people.example", `{"role":"owner","x":1}`, "role x"},
		{"POST", "/key", `{"name":5,"expiresAt":"` + past + `"}`, "expiresAt name"},
		{"POST", "/key?x=y", `{"name":"` + strings.Repeat("n", 65) + `","expiresAt":"` + past + `","role":"king"}`, "expiresAt name role x"},
		{"POST", "/device", `{"name":"a b","stationCodes":["PACK-1","NOPE","PACK-1",5]}`, "name stationCodes[1] stationCodes[2] stationCodes[3]"},
		{"POST", "/tablet", `{"name":"  ","role":"admin","stationCodes":["NOPE",5]}`, "name role stationCodes[0] stationCodes[1]"},
		{"POST", "/schedule", `{"stationCode":"NOPE","skuCode":"A1","plannedStartAt":"` + past + `","note":5,"x":1}`, "note plannedStartAt stationCode x"},
		{"POST", "/schedule?dryrun=maybe", `{"stationCode":"PACK-1","kind":"production","skuCode":5,"reasonCode":7,"plannedStartAt":"` + soon + `","autoEnd":true,"at":"` + past + `"}`, "at autoEnd dryrun reasonCode skuCode"},
		{"POST", schedule + "/move?dryrun=perhaps&x=1", `{"stationCode":"NOPE","plannedStartAt":"soon"}`, "dryrun plannedStartAt stationCode x"},
		{"POST", schedule + "/start?endrunning=maybe", `{"initials":"a!b","note":5,"stationCode":"NOPE","at":"` + past + `"}`, "at endrunning initials note stationCode"},
		{"POST", schedule + "/end?x=1", `{"initials":"a!b","note":5,"at":"` + past + `"}`, "at initials note x"},
		{"POST", "/quick-schedule?endrunning=maybe", `{"stationCode":"PACK-1","skuCode":"A1","plannedQuantity":-1,"initials":"  a ","at":"` + past + `","plannedEndAt":"` + past + `"}`, "at endrunning initials plannedEndAt plannedQuantity skuCode"},
		{"POST", "/production", `{"stationCode":"NOPE","good":"x","initials":"a\nb","at":"` + past + `"}`, "at good initials stationCode"},
		{"POST", "/production", `{"stationCode":"PACK-1","bad":"x","initials":"a\nb","y":1}`, "bad initials y"},
		{"POST", "/production", `{"stationCode":"PACK-1","good":-2,"initials":5}`, "good initials"},
		{"POST", entry, `{"initials":"\t\t\t","note":5,"at":"` + past + `"}`, "at initials note"},
		{"POST", "/issue", `{"stationCode":"NOPE","initials":"a b c","note":5,"endAt":"` + past + `"}`, "endAt initials note stationCode"},
		{"POST", "/issue", `{"stationCode":"PACK-2","causeCode":"CHG","startAt":"` + past + `","type":"stop"}`, "causeCode startAt type"},
		{"POST", issue("acknowledge"), `{"initials":"a-b","note":5,"at":"` + past + `"}`, "at initials note"},
		{"POST", issue("estimate"), `{"expectedEndAt":"` + past + `","note":5}`, "expectedEndAt note"},
		{"POST", issue("escalate"), `{"level":6,"initials":"a-b","at":"` + past + `"}`, "at initials level"},
		{"POST", issue("cause"), `{"causeCode":"CHG","partStartAt":"` + past + `","note":5}`, "causeCode note partStartAt"},
		{"POST", issue("split"), `{"parts":[{},{"causeCode":5},{"startAt":"` + past + `","causeCode":"CHG"}],"initials":"a-b"}`, "initials parts[1].causeCode parts[1].startAt parts[2].causeCode parts[2].startAt"},
		{"POST", issue("exclude"), `{"excluded":true,"initials":"a-b","at":"soon"}`, "at initials note"},
		{"POST", "/correction?dryrun=maybe", `{"stationCodes":["NOPE",5],"from":"2026-01-01T00:00:30Z","to":"2026-01-01T00:00:00Z","changes":{"skus":[{"code":"A1"}],"x":1},"note":5}`, "changes.skus[0] changes.x dryrun from note stationCodes[1] to"},
		{"POST", "/correction", strings.Replace(s.correctionOf(), `["PACK-1"]`, `["PACK-1","NOPE","PACK-1"],"x":1`, 1), "stationCodes[1] stationCodes[2] x"},
		{"POST", "/analysis/tuning?x=1", strings.Replace(s.correctionOf(), `["PACK-1"]`, `["NOPE"],"y":1`, 1), "stationCodes[0] x y"},
		{"POST", "/task-list/clean/start", `{"stationCode":"NOPE","initials":"a b","at":"` + past + `","x":1}`, "at initials stationCode x"},
		{"POST", task, `{"initials":"a b","note":5,"x":1}`, "initials note x"},
		{"POST", "/message", `{"stationCode":"NOPE","text":" ","initials":"a b","x":1}`, "initials stationCode text x"},
		{"POST", message, `{"initials":"a b","at":"` + past + `","x":1}`, "at initials x"},
		{"POST", "/station/PACK-1/alert", `{"message":" ","expiresAt":"soon"}`, "expiresAt message"},
		{"POST", "/station/PACK-1/operator?x=1", `{"initials":5}`, "initials x"},
		{"PUT", "/appliance/backup-settings?x=1", `{"every":-1}`, "every x"},
		{"POST", "/auth/account?x=1", `{"accountId":5}`, "accountId x"},
		{"POST", "/auth/login?x=1", `{"destination":"no address","y":1}`, "destination x y"},
		{"POST", "/auth/login", `{"destination":5,"y":1}`, "destination y"},
		{"POST", "/auth/approve?x=1", `{"token":"","code":"1234","y":1}`, "code token x y"},
		{"POST", "/account", `{"currency":"XXX","dashboardConfig":"[]","uploadTransforms":"a: ("}`, "currency dashboardConfig uploadTransforms.a"},
		{"PUT", "/account/manifest?x=1&dryrun=maybe", acme, "dryrun x"},
		{"DELETE", "/session?x=1&keepthis=maybe", "", "keepthis x"},
	}
	tried := map[string]bool{}
	for _, row := range rows {
		got := s.do(ask{method: row.method, path: row.path, body: row.body, key: s.roleKey(auth.Admin)})
		if want := strings.Fields(row.fields); got.status != 400 || !slices.Equal(got.fields(), want) {
			t.Errorf("%s %s %s: %d, details of %q, want %q: %s", row.method, row.path, row.body, got.status, got.fields(), want, got.body)
		}
		path, _, _ := strings.Cut(row.path, "?")
		for _, rt := range s.routes {
			tried[rt.Method+" "+rt.Path] = tried[rt.Method+" "+rt.Path] || rt.Method == row.method && like(rt.Path, path)
		}
	}
	for _, rt := range s.routes {
		if name := rt.Method + " " + rt.Path; rt.Body && !tried[name] && rt.Path != "/setup" {
			t.Errorf("no row for %s", name)
		}
	}
	if list := s.do(ask{path: "/production", key: s.roleKey(auth.Admin)}); list.at("paging", "totalElements") != 1.0 {
		t.Errorf("what was refused is there: %s", list.body)
	}
}

// The same for POST /setup of an empty appliance. A wrong code must not change the problems, because they would
// otherwise reveal whether a code is right.
func TestAllProblemsOfASetupAtOnce(t *testing.T) {
	s := newServer(t, options{empty: true})
	moved := func(old, changed string) string { return strings.Replace(acme, old, changed, 1) }
	rows := []struct{ path, body, fields string }{
		{"/setup", `{"code":%q,"domain":"no domain","email":"no address","role":"owner"}`, "domain email role"},
		{"/setup", `{"code":%q,"domain":5,"email":"no address","signIn":"yes"}`, "domain email signIn"},
		{"/setup", `{"code":%q,"email":"no address"}`, "domain email"},
		{"/setup", `{"code":%q,"domain":"ab.example","email":5}`, "email id"},
		{"/setup?dryrun=maybe&x=1", `{"code":%q,"domain":"no domain","email":"no address","id":"A B"}`, "domain dryrun email id x"},
		{"/setup", `{"code":%q,"domain":"plant.example","email":"no address","plant":{"name":5,"timezone":"Leeds","groups":51}}`, "email plant.groups plant.name plant.timezone"},
		{"/setup", `{"code":%q,"domain":"plant.example","email":"a@plant.example","plant":{"name":"P","timezone":"Leeds"},"manifest":5}`, "manifest plant.timezone"},
		{"/setup", `{"code":%q,"domain":5,"email":"no address","manifest":` + moved("Europe/Berlin", "Berlin") + `}`, "account.plants[0].timezone domain email"},
		{"/setup", `{"code":%q,"domain":"no domain","email":5,"plant":{},"manifest":` + moved(`"id":`, `"createdAt":"soon","id":`) + `}`, "account.createdAt domain email plant.name plant.timezone"},
	}
	for _, row := range rows {
		for _, code := range []string{s.setupCode, "wrong"} {
			got := s.do(ask{method: "POST", path: row.path, body: strings.Replace(row.body, "%q", strconv.Quote(code), 1)})
			if want := strings.Fields(row.fields); got.status != 400 || !slices.Equal(got.fields(), want) {
				t.Errorf("%s %s: %d, details of %q, want %q: %s", row.path, row.body, got.status, got.fields(), want, got.body)
			}
		}
	}
	if n := len(s.Accounts.List(true)); n != 0 || s.setupCode == "" {
		t.Errorf("what was refused made %d accounts", n)
	}
}

// All problems with the query of a read are reported together, too.
func TestAllProblemsOfAQueryAtOnce(t *testing.T) {
	s := newServer(t, options{})
	rows := []struct{ path, query, fields string }{
		{"/station", "plantcode=x&groupcode=y&stationcodes=z,PACK-1,q&archived=maybe", "archived groupcode plantcode stationcodes stationcodes"},
		{"/schedule", "state=gone&limit=0&skip=-1&plantcode=x&archived=1&from=soon&to=later", "archived from limit plantcode skip state to"},
		{"/production", "limit=0&skip=-1&stationcodes=x&to=2026-11-20", "from limit skip stationcodes"},
		{"/issue", "type=jam&open=yes&uncaused=1&limit=1001&from=soon&groupcode=x", "from groupcode limit open type uncaused"},
		{"/task", "state=gone&limit=0&stationcode=x&from=soon&plantcode=y", "from limit plantcode state stationcode"},
		{"/message", "limit=0&open=perhaps&stationcodes=x", "limit open stationcodes"},
		{"/oee", "by=colour&profile=best&from=soon&plantcode=x", "by from plantcode profile"},
		{"/energy", "by=colour&rangecode=ever&archived=x", "archived by rangecode"},
		{"/pareto", "from=soon&to=later&plantcode=x", "from plantcode to"},
		{"/analysis/cycletime", "from=soon&plantcode=x", "from plantcode"},
		{"/analysis/standstill", "limit=0&from=soon", "from limit stationcode"},
		{"/timeline", "points=0&stationcode=x&archived=maybe", "archived from points stationcode"},
		{"/station-window", "resolution=year&limit=0&stationcodes=x", "from limit resolution stationcodes"},
		{"/export/windows", "resolution=year&stationcodes=x", "from resolution stationcodes"},
		{"/signal", "limit=0&skip=-1&stationcode=x&from=2026-01-01&to=2026-11-01", "from limit skip stationcode"},
		{"/audit", "limit=0&skip=-1&before=x&from=soon&to=later&search=" + strings.Repeat("s", 201), "before from limit search skip to"},
		{"/audit/export", "from=soon&to=later", "from to"},
		{"/events", "types=weather&stationcodes=x&plantcode=y", "plantcode stationcodes types"},
		{"/cron", "pattern=x&timezone=Moon&count=0", "count pattern timezone"},
		{"/appliance/log", "level=loud&before=x&limit=0", "before level limit"},
		{"/account/manifest/revisions", "limit=0&skip=-1", "limit skip"},
		{"/correction", "limit=0&skip=-1", "limit skip"},
		{"/refused", "limit=0&skip=-1", "limit skip"},
	}
	tried := map[string]bool{}
	for _, row := range rows {
		got := s.do(ask{path: row.path + "?" + row.query, key: s.roleKey(auth.Admin)})
		if want := strings.Fields(row.fields); got.status != 400 || !slices.Equal(got.fields(), want) {
			t.Errorf("%s?%s: %d, details of %q, want %q: %s", row.path, row.query, got.status, got.fields(), want, got.body)
		}
		for _, rt := range s.routes {
			tried[rt.Path] = tried[rt.Path] || rt.Method == "GET" && like(rt.Path, row.path)
		}
	}
	for _, rt := range s.routes {
		if rt.Method == "GET" && len(rt.Query) > 1 && !tried[rt.Path] && rt.Access != rest.Open {
			t.Errorf("no row for GET %s", rt.Path)
		}
	}
}

// like reports whether a path matches the pattern of a route.
func like(pattern, path string) bool {
	parts, of := strings.Split(pattern, "/"), strings.Split(path, "/")
	return len(parts) == len(of) && !slices.ContainsFunc(parts, func(p string) bool {
		i := slices.Index(parts, p)
		return p != of[i] && !strings.HasPrefix(p, ":")
	})
}

// No value of any property causes an internal error.
func TestAnyValueIsAnswered(t *testing.T) {
	apptest.Long(t)
	for _, rt := range newServer(t, options{}).routes {
		if !rt.Body || rt.Access == rest.Open {
			continue
		}
		s := newServer(t, options{})
		key := s.roleKey(auth.Admin)
		a := samples[rt.Method+" "+rt.Path].call(s, rt.Method, caller{email: mailOf(auth.Admin)})
		a.key = key
		var body map[string]any
		if a.body != "" {
			s.must(nil, json.Unmarshal([]byte(a.body), &body))
		}
		for name, was := range body {
			for _, value := range []any{5, -1.5, 1e300, "", "x", strings.Repeat("x", 2000), true, nil, []any{}, []any{5, nil}, map[string]any{}, map[string]any{"x": 5}} {
				body[name] = value
				b, err := json.Marshal(body)
				s.must(nil, err)
				if a.body = string(b); rt.Path != "/auth/account" {
					got := s.do(a)
					s.noteSecrets("", got)
					if got.status >= 500 {
						t.Errorf("%s %s %.200s: %d", rt.Method, rt.Path, a.body, got.status)
					}
				}
			}
			body[name] = was
		}
	}
}
