package schematest

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Properties returns the property names of a definition under $defs ("Station"), or of the schema itself if def is
// "", in the order of the file; nil if the definition does not exist.
func Properties(file []byte, def string) []string {
	type object struct {
		Properties json.RawMessage `json:"properties"`
	}
	var parsed struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(file, &parsed); err != nil {
		panic(err)
	}
	if def != "" {
		parsed.object = parsed.Defs[def]
	}
	if parsed.Properties == nil {
		return nil
	}
	var names []string
	dec := json.NewDecoder(bytes.NewReader(parsed.Properties))
	_, err := dec.Token() // the opening brace
	for err == nil && dec.More() {
		var name, schema any
		name, err = dec.Token()
		if err == nil {
			err = dec.Decode(&schema)
		}
		names = append(names, fmt.Sprint(name))
	}
	if err != nil {
		panic(err)
	}
	return names
}
