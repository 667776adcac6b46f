package httpapi

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/auth"
)

// Admins preview, make, list and undo a correction (monitoring.md section 8).
func TestCorrections(t *testing.T) {
	s := newServer(t, options{})
	admin := s.roleKey(auth.Admin)
	body := s.correctionOf()
	look := s.do(ask{method: "POST", path: "/correction?dryrun=true", key: admin, body: body}).want(t, 200)
	if look.at("result", "correction") != nil || look.at("result", "effects", "0", "stationCode") != "PACK-1" || look.at("result", "complete") != true || look.header.Get("Location") != "" {
		t.Errorf("%s", look.body)
	}
	if list := s.do(ask{method: "GET", path: "/correction", key: admin}).want(t, 200); list.at("paging", "totalElements") != 0.0 {
		t.Errorf("a look was stored: %s", list.body)
	}
	made := s.do(ask{method: "POST", path: "/correction", key: admin, body: body}).want(t, 200)
	if left, ok := made.at("result", "computing").([]any); !ok || len(left) != 0 {
		t.Errorf("the figures do not follow yet: %s", made.body)
	}
	if made.at("result", "correction", "id") != "1" || made.at("result", "correction", "changes", "station", "minimumCycleTime") != 5.0 || made.header.Get("Location") != "/correction/1" {
		t.Errorf("%s", made.body)
	}
	s.do(ask{method: "POST", path: "/correction/1/undo?dryrun=true", key: admin}).want(t, 200)
	undone := s.do(ask{method: "POST", path: "/correction/1/undo", key: admin}).want(t, 200)
	if undone.at("result", "correction", "undoneBy") != mailOf(auth.Admin) || undone.at("result", "correction", "undoneAt") == nil {
		t.Errorf("%s", undone.body)
	}
	s.do(ask{method: "POST", path: "/correction/1/undo", key: admin}).want(t, 409)
	s.do(ask{method: "POST", path: "/correction/2/undo", key: admin}).want(t, 404)
	if list := s.do(ask{method: "GET", path: "/correction", key: admin}).want(t, 200); list.at("results", "0", "id") != "1" {
		t.Errorf("%s", list.body)
	}
	for _, bad := range [][2]string{
		{`"minimumCycleTime":5`, `"minimumCycleTime":-1`},
		{`"minimumCycleTime":5`, `"name":"Press"`},
		{`{"station":{"minimumCycleTime":5}}`, `{}`},
		{`["PACK-1"]`, `["PACK-9"]`},
		{`["PACK-1"]`, `[]`},
		{`"note":"n"`, `"note":"` + strings.Repeat("n", 201) + `"`},
	} {
		s.do(ask{method: "POST", path: "/correction", key: admin, body: strings.Replace(body, bad[0], bad[1], 1)}).want(t, 400)
	}
	s.do(ask{method: "POST", path: "/correction?dryrun=maybe", key: admin, body: body}).want(t, 400)
	s.do(ask{method: "POST", path: "/correction?dry-run=true", key: admin, body: body}).want(t, 400)
}

// A correction whose answer was lost is repeated with its key: it is made once, and undone once.
func TestACorrectionIsMadeOnce(t *testing.T) {
	s := newServer(t, options{})
	body, admin := s.correctionOf(), s.roleKey(auth.Admin)
	send := func(key, path, body string) *answer {
		t.Helper()
		return s.do(ask{method: "POST", path: path, key: admin, body: body, header: map[string]string{"Idempotency-Key": key}})
	}
	total := func() any {
		t.Helper()
		return s.do(ask{method: "GET", path: "/correction", key: admin}).want(t, 200).at("paging", "totalElements")
	}
	send("make", "/correction?dryrun=true", body).want(t, 200) // does not use the key
	first := send("make", "/correction", body).want(t, 200)
	s.clock.advance(time.Minute)
	again := send("make", "/correction", body).want(t, 200)
	same := func(a, b *answer) bool { return cmp.Equal(a.at("result", "correction"), b.at("result", "correction")) }
	if !same(again, first) || again.header.Get("Location") != "/correction/1" || total() != 1.0 {
		t.Errorf("of %v corrections the first is %s, the same one again %s", total(), first.body, again.body)
	}
	send("make", "/correction", strings.Replace(body, `"n"`, `"m"`, 1)).want(t, 409)
	send("a b", "/correction", body).wantDetail(t, "Idempotency-Key", "printable")
	if total() != 1.0 {
		t.Errorf("what was refused is among %v corrections", total())
	}
	undone := send("undo", "/correction/1/undo", "").want(t, 200)
	if again := send("undo", "/correction/1/undo", "").want(t, 200); !same(again, undone) || again.at("result", "correction", "undoneAt") == nil {
		t.Errorf("undone is %s, and again %s", undone.body, again.body)
	}
	send("undo-2", "/correction/1/undo", "").want(t, 409)
	if again := send("make", "/correction", body).want(t, 200); !same(again, first) || total() != 1.0 {
		t.Errorf("made again once it is undone: %s", again.body)
	}
	if made := send("", "/correction", body); made.status == 200 {
		t.Errorf("an empty key passes: %s", made.body)
	}
}

// Refused writes of the floor are recorded for supervisors. A refused correction is not: its author saw the answer, and
// supervisors make no corrections.
func TestARefusedCorrectionIsNotKept(t *testing.T) {
	s := newServer(t, options{})
	body, supervisor := s.correctionOf(), s.roleKey(auth.Supervisor)
	for _, ask := range []ask{
		{method: "POST", path: "/correction", key: s.roleKey(auth.Admin), body: `{}`},
		{method: "POST", path: "/correction", key: s.roleKey(auth.Operator), body: body},
		{method: "POST", path: "/correction/7/undo", key: s.roleKey(auth.Admin)},
	} {
		ask.header = map[string]string{"Idempotency-Key": "k"}
		if a := s.do(ask); a.status < 400 || a.status > 499 {
			t.Errorf("%s is answered %d", ask.path, a.status)
		}
	}
	if kept := s.do(ask{path: "/refused", key: supervisor}).want(t, 200); kept.at("paging", "totalElements") != 0.0 {
		t.Errorf("kept are %s", kept.body)
	}
}
