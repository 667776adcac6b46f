// Package negotiate parses which form of an answer a client accepts and whether it already has that answer.
//
// The package github.com/klauspost/compress/gzhttp, which compresses whole handlers, does not fit: it reads only the
// first Accept-Encoding line, does not support "*", omits headers from HEAD that GET has, and compresses again what
// app has stored compressed.
package negotiate

import (
	"strconv"
	"strings"
)

// Gzip reports whether the values of Accept-Encoding accept gzip: it has a weight above 0 or, if it is not listed,
// "*" has (RFC 9110 section 12.5.3).
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

// positive parses a weight such as q=0.5. A missing or invalid weight is 1.
func positive(weight string) bool {
	name, value, _ := strings.Cut(weight, "=")
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return err != nil || q > 0 || !strings.EqualFold(strings.TrimSpace(name), "q")
}

// Matches reports whether the values of If-None-Match contain an entity tag; weak and strong tags compare as equal
// (RFC 9110 section 13.1.2).
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
