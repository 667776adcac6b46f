package errdefs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problems collects what is wrong with one input, so that all of it is reported at once (decisions.md section 1).
type Problems []Detail

// Add adds a problem with a field.
func (p *Problems) Add(field, format string, args ...any) {
	*p = append(*p, Detail{Field: field, Issue: fmt.Sprintf(format, args...)})
}

// AddGiven is Add of a problem that follows from other fields too; given names them, with commas between.
func (p *Problems) AddGiven(field, given, format string, args ...any) {
	*p = append(*p, Detail{Field: field, Issue: fmt.Sprintf(format, args...), Given: given})
}

// Take collects the details of an error that is Invalid and has some. It returns any other error.
func (p *Problems) Take(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Kind != Invalid || len(e.Details) == 0 {
		return err
	}
	*p = append(*p, e.Details...)
	return nil
}

// Merge adds problems of other fields than those that have one: of a field, and of what is in it, the first problem is the
// one that was found in what was sent.
func (p *Problems) Merge(later []Detail) {
	first := slices.Clone(*p)
	for _, d := range later {
		about := []string{d.Field}
		if d.Given != "" {
			about = append(about, strings.Split(d.Given, ",")...)
		}
		touched := slices.ContainsFunc(first, func(f Detail) bool {
			return slices.ContainsFunc(about, func(field string) bool { return related(f.Field, field) })
		})
		if !touched {
			*p = append(*p, d)
		}
	}
}

// related reports whether one of two paths is the other, or holds it. The empty path holds all.
func related(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return strings.HasPrefix(b, a) && (len(a) == len(b) || a == "" || b[len(a)] == '.' || b[len(a)] == '[')
}

// Err returns the problems as one error, or nil when there are none. what is the input: "the body".
func (p Problems) Err(what string) error { return InvalidDetails(what, p) }
