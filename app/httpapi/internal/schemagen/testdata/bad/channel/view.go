// Package channel has a field that encoding/json refuses.
package channel

// View is shown.
//
//openapi:schema View
type View struct {
	Count chan int `json:"count"`
}
