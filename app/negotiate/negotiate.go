// Package negotiate reads what form of an answer a client accepts and whether it has that answer already.
//
// It is ours because klauspost's gzhttp, which compresses whole handlers, does not fit: it reads the first
// Accept-Encoding line only, takes no "*", leaves HEAD without the headers that GET has, and compresses again what app
// keeps compressed.
package negotiate

import (
	"strconv"
	"strings"
)

// Gzip reports whether the values of Accept-Encoding accept gzip: it is named with a weight above 0 or, where it is not
// named, "*" is (RFC 9110 section 12.5.3).
func Gzip(accept []string) bool {
	if len(accept) == 1 && accept[0] == "gzip" {
		return true
	}
	wildcard := false
	for _, line := range accept {
		for one := range strings.SplitSeq(line, ",") {
			name, weight, _ := strings.Cut(one, ";")
			switch name = strings.TrimSpace(name); {
			case strings.EqualFold(name, "gzip"):
				return positive(weight)
			case name == "*":
				wildcard = positive(weight)
			}
		}
	}
	return wildcard
}

// positive reads a weight such as q=0.5. One that is missing or cannot be read is 1.
func positive(weight string) bool {
	name, value, _ := strings.Cut(weight, "=")
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return err != nil || q > 0 || !strings.EqualFold(strings.TrimSpace(name), "q")
}

// Matches reports whether the values of If-None-Match name an entity tag; weak and strong tags compare equal (RFC 9110
// section 13.1.2).
func Matches(ifNoneMatch []string, tag string) bool {
	opaque := strings.TrimPrefix(tag, "W/")
	for _, line := range ifNoneMatch {
		if line == tag || line == "*" {
			return true
		}
		for one := range strings.SplitSeq(line, ",") {
			if one = strings.TrimSpace(one); strings.TrimPrefix(one, "W/") == opaque || one == "*" {
				return true
			}
		}
	}
	return false
}
