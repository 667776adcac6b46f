package schema

import (
	"encoding/json"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// shape is a fast check of a compiled schema. It accepts a valid value at a fraction of the library's cost: the
// library makes several allocations per property, which on a big manifest take many times the memory of the document.
// A shape never rejects a value: whatever it does not accept goes to the library, so only the library decides what is
// a violation.
type shape struct {
	kinds    kind
	values   []any // enum and const: strings and nil; empty if any value is valid
	minLen   int   // in code points
	maxLen   int
	pattern  *regexp.Regexp // nil if any text is valid
	stamp    bool           // has format date-time
	above    float64        // minimum; atAbove: inclusive
	atAbove  bool
	below    float64 // maximum; atBelow: inclusive
	atBelow  bool
	fields   map[string]*shape // a nil shape leaves the field to the library
	required []string
	closed   bool // no other fields allowed
	minItems int
}

// kind is a set of JSON types.
type kind uint8

const (
	isNull kind = 1 << iota
	isBool
	isText
	isInteger
	isNumber
	isList
	isObject
)

var kinds = map[string]kind{"null": isNull, "boolean": isBool, "string": isText, "integer": isInteger, "number": isNumber, "array": isList, "object": isObject}

// inShape are the keywords that a shape supports. "items" is among them because the walker validates lists
// separately.
var inShape = []string{"$schema", "$id", "$defs", "title", "description", "default", "examples", "readOnly", "deprecated", "x-sentence",
	"type", "enum", "const", "required", "properties", "additionalProperties", "items", "minItems", "minLength", "maxLength",
	"pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}

// newShape returns the shape of a compiled schema without its lists; nil if the schema has keywords that a shape does
// not support.
func newShape(sch *jsonschema.Schema, file any) *shape {
	_, pointer, _ := strings.Cut(sch.Location, "#")
	node, _ := lookup(file, pointer).(map[string]any)
	if node == nil || sch.Items2020 != nil || sch.Format != "" && sch.Format != "date-time" {
		return nil
	}
	for keyword := range node {
		if !slices.Contains(inShape, keyword) {
			return nil
		}
	}
	others, plain := sch.AdditionalProperties.(bool)
	if sch.AdditionalProperties != nil && !plain {
		return nil
	}
	s := &shape{values: append(slices.Clone(sch.Enum), sch.Constant...), minLen: sch.MinLength, maxLen: sch.MaxLength, pattern: sch.Pattern,
		stamp: sch.Format != "", required: sch.Required, closed: plain && !others, minItems: sch.MinItems}
	for _, v := range s.values {
		if _, text := v.(string); !text && v != nil {
			return nil
		}
	}
	for _, t := range sch.Types {
		s.kinds |= kinds[t]
	}
	if len(sch.Types) == 0 {
		s.kinds = math.MaxUint8
	}
	if s.maxLen < 0 {
		s.maxLen = math.MaxInt
	}
	s.above, s.atAbove = limit(sch.Minimum, sch.ExclusiveMinimum, math.Inf(-1))
	s.below, s.atBelow = limit(sch.Maximum, sch.ExclusiveMaximum, math.Inf(1))
	s.fields = make(map[string]*shape, len(sch.Properties))
	for name, p := range sch.Properties {
		s.fields[name] = newShape(p, file)
	}
	return s
}

// limit returns one end of a range and whether it is inclusive. Limits have few digits, so comparing float64 values
// is exact for numbers of at most 15 digits.
func limit(including, excluding *big.Rat, none float64) (end float64, inside bool) {
	switch {
	case including != nil:
		end, _ = including.Float64()
		return end, true
	case excluding != nil:
		end, _ = excluding.Float64()
		return end, false
	}
	return none, true
}

// accepts reports whether a value certainly satisfies the schema, not counting the elements of its lists.
func (s *shape) accepts(v any) bool {
	if s == nil {
		return false
	}
	if len(s.values) > 0 {
		if _, text := v.(string); !text && v != nil || !slices.Contains(s.values, v) {
			return false
		}
	}
	switch v := v.(type) {
	case nil:
		return s.kinds&isNull != 0
	case bool:
		return s.kinds&isBool != 0
	case string:
		return s.kinds&isText != 0 && s.acceptsText(v)
	case json.Number:
		return s.acceptsNumber(string(v))
	case []any:
		return s.kinds&isList != 0 && len(v) >= s.minItems
	case map[string]any:
		return s.kinds&isObject != 0 && s.acceptsObject(v)
	}
	return false
}

func (s *shape) acceptsText(text string) bool {
	if s.minLen > 0 || s.maxLen < math.MaxInt {
		if n := utf8.RuneCountInString(text); n < s.minLen || n > s.maxLen {
			return false
		}
	}
	return (s.pattern == nil || s.pattern.MatchString(text)) && (!s.stamp || isTimestamp(text))
}

// acceptsNumber leaves numbers that need exact arithmetic to the library: exponents, many digits, 2.0 as an integer.
func (s *shape) acceptsNumber(digits string) bool {
	if len(digits) > 15 || strings.ContainsAny(digits, "eE") {
		return false
	}
	if s.kinds&isNumber == 0 && (s.kinds&isInteger == 0 || strings.Contains(digits, ".")) {
		return false
	}
	f, err := strconv.ParseFloat(digits, 64)
	return err == nil && (f > s.above || s.atAbove && f == s.above) && (f < s.below || s.atBelow && f == s.below)
}

func (s *shape) acceptsObject(object map[string]any) bool {
	for _, name := range s.required {
		if _, ok := object[name]; !ok {
			return false
		}
	}
	for name, v := range object {
		if field, ok := s.fields[name]; ok && !field.accepts(v) || !ok && s.closed {
			return false
		}
	}
	return true
}
