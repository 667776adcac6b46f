package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/constant"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

const refPrefix = "#/components/schemas/"

// schema is the part of JSON Schema that answers need. Its members are encoded in the order of the fields.
type schema struct {
	Ref         string      `json:"$ref"`
	Description string      `json:"description"`
	AnyOf       []*schema   `json:"anyOf"`
	Type        any         `json:"type"` // a string or a list of strings
	Const       any         `json:"const"`
	Enum        []any       `json:"enum"`
	Format      string      `json:"format"`
	Pattern     string      `json:"pattern"`
	MinLength   json.Number `json:"minLength"`
	Minimum     json.Number `json:"minimum"`
	Maximum     json.Number `json:"maximum"`
	MaxItems    json.Number `json:"maxItems"`
	Items       *schema     `json:"items"`
	Required    []string    `json:"required"`
	Closed      bool        `json:"-"` // no additional properties
	Additional  *schema     `json:"additionalProperties"`
	Properties  properties  `json:"properties"`
}

type properties []member

type member struct {
	name   string
	schema *schema
}

// MarshalJSON writes the properties in their order.
func (p properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, m := range p {
		text, err := m.schema.MarshalJSON()
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s%q: %s", [...]string{"{", ", "}[min(i, 1)], m.name, text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// MarshalJSON encodes the members that are set.
func (s *schema) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	add := func(name string, value any) error {
		if b.Len() > 1 {
			b.WriteString(", ")
		}
		text, err := plain(value)
		fmt.Fprintf(&b, "%q: %s", name, text)
		return err
	}
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("json")
		if name == "additionalProperties" && s.Closed {
			b.WriteString(`, "additionalProperties": false`)
			continue
		}
		if name == "-" || v.Field(i).IsZero() || name == "required" && len(s.Required) == 0 {
			continue
		}
		if err := add(name, v.Field(i).Interface()); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plain encodes a value with a space after each comma and without HTML escapes.
func plain(v any) ([]byte, error) {
	list := reflect.ValueOf(v)
	if list.Kind() == reflect.Slice && list.Type() != reflect.TypeFor[properties]() {
		items := make([][]byte, list.Len())
		for i := range items {
			var err error
			if items[i], err = plain(list.Index(i).Interface()); err != nil {
				return nil, err
			}
		}
		return slices.Concat([]byte{'['}, bytes.Join(items, []byte(", ")), []byte{']'}), nil
	}
	switch v := v.(type) {
	case *schema:
		return v.MarshalJSON()
	case properties:
		return v.MarshalJSON()
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

func (s *schema) property(name string) *schema {
	for _, m := range s.Properties {
		if m.name == name {
			return m.schema
		}
	}
	return nil
}

// empty reports whether every value is valid.
func (s *schema) empty() bool { return reflect.ValueOf(*s).IsZero() }

// orNull returns a schema that also accepts null.
func (s *schema) orNull() *schema {
	name, one := s.Type.(string)
	if !one {
		if s.AnyOf != nil || s.empty() || s.Type != nil {
			return s // it accepts null already
		}
		return &schema{AnyOf: []*schema{s, {Type: "null"}}}
	}
	out := *s
	out.Type = []any{name, "null"}
	if s.Enum != nil {
		out.Enum = append(slices.Clone(s.Enum), nil)
	}
	return &out
}

// tagged returns a schema with the options of a field's tag.
func (s *schema) tagged(tag string) (*schema, error) {
	if tag == "" {
		return s, nil
	}
	out, nullable := s.notNull()
	for option := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "null":
			nullable = true
			continue
		case "is":
			out = schema{Ref: refPrefix + value}
			continue
		case "maxItems":
			out.MaxItems = json.Number(value)
			continue
		}
		of := &out // options of a list and a map apply to the elements
		for _, inner := range []**schema{&of.Items, &of.Additional} {
			if *inner != nil {
				held := **inner
				*inner, of = &held, &held
				break
			}
		}
		if !of.set(name, value) {
			return nil, fmt.Errorf("unknown option %q in the tag", name)
		}
	}
	if nullable {
		return out.orNull(), nil
	}
	return &out, nil
}

// notNull returns a copy of a schema that does not accept null, and whether the original did.
func (s *schema) notNull() (out schema, nullable bool) {
	if len(s.AnyOf) == 2 && s.AnyOf[1].Type == "null" {
		return *s.AnyOf[0], true
	}
	out = *s
	if list, ok := s.Type.([]any); ok && len(list) == 2 && list[1] == "null" {
		if out.Type = list[0]; s.Enum != nil {
			out.Enum = s.Enum[:len(s.Enum)-1]
		}
		return out, true
	}
	return out, false
}

// set applies an option of a tag; false: unknown option.
func (s *schema) set(option, value string) bool {
	switch option {
	case "ref":
		*s = schema{Ref: refPrefix + value}
	case "enum":
		if s.Enum = nil; s.Ref != "" {
			*s = schema{Type: "string"}
		}
		for one := range strings.SplitSeq(value, "|") {
			s.Enum = append(s.Enum, one)
		}
	case "const":
		if s.Ref != "" {
			*s = schema{Type: "string"}
		}
		if s.Const, s.Enum = value, nil; s.Type == "boolean" {
			s.Const = value == "true"
		}
	case "min":
		s.Minimum = json.Number(value)
	case "max":
		s.Maximum = json.Number(value)
	case "minLength":
		s.MinLength = json.Number(value)
	case "pattern":
		s.Pattern = value
	case "format":
		s.Format = value
	case "type":
		if names := strings.Split(value, "|"); len(names) == 1 {
			s.Type = value
		} else {
			s.Type = names
		}
	default:
		return false
	}
	return true
}

// sentence formats a comment as a sentence: with a capital letter, unless it begins with an identifier, and a full
// stop.
func sentence(comment string) string {
	if comment == "" {
		return ""
	}
	word, _, _ := strings.Cut(comment, " ")
	word = strings.TrimRight(word, ",:;.")
	if strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLower(r) && r != '-' }) < 0 {
		comment = strings.ToUpper(comment[:1]) + comment[1:]
	}
	if !strings.HasSuffix(comment, ".") {
		comment += "."
	}
	return comment
}

func tagOf(tag, name string) string { return reflect.StructTag(tag).Get(name) }

func constantString(c *types.Const) string {
	if c.Val().Kind() != constant.String {
		return ""
	}
	return constant.StringVal(c.Val())
}
