package transform

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/blues/jsonata-go/jparse"
	"go.yaml.in/yaml/v3"
)

// maxPattern is the maximum number of instructions that all regular expressions of a text may compile to; a million
// takes 0.2 s and 200 MB.
const maxPattern = 1_000_000

// expression checks a text that must be JSONata.
func (c *checker) expression(n *yaml.Node, path string) {
	if strings.TrimSpace(n.Value) == "" {
		c.add(path, "must be a JSONata expression; line %d, column %d is empty", n.Line, n.Column)
		return
	}
	if len(n.Value) > MaxExpression {
		c.add(path, "must be %d bytes or fewer; the expression at line %d, column %d has %d", MaxExpression, n.Line, n.Column, len(n.Value))
		return
	}
	if c.pattern += patternCost(n.Value); c.pattern > maxPattern {
		c.add(path, "must not repeat so much in regular expressions; the one at line %d, column %d is too large with its {…} written out", n.Line, n.Column)
		return
	}
	err := compile(n.Value)
	if err == nil {
		return
	}
	var problem *jparse.Error
	if !errors.As(err, &problem) {
		c.add(path, "must be a JSONata expression; the one at line %d, column %d cannot be read", n.Line, n.Column)
		return
	}
	c.add(path, "must be a JSONata expression; at %s it %s", c.place(n, problem.Position), describe(problem))
}

// compile parses an expression. The parser panics on some invalid function signatures.
func compile(text string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("parse expression: %v", r)
		}
	}()
	_, err = jparse.Parse(text)
	return err
}

var repetition = regexp.MustCompile(`(\)?)\{(\d{1,4})(?:,(\d{0,4}))?\}`)

// patternCost returns an upper bound for the number of instructions of the regular expressions in an expression,
// without locating them. A regular expression cannot contain a line end, so each line counts separately, as one
// pattern. Only repetitions of groups multiply others, and Go limits their product to 1000. A Unicode class is a
// table of its own.
func patternCost(text string) int {
	const most, class = 1000, 100
	cost := 0
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "/") {
			continue
		}
		simple, groups := 1, 1
		for _, m := range repetition.FindAllStringSubmatch(line, -1) {
			least, _ := strconv.Atoi(m[2])
			times, _ := strconv.Atoi(m[3])
			times = max(least+1, times)
			if m[1] == "" {
				simple = max(simple, times)
			} else {
				groups = min(groups*times, most)
			}
		}
		length := len(line) + class*(strings.Count(line, `\p`)+strings.Count(line, `\P`))
		cost += length * min(simple*groups, most)
	}
	return cost
}

// place describes the position of an offset (in bytes) of the expression in the text. If YAML has folded lines or
// resolved escapes, the exact position is unknown: the result is then the start of the expression with the character
// counted from there.
func (c *checker) place(n *yaml.Node, offset int) string {
	before := n.Value[:min(max(offset, 0), len(n.Value))]
	inLine := before[strings.LastIndex(before, "\n")+1:]
	if n.Style&yaml.LiteralStyle != 0 {
		line := n.Line + strings.Count(before, "\n") // the expression begins below its "|"
		written := n.Value[len(before)-len(inLine):]
		written, _, _ = strings.Cut(written, "\n")
		if line < len(c.lines) && strings.HasSuffix(c.lines[line], written) {
			indent := strings.TrimSuffix(c.lines[line], written)
			return fmt.Sprintf("line %d, column %d", line+1, utf8.RuneCountInString(indent+inLine)+1)
		}
	} else if n.Line <= len(c.lines) {
		column := n.Column
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
			column++
		}
		if strings.HasPrefix(after(c.lines[n.Line-1], column-1), before) {
			return fmt.Sprintf("line %d, column %d", n.Line, column+utf8.RuneCountInString(before))
		}
	}
	return fmt.Sprintf("character %d of the expression that begins at line %d, column %d", utf8.RuneCountInString(before)+1, n.Line, n.Column)
}

// after returns a line without its first characters.
func after(line string, characters int) string {
	for ; characters > 0 && line != ""; characters-- {
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
	}
	return line
}

// describe describes the parser's error for users; it completes "at line 2, column 7 it …".
func describe(e *jparse.Error) string {
	token, hint := strconv.Quote(brief(e.Token)), strconv.Quote(brief(e.Hint))
	switch e.Type {
	case jparse.ErrUnexpectedEOF:
		return "ends where a value must follow"
	case jparse.ErrMissingToken:
		return "ends without " + hint
	case jparse.ErrUnexpectedToken:
		return "has " + token + " where " + hint + " must stand"
	case jparse.ErrPrefix:
		return "has " + token + " where a value must stand"
	case jparse.ErrInfix, jparse.ErrSyntaxError:
		return "has " + token + " where an operator must stand, or the end"
	case jparse.ErrUnterminatedString:
		return "has a text without its closing quote"
	case jparse.ErrUnterminatedName:
		return "has a name without its closing `"
	case jparse.ErrUnterminatedRegex:
		return "has a regular expression without its closing /"
	case jparse.ErrIllegalEscape, jparse.ErrIllegalEscapeHex:
		return "has a text with the unknown escape \\" + brief(e.Hint)
	case jparse.ErrInvalidNumber, jparse.ErrNumberRange:
		return "has " + token + ", which is no number that can be held"
	case jparse.ErrEmptyRegex:
		return "has a regular expression without anything in it"
	case jparse.ErrInvalidRegex:
		if strings.HasPrefix(e.Token, "*") {
			return "has a comment (/* … */), which is not supported here"
		}
		return "has a regular expression that is not valid: " + brief(e.Hint)
	case jparse.ErrGroupPredicate:
		return "has […] after {…} in a path"
	case jparse.ErrGroupGroup:
		return "has {…} twice in one step of a path"
	case jparse.ErrPathLiteral:
		return "has the value " + brief(e.Hint) + " as a step of a path, where only names may stand"
	case jparse.ErrIllegalAssignment:
		return "assigns to something that is not a variable"
	case jparse.ErrIllegalParam:
		return "has the function parameter " + token + ", which is not a variable"
	case jparse.ErrDuplicateParam:
		return "has the function parameter " + token + " twice"
	}
	return "has a function signature that is not valid"
}
