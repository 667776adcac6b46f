package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/auth"
	"opsmon/app/deliver/event"
	"opsmon/app/instant"
)

// tablet pairs a tablet and returns its session.
func (s *server) tablet(name string, stationCodes ...string) (session string) {
	s.t.Helper()
	codes, err := json.Marshal(stationCodes)
	s.must(nil, err)
	made := s.do(ask{method: "POST", path: "/tablet", body: fmt.Sprintf(`{"name":%q,"role":"operator","stationCodes":%s}`, name, codes), key: s.roleKey(auth.Admin)}).want(s.t, 200)
	_, token, found := strings.Cut(made.text("result", "link"), "#")
	if !found {
		s.t.Fatalf("no link in %s", made.body)
	}
	return s.hide(s.do(ask{method: "GET", path: "/auth/callback?token=" + s.hide(token)}).want(s.t, 200).cookies["session"].Value)
}

// Two tablets at one station write messages for the next shift, and each sees what the other does.
func TestMessages(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	reader, now := s.roleKey(auth.Readonly), s.clock.now().UnixMilli()
	one, two, other := s.tablet("Hall 1", "PACK-1"), s.tablet("Hall 2", "PACK-1", "PACK-2"), s.tablet("Hall 3", "PACK-2")
	seen := s.listen(ask{path: "/events?types=message&stationcodes=PACK-1", session: two})
	<-seen.blocks
	post := func(session, key, body string) *answer {
		t.Helper()
		return s.do(ask{method: "POST", path: "/message", body: body, session: session, header: map[string]string{"Idempotency-Key": key}})
	}
	first := post(one, "k1", `{"stationCode":"PACK-1","text":"Feeder jams","initials":"ANN","at":"`+instant.FormatMs(now-3600_000)+`"}`).want(t, 200)
	holds(t, first, map[string]any{"result.text": "Feeder jams", "result.initials": "ANN", "result.at": instant.FormatMs(now - 3600_000), "result.doneAt": nil, "result.doneBy": nil, "result.stationCode": "PACK-1"})
	if again := post(one, "k1", `{"stationCode":"PACK-1","text":"Feeder jams","initials":"ANN","at":"`+instant.FormatMs(now-3600_000)+`"}`).want(t, 200); again.text("result", "id") != first.text("result", "id") {
		t.Errorf("the same request left two messages: %s", again.body)
	}
	told := <-seen.blocks
	if want, _ := json.Marshal(first.at("result")); !strings.Contains(told, "event: "+string(event.Message)) || !sameJSON(t, strings.SplitN(told, "data: ", 2)[1], string(want)) {
		t.Errorf("told is %s, want %s", told, want)
	}
	second := post(two, "k1", `{"stationCode":"PACK-2","text":"Line 1\nLine 2","initials":"BOB"}`).want(t, 200)

	list := func(query string) (ids []string) {
		t.Helper()
		for _, m := range s.do(ask{method: "GET", path: "/message" + query, key: reader}).want(t, 200).at("results").([]any) {
			ids = append(ids, m.(map[string]any)["id"].(string))
		}
		return ids
	}
	a, b := first.text("result", "id"), second.text("result", "id")
	for query, want := range map[string][]string{"": {b, a}, "?limit=1": {b}, "?stationcodes=PACK-1": {a}, "?plantcode=north&groupcode=packing": {b, a}, "?groupcode=meters": nil} {
		if diff := cmp.Diff(want, list(query)); diff != "" {
			t.Errorf("GET /message%s (-want +got):\n%s", query, diff)
		}
	}

	path := "/message/" + a + "/done"
	s.do(ask{method: "POST", path: path, body: `{"initials":"CYD"}`, session: other}).want(t, 403)
	s.do(ask{method: "POST", path: path, body: `{"initials":"CYD","at":"` + instant.FormatMs(now-3600_001) + `"}`, session: two}).wantDetail(t, "at", "before the message was written")
	done := s.do(ask{method: "POST", path: path, body: `{"initials":"CYD"}`, session: two}).want(t, 200)
	holds(t, done, map[string]any{"result.doneBy": "CYD", "result.id": a})
	if told := <-seen.blocks; !strings.Contains(told, `"doneBy":"CYD"`) {
		t.Errorf("told is %s", told)
	}
	for query, want := range map[string][]string{"?open=true": {b}, "?open=false": {a}, "?open=true&limit=1": {b}, "?open=false&limit=1": {a}, "?open=true&stationcodes=PACK-1": nil, "": {b, a}} {
		if diff := cmp.Diff(want, list(query)); diff != "" {
			t.Errorf("GET /message%s (-want +got):\n%s", query, diff)
		}
	}
	s.do(ask{method: "GET", path: "/message?open=yes", key: reader}).wantDetail(t, "open", "must be true or false")
	late := s.do(ask{method: "POST", path: path, body: `{"initials":"DAN","at":"` + instant.FormatMs(now-1800_000) + `"}`, session: one}).want(t, 200)
	if late.text("result", "doneBy") != "CYD" {
		t.Errorf("it was done twice: %s", late.body)
	}

	for i, tt := range []struct {
		session, body string
		status        int
		field         string
	}{
		{other, `{"stationCode":"PACK-1","text":"x","initials":"ANN"}`, 403, ""},
		{one, `{"stationCode":"PACK-1","text":" \n ","initials":"ANN"}`, 400, "text"},
		{one, `{"stationCode":"PACK-1","text":"` + strings.Repeat("é", 501) + `","initials":"ANN"}`, 400, "text"},
		{one, `{"stationCode":"PACK-1","text":"x","initials":"AN"}`, 400, "initials"},
		{one, `{"stationCode":"PACK-1","text":"x","initials":"ANN","at":"` + instant.FormatMs(now-25*3600_000) + `"}`, 400, "at"},
		{one, `{"stationCode":"PACK-1","text":"x","initials":"ANN","at":"` + instant.FormatMs(now+3600_000) + `"}`, 400, "at"},
	} {
		got := post(tt.session, fmt.Sprint("bad-", i), tt.body)
		if tt.field != "" {
			got.wantDetail(t, tt.field, "")
		}
		got.want(t, tt.status)
	}
	s.do(ask{method: "POST", path: "/message", body: `{"stationCode":"PACK-9","text":"x","initials":"ANN"}`, key: s.roleKey(auth.Supervisor)}).wantDetail(t, "stationCode", "no station has this code")
	for _, id := range []string{"nothing", "PACK-1.1.1", "%2F"} {
		s.do(ask{method: "POST", path: "/message/" + id + "/done", body: `{"initials":"ANN"}`, key: s.roleKey(auth.Supervisor)}).want(t, 404)
	}
	if ids := list(""); len(ids) != 2 {
		t.Errorf("what was refused is kept: %v", ids)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(x, y)
}

// Messages are stored for 31 days, and at most 200 for each station.
func TestMessagesAreBounded(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Supervisor)
	left := func() int {
		return len(s.do(ask{method: "GET", path: "/message?limit=1000", key: key}).want(t, 200).at("results").([]any))
	}
	for i := range 203 {
		s.do(ask{method: "POST", path: "/message", body: fmt.Sprintf(`{"stationCode":"PACK-1","text":"%d","initials":"ANN"}`, i), key: key}).want(t, 200)
	}
	s.do(ask{method: "POST", path: "/message", body: `{"stationCode":"PACK-2","text":"x","initials":"ANN"}`, key: key}).want(t, 200)
	if n := left(); n != 201 {
		t.Errorf("%d messages are kept, want 200 and 1", n)
	}
	newest := s.do(ask{method: "GET", path: "/message?stationcodes=PACK-1&limit=1000", key: key}).want(t, 200).at("results").([]any)
	if text := newest[len(newest)-1].(map[string]any)["text"]; text != "3" {
		t.Errorf("the oldest that is kept is %v, want the fourth", text)
	}
	few := s.do(ask{method: "GET", path: "/message?limit=3", key: key}).want(t, 200).at("results").([]any)
	if all := s.do(ask{method: "GET", path: "/message?limit=1000", key: key}).want(t, 200).at("results").([]any); !cmp.Equal(few, all[:3]) {
		t.Errorf("the newest three are %v", few)
	}
	late := fmt.Sprintf(`{"stationCode":"PACK-1","text":"late","initials":"ANN","at":%q}`, s.clock.now().Add(-time.Hour).UTC().Format(time.RFC3339))
	s.do(ask{method: "POST", path: "/message", body: late, key: key}).want(t, 409)
	for _, tt := range []struct {
		days time.Duration
		want int
	}{{30, 201}, {32, 0}} {
		s.must(nil, s.Messages.Sweep(t.Context(), s.clock.now().Add(tt.days*24*time.Hour)))
		if n := left(); n != tt.want {
			t.Errorf("after %d days %d messages are kept, want %d", tt.days, n, tt.want)
		}
	}
}

// The profile of a tablet has its name and stations, other profiles do not.
func TestAProfileOfATablet(t *testing.T) {
	s := newServer(t, options{})
	holds(t, s.do(ask{method: "GET", path: "/auth/profile", session: s.tablet("Hall 1", "PACK-2", "PACK-1")}).want(t, 200), map[string]any{
		"result.tabletName": "Hall 1", "result.stationCodes.0": "PACK-2", "result.stationCodes.1": "PACK-1", "result.role": "operator",
	})
	if a := s.do(ask{method: "GET", path: "/auth/profile", key: s.roleKey(auth.Operator)}).want(t, 200); strings.Contains(string(a.body), "tabletName") || strings.Contains(string(a.body), "stationCodes") {
		t.Errorf("a person's profile is %s", a.body)
	}
}
