package column

import (
	"encoding/binary"
	"math"
)

// Reader reads what a Writer packed, after Open. It must be given the same calls in the same order. After the first
// thing that is wrong Failed reports true, and numbers are 0 and strings empty.
type Reader struct {
	b      []byte
	words  []string
	failed bool
}

// Open resets the reader to new bytes without a dictionary, and reuses its memory.
func (r *Reader) Open(b []byte) { r.b, r.words, r.failed = b, r.words[:0], false }

// Dictionary reads the dictionary. If names is not nil, it deduplicates strings: those in names are reused, and new
// ones are added.
func (r *Reader) Dictionary(names map[string]string) {
	r.words = append(r.words[:0], "")
	n := r.Uvarint()
	if n > uint64(len(r.b)) { // a string takes at least one byte
		r.Fail()
	}
	for ; n > 0 && !r.failed; n-- {
		b := r.Take(r.Uvarint())
		known, ok := names[string(b)]
		if !ok {
			if known = string(b); names != nil {
				names[known] = known
			}
		}
		r.words = append(r.words, known)
	}
}

// Fail records an error: End then returns ErrBroken.
func (r *Reader) Fail() { r.failed, r.b = true, nil }

// Failed reports whether an error has occurred.
func (r *Reader) Failed() bool { return r.failed }

// End returns ErrBroken unless all bytes were read without an error.
func (r *Reader) End() error {
	if r.failed || len(r.b) > 0 {
		return ErrBroken
	}
	return nil
}

// Left returns the unread bytes.
func (r *Reader) Left() []byte { return r.b }

// Take returns the next n bytes.
func (r *Reader) Take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.Fail()
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// Uvarint reads an unsigned number.
func (r *Reader) Uvarint() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.Fail()
		return 0
	}
	r.b = r.b[size:]
	return n
}

// Varint reads a signed number.
func (r *Reader) Varint() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.Fail()
		return 0
	}
	r.b = r.b[size:]
	return n
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if len(r.b) == 0 {
		r.Fail()
		return 0
	}
	b := r.b[0]
	r.b = r.b[1:]
	return b
}

func (r *Reader) fixed() uint64 {
	b := r.Take(8)
	if r.failed {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// Count reads the number of following items, each of at least least bytes; more than most is an error.
func (r *Reader) Count(least, most int) int {
	n := r.Uvarint()
	if n > uint64(len(r.b)/least) || n > uint64(most) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Word returns a string of the dictionary by number.
func (r *Reader) Word(n uint64) string {
	if n >= uint64(len(r.words)) {
		r.Fail()
		return ""
	}
	return r.words[n]
}

// Text reads a string.
func (r *Reader) Text() string { return r.Word(r.Uvarint()) }

// Bits reads as many flags as Bits of the Writer wrote.
func (r *Reader) Bits(flags ...*bool) {
	b := r.Byte()
	if b>>len(flags) != 0 {
		r.Fail()
	}
	for i, v := range flags {
		*v = b>>i&1 == 1
	}
}

// Uints reads n numbers written by Uints.
func (r *Reader) Uints(n int, set func(i int, v uint64)) {
	switch r.Byte() {
	case same:
		v := r.Uvarint()
		for i := 0; i < n && !r.failed; i++ {
			set(i, v)
		}
	case delta:
		for i := 0; i < n && !r.failed; i++ {
			set(i, r.Uvarint())
		}
	default:
		r.Fail()
	}
}

// Ints reads n numbers written by Ints.
func (r *Reader) Ints(n int, set func(i int, v int64)) {
	if n == 0 {
		return
	}
	switch r.Byte() {
	case same:
		v := r.Varint()
		for i := 0; i < n && !r.failed; i++ {
			set(i, v)
		}
	case delta:
		r.Deltas(n, set)
	default:
		r.Fail()
	}
}

// Deltas reads n numbers written by Deltas.
func (r *Reader) Deltas(n int, set func(i int, v int64)) {
	v := int64(0)
	for i := 0; i < n && !r.failed; i++ {
		v += r.Varint()
		set(i, v)
	}
}

// Floats reads n numbers written by Floats.
func (r *Reader) Floats(n int, set func(i int, v float64)) {
	if n == 0 {
		return
	}
	mode := r.Byte()
	scale := int(mode & 0xF)
	switch {
	case mode == floatSame:
		v := r.Float()
		for i := 0; i < n && !r.failed; i++ {
			set(i, v)
		}
	case mode == floatBits:
		r.FloatBits(n, set)
	case scale < scales && mode&^0xF == floatExact:
		r.Deltas(n, func(i int, v int64) { set(i, far(v, 0, scale)) })
	case scale < scales && mode&^0xF == 0:
		if n > len(r.b) {
			r.Fail()
			return
		}
		whole := make([]int64, n)
		r.Deltas(n, func(i int, v int64) { whole[i] = v })
		for i := 0; i < n && !r.failed; i++ {
			set(i, far(whole[i], r.Varint(), scale))
		}
	default:
		r.Fail()
	}
}

// FloatBits reads n numbers written by FloatBits.
func (r *Reader) FloatBits(n int, set func(i int, v float64)) {
	bits := uint64(0)
	for i := 0; i < n && !r.failed; i++ {
		bits ^= r.fixed()
		set(i, math.Float64frombits(bits))
	}
}

// Float reads a number written by Float.
func (r *Reader) Float() float64 {
	mode := r.Byte()
	scale := int(mode & 0xF)
	switch {
	case mode == floatBits:
		return math.Float64frombits(r.fixed())
	case scale < scales && mode&^0xF == floatExact:
		return far(r.Varint(), 0, scale)
	case scale < scales && mode&^0xF == 0:
		n := r.Varint()
		return far(n, r.Varint(), scale)
	}
	r.Fail()
	return 0
}
