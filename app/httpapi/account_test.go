package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/auth"
	"opsmon/app/test/apptest"
	"opsmon/schema"
	"opsmon/schema/schematest"
)

// accountFieldsOf returns the fields of http-api.md 2.1 except cursors, warehouseConfig and manifest.
func accountFieldsOf() []string {
	names := []string{"id", "domain", "stationCountLimit", "electricalPricePerKwh", "electricalCo2PerKwh", "currency", "maxProductionCountPerSchedule",
		"dashboardConfig", "warehousePassword", "uploadTransforms", "durationFormat", "appUrls", "includeReasonCodes", "excludeReasonCodes",
		"includeTaskCodes", "excludeTaskCodes", "includeTaskListCodes", "excludeTaskListCodes", "createdAt", "updatedAt", "archivedAt"}
	for _, name := range schematest.Properties(schema.JSON(schema.AccountUpdate), "") {
		if strings.HasPrefix(name, "enable") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func keysOf(v any) []string {
	m, _ := v.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}

// GET /account returns every field, unset ones as null (decisions.md section 2).
func TestGetAccount(t *testing.T) {
	s := newServer(t, options{})
	a := s.do(ask{method: "GET", path: "/account", key: s.roleKey(auth.Readonly)}).want(t, 200)
	want := append(accountFieldsOf(), "cursors", "manifest")
	slices.Sort(want)
	if diff := cmp.Diff(want, keysOf(a.at("result"))); diff != "" {
		t.Error(diff)
	}
	for name, value := range map[string]any{
		"id": "acme", "domain": "acme.example", "currency": "EUR", "electricalPricePerKwh": 0.25, "stationCountLimit": nil, "enableTasks": "on",
		"enableHistoricalCorrection": nil, "warehousePassword": nil, "durationFormat": "hours",
	} {
		if got := a.at("result", name); got != value {
			t.Errorf("%s is %v, want %v", name, got, value)
		}
	}
	if diff := cmp.Diff([]any{}, a.at("result", "cursors")); diff != "" {
		t.Error(diff)
	}
	if a.at("result", "manifest", "version") != "v1" || a.text("result", "manifest", "account", "plants", "0", "code") != "north" {
		t.Errorf("%s", a.body)
	}
	document := s.do(ask{method: "GET", path: "/account/manifest", key: s.roleKey(auth.Readonly)}).want(t, 200)
	if diff := cmp.Diff(a.at("result", "manifest"), document.at()); diff != "" {
		t.Error(diff)
	}
}

// POST /account changes only the fields in its body, and both reads show the change (decisions.md section 2).
func TestPostAccount(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	post := func(body string) *answer { return s.do(ask{method: "POST", path: "/account", body: body, key: key}) }
	get := func() *answer { return s.do(ask{method: "GET", path: "/account", key: key}) }
	before := get()
	same := post(`{}`).want(t, 200)
	if diff := cmp.Diff(accountFieldsOf(), keysOf(same.at("result"))); diff != "" {
		t.Error(diff)
	}
	if got := get(); got.header.Get("Etag") != before.header.Get("Etag") || string(got.body) != string(before.body) {
		t.Error("{} changed something")
	}
	post(`{"currency":"EUR"}`).want(t, 200)
	if got := get(); got.header.Get("Etag") != before.header.Get("Etag") {
		t.Error("the value that was there changed something")
	}
	changed := post(`{"currency":"USD","electricalPricePerKwh":1e0,"dashboardConfig":"{\"a\":[1,2.50]}","includeReasonCodes":["BRK","NOT-YET"],"enableTasks":null,
		"maxProductionCountPerSchedule":1e3,"durationFormat":"days","uploadTransforms":"station: $uppercase(code)"}`).want(t, 200)
	after := get()
	for _, name := range accountFieldsOf() {
		if diff := cmp.Diff(changed.at("result", name), after.at("result", name)); diff != "" {
			t.Errorf("%s: POST and GET differ: %s", name, diff)
		}
	}
	for _, name := range []string{"currency", "electricalPricePerKwh", "dashboardConfig", "includeReasonCodes", "maxProductionCountPerSchedule", "durationFormat", "uploadTransforms"} {
		if diff := cmp.Diff(after.at("result", name), after.at("result", "manifest", "account", name)); diff != "" {
			t.Errorf("%s: account and manifest differ: %s", name, diff)
		}
	}
	if after.at("result", "enableTasks") != nil || after.at("result", "electricalCo2PerKwh") != nil || after.at("result", "enableManualDowntime") != "on" {
		t.Errorf("%s", after.body)
	}
	post(`{"dashboardConfig":null,"includeReasonCodes":null,"uploadTransforms":null,"currency":null}`).want(t, 200)
	if got := get(); got.at("result", "dashboardConfig") != nil || got.at("result", "currency") != nil {
		t.Errorf("null does not clear: %.500s", got.body)
	}
}

func TestPostAccountRefusals(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	for _, tt := range []struct{ body, field, part string }{
		{`{"currency":"CHF"}`, "currency", "GBP"},
		{`{"currency":"usd"}`, "currency", "GBP"},
		{`{"enableTasks":"inherit"}`, "enableTasks", "on"},
		{`{"enableTasks":true}`, "enableTasks", ""},
		{`{"electricalPricePerKwh":1000}`, "electricalPricePerKwh", "1000"},
		{`{"electricalPricePerKwh":-0.1}`, "electricalPricePerKwh", "0"},
		{`{"electricalCo2PerKwh":1e3}`, "electricalCo2PerKwh", "1000"},
		{`{"maxProductionCountPerSchedule":0}`, "maxProductionCountPerSchedule", "0"},
		{`{"maxProductionCountPerSchedule":10000000}`, "maxProductionCountPerSchedule", "9999999"},
		{`{"maxProductionCountPerSchedule":1.5}`, "maxProductionCountPerSchedule", "whole"},
		{`{"durationFormat":null}`, "durationFormat", "months"},
		{`{"durationFormat":"years"}`, "durationFormat", "months"},
		{`{"resetWarehousePassword":null}`, "resetWarehousePassword", "true or false"},
		{`{"dashboardConfig":{"a":1}}`, "dashboardConfig", "text"},
		{`{"dashboardConfig":"[]"}`, "dashboardConfig", "object"},
		{`{"dashboardConfig":"{"}`, "dashboardConfig", "line 1, column 2"},
		{`{"uploadTransforms":"a: $sum("}`, "uploadTransforms.a", ""},
		{`{"includeReasonCodes":["a",7]}`, "includeReasonCodes[1]", ""},
		{`{"enableTask":"on"}`, "enableTask", "did you mean enableTasks?"},
		{`{"enableMeterOnly":"on"}`, "enableMeterOnly", "is not a known field"},
		{`{"id":"x"}`, "id", "is not a known field"},
		{`{"stationCountLimit":5}`, "stationCountLimit", "is not a known field"},
		{`{"includeTaskCodes":[]}`, "includeTaskCodes", "did you mean"},
	} {
		s.do(ask{method: "POST", path: "/account", body: tt.body, key: key}).wantDetail(t, tt.field, tt.part)
	}
	for _, body := range []string{`null`, `[]`, `"x"`, `7`, `true`} {
		s.do(ask{method: "POST", path: "/account", body: body, key: key}).want(t, 400)
	}
	all := s.do(ask{method: "POST", path: "/account", body: `{"currency":"CHF","durationFormat":"years","enableTask":1,"electricalPricePerKwh":-1}`, key: key}).want(t, 400)
	if len(all.details()) != 4 {
		t.Errorf("not all problems at once: %s", all.body)
	}
	var many strings.Builder
	for i := range 250 {
		fmt.Fprintf(&many, `%s"x%d":1`, strings.Repeat(",", min(i, 1)), i)
	}
	capped := s.do(ask{method: "POST", path: "/account", body: "{" + many.String() + "}", key: key}).want(t, 400)
	if d := capped.details(); len(d) != 101 || !strings.Contains(d[100].Issue, "150 more") {
		t.Errorf("%d details: %v", len(d), d[len(d)-1])
	}
	if got := s.do(ask{method: "GET", path: "/account/manifest/revisions", key: key}); got.at("paging", "totalElements") != 1.0 {
		t.Errorf("something was written: %s", got.body)
	}
}

// The password of the warehouse is only shown to admins, and never in a document or a revision.
func TestWarehousePassword(t *testing.T) {
	apptest.Long(t)
	s := newServer(t, options{})
	admin := s.roleKey(auth.Admin)
	a := s.do(ask{method: "POST", path: "/account", body: `{"resetWarehousePassword":true}`, key: admin}).want(t, 200)
	password := a.text("result", "warehousePassword")
	s.hide(password)
	again := s.do(ask{method: "POST", path: "/account", body: `{"resetWarehousePassword":false}`, key: admin}).want(t, 200)
	if again.text("result", "warehousePassword") != password {
		t.Error("false does something")
	}
	for _, role := range roles {
		key, session := s.roleKey(role), s.session("acme", mailOf(role))
		for _, a := range []ask{{key: key}, {session: session}, {key: key, header: map[string]string{"Accept-Encoding": "gzip"}}} {
			for _, path := range []string{"/account", "/account/manifest", "/account/manifest/revisions/1", "/account/manifest/revisions/2", "/audit", "/station/PACK-1", "/auth/profile", "/metrics"} {
				a.method, a.path = "GET", path
				got := s.do(a)
				if seen := strings.Contains(string(got.body), password); seen != (role == auth.Admin && path == "/account") {
					t.Errorf("%s sees the password at %s: %v", role, path, seen)
				}
			}
		}
		if role == auth.Member {
			if got := s.do(ask{method: "POST", path: "/account", body: `{"currency":"GBP"}`, key: key}).want(t, 200); strings.Contains(string(got.body), password) {
				t.Error("a member's POST shows the password")
			}
		}
	}
	reset := s.do(ask{method: "POST", path: "/account", body: `{"resetWarehousePassword":true}`, key: admin}).want(t, 200)
	if s.hide(reset.text("result", "warehousePassword")) == password {
		t.Error("the new password is the old one")
	}
	lower := s.do(ask{method: "POST", path: "/key", body: `{"role":"readonly"}`, key: admin}).want(t, 200)
	if got := s.do(ask{method: "GET", path: "/account", key: s.hide(lower.text("result", "key"))}); got.at("result", "warehousePassword") != nil {
		t.Error("an admin's readonly key shows the password")
	}
}

func TestManifest(t *testing.T) {
	s := newServer(t, options{})
	member := s.roleKey(auth.Member)
	put := func(query, body string) *answer {
		return s.do(ask{method: "PUT", path: "/account/manifest" + query, body: body, key: member})
	}
	other := strings.Replace(acme, `"Packer 1"`, `"Packer One"`, 1)
	dry := put("?dryrun=true", other).want(t, 200)
	if dry.at("result", "changed") != true || dry.at("result", "revision") != 1.0 || dry.text("result", "changes", "0", "to") != "Packer One" {
		t.Errorf("%s", dry.body)
	}
	if got := s.do(ask{method: "GET", path: "/station/PACK-1", key: member}); got.text("result", "name") != "Packer 1" {
		t.Error("a dry run wrote")
	}
	made := put("?note=better+name", other).want(t, 200)
	if made.at("result", "revision") != 2.0 {
		t.Errorf("%s", made.body)
	}
	equal := put("", other).want(t, 200)
	if equal.at("result", "changed") != false || equal.at("result", "revision") != 2.0 {
		t.Errorf("%s", equal.body)
	}
	list := s.do(ask{method: "GET", path: "/account/manifest/revisions", key: member}).want(t, 200)
	if list.at("paging", "totalElements") != 2.0 || list.text("results", "0", "note") != "better name" || list.text("results", "0", "author") != mailOf(auth.Member) {
		t.Errorf("%s", list.body)
	}
	for query, status := range map[string]int{"?limit=1": 200, "?limit=1&skip=1": 200, "?skip=99": 200, "?limit=0": 400, "?limit=1001": 400, "?limit=x": 400, "?skip=-1": 400, "?limit=1e2": 400} {
		got := s.do(ask{method: "GET", path: "/account/manifest/revisions" + query, key: member}).want(t, status)
		if status == 200 && got.at("paging", "totalElements") != 2.0 {
			t.Errorf("%s: %s", query, got.body)
		}
	}
	first := s.do(ask{method: "GET", path: "/account/manifest/revisions/1", key: member}).want(t, 200)
	if !strings.Contains(string(first.body), `"Packer 1"`) {
		t.Error("revision 1 has been changed")
	}
	for _, n := range []string{"0", "3", "-1", "x", "01x", "18446744073709551616", "1%2F", "%31%00"} {
		s.do(ask{method: "GET", path: "/account/manifest/revisions/" + n, key: member}).want(t, 404)
		s.do(ask{method: "POST", path: "/account/manifest/revisions/" + n + "/restore", key: member}).want(t, 404)
	}
	back := s.do(ask{method: "POST", path: "/account/manifest/revisions/1/restore?note=back", key: member}).want(t, 200)
	if back.at("result", "revision") != 3.0 || back.at("result", "changed") != true {
		t.Errorf("%s", back.body)
	}
	put("?note="+strings.Repeat("n", 201), acme).wantDetail(t, "note", "200")
	put("", strings.Replace(acme, `"id":"acme"`, `"id":"bolt"`, 1)).want(t, 409)
	put("", strings.Replace(acme, `"acme.example"`, `"bolt.example"`, 1)).want(t, 409)
	put("", strings.Replace(acme, `"dayStartHour":6`, `"dayStartHour":24`, 1)).wantDetail(t, "account.plants[0].dayStartHour", "23")
	put("", strings.Replace(acme, `"shiftPatternCode":"two"`, `"shiftPatternCode":"three"`, 1)).wantDetail(t, "account.plants[0].stationGroups[0].shiftPatternCode", "three")
	warned := put("?dryrun=true", strings.Replace(acme, `["CHG"]`, `["NOPE"]`, 1)).want(t, 200)
	if !strings.Contains(warned.text("result", "warnings", "0", "issue"), "NOPE") {
		t.Errorf("%s", warned.body)
	}
	s.must(s.Accounts.Set(auth.Local("acme"), "stationCountLimit", "3"))
	put("", strings.Replace(acme, `{"code":"PACK-2"`, `{"code":"PACK-3","name":"Packer 3"},{"code":"PACK-2"`, 1)).want(t, 409)
	put("", strings.Replace(acme, `{"code":"PACK-2"`, `{"code":"PACK-3"`, 1)).want(t, 200)
}

func TestStation(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Operator)
	a := s.do(ask{method: "GET", path: "/station/PACK-1", key: key}).want(t, 200)
	for _, flag := range []struct{ name, value, from string }{
		{"enableManualDowntime", "off", "station"}, {"enableMeterOnly", "off", "default"},
	} {
		if got := a.at("result", "flags", flag.name); !cmp.Equal(got, any(map[string]any{"value": flag.value, "from": flag.from})) {
			t.Errorf("%s is %v", flag.name, got)
		}
	}
	if a.text("result", "plant", "timezone") != "Europe/Berlin" || a.text("result", "taskLists", "0", "tasks", "0", "code") != "oil" || a.text("result", "shiftPattern", "code") != "two" {
		t.Errorf("%s", a.body)
	}
	if strings.Contains(string(a.body), `"CHG"`) {
		t.Error("an excluded reason is shown")
	}
	for _, code := range []string{"NOPE", "pack-1", "PACK-1%20", "%2F", "PACK%2D1x"} {
		s.do(ask{method: "GET", path: "/station/" + code, key: key}).want(t, 404)
	}
	s.do(ask{method: "GET", path: "/station/PACK%2D1", key: key}).want(t, 200) // the same path with other escapes
}

// An archived account can be read. Every write is a 409, except revoking keys and logging out, here or everywhere
// (decisions.md section 2).
func TestArchivedAccount(t *testing.T) {
	s := newServer(t, options{})
	s.reviseTwice()
	session := s.session("acme", mailOf(auth.Admin))
	admin := s.roleKey(auth.Admin)
	spare := s.roleKey(auth.Admin)
	asks := map[string]ask{}
	for _, rt := range s.routes {
		if row := samples[rt.Method+" "+rt.Path]; !row.open && rt.Path != "/auth/logout" && rt.Path != "/session" && rt.Path != "/key/:key" && rt.Path != "/auth/account" {
			a := row.call(s, rt.Method, caller{email: mailOf(auth.Admin)})
			asks[rt.Method+" "+rt.Path] = a
			if slices.Contains(rt.Query, "dryrun") {
				path, _, _ := strings.Cut(a.path, "?")
				a.path = path + "?dryrun=true"
				asks[rt.Method+" "+rt.Path+", tried"] = a
			}
		}
	}
	s.must(s.Accounts.SetArchived(auth.Local("acme"), true))
	for name, a := range asks {
		a.key = admin
		got := s.do(a)
		if a.method == http.MethodGet || name == "POST /analysis/tuning" { // stores nothing
			got.want(t, 200)
		} else if got.status != 409 {
			t.Errorf("%s: %d on an archived account: %s", name, got.status, got.body)
		}
	}
	s.do(ask{method: "DELETE", path: "/key/" + spare, key: admin}).want(t, 204)
	s.do(ask{method: "POST", path: "/auth/logout", session: session}).want(t, 200)
	s.do(ask{method: "DELETE", path: "/session", key: admin}).want(t, 200)
	if a := s.do(ask{method: "GET", path: "/auth/profile", key: admin}).want(t, 200); len(a.at("result", "accounts").([]any)) != 0 {
		t.Errorf("an archived account is listed: %s", a.body)
	}
	s.must(s.Accounts.SetArchived(auth.Local("acme"), false))
	s.do(ask{method: "POST", path: "/account", body: `{"currency":"GBP"}`, key: admin}).want(t, 200)
}

// Each of many writers sees its own change in its next GET (decisions.md section 2).
func TestWritersSeeTheirChanges(t *testing.T) {
	s := newServer(t, options{})
	keys := make([]string, 32)
	for i := range keys {
		keys[i] = s.roleKey(auth.Member)
	}
	var wg sync.WaitGroup
	for i, key := range keys {
		wg.Go(func() {
			for n := range 5 {
				body := fmt.Sprintf(`{"includeReasonCodes":["w%d-%d"]}`, i, n)
				a, err := s.try(ask{method: "POST", path: "/account", body: body, key: key})
				if err != nil || a.status != 200 {
					t.Errorf("POST: %v %v", a, err)
					return
				}
				read, err := s.try(ask{method: "GET", path: "/account", key: key})
				if err != nil || read.status != 200 {
					t.Errorf("GET: %v %v", read, err)
					return
				}
				// Another writer may have been faster, but a read must not return anything older than one's own change.
				if read.text("result", "updatedAt") < a.text("result", "updatedAt") || revisionOf(read) < uint64(n+2) {
					t.Errorf("writer %d reads an older state: %s after %s", i, read.text("result", "updatedAt"), a.text("result", "updatedAt"))
				}
			}
		})
	}
	wg.Wait()
	a := s.do(ask{method: "GET", path: "/account", key: keys[0]})
	if revisionOf(a) != 161 {
		t.Errorf("%d revisions after 160 changes", revisionOf(a))
	}
	list := s.do(ask{method: "GET", path: "/audit?action=account.update&limit=1", key: s.roleKey(auth.Admin)})
	if list.at("paging", "totalElements") != 160.0 {
		t.Errorf("%.300s", list.body)
	}
}

// revisionOf parses the configuration's revision in the entity tag.
func revisionOf(a *answer) (n uint64) {
	fmt.Sscanf(strings.TrimPrefix(a.header.Get("Etag"), "W/"), `"%d-`, &n)
	return n
}

// Concurrent writers of one field each do not overwrite each other.
func TestWritersDoNotOverwriteOthersFields(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	flags := slices.DeleteFunc(schematest.Properties(schema.JSON(schema.AccountUpdate), ""), func(n string) bool { return !strings.HasPrefix(n, "enable") })
	var wg sync.WaitGroup
	for _, name := range flags {
		wg.Go(func() {
			for _, value := range []string{"on", "off", "on"} {
				a, err := s.try(ask{method: "POST", path: "/account", body: `{"` + name + `":"` + value + `"}`, key: key})
				if err != nil || a.text("result", name) != value {
					t.Errorf("%s: %v %v", name, a, err)
				}
			}
		})
	}
	wg.Wait()
	a := s.do(ask{method: "GET", path: "/account", key: key})
	for _, name := range flags {
		if a.text("result", name) != "on" {
			t.Errorf("%s was lost", name)
		}
	}
}

// Of many writers with the same If-Match, exactly one succeeds.
func TestIfMatchLetsOneWriterWin(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	tag := s.do(ask{method: "GET", path: "/account", key: key}).header.Get("Etag")
	var wg sync.WaitGroup
	status := make([]int, 16)
	for i := range status {
		wg.Go(func() {
			body, _ := json.Marshal(map[string]any{"includeReasonCodes": []string{fmt.Sprint(i)}})
			if a, err := s.try(ask{method: "POST", path: "/account", body: string(body), key: key, header: map[string]string{"If-Match": tag}}); err == nil {
				status[i] = a.status
			}
		})
	}
	wg.Wait()
	slices.Sort(status)
	if status[0] != 200 || status[1] != 409 || status[15] != 409 {
		t.Errorf("%v", status)
	}
}
