// Package iso knows the two lists of names that others keep and a manifest refers to: ISO 4217 currency codes and IANA time zone
// names (http-api.md section 2; decisions.md section 3). Both are embedded, so that every machine accepts the same ones.
package iso
