// Package iso has two standard lists of names that a manifest refers to: ISO 4217 currency codes and IANA time zone
// names (http-api.md section 2; decisions.md section 3). Both are embedded, so every machine accepts the same names.
package iso
