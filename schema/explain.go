package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"opsmon/schema/strictjson"
)

// explain turns the library's errors for a value of a section into violations.
func (s *section) explain(err error, v any, path []step) []Violation {
	var e *jsonschema.ValidationError
	if !errors.As(err, &e) {
		panic(fmt.Sprintf("schema: validate a value that is not JSON: %v", err))
	}
	return s.leaves(nil, e, v, formatPath(path))
}

// leaves collects the errors without causes, which are the actual violations.
func (s *section) leaves(found []Violation, e *jsonschema.ValidationError, v any, path string) []Violation {
	for _, cause := range e.Causes {
		found = s.leaves(found, cause, v, path)
	}
	if len(e.Causes) > 0 {
		return found
	}
	_, pointer, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
	slash := strings.LastIndexByte(pointer, '/')
	node, _ := lookup(s.file, pointer[:max(slash, 0)]).(map[string]any)
	at, value := locate(v, e.InstanceLocation, path)
	switch keyword := pointer[slash+1:]; keyword {
	case "required":
		return append(found, missing(node, value, at)...)
	case "additionalProperties":
		return append(found, unknown(node, value, at)...)
	default:
		return append(found, Violation{at, sentence(keyword, node, value)})
	}
}

// lookup resolves a JSON pointer in a schema file; nil if it has no target. No name in our files needs escapes.
func lookup(v any, pointer string) any {
	if pointer == "" {
		return v
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		switch node := v.(type) {
		case map[string]any:
			v = node[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(node) {
				return nil
			}
			v = node[i]
		default:
			return nil
		}
	}
	return v
}

// locate resolves the library's location of a value: a JSON pointer with URL-escaped tokens.
func locate(v any, pointer, path string) (string, any) {
	if pointer == "" {
		return path, v
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		if raw, err := url.PathUnescape(token); err == nil {
			token = raw
		}
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch node := v.(type) {
		case map[string]any:
			path, v = strictjson.AppendKey(path, token), node[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(node) {
				return path, nil
			}
			path, v = path+"["+token+"]", node[i]
		}
	}
	return path, v
}

// missing returns a violation for each missing required property, at its own path.
func missing(node map[string]any, v any, path string) []Violation {
	object, _ := v.(map[string]any)
	required, _ := node["required"].([]any)
	var found []Violation
	for _, name := range required {
		name := fmt.Sprint(name)
		if _, ok := object[name]; !ok {
			found = append(found, Violation{strictjson.AppendKey(path, name), "is required"})
		}
	}
	return found
}

// unknown returns a violation for each property that is not in the schema, at its own path.
func unknown(node map[string]any, v any, path string) []Violation {
	known, _ := node["properties"].(map[string]any)
	object, _ := v.(map[string]any)
	names := make([]string, 0, len(object))
	for name := range object {
		if _, ok := known[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = names[:min(len(names), MaxViolations)]
	candidates := slices.Sorted(maps.Keys(known))
	found := make([]Violation, len(names))
	for i, name := range names {
		issue, ok := node["x-sentence"].(string)
		if !ok {
			issue = "is not a known field; did you mean " + nearest(name, candidates) + "?"
		}
		found[i] = Violation{strictjson.AppendKey(path, name), issue}
	}
	return found
}

// sentence describes what a value must be and what it is.
func sentence(keyword string, node map[string]any, v any) string {
	length := 0
	if s, ok := v.(string); ok {
		length = utf8.RuneCountInString(s)
	}
	switch keyword {
	case "minItems":
		return "must have at least " + count(node["minItems"], "item")
	case "minLength":
		if length == 0 {
			return "must have at least " + count(node["minLength"], "character") + "; it is empty"
		}
		return fmt.Sprintf("must be %v characters or more; it has %d", node["minLength"], length)
	case "maxLength":
		return fmt.Sprintf("must be %v characters or fewer; it has %d", node["maxLength"], length)
	case "pattern", "format":
		return fmt.Sprintf("%v; it is %s", node["x-sentence"], show(v))
	case "enum":
		return "must be " + oneOf(node["enum"].([]any)) + "; it is " + show(v)
	case "const":
		return "must be " + bare(node["const"]) + "; it is " + show(v)
	case "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum":
		return "must be " + noun(types(node)[0]) + bounds(node) + "; it is " + show(v)
	case "type":
		kinds := types(node)
		nouns := make([]string, len(kinds))
		for i, t := range kinds {
			nouns[i] = noun(t)
		}
		must := "must be " + nouns[0]
		if words, ok := node["x-sentence"].(string); ok && kinds[0] == "string" {
			must = words
		}
		return strings.Join(append([]string{must}, nouns[1:]...), " or ") + "; it is " + show(v)
	}
	panic("schema: no sentence for the keyword " + keyword) // a test covers all keywords of the files
}

func types(node map[string]any) []string {
	list, ok := node["type"].([]any)
	if !ok {
		return []string{fmt.Sprint(node["type"])}
	}
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = fmt.Sprint(t)
	}
	return names
}

func noun(jsonType string) string {
	switch jsonType {
	case "string":
		return "text"
	case "integer":
		return "a whole number"
	case "number":
		return "a number"
	case "boolean":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return jsonType
}

// bounds describes the range of a number: " of at least 0 and below 24".
func bounds(node map[string]any) string {
	var parts []string
	for _, b := range []struct{ keyword, words string }{
		{"minimum", "of at least"}, {"exclusiveMinimum", "above"}, {"maximum", "at most"}, {"exclusiveMaximum", "below"},
	} {
		if limit, ok := node[b.keyword]; ok {
			parts = append(parts, fmt.Sprint(b.words, " ", limit))
		}
	}
	return " " + strings.Join(parts, " and ")
}

func count(n any, what string) string {
	if s := fmt.Sprint(n); s != "1" {
		what = s + " " + what + "s"
		return what
	}
	return "1 " + what
}

func oneOf(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = bare(v)
	}
	if len(words) < 3 {
		return strings.Join(words, " or ")
	}
	last := len(words) - 1
	return "one of " + strings.Join(words[:last], ", ") + ", or " + words[last]
}

// bare returns an allowed value without quotes.
func bare(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return show(v)
}

// show returns a short form of a value for a message, without the content of objects and lists.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strictjson.Quote(v)
	case json.Number:
		if len(v) > 64 {
			return string(v[:64]) + "…"
		}
		return string(v)
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return fmt.Sprint(v)
}

func formatPath(steps []step) string {
	path := ""
	for _, s := range steps {
		if s.index >= 0 {
			path += "[" + strconv.Itoa(s.index) + "]"
		} else {
			path = strictjson.AppendKey(path, s.key)
		}
	}
	return path
}

// comparePaths orders paths naturally: indices in brackets by number.
func comparePaths(a, b string) int {
	for a != "" && b != "" {
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		inBrackets := a[0] == '['
		a, b = a[1:], b[1:]
		if !inBrackets {
			continue
		}
		na, nb := digits(a), digits(b)
		if len(na) != len(nb) { // indices have no leading zeros
			return len(na) - len(nb)
		}
		if c := strings.Compare(na, nb); c != 0 {
			return c
		}
	}
	return len(a) - len(b)
}

func digits(s string) string {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return s[:n]
}
