package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"opsmon/schema/strictjson"
)

// section is a piece of a schema that is validated on its own: the root, or what one list holds. Its compiled
// form says everything but what stands in its lists; those are walked element by element (see walker). That
// keeps one call into the library small: big documents can share the processors, nothing recurses in there, and
// the library's list of errors, which is large, never grows with the document.
type section struct {
	schema *jsonschema.Schema
	doc    map[string]any // what schema was compiled from; keyword locations resolve in it
	lists  []list
	nested bool // holds lists of objects, so one element can be a lot of work
}

// list is a place in a section where the rules continue in another one.
type list struct {
	path []string // property names from the section's value to the list
	item *section // what holds for each element
}

// annotations say nothing about validity; they are for readers of the files.
var annotations = []string{"$schema", "$id", "$defs", "title", "description", "default", "examples", "readOnly", "deprecated"}

// compiler makes sections of one file. Each $ref is replaced by what it refers to: the library would go through
// more steps for each value otherwise.
type compiler struct {
	name     Name
	file     map[string]any
	sections map[string]*section // by the pointer into the file
	order    []*section
}

func compile(name Name, file []byte) (*section, error) {
	root, err := compileFile(name, file)
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	return root, nil
}

func compileFile(name Name, file []byte) (*section, error) {
	v, err := strictjson.Decode(file)
	if err != nil {
		return nil, err
	}
	doc, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("it is not an object")
	}
	c := compiler{name: name, file: doc, sections: make(map[string]*section)}
	root, err := c.section("#")
	if err != nil {
		return nil, err
	}
	return root, c.finish()
}

// section gives the section whose rules stand at a pointer into the file.
func (c *compiler) section(pointer string) (*section, error) {
	if s := c.sections[pointer]; s != nil {
		return s, nil
	}
	s := &section{}
	c.sections[pointer] = s
	c.order = append(c.order, s)
	doc, err := c.flatten(flattening{section: s}, pointer)
	if err != nil {
		return nil, err
	}
	s.doc = doc
	return s, nil
}

// flattening is where flatten is.
type flattening struct {
	section *section
	path    []string // property names from the section's value
	branch  bool     // inside allOf, if or then: a list there is not the section's own
	refs    int      // how many $ref led here
}

// flatten gives the schema at a pointer without annotations, each $ref replaced by its target, and each list's
// items moved to a section of their own.
func (c *compiler) flatten(at flattening, pointer string) (map[string]any, error) {
	node, err := c.resolve(pointer)
	if err != nil {
		return nil, err
	}
	if ref, ok := node["$ref"]; ok {
		if at.refs++; at.refs > 32 {
			return nil, fmt.Errorf("%s: $ref goes in a circle outside of a list", pointer)
		}
		return c.flatten(at, fmt.Sprint(ref))
	}
	out := make(map[string]any, len(node))
	for keyword, value := range node {
		if slices.Contains(annotations, keyword) {
			continue
		}
		here := pointer + "/" + keyword
		switch keyword {
		case "properties":
			props := make(map[string]any)
			for name := range value.(map[string]any) {
				in := at
				in.path = append(slices.Clone(at.path), name)
				if props[name], err = c.flatten(in, here+"/"+name); err != nil {
					return nil, err
				}
			}
			value = props
		case "items":
			if !at.branch {
				if err := c.list(at, here); err != nil {
					return nil, err
				}
				continue
			}
			if value, err = c.flatten(at, here); err != nil {
				return nil, err
			}
		case "if", "then":
			in := at
			in.branch = true
			if value, err = c.flatten(in, here); err != nil {
				return nil, err
			}
		case "allOf":
			in := at
			in.branch = true
			all := make([]any, len(value.([]any)))
			for i := range all {
				if all[i], err = c.flatten(in, here+"/"+strconv.Itoa(i)); err != nil {
					return nil, err
				}
			}
			value = all
		}
		out[keyword] = value
	}
	return out, nil
}

// list notes that the items at a pointer hold for the list at a place of a section.
func (c *compiler) list(at flattening, items string) error {
	node, err := c.resolve(items)
	if err != nil {
		return err
	}
	if ref, ok := node["$ref"]; ok {
		items = fmt.Sprint(ref)
	}
	item, err := c.section(items)
	if err != nil {
		return err
	}
	at.section.lists = append(at.section.lists, list{at.path, item})
	return nil
}

// resolve finds the object at a pointer into the file, such as "#/$defs/Station/properties/code".
func (c *compiler) resolve(pointer string) (map[string]any, error) {
	rest, ok := strings.CutPrefix(pointer, "#")
	if !ok {
		return nil, fmt.Errorf("%s: $ref must stay inside the file", pointer)
	}
	node, ok := lookup(c.file, rest).(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: there is no schema", pointer)
	}
	return node, nil
}

// lookup follows a JSON pointer without escapes, which no name in our files needs; nil when it leads nowhere.
func lookup(v any, pointer string) any {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch node := v.(type) {
		case map[string]any:
			if token != "" {
				v = node[token]
			}
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

// finish compiles all sections as definitions of one document.
func (c *compiler) finish() error {
	defs := make(map[string]any, len(c.order))
	for i, s := range c.order {
		defs[strconv.Itoa(i)] = s.doc
		slices.SortFunc(s.lists, func(a, b list) int { return slices.Compare(a.path, b.path) })
		for _, l := range s.lists {
			s.nested = s.nested || l.item.doc["properties"] != nil
		}
	}
	text, err := json.Marshal(map[string]any{"$defs": defs})
	if err != nil {
		return err
	}
	lib := jsonschema.NewCompiler()
	lib.Draft = jsonschema.Draft2020
	lib.AssertFormat = true
	lib.Formats["date-time"] = isTimestamp
	lib.LoadURL = func(url string) (io.ReadCloser, error) { return nil, fmt.Errorf("%s is not embedded", url) }
	url := base + string(c.name)
	if err := lib.AddResource(url, bytes.NewReader(text)); err != nil {
		return err
	}
	for i, s := range c.order {
		if s.schema, err = lib.Compile(url + "#/$defs/" + strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

// isTimestamp is the format date-time: RFC 3339 to the letter, as far as time.Parse can read it too.
func isTimestamp(v any) bool {
	s, ok := v.(string)
	if !ok {
		return true
	}
	_, err := time.Parse(time.RFC3339, s)
	return err == nil && len(s) >= len("2026-11-20T08:15:30Z") && s[13] == ':' && !strings.Contains(s, ",")
}
