package account

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"opsmon/app/account/manifest"
	"opsmon/schema"
	"opsmon/schema/strictjson"
)

// FuzzDocument splits documents and renders them again: a document that strictjson and the schema accept must have
// equal values afterwards, except system fields, and no bytes may make Validate panic. seed adds variants in other
// notations and with random changes.
//
// The input is a patch, which replaces cut bytes of a small document at an index. The document itself is not part of
// the input: the engine minimizes each interesting input, which takes time quadratic in its length, up to a minute,
// and finds nothing else in that time.
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

// roundTrip splits and renders a valid document, twice.
func roundTrip(t testing.TB, raw []byte) {
	tree, err := strictjson.Decode(raw)
	if err != nil || len(schema.Validate(schema.Manifest, tree)) > 0 {
		return
	}
	own, pure := manifest.Split(raw)
	rendered := manifest.Render(pure, manifest.ModelOf(tree))
	var b bytes.Buffer
	b.WriteString(`{"version":"v1","account":{`)
	for name, value := range own {
		b.Write(append(append(manifest.Encode(name), ':'), value...))
		b.WriteByte(',')
	}
	b.Write(rendered[1:])
	b.WriteByte('}')
	exact(t, "split and rendered", raw, b.Bytes())
	if _, again := manifest.Split(b.Bytes()); !bytes.Equal(again, pure) {
		t.Errorf("split again:\n%s\n%s", pure, again)
	}
}

// FuzzParseMatch checks that any header parses to at most the revisions in it.
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
