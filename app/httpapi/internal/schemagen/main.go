// Command schemagen writes the JSON Schemas of the API's answers from the Go structs that are encoded and their comments.
//
// A type that is a component of the OpenAPI document has the directive
//
//	//openapi:schema NAME
//
// below its comment. The first paragraph of the comment, without "Type is", is the component's description; the first
// paragraph of a field's comment is that of the property. encoding/json's rules decide on the properties: a field with omitempty
// or omitzero is not required, a pointer may be null, an unsigned integer is not negative, and a named string type has the values
// of its constants. A struct without a directive is written out where it is used. What the Go type does not say stands in the
// field's tag `schema:"..."`, with commas between:
//
//	ref=NAME              another component, such as Moment for a time that is a string
//	enum=a|b              the values of a string
//	const=V               the only value
//	min=N, max=N          of a number
//	minLength=N           of a string, as are
//	pattern=P, format=F   these
//	type=a|b              of a value that is JSON already, or any
//	maxItems=N            of a list
//	is=NAME               a list or a map is another component
//	null                  a list or a map may be null
//
// Of a list and of a map all but the last three are about what it holds; of a pointer, about what is not null. A type that encodes
// itself has its schema in its directive, as a component with //openapi:schema NAME {...} or wherever it is used with
// //openapi:as {...}; //openapi:and goes on with it in the next line.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("o", "answers.json", "the file to write")
	flag.Parse()
	text, err := generate(".", "opsmon/app/httpapi")
	if err == nil {
		err = os.WriteFile(*out, text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
}
