package signal

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/instant"
)

// day returns what a station sends in a day, one signal every given number of ms: counts, power, speed, a heartbeat.
func day(station string, start, every int64, seed uint64) (list []Signal) {
	r := rand.New(rand.NewPCG(seed, 1))
	count, meter := 0.0, 1000.0
	for at := start; at < start+instant.DayMs; at += every {
		s := Signal{Account: "northgate", Station: station, At: at + r.Int64N(40), Source: "device:northgate/gw1"}
		s.Arrived = s.At + 20 + r.Int64N(60)
		if running := (at/3_600_000)%5 != 0; running {
			count += float64(r.IntN(3))
			meter += 0.01 * float64(r.IntN(5))
		}
		s.Set(ProductionCountGood, count)
		s.Set(ElectricalKwh, math.Round(meter*100)/100)
		s.Set(LineSpeed, math.Round(r.Float64()*100)/10)
		if at%60_000 == 0 {
			s.Set(RSSI, float64(-50-r.IntN(20)))
		}
		list = append(list, s)
	}
	return list
}

func TestPack(t *testing.T) {
	odd := Signal{Account: "a", Station: "s", At: -5, Arrived: 1 << 50, Source: "x", ID: "1", ErrorCode: "E 7", ClockCorrected: true}
	odd.Set(LineSpeed, math.Pi)
	odd.Set(ElectricalKw, -0.125)
	other := Signal{Account: "b", Station: "ß", At: 1 << 52, ID: "1"}
	other.Set(LineSpeed, math.SmallestNonzeroFloat64)
	other.Set(Productive, 1)
	other.Set(ProductionCountGood, 1e12)
	for name, list := range map[string][]Signal{
		"one": {odd}, "two": {odd, other}, "the other way": {other, odd, odd}, "bare": {{Station: "s"}}, "a day": day("F1", 20_000*instant.DayMs, 5000, 1),
	} {
		for _, compress := range []bool{false, true} {
			got, err := unpack(pack(list, compress))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := cmp.Diff(list, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

// TestPackedSize checks that a station that sends every five seconds takes at most 100 KB a day: 10 MB for a hundred
// stations.
func TestPackedSize(t *testing.T) {
	list := day("F1", 20_000*instant.DayMs, 5000, 2)
	b := pack(list, true)
	t.Logf("%d signals in %d bytes: %.1f bytes each", len(list), len(b), float64(len(b))/float64(len(list)))
	if len(b) > 100_000 {
		t.Errorf("a day takes %d bytes", len(b))
	}
}

// FuzzUnpack decodes arbitrary bytes. Its seeds are short to keep minimization fast.
func FuzzUnpack(f *testing.F) {
	f.Add(pack(day("F1", 0, 600_000, 3)[:4], false))
	f.Add(pack(day("F1", 0, 600_000, 3)[:4], true))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := unpack(b)
		if err != nil {
			return
		}
		// Decoded signals must have the same meaning after packing them again.
		for i := range list {
			for n := range list[i].Numbers {
				if math.IsNaN(list[i].Numbers[n]) || math.IsInf(list[i].Numbers[n], 0) {
					return
				}
			}
		}
		again, err := unpack(pack(list, false))
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			if Compare(&list[i], &again[i]) != 0 {
				t.Errorf("%+v became %+v", list[i], again[i])
			}
		}
	})
}

// TestUnpackCut checks that truncated data is detected.
func TestUnpackCut(t *testing.T) {
	for _, compress := range []bool{false, true} {
		b := pack(day("F1", 0, 3_600_000, 4), compress)
		for n := range b {
			if _, err := unpack(b[:n]); err == nil {
				t.Errorf("%d of %d bytes are read", n, len(b))
			}
		}
		if _, err := unpack(append(bytes.Clone(b), 0)); err == nil {
			t.Error("a byte more is read")
		}
	}
}

func BenchmarkPack(b *testing.B) {
	list := day("F1", 20_000*instant.DayMs, 5000, 5)
	for _, compress := range []bool{false, true} {
		b.Run(fmt.Sprint(compress), func(b *testing.B) {
			var packed []byte
			for b.Loop() {
				packed = pack(list, compress)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(list)), "ns/signal")
			b.ReportMetric(float64(len(packed))/float64(len(list)), "B/signal")
		})
	}
	b.Run("unpack", func(b *testing.B) {
		packed := pack(list, true)
		for b.Loop() {
			if _, err := unpack(packed); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(list)), "ns/signal")
	})
}
