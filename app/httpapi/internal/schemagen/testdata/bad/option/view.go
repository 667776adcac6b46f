// Package option has a tag with a mistake in it.
package option

// View is shown.
//
//openapi:schema View
type View struct {
	Count int `json:"count" schema:"minimum=0"`
}
