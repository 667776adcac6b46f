package auth

import (
	"slices"
	"strings"
	"unicode"

	"opsmon/app/errdefs"
	"opsmon/kv"
)

// AuthorizeAt checks in a transaction, with authorize, that a caller may act at a station: an operator at the
// stations of its tablet, a supervisor and above at every station (decisions.md section 4). Errors: those of
// authorize, and Forbidden.
func AuthorizeAt(authorize func(*kv.Tx, Principal, Role) error, tx *kv.Tx, p Principal, need Role, stationCode string) error {
	if err := authorize(tx, p, need); err != nil || need.AtLeast(Supervisor) || slices.Contains(p.StationCodes, stationCode) {
		return err
	}
	err := authorize(tx, p, Supervisor)
	if errdefs.KindOf(err) == errdefs.Forbidden {
		return errdefs.New(errdefs.Forbidden, "an operator acts on the stations that its tablet is bound to, and on no other")
	}
	return err
}

// The length of initials, in code points (http-api.md section 2.3, Station).
const (
	minInitials = 3
	maxInitials = 8
)

// Initials returns the stored form of a person's initials: letters and digits of any script, without surrounding
// blanks. If they are not required, it returns "" for an empty text. Errors: Invalid (initials).
func Initials(text string, required bool) (string, error) {
	trimmed := strings.TrimSpace(text)
	length, fit := 0, true
	for i, r := range trimmed {
		// A mark belongs to the letter before it: vowels of scripts such as Hindi and Thai.
		fit = fit && (unicode.IsLetter(r) || unicode.IsDigit(r) || i > 0 && unicode.IsMark(r))
		length++
	}
	switch {
	case text == "" && !required:
		return "", nil
	case text == "":
		return "", errdefs.InvalidField("initials", "must be given: %d to %d letters or digits", minInitials, maxInitials)
	case !fit || length < minInitials || length > maxInitials:
		return "", errdefs.InvalidField("initials", "must be %d to %d letters or digits; it is %q", minInitials, maxInitials, errdefs.Shorten(text))
	}
	return trimmed, nil
}
