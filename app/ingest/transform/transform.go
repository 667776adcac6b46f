// Package transform checks an account's uploadTransforms: YAML that is a JSONata expression, or a mapping whose
// leaves are JSONata expressions (http-api.md section 2.1; decisions.md section 2). It also evaluates the mapping of
// messages from the plant's own broker (monitoring.md section 2). This process only compiles expressions: an
// evaluation has no timeout and can crash the process, so Evaluator uses a child process.
//
// The text is untrusted, and neither library was made for hostile input. The limits below keep the cost of a check
// proportional to the length of the text: the JSONata parser takes quadratic time for some texts (escapes, function
// signatures), recurses as deep as they nest, and compiles regular expressions whose repetitions multiply.
package transform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"opsmon/app/errdefs"
)

const (
	// MaxLength is the maximum length of the whole text, in bytes.
	MaxLength = 64 << 10
	// MaxExpression is the maximum length of one expression, in bytes. With the deepest possible nesting, the parser
	// needs 8 MB of stack.
	MaxExpression = 16 << 10
	// MaxNesting is the maximum nesting of mappings and sequences.
	MaxNesting = 32
	// MaxEntries is the maximum number of values, mappings and sequences after the expansion of aliases.
	MaxEntries = 10_000
)

// Check returns the problems of uploadTransforms, or nil; at most errdefs.MaxDetails, of which the last then has the
// number of omitted ones. Field is the path inside the text ("columns.good", "rows[2].sku"), empty for the whole
// text; the caller adds its own field as prefix. Issue is a message for users with the line and column, counted from
// 1 in characters.
func Check(text string) (details []errdefs.Detail) {
	c := checker{entries: make(map[*yaml.Node]int)}
	defer func() {
		if recover() != nil { // contain a defect of the YAML library
			details = []errdefs.Detail{{Issue: "must be YAML; it cannot be read"}}
		}
	}()
	c.check(text)
	return c.result()
}

// checker collects the problems of one text.
type checker struct { // without line ends
	lines   []string // of the text, without line ends
	details []errdefs.Detail
	more    int                // number of problems beyond those in details
	pattern int                // cost of regular expressions so far
	entries map[*yaml.Node]int // expanded number of entries by node with an anchor; open while it is being read
}

// open marks a node that is being read: an alias to it would make it contain itself.
const open = -1

func (c *checker) result() []errdefs.Detail {
	if c.more > 0 {
		c.details = append(c.details, errdefs.Detail{Issue: fmt.Sprintf("%d more problems are not shown", c.more)})
	}
	return c.details
}

func (c *checker) add(field, format string, args ...any) {
	if len(c.details) == errdefs.MaxDetails-1 {
		c.more++
		return
	}
	c.details = append(c.details, errdefs.Detail{Field: field, Issue: fmt.Sprintf(format, args...)})
}

func (c *checker) check(text string) {
	if len(text) > MaxLength {
		c.add("", "must be %d bytes or fewer; it has %d", MaxLength, len(text))
		return
	}
	if strings.TrimSpace(text) == "" {
		c.add("", "must hold a JSONata expression; it is empty (null unsets it)")
		return
	}
	c.lines = strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	var document, second yaml.Node
	if err := decoder.Decode(&document); err != nil {
		c.addYAML(err)
		return
	}
	if err := decoder.Decode(&second); err == nil {
		c.add("", "must be one YAML document; line %d, column %d begins a second one", second.Line, second.Column)
		return
	} else if !errors.Is(err, io.EOF) {
		c.addYAML(err)
		return
	}
	if c.node(document.Content[0], "", 1) > MaxEntries {
		c.add("", "must have %d entries or fewer, aliases written out", MaxEntries)
	}
}

// addYAML adds the problem of a text that is not YAML.
func (c *checker) addYAML(err error) {
	if errors.Is(err, io.EOF) {
		c.add("", "must hold a JSONata expression; it is empty (null unsets it)")
		return
	}
	line, what := c.yamlLine(err.Error())
	c.add("", `must be YAML; near line %d %s (an expression that holds ": " or " #", or begins with a symbol, stands in quotes or on lines of its own after "|")`, line, brief(what))
}

