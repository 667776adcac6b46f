package column_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"opsmon/app/column"
)

// TestFloat checks that numbers with few decimal places take few bytes, and that all numbers are exact.
func TestFloat(t *testing.T) {
	tenth, speed := 0.1, 9.3
	for _, tt := range []struct {
		v     float64
		bytes int
	}{{0, 2}, {1, 2}, {0.1, 2}, {12.5, 3}, {tenth + 0.2, 3}, {speed * 5012, 5}, {1e9, 6}, {math.Pi, 9}, {math.Copysign(0, -1), 9}, {math.Inf(-1), 9}, {math.NaN(), 9}, {1e300, 9}} {
		var w column.Writer
		w.Float(tt.v)
		b := w.Cut()
		var r column.Reader
		r.Open(b)
		if got := r.Float(); math.Float64bits(got) != math.Float64bits(tt.v) || r.End() != nil || len(b) != tt.bytes {
			t.Errorf("%v became %v in %d bytes, want %d", tt.v, got, len(b), tt.bytes)
		}
	}
}

// some returns lists of each kind: equal numbers, steps, integers, numbers with decimal places and errors, and random
// ones.
func some(r *rand.Rand) (ints []int64, uints []uint64, floats []float64, words []string) {
	n, kind := 1+r.IntN(20), r.IntN(5)
	first := r.Float64() * 1000
	for i := range n {
		v := []float64{first, float64(i), float64(r.IntN(1000)), float64(r.IntN(1000))*0.1 + 0.2, math.Float64frombits(r.Uint64())}[kind]
		floats = append(floats, v)
		ints = append(ints, []int64{7, int64(i), -int64(r.IntN(100)), math.MinInt64, int64(r.Uint64())}[kind])
		uints = append(uints, []uint64{7, uint64(i), uint64(r.IntN(100)), math.MaxUint64, r.Uint64()}[kind])
		words = append(words, []string{"", "a", "ß", "a longer one", string(rune('a' + r.IntN(26)))}[r.IntN(5)])
	}
	return ints, uints, floats, words
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	compression := column.NewCompression(1 << 20)
	for range 2000 {
		ints, uints, floats, words := some(r)
		n := len(ints)
		var w column.Writer
		w.Uvarint(uint64(n))
		w.Bits(true, false, true)
		w.Ints(n, func(i int) int64 { return ints[i] })
		w.Uints(n, func(i int) uint64 { return uints[i] })
		w.Floats(n, func(i int) float64 { return floats[i] })
		w.FloatBits(n, func(i int) float64 { return floats[i] })
		rest := w.Cut()
		for _, s := range words {
			w.Text(s)
		}
		w.Append(rest)
		head := []byte("head")
		stored := w.Payload(slices.Clone(head))
		packed := compression.Compress(slices.Clone(head), stored)
		plain, err := compression.Decompress(packed[len(head):])
		if err != nil || !bytes.Equal(plain, stored) || !bytes.HasPrefix(packed, head) {
			t.Fatalf("%q was compressed to %q, and read as %q, %v", stored, packed, plain, err)
		}
		var got column.Reader
		got.Open(stored[len(head):])
		got.Dictionary(map[string]string{"a": "a"})
		for _, s := range words {
			if text := got.Text(); text != s {
				t.Fatalf("%q became %q", s, text)
			}
		}
		var a, b, c bool
		if count := got.Count(1, 20); count != n {
			t.Fatalf("%d became %d", n, count)
		}
		if got.Bits(&a, &b, &c); !a || b || !c {
			t.Fatal("the flags are others")
		}
		got.Ints(n, func(i int, v int64) {
			if v != ints[i] {
				t.Fatalf("%d of %d became %d", i, ints, v)
			}
		})
		got.Uints(n, func(i int, v uint64) {
			if v != uints[i] {
				t.Fatalf("%d of %d became %d", i, uints, v)
			}
		})
		same := func(i int, v float64) {
			if math.Float64bits(v) != math.Float64bits(floats[i]) {
				t.Fatalf("%d of %v became %v", i, floats, v)
			}
		}
		got.Floats(n, same)
		got.FloatBits(n, same)
		if err := got.End(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamage checks that truncated or extended data and excessive counts are errors.
func TestDamage(t *testing.T) {
	var w column.Writer
	w.Text("word")
	w.Uvarint(3)
	w.Ints(3, func(i int) int64 { return int64(i * i) })
	w.Floats(3, func(i int) float64 { return float64(i) / 3 })
	whole := w.Payload(nil)
	read := func(b []byte) error {
		var r column.Reader
		r.Open(b)
		r.Dictionary(nil)
		r.Text()
		n := r.Count(9, 3)
		r.Ints(n, func(int, int64) {})
		r.Floats(n, func(int, float64) {})
		return r.End()
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if err := read(whole[:n]); !errors.Is(err, column.ErrBroken) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
	if err := read(append(slices.Clone(whole), 0)); !errors.Is(err, column.ErrBroken) {
		t.Errorf("one byte more: %v", err)
	}
	claims := slices.Clone(whole)
	claims[0] = 0x7f // number of words
	if err := read(claims); !errors.Is(err, column.ErrBroken) {
		t.Errorf("a dictionary of 127 words: %v", err)
	}
	compression := column.NewCompression(1 << 10)
	if _, err := compression.Decompress(column.NewCompression(1<<20).Compress(nil, make([]byte, 1<<16))); !errors.Is(err, column.ErrBroken) {
		t.Errorf("64 KiB where 1 may be: %v", err)
	}
	var r column.Reader
	r.Open([]byte{0, 1})
	r.Dictionary(nil)
	if s := r.Text(); s != "" || !r.Failed() {
		t.Errorf("a word that is not there is %q", s)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte{1, 4, 'w', 'o', 'r', 'd', 1, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		var r column.Reader
		r.Open(b)
		r.Dictionary(nil)
		n := r.Count(1, 100)
		r.Text()
		r.Ints(n, func(int, int64) {})
		r.Uints(n, func(int, uint64) {})
		r.Floats(n, func(int, float64) {})
		r.Float()
		if err := r.End(); err != nil && !errors.Is(err, column.ErrBroken) {
			t.Error(err)
		}
	})
}
