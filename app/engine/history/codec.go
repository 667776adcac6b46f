package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// errBroken says that stored bytes cannot be what was written.
var errBroken = errors.New("the packed history cannot be read")

// Columns of numbers are written in one of these ways.
const (
	columnSame  = 0 // one number, that all are equal to
	columnDelta = 1 // each less the one before it
)

// Floating point numbers that people chose, and sums of them, have few decimal places but for an error of a few units in
// the last place. So a number is written as a whole number of 10^-scale and that error; one which is not so as its bits.
const (
	scales    = 7 // 0 to 6 decimal places
	maxULP    = 100
	realExact = 0x10 // beside a scale: no number has an error
	realSame  = 0x40 // all have the bits of the first
	realRaw   = 0x80 // bits, each combined with the one before by exclusive or
)

var powers = [scales]float64{1, 10, 100, 1e3, 1e4, 1e5, 1e6}

// near gives a number as a whole number of 10^-scale and an error in units of the last place.
func near(v float64, scale int) (n, ulp int64, ok bool) {
	scaled := math.Round(v * powers[scale])
	if !(math.Abs(scaled) < 1<<53) {
		return 0, 0, false
	}
	n = int64(scaled)
	ulp = int64(math.Float64bits(v) - math.Float64bits(float64(n)/powers[scale]))
	return n, ulp, ulp >= -maxULP && ulp <= maxULP
}

func far(n, ulp int64, scale int) float64 {
	return math.Float64frombits(math.Float64bits(float64(n)/powers[scale]) + uint64(ulp))
}

// writer packs one value. Strings are written once, before everything else.
type writer struct {
	b     []byte
	index map[string]uint64
	words []string
}

func newWriter() *writer { return &writer{index: map[string]uint64{}} }

func (w *writer) uvarint(n uint64) { w.b = binary.AppendUvarint(w.b, n) }
func (w *writer) varint(n int64)   { w.b = binary.AppendVarint(w.b, n) }
func (w *writer) byte(n byte)      { w.b = append(w.b, n) }

// word gives the number of a string; that of "" is 0.
func (w *writer) word(s string) uint64 {
	if s == "" {
		return 0
	}
	i, ok := w.index[s]
	if !ok {
		w.words = append(w.words, s)
		i = uint64(len(w.words))
		w.index[s] = i
	}
	return i
}

func (w *writer) text(s string) { w.uvarint(w.word(s)) }

// bits writes up to 8 flags.
func (w *writer) bits(flags ...bool) {
	var b byte
	for i, v := range flags {
		if v {
			b |= 1 << i
		}
	}
	w.byte(b)
}

// column writes n numbers, as differences where they are not all equal.
func (w *writer) column(n int, of func(i int) int64) {
	same := true
	for i := 1; i < n && same; i++ {
		same = of(i) == of(0)
	}
	if n == 0 {
		return
	}
	if same {
		w.byte(columnSame)
		w.varint(of(0))
		return
	}
	w.byte(columnDelta)
	w.deltas(n, of)
}

// deltas writes n numbers as differences: at least a byte each, so that their count can be checked when they are read.
func (w *writer) deltas(n int, of func(i int) int64) {
	before := int64(0)
	for i := range n {
		v := of(i)
		w.varint(v - before)
		before = v
	}
}

// reals writes n floating point numbers.
func (w *writer) reals(n int, of func(i int) float64) {
	if n == 0 {
		return
	}
	same := true
	for i := 1; i < n && same; i++ {
		same = math.Float64bits(of(i)) == math.Float64bits(of(0))
	}
	if same {
		w.byte(realSame)
		w.real(of(0))
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
			mode |= realExact
		}
		w.byte(mode)
		w.deltas(n, func(i int) int64 { v, _, _ := near(of(i), scale); return v })
		for i := 0; i < n && !exact; i++ {
			_, ulp, _ := near(of(i), scale)
			w.varint(ulp)
		}
		return
	}
	w.byte(realRaw)
	before := uint64(0)
	for i := range n {
		bits := math.Float64bits(of(i))
		w.b = binary.LittleEndian.AppendUint64(w.b, bits^before)
		before = bits
	}
}

// real writes one floating point number.
func (w *writer) real(v float64) {
	for scale := range scales {
		if n, ulp, ok := near(v, scale); ok {
			if ulp == 0 {
				w.byte(byte(scale) | realExact)
				w.varint(n)
				return
			}
			w.byte(byte(scale))
			w.varint(n)
			w.varint(ulp)
			return
		}
	}
	w.byte(realRaw)
	w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(v))
}

// payload gives what was written, with its strings before it.
func (w *writer) payload() []byte {
	head := writer{b: make([]byte, 0, len(w.b)+16*len(w.words)+4)}
	head.uvarint(uint64(len(w.words)))
	for _, s := range w.words {
		head.uvarint(uint64(len(s)))
		head.b = append(head.b, s...)
	}
	return append(head.b, w.b...)
}

