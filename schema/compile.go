package schema

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"opsmon/schema/strictjson"
)

// section is a part of a schema that is validated separately: the root, or the elements of one list. Its compiled
// form covers everything except the content of its lists, which the walker validates element by element. This keeps
// each call into the library small: big documents are validated in parallel, the library does not recurse, and its
// large list of errors does not grow with the document.
type section struct {
	schema *jsonschema.Schema
	shape  *shape // accepts most valid values; nil if only the library can decide
	file   any    // the schema file, in which keyword locations are resolved
	lists  []list
	nested bool // has lists of objects, so one element can be a lot of work
}

// list is a list in a section, whose elements are validated by another section.
type list struct {
	path []string // property names from the section's value to the list
	item *section // validates each element
}

// maxObjects is the nesting of objects beyond which a schema is considered circular.
const maxObjects = 16

// compiler makes the sections of one file from the library's compiled schema, which it modifies: a property that is
// only a $ref is replaced by its target, which saves the library a step per value, and a list loses its items.
type compiler struct {
	file     any
	sections map[*jsonschema.Schema]*section // by the schema that they validate with
	items    map[*jsonschema.Schema]*section // by the list whose items they validate
}

// compile returns the root section of a schema.
func compile(name Name) (*section, error) {
	file, err := strictjson.Decode(JSON(name))
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	root, err := newLibrary().Compile(base + string(name) + extension)
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	c := compiler{file, make(map[*jsonschema.Schema]*section), make(map[*jsonschema.Schema]*section)}
	s, err := c.section(root)
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	return s, nil
}

func newLibrary() *jsonschema.Compiler {
	lib := jsonschema.NewCompiler()
	lib.Draft = jsonschema.Draft2020
	lib.AssertFormat = true
	lib.Formats["date-time"] = isTimestamp
	lib.LoadURL = load
	return lib
}

// load returns an embedded schema, and an error for any other URL.
func load(url string) (io.ReadCloser, error) {
	for _, name := range Names() {
		if url == base+string(name)+extension {
			return io.NopCloser(bytes.NewReader(JSON(name))), nil
		}
	}
	return nil, fmt.Errorf("%s is not an embedded schema", url)
}

// section returns the section that validates with a compiled schema.
func (c *compiler) section(sch *jsonschema.Schema) (*section, error) {
	sch = target(sch)
	if s := c.sections[sch]; s != nil {
		return s, nil
	}
	s := &section{schema: sch, file: c.file}
	c.sections[sch] = s
	if err := c.split(s, sch, nil); err != nil {
		return nil, err
	}
	s.shape = newShape(sch, c.file)
	slices.SortFunc(s.lists, func(a, b list) int { return slices.Compare(a.path, b.path) })
	return s, nil
}

// split finds the lists below a compiled schema and removes their items from it. path leads there from the section's
// value.
func (c *compiler) split(s *section, sch *jsonschema.Schema, path []string) error {
	if len(path) > maxObjects {
		return fmt.Errorf("%s: circular $ref outside of lists", sch.Location)
	}
	for name, p := range sch.Properties {
		p = target(p)
		sch.Properties[name] = p
		inner := append(slices.Clone(path), name)
		if p.Items2020 != nil {
			item, err := c.section(p.Items2020)
			if err != nil {
				return err
			}
			c.items[p], p.Items2020 = item, nil
		}
		if item := c.items[p]; item != nil {
			s.lists = append(s.lists, list{inner, item})
			s.nested = s.nested || item.schema.Properties != nil
		}
		if err := c.split(s, p, inner); err != nil {
			return err
		}
	}
	return nil
}

// target follows $ref. In our files a $ref has only annotations next to it, which a test checks.
func target(sch *jsonschema.Schema) *jsonschema.Schema {
	for sch.Ref != nil {
		sch = sch.Ref
	}
	return sch
}

// isTimestamp validates the format date-time: exactly RFC 3339, as far as time.Parse can parse it.
func isTimestamp(v any) bool {
	s, ok := v.(string)
	if !ok {
		return true
	}
	_, err := time.Parse(time.RFC3339, s)
	return err == nil && len(s) >= len("2026-11-20T08:15:30Z") && s[13] == ':' && !strings.Contains(s, ",")
}
