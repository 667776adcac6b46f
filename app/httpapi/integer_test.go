package httpapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/schema"
)

// 2.0 and 2e0 are accepted as integers like 2 (decisions.md section 1).
func TestIntegers(t *testing.T) {
	s, empty := newServer(t, options{}), newServer(t, options{empty: true})
	admin := s.roleKey(auth.Admin)
	soon := s.clock.now().UTC().Add(time.Hour).Format(time.RFC3339)
	settings := func(name string) func(string) ask {
		return func(n string) ask {
			return ask{method: "PUT", path: "/appliance/backup-settings", body: `{"` + name + `":` + n + `}`}
		}
	}
	setup := func(name string) func(string) ask {
		return func(n string) ask {
			return ask{method: "POST", path: "/setup?dryrun=true", body: `{"code":"abcd-efgh-ijkl","domain":"demo.example","email":"a@demo.example","plant":{"name":"P","timezone":"UTC","` + name + `":` + n + `}}`}
		}
	}
	correct := func(format string) func(string) ask {
		return func(n string) ask {
			return ask{method: "POST", path: "/correction?dryrun=true", body: strings.Replace(s.correctionOf(), `"station":{"minimumCycleTime":5}`, fmt.Sprintf(format, n), 1)}
		}
	}
	station := func(name string) func(string) ask { return correct(`"station":{"` + name + `":%s}`) }
	sku := func(name string) func(string) ask { return correct(`"skus":[{"code":"A1","` + name + `":%s}]`) }
	rows := map[string]func(n string) ask{
		"account-update maxProductionCountPerSchedule": func(n string) ask {
			return ask{method: "POST", path: "/account", body: `{"maxProductionCountPerSchedule":` + n + `}`}
		},
		"issue-escalate level": func(n string) ask {
			a := someDowntime("escalate", `{"level":`+n+`}`)(s, caller{})
			a.method = "POST"
			return a
		},
		"schedule-write cycleTime": func(n string) ask {
			return ask{method: "POST", path: "/schedule?dryrun=true", body: `{"stationCode":"PACK-1","skuCode":"A1","plannedStartAt":"` + soon + `","cycleTime":` + n + `}`}
		},
		"backup-settings every": settings("every"), "backup-settings keepDaily": settings("keepDaily"), "backup-settings keepWeekly": settings("keepWeekly"),
		"backup-settings keepMonthly": settings("keepMonthly"), "backup-settings maxBytes": settings("maxBytes"),
		"setup groups": setup("groups"), "setup stationsPerGroup": setup("stationsPerGroup"),
		"correction-create minimumCycleTime": station("minimumCycleTime"), "correction-create utilisationDowntimeThreshold": station("utilisationDowntimeThreshold"),
		"correction-create slowDurationThreshold": station("slowDurationThreshold"), "correction-create productiveHoldOnTime": station("productiveHoldOnTime"),
		"correction-create cycleTime": sku("cycleTime"), "correction-create unitsPerMinute": station("unitsPerMinute"), "correction-create unitsPerHour": station("unitsPerHour"),
		"correction-create partsPerCycle": sku("partsPerCycle"),
		"manifest cycleTime": func(n string) ask {
			return ask{method: "PUT", path: "/account/manifest?dryrun=true", body: strings.Replace(acme, `"cycleTime":1200`, `"cycleTime":`+n, 1)}
		},
		"manifest dayStartHour": func(n string) ask {
			return ask{method: "PUT", path: "/account/manifest?dryrun=true", body: strings.Replace(acme, `"dayStartHour":6`, `"dayStartHour":`+n, 1)}
		},
	}
	for name, make := range rows {
		for _, n := range []string{"2", "2.0", "2e0", "20e-1", "0.2E+1"} {
			a, to := make(n), s
			if a.key = admin; strings.HasPrefix(name, "setup") {
				a.key, a.from, to = "", empty.address(), empty
			}
			to.do(a).want(t, 200)
		}
		if a := make("2.5"); !strings.HasPrefix(name, "setup") {
			a.key = admin
			s.do(a).want(t, 400)
		}
	}
	for _, name := range schema.Names() {
		var file any
		s.must(nil, json.Unmarshal(schema.JSON(name), &file))
		for _, field := range integersOf(file) {
			if key := string(name) + " " + field; rows[key] == nil && name != schema.Manifest {
				t.Errorf("no row for %s", key)
			}
		}
	}
}

// integersOf returns the names of a schema's integer properties.
func integersOf(node any) (names []string) {
	switch node := node.(type) {
	case []any:
		for _, x := range node {
			names = append(names, integersOf(x)...)
		}
	case map[string]any:
		properties, _ := node["properties"].(map[string]any)
		for name, p := range properties {
			kinds := p.(map[string]any)["type"]
			list, _ := kinds.([]any)
			if kinds == "integer" || slices.Contains(list, any("integer")) {
				names = append(names, name)
			}
		}
		for _, x := range node {
			names = append(names, integersOf(x)...)
		}
	}
	return names
}
