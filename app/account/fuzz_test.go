package account

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"opsmon/schema"
	"opsmon/schema/strictjson"
)

// FuzzDocument takes documents apart and puts them together again: one that strictjson accepts and the schema passes
// comes back with equal values, system fields aside, and no bytes whatever make Validate panic. seed makes variants of it,
// written in other letters and changed here and there.
//
// The input is a patch, which replaces cut bytes of a small document at an index. The document itself is not part of the input:
// the engine minimizes each input that it finds interesting, which takes time by the square of its length, up to a minute, and
// finds nothing else meanwhile.
func FuzzDocument(f *testing.F) {
	documents := [][]byte{nil}
	for _, members := range []string{
		"",
		`"dashboardConfig":` + strings.Repeat(`{"":[`, 30) + strings.Repeat(`]}`, 30) + `,`,
		`"currency":"EUR","electricalPricePerKwh":0.2310,"createdAt":"2001-01-01T00:00:00Z","enableTasks":"on","skus":[{"code":"A","name":"A","cycleTime":6e0,"stationCodes":["0"]}],`,
		`"re\u0061sons":[{"code":"R","":[[],{},"\\\"",-0,1E2],"reasons":[{"code":"S\u0000\ud83c\udf5e","plants":[{"createdAt":1}]}]}],"includeReasonCodes":["R"],`,
		`"tasks":[{"code":"T","title":"T","trigger":{"type":"cron","pattern":"0 6 * * MON","availableBeforeDeadlineMinutes":60}}],"taskLists":[],`,
	} {
		documents = append(documents, []byte(wrap(members, "")))
	}
	for i, raw := range documents {
		for seed := range uint64(3) {
			f.Add(uint8(i), uint16(0), uint8(0), "", seed)
			f.Add(uint8(i), uint16(len(raw)/2), uint8(seed), `":[{`, seed)
		}
		if _, err := readDocument(raw, true, start); err != nil && raw != nil {
			f.Errorf("%s: %v", raw, detailsOf(err))
		}
	}
	for _, raw := range []string{`{"version":"v1","account":null}`, `{"version":"v1","account":{"plants":[{"stationGroups":[{"stations":[1]}]}]}}`, `[]`} {
		f.Add(uint8(0), uint16(0), uint8(0), raw, uint64(1))
	}
	for seed := range uint64(3) {
		checkDocument(f, plantFile, seed)
		checkDocument(f, oddPlant(f), seed)
	}
	f.Fuzz(func(t *testing.T, document uint8, at uint16, cut uint8, patch string, seed uint64) {
		whole := documents[int(document)%len(documents)]
		from := min(int(at), len(whole))
		checkDocument(t, slices.Concat(whole[:from], []byte(patch), whole[min(from+int(cut), len(whole)):]), seed)
	})
}

func checkDocument(t testing.TB, raw []byte, seed uint64) {
	Validate(raw, start)
	tree, err := strictjson.Decode(raw)
	if err != nil {
		return
	}
	roundTrip(t, raw)
	r := rand.New(rand.NewPCG(seed, 9))
	for range 2 {
		roundTrip(t, shuffle(r, tree))
		mutate(r, tree)
	}
}

// roundTrip splits and renders a document, twice over, if it is one that would be.
func roundTrip(t testing.TB, raw []byte) {
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