// reader reads what a writer has packed. Whatever is wrong sets bad, and numbers are 0 from then on.
type reader struct {
	b     []byte
	words []string
	bad   bool
}

func newReader(payload []byte) *reader {
	r := &reader{b: payload}
	r.dictionary(nil)
	return r
}

// dictionary reads the strings; names, when there are some, holds those that are known.
func (r *reader) dictionary(names map[string]string) {
	r.words = append(r.words[:0], "")
	n := r.uvarint()
	if n > uint64(len(r.b)) { // a string takes a byte at least
		r.fail()
	}
	for ; n > 0 && !r.bad; n-- {
		b := r.take(r.uvarint())
		known, ok := names[string(b)]
		if !ok {
			if known = string(b); names != nil {
				names[known] = known
			}
		}
		r.words = append(r.words, known)
	}
}

func (r *reader) fail() {
	r.bad, r.b = true, nil
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) uvarint() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) varint() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	b := r.b[0]
	r.b = r.b[1:]
	return b
}

func (r *reader) fixed() uint64 {
	b := r.take(8)
	if r.bad {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// count reads how many of something follow, of which each takes least bytes or more.
func (r *reader) count(least, most int) int {
	n := r.uvarint()
	if n > uint64(len(r.b)/least) || n > uint64(most) {
		r.fail()
		return 0
	}
	return int(n)
}

// word gives a string by its number.
func (r *reader) word(n uint64) string {
	if n >= uint64(len(r.words)) {
		r.fail()
		return ""
	}
	return r.words[n]
}

func (r *reader) text() string { return r.word(r.uvarint()) }

func (r *reader) bits(flags ...*bool) {
	b := r.byte()
	if b>>len(flags) != 0 {
		r.fail()
	}
	for i, v := range flags {
		*v = b>>i&1 == 1
	}
}

func (r *reader) column(n int, set func(i int, v int64)) {
	if n == 0 {
		return
	}
	switch r.byte() {
	case columnSame:
		v := r.varint()
		for i := 0; i < n && !r.bad; i++ {
			set(i, v)
		}
	case columnDelta:
		r.deltas(n, set)
	default:
		r.fail()
	}
}

func (r *reader) deltas(n int, set func(i int, v int64)) {
	v := int64(0)
	for i := 0; i < n && !r.bad; i++ {
		v += r.varint()
		set(i, v)
	}
}

func (r *reader) reals(n int, set func(i int, v float64)) {
	if n == 0 {
		return
	}
	mode := r.byte()
	scale := int(mode & 0xF)
	switch {
	case mode == realSame:
		v := r.real()
		for i := 0; i < n && !r.bad; i++ {
			set(i, v)
		}
	case mode == realRaw:
		bits := uint64(0)
		for i := 0; i < n && !r.bad; i++ {
			bits ^= r.fixed()
			set(i, math.Float64frombits(bits))
		}
	case scale < scales && mode&^0xF == realExact:
		r.deltas(n, func(i int, v int64) { set(i, far(v, 0, scale)) })
	case scale < scales && mode&^0xF == 0:
		if n > len(r.b) {
			r.fail()
			return
		}
		whole := make([]int64, n)
		r.deltas(n, func(i int, v int64) { whole[i] = v })
		for i := 0; i < n && !r.bad; i++ {
			set(i, far(whole[i], r.varint(), scale))
		}
	default:
		r.fail()
	}
}

func (r *reader) real() float64 {
	mode := r.byte()
	scale := int(mode & 0xF)
	switch {
	case mode == realRaw:
		return math.Float64frombits(r.fixed())
	case scale < scales && mode&^0xF == realExact:
		return far(r.varint(), 0, scale)
	case scale < scales && mode&^0xF == 0:
		n := r.varint()
		return far(n, r.varint(), scale)
	}
	r.fail()
	return 0
}

// end tells whether everything was read, and could be.
func (r *reader) end() error {
	if r.bad || len(r.b) > 0 {
		return errBroken
	}
	return nil
}

// most is how long a value may be when it is not compressed: a damaged one must not fill the memory.
const most = 32 << 20

var encoders = sync.Pool{New: func() any {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		panic("history: zstd options: " + err.Error())
	}
	return enc
}}

var decoders = sync.Pool{New: func() any {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(most))
	if err != nil {
		panic("history: zstd options: " + err.Error())
	}
	return dec
}}

func compress(dst, payload []byte) []byte {
	enc := encoders.Get().(*zstd.Encoder)
	defer encoders.Put(enc)
	return enc.EncodeAll(payload, dst)
}

func decompress(b []byte) ([]byte, error) {
	dec := decoders.Get().(*zstd.Decoder)
	defer decoders.Put(dec)
	out, err := dec.DecodeAll(b, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	return out, nil
}
