package httpapi

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/app/test/apptest"
	"opsmon/app/work/issue"
	"opsmon/kv"
)

// past returns an unused second of acme's past, ms: twenty hours ago or later.
func (s *server) past() int64 {
	return s.clock.now().Add(-20*time.Hour).Truncate(time.Second).UnixMilli() + 2000*s.from.Add(1)
}

func iso8601(ms int64) string { return instant.FormatMs(ms) }

func newDowntime(s *server, _ caller) ask {
	start := s.past()
	return ask{path: "/issue", body: `{"stationCode":"PACK-2","startAt":"` + iso8601(start) + `","endAt":"` + iso8601(start+1000) + `"}`}
}

// downtime records a manual downtime of a second at PACK-2 or, if open, returns the one in progress.
func (s *server) downtime(open bool) *issue.View {
	s.t.Helper()
	in := issue.CreateInput{StationCode: "PACK-2"}
	if open {
		list, _, err := s.Issues.List(s.t.Context(), "acme", issue.Query{Where: []issue.Where{{StationCode: "PACK-2", From: s.clock.now().Add(-24 * time.Hour).UnixMilli(), To: s.clock.now().UnixMilli() + 60_000}}, Open: &open, Limit: 1})
		s.must(nil, err)
		if len(list) > 0 {
			return list[0]
		}
	} else {
		start := instant.Of(time.UnixMilli(s.past()))
		end := instant.Of(start.Add(time.Second))
		in.StartAt, in.EndAt = &start, &end
	}
	var v *issue.View
	s.must(nil, s.Floor.Do("acme", func(w *floor.Work) (err error) {
		v, err = s.Issues.Manual(w, auth.Local("acme"), in)
		return err
	}))
	return v
}

// someDowntime sends a request about a manual downtime. SOON in the body is a moment within it, LATER one after it.
func someDowntime(verb, body string) func(*server, caller) ask {
	return func(s *server, _ caller) ask { return s.about(s.downtime(false), verb, body) }
}

func openDowntime(verb, body string) func(*server, caller) ask {
	return func(s *server, _ caller) ask { return s.about(s.downtime(true), verb, body) }
}

func (s *server) about(v *issue.View, verb, body string) ask {
	start := v.StartAt.UnixMilli()
	body = strings.NewReplacer("SOON", iso8601(start+500), "LATER", iso8601(s.clock.now().Add(time.Hour).UnixMilli())).Replace(body)
	return ask{path: "/issue/" + url.PathEscape(v.ID) + "/" + verb, body: body}
}

