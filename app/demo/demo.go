// Package demo holds the example plant that `app demo` serves (decisions.md section 7): a small tableware works
// of our own making, with every part of a manifest (http-api.md section 2.3) in use.
package demo

import _ "embed"

//go:embed plant.json
var plant string

// Manifest returns the manifest of the example account as a document {version, account}. Its id is "demo" and its
// domain "demo.example". It passes every check without a warning. The caller may change the bytes.
func Manifest() []byte { return []byte(plant) }
