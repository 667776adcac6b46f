package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"opsmon/schema/schematest"
	"opsmon/schema/strictjson"
)

// object is one object of the schema files: a document's root (def "") or a definition.
type object struct {
	name Name
	def  string
}

func (o object) String() string { return strings.TrimSpace(string(o.name) + " " + o.def) }

// decode decodes JSON written in a test.
func decode(text string) any {
	v, err := strictjson.Decode([]byte(text))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return v
}

// node returns the schema of an object as in the file.
func (o object) node() map[string]any {
	file := decode(string(JSON(o.name))).(map[string]any)
	if o.def != "" {
		file, _ = file["$defs"].(map[string]any)[o.def].(map[string]any)
	}
	return file
}

// objects returns all objects with properties, in a fixed order.
func objects() []object {
	var all []object
	for _, name := range Names() {
		all = append(all, object{name, ""})
		defs, _ := object{name, ""}.node()["$defs"].(map[string]any)
		for _, def := range slices.Sorted(maps.Keys(defs)) {
			if o := (object{name, def}); o.node()["properties"] != nil {
				all = append(all, o)
			}
		}
	}
	return all
}

// deref resolves the $ref of a property. name is the last part of the $ref.
func (o object) deref(node map[string]any) (target map[string]any, name string) {
	ref, ok := node["$ref"].(string)
	if !ok {
		return node, ""
	}
	name = strings.TrimPrefix(ref, "#/$defs/")
	return object{o.name, name}.node(), name
}

// describe describes the rules of a property in the format of testdata/specification.txt.
func (o object) describe(node map[string]any) string {
	target, name := o.deref(node)
	var b strings.Builder
	kinds := fmt.Sprint(target["type"])
	if list, ok := target["type"].([]any); ok {
		kinds = fmt.Sprint(list[0])
		for _, t := range list[1:] {
			kinds += " or " + fmt.Sprint(t)
		}
	}
	switch {
	case target["properties"] != nil:
		return name
	case target["const"] != nil:
		fmt.Fprintf(&b, "constant %v", target["const"])
	case target["enum"] != nil:
		b.WriteString(words(target["enum"]))
	case target["format"] == "date-time":
		b.WriteString(strings.Replace(kinds, "string", "ISO 8601", 1))
	case strings.HasPrefix(kinds, "array"):
		items := target["items"].(map[string]any)
		_, what := o.deref(items)
		if items["enum"] != nil {
			what = "(" + words(items["enum"]) + ")"
		} else if what == "" {
			what = fmt.Sprint(items["type"])
		}
		b.WriteString(strings.Replace(kinds, "array", "array of "+what, 1))
	default:
		b.WriteString(kinds)
	}
	for _, bound := range []struct{ keyword, words string }{
		{"minimum", ">= %v"}, {"exclusiveMinimum", "> %v"}, {"maximum", "<= %v"}, {"exclusiveMaximum", "< %v"},
		{"minLength", "min length %v"}, {"maxLength", "max length %v"}, {"pattern", "pattern %v"}, {"minItems", "at least %v"},
	} {
		if v, ok := target[bound.keyword]; ok {
			fmt.Fprintf(&b, ", "+bound.words, v)
		}
	}
	if v, ok := node["default"]; ok {
		fmt.Fprintf(&b, ", default %v", v)
	}
	if description, _ := node["description"].(string); strings.HasPrefix(description, "Set by the system.") {
		b.WriteString(" (system)")
	}
	return b.String()
}

func words(enum any) string {
	var list []string
	for _, v := range enum.([]any) {
		if v == nil {
			v = "null"
		}
		list = append(list, fmt.Sprint(v))
	}
	return strings.Join(list, ", ")
}

