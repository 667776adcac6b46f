package httpapi

import (
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
)

// The note of a station is part of every answer about the station, but not of the manifest (monitoring.md section 10).
func TestBoardShows(t *testing.T) {
	s := newServer(t, options{live: true})
	s.must(nil, s.Floor.Pass("acme"))
	supervisor := s.roleKey(auth.Supervisor)
	operator := supervisor // a supervisor may do what an operator may, at every station
	revision := s.do(ask{method: "GET", path: "/account/manifest", key: operator}).want(t, 200).header.Get("Etag")
	until := s.clock.now().Add(24 * time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
	a := s.do(ask{method: "POST", path: "/station/PACK-1/operator", key: operator, body: `{"initials":"ABC"}`}).want(t, 200)
	if a.at("result", "currentOperatorInitials") != "ABC" || a.at("result", "alertMessage") != nil {
		t.Errorf("%s", a.body)
	}
	a = s.do(ask{method: "POST", path: "/station/PACK-1/alert", key: supervisor, body: `{"message":"Mind the <step>","expiresAt":"` + until + `"}`}).want(t, 200)
	shows := func(what string, at func(name string) any, want map[string]any) {
		t.Helper()
		for name, value := range want {
			if got := at(name); got != value {
				t.Errorf("%s: %s is %v, want %v", what, name, got, value)
			}
		}
	}
	up := map[string]any{"currentOperatorInitials": "ABC", "alertMessage": "Mind the <step>", "alertExpiresAt": until}
	shows("the answer", func(name string) any { return a.at("result", name) }, up)
	up["statusCode"] = "disconnected"
	one := s.do(ask{method: "GET", path: "/station/PACK-1", key: operator}).want(t, 200)
	shows("GET /station/PACK-1", func(name string) any { return one.at("result", name) }, up)
	all := s.do(ask{method: "GET", path: "/station?stationcodes=PACK-1", key: operator}).want(t, 200)
	shows("GET /station", func(name string) any { return all.at("results", "0", name) }, up)
	path := []string{"result", "manifest", "account", "plants", "0", "stationGroups", "0", "stations", "0"}
	account := s.do(ask{method: "GET", path: "/account", key: operator}).want(t, 200)
	shows("GET /account", func(name string) any { return account.at(append(path, name)...) }, up)
	if account.at("result", "cursors", "0", "type") != "signals" {
		t.Errorf("cursors: %v", account.at("result", "cursors"))
	}
	bare := s.do(ask{method: "GET", path: "/account/manifest", key: operator}).want(t, 200)
	if bare.header.Get("Etag") != revision || strings.Contains(string(bare.body), "Mind the") {
		t.Error("the manifest shows what is put up")
	}
	s.do(ask{method: "POST", path: "/account", key: s.roleKey(auth.Member), body: `{"currency":"USD"}`, header: map[string]string{"If-Match": account.header.Get("Etag")}}).want(t, 200)

	a = s.do(ask{method: "POST", path: "/station/PACK-1/operator", key: operator, body: `{"initials":null}`}).want(t, 200)
	b := s.do(ask{method: "POST", path: "/station/PACK-1/alert", key: supervisor, body: `{"message":null}`}).want(t, 200)
	if a.at("result", "currentOperatorInitials") != nil || b.at("result", "alertMessage") != nil || b.at("result", "alertExpiresAt") != nil {
		t.Errorf("%s, %s", a.body, b.body)
	}
	s.do(ask{method: "POST", path: "/station/PACK-1/alert", key: s.roleKey(auth.Operator), body: `{"message":"x"}`}).want(t, 403)
	s.do(ask{method: "POST", path: "/station/PACK-9/operator", key: operator, body: `{"initials":"ABC"}`}).want(t, 404)
}

// A station that has left the manifest is only included if archived ones are requested (monitoring.md section 10).
func TestArchivedStations(t *testing.T) {
	s := newServer(t, options{})
	key, member := s.roleKey(auth.Readonly), s.roleKey(auth.Member)
	document := string(s.do(ask{method: "GET", path: "/account/manifest", key: key}).want(t, 200).body)
	s.do(ask{method: "PUT", path: "/account/manifest", key: member, body: strings.ReplaceAll(document, `"PACK-2"`, `"PACK-7"`)}).want(t, 200)
	s.must(nil, s.Floor.Pass("acme"))
	codes := func(query string) (list []string) {
		a := s.do(ask{method: "GET", path: "/station" + query, key: key}).want(t, 200)
		for _, v := range a.at("results").([]any) {
			station := v.(map[string]any)
			code := station["stationCode"].(string)
			if station["archived"] == true {
				code += " archived"
			}
			list = append(list, code)
		}
		return list
	}
	if got := codes(""); slices.Contains(got, "PACK-2") || slices.Contains(got, "PACK-2 archived") || !slices.Contains(got, "PACK-7") {
		t.Errorf("without archived: %q", got)
	}
	if got := codes("?archived=true"); got[len(got)-1] != "PACK-2 archived" || !slices.Contains(got, "PACK-7") {
		t.Errorf("with archived: %q", got)
	}
	if got := codes("?archived=true&stationcodes=PACK-2"); len(got) != 1 || got[0] != "PACK-2 archived" {
		t.Errorf("by its code: %q", got)
	}
	s.do(ask{method: "GET", path: "/station?stationcodes=PACK-2", key: key}).want(t, 400)
	s.do(ask{method: "GET", path: "/station?archived=yes", key: key}).want(t, 400)
}
