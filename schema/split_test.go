package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"opsmon/schema/schematest"
	"opsmon/schema/strictjson"
)

// validateWhole validates like Validate, but with a single call into the library.
func validateWhole(t testing.TB, sch *jsonschema.Schema, name Name, v any) []Violation {
	err := sch.Validate(v)
	if err == nil {
		return nil
	}
	s := &section{schema: sch, file: decode(string(JSON(name)))}
	found := s.explain(err, v, nil)
	slices.SortFunc(found, func(a, b Violation) int {
		return cmp.Or(comparePaths(a.Path, b.Path), strings.Compare(a.Issue, b.Issue))
	})
	return slices.Compact(found)
}

// TestShapesAccept checks that valid documents rarely need the library, because the shapes accept them. Shapes do not
// support triggers (if, then) and numbers that need exact arithmetic, and must not accept them.
func TestShapesAccept(t *testing.T) {
	for _, name := range Names() {
		if s := compiled(name); !s.shape.accepts(decode(documents[name])) {
			t.Errorf("%s: the library is asked about a valid document", name)
		}
	}
	account := decode(string(schematest.Large(2, 6))).(map[string]any)["account"].(map[string]any)
	for _, l := range compiled(Manifest).lists {
		list, _ := account[l.path[1]].([]any)
		for _, v := range list {
			object, ok := v.(map[string]any)
			if !ok {
				continue // a list of codes
			}
			if _, trigger := object["trigger"]; l.item.shape.accepts(v) == trigger {
				t.Errorf("%s: accepted: %t: %v", l.path[1], !trigger, v)
			}
		}
		if l.path[1] != "skus" {
			continue
		}
		for _, field := range []string{"lineSpeedTarget", "cycleTime"} {
			for _, digits := range []json.Number{"99999.000000000000001", "99998.9999999999999999", "1e3", "0.0000000000000000001", "43200000.0", "0", "-1", "100000000"} {
				if l.item.shape.fields[field].accepts(digits) {
					t.Errorf("%s: %s is accepted", field, digits)
				}
			}
		}
	}
}

// values are the values that a mutation inserts.
var values = []any{nil, true, "", "off", "a b", strings.Repeat("x", 70), json.Number("-1"), json.Number("0.5"), json.Number("1e9"),
	[]any{}, []any{json.Number("1"), "a"}, []any{map[string]any{}}, map[string]any{}, map[string]any{"type": "cron"}, map[string]any{"code": "", "%s~1/x": nil}}

// mutate changes one random place below v, at most depth levels down, and returns the new value there.
func mutate(rng *rand.Rand, v any, depth int) any {
	switch node := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(node))
		if len(keys) == 0 {
			break
		}
		key := keys[rng.IntN(len(keys))]
		switch {
		case depth > 0 && rng.IntN(8) > 0:
			node[key] = mutate(rng, node[key], depth-1)
		case rng.IntN(2) == 0:
			delete(node, key)
		default:
			node[key+"x"] = node[key]
		}
		return node
	case []any:
		if len(node) > 0 && depth > 0 {
			i := rng.IntN(len(node))
			node[i] = mutate(rng, node[i], depth-1)
			return node
		}
	}
	return values[rng.IntN(len(values))]
}

// TestSplitEqualsWhole checks that validating in sections returns the same violations as validating the whole
// document.
func TestSplitEqualsWhole(t *testing.T) {
	whole, err := newLibrary().Compile(base + string(Manifest) + extension)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	broken := 0
	documents := [][]byte{schematest.Large(90, 150), []byte(documents[Manifest])}
	rounds := 80
	if testing.Short() {
		rounds = 20
	}
	for round := range rounds {
		doc := decode(string(documents[round%len(documents)]))
		for range 1 + rng.IntN(30) {
			mutate(rng, doc, 1+rng.IntN(12))
		}
		want := validateWhole(t, whole, Manifest, doc)
		if diff := gocmp.Diff(want, Validate(Manifest, doc)); diff != "" {
			t.Fatalf("round %d:\n%s", round, diff)
		}
		if len(want) > 0 {
			broken++
		}
	}
	if broken < rounds/2 {
		t.Errorf("only %d of %d documents were broken", broken, rounds)
	}
}

// TestLargeUsesEveryField checks that the generated manifest is valid and uses every field except those that name
// one.
func TestLargeUsesEveryField(t *testing.T) {
	doc := schematest.Large(50, 30)
	if !bytes.Equal(doc, schematest.Large(50, 30)) {
		t.Error("equal arguments gave different bytes")
	}
	v, err := strictjson.Decode(doc)
	if err != nil {
		t.Fatal(err)
	}
	if found := Validate(Manifest, v); found != nil {
		t.Fatal(found)
	}
	for _, o := range objects() {
		if o.name != Manifest {
			continue
		}
		for _, field := range schematest.Properties(JSON(o.name), o.def) {
			if !bytes.Contains(doc, []byte(`"`+field+`": `)) {
				t.Errorf("%s of %s is not used", field, o)
			}
		}
	}
	for _, size := range [][2]int{{0, 0}, {1, 1}, {1001, 2}} {
		v, err := strictjson.Decode(schematest.Large(size[0], size[1]))
		if err != nil {
			t.Fatal(err)
		}
		if found := Validate(Manifest, v); found != nil {
			t.Error(size, found[:min(3, len(found))])
		}
	}
}

