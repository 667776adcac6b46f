package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// object is a JSON object that keeps the order of its members, so that the fields of a schema keep their order and the
// document's bytes are reproducible. Its values are objects, []any, or other values decoded by encoding/json.
type object []member

type member struct {
	name  string
	value any
}

// obj returns an object of alternating names and values. Members with a nil value are left out.
func obj(namesAndValues ...any) object {
	o := make(object, 0, len(namesAndValues)/2)
	for i := 0; i < len(namesAndValues); i += 2 {
		if v := namesAndValues[i+1]; v != nil {
			o = append(o, member{namesAndValues[i].(string), v})
		}
	}
	return o
}

// get returns a member's value; nil: no such member.
func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// object returns a member that is an object; nil: no such member.
func (o object) object(name string) object {
	inner, _ := o.get(name).(object)
	return inner
}

// with returns a copy with another value of a member; a new member comes last.
func (o object) with(name string, value any) object {
	out := append(make(object, 0, len(o)+1), o...)
	for i := range out {
		if out[i].name == name {
			out[i].value = value
			return out
		}
	}
	return append(out, member{name, value})
}

// without returns a copy without some members.
func (o object) without(drop func(name string) bool) object {
	out := make(object, 0, len(o))
	for _, m := range o {
		if !drop(m.name) {
			out = append(out, m)
		}
	}
	return out
}

// names returns the members' names in the form of a schema's "required".
func (o object) names() []any {
	out := make([]any, len(o))
	for i, m := range o {
		out[i] = m.name
	}
	return out
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, m := range o {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(strconv.Quote(m.name)) // names need no JSON escapes
		b.WriteByte(':')
		value, err := marshal(m.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		b.Write(value)
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// parse decodes JSON in the program's source. It panics if that is invalid.
func parse(text string) any {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	v, err := parseValue(dec)
	if err != nil {
		panic(fmt.Sprintf("openapi: %v in %s", err, text))
	}
	return v
}

func parseValue(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := object{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			value, err := parseValue(dec)
			if err != nil {
				return nil, err
			}
			o = append(o, member{name.(string), value})
		}
		_, err := dec.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			value, err := parseValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err := dec.Token()
		return list, err
	}
	return token, nil
}

// marshal encodes v without the HTML escapes that encoding/json adds.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
