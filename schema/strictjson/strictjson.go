// Package strictjson decodes JSON as the service accepts it (decisions.md section 1): one value, valid UTF-8, no
// duplicate keys, nothing after the value, bounded depth, and no number that a float64 cannot represent. Its errors
// have the line and column, and a sentence for the person who wrote the text.
package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxDepth is the maximum nesting of objects and arrays; the outermost is level one.
const MaxDepth = 64

// MaxContainers is the maximum number of objects and arrays in one input. One takes hundreds of bytes of memory for
// as few as two bytes of input; the largest manifest of a real plant has a tenth of this number.
const MaxContainers = 1 << 20

// maxNumberLen and maxExponent bound the cost of exact arithmetic on a number. Every float64 fits: written in full,
// with the 17 digits that identify it, the longest has 343 characters.
const (
	maxNumberLen = 400
	maxExponent  = 400
)

// Error is the position and the reason of a violation of strict JSON.
type Error struct {
	Line   int    // 1-based; lines end with \n
	Column int    // 1-based, in code points (in bytes if the text is not UTF-8)
	Path   string // dotted path of the value being read, "account.plants[2].code"; "" at the root
	Issue  string // what is wrong, without the position
}

// Error returns position and issue as one sentence: "line 3, column 14: the key \"code\" appears twice".
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Issue)
}

// Decode decodes exactly one strict JSON value (decisions.md section 1). It returns map[string]any, []any, string,
// json.Number (with the original digits), bool or nil; the error is always an *Error.
//
// The result does not refer to b, and the caller may change its maps and slices.
func Decode(b []byte) (any, error) {
	d := decoder{in: b}
	if err := d.checkEncoding(); err != nil {
		return nil, err
	}
	d.space()
	if d.pos == len(b) {
		return nil, d.fail(d.pos, "is empty: a JSON value is needed")
	}
	v, err := d.value()
	if err != nil {
		return nil, err
	}
	d.space()
	if d.pos < len(b) {
		return nil, d.fail(d.pos, "something follows the end of the JSON value: %s", d.found(d.pos))
	}
	return v, nil
}

