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

// section is a piece of a schema that is validated on its own: the root, or what one list holds. Its compiled
// form says everything but what stands in its lists; those are walked element by element (see walker). That
// keeps one call into the library small: big documents can share the processors, nothing recurses in there, and
// the library's list of errors, which is large, never grows with the document.
type section struct {
	schema *jsonschema.Schema
	shape  *shape // accepts most of what is valid; nil when the library must always be asked
	file   any    // the schema file, in which keyword locations resolve
	lists  []list
	nested bool // holds lists of objects, so one element can be a lot of work
}

// list is a place in a section where the rules continue in another one.
type list struct {
	path []string // property names from the section's value to the list
	item *section // what holds for each element
}

// maxObjects is how many objects may stand directly inside each other before a schema is taken for circular.
const maxObjects = 16

// compiler makes the sections of one file out of what the library compiled. It changes that: a property that is
// only a $ref becomes what it refers to, which saves the library a step for each value, and a list loses its
// items.
type compiler struct {
	file     any
	sections map[*jsonschema.Schema]*section // by what they validate
	items    map[*jsonschema.Schema]*section // by the list that the items were taken from
}

// compile makes the root section of a schema.
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

// load serves the library an embedded schema and nothing else.
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

// split finds the lists below a compiled schema and takes their items away from it. path leads there from the
// section's value.
func (c *compiler) split(s *section, sch *jsonschema.Schema, path []string) error {
	if len(path) > maxObjects {
		return fmt.Errorf("%s: $ref goes in a circle outside of lists", sch.Location)
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

// target follows $ref. Nothing but annotations stands beside a $ref in our files; a test sees to that.
func target(sch *jsonschema.Schema) *jsonschema.Schema {
	for sch.Ref != nil {
		sch = sch.Ref
	}
	return sch
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
