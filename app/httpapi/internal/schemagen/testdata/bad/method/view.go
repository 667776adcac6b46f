// Package method has a type that encodes itself.
package method

// View is shown.
//
//openapi:schema View
type View struct {
	Count count `json:"count"`
}

type count int

// MarshalText implements encoding.TextMarshaler.
func (c count) MarshalText() ([]byte, error) { return []byte("many"), nil }
