package auth

import (
	"strings"

	"opsmon/app/errdefs"
)

const (
	maxEmail = 254 // bytes, RFC 5321 section 4.5.3.1.3
	maxLocal = 64
	maxLabel = 63
)

// ParseEmail validates an e-mail address and returns it in lower case, as it is stored and compared. It accepts what
// mail servers accept in practice: ASCII, one @, no quotes, comments or spaces. Otherwise it returns Invalid, field
// "email".
func ParseEmail(s string) (string, error) { return parseEmail("email", s) }

// CheckEmail returns Invalid for an invalid address in a field.
func CheckEmail(field, s string) error {
	_, err := parseEmail(field, s)
	return err
}

func parseEmail(field, s string) (string, error) {
	if len(s) > maxEmail {
		return "", errdefs.InvalidField(field, "must be %d characters or fewer; it has %d", maxEmail, len(s))
	}
	local, domain, found := strings.Cut(s, "@")
	if !found || !isLocalPart(local) || !isDomain(domain) {
		return "", errdefs.InvalidField(field, "must be an e-mail address, such as name@example.com")
	}
	return strings.ToLower(s), nil
}

func isLocalPart(s string) bool {
	if len(s) > maxLocal {
		return false
	}
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" {
			return false
		}
		for i := range len(atom) {
			if !isAlphanumeric(atom[i]) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", rune(atom[i])) {
				return false
			}
		}
	}
	return true
}

func isDomain(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if !isAlphanumeric(label[i]) && label[i] != '-' {
				return false
			}
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// domainOf returns the domain of a valid address.
func domainOf(email string) string { return email[strings.LastIndexByte(email, '@')+1:] }

// onDomain reports whether an address belongs to an account because of its domain (http-api.md section 5, point 6).
func onDomain(email, domain string) bool {
	return domain != "" && strings.EqualFold(domainOf(email), domain)
}
