// Command schemagen writes the JSON Schemas of the API's answers from the encoded Go structs and their comments.
//
// A type that is a component of the OpenAPI document has the directive
//
//	//openapi:schema NAME
//
// below its comment. The first paragraph of the comment, without "Type is", becomes the component's description, and
// the first paragraph of a field's comment that of the property. The properties follow encoding/json's rules: a field
// with omitempty or omitzero is not required, a pointer may be null, an unsigned integer is not negative, and a named
// string type has the values of its constants. A struct without a directive is inlined. Everything that the Go type
// does not express is in the field's tag `schema:"..."`, separated by commas:
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
// For lists and maps, all options except the last three apply to the elements; for pointers, to the value that is not
// null. A type that encodes itself has its schema in its directive: as a component with //openapi:schema NAME {...}, or
// inlined with //openapi:as {...}. //openapi:and continues it on the next line.
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
