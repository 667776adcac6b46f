package log

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// What a line has at most.
const (
	maxText       = 4 << 10 // bytes of its message and of each value
	maxAttributes = 64
)

// attributes are a line's, in the order of the log; the last of a name counts. Those in groups have dots in their
// names.
type attributes []attribute

type attribute struct {
	name  string
	value json.RawMessage
}

func (all attributes) add(prefix string, a slog.Attr) attributes {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, in := range v.Group() {
			all = all.add(prefix, in)
		}
		return all
	}
	if a.Equal(slog.Attr{}) || len(all) >= maxAttributes {
		return all
	}
	one := attribute{prefix + shorten(a.Key), valueOf(v)}
	for i := range all {
		if all[i].name == one.name {
			all[i] = one
			return all
		}
	}
	return append(all, one)
}

// valueOf returns a value as JSON: what JSON has no kind for is text, as the log writes it.
func valueOf(v slog.Value) json.RawMessage {
	switch v.Kind() { // most are of these, and a line is noted for each request that writes
	case slog.KindString:
		return quoted(nil, shorten(v.String()))
	case slog.KindInt64:
		return strconv.AppendInt(nil, v.Int64(), 10)
	case slog.KindDuration:
		return quoted(nil, v.Duration().String())
	}
	switch x := v.Any().(type) {
	case uint64, bool:
		return text(x)
	case float64:
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			return text(x)
		}
	case time.Time:
		return text(x.UTC().Format(time.RFC3339Nano))
	case error:
		return text(shorten(x.Error()))
	}
	return text(shorten(fmt.Sprint(v.Any())))
}

func text(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("log: " + err.Error()) // of a number, a truth or a text
	}
	return b
}

// quoted appends a text as JSON.
func quoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return append(b, text(s)...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// json returns the attributes as one object.
func (all attributes) json() json.RawMessage {
	size := 2
	for _, a := range all {
		size += len(a.name) + len(a.value) + 4
	}
	b := append(make([]byte, 0, size), '{')
	for i, a := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(quoted(b, a.name), ':'), a.value...)
	}
	return append(b, '}')
}

// shorten bounds a text, and makes it valid UTF-8.
func shorten(s string) string {
	if len(s) > maxText {
		cut := maxText
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strings.ToValidUTF8(s, "�")
}
