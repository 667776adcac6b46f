// Package errdefs names the kinds of failure that the domain reports and carries what may be shown to the
// person who caused them: one safe sentence, and a field and an issue for each problem found
// (http-api.md section 7). Transports map kinds to statuses or exit codes in one place; nothing else does.
package errdefs

import (
	"errors"
	"fmt"
	"time"
)

// Kind is a class of failure, independent of how it is transported.
type Kind uint8

// The kinds. The zero value is Internal, so that an error nobody classified is never shown as anything milder.
const (
	Internal     Kind = iota // a defect or a broken machine: 500 internalServerError
	Invalid                  // the input cannot be accepted: 400 invalidInput
	Unauthorized             // authentication missing or invalid: 401 unauthorizedUser
	Forbidden                // authenticated without permission: 403 forbidden
	NotFound                 // no such thing: 404 notFound
	Conflict                 // clashes with the current state: 409 conflict
	TooLarge                 // over a size limit: 413 payloadTooLarge
	TooMany                  // over a rate limit: 429 tooManyRequests
	Unavailable              // cannot be done now, may be later: 503 unavailable
)

// Detail is one problem, and where it is.
//
//openapi:schema Detail
type Detail struct {
	// Dotted path from the root of what was sent, such as account.plants[2].code.
	Field string `json:"field"`
	Issue string `json:"issue"` // what is wrong, including the limit

	// Given names other fields that the problem follows from, with commas between. Where one of them is wrong, nothing
	// is known of this one.
	Given string `json:"-"`
}

// Error is a failure with a sentence that is safe to show.
type Error struct {
	Kind       Kind
	Message    string
	Details    []Detail
	RetryAfter time.Duration // for TooMany and Unavailable; 0 when not known
	Err        error         // the cause, for logs only; may be nil
}

// Error implements error; it reads like a path and includes the cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error of a kind with a formatted message.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// InvalidField reports one problem with one field.
func InvalidField(field, format string, args ...any) *Error {
	issue := fmt.Sprintf(format, args...)
	message := issue
	if field != "" {
		message = field + " " + issue
	}
	return &Error{Kind: Invalid, Message: message, Details: []Detail{{Field: field, Issue: issue}}}
}

// InvalidDetails reports several problems at once; nil when there is none.
func InvalidDetails(what string, details []Detail) error {
	switch len(details) {
	case 0:
		return nil
	case 1:
		if details[0].Field == "" {
			return &Error{Kind: Invalid, Message: what + " " + details[0].Issue, Details: details}
		}
		return &Error{Kind: Invalid, Message: fmt.Sprintf("%s has a problem: %s %s", what, details[0].Field, details[0].Issue), Details: details}
	}
	return &Error{Kind: Invalid, Message: fmt.Sprintf("%s has %d problems", what, len(details)), Details: details}
}

// KindOf classifies any error. One that carries no *Error is Internal, unless something in its chain says
// of itself that it will pass (a full disk): that is Unavailable.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	var u interface{ Unavailable() bool }
	if errors.As(err, &u) && u.Unavailable() {
		return Unavailable
	}
	return Internal
}

// MaxDetails is how many details one answer carries; a last row says how many more there are.
const MaxDetails = 100

// Cap shortens a list of details to what one answer carries.
func Cap(details []Detail) []Detail {
	if len(details) <= MaxDetails {
		return details
	}
	capped := append([]Detail(nil), details[:MaxDetails]...)
	return append(capped, Detail{Issue: fmt.Sprintf("%d more problems are not shown", len(details)-MaxDetails)})
}

// mostShown is how many characters of a value a message shows.
const mostShown = 64

// Shorten returns a text as messages show it: of a long one its first 64 characters and "…", so that a hostile value
// does not fill an answer.
func Shorten(s string) string { return ShortenTo(s, mostShown) }

// ShortenTo is Shorten with another number of characters.
func ShortenTo(s string, most int) string {
	n := 0
	for end := range s {
		if n++; n > most {
			return s[:end] + "…"
		}
	}
	return s
}
