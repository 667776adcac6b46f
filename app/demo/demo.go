// Package demo has the example plant of `app demo` (decisions.md section 7): a small fictional tableware factory that
// uses every part of a manifest (http-api.md section 2.3).
package demo

import _ "embed"

//go:embed plant.json
var plant string

// Manifest returns the manifest of the example account as a document {version, account}. Its ID is "demo" and its
// domain "demo.example". It is valid without warnings. The caller may change the bytes.
func Manifest() []byte { return []byte(plant) }
