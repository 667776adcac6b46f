package signal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"opsmon/schema/strictjson"
)

// slowly decodes the input of QuickBatch or Quick with the strict decoder; nil if that refuses anything.
func slowly(body []byte, batch bool, style Style) (list []Signal) {
	v, err := strictjson.Decode(body)
	if err != nil {
		return nil
	}
	objects := []any{v}
	if batch {
		root, _ := v.(map[string]any)
		if objects, _ = root["signals"].([]any); len(root) != 1 || len(objects) > MaxBatch {
			return nil
		}
	}
	for _, v := range objects {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		s, issue := Read(object, style)
		if issue != "" {
			return nil
		}
		list = append(list, s)
	}
	return list
}

// quickly decodes the same with Quick or QuickBatch; nil if they do not accept it.
func quickly(body []byte, batch bool, style Style) (list []Signal) {
	if !batch {
		if s, ok := Quick(body, style); ok {
			list = append(list, *s)
		}
		return list
	}
	objects, ok := QuickBatch(body)
	for _, v := range objects {
		if !ok {
			return nil
		}
		list = append(list, *v.(*Signal))
	}
	return list
}

var quickBodies = []struct {
	text  string
	taken bool
}{
	{`{"stationCode":"PACK-1","at":"2026-11-20T08:15:30.123Z","productive":true,"productionCountGood":18204,"lineSpeed":61.5}`, true},
	{" {\t\"stationCode\" : \"S\" , \"rssi\":-61,\r\n\"productive\": 0 , \"id\":\"gw7-00412\"}\n", true},
	{`{"at":"1970-01-01T00:00:00.001+00:00","lineSpeed":-0,"errorCode":"E 7"}`, true},
	{`{"at":"1970-01-01T00:00:00Z","lineSpeed":1}`, false},
	{`{"at":"2026-11-20 08:15:30Z","lineSpeed":1}`, false},
	{`{"at":null,"lineSpeed":1}`, false},
	{`{"lineSpeed":1e3}`, false}, {`{"lineSpeed":01}`, false}, {`{"lineSpeed":1.}`, false}, {`{"lineSpeed":.5}`, false}, {`{"lineSpeed":-}`, false}, {`{"lineSpeed":NaN}`, false},
	{`{"lineSpeed":99999999999999999999999}`, false}, {`{"electricalKwh":-1}`, false}, {`{"productive":2}`, false}, {`{"productive":"true"}`, false}, {`{"productive":truefalse}`, false},
	{`{"lineSpeed":1,"lineSpeed":1}`, false}, {`{"linespeed":1}`, false}, {`{"line\u0053peed":1}`, false}, {`{"stationCode":"é","lineSpeed":1}`, false}, {`{"stationCode":"","lineSpeed":1}`, false},
	{`{"stationCode":"` + strings.Repeat("x", 64) + `","lineSpeed":1}`, true}, {`{"stationCode":"` + strings.Repeat("x", 65) + `","lineSpeed":1}`, false},
	{`{"id":"` + strings.Repeat("x", 65) + `","lineSpeed":1}`, false}, {`{"errorCode":"` + strings.Repeat("x", 65) + `"}`, false}, {"{\"errorCode\":\"a\x7f\"}", false},
	{`{"lineSpeed":1}x`, false}, {`{"lineSpeed":1,}`, false}, {`{"lineSpeed":1`, false}, {`{"lineSpeed" 1}`, false}, {`{"lineSpeed":[1]}`, false}, {`{"lineSpeed":{}}`, false},
	{`{}`, false}, {`{"stationCode":"S"}`, false}, {``, false}, {`[]`, false}, {"{\"lineSpeed\":1}\x00", false},
}

// TestQuickReadsAsRead checks that typical messages are accepted by Quick with the same result, and that unusual ones
// are left to Read.
func TestQuickReadsAsRead(t *testing.T) {
	check := func(body string, batch bool, style Style, taken bool) {
		t.Helper()
		got, want := quickly([]byte(body), batch, style), slowly([]byte(body), batch, style)
		if (got != nil) != taken {
			t.Errorf("%s is taken: %t", body, got != nil)
		}
		if got != nil && fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Errorf("%s is\n%+v, not\n%+v", body, got, want)
		}
	}
	all := ""
	for _, b := range quickBodies {
		check(b.text, false, HTTP, b.taken)
		check(`{"signals":[`+b.text+`]}`, true, HTTP, b.taken)
		check(`{"signals":[{"rssi":-1},`+b.text+`, {"rssi":-1}]}`, true, HTTP, b.taken)
		if b.taken {
			all += "," + b.text
		}
	}
	check(`{"signals":[`+all[1:]+`]}`, true, HTTP, true)
	for _, text := range []string{`{"signals":[]}`, `{"signals":[{"rssi":1}],"x":1}`, `{"Signals":[{"rssi":1}]}`, `{"signals":[{"rssi":1}]}}`, `{"signals":{"rssi":1}}`, `[{"rssi":1}]`, `{"signals":[1]}`} {
		check(text, true, HTTP, false)
	}
	body := `{"signals":[` + strings.Repeat(`{"rssi":1},`, MaxBatch-1) + `{"rssi":1}]}`
	check(body, true, HTTP, true)
	check(strings.Replace(body, "[", `[{"rssi":1},`, 1), true, HTTP, false)
	for text, taken := range map[string]bool{
		`{"production_complete":1,"line_speed":40.5,"electrical_kw":11.25,"rssi":-61,"station_code":"S"}`: true,
		`{"production_complete":1,"productionCompleteGood":1}`:                                            false, // one property under two names
		`{"production_complete":1,"production_complete_good":1}`:                                          false,
		`{"station_code":"A","stationCode":"A","rssi":1}`:                                                 false,
	} {
		check(text, false, MQTT, taken)
	}
	check(`{"production_complete":1}`, false, HTTP, false)
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 1000 { // every digit of a number counts
		n := rnd.Float64() * math.Pow10(rnd.IntN(10))
		check(fmt.Sprintf(`{"lineSpeed":%.*f,"rssi":-%.*f}`, rnd.IntN(8), n, rnd.IntN(4), n), false, HTTP, true)
	}
}

// FuzzQuick checks that everything that Quick accepts has the same result as with the strict decoder.
func FuzzQuick(f *testing.F) {
	for _, b := range quickBodies {
		f.Add([]byte(b.text), false, false)
		f.Add([]byte(`{"signals":[`+b.text+`,{"rssi":1}]}`), true, false)
		f.Add([]byte(b.text), false, true)
	}
	f.Fuzz(func(t *testing.T, body []byte, batch, mqtt bool) {
		style := HTTP
		if mqtt && !batch {
			style = MQTT
		}
		got := quickly(body, batch, style)
		if want := slowly(body, batch, style); got != nil && fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Errorf("%q is\n%+v, not\n%+v", body, got, want)
		}
	})
}
