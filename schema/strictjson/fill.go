package strictjson

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// Fill stores the result of Decode in the Go value that into points to, following encoding/json. A number without a
// fraction is an integer in any notation: 2.0 and 2e0 fit an int (decisions.md section 1).
func Fill(v, into any) error {
	b, err := json.Marshal(plain(v))
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// plain returns a copy of v with integers written as digits only.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		return plainNumber(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name := range v {
			object[name] = plain(v[name])
		}
		return object
	}
	return v
}

// plainNumber returns an integer that fits an int64 as digits only, and any other number unchanged.
func plainNumber(n json.Number) json.Number {
	if !strings.ContainsAny(string(n), ".eE") {
		return n
	}
	r, ok := new(big.Rat).SetString(string(n)) // Decode has bounded the exponent
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return n
	}
	return json.Number(strconv.FormatInt(r.Num().Int64(), 10))
}

// Blank replaces the values in v at the given dotted paths by null, and returns v. It changes v.
func Blank(v any, paths map[string]bool) any { return blank(v, "", paths) }

func blank(v any, path string, paths map[string]bool) any {
	if paths[path] {
		return nil
	}
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = blank(v[i], path+"["+strconv.Itoa(i)+"]", paths)
		}
	case map[string]any:
		for name := range v {
			v[name] = blank(v[name], AppendKey(path, name), paths)
		}
	}
	return v
}
