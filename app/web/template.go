package web

import (
	"bytes"
	"fmt"
	"html"
	"io/fs"
	"regexp"
	"strings"
)

// template is a page in a subset of Go's html/template:
//
//	{{.Name}}                             text, escaped for the content of elements and for quoted attributes
//	{{if .Name}} … {{else}} … {{end}}     a bool
//	{{range .Name}} … {{end}}             once with each of a []view
//	{{define "name"}} … {{end}}           a block, in the layout
//	{{template "name" .}}                 the use of a block
//	{{words "key"}}                       a text of the catalogue, escaped; {Name} in it stands for a value
//
// html/template itself is not used because it calls methods by names that are only known at run time. The linker must
// then keep every exported method of every type in the binary: 3.9 MB.
type template struct {
	name   string // of its file, for errors
	parts  []part
	pieces map[string][]part
}

// view has the values of a template by name: string, markup, bool or []view. Its words are the catalogue.
type view map[string]any

// markup is inserted without escaping.
type markup string

// part is a text, or a tag with its content.
type part struct {
	text      string
	verb      string // "": text, ".": a value, "if", "range", "template", "words"
	name      string // of the value or the block, or a key
	then, not []part
}

// readTemplate parses a page and the layout's blocks. It returns an error for unknown tags and missing blocks.
func readTemplate(from fs.FS, layout, page string) (*template, error) {
	t := &template{name: page, pieces: map[string][]part{}}
	for _, name := range []string{layout, page} {
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, err
		}
		r := &reader{rest: string(text), pieces: t.pieces}
		parts, end := r.parts()
		if end != "" {
			r.fail("{{%s}} closes nothing", end)
		}
		if r.err != nil {
			return nil, fmt.Errorf("%s line %d: %w", name, 1+strings.Count(string(text[:len(text)-len(r.rest)]), "\n"), r.err)
		}
		t.parts = parts
	}
	return t, nil
}

// reader parses a template's text into parts. After an error it returns nothing more.
type reader struct {
	rest   string
	pieces map[string][]part
	err    error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// parts parses up to the closing tag and returns that: "else", "end", or "" at the end of the text.
func (r *reader) parts() (list []part, end string) {
	for r.err == nil {
		text, rest, found := strings.Cut(r.rest, "{{")
		list = append(list, part{text: text})
		if !found {
			r.rest = ""
			return list, ""
		}
		r.rest = rest
		tag, rest, found := strings.Cut(rest, "}}")
		if !found {
			r.fail("{{ without }}")
			return nil, ""
		}
		r.rest = rest
		if tag == "else" || tag == "end" {
			return list, tag
		}
		list = append(list, r.tag(tag))
	}
	return nil, ""
}

// tag parses the rest of a tag with its content.
func (r *reader) tag(tag string) part {
	verb, operand, _ := strings.Cut(tag, " ")
	value, isValue := strings.CutPrefix(operand, ".")
	switch {
	case operand == "" && isName(strings.TrimPrefix(verb, ".")) && verb[0] == '.':
		return part{verb: ".", name: verb[1:]}
	case verb == "if" && isValue && isName(value):
		p := part{verb: verb, name: value}
		var end string
		if p.then, end = r.parts(); end == "else" {
			p.not, end = r.parts()
		}
		r.closed(tag, end)
		return p
	case verb == "range" && isValue && isName(value):
		then, end := r.parts()
		r.closed(tag, end)
		return part{verb: verb, name: value, then: then}
	case verb == "define" && isName(unquote(operand)):
		then, end := r.parts()
		r.closed(tag, end)
		r.pieces[unquote(operand)] = then
		return part{}
	case verb == "words" && len(operand) > 2:
		return part{verb: verb, name: unquote(operand)}
	case verb == "template" && r.pieces[unquote(strings.TrimSuffix(operand, " ."))] != nil:
		return part{verb: verb, name: unquote(strings.TrimSuffix(operand, " ."))}
	}
	r.fail("{{%s}} is no tag that pages know, or names what is not there", tag)
	return part{}
}

func (r *reader) closed(tag, end string) {
	if end != "end" {
		r.fail("{{%s}} is not closed by {{end}}", tag)
	}
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func unquote(s string) string { return strings.TrimSuffix(strings.TrimPrefix(s, `"`), `"`) }

// fill returns the page. It returns an error if a value is missing or of another type.
func (t *template) fill(v view) ([]byte, error) {
	var b bytes.Buffer
	if err := t.write(&b, t.parts, v); err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	return b.Bytes(), nil
}

func (t *template) write(b *bytes.Buffer, parts []part, v view) error {
	for _, p := range parts {
		b.WriteString(p.text)
		if err := t.writeTag(b, p, v); err != nil {
			return err
		}
	}
	return nil
}

func (t *template) writeTag(b *bytes.Buffer, p part, v view) error {
	switch p.verb {
	case "":
		return nil
	case "template":
		return t.write(b, t.pieces[p.name], v)
	case ".":
		if text, found := v[p.name].(string); found {
			b.WriteString(html.EscapeString(text))
			return nil
		}
		if text, found := v[p.name].(markup); found {
			b.WriteString(string(text))
			return nil
		}
	case "words":
		return v.writeWords(b, p.name)
	case "if":
		if is, found := v[p.name].(bool); found && is {
			return t.write(b, p.then, v)
		} else if found {
			return t.write(b, p.not, v)
		}
	case "range":
		if list, found := v[p.name].([]view); found {
			for _, one := range list {
				if err := t.write(b, p.then, one); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return fmt.Errorf("{{%s}}: .%s is missing, or of another kind", p.verb, p.name)
}

var argument = regexp.MustCompile(`\{([A-Za-z]+)\}`)

// writeWords writes a text of the catalogue. Its values are isolated from the direction of the text around them. A text
// with a plural is refused: only scripts format those.
func (v view) writeWords(b *bytes.Buffer, key string) error {
	catalogue, _ := v["Words"].(words)
	text, found := catalogue[key]
	if !found {
		return fmt.Errorf("{{words %q}}: there is no such text", key)
	}
	var failed error
	text = argument.ReplaceAllStringFunc(html.EscapeString(text), func(name string) string {
		value, found := v[name[1:len(name)-1]].(string)
		if !found {
			failed = fmt.Errorf("{{words %q}}: %s has no value", key, name)
		}
		return "<bdi>" + html.EscapeString(value) + "</bdi>"
	})
	if strings.ContainsAny(argument.ReplaceAllString(catalogue[key], ""), "{}<") {
		failed = fmt.Errorf("{{words %q}}: pages without a script take only arguments such as {Name}", key)
	}
	b.WriteString(text)
	return failed
}
