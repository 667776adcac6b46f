package station

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// works returns a manifest of n stations in groups of ten, with as many SKUs as groups and lists at every level.
func works(n int) string {
	type object = map[string]any
	var groups, skus []any
	for g := range (n + 9) / 10 {
		var stations []any
		for s := range min(10, n-g*10) {
			stations = append(stations, object{"code": fmt.Sprintf("ST-%d", g*10+s), "name": fmt.Sprintf("Station %d", g*10+s), "utilisationDowntimeThreshold": 60000 * (s + 1)})
		}
		groups = append(groups, object{"code": fmt.Sprintf("g%d", g), "name": "Line", "shiftPatternCode": "two", "excludeReasonCodes": []any{"jam"}, "stations": stations})
		skus = append(skus, object{"code": fmt.Sprintf("SKU-%d", g), "name": "Part", "cycleTime": 1000 + g, "stationGroupCodes": []any{fmt.Sprintf("g%d", g)}})
	}
	var doc object
	if err := json.Unmarshal([]byte(small), &doc); err != nil {
		panic(err)
	}
	acct := doc["account"].(object)
	acct["skus"] = skus
	plant := acct["plants"].([]any)[0].(object)
	delete(plant, "totalEnergyStationCodes")
	plant["stationGroups"] = groups
	acct["plants"] = []any{plant}
	out, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// BenchmarkResolve resolves a decoded manifest for all its stations.
func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		b.Run(fmt.Sprintf("stations=%d", n), func(b *testing.B) {
			h := newHouse(b, works(n))
			m, err := h.accounts.ManifestOf("millbrook", 1)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Resolve(m, 1, 0, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/station")
		})
	}
}

// BenchmarkChanges reads a year of revisions, each of which changes one station: for a first station from the store,
// and then for the others.
func BenchmarkChanges(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("stations=%d", n), func(b *testing.B) {
			doc := works(n)
			h := newHouse(b, doc)
			const revisions = 30
			for i := range revisions {
				h.apply(time.Duration(i+1)*time.Hour, edit(b, doc, fmt.Sprintf("plants[0].stationGroups[0].stations[%d].minimumCycleTime = %d", i%10, i)))
			}
			var first, others time.Duration
			for b.Loop() {
				h.reopen()
				begin := time.Now()
				if _, err := h.line().Changes("ST-0", ms(0), ms(1000*time.Hour)); err != nil {
					b.Fatal(err)
				}
				first += time.Since(begin)
				begin = time.Now()
				for i := range n {
					if _, err := h.line().Changes(fmt.Sprintf("ST-%d", i), ms(0), ms(1000*time.Hour)); err != nil {
						b.Fatal(err)
					}
				}
				others += time.Since(begin)
			}
			b.ReportMetric(float64(first.Microseconds())/float64(b.N)/revisions, "µs/revision")
			b.ReportMetric(float64(others.Microseconds())/float64(b.N)/float64(n), "µs/station")
		})
	}
}
