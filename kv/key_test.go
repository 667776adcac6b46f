package kv

import (
	"bytes"
	"cmp"
	"strings"
	"testing"
	"time"
)

// checkKeys checks that two keys are decoded unchanged and that their encodings sort like them, also as the first
// part of a pair.
func checkKeys[K any](t *testing.T, codec Keys[K], x, y K, compare func(x, y K) int) {
	t.Helper()
	for _, k := range []K{x, y} {
		back, err := codec.decode(codec.encode(k))
		if err != nil || compare(back, k) != 0 {
			t.Fatalf("%s is read back as %s, %v", codec.show(k), codec.show(back), err)
		}
	}
	if got, want := bytes.Compare(codec.encode(x), codec.encode(y)), compare(x, y); got != want {
		t.Fatalf("%s and %s: encodings compare %d, keys %d", codec.show(x), codec.show(y), got, want)
	}
	pairs := PairOf(codec, String)
	low, high := Pair[K, string]{x, "\xff"}, Pair[K, string]{y, ""}
	want := compare(x, y)
	if want == 0 {
		want = 1
	}
	if got := bytes.Compare(pairs.encode(low), pairs.encode(high)); got != want {
		t.Fatalf("%s and %s: encodings compare %d, keys %d", pairs.show(low), pairs.show(high), got, want)
	}
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "\x00", "\x00\xff", "\x00\x01", "a", "a\x00", "a\x01", "a\x00b", "\xff"} {
		f.Add(s, "a\x00")
	}
	f.Fuzz(func(t *testing.T, x, y string) { checkKeys(t, String, x, y, strings.Compare) })
}

func FuzzUint64(f *testing.F) {
	f.Add(uint64(0), ^uint64(0))
	f.Add(uint64(255), uint64(256))
	f.Fuzz(func(t *testing.T, x, y uint64) { checkKeys(t, Uint64, x, y, cmp.Compare[uint64]) })
}

func FuzzTime(f *testing.F) {
	f.Add(int64(0), int64(-1))
	f.Add(time.Time{}.UnixMilli(), time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli())
	f.Fuzz(func(t *testing.T, x, y int64) {
		checkKeys(t, Time, time.UnixMilli(x), time.UnixMilli(y), time.Time.Compare)
	})
}

func FuzzBytes32(f *testing.F) {
	f.Add(make([]byte, 32), bytes.Repeat([]byte{255}, 32))
	f.Fuzz(func(t *testing.T, x, y []byte) {
		var a, b [32]byte
		copy(a[:], x)
		copy(b[:], y)
		checkKeys(t, Bytes32, a, b, func(x, y [32]byte) int { return bytes.Compare(x[:], y[:]) })
	})
}

func FuzzPair(f *testing.F) {
	f.Add("", uint64(0), "\x00", "\x00", uint64(0), "")
	f.Fuzz(func(t *testing.T, a1 string, b1 uint64, c1 string, a2 string, b2 uint64, c2 string) {
		type key = Pair[string, Pair[uint64, string]]
		checkKeys(t, PairOf(String, PairOf(Uint64, String)), key{a1, Pair[uint64, string]{b1, c1}}, key{a2, Pair[uint64, string]{b2, c2}},
			func(x, y key) int {
				return cmp.Or(strings.Compare(x.A, y.A), cmp.Compare(x.B.A, y.B.A), strings.Compare(x.B.B, y.B.B))
			})
	})
}

// FuzzDecode decodes arbitrary bytes as keys: the result is an error or a key with the same encoding.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("a\x00\xff\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01"))
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, data []byte) {
		decodeAgain(t, String, data)
		decodeAgain(t, Uint64, data)
		decodeAgain(t, Time, data)
		decodeAgain(t, Bytes32, data)
		decodeAgain(t, PairOf(String, PairOf(Time, Bytes32)), data)
	})
}

func decodeAgain[K any](t *testing.T, codec Keys[K], data []byte) {
	t.Helper()
	k, err := codec.decode(data)
	if err == nil && !bytes.Equal(codec.encode(k), data) {
		t.Fatalf("%x is read as %s and written as %x", data, codec.show(k), codec.encode(k))
	}
}

// TestTimeKeys checks the precision and the zone of decoded times.
func TestTimeKeys(t *testing.T) {
	zone := time.FixedZone("", 3600)
	for _, c := range []struct{ in, want time.Time }{
		{time.Date(2026, 11, 20, 9, 15, 30, 123_999_999, zone), time.Date(2026, 11, 20, 8, 15, 30, 123e6, time.UTC)},
		{time.Date(1969, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999e6, time.UTC)},
		{time.Time{}, time.Time{}},
	} {
		got, err := Time.decode(Time.encode(c.in))
		if err != nil || got != c.want {
			t.Errorf("%v is read back as %v, %v", c.in, got, err)
		}
	}
}

// TestUnderEnd tests a first part without a successor.
func TestUnderEnd(t *testing.T) {
	b := NewBucket("b", PairOf(Uint64, Uint64), Raw)
	if r := Under(b, ^uint64(0)); r.to != nil || len(r.from) != 8 {
		t.Errorf("range is %x to %x", r.from, r.to)
	}
	if r := Under(b, 255); !bytes.Equal(r.to, []byte{0, 0, 0, 0, 0, 0, 1}) {
		t.Errorf("range is %x to %x", r.from, r.to)
	}
}
