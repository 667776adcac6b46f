package signal

import (
	"math"
	"testing"

	"opsmon/schema/strictjson"
)

// FuzzRead decodes arbitrary JSON as a signal: an accepted one has finite numbers within the limits and is unchanged
// after packing and unpacking.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		`{"stationCode":"S1","productive":true,"at":"2026-11-20T08:15:30.123Z","id":"a"}`, `{"production_count":1e9,"rssi":-61,"error_code":"E 7"}`,
		`{"line_speed":-1e-300}`, `{"electricalKwh":1e309}`, `{"productive":2}`, `{"station_code":null,"stationCode":"x"}`, `[]`,
	} {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, b []byte, mqtt bool) {
		v, err := strictjson.Decode(b)
		object, ok := v.(map[string]any)
		if err != nil || !ok {
			return
		}
		style := HTTP
		if mqtt {
			style = MQTT
		}
		s, issue := Read(object, style)
		if issue != "" {
			return
		}
		for field, n := range s.Numbers {
			if math.IsNaN(n) || math.Abs(n) > largest || n != 0 && !s.Has(Field(field)) {
				t.Errorf("field %d is %g", field, n)
			}
		}
		s.Account, s.Source = "a", "device:a/b"
		list, err := unpack(pack([]Signal{s}, false))
		if err != nil || len(list) != 1 || list[0] != s {
			t.Errorf("%+v comes back as %+v, %v", s, list, err)
		}
	})
}
