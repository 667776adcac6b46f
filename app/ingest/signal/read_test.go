package signal

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/schema/strictjson"
)

func TestRead(t *testing.T) {
	with := func(s Signal, set ...any) Signal {
		for i := 0; i < len(set); i += 2 {
			s.Set(set[i].(Field), set[i+1].(float64))
		}
		return s
	}
	for _, c := range []struct {
		name, json string
		style      Style
		want       Signal
		issue      string
	}{
		{name: "all of HTTP", json: `{"stationCode":"F1","at":"2026-11-20T08:15:30.123Z","id":"7","errorCode":"E7","productionCompleteGood":1.5,"productionCompleteBad":0,"productionCountGood":7,"productionCountBad":1,
			"productive":true,"lineSpeed":-2.5,"electricalKwh":12.25,"electricalKwhInterval":0.5,"electricalKw":-1,"electricalVolts":231,"electricalAmps":4,"rssi":-61}`,
			want: with(Signal{Station: "F1", At: 1795162530123, ID: "7", ErrorCode: "E7"}, ProductionCompleteGood, 1.5, ProductionCompleteBad, 0.0, ProductionCountGood, 7.0, ProductionCountBad, 1.0,
				Productive, 1.0, LineSpeed, -2.5, ElectricalKwh, 12.25, ElectricalKwhInterval, 0.5, ElectricalKw, -1.0, ElectricalVolts, 231.0, ElectricalAmps, 4.0, RSSI, -61.0)},
		{name: "all of MQTT", style: MQTT, json: `{"at":"2026-11-20T09:15:30+01:00","error_code":"E7","production_complete":1,"production_complete_bad":2,"production_count":3,"production_count_bad":4,
			"productive":0,"line_speed":5,"electrical_kwh":6,"electrical_kwh_interval":7,"electrical_kw":8,"electrical_volts":9,"electrical_amps":10,"rssi":-11}`,
			want: with(Signal{At: 1795162530000, ErrorCode: "E7"}, ProductionCompleteGood, 1.0, ProductionCompleteBad, 2.0, ProductionCountGood, 3.0, ProductionCountBad, 4.0,
				Productive, 0.0, LineSpeed, 5.0, ElectricalKwh, 6.0, ElectricalKwhInterval, 7.0, ElectricalKw, 8.0, ElectricalVolts, 9.0, ElectricalAmps, 10.0, RSSI, -11.0)},
		{name: "camelCase over MQTT", style: MQTT, json: `{"stationCode":"F1","productionCompleteGood":1}`, want: with(Signal{Station: "F1"}, ProductionCompleteGood, 1.0)},
		{name: "snake_case over HTTP", json: `{"stationCode":"F1","line_speed":1}`, issue: "line_speed is not a known property"},
		{name: "two names of one", style: MQTT, json: `{"lineSpeed":1,"line_speed":1}`, issue: "lineSpeed and line_speed are the same property; give one of them"},
		{name: "null is not there", json: `{"productive":1,"rssi":null,"id":null,"at":null}`, want: with(Signal{}, Productive, 1.0)},
		{name: "an error alone", json: `{"errorCode":"E7"}`, want: Signal{ErrorCode: "E7"}},
		{name: "a heartbeat", json: `{"rssi":-70}`, want: with(Signal{}, RSSI, -70.0)},
		{name: "minus zero", json: `{"lineSpeed":-0.0}`, want: with(Signal{}, LineSpeed, 0.0)},
		{name: "the largest", json: `{"lineSpeed":1e9,"electricalKw":-1e9}`, want: with(Signal{}, LineSpeed, 1e9, ElectricalKw, -1e9)},
		{name: "gigantic", json: `{"lineSpeed":1.1e9}`, issue: "lineSpeed must be 1e+09 or less in size; it is 1.1e9"},
		{name: "gigantic downwards", json: `{"electricalKw":-2e9}`, issue: "electricalKw must be 1e+09 or less in size; it is -2e9"},
		{name: "nothing", json: `{}`, issue: "holds no value; give one of productive, productionCompleteGood, electricalKw and so on"},
		{name: "no value", json: `{"stationCode":"F1","id":"1","rssi":null}`, issue: "holds no value; give one of productive, productionCompleteGood, electricalKw and so on"},
		{name: "unknown", json: `{"productive":1,"speed":1}`, issue: "speed is not a known property"},
		{name: "negative count", json: `{"productionCountGood":-1}`, issue: "productionCountGood must be 0 or more; it is -1"},
		{name: "negative cycles", json: `{"productionCompleteBad":-0.1}`, issue: "productionCompleteBad must be 0 or more; it is -0.1"},
		{name: "negative meter", json: `{"electricalKwh":-1}`, issue: "electricalKwh must be 0 or more; it is -1"},
		{name: "negative interval", json: `{"electricalKwhInterval":-1}`, issue: "electricalKwhInterval must be 0 or more; it is -1"},
		{name: "a string for a number", json: `{"lineSpeed":"1"}`, issue: "lineSpeed must be a number"},
		{name: "a boolean for a number", json: `{"lineSpeed":true}`, issue: "lineSpeed must be a number"},
		{name: "a number for a boolean", json: `{"productive":2}`, issue: "productive must be true, false, 1 or 0"},
		{name: "a string for a boolean", json: `{"productive":"true"}`, issue: "productive must be true, false, 1 or 0"},
		{name: "a time without zone", json: `{"rssi":1,"at":"2026-11-20T08:15:30"}`, issue: `at must be a time such as 2026-11-20T08:15:30.123Z; it is "2026-11-20T08:15:30"`},
		{name: "a time of before", json: `{"rssi":1,"at":"1969-12-31T23:59:59Z"}`, issue: `at must be from 1970 to 9999; it is "1969-12-31T23:59:59Z"`},
		{name: "a time as a number", json: `{"rssi":1,"at":1795162530123}`, issue: "at must be a string"},
		{name: "an empty id", json: `{"rssi":1,"id":""}`, issue: "id must not be empty"},
		{name: "the longest id", json: `{"rssi":1,"id":"ßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßß"}`, want: with(Signal{ID: "ßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßß"}, RSSI, 1.0)},
		{name: "a longer id", json: `{"rssi":1,"id":"01234567890123456789012345678901234567890123456789012345678901234"}`, issue: "id must be 64 characters or fewer; it has 65"},
		{name: "a longer error", json: `{"errorCode":"01234567890123456789012345678901234567890123456789012345678901234"}`, issue: "errorCode must be 64 characters or fewer; it has 65"},
		{name: "a control character", json: `{"rssi":1,"stationCode":"F\n1"}`, issue: "stationCode must not hold control characters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := strictjson.Decode([]byte(c.json))
			if err != nil {
				t.Fatal(err)
			}
			got, issue := Read(v.(map[string]any), c.style)
			if issue != c.issue {
				t.Fatalf("issue %q, want %q", issue, c.issue)
			}
			if issue != "" {
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheFirstMomentOf1970IsATime(t *testing.T) {
	s, issue := Read(map[string]any{"stationCode": "A", "at": "1970-01-01T00:00:00Z", "productive": true}, HTTP)
	if issue != "" || s.At != 1 {
		t.Errorf("the time is %d (%s), want one that is told apart from none", s.At, issue)
	}
}
