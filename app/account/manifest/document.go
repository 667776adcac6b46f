package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"opsmon/app/instant"
)

// A document is stored as the received bytes, so a read returns the same array order, digits and unknown properties.
// The functions here walk the bytes of documents that strictjson and the schema have accepted; they must not get
// anything else.

// Members calls fn for each member of the object that starts at b[i] and returns the index after it. Key and value
// are raw bytes, the key without its quotes.
func Members(b []byte, i int, fn func(key, value []byte)) int {
	i = skipSpace(b, i) + 1 // {
	for {
		i = skipSpace(b, i)
		switch b[i] {
		case '}':
			return i + 1
		case ',':
			i++
			continue
		}
		end := skipString(b, i)
		key := b[i+1 : end-1]
		i = skipSpace(b, end) + 1 // :
		i = skipSpace(b, i)
		end = skipValue(b, i)
		fn(key, b[i:end])
		i = end
	}
}

// Elements calls fn for each element of the array b.
func Elements(b []byte, fn func(value []byte)) {
	i := skipSpace(b, 0) + 1 // [
	for {
		i = skipSpace(b, i)
		switch b[i] {
		case ']':
			return
		case ',':
			i++
			continue
		}
		end := skipValue(b, i)
		fn(b[i:end])
		i = end
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at b[i].
func skipString(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		i += n + 1
		slashes := 0
		for b[i-2-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			i++
			continue
		default:
			for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// compact appends src to dst without white space between tokens.
func compact(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		switch src[i] {
		case ' ', '\n', '\t', '\r':
			i++
		case '"':
			end := skipString(src, i)
			dst = append(dst, src[i:end]...)
			i = end
		default:
			dst = append(dst, src[i])
			i++
		}
	}
	return dst
}

// Plain returns a key as text. Keys with escapes are rare, so decoding them one at a time is fast enough.
func Plain(key []byte) string {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key)
	}
	var s string
	if err := json.Unmarshal([]byte(`"`+string(key)+`"`), &s); err != nil {
		panic(fmt.Sprintf("account: a checked document has a bad name: %v", err))
	}
	return s
}

// Sections are the arrays of manifest.account; everything else there is a field of the account itself.
var Sections = map[string]bool{"shiftPatterns": true, "reasons": true, "tasks": true, "taskLists": true, "skus": true, "plants": true}

// SystemFields are the system members of a plant, group or station (marked system in http-api.md 2.3).
var SystemFields = map[string]bool{
	"createdAt": true, "updatedAt": true, "archivedAt": true,
	"currentOperatorInitials": true, "statusCode": true, "statusCodeUpdatedAt": true, "alertMessage": true, "alertExpiresAt": true,
}

// Split splits a document {version, account} into the account's own members, compacted and by name, and its arrays as
// one object without the system members of plants, groups and stations.
func Split(raw []byte) (own map[string][]byte, pure []byte) {
	own = map[string][]byte{}
	pure = append(make([]byte, 0, len(raw)), '{')
	Members(raw, 0, func(key, value []byte) {
		if Plain(key) != "account" {
			return
		}
		Members(value, 0, func(key, value []byte) {
			name := Plain(key)
			if !Sections[name] {
				own[name] = compact(nil, value)
				return
			}
			pure = appendKey(pure, name)
			if name != "plants" {
				pure = compact(pure, value)
				return
			}
			pure = appendTree(pure, value, TreeChildren, nil)
		})
	})
	return own, append(pure, '}')
}

// TreeChildren is the name of the array of the next level, by depth: plants, groups, stations.
var TreeChildren = []string{"stationGroups", "stations", ""}

// Render returns the arrays as in answers: the document with the lifetimes of plants, groups and stations, and their
// live fields as null. It walks m in parallel with the document.
func Render(pure []byte, m *Manifest) []byte {
	out := append(make([]byte, 0, len(pure)+m.StationCount()*220+4096), '{')
	Members(pure, 0, func(key, value []byte) {
		name := Plain(key)
		out = appendKey(out, name)
		if name != "plants" {
			out = append(out, value...)
			return
		}
		plant, group, station := -1, -1, -1
		out = appendTree(out, value, TreeChildren, &treeHooks{
			begin: func(depth int) {
				switch depth {
				case 0:
					plant, group = plant+1, -1
				case 1:
					group, station = group+1, -1
				case 2:
					station++
				}
			},
			end: func(dst []byte, depth int) []byte {
				switch p := &m.Plants[plant]; depth {
				case 0:
					return appendLifetime(dst, p.Life, true)
				case 1:
					return appendLifetime(dst, p.Groups[group].Life, false)
				default:
					dst = appendLifetime(dst, p.Groups[group].Stations[station].Life, true)
					return append(dst, LiveMembers...)
				}
			},
		})
	})
	return append(out, '}')
}

// treeHooks are called for each plant (depth 0), group (1) and station (2): begin at its start, end to append members
// after its last one.
type treeHooks struct {
	begin func(depth int)
	end   func(dst []byte, depth int) []byte
}

// appendTree copies an array of plants, groups or stations without system members.
func appendTree(dst, array []byte, children []string, hooks *treeHooks) []byte {
	depth := len(TreeChildren) - len(children)
	dst = append(dst, '[')
	Elements(array, func(object []byte) {
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		if hooks != nil {
			hooks.begin(depth)
		}
		Members(object, 0, func(key, value []byte) {
			name := Plain(key)
			switch {
			case SystemFields[name]:
				return
			case name == children[0]:
				dst = appendTree(appendKey(dst, name), value, children[1:], hooks)
			default:
				dst = compact(appendKey(dst, name), value)
			}
		})
		if hooks != nil {
			dst = hooks.end(dst, depth)
		}
		dst = append(dst, '}')
	})
	return append(dst, ']')
}

// appendKey appends a member's name and colon, after a comma unless it is the first of its object. Names can be a
// document's own, so they may need quoting.
func appendKey(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = AppendString(dst, name)
	return append(dst, ':')
}

func appendLifetime(dst []byte, l Lifetime, archivable bool) []byte {
	dst = append(dst, `,"createdAt":`...)
	dst = AppendTime(dst, l.CreatedAt)
	dst = append(dst, `,"updatedAt":`...)
	dst = AppendTime(dst, l.UpdatedAt)
	if archivable {
		dst = append(dst, `,"archivedAt":`...)
		dst = AppendTime(dst, l.ArchivedAt)
	}
	return dst
}

// AppendTime appends a time as JSON: RFC 3339 in UTC with milliseconds; null for the zero time.
func AppendTime(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = t.UTC().AppendFormat(dst, instant.Layout)
	return append(dst, '"')
}

// AppendString appends a string as JSON.
func AppendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return append(dst, Encode(s)...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// Encode returns v as JSON, without the HTML escapes of encoding/json. v must be encodable: a string, a number or a
// result of strictjson.
func Encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("account: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// LiveMembers are the live members of a station as rendered, which are replaced by their values.
const LiveMembers = `,"currentOperatorInitials":null,"statusCode":null,"statusCodeUpdatedAt":null,"alertMessage":null,"alertExpiresAt":null`