var yamlError = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// yamlLine parses the library's error: the line, counted from 1, and the problem. The library omits the line number
// on the first line, counts the lines of its parser from 0 and those of its scanner from 1, and reports none for
// unknown anchors and forbidden characters.
func (c *checker) yamlLine(message string) (line int, what string) {
	m := yamlError.FindStringSubmatch(message)
	if m == nil {
		return 1, message
	}
	line, _ = strconv.Atoi(m[1])
	what = m[2]
	byParser := false
	for _, end := range []string{" key", " ',' or ']'", " ',' or '}'", " '-' indicator", " node content", " <document start>"} {
		byParser = byParser || what == "did not find expected"+end
	}
	if byParser || line == 0 {
		line++
	}
	_, anchor, unknown := strings.Cut(strings.TrimSuffix(what, "' referenced"), "unknown anchor '")
	for i, text := range c.lines {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, forbidden) || unknown && strings.Contains(text, "*"+anchor) {
			return i + 1, what
		}
	}
	return min(line, len(c.lines)), what // what is missing at the end is reported on the last line
}

// forbidden reports whether YAML never allows a character.
func forbidden(r rune) bool {
	return r < ' ' && r != '\t' && r != '\r' || r == 0x7f || r == 0xfffe || r == 0xffff
}

// node checks a node with its content, and returns its expanded number of entries, at most MaxEntries+1.
func (c *checker) node(n *yaml.Node, path string, depth int) int {
	if n.Anchor != "" {
		c.entries[n] = open
	}
	entries := 1
	switch {
	case n.Kind == yaml.AliasNode:
		entries = c.entries[n.Alias] // the target has been checked at its own position
		if entries == open {
			c.add(path, "must not contain itself; line %d, column %d has *%s inside &%s", n.Line, n.Column, brief(n.Value), brief(n.Value))
			entries = 1
		}
	case n.Kind == yaml.ScalarNode:
		c.scalar(n, path)
	case depth > MaxNesting:
		c.add(path, "must be nested %d levels or fewer; line %d, column %d is deeper", MaxNesting, n.Line, n.Column)
	case n.Kind == yaml.MappingNode:
		entries += c.mapping(n, path, depth)
	default:
		for i, item := range n.Content {
			entries += c.node(item, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	}
	entries = min(entries, MaxEntries+1)
	if n.Anchor != "" {
		c.entries[n] = entries
	}
	return entries
}

// mapping checks keys and values, and returns the number of entries.
func (c *checker) mapping(n *yaml.Node, path string, depth int) int {
	entries := 0
	first := make(map[string]int) // line of each key
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		field := join(path, brief(key.Value))
		line, seen := first[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || key.Value == "":
			field = path
			c.add(path, "must have names as keys; line %d, column %d has none", key.Line, key.Column)
		case key.ShortTag() == "!!merge":
			c.add(field, "must not merge mappings; write out the keys at line %d, column %d", key.Line, key.Column)
		case seen:
			c.add(field, "must be there once; line %d, column %d repeats line %d", key.Line, key.Column, line)
		default:
			first[key.Value] = key.Line
		}
		if key.Anchor != "" {
			c.entries[key] = 1
		}
		entries = min(entries+c.node(value, field, depth+1), MaxEntries+1)
	}
	return entries
}

// scalar checks a leaf. YAML's numbers, booleans and null are JSONata literals too.
func (c *checker) scalar(n *yaml.Node, path string) {
	switch tag := n.ShortTag(); tag {
	case "!!str":
		c.expression(n, path)
	case "!!bool", "!!int":
	case "!!null":
		if n.Value == "" {
			c.add(path, "must be a JSONata expression; line %d, column %d has none", n.Line, n.Column)
		}
	case "!!float":
		var v float64
		if err := n.Decode(&v); err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			c.add(path, "must be a JSONata expression; line %d, column %d is not a number that JSON has", n.Line, n.Column)
		}
	case "!!timestamp":
		c.add(path, "must be a JSONata expression; line %d, column %d is a date, which stands in two kinds of quotes: '\"%s\"'", n.Line, n.Column, brief(n.Value))
	default:
		c.add(path, "must be a JSONata expression; line %d, column %d has the tag %s", n.Line, n.Column, brief(tag))
	}
}

// join appends a key to a path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// brief shortens a part of the user's text or of a library's message, and puts it on one line.
func brief(s string) string {
	const most = 60
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s[:min(len(s), most*utf8.UTFMax)], "�"))
	return errdefs.ShortenTo(s, most)
}