// AppendKey extends a dotted path by a property name: AppendKey("account", "plants") is "account.plants". A name that
// is not valid in a dotted path is quoted in brackets, and a long one is shortened.
func AppendKey(path, key string) string {
	if !plainKey(key) {
		return path + "[" + Quote(key) + "]"
	}
	if utf8.RuneCountInString(key) > maxShown {
		key = shorten(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func plainKey(key string) bool {
	for _, r := range key {
		if r != '_' && r != '-' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return key != ""
}

// maxShown is the maximum number of code points of a value in a message.
const maxShown = 64

// Quote returns s in double quotes for a message: control characters are escaped, and a long text is shortened to its
// first 64 characters and "…".
func Quote(s string) string {
	if utf8.RuneCountInString(s) > maxShown {
		s = shorten(s)
	}
	return strconv.Quote(s)
}

func shorten(s string) string {
	end := 0
	for range maxShown {
		_, n := utf8.DecodeRuneInString(s[end:])
		end += n
	}
	return s[:end] + "…"
}

// step is one level of the current position: a key of an object, or an index of an array.
type step struct {
	key   string
	index int // inKey or inValue in an object
}

const (
	inKey   = -1 // before the property's name has been read
	inValue = -2
)

// member is one property of an object that is being read. off is the offset of its key in the input.
type member struct {
	key   string
	value any
	off   int
}

// decoder decodes in one pass. Objects and arrays collect their content on two shared stacks, so that each map and
// slice is allocated once, in its final size.
type decoder struct {
	in   []byte
	pos  int
	path []step

	containers int // number of objects and arrays begun so far

	items []any
	props []member
	keys  [256]string
	texts [256]any        // boxed string values
	nums  [256]any        // boxed json.Number values
	block strings.Builder // see text
	buf   []byte          // a string with escapes while it is unescaped
}

// checkEncoding detects encodings that Windows programs often write, for which "invalid character" would not help.
func (d *decoder) checkEncoding() error {
	switch {
	case bytes.HasPrefix(d.in, []byte("\xef\xbb\xbf")):
		return d.fail(0, "the text starts with a byte order mark: save it as UTF-8 without one")
	case bytes.HasPrefix(d.in, []byte("\xff\xfe")), bytes.HasPrefix(d.in, []byte("\xfe\xff")):
		return d.fail(0, "the text is UTF-16: save it as UTF-8")
	}
	return nil
}

func (d *decoder) space() {
	for d.pos < len(d.in) {
		switch d.in[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// value decodes the value at pos, which is not white space.
func (d *decoder) value() (any, error) {
	if d.pos == len(d.in) {
		return nil, d.fail(d.pos, "the text ends where a value is needed")
	}
	switch c := d.in[d.pos]; {
	case c == '"':
		return d.stringValue()
	case c == '{':
		return d.object()
	case c == '[':
		return d.array()
	case c == '-' || '0' <= c && c <= '9':
		return d.number()
	case c == 't':
		return true, d.literal("true")
	case c == 'f':
		return false, d.literal("false")
	case c == 'n':
		return nil, d.literal("null")
	}
	return nil, d.fail(d.pos, "a value is needed, not %s", d.found(d.pos))
}

func (d *decoder) literal(word string) error {
	if !bytes.HasPrefix(d.in[d.pos:], []byte(word)) {
		return d.fail(d.pos, "a value is needed: true, false and null are the only words outside quotes")
	}
	d.pos += len(word)
	return nil
}

func (d *decoder) object() (any, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	d.pos++
	base, level := len(d.props), len(d.path)
	d.path = append(d.path, step{index: inKey})
	for first := true; ; first = false {
		d.space()
		if first && d.peek() == '}' {
			break
		}
		off := d.pos
		d.path[level].index = inKey
		if d.peek() != '"' {
			return nil, d.fail(off, "a property name in double quotes is needed, not %s", d.found(off))
		}
		key, err := d.key()
		if err != nil {
			return nil, err
		}
		d.path[level] = step{key, inValue}
		d.space()
		if d.peek() != ':' {
			return nil, d.fail(d.pos, "a colon is needed after the property name, not %s", d.found(d.pos))
		}
		d.pos++
		d.space()
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		d.props = append(d.props, member{key, v, off})
		d.space()
		if d.peek() == '}' {
			break
		}
		if d.peek() != ',' {
			return nil, d.fail(d.pos, "a comma or } is needed after the value, not %s", d.found(d.pos))
		}
		d.pos++
	}
	d.pos++
	members := d.props[base:]
	m := make(map[string]any, len(members))
	for i := range members {
		p := &members[i]
		m[p.key] = p.value
		if len(m) == i {
			d.path[level] = step{p.key, inValue}
			return nil, d.fail(p.off, "the property %s appears twice in one object", Quote(p.key))
		}
	}
	clear(members)
	d.props = d.props[:base]
	d.path = d.path[:level]
	return m, nil
}

func (d *decoder) array() (any, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	d.pos++
	base, level := len(d.items), len(d.path)
	d.path = append(d.path, step{})
	for first := true; ; first = false {
		d.space()
		if first && d.peek() == ']' {
			break
		}
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		d.items = append(d.items, v)
		d.path[level].index++
		d.space()
		if d.peek() == ']' {
			break
		}
		if d.peek() != ',' {
			return nil, d.fail(d.pos, "a comma or ] is needed after the value, not %s", d.found(d.pos))
		}
		d.pos++
	}
	d.pos++
	list := make([]any, len(d.items)-base)
	copy(list, d.items[base:])
	clear(d.items[base:])
	d.items = d.items[:base]
	d.path = d.path[:level]
	return list, nil
}

// peek returns the byte at pos, or 0 at the end of the input (0 is never valid outside a string).
func (d *decoder) peek() byte {
	if d.pos < len(d.in) {
		return d.in[d.pos]
	}
	return 0
}

// number decodes the number at pos. It preserves the digits, and refuses a number that a float64 cannot represent.
func (d *decoder) number() (any, error) {
	start := d.pos
	if d.in[d.pos] == '-' {
		d.pos++
	}
	whole := d.digits()
	if whole == 0 {
		return nil, d.fail(d.pos, "a number needs a digit here, not %s", d.found(d.pos))
	}
	if whole > 1 && d.in[d.pos-whole] == '0' {
		return nil, d.fail(start, "a number must not begin with 0")
	}
	if d.peek() == '.' {
		d.pos++
		if d.digits() == 0 {
			return nil, d.fail(d.pos, "a number needs a digit after the decimal point, not %s", d.found(d.pos))
		}
	}
	exponent := 0
	if c := d.peek(); c == 'e' || c == 'E' {
		d.pos++
		negative := d.peek() == '-'
		if negative || d.peek() == '+' {
			d.pos++
		}
		n := d.digits()
		if n == 0 {
			return nil, d.fail(d.pos, "a number needs a digit in its exponent, not %s", d.found(d.pos))
		}
		for _, c := range d.in[d.pos-n : d.pos] {
			exponent = min(exponent*10+int(c-'0'), maxExponent+1)
		}
		if exponent > maxExponent {
			return nil, d.fail(start, "the number has an exponent beyond %d", maxExponent)
		}
		if negative {
			exponent = -exponent
		}
	}
	raw := d.in[start:d.pos]
	if len(raw) > maxNumberLen {
		return nil, d.fail(start, "the number has %d characters; at most %d are allowed", len(raw), maxNumberLen)
	}
	if whole+exponent > 300 { // only then can it exceed 1.8e308
		if _, err := strconv.ParseFloat(string(raw), 64); err != nil {
			return nil, d.fail(start, "the number is larger than 1.8e308, the largest possible number")
		}
	}
	slot := &d.nums[hash(raw)]
	if known, ok := (*slot).(json.Number); ok && string(known) == string(raw) {
		return *slot, nil
	}
	var v any = json.Number(d.text(raw))
	*slot = v
	return v, nil
}

// digits skips decimal digits and returns their number.
func (d *decoder) digits() int {
	start := d.pos
	for d.pos < len(d.in) && '0' <= d.in[d.pos] && d.in[d.pos] <= '9' {
		d.pos++
	}
	return d.pos - start
}

// enter counts a new object or array.
func (d *decoder) enter() error {
	if len(d.path) == MaxDepth {
		return d.fail(d.pos, "objects and lists are nested more than %d levels deep", MaxDepth)
	}
	if d.containers++; d.containers > MaxContainers {
		return d.fail(d.pos, "there are more than %d objects and lists", MaxContainers)
	}
	return nil
}

// fail returns the error for an offset in the input. Line and column are only computed now.
func (d *decoder) fail(off int, format string, args ...any) error {
	before := d.in[:off]
	line := bytes.Count(before, []byte("\n")) + 1
	before = before[bytes.LastIndexByte(before, '\n')+1:]
	return &Error{Line: line, Column: utf8.RuneCount(before) + 1, Path: d.where(), Issue: fmt.Sprintf(format, args...)}
}

func (d *decoder) where() string {
	path := ""
	for _, s := range d.path {
		switch {
		case s.index >= 0:
			path += "[" + strconv.Itoa(s.index) + "]"
		case s.index == inValue:
			path = AppendKey(path, s.key)
		}
	}
	return path
}

// found describes the input at an offset, for a message.
func (d *decoder) found(off int) string {
	if off >= len(d.in) {
		return "the end of the text"
	}
	r, n := utf8.DecodeRune(d.in[off:])
	if r == utf8.RuneError && n == 1 {
		return fmt.Sprintf("the byte 0x%02x", d.in[off])
	}
	if strings.ContainsRune(`"'`, r) {
		return "a quotation mark"
	}
	return strconv.QuoteRune(r)
}
