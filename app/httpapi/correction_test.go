package httpapi

import (
	"strings"
	"testing"

	"opsmon/app/auth"
)

// A correction is looked at, made, listed and undone by admins (monitoring.md section 8).
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
