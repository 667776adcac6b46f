package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/schema/schematest"
)

func TestDecodeGivesWhatStands(t *testing.T) {
	got, err := Decode([]byte(" {\"a\": [1, -0.50, 1E+2, 9007199254740993, true, false, null, \"\"],\r\n\t\"é\\u00e9\\ud83d\\ude00\\n\": {}} \n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"a":              []any{json.Number("1"), json.Number("-0.50"), json.Number("1E+2"), json.Number("9007199254740993"), true, false, nil, ""},
		"éé\U0001F600\n": map[string]any{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, tt := range []struct{ name, in, path, want string }{
		{"nothing", "", "", `line 1, column 1: is empty: a JSON value is needed`},
		{"blanks", " \n ", "", `line 2, column 2: is empty: a JSON value is needed`},
		{"byte order mark", "\xef\xbb\xbf{}", "", `line 1, column 1: the text starts with a byte order mark: save it as UTF-8 without one`},
		{"utf-16", "\xff\xfe{\x00}\x00", "", `line 1, column 1: the text is UTF-16: save it as UTF-8`},
		{"second value", "{}\n{}", "", `line 2, column 1: something follows the end of the JSON value: '{'`},
		{"rubbish after", "1 x", "", `line 1, column 3: something follows the end of the JSON value: 'x'`},
		{"duplicate key", "{\"plants\": [{},\n  {\"code\": 1, \"ü\": 2, \"code\": 3}]}", "plants[1].code", `line 2, column 23: the property "code" appears twice in one object`},
		{"duplicate key by escape", `{"a":1,"\u0061":2}`, "a", `line 1, column 8: the property "a" appears twice in one object`},
		{"bad byte in value", "{\"a\":\n\"é\xff\"}", "a", `line 2, column 3: the byte 0xff is not valid UTF-8: save the text as UTF-8`},
		{"bad byte in key", "{\"\xc3\":1}", "", `line 1, column 3: the byte 0xc3 is not valid UTF-8: save the text as UTF-8`},
		{"encoded surrogate", "\"\xed\xa0\x80\"", "", `line 1, column 2: the byte 0xed is not valid UTF-8: save the text as UTF-8`},
		{"bad byte outside", "[\xff]", "[0]", `line 1, column 2: a value is needed, not the byte 0xff`},
		{"lone high surrogate", `["\ud800"]`, "[0]", `line 1, column 3: \ud800 is half of a character (a lone surrogate)`},
		{"lone low surrogate", `"\udc00\ud800"`, "", `line 1, column 2: \udc00 is half of a character (a lone surrogate)`},
		{"high surrogate and letter", `"\ud800\u0041"`, "", `line 1, column 2: \ud800 is half of a character (a lone surrogate)`},
		{"high surrogate at the end", `"a\ud800\u"`, "", `line 1, column 3: \ud800 is half of a character (a lone surrogate)`},
		{"short hex", `"\u12"`, "", `line 1, column 2: \u must be followed by four hexadecimal digits`},
		{"bad hex", `"\u12g4"`, "", `line 1, column 2: \u must be followed by four hexadecimal digits`},
		{"bad escape", `"a\x"`, "", `line 1, column 3: \ must be followed by one of " \ / b f n r t u, not 'x'`},
		{"control character", "\"a\tb\"", "", `line 1, column 3: a control character (0x09) must be written as an escape inside a string`},
		{"escaped control character", "\"a\\\n\"", "", `line 1, column 4: a control character (0x0a) must be written as an escape inside a string`},
		{"open string", `{"a": "b}`, "a", `line 1, column 7: the string that begins here has no closing quotation mark`},
		{"open string, escaped", `"a\"`, "", `line 1, column 1: the string that begins here has no closing quotation mark`},
		{"open string, backslash", `"a\`, "", `line 1, column 1: the string that begins here has no closing quotation mark`},
		{"open object", `{`, "", `line 1, column 2: a property name in double quotes is needed, not the end of the text`},
		{"open object after value", `{"a":1`, "a", `line 1, column 7: a comma or } is needed after the value, not the end of the text`},
		{"comma before }", `{"a":1,}`, "", `line 1, column 8: a property name in double quotes is needed, not '}'`},
		{"no colon", `{"a" 1}`, "a", `line 1, column 6: a colon is needed after the property name, not '1'`},
		{"no value", `{"a":}`, "a", `line 1, column 6: a value is needed, not '}'`},
		{"no comma", `[1 2]`, "[1]", `line 1, column 4: a comma or ] is needed after the value, not '2'`},
		{"comma before ]", `[1,]`, "[1]", `line 1, column 4: a value is needed, not ']'`},
		{"open list", `[1,`, "[1]", `line 1, column 4: the text ends where a value is needed`},
		{"single quotes", `{'a':1}`, "", `line 1, column 2: a property name in double quotes is needed, not a quotation mark`},
		{"word", `[tru]`, "[0]", `line 1, column 2: a value is needed: true, false and null are the only words outside quotes`},
		{"NaN", `NaN`, "", `line 1, column 1: a value is needed, not 'N'`},
		{"form feed", "\f1", "", `line 1, column 1: a value is needed, not '\f'`},
		{"nul", "[1\x00]", "[1]", `line 1, column 3: a comma or ] is needed after the value, not '\x00'`},
		{"plus", `+1`, "", `line 1, column 1: a value is needed, not '+'`},
		{"minus", `-`, "", `line 1, column 2: a number needs a digit here, not the end of the text`},
		{"leading zero", `[01]`, "[0]", `line 1, column 2: a number must not begin with 0`},
		{"leading zero, negative", `-00`, "", `line 1, column 1: a number must not begin with 0`},
		{"bare point", `1.`, "", `line 1, column 3: a number needs a digit after the decimal point, not the end of the text`},
		{"bare exponent", `1e+`, "", `line 1, column 4: a number needs a digit in its exponent, not the end of the text`},
		{"too large", `[1, 1.8e308]`, "[1]", `line 1, column 5: the number is larger than 1.8e308, the largest possible number`},
		{"too large, written out", "-" + strings.Repeat("9", 310), "", `line 1, column 1: the number is larger than 1.8e308, the largest possible number`},
		{"huge exponent", `1e1000001`, "", `line 1, column 1: the number has an exponent beyond 400`},
		{"huge exponent of zero", `0e99999999999999999999`, "", `line 1, column 1: the number has an exponent beyond 400`},
		{"tiny", `1e-401`, "", `line 1, column 1: the number has an exponent beyond 400`},
		{"long", "0." + strings.Repeat("3", 399), "", `line 1, column 1: the number has 401 characters; at most 400 are allowed`},
		{"deep", deep(65), strings.Repeat("[0]", 64), `line 1, column 65: objects and lists are nested more than 64 levels deep`},
		{"deep objects", strings.Repeat(`{"a":`, 65), strings.Repeat(".a", 64)[1:], `line 1, column 321: objects and lists are nested more than 64 levels deep`},
		{"odd key", `{"a.b": {"": {"` + strings.Repeat("k", 70) + `": x}}}`, `["a.b"][""].` + strings.Repeat("k", 64) + "…", `line 1, column 89: a value is needed, not 'x'`},
	} {
		v, err := Decode([]byte(tt.in))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v, %v; want an *Error", tt.name, v, err)
			continue
		}
		if v != nil {
			t.Errorf("%s: a value came with the error: %v", tt.name, v)
		}
		if e.Error() != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, e.Error(), tt.want)
		}
		if e.Path != tt.path {
			t.Errorf("%s: path %q, want %q", tt.name, e.Path, tt.path)
		}
	}
}

func TestDecodeBounds(t *testing.T) {
	for _, in := range []string{
		strings.Repeat("[", 64) + strings.Repeat("]", 64),
		strings.Repeat(`{"a":`, 63) + `{"a":1}` + strings.Repeat(`}`, 63),
		"1.7976931348623157e308", "-1.7976931348623157e+308", "5e-324", "0e0", "-0", "1e-400",
		"1" + strings.Repeat("0", 308), "0." + strings.Repeat("3", 398),
	} {
		if _, err := Decode([]byte(in)); err != nil {
			t.Errorf("%.40s: %v", in, err)
		}
	}
}

// TestDecodeKeepsNothingOfTheInput checks that a change of the input after Decode, and the caches for short texts, do
// not affect the result.
func TestDecodeKeepsNothingOfTheInput(t *testing.T) {
	var in bytes.Buffer
	in.WriteString("[")
	for i := range 3000 {
		if i > 0 {
			in.WriteString(",")
		}
		text, _ := json.Marshal(map[string]any{"code": strings.Repeat("x", i%700), "n": i, "k" + strings.Repeat("y", i%60): "on"})
		in.Write(text)
	}
	in.WriteString("]")
	want := reference(t, in.Bytes())
	got, err := Decode(in.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i := range in.Bytes() {
		in.Bytes()[i] = '!'
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func reference(t *testing.T, in []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(in))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestDecodeHostile checks that no input of 1 MiB takes long. The limit is far above the measured 0.1 s and far below
// the result of a superlinear cost.
func TestDecodeHostile(t *testing.T) {
	const size = 1 << 20
	var keys, numbers strings.Builder
	for i := 0; keys.Len() < size; i++ {
		fmt.Fprintf(&keys, `"%x":0,`, i)
		fmt.Fprintf(&numbers, `%d.5e-3,`, i)
	}
	for _, tt := range []struct{ name, in string }{
		{"keys", `{` + keys.String() + `"z":0}`},
		{"a duplicate at the end", `{` + keys.String() + `"1":0}`},
		{"numbers", `[` + numbers.String() + `0]`},
		{"one number", strings.Repeat("1", size)},
		{"one exponent", "1e" + strings.Repeat("0", size)},
		{"overflows", `[` + strings.Repeat("1e308,", size/6) + `1e309]`},
		{"one text", `"` + strings.Repeat("é", size/2) + `"`},
		{"one text of escapes", `"` + strings.Repeat(`\\u00e9`, size/6) + `"`},
		{"texts of escapes", `["` + strings.Repeat(`\\n","`, size/5) + `"]`},
		{"empty objects", `[` + strings.Repeat("{},", size/3) + `0]`},
		{"open lists", strings.Repeat("[", size)},
		{"lines", strings.Repeat("\n", size)},
		{"lines and a mistake", `[` + strings.Repeat("\n", size) + `x`},
		{"nested short lists", `[` + strings.Repeat(strings.Repeat("[", 63)+strings.Repeat("]", 63)+",", size/127) + `0]`},
	} {
		start := time.Now()
		_, _ = Decode([]byte(tt.in))
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%s: took %v", tt.name, took)
		}
	}
}

// BenchmarkDecode compares with json.Unmarshal of the same manifest of 2.9 MB, alternately.
func BenchmarkDecode(b *testing.B) {
	doc := schematest.Large(2000, 6000)
	b.SetBytes(int64(len(doc)))
	var ours, theirs time.Duration
	var ourBytes, theirBytes uint64
	for b.Loop() {
		took, allocated := cost(func() {
			if _, err := Decode(doc); err != nil {
				b.Fatal(err)
			}
		})
		ours, ourBytes = ours+took, ourBytes+allocated
		took, allocated = cost(func() {
			var v any
			if err := json.Unmarshal(doc, &v); err != nil {
				b.Fatal(err)
			}
		})
		theirs, theirBytes = theirs+took, theirBytes+allocated
	}
	b.ReportMetric(float64(ours)/float64(theirs), "time/unmarshal")
	b.ReportMetric(float64(ourBytes)/float64(theirBytes), "bytes/unmarshal")
}

// cost returns the duration of f and the bytes that it allocates.
func cost(f func()) (time.Duration, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"x\u00e9\ud83d\ude00",null,true]}`, `{"a":1,"a":2}`, "\"\xff\"", `[[[]]]`, `"\ud800"`, `1e999`, " 0.0 ", `{"":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		got, err := Decode(in)
		if !bytes.Equal(before, in) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Issue == "" || got != nil {
				t.Fatalf("bad failure: %#v, %v", err, got)
			}
			return
		}
		if !json.Valid(in) {
			t.Fatalf("accepted what encoding/json refuses: %q", in)
		}
		if diff := cmp.Diff(reference(t, in), got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestMaxContainers(t *testing.T) {
	for n, want := range map[int]bool{MaxContainers: true, MaxContainers + 1: false} {
		_, err := Decode([]byte("[" + strings.Repeat("[],", n-2) + "[]]"))
		if (err == nil) != want {
			t.Errorf("%d lists: %v", n, err)
		}
	}
}
