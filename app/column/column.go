// Package column packs values by columns: what stands in one column of a list changes little from one row to the next. It has
// varints, a dictionary of strings, lists of whole and of floating-point numbers, and compression. It knows nothing of what is
// packed. Every format that is stored with it must stay readable: a changed encoding needs a new format number where it is used.
package column

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrBroken means that bytes cannot be what a Writer wrote.
var ErrBroken = errors.New("the packed data cannot be read")

// How the numbers of a column are written.
const (
	same  = 0 // all are equal: one number
	delta = 1 // signed: each less the one before it; unsigned: each as it is
)

// Floating-point numbers that people chose, and sums of them, have few decimal places except for an error of a few units in the last
// place. Such a number is written as a whole number of 10^-scale and that error, any other one as its bits.
const (
	scales     = 7    // 0 to 6 decimal places
	mostULP    = 100  // the largest error
	floatExact = 0x10 // added to a scale: no number has an error
	floatSame  = 0x40 // all have the bits of the first
	floatBits  = 0x80 // bits, each combined with those before by exclusive or
)

var powers = [scales]float64{1, 10, 100, 1e3, 1e4, 1e5, 1e6}

// near returns v as a whole number of 10^-scale and an error in units of the last place; ok reports whether it can be written so.
func near(v float64, scale int) (n, ulp int64, ok bool) {
	scaled := math.Round(v * powers[scale])
	if !(math.Abs(scaled) < 1<<53) {
		return 0, 0, false
	}
	n = int64(scaled)
	ulp = int64(math.Float64bits(v) - math.Float64bits(float64(n)/powers[scale]))
	return n, ulp, ulp >= -mostULP && ulp <= mostULP
}

func far(n, ulp int64, scale int) float64 {
	return math.Float64frombits(math.Float64bits(float64(n)/powers[scale]) + uint64(ulp))
}

// Writer packs values. Its zero value is ready to use.
type Writer struct {
	b     []byte
	index map[string]uint64
	words []string
}

// Uvarint writes an unsigned number.
func (w *Writer) Uvarint(n uint64) { w.b = binary.AppendUvarint(w.b, n) }

// Varint writes a signed number.
func (w *Writer) Varint(n int64) { w.b = binary.AppendVarint(w.b, n) }

// Byte writes one byte.
func (w *Writer) Byte(n byte) { w.b = append(w.b, n) }

// Bits writes up to 8 flags in one byte.
func (w *Writer) Bits(flags ...bool) {
	var b byte
	for i, v := range flags {
		if v {
			b |= 1 << i
		}
	}
	w.Byte(b)
}

// Word returns the number of a string in the dictionary, to which it adds the string when it is new; 0 is "".
func (w *Writer) Word(s string) uint64 {
	if s == "" {
		return 0
	}
	i, ok := w.index[s]
	if !ok {
		if w.index == nil {
			w.index = map[string]uint64{}
		}
		w.words = append(w.words, s)
		i = uint64(len(w.words))
		w.index[s] = i
	}
	return i
}

// Text writes a string by its number in the dictionary.
func (w *Writer) Text(s string) { w.Uvarint(w.Word(s)) }

// Uints writes n unsigned numbers. n is not written, and must be above 0.
func (w *Writer) Uints(n int, of func(i int) uint64) {
	first := of(0)
	for i := 1; ; i++ {
		if i >= n {
			w.Byte(same)
			w.Uvarint(first)
			return
		}
		if of(i) != first {
			break
		}
	}
	w.Byte(delta)
	for i := range n {
		w.Uvarint(of(i))
	}
}

// Ints writes n signed numbers, as differences where they are not all equal. n is not written.
func (w *Writer) Ints(n int, of func(i int) int64) {
	if n == 0 {
		return
	}
	first := of(0)
	for i := 1; ; i++ {
		if i >= n {
			w.Byte(same)
			w.Varint(first)
			return
		}
		if of(i) != first {
			break
		}
	}
	w.Byte(delta)
	w.Deltas(n, of)
}

// Deltas writes n signed numbers as differences. Each takes a byte at least, so that the count can be checked when they are read.
func (w *Writer) Deltas(n int, of func(i int) int64) {
	before := int64(0)
	for i := range n {
		v := of(i)
		w.Varint(v - before)
		before = v
	}
}

// Floats writes n floating-point numbers, to the last bit. n is not written.
func (w *Writer) Floats(n int, of func(i int) float64) {
	if n == 0 {
		return
	}
	equal := true
	for i := 1; i < n && equal; i++ {
		equal = math.Float64bits(of(i)) == math.Float64bits(of(0))
	}
	if equal {
		w.Byte(floatSame)
		w.Float(of(0))
		return
	}
	for scale := range scales {
		exact, fits := true, true
		for i := 0; i < n && fits; i++ {
			_, ulp, ok := near(of(i), scale)
			fits, exact = ok, exact && ulp == 0
		}
		if !fits {
			continue
		}
		mode := byte(scale)
		if exact {
			mode |= floatExact
		}
		w.Byte(mode)
		w.Deltas(n, func(i int) int64 { v, _, _ := near(of(i), scale); return v })
		for i := 0; i < n && !exact; i++ {
			_, ulp, _ := near(of(i), scale)
			w.Varint(ulp)
		}
		return
	}
	w.Byte(floatBits)
	w.FloatBits(n, of)
}

// FloatBits writes n floating-point numbers as their bits, each combined with those before by exclusive or.
func (w *Writer) FloatBits(n int, of func(i int) float64) {
	before := uint64(0)
	for i := range n {
		bits := math.Float64bits(of(i))
		w.b = binary.LittleEndian.AppendUint64(w.b, bits^before)
		before = bits
	}
}

// Float writes one floating-point number, to the last bit.
func (w *Writer) Float(v float64) {
	for scale := range scales {
		if n, ulp, ok := near(v, scale); ok {
			if ulp == 0 {
				w.Byte(byte(scale) | floatExact)
				w.Varint(n)
				return
			}
			w.Byte(byte(scale))
			w.Varint(n)
			w.Varint(ulp)
			return
		}
	}
	w.Byte(floatBits)
	w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(v))
}

// Cut returns what was written and begins anew with the same dictionary: for what must stand before it.
func (w *Writer) Cut() []byte {
	b := w.b
	w.b = nil
	return b
}

// Append writes bytes as they are.
func (w *Writer) Append(b []byte) { w.b = append(w.b, b...) }

// Payload appends the dictionary and what was written to dst.
func (w *Writer) Payload(dst []byte) []byte {
	size := len(w.b) + 4
	for _, s := range w.words {
		size += len(s) + 3
	}
	if cap(dst)-len(dst) < size {
		dst = append(make([]byte, 0, len(dst)+size), dst...)
	}
	dst = binary.AppendUvarint(dst, uint64(len(w.words)))
	for _, s := range w.words {
		dst = append(binary.AppendUvarint(dst, uint64(len(s))), s...)
	}
	return append(dst, w.b...)
}