// TestFilesMatchSpecification compares the schema files with the tables of the specification: the same fields in the
// same order, with the same types and bounds.
func TestFilesMatchSpecification(t *testing.T) {
	text, err := os.ReadFile("testdata/specification.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string][]string)
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.TrimSuffix(strings.TrimSuffix(line[1:], " closed"), "]")
			want[section] = []string{fmt.Sprintf("closed: %t", strings.HasSuffix(line, "closed"))}
		default:
			want[section] = append(want[section], line)
		}
	}
	got := make(map[string][]string)
	for _, o := range objects() {
		node := o.node()
		if node["type"] != "object" {
			t.Errorf("%s is not an object", o)
		}
		lines := []string{fmt.Sprintf("closed: %t", node["additionalProperties"] == false)}
		for _, field := range schematest.Properties(JSON(o.name), o.def) {
			line := field
			if required, _ := node["required"].([]any); slices.Contains(required, any(field)) {
				line += " required"
			}
			lines = append(lines, line+" "+o.describe(node["properties"].(map[string]any)[field].(map[string]any)))
		}
		got[o.String()] = lines
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// known are the keywords that the files may use: those that the library asserts, annotations for readers, and
// x-sentence, a message for rules that a keyword cannot express.
var known = []string{"$schema", "$id", "$ref", "$defs", "title", "description", "default", "examples", "readOnly", "deprecated",
	"x-sentence", "type", "enum", "const", "required", "properties", "additionalProperties", "items", "minItems", "minLength",
	"maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "allOf", "if", "then"}

// allowedWithRef are the keywords that may accompany a $ref: only annotations for readers.
var allowedWithRef = []string{"$ref", "description", "readOnly", "deprecated", "default"}

func TestLintFiles(t *testing.T) {
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(Names()) {
		t.Errorf("%d files for %d names", len(entries), len(Names()))
	}
	for _, name := range Names() {
		root := object{name, ""}.node()
		if root["$id"] != base+string(name)+extension {
			t.Errorf("%s: $id is %v", name, root["$id"])
		}
		if root["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s: $schema is %v", name, root["$schema"])
		}
		if examples, _ := root["examples"].([]any); len(examples) == 0 {
			t.Errorf("%s has no example", name)
		} else {
			for i, v := range examples {
				if found := Validate(name, v); found != nil {
					t.Errorf("%s: example %d: %v", name, i, found)
				}
			}
		}
		lint(t, root, root, string(name), false)
	}
}

// lint checks one schema. branch means that it only narrows another schema (in if).
func lint(t *testing.T, file, node map[string]any, at string, branch bool) {
	t.Helper()
	fail := func(format string, args ...any) { t.Helper(); t.Errorf(at+": "+format, args...) }
	for keyword := range node {
		if !slices.Contains(known, keyword) {
			fail("unknown keyword %s", keyword)
		}
		if node["$ref"] != nil && !slices.Contains(allowedWithRef, keyword) {
			fail("%s stands beside $ref", keyword)
		}
	}
	if ref, ok := node["$ref"]; ok {
		def, local := strings.CutPrefix(fmt.Sprint(ref), "#/$defs/")
		if defs, _ := file["$defs"].(map[string]any); !local || defs[def] == nil {
			fail("%v leads nowhere", ref)
		}
	}
	if (node["pattern"] != nil || node["format"] != nil) && node["x-sentence"] == nil {
		fail("a pattern or format without x-sentence")
	}
	if node["format"] != nil && node["format"] != "date-time" {
		fail("the format %v has no check of ours", node["format"])
	}
	for keyword, value := range node {
		switch keyword {
		case "properties", "$defs":
			for name, child := range value.(map[string]any) {
				child := child.(map[string]any)
				if text, _ := child["description"].(string); !branch && !strings.HasSuffix(text, ".") {
					t.Errorf("%s.%s: the description is not a sentence: %q", at, name, text)
				}
				if strings.ContainsAny(name, "/~%") {
					t.Errorf("%s.%s: the name needs the escapes of a JSON pointer", at, name)
				}
				lint(t, file, child, at+"."+name, branch)
			}
		case "items", "then":
			lint(t, file, value.(map[string]any), at+"."+keyword, branch)
		case "if":
			lint(t, file, value.(map[string]any), at+"."+keyword, true)
		case "allOf":
			for i, child := range value.([]any) {
				lint(t, file, child.(map[string]any), fmt.Sprintf("%s.%s[%d]", at, keyword, i), branch)
			}
		case "required":
			props, _ := node["properties"].(map[string]any)
			for _, name := range value.([]any) {
				if props[name.(string)] == nil {
					fail("%v is required but not a property", name)
				}
			}
		}
	}
	if node["items"] != nil { // lists are validated separately: no other keyword may concern the elements
		for keyword := range node {
			if !slices.Contains([]string{"type", "items", "minItems", "description"}, keyword) {
				fail("%s accompanies items", keyword)
			}
		}
	}
}

func TestLoadGivesEmbeddedFilesAlone(t *testing.T) {
	for _, url := range []string{"https://opsmon.example/schema/other.schema.json", "https://opsmon.example/schema/../manifest.schema.json",
		"https://example.org/manifest.schema.json", "file:///etc/hosts", base, ""} {
		if r, err := load(url); err == nil {
			t.Errorf("%q was loaded: %v", url, r)
		}
	}
	for _, name := range Names() {
		r, err := load(base + string(name) + extension)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.NewDecoder(r).Decode(&v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCompiledSectionsHoldNoItems checks that nested lists are sections of their own, so no document makes the
// library recurse.
func TestCompiledSectionsHoldNoItems(t *testing.T) {
	for _, name := range Names() {
		seen := make(map[*section]bool)
		var properties func(*jsonschema.Schema)
		properties = func(sch *jsonschema.Schema) {
			for field, p := range sch.Properties {
				if p.Items2020 != nil || p.Ref != nil {
					t.Errorf("%s: %s of %s still has its items or a $ref", name, field, sch.Location)
				}
				properties(p)
			}
		}
		var check func(*section)
		check = func(s *section) {
			if seen[s] {
				return
			}
			seen[s] = true
			properties(s.schema)
			for _, l := range s.lists {
				check(l.item)
			}
		}
		check(compiled(name))
	}
}
