package errdefs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problems collects the problems of one input, so that all are reported together (decisions.md section 1).
type Problems []Detail

// Add adds a problem with a field.
func (p *Problems) Add(field, format string, args ...any) {
	*p = append(*p, Detail{Field: field, Issue: fmt.Sprintf(format, args...)})
}

// AddGiven adds a problem that also depends on other fields; given lists them, separated by commas.
func (p *Problems) AddGiven(field, given, format string, args ...any) {
	*p = append(*p, Detail{Field: field, Issue: fmt.Sprintf(format, args...), Given: given})
}

// Take adds the details of an error that is Invalid and has details. It returns any other error.
func (p *Problems) Take(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Kind != Invalid || len(e.Details) == 0 {
		return err
	}
	*p = append(*p, e.Details...)
	return nil
}

// Merge adds problems of fields without a previous problem. A problem of a field takes precedence over later ones of
// the field, and of fields within or around it.
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

// related reports whether two paths are equal or one contains the other. The empty path contains all.
func related(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return strings.HasPrefix(b, a) && (len(a) == len(b) || a == "" || b[len(a)] == '.' || b[len(a)] == '[')
}

// Err returns the problems as one error, or nil if there are none. what is the input: "the body".
func (p Problems) Err(what string) error { return InvalidDetails(what, p) }
