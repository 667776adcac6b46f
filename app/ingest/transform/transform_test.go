package transform

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/errdefs"
	"opsmon/app/test/apptest"
)

func TestCheckAccepts(t *testing.T) {
	for _, text := range []string{
		"$sum(rows.good)",
		"rows[sku = 'A'].good",
		`'{"good": good & ": " & sku}'`,
		"|\n  (\n    $x := rows[0];\n    $x.good + 1\n  )\n",
		">\n  $sum(rows.good)\n  + 1\n",
		"columns:\n  good: $number(Good)\n  bad: $number(Bad)\n  nested:\n    deep: a.b.c\nrows: [a, b, c]\n",
		"a: 5\nb: 0.5\nc: true\nd: null\ne: ~\nf: 1e3\n",
		"a: &sum $sum(x)\nb: *sum\nc: *sum\n",
		"a: &columns {good: x, bad: y}\nb: *columns\n",
		"# Columns as the filler writes them\ngood: Good # pieces\n",
		"---\na: b\n...\n",
		"a: !!str 5\n",
		"a: b\r\nc: d\r\n",
		"{}",
		"'/^[A-Z]{2}-\\d{4}$/'",
		"'$match(code, /(\\d{2}){3}/) ~> $map(function($m){$m.match}) '",
		"function($a, $b)<n-n:n>{$a + $b}",
		"total: '$reduce(rows, function($sum, $row){$sum + $row.good}, 0)'",
		"größe: Länge * 2",
		"a: '{1: 2}'",
		strings.Repeat("[", MaxNesting) + "a" + strings.Repeat("]", MaxNesting),
		"'" + strings.Repeat("1+", MaxExpression/2-1) + "1'",
	} {
		if details := Check(text); details != nil {
			t.Errorf("Check(%.60q) = %v, want nil", text, details)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	const must = "must be a JSONata expression; "
	const empty = "must hold a JSONata expression; it is empty (null unsets it)"
	const hint = ` (an expression that holds ": " or " #", or begins with a symbol, stands in quotes or on lines of its own after "|")`
	one := func(field, issue string) []errdefs.Detail { return []errdefs.Detail{{Field: field, Issue: issue}} }
	tests := []struct {
		name, text string
		want       []errdefs.Detail
	}{
		{"empty", "", one("", empty)},
		{"blank", " \n ", one("", empty)},
		{"comment only", "# nothing\n", one("", empty)},
		{"empty document", "---\n...\n", one("", must+"line 2, column 1 has none")},
		{"empty leaf", "a: b\nc:\n", one("c", must+"line 2, column 3 has none")},
		{"empty text", "a: ''", one("a", must+"line 1, column 4 is empty")},
		{"several problems", "columns:\n  good: a b\n  bad: ok\n  other: (\n", []errdefs.Detail{
			{Field: "columns.good", Issue: must + `at line 2, column 11 it has "b" where an operator must stand, or the end`},
			{Field: "columns.other", Issue: must + "at line 4, column 11 it ends where a value must follow"},
		}},
		{"in a sequence", "rows:\n- a\n- x: 1 2\n", one("rows[1].x", must+`at line 3, column 8 it has "2" where an operator must stand, or the end`)},
		{"literal block", "a: |\n  (\n    $x := 1;\n    $y = = 2\n  )\n", one("a", must+`at line 4, column 10 it has "=" where a value must stand`)},
		{"literal block after its blank line", "a: |-\n\n  1 +\n  é + )\n", one("a", must+`at line 4, column 7 it has ")" where a value must stand`)},
		{"folded block", "a: >\n  (\n  $x + + 1)\n", one("a", must+`at character 8 of the expression that begins at line 1, column 4 it has "+" where a value must stand`)},
		{"escaped", `"a\"b\" + )"`, one("", must+`at character 8 of the expression that begins at line 1, column 1 it has ")" where a value must stand`)},
		{"quoted", "'1 + )'", one("", must+`at line 1, column 6 it has ")" where a value must stand`)},
		{"letters of several bytes", "é: ü + )", one("é", must+`at line 1, column 8 it has ")" where a value must stand`)},
		{"lines end in CR LF", "a: b\r\nc: )\r\n", one("c", must+`at line 2, column 4 it has ")" where a value must stand`)},
		{"path step", `a."b"`, one("", must+`at line 1, column 1 it has the value "b" as a step of a path, where only names may stand`)},
		{"open quote", `'"x'`, one("", must+"at line 1, column 3 it has a text without its closing quote")},
		{"open bracket", "$f(1", one("", must+`at line 1, column 5 it ends without ")"`)},
		{"wrong bracket", "$f(1;2)", one("", must+`at line 1, column 5 it has ";" where ")" must stand`)},
		{"escape", `'"\x"'`, one("", must+`at line 1, column 3 it has a text with the unknown escape \x`)},
		{"number out of range", "1e999 + 1", one("", must+`at line 1, column 1 it has "1e999", which is no number that can be held`)},
		{"comment", "/* x */ 1", one("", must+"at line 1, column 2 it has a comment (/* … */), which is not supported here")},
		{"regular expression", "/a(?/", one("", must+"at line 1, column 2 it has a regular expression without its closing /")},
		{"regular expression, unknown class", `/\y/`, one("", must+`at line 1, column 2 it has a regular expression that is not valid: invalid escape sequence`)},
		{"empty regular expression", "//", one("", must+"at line 1, column 2 it has a regular expression without anything in it")},
		{"assignment", "1 := 2", one("", must+"at line 1, column 3 it assigns to something that is not a variable")},
		{"parameter", "function(1){1}", one("", must+`at line 1, column 10 it has the function parameter "1", which is not a variable`)},
		{"parameter twice", "function($a,$a){1}", one("", must+`at line 1, column 14 it has the function parameter "a" twice`)},
		{"two groups", "'a{1:2}{1:2}'", one("", must+"at line 1, column 2 it has {…} twice in one step of a path")},
		{"predicate after group", "'a{1:2}[0]'", one("", must+"at line 1, column 2 it has […] after {…} in a path")},
		{"open name", "'`x'", one("", must+"at line 1, column 3 it has a name without its closing `")},
		{"signature", "function($a)<q>{1}", one("", must+"at line 1, column 1 it has a function signature that is not valid")},
		{"signature that the parser trips over", "function($a)<(>{1}", one("", must+"the one at line 1, column 1 cannot be read")},
		{"array of JSONata unquoted", "[1..5]", one("[0]", must+`at line 1, column 3 it has ".." where an operator must stand, or the end`)},
		{"date", "2026-01-01", one("", must+`line 1, column 1 is a date, which stands in two kinds of quotes: '"2026-01-01"'`)},
		{"infinite", "a: .inf", one("a", must+"line 1, column 4 is not a number that JSON has")},
		{"tag", "!x y", one("", must+"line 1, column 1 has the tag !x")},
		{"binary", "!!binary aGk=", one("", must+"line 1, column 1 has the tag !!binary")},

		{"duplicate key", "a: 1\nb: 2\n'a': 3\n", one("a", "must be there once; line 3, column 1 repeats line 1")},
		{"key that is no name", "? [a]\n: b\n", one("", "must have names as keys; line 1, column 3 has none")},
		{"key by alias", "a: &x y\n*x : b\n", one("", "must have names as keys; line 2, column 1 has none")},
		{"merge", "a: &a {x: y}\nb:\n  <<: *a\n", one("b.<<", "must not merge mappings; write out the keys at line 3, column 3")},
		{"itself", "a: &a [b, *a]", one("a[1]", "must not contain itself; line 1, column 11 has *a inside &a")},
		{"two documents", "a\n---\nb", one("", "must be one YAML document; line 2, column 1 begins a second one")},
		{"second document broken", "a\n---\nb: [", one("", "must be YAML; near line 3 did not find expected node content"+hint)},
		{"colon", "a: b: c", one("", "must be YAML; near line 1 mapping values are not allowed in this context"+hint)},
		{"colon further down", "x: 1\na: b: c", one("", "must be YAML; near line 2 mapping values are not allowed in this context"+hint)},
		{"indentation", "a:\n  b: 1\n c: 2\n", one("", "must be YAML; near line 3 did not find expected key"+hint)},
		{"open sequence", "a: b\nc: [1,\nd: e\n", one("", "must be YAML; near line 2 did not find expected ',' or ']'"+hint)},
		{"symbol", "@x", one("", "must be YAML; near line 1 found character that cannot start any token"+hint)},
		{"unknown alias", "a: b\nc: *d", one("", "must be YAML; near line 2 unknown anchor 'd' referenced"+hint)},
		{"control character", "a: b\nc: \x01", one("", "must be YAML; near line 2 control characters are not allowed"+hint)},
		{"not UTF-8", "a: b\nc: d\ne: \xff", one("", "must be YAML; near line 3 invalid leading UTF-8 octet"+hint)},

		{"too long", strings.Repeat("a", MaxLength+1), one("", "must be 65536 bytes or fewer; it has 65537")},
		{"expression too long", "a: '" + strings.Repeat("1+", MaxExpression/2) + "1'", one("a", "must be 16384 bytes or fewer; the expression at line 1, column 4 has 16385")},
		{"nested too deep", strings.Repeat("[", MaxNesting+1) + strings.Repeat("]", MaxNesting+1), one(strings.Repeat("[0]", MaxNesting), "must be nested 32 levels or fewer; line 1, column 33 is deeper")},
		{"too many entries", strings.Repeat("- a\n", MaxEntries), one("", "must have 10000 entries or fewer, aliases written out")},
		{"aliases of aliases", bomb(), one("", "must have 10000 entries or fewer, aliases written out")},
		{"pattern", "a: /" + strings.Repeat("x{1000}", 1000) + "/", one("a", "must not repeat so much in regular expressions; the one at line 1, column 4 is too large with its {…} written out")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Check(tt.text)); diff != "" {
				t.Errorf("Check(%.200q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

// bomb returns a few lines that expand to billions of entries.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 x\n")
	for i := 1; i <= 10; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	return b.String()
}

func TestCheckCapsTheProblems(t *testing.T) {
	key := strings.Repeat("k", 1000)
	details := Check(key + ":\n" + strings.Repeat("- )\n", 5000))
	if len(details) != errdefs.MaxDetails {
		t.Fatalf("%d details, want %d", len(details), errdefs.MaxDetails)
	}
	if want := strings.Repeat("k", 60) + "…[98]"; details[98].Field != want {
		t.Errorf("field %q, want %q", details[98].Field, want)
	}
	if want := (errdefs.Detail{Issue: "4901 more problems are not shown"}); details[99] != want {
		t.Errorf("last detail %v, want %v", details[99], want)
	}
}

// hostile returns texts that fill MaxLength with the most expensive content for the libraries.
func hostile() map[string]string {
	times := func(s string, length int) string { return strings.Repeat(s, length/len(s)) }
	list := func(expression string) string { // of expressions of the maximum length
		return strings.Repeat("- '"+expression+"'\n", MaxLength/(len(expression)+5))
	}
	const long = MaxExpression - 40
	return map[string]string{
		"open parentheses":    list(times("(", long)),
		"nested parentheses":  list(times("(", long/2) + "1" + times(")", long/2)),
		"nested predicates":   list(times("a[", long*2/3) + "1" + times("]", long/3)),
		"nested functions":    list(times("function(){", long*11/12) + "1" + times("}", long/12)),
		"negations":           list(times("-", long) + "1"),
		"conditions":          list(times("a?", long) + "1"),
		"path":                list(times("a.", long) + "a"),
		"signature, open":     list("function($a)<" + times("(", long) + ">{1}"),
		"signature, nested":   list("function($a)<" + times("a<", long*2/3) + times(">", long/3) + ">{1}"),
		"escapes":             list(`"` + times(`\n`, long) + `"`),
		"Unicode classes":     list("/" + times(`\pL`, long) + "/i"),
		"repeated letter":     list("/" + times("x{1000}", 50) + "/"),
		"repeated group":      list("/((" + times("x", 900) + "){30}){30}/"),
		"repeated, bracketed": list("(((/(" + times("x", 900) + "[(]){1000}/)))"),
		"many small patterns": list("/(x{30}){30}/"),
		"flow sequences":      times("[", MaxLength),
		"flow mappings":       times("{", MaxLength),
		"block sequences":     times("- ", MaxLength),
		"complex keys":        times("? ", MaxLength),
		"flow keys":           "{" + times("a,", MaxLength-2) + "}",
		"comments":            times("- #a\n  #b\n", MaxLength),
		"aliases":             "- &a x\n" + times("- *a\n", MaxLength-7),
		"bomb":                bomb(),
	}
}

// TestCheckIsBounded checks that no text within the limits takes long or crashes the process.
func TestCheckIsBounded(t *testing.T) {
	apptest.Long(t)
	for name, text := range hostile() {
		if len(text) > MaxLength {
			t.Fatalf("%s: the text itself is too long", name)
		}
		start := time.Now()
		Check(text)
		if took := time.Since(start); took > 10*time.Second { // at most 0.3 s when measured, without the race detector
			t.Errorf("%s: took %v", name, took)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		"a: $sum(x)\nb: [c, {d: e}]", "|\n  (\n  $x := 1;\n  $x\n  )", "&a [*a]", "'/x{2}/i'", "function($a)<(>{1}", "a: >\n  b\n  c )", "\"\\x41 )\"",
		"<<: {a: 1}", "? [a]\n: b", "a\n---\nb", "%YAML 1.1\n---\na", "!!binary x", "a: \u2028b )", "\ufeffa: )", "- |2\n   a\n  )\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		details := Check(text)
		if len(details) > errdefs.MaxDetails {
			t.Fatalf("%d details", len(details))
		}
		for _, d := range details {
			if d.Issue == "" || !utf8.ValidString(d.Issue) || !utf8.ValidString(d.Field) || strings.ContainsAny(d.Field+d.Issue, "\n\x00") || len(d.Issue) > 1000 {
				t.Fatalf("Check(%q) gives %q", text, d)
			}
			if d.Issue == "must be YAML; it cannot be read" {
				t.Fatalf("Check(%q) panics", text)
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	texts := hostile()
	texts["ordinary"] = strings.Repeat("- $sum(rows[sku = 'A'].good) & ' pieces'\n", 20)
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Check(text)
			}
		})
	}
}
