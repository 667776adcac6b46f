package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/schema/schematest"
)

func TestPropertiesInFileOrder(t *testing.T) {
	for _, tt := range []struct {
		name Name
		def  string
		want []string
	}{
		{Manifest, "", []string{"version", "account"}},
		{Manifest, "Shift", []string{"name", "startHour", "duration", "weekDay"}},
		{TabletCreate, "", []string{"name", "role", "stationCodes"}},
		{Manifest, "Codes", nil},
		{Manifest, "Nothing", nil},
	} {
		if diff := cmp.Diff(tt.want, schematest.Properties(JSON(tt.name), tt.def)); diff != "" {
			t.Errorf("%s %s: %s", tt.name, tt.def, diff)
		}
	}
}

func TestUnknownNamePanics(t *testing.T) {
	for what, f := range map[string]func(){
		"JSON":      func() { JSON("nothing") },
		"Validate":  func() { Validate("nothing", nil) },
		"a Go type": func() { Validate(Login, map[string]any{"destination": struct{}{}}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", what)
				}
			}()
			f()
		}()
	}
}

func TestPathsAreOrderedNaturally(t *testing.T) {
	want := []string{"", "account", "account.id", "account.plants", "account.plants[2]", "account.plants[2].code", "account.plants[10]", "account.plants[10].code",
		"account.plants[11]", "account.plantsx", "version"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, comparePaths)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPathsOfViolations(t *testing.T) {
	doc := decode(documents[Manifest]).(map[string]any)
	account := doc["account"].(map[string]any)
	group := account["plants"].([]any)[0].(map[string]any)["stationGroups"].([]any)[0].(map[string]any)
	for range 100 {
		group["stations"] = append(group["stations"].([]any), map[string]any{"code": "A", "name": "A"})
	}
	stations := group["stations"].([]any)
	delete(stations[99].(map[string]any), "code")
	stations[100].(map[string]any)["100%/~1.x"] = true
	stations[7].(map[string]any)[strings.Repeat("ü", 80)] = true
	account["excludeReasonCodes"] = []any{"a", json.Number("5")}
	account["enabletask"] = "on"
	want := []Violation{
		{"account.enabletask", "is not a known field; did you mean enableTasks?"},
		{"account.excludeReasonCodes[1]", "must be text; it is 5"},
		{"account.plants[0].stationGroups[0].stations[7]." + strings.Repeat("ü", 64) + "…", "is not a known field; did you mean excludeTaskListCodes?"},
		{"account.plants[0].stationGroups[0].stations[99].code", "is required"},
		{`account.plants[0].stationGroups[0].stations[100]["100%/~1.x"]`, "is not a known field; did you mean code?"},
	}
	got := Validate(Manifest, doc)
	got[2].Issue, _, _ = strings.Cut(got[2].Issue, ";") // which name is nearest to ü does not matter
	want[2].Issue, _, _ = strings.Cut(want[2].Issue, ";")
	got[4].Issue, _, _ = strings.Cut(got[4].Issue, ";")
	want[4].Issue, _, _ = strings.Cut(want[4].Issue, ";")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNearest(t *testing.T) {
	flags := []string{"enableTasks", "enableManualDowntime", "name", "code", "codes"}
	for sent, want := range map[string]string{
		"enableTask": "enableTasks", "EnableTasks": "enableTasks", "enable_manual_downtime": "enableManualDowntime",
		"nmae": "name", "cod": "code", "codess": "codes", "": "name", "ñame": "name",
	} {
		if got := nearest(sent, flags); got != want {
			t.Errorf("%q: %q, want %q", sent, got, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "ab", 2}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"é", "e", 1}} {
		if got := editDistance([]rune(tt.a), []rune(tt.b)); got != tt.want {
			t.Errorf("%q, %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