// TestStopOverHTTP sends a machine's signals, advances time, and applies every operation to the stop that they cause;
// the station's figures follow.
func TestStopOverHTTP(t *testing.T) {
	s := newServer(t, options{})
	operator, supervisor := s.roleKey(auth.Supervisor), s.roleKey(auth.Supervisor)
	device := s.roleKey(auth.Member)
	pass := func(d time.Duration) {
		t.Helper()
		for ; d > 0; d -= time.Minute {
			s.clock.advance(time.Minute)
			s.do(ask{method: "POST", path: "/signal", key: device, body: `{"signals":[{"stationCode":"PACK-2","rssi":-60}]}`}).want(t, 200)
		}
		s.must(nil, s.Floor.Pass("acme"))
	}
	send := func(signal string) {
		t.Helper()
		s.do(ask{method: "POST", path: "/signal", key: device, body: `{"signals":[{"stationCode":"PACK-2",` + signal + `}]}`}).want(t, 200)
		s.must(nil, s.Floor.Pass("acme"))
	}
	// Manual downtime over HTTP, in shift time or outside of it.
	text := func(a *answer, status int, part string) {
		t.Helper()
		if a.want(t, status); !strings.Contains(a.text("errorMessage"), part) {
			t.Errorf("answered %s, want %q", a.body, part)
		}
	}
	text(s.do(ask{method: "POST", path: "/issue", key: operator, body: `{"stationCode":"PACK-1"}`}), 403, "enableManualDowntime is off at station PACK-1: the station decides so")
	s.do(ask{method: "POST", path: "/issue", key: operator, body: `{"stationCode":"PACK-9"}`}).wantDetail(t, "stationCode", "must be a station of the account")
	s.do(ask{method: "POST", path: "/issue", key: operator, body: `{"stationCode":"KWH-1"}`}).wantDetail(t, "stationCode", "must be a station that produces; KWH-1 is an energy meter")
	send(`"productive":true`)
	s.do(ask{method: "POST", path: "/issue", key: operator, body: `{"stationCode":"PACK-2","type":"stop"}`}).wantDetail(t, "type", "must be manual")
	made := s.do(ask{method: "POST", path: "/issue", key: operator, body: `{"stationCode":"PACK-2","type":"manual","startAt":null,"endAt":null,"causeCode":"BRK","initials":"ABC","note":"a fuse"}`, header: map[string]string{"Idempotency-Key": "k1"}}).want(t, 200)
	again := s.do(ask{method: "POST", path: "/issue", key: operator, body: `{"stationCode":"PACK-2","type":"manual","startAt":null,"endAt":null,"causeCode":"BRK","initials":"ABC","note":"a fuse"}`, header: map[string]string{"Idempotency-Key": "k1"}}).want(t, 200)
	if string(made.body) != string(again.body) {
		t.Errorf("the same request has another answer: %s and %s", made.body, again.body)
	}
	id := made.text("result", "id")
	if made.at("result", "endAt") != nil || made.text("result", "causeCode") != "BRK" || made.text("result", "note") != "a fuse" || made.text("result", "events", "0", "initials") != "ABC" {
		t.Errorf("made is %s", made.body)
	}
	text(s.do(ask{method: "POST", path: "/issue", key: operator, body: `{"stationCode":"PACK-2"}`}), 409, id)
	pass(10 * time.Minute)
	status := s.do(ask{path: "/station?stationcodes=PACK-2", key: operator}).want(t, 200)
	if status.text("results", "0", "statusCode") != "manualDowntime" || status.text("results", "0", "issues", "0", "id") != id {
		t.Errorf("the station is shown as %s", status.body)
	}
	do := func(key, verb, body string) *answer {
		t.Helper()
		return s.do(ask{method: "POST", path: "/issue/" + id + "/" + verb, key: key, body: body})
	}
	do(operator, "acknowledge", `{"initials":"KLM"}`).want(t, 200)
	text(do(operator, "acknowledge", ""), 409, "acknowledged by KLM")
	later := iso8601(s.clock.now().Add(time.Hour).UnixMilli())
	if a := do(operator, "estimate", `{"expectedEndAt":"`+later+`"}`).want(t, 200); a.text("result", "estimate", "expectedEndAt") != later {
		t.Errorf("estimated: %s", a.body)
	}
	do(operator, "estimate", `{"expectedEndAt":"2020-01-01T00:00:00Z"}`).wantDetail(t, "expectedEndAt", "must lie after")
	if a := do(operator, "escalate", `{"level":2,"note":"call the fitter"}`).want(t, 200); a.at("result", "escalation", "level") != 2.0 || a.text("result", "escalation", "note") != "call the fitter" {
		t.Errorf("escalated: %s", a.body)
	}
	do(operator, "cause", `{"causeCode":"CHG"}`).wantDetail(t, "causeCode", "available at the station PACK-2")
	do(operator, "cause", `{"causeCode":"BRK-E","at":"`+later+`"}`).wantDetail(t, "at", "future")
	do(s.roleKey(auth.Operator), "exclude", `{"excluded":true,"note":"x"}`).want(t, 403)
	do(supervisor, "exclude", `{"excluded":true}`).wantDetail(t, "note", "must say why")
	do(supervisor, "exclude", `{"excluded":true,"note":"a visit"}`).want(t, 200)
	do(supervisor, "exclude", `{"excluded":false}`).want(t, 200)
	middle := iso8601(s.clock.now().Add(-5 * time.Minute).UnixMilli())
	split := do(operator, "split", `{"parts":[{"causeCode":"BRK-E"},{"startAt":"`+middle+`"}]}`).want(t, 200)
	first, second := split.at("result", "parts", "0", "durationMs").(float64), split.at("result", "parts", "1", "durationMs").(float64)
	if first+second != split.at("result", "durationMs") || split.at("result", "causeCode") != nil || split.at("result", "uncausedMs") != second {
		t.Errorf("split: %s", split.body)
	}
	do(operator, "cause", `{"causeCode":"BRK","partStartAt":"`+middle+`"}`).want(t, 200)
	ended := s.do(ask{method: "POST", path: "/issue", key: operator, body: `{"stationCode":"PACK-2","endAt":"` + iso8601(s.clock.now().UnixMilli()) + `"}`}).want(t, 200)
	if ended.text("result", "id") != id || ended.text("result", "endAt") == "" || ended.text("result", "parts", "1", "causeCode") != "BRK" || ended.at("result", "uncausedMs") != 0.0 {
		t.Errorf("ended: %s", ended.body)
	}
	text(do(operator, "estimate", `{"expectedEndAt":"`+later+`"}`), 409, "nothing is left to estimate")
	pass(time.Minute)

	// Lists by type, by state and by missing cause; none has stops of another account.
	count := func(query string) string {
		t.Helper()
		a := s.do(ask{path: "/issue?stationcodes=PACK-2&from=" + url.QueryEscape(iso8601(s.clock.now().Add(-time.Hour).UnixMilli())) + query, key: operator}).want(t, 200)
		return strconv.Itoa(len(a.at("results").([]any))) + " of " + fmt.Sprint(a.at("paging", "totalElements"))
	}
	for query, want := range map[string]string{"": "1 of 1", "&type=manual": "1 of 1", "&type=stop,slow": "0 of 0", "&open=true": "0 of 0", "&open=false": "1 of 1", "&uncaused=true": "0 of 0", "&skip=1": "0 of 1"} {
		if got := count(query); got != want {
			t.Errorf("%q lists %s, want %s", query, got, want)
		}
	}
	// A range is exact to the millisecond: it includes its start and excludes its end.
	began, over := url.QueryEscape(made.text("result", "startAt")), url.QueryEscape(ended.text("result", "endAt"))
	before := url.QueryEscape(iso8601(s.clock.now().Add(-2 * time.Hour).UnixMilli()))
	for query, want := range map[string]float64{"from=" + before + "&to=" + began: 0, "from=" + over: 0, "from=" + began + "&to=" + over: 1} {
		if a := s.do(ask{path: "/issue?stationcodes=PACK-2&" + query, key: operator}).want(t, 200); a.at("paging", "totalElements") != want {
			t.Errorf("%s lists %s, want %g", query, a.body, want)
		}
	}
	rows := s.do(ask{path: "/export/issues?stationcodes=PACK-2&from=" + url.QueryEscape(iso8601(s.clock.now().Add(-time.Hour).UnixMilli())), key: operator}).want(t, 200)
	if lines := strings.Split(strings.TrimSpace(string(rows.body)), "\r\n"); len(lines) != 3 || !strings.HasPrefix(lines[1], id+",manual,PACK-2,") || !strings.Contains(lines[1], ",BRK-E,person,false,") || !strings.Contains(lines[2], ",BRK,person,false,") || !strings.HasSuffix(lines[2], ",2,call the fitter,false,a fuse") {
		t.Errorf("exported is %s", rows.body)
	}
	for query, field := range map[string]string{"type=jam": "type", "open=yes": "open", "uncaused=1": "uncaused", "limit=1001": "limit", "from=2020-01-01&to=2019-01-01": "to", "from=1970-01-01": "from", "stationcodes=PACK-9": "stationcodes", "rangecode=ever": "rangecode"} {
		s.do(ask{path: "/issue?" + query, key: operator}).wantDetail(t, field, "")
	}
	bolt := s.key("bolt", "admin@bolt.example")
	s.do(ask{method: "POST", path: "/issue/" + id + "/cause", key: bolt, body: `{"causeCode":null}`}).want(t, 404)
	for _, bad := range []string{"x", "PACK-2.stop-1", "PACK-2.manual-1795680930000", "PACK-9.stop-1795680930000", "PACK-2.stop-99999999999999999999", "%00.stop-1"} {
		s.do(ask{method: "POST", path: "/issue/" + bad + "/cause", key: operator, body: `{"causeCode":"BRK"}`}).want(t, 404)
	}

	// Subscribers got an event for each, and the audit log has them.
	events, _ := s.Events.Since("acme", 0)
	told := 0
	for _, e := range events {
		if e.Type == "issue" && strings.Contains(string(e.Data), `"parts"`) {
			told++
		}
	}
	if told != 9 {
		t.Errorf("watchers were told %d times", told)
	}
	if page, err := s.listAudit("acme", audit.Query{Action: "issue.cause"}); err != nil || page.Total != 1 {
		t.Errorf("%d causes are in the audit: %v", page.Total, err)
	}
}

