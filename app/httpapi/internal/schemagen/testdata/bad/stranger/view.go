// Package stranger has a field of a type of another module.
package stranger

import "net/netip"

// View is shown.
//
//openapi:schema View
type View struct {
	Address netip.Addr `json:"address"`
}
