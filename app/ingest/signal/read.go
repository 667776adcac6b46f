package signal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// rule is the names of a field and its range.
type rule struct {
	name, snake string // names over HTTP and over MQTT
	least       float64
	flag        bool // a boolean, or 0 or 1
}

var fieldRules = [FieldCount]rule{
	ProductionCompleteGood: {name: "productionCompleteGood", snake: "production_complete"},
	ProductionCompleteBad:  {name: "productionCompleteBad", snake: "production_complete_bad"},
	ProductionCountGood:    {name: "productionCountGood", snake: "production_count"},
	ProductionCountBad:     {name: "productionCountBad", snake: "production_count_bad"},
	Productive:             {name: "productive", snake: "productive", flag: true},
	LineSpeed:              {name: "lineSpeed", snake: "line_speed", least: -largest},
	ElectricalKwh:          {name: "electricalKwh", snake: "electrical_kwh"},
	ElectricalKwhInterval:  {name: "electricalKwhInterval", snake: "electrical_kwh_interval"},
	ElectricalKw:           {name: "electricalKw", snake: "electrical_kw", least: -largest},
	ElectricalVolts:        {name: "electricalVolts", snake: "electrical_volts", least: -largest},
	ElectricalAmps:         {name: "electricalAmps", snake: "electrical_amps", least: -largest},
	RSSI:                   {name: "rssi", snake: "rssi", least: -largest},
}

// Style is the naming style of a signal's properties.
type Style uint8

// The styles: camelCase over HTTP; over MQTT snake_case, and camelCase too (monitoring.md section 2).
const (
	HTTP Style = iota
	MQTT
)

type property struct {
	field Field  // for a text, a number above those of the fields
	text  string // one of "stationCode", "at", "id" and "errorCode"; empty for a field
}

var properties = func() (by [2]map[string]property) {
	by[HTTP], by[MQTT] = map[string]property{}, map[string]property{}
	for f, r := range fieldRules {
		p := property{field: Field(f)}
		by[HTTP][r.name], by[MQTT][r.name], by[MQTT][r.snake] = p, p, p
	}
	by[MQTT]["production_complete_good"], by[MQTT]["production_count_good"] = property{field: ProductionCompleteGood}, property{field: ProductionCountGood}
	for i, name := range [][2]string{{"stationCode", "station_code"}, {"at", "at"}, {"id", "id"}, {"errorCode", "error_code"}} {
		p := property{field: fieldCount + Field(i), text: name[0]}
		by[HTTP][name[0]], by[MQTT][name[0]], by[MQTT][name[1]] = p, p, p
	}
	return by
}()

// Limits of texts, in characters (monitoring.md section 2).
const (
	maxID        = 64
	maxErrorCode = 64
	maxStation   = 64
)

// Read returns the signal in a JSON object decoded by strictjson. It does not set Account, Arrived and Source; At is
// 0 if the sender did not send it, and Station "" likewise. A null property is ignored. issue describes the problem
// in one sentence with the property's name; "" if the signal is valid.
func Read(object map[string]any, style Style) (s Signal, issue string) {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names) // always reports the same of several problems
	given := map[property]string{}
	for _, name := range names {
		v := object[name]
		p, ok := properties[style][name]
		if !ok {
			return s, fmt.Sprintf("%s is not a known property", errdefs.Shorten(name))
		}
		if other, twice := given[p]; twice {
			return s, fmt.Sprintf("%s and %s are the same property; give one of them", other, name)
		}
		given[p] = name
		if v == nil {
			continue
		}
		if p.text != "" {
			if issue := s.text(p.text, v); issue != "" {
				return s, name + " " + issue
			}
			continue
		}
		n, issue := number(fieldRules[p.field], v)
		if issue != "" {
			return s, name + " " + issue
		}
		s.Set(p.field, n)
	}
	if s.Mask == 0 && s.ErrorCode == "" {
		return s, "holds no value; give one of productive, productionCompleteGood, electricalKw and so on"
	}
	return s, ""
}

func (s *Signal) text(name string, v any) (issue string) {
	text, ok := v.(string)
	if !ok {
		return "must be a string"
	}
	most, into := 0, (*string)(nil)
	switch name {
	case "at":
		t, err := instant.Parse(text)
		if err != nil {
			return fmt.Sprintf("must be a time such as 2026-11-20T08:15:30.123Z; it is %q", errdefs.Shorten(text))
		}
		if year := t.UTC().Year(); year < 1970 || year > 9999 {
			return fmt.Sprintf("must be from 1970 to 9999; it is %q", errdefs.Shorten(text))
		}
		if s.At = t.UnixMilli(); s.At == 0 {
			s.At = 1 // 0 means missing; a clock that was never set starts at the first moment of 1970
		}
		return ""
	case "stationCode":
		most, into = maxStation, &s.Station
	case "id":
		most, into = maxID, &s.ID
	case "errorCode":
		most, into = maxErrorCode, &s.ErrorCode
	}
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return "must not be empty"
	case n > most:
		return fmt.Sprintf("must be %d characters or fewer; it has %d", most, n)
	case containsControl(text):
		return "must not hold control characters"
	}
	*into = text
	return ""
}

func containsControl(s string) bool {
	for _, r := range s {
		if unicode.IsControl(r) {
			return true
		}
	}
	return false
}

func number(r rule, v any) (n float64, issue string) {
	switch v := v.(type) {
	case bool:
		if !r.flag {
			return 0, "must be a number"
		}
		if v {
			return 1, ""
		}
		return 0, ""
	case json.Number:
		f, err := strconv.ParseFloat(string(v), 64)
		switch {
		case err != nil || f > largest || f < -largest:
			return 0, fmt.Sprintf("must be %g or less in size; it is %s", largest, errdefs.Shorten(string(v)))
		case r.flag && f != 0 && f != 1:
			return 0, "must be true, false, 1 or 0"
		case f < r.least:
			return 0, fmt.Sprintf("must be %g or more; it is %s", r.least, errdefs.Shorten(string(v)))
		}
		return f + 0, "" // turns -0 into 0
	}
	if r.flag {
		return 0, "must be true, false, 1 or 0"
	}
	return 0, "must be a number"
}
