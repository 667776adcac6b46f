package strictjson

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFill checks that a number without a fraction is an integer in any notation, at any depth, and that everything
// else is unchanged.
func TestFill(t *testing.T) {
	type inner struct {
		List []int64        `json:"list"`
		Map  map[string]int `json:"map"`
	}
	type all struct {
		Int   int             `json:"int"`
		Null  *int            `json:"null"`
		Float float64         `json:"float"`
		Text  string          `json:"text"`
		Inner inner           `json:"inner"`
		Raw   json.RawMessage `json:"raw"`
	}
	v, err := Decode([]byte(`{"int":2.0,"null":null,"float":2.50,"text":"2.0","inner":{"list":[1e3,-0.0,12000e-3,9223372036854775807],"map":{"a":1.5E1}},"raw":[1.25,1e30,3]}`))
	if err != nil {
		t.Fatal(err)
	}
	var got all
	if err := Fill(v, &got); err != nil {
		t.Fatal(err)
	}
	want := all{Int: 2, Float: 2.5, Text: "2.0", Inner: inner{[]int64{1000, 0, 12, 9223372036854775807}, map[string]int{"a": 15}}, Raw: json.RawMessage(`[1.25,1e30,3]`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if sent := v.(map[string]any)["int"]; sent != json.Number("2.0") {
		t.Errorf("what was decoded has become %v", sent)
	}
	for _, text := range []string{`{"int":2.5}`, `{"int":1e19}`, `{"int":1e-400}`} {
		v, err := Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if Fill(v, &got) == nil {
			t.Errorf("%s fits an int", text)
		}
	}
}

func TestBlank(t *testing.T) {
	for _, tt := range []struct {
		paths []string
		want  string
	}{
		{nil, `{"a":{"b":[1,{"c":2},3]},"x.y":4}`},
		{[]string{"a.b[1].c", "a.none", `["x.y"]`, "a.b[7]"}, `{"a":{"b":[1,{"c":null},3]},"x.y":null}`},
		{[]string{"a.b[0]", "a.b[1]"}, `{"a":{"b":[null,null,3]},"x.y":4}`},
		{[]string{"a"}, `{"a":null,"x.y":4}`},
		{[]string{""}, `null`},
	} {
		v, err := Decode([]byte(`{"a":{"b":[1,{"c":2},3]},"x.y":4}`))
		if err != nil {
			t.Fatal(err)
		}
		paths := map[string]bool{}
		for _, p := range tt.paths {
			paths[p] = true
		}
		got, err := json.Marshal(Blank(v, paths))
		if err != nil || string(got) != tt.want {
			t.Errorf("without %q: %s, %v", tt.paths, got, err)
		}
	}
}
