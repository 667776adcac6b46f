package account

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"opsmon/schema"
	"opsmon/schema/strictjson"
)

// FuzzDocument takes documents apart and puts them together again: one that strictjson accepts and the schema passes
// comes back with equal values, system fields aside, and no bytes whatever make Validate panic. seed makes variants of it,
// written in other letters and changed here and there.
func FuzzDocument(f *testing.F) {
	for _, raw := range [][]byte{plantFile, oddPlant(f), []byte(wrap("", "")), []byte(`{"version":"v1","account":null}`), []byte(`{"version":"v1","account":{"plants":[{"stationGroups":[{"stations":[1]}]}]}}`), []byte(`[]`), nil} {
		f.Add(raw, uint64(1))
		f.Add(raw, uint64(2))
	}
	f.Add([]byte(wrap(`"dashboardConfig":`+strings.Repeat(`{"":[`, 30)+strings.Repeat(`]}`, 30)+`,`, "")), uint64(3))
	f.Fuzz(func(t *testing.T, raw []byte, seed uint64) {
		Validate(raw, start)
		tree, err := strictjson.Decode(raw)
		if err != nil {
			return
		}
		roundTrip(t, raw)
		r := rand.New(rand.NewPCG(seed, 9))
		for range 3 {
			roundTrip(t, shuffle(r, tree))
			mutate(r, tree)
		}
	})
}

// roundTrip splits and renders a document, twice over, if it is one that would be.
func roundTrip(t *testing.T, raw []byte) {
	tree, err := strictjson.Decode(raw)
	if err != nil || len(schema.Validate(schema.Manifest, tree)) > 0 {
		return
	}
	own, pure := split(raw)
	rendered := render(pure, modelOf(tree))
	var b bytes.Buffer
	b.WriteString(`{"version":"v1","account":{`)
	for name, value := range own {
		b.Write(append(append(encoded(name), ':'), value...))
		b.WriteByte(',')
	}
	b.Write(rendered[1:])
	b.WriteByte('}')
	exact(t, "split and rendered", raw, b.Bytes())
	if _, again := split(b.Bytes()); !bytes.Equal(again, pure) {
		t.Errorf("split again:\n%s\n%s", pure, again)
	}
}

// FuzzParseMatch: any header, and never more than it says.
func FuzzParseMatch(f *testing.F) {
	for _, header := range []string{"", "*", `"5-abc"`, `W/"5-abc"`, `"5-a", "6-b"`, `,`, `"18446744073709551616-a"`, `"-5-a"`, `"5`, ` * , "1-x"`} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		m := ParseMatch(header)
		if (m == nil) != (strings.TrimSpace(header) == "") {
			t.Errorf("%q is %v", header, m)
		}
		if m == nil {
			return
		}
		if m.Any && !strings.Contains(header, "*") {
			t.Errorf("%q means any", header)
		}
		if len(m.Revisions) > strings.Count(header, `"`) {
			t.Errorf("%q has the revisions %v", header, m.Revisions)
		}
	})
}
