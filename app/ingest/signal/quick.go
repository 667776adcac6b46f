package signal

import (
	"bytes"
	"strconv"

	"opsmon/app/instant"
)

// QuickBatch decodes a typical machine's body of POST /signal at a fraction of the cost of strictjson, the schema and
// Read: known properties without duplicates, ASCII texts without escapes, numbers without exponents. It never rejects
// a body: if ok is false, the caller must use those, and only they decide what is invalid. A body that it accepts has
// the same result as with those. objects are for a Parcel.
func QuickBatch(body []byte) (objects []any, ok bool) {
	q := scanner{in: body, style: HTTP, stations: map[string]string{}}
	if !q.take('{') {
		return nil, false
	}
	if name, ok := q.name(); !ok || string(name) != "signals" || !q.take('[') {
		return nil, false
	}
	list := make([]Signal, 0, min(bytes.Count(body, []byte("{")), MaxBatch))
	for more := true; more; more = q.take(',') {
		if len(list) == cap(list) {
			return nil, false
		}
		list = append(list, Signal{})
		if !q.object(&list[len(list)-1]) {
			return nil, false
		}
	}
	if !q.take(']') || !q.take('}') || q.space() {
		return nil, false
	}
	objects = make([]any, len(list))
	for i := range list {
		objects[i] = &list[i]
	}
	return objects, true
}

// Quick is QuickBatch for a payload with one signal.
func Quick(payload []byte, style Style) (*Signal, bool) {
	q, s := scanner{in: payload, style: style}, &Signal{}
	return s, q.object(s) && !q.space()
}

// scanner scans a text once. Its methods return false for anything unexpected.
type scanner struct {
	in       []byte
	pos      int
	style    Style
	order    []named           // properties of the previous object, by position: most objects have the same ones
	stations map[string]string // deduplicates strings; nil for a single object
}

type named struct {
	text string // the quoted name with the colon
	property
}

// space skips white space and reports whether anything follows.
func (q *scanner) space() bool {
	for ; q.pos < len(q.in); q.pos++ {
		if b := q.in[q.pos]; b > ' ' || b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return true
		}
	}
	return false
}

// take skips white space, and c if it is next.
func (q *scanner) take(c byte) bool {
	if !q.space() || q.in[q.pos] != c {
		return false
	}
	q.pos++
	return true
}

// text reads a text.
func (q *scanner) text() ([]byte, bool) {
	if !q.take('"') {
		return nil, false
	}
	for start := q.pos; q.pos < len(q.in); q.pos++ {
		switch b := q.in[q.pos]; {
		case b == '"':
			q.pos++
			return q.in[start : q.pos-1], true
		case b == '\\' || b < ' ' || b > '~':
			return nil, false
		}
	}
	return nil, false
}

// name reads the name of a property and the colon after it.
func (q *scanner) name() (name []byte, ok bool) {
	name, ok = q.text()
	return name, ok && q.take(':')
}

func (q *scanner) object(s *Signal) bool {
	if !q.take('{') {
		return false
	}
	for i, seen := 0, uint32(0); ; i++ {
		p, ok := q.property(i)
		bit := uint32(1) << p.field
		if !ok || seen&bit != 0 || !q.value(s, p) {
			return false
		}
		seen |= bit
		if !q.take(',') {
			return q.take('}') && (s.Mask != 0 || s.ErrorCode != "")
		}
	}
}

// property reads the name of an object's property at a position, and the colon after it.
func (q *scanner) property(i int) (property, bool) {
	if i < len(q.order) && q.space() {
		if n := &q.order[i]; len(q.in)-q.pos >= len(n.text) && string(q.in[q.pos:q.pos+len(n.text)]) == n.text {
			q.pos += len(n.text)
			return n.property, true
		}
	}
	name, ok := q.name()
	if !ok {
		return property{}, false
	}
	p, ok := properties[q.style][string(name)]
	if ok && i == len(q.order) && q.stations != nil {
		q.order = append(q.order, named{`"` + string(name) + `":`, p})
	}
	return p, ok
}

func (q *scanner) value(s *Signal, p property) bool {
	if p.text == "" {
		n, ok := q.number(&fieldRules[p.field])
		s.Set(p.field, n)
		return ok
	}
	text, ok := q.text()
	if !ok || len(text) == 0 {
		return false
	}
	switch p.text {
	case "at":
		t, err := instant.Parse(string(text))
		s.At = t.UnixMilli()
		return err == nil && s.At > 0 && t.UTC().Year() <= 9999
	case "stationCode":
		if s.Station, ok = q.stations[string(text)]; !ok {
			s.Station = string(text)
			if q.stations != nil {
				q.stations[s.Station] = s.Station
			}
		}
		return len(text) <= maxStation
	case "id":
		s.ID = string(text)
		return len(text) <= maxID
	}
	s.ErrorCode = string(text)
	return len(text) <= maxErrorCode
}

// longestQuick is the maximum number of characters of a number, and longestExact the maximum number of digits that
// are always below 2^53 as an integer.
const (
	longestQuick = 24
	longestExact = 15
)

func (q *scanner) number(r *rule) (float64, bool) {
	q.space()
	rest := q.in[q.pos:]
	switch {
	case r.flag && bytes.HasPrefix(rest, []byte("true")):
		q.pos += len("true")
		return 1, true
	case r.flag && bytes.HasPrefix(rest, []byte("false")):
		q.pos += len("false")
		return 0, true
	}
	end, all := 0, uint64(0) // all is the digits as an integer, without the point
	digits := func() int {
		from := end
		for ; end < len(rest) && '0' <= rest[end] && rest[end] <= '9'; end++ {
			all = all*10 + uint64(rest[end]-'0')
		}
		return end - from
	}
	if len(rest) > 0 && rest[0] == '-' {
		end++
	}
	first := end
	whole, places := digits(), 0
	if whole == 0 || whole > 1 && rest[first] == '0' {
		return 0, false
	}
	if end < len(rest) && rest[end] == '.' {
		end++
		if places = digits(); places == 0 {
			return 0, false
		}
	}
	if end > longestQuick { // what follows, such as an exponent, must not follow a value
		return 0, false
	}
	n, err := nearest(rest[:end], all, whole+places, places)
	q.pos += end
	// turns -0 into 0
	return n + 0, err == nil && n <= largest && n >= max(r.least, -largest) && (!r.flag || n == 0 || n == 1)
}

// nearest returns the number nearest to a text of digits, the last places of which are decimals; all is the digits as
// an integer. The quotient of two integers below 2^53 is exact to the nearest number; other texts are parsed by
// strconv.
func nearest(text []byte, all uint64, digits, places int) (float64, error) {
	if digits > longestExact || places >= len(powers) {
		return strconv.ParseFloat(string(text), 64)
	}
	n := float64(all) / powers[places]
	if text[0] == '-' {
		n = -n
	}
	return n, nil
}