// TestViolationsAreBounded checks that the result does not depend on the number of processors, and that the last
// violations of the document are dropped.
func TestViolationsAreBounded(t *testing.T) {
	doc := decode(`{"version": "v1", "account": {"id": "a", "domain": "b", "plants": [{}], "skus": [` + strings.Repeat(`{"code": 1, "name": ""},`, 9999) + `{}]}}`)
	run := func(processors int) []Violation {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		return Validate(Manifest, doc)
	}
	one := run(1)
	if len(one) != MaxViolations {
		t.Errorf("%d violations", len(one))
	}
	// the plant has 6
	if want := (Violation{"account.skus[4089].code", "must be text; it is 1"}); one[len(one)-1] != want {
		t.Errorf("the last one is %v", one[len(one)-1])
	}
	for range 5 {
		if diff := gocmp.Diff(one, run(4)); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestHostileDocuments checks that no document of 1 MiB takes long. The limit is far above the measured 0.1 s, and
// far below the result of a superlinear cost.
func TestHostileDocuments(t *testing.T) {
	const size = 1 << 20
	fill := func(before, unit, after string) string {
		n := (size - len(before) - len(after)) / (len(unit) + 1)
		return before + strings.Repeat(unit+",", n) + unit + after
	}
	in := func(field, unit string) string {
		return fill(`{"version":"v1","account":{"id":"a","domain":"b","plants":[{}],"`+field+`":[`, unit, `]}}`)
	}
	var unknown strings.Builder
	for i := 0; unknown.Len() < size; i++ {
		fmt.Fprintf(&unknown, `"enableTasks%d":1,`, i)
	}
	members := strings.TrimSuffix(unknown.String(), ",")
	nest := func(inside string) string {
		return strings.Repeat(`{"reasons":[`, 29) + inside + strings.Repeat(`]}`, 29)
	}
	for _, tt := range []struct {
		name, doc string
		least     int // minimum number of violations
	}{
		{"numbers for SKUs", in("skus", "1"), MaxViolations},
		{"empty SKUs", in("skus", "{}"), MaxViolations},
		{"numbers for codes", in("includeReasonCodes", "1"), MaxViolations},
		{"many codes", in("includeReasonCodes", `""`), 1},
		{"costly numbers", in("skus", `{"code":"","name":"","value":1e-400,"unitsPerHour":1e-400,"cycleTime":4e-400}`), MaxViolations},
		{"costly valid numbers", in("skus", `{"code":"","name":"","value":1e-400,"unitsPerHour":1e-400,"unitsPerMinute":1e307}`), 1},
		{"many digits", in("skus", `{"code":"","name":"","value":0.`+strings.Repeat("3", 390)+`}`), 1},
		{"unknown properties", `{` + members + `}`, MaxViolations},
		{"free properties", `{"version":"v1","account":{"id":"a","domain":"b","plants":[{}],"dashboardConfig":{` + members + `}}}`, 1},
		{"deep reasons, many leaves", `{"version":"v1","account":{"id":"a","domain":"b","plants":[{}],"reasons":[` + nest(fill("", "{}", "")) + `]}}`, MaxViolations},
		{"many deep reasons", in("reasons", nest("")), MaxViolations},
		{"a long name", `{"` + strings.Repeat("é", size/2) + `":1}`, 3},
		{"a long text", `{"version":"` + strings.Repeat("é", size/2) + `"}`, 2},
		{"many plants", fill(`{"version":"v1","account":{"id":"a","domain":"b","plants":[`, `{"stationGroups":[{"stations":[{}]}]}`, `]}}`), MaxViolations},
	} {
		start := time.Now()
		v, err := strictjson.Decode([]byte(tt.doc))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		found := Validate(Manifest, v)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: took %v", tt.name, took)
		}
		if len(found) < tt.least {
			t.Errorf("%s: %d violations, want at least %d", tt.name, len(found), tt.least)
		}
		for _, v := range found {
			if len(v.Path) > 1000 || len(v.Issue) > 1000 {
				t.Fatalf("%s: a violation of %d and %d bytes", tt.name, len(v.Path), len(v.Issue))
			}
		}
	}
}

// FuzzValidate compares Validate with a single call into the library. Long documents are checked but not used as
// seeds: the engine would take up to a minute to minimize them, and finds nothing else in that time.
func FuzzValidate(f *testing.F) {
	whole := make(map[Name]*jsonschema.Schema)
	for _, name := range Names() {
		whole[name] = newLibrary().MustCompile(base + string(name) + extension)
	}
	check := func(t testing.TB, name string, doc []byte) {
		v, err := strictjson.Decode(doc)
		if err != nil || !slices.Contains(Names(), Name(name)) {
			return
		}
		found := Validate(Name(name), v)
		if want := validateWhole(t, whole[Name(name)], Name(name), v); len(want) < MaxViolations {
			if diff := gocmp.Diff(want, found); diff != "" {
				t.Fatal(diff)
			}
		}
		for i, v := range found {
			if v.Issue == "" || strings.Contains(v.Issue, "<nil>") || strings.Contains(v.Issue, "%!") && !bytes.Contains(doc, []byte("%!")) {
				t.Fatalf("bad issue: %+v", v)
			}
			if i > 0 && found[i-1] == v {
				t.Fatalf("twice: %+v", v)
			}
		}
	}
	for _, name := range Names() {
		doc := []byte(documents[name])
		if check(f, string(name), doc); len(doc) < 300 {
			f.Add(string(name), doc)
		}
	}
	f.Add("manifest", []byte(`{"account":{"plants":[{"stationGroups":[{"stations":[{"code":"%!s","a/b~c":1}]}]}],"reasons":[{"reasons":[{}]}],"tasks":[{"trigger":{"type":"cron"}}]}}`))
	f.Add("key-create", []byte(`{"expiresAt":"2026-11-20T08:15:30Z","":1e308}`))
	f.Fuzz(func(t *testing.T, name string, doc []byte) { check(t, name, doc) })
}
