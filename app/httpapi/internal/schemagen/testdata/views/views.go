// Package views has one of each thing that answers are made of.
package views

import "encoding/json"

// Moment is a time.
//
//openapi:schema Moment {"type": "string", "format": "date-time"}
type Moment struct{ ms int64 }

// MarshalJSON implements json.Marshaler.
func (m Moment) MarshalJSON() ([]byte, error) { return json.Marshal(m.ms) }

// Colour is one of a few names.
//
//openapi:schema Colour
type Colour string

// The colours, in no alphabetical order.
const (
	Red  Colour = "red"
	Blue Colour = "blue"
)

// Digits is a number as it was sent.
//
//openapi:as {"type": ["number", "null"]}
type Digits string

// MarshalJSON implements json.Marshaler.
func (d Digits) MarshalJSON() ([]byte, error) { return []byte(d), nil }

// named is embedded.
type named struct {
	Code string `json:"code"` // its code
}

// Thing is what the generator is tried with.
//
// This paragraph is for readers of the code alone.
//
//openapi:schema Thing
type Thing struct {
	named
	At     Moment            `json:"at"`
	Began  string            `json:"began" schema:"ref=Moment"`
	Ended  *string           `json:"ended" schema:"ref=Moment"` // null: it goes on
	Colour Colour            `json:"colour"`
	Second *Colour           `json:"second"`
	Share  float64           `json:"share" schema:"min=0,max=1"` // of all
	Count  uint64            `json:"count"`
	Delta  int               `json:"delta,omitempty"` // left out when it is 0
	Kind   *string           `json:"kind" schema:"enum=a|b"`
	Always bool              `json:"always" schema:"const=true"`
	Digits Digits            `json:"digits"`
	Raw    json.RawMessage   `json:"raw"`
	Object json.RawMessage   `json:"object" schema:"type=object"`
	Times  []string          `json:"times" schema:"ref=Moment,maxItems=3,null"`
	Texts  map[string]string `json:"texts"`
	Counts map[string]int    `json:"counts" schema:"min=0"`
	Parts  []Thing           `json:"parts"`
	Other  *struct {
		// Written out where it is used.
		Name string `json:"name"`
	} `json:"other"`
	hidden int
}
