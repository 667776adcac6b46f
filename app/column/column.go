// Package column encodes lists of values by column, because values in one column change little from row to row. It
// has varints, a dictionary of strings, lists of integers and of floating-point numbers, and compression. It has no
// knowledge of the data. Every stored format must remain readable: a changed encoding needs a new format number in
// the package that uses it.
package column

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrBroken means that the bytes were not written by a Writer.
var ErrBroken = errors.New("the packed data cannot be read")

// Encodings of a column of numbers.
const (
	same  = 0 // all are equal: one number
	delta = 1 // signed: differences from the previous number; unsigned: the numbers
)

// Floating-point numbers entered by people, and sums of them, have few decimal places, apart from an error of a few
// units in the last place. Such a number is encoded as an integer multiple of 10^-scale and that error, any other
// number as its bits.
const (
	scales     = 7    // 0 to 6 decimal places
	mostULP    = 100  // the largest error
	floatExact = 0x10 // added to a scale: no number has an error
	floatSame  = 0x40 // all equal the first, bit by bit
	floatBits  = 0x80 // bits, each XORed with the previous ones
)

var powers = [scales]float64{1, 10, 100, 1e3, 1e4, 1e5, 1e6}

// near returns v as an integer multiple of 10^-scale and an error in units of the last place; ok reports whether this
// is possible.
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

// Writer encodes values. Its zero value is ready to use.
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

// Word returns the dictionary number of a string, which it adds if it is new; 0 is "".
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

// Text writes a string as its number in the dictionary.
func (w *Writer) Text(s string) { w.Uvarint(w.Word(s)) }

// Uints writes n unsigned numbers. n must be positive and is not written.
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

// Ints writes n signed numbers, as differences unless all are equal. n is not written.
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

// Deltas writes n signed numbers as differences. Each takes at least one byte, which allows checking the count when
// reading.
func (w *Writer) Deltas(n int, of func(i int) int64) {
	before := int64(0)
	for i := range n {
		v := of(i)
		w.Varint(v - before)
		before = v
	}
}

// Floats writes n floating-point numbers exactly. n is not written.
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

// FloatBits writes n floating-point numbers as bits, each XORed with the previous ones.
func (w *Writer) FloatBits(n int, of func(i int) float64) {
	before := uint64(0)
	for i := range n {
		bits := math.Float64bits(of(i))
		w.b = binary.LittleEndian.AppendUint64(w.b, bits^before)
		before = bits
	}
}

// Float writes one floating-point number exactly.
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

// Cut returns the bytes written so far and starts again with the same dictionary, to write a part that must precede
// them.
func (w *Writer) Cut() []byte {
	b := w.b
	w.b = nil
	return b
}

// Append writes raw bytes.
func (w *Writer) Append(b []byte) { w.b = append(w.b, b...) }

// Payload appends the dictionary and the written bytes to dst.
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
