// Package errdefs defines the kinds of failure of the domain packages. An error has a message that is safe to show to
// the caller, and a field and an issue for each problem (http-api.md section 7). Each transport maps kinds to
// statuses or exit codes in one place.
package errdefs

import (
	"errors"
	"fmt"
	"time"
)

// Kind is a class of failure, independent of the transport.
type Kind uint8

// The kinds. The zero value is Internal, so an unclassified error is never reported as less severe.
const (
	Internal     Kind = iota // a defect or a broken machine: 500 internalServerError
	Invalid                  // the input cannot be accepted: 400 invalidInput
	Unauthorized             // authentication missing or invalid: 401 unauthorizedUser
	Forbidden                // authenticated without permission: 403 forbidden
	NotFound                 // does not exist: 404 notFound
	Conflict                 // conflicts with the current state: 409 conflict
	TooLarge                 // over a size limit: 413 payloadTooLarge
	TooMany                  // over a rate limit: 429 tooManyRequests
	Unavailable              // temporarily impossible: 503 unavailable
)

// Detail is one problem, and where it is.
//
//openapi:schema Detail
type Detail struct {
	// Dotted path from the root of what was sent, such as account.plants[2].code.
	Field string `json:"field"`
	Issue string `json:"issue"` // what is wrong, including the limit

	// Given lists other fields that this problem depends on, separated by commas. If one of them is invalid, this
	// problem is not reported.
	Given string `json:"-"`
}

// Error is a failure with a message that is safe to show.
type Error struct {
	Kind       Kind
	Message    string
	Details    []Detail
	RetryAfter time.Duration // for TooMany and Unavailable; 0 if unknown
	Err        error         // the cause, for logs only; may be nil
}

// Error implements error; the text includes the cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error of a kind with a formatted message.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// InvalidField returns an error for one problem with one field.
func InvalidField(field, format string, args ...any) *Error {
	issue := fmt.Sprintf(format, args...)
	message := issue
	if field != "" {
		message = field + " " + issue
	}
	return &Error{Kind: Invalid, Message: message, Details: []Detail{{Field: field, Issue: issue}}}
}

// InvalidDetails returns an error for several problems; nil if details is empty.
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

// KindOf classifies any error. An error without an *Error is Internal, unless it or its cause has a method
// Unavailable that returns true (a full disk): then it is Unavailable.
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

// MaxDetails is the maximum number of details in an answer; a last one has the number of omitted ones.
const MaxDetails = 100

// Cap limits a list of details to MaxDetails.
func Cap(details []Detail) []Detail {
	if len(details) <= MaxDetails {
		return details
	}
	capped := append([]Detail(nil), details[:MaxDetails]...)
	return append(capped, Detail{Issue: fmt.Sprintf("%d more problems are not shown", len(details)-MaxDetails)})
}

// mostShown is the maximum number of characters of a value in a message.
const mostShown = 64

// Shorten limits a text for a message to its first 64 characters and "…", so that a hostile value cannot fill an
// answer.
func Shorten(s string) string { return ShortenTo(s, mostShown) }

// ShortenTo is Shorten with a different limit.
func ShortenTo(s string, most int) string {
	n := 0
	for end := range s {
		if n++; n > most {
			return s[:end] + "…"
		}
	}
	return s
}