// TestHowManyStopsAreListed: the default is the largest number in one answer.
func TestHowManyStopsAreListed(t *testing.T) {
	apptest.Long(t)
	s := newServer(t, options{})
	for range 101 {
		s.downtime(false)
	}
	from := "&from=" + url.QueryEscape(iso8601(s.clock.now().Add(-21*time.Hour).UnixMilli()))
	for query, want := range map[string]int{"stationcodes=PACK-2": 101, "stationcodes=PACK-2&limit=100": 100} {
		a := s.do(ask{path: "/issue?" + query + from, key: s.roleKey(auth.Readonly)}).want(t, 200)
		if got := len(a.at("results").([]any)); got != want || a.at("paging", "totalElements") != 101.0 {
			t.Errorf("%s lists %d of %v, want %d", query, got, a.at("paging", "totalElements"), want)
		}
	}
}

// A tablet acts on its own stations, and must send initials.
func TestTabletsSpeak(t *testing.T) {
	s := newServer(t, options{})
	v := s.downtime(false)
	tablet := auth.Principal{Type: auth.TypeSession, Email: "tablet:line 1@acme.example", AccountID: "acme", Role: auth.Operator, StationCodes: []string{"PACK-1"}}
	say := func(p auth.Principal, initials string) error {
		target := s.Issues.Find("acme", v.ID)
		free := issue.New(issue.Config{Store: s.store, Detail: s.Floor.Detail, Authorize: func(_ *kv.Tx, p auth.Principal, need auth.Role) error {
			if !p.Role.AtLeast(need) {
				return errdefs.New(errdefs.Forbidden, "this needs the role %s", need)
			}
			return nil
		}, Clock: s.clock.now})
		return s.Floor.Do("acme", func(w *floor.Work) error {
			_, err := free.Acknowledge(w, p, target, issue.AcknowledgeInput{Entry: issue.Entry{Initials: initials}})
			return err
		})
	}
	if err := say(tablet, "ABC"); err == nil || !strings.Contains(err.Error(), "the stations that its tablet is bound to") {
		t.Errorf("a tablet of another station: %v", err)
	}
	tablet.StationCodes = []string{"PACK-2"}
	if err := say(tablet, ""); err == nil || !strings.Contains(err.Error(), "initials must be given") {
		t.Errorf("a tablet without initials: %v", err)
	}
	if err := say(tablet, "ABC"); err != nil {
		t.Errorf("a tablet: %v", err)
	}
}
