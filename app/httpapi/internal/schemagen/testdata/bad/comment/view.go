// Package comment has a component that no sentence describes.
package comment

// View shows something.
//
//openapi:schema View
type View struct {
	Count int `json:"count"`
}
