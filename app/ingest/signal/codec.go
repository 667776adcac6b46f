package signal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Signals are stored by columns, because what a machine sends changes little from one signal to the next. The stored form
// is a format byte, where it is compressed the times of the first and the last signal, so that who looks for others need
// not decompress it, and a payload:
//
//	count
//	strings         how many, then each with its length: accounts, stations, sources, codes and ids, "" not among them
//	columns         account, station, source, error code, id, mask, corrected: numbers, those of strings from 1, 0 = ""
//	at              first, then differences of differences, ms
//	arrived         less at, differences, ms
//	fields          of each that a mask holds: scale, then its numbers where it is set
//
// Numbers are varints. A column whose numbers are all equal is written as 0 and that number, any other as 1 and all of
// them. A field's numbers are whole ones after multiplication with 10^scale, as differences; with the scale raw they are
// the bits of float64, each combined with the one before it by exclusive or.
const (
	formatPlain byte = 1
	formatZstd  byte = 2
)

const (
	scales = 4 // 0 to 3 decimal places
	raw    = 255
)

var powers = [scales]float64{1, 10, 100, 1000}

// maxCount bounds how many signals one value may claim to hold.
const maxCount = 10_000_000

var errBroken = errors.New("the packed signals cannot be read")

type packer struct {
	b       []byte
	indexes map[string]uint64
	strings []string
}

func (p *packer) uvarint(n uint64) { p.b = binary.AppendUvarint(p.b, n) }
func (p *packer) varint(n int64)   { p.b = binary.AppendVarint(p.b, n) }

func (p *packer) index(s string) uint64 {
	if s == "" {
		return 0
	}
	i, ok := p.indexes[s]
	if !ok {
		p.strings = append(p.strings, s)
		i = uint64(len(p.strings))
		p.indexes[s] = i
	}
	return i
}

// column writes one number of each signal.
func (p *packer) column(list []Signal, of func(*Signal) uint64) {
	first, same := of(&list[0]), true
	for i := range list {
		if same = of(&list[i]) == first; !same {
			break
		}
	}
	if same {
		p.uvarint(0)
		p.uvarint(first)
		return
	}
	p.uvarint(1)
	for i := range list {
		p.uvarint(of(&list[i]))
	}
}

// textColumn is column for a string. Strings are compared where that tells as much as their index, which costs more.
func (p *packer) textColumn(list []Signal, of func(*Signal) *string) {
	first, same := *of(&list[0]), true
	for i := range list {
		if same = *of(&list[i]) == first; !same {
			break
		}
	}
	last, index := first, p.index(first)
	if same {
		p.uvarint(0)
		p.uvarint(index)
		return
	}
	p.uvarint(1)
	for i := range list {
		if s := *of(&list[i]); s != last {
			last, index = s, p.index(s)
		}
		p.uvarint(index)
	}
}

// texts are the columns of strings, in their order.
var texts = []func(*Signal) *string{
	func(s *Signal) *string { return &s.Account }, func(s *Signal) *string { return &s.Station }, func(s *Signal) *string { return &s.Source },
	func(s *Signal) *string { return &s.ErrorCode }, func(s *Signal) *string { return &s.ID },
}

// pack gives the stored form of signals, of which there is at least one. Every number must be finite.
func pack(list []Signal, compress bool) []byte {
	p := packer{indexes: map[string]uint64{}}
	var columns packer
	columns.indexes = p.indexes
	for _, text := range texts {
		columns.textColumn(list, text)
	}
	p.uvarint(uint64(len(list)))
	p.uvarint(uint64(len(columns.strings)))
	for _, s := range columns.strings {
		p.uvarint(uint64(len(s)))
		p.b = append(p.b, s...)
	}
	p.b = append(p.b, columns.b...)
	var masks uint16
	for i := range list {
		masks |= list[i].Mask
	}
	p.column(list, func(s *Signal) uint64 { return uint64(s.Mask) })
	p.column(list, func(s *Signal) uint64 {
		if s.ClockCorrected {
			return 1
		}
		return 0
	})
	p.times(list)
	for f := range fieldCount {
		if masks&(1<<f) != 0 {
			p.numbers(list, f)
		}
	}
	if !compress {
		return append([]byte{formatPlain}, p.b...)
	}
	enc := encoders.Get().(*zstd.Encoder)
	defer encoders.Put(enc)
	first, end := span(list)
	return enc.EncodeAll(p.b, binary.AppendVarint(binary.AppendVarint([]byte{formatZstd}, first), end))
}

// times writes when the signals were made, by how the steps between them change, and how late they arrived.
func (p *packer) times(list []Signal) {
	var last, step, lag int64
	for i := range list {
		now := list[i].At - last
		p.varint(now - step)
		last, step = list[i].At, now
		if i == 0 {
			step = 0
		}
	}
	for i := range list {
		now := list[i].Arrived - list[i].At
		p.varint(now - lag)
		lag = now
	}
}

// span gives the times of the earliest and the latest of signals, ms.
func span(list []Signal) (first, last int64) {
	first, last = list[0].At, list[0].At
	for i := range list {
		first, last = min(first, list[i].At), max(last, list[i].At)
	}
	return first, last
}

// spanOf gives the times of the first and the last of packed signals without reading them; all times when that cannot be told.
func spanOf(stored []byte) (first, last int64) {
	if len(stored) > 0 && stored[0] == formatZstd {
		u := unpacker{stored[1:], true}
		if first, last = u.varint(), u.varint(); u.ok {
			return first, last
		}
	}
	return math.MinInt64, math.MaxInt64
}

var encoders = sync.Pool{New: func() any {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		panic("signal: zstd options: " + err.Error())
	}
	return enc
}}

// numbers writes a field.
func (p *packer) numbers(list []Signal, f Field) {
	scale := 0
	for i := range list {
		for list[i].Has(f) && scale < scales && !whole(list[i].Numbers[f], scale) {
			scale++
		}
	}
	if scale == scales {
		p.b = append(p.b, raw)
		var before uint64
		for i := range list {
			if list[i].Has(f) {
				bits := math.Float64bits(list[i].Numbers[f])
				p.b = binary.LittleEndian.AppendUint64(p.b, bits^before)
				before = bits
			}
		}
		return
	}
	p.b = append(p.b, byte(scale))
	var before int64
	for i := range list {
		if list[i].Has(f) {
			n := int64(math.Round(list[i].Numbers[f] * powers[scale]))
			p.varint(n - before)
			before = n
		}
	}
}

// whole tells whether a number with that many decimal places is kept exactly.
func whole(n float64, scale int) bool {
	scaled := math.Round(n * powers[scale])
	return math.Abs(scaled) < 1<<53 && scaled/powers[scale] == n && !(n == 0 && math.Signbit(n))
}

type unpacker struct {
	b  []byte
	ok bool
}

func (u *unpacker) uvarint() uint64 {
	n, size := binary.Uvarint(u.b)
	if size <= 0 {
		u.ok = false
		return 0
	}
	u.b = u.b[size:]
	return n
}

func (u *unpacker) varint() int64 {
	n, size := binary.Varint(u.b)
	if size <= 0 {
		u.ok = false
		return 0
	}
	u.b = u.b[size:]
	return n
}

func (u *unpacker) take(n uint64) []byte {
	if n > uint64(len(u.b)) {
		u.ok = false
		return nil
	}
	b := u.b[:n]
	u.b = u.b[n:]
	return b
}

// column reads one number of each signal.
func (u *unpacker) column(n int, set func(i int, v uint64)) {
	switch u.uvarint() {
	case 0:
		v := u.uvarint()
		for i := 0; i < n && u.ok; i++ {
			set(i, v)
		}
	case 1:
		for i := 0; i < n && u.ok; i++ {
			set(i, u.uvarint())
		}
	default:
		u.ok = false
	}
}

// unpack reads what pack has made.
func unpack(stored []byte) ([]Signal, error) {
	if len(stored) == 0 {
		return nil, errBroken
	}
	u := unpacker{stored[1:], true}
	var first, latest int64
	switch stored[0] {
	case formatPlain:
	case formatZstd:
		first, latest = u.varint(), u.varint()
		if err := u.decompress(); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("%w: the format is %d", errBroken, stored[0])
	}
	list := u.signals()
	if !u.ok || len(u.b) > 0 {
		return nil, errBroken
	}
	if f, l := span(list); stored[0] == formatZstd && (f != first || l != latest) {
		return nil, errBroken
	}
	return list, nil
}

// decompress puts what is left into its plain form.
func (u *unpacker) decompress() (err error) {
	if !u.ok {
		return errBroken
	}
	dec := decoders.Get().(*zstd.Decoder)
	defer decoders.Put(dec)
	if u.b, err = dec.DecodeAll(u.b, nil); err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	return nil
}

func (u *unpacker) signals() []Signal {
	count := u.uvarint()
	// Every signal takes two bytes at least: its time and its arrival.
	if count == 0 || count > maxCount || count > uint64(len(u.b)) {
		u.ok = false
		return nil
	}
	n := int(count)
	dictionary := u.dictionary()
	if !u.ok {
		return nil
	}
	list := make([]Signal, n)
	for _, text := range texts {
		u.column(n, func(i int, v uint64) {
			if v >= uint64(len(dictionary)) {
				u.ok = false
				return
			}
			*text(&list[i]) = dictionary[v]
		})
	}
	var masks uint16
	u.column(n, func(i int, v uint64) {
		if v >= 1<<fieldCount {
			u.ok = false
		}
		list[i].Mask = uint16(v)
		masks |= list[i].Mask
	})
	u.column(n, func(i int, v uint64) { list[i].ClockCorrected = v == 1 })
	u.times(list)
	for f := range fieldCount {
		if u.ok && masks&(1<<f) != 0 {
			u.numbers(list, f)
		}
	}
	return list
}

// dictionary reads the texts that columns name by number; 0 is the empty one.
func (u *unpacker) dictionary() []string {
	words := u.uvarint()
	if words > uint64(len(u.b)) {
		u.ok = false
		return nil
	}
	dictionary := make([]string, words+1)
	for i := 1; i < len(dictionary) && u.ok; i++ {
		dictionary[i] = string(u.take(u.uvarint()))
	}
	return dictionary
}

// times reads when the signals were made and when they arrived.
func (u *unpacker) times(list []Signal) {
	var last, step, lag int64
	for i := 0; i < len(list) && u.ok; i++ {
		step += u.varint()
		last += step
		list[i].At = last
		if i == 0 {
			step = 0
		}
	}
	for i := 0; i < len(list) && u.ok; i++ {
		lag += u.varint()
		list[i].Arrived = list[i].At + lag
	}
}

// decoders refuse to make much of little: a part is one station's day.
var decoders = sync.Pool{New: func() any {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		panic("signal: zstd options: " + err.Error())
	}
	return dec
}}

// numbers reads a field.
func (u *unpacker) numbers(list []Signal, f Field) {
	head := u.take(1)
	if !u.ok {
		return
	}
	if head[0] == raw {
		var before uint64
		for i := range list {
			if list[i].Has(f) {
				b := u.take(8)
				if !u.ok {
					return
				}
				before ^= binary.LittleEndian.Uint64(b)
				list[i].Numbers[f] = math.Float64frombits(before)
			}
		}
		return
	}
	if head[0] >= scales {
		u.ok = false
		return
	}
	var before int64
	for i := range list {
		if list[i].Has(f) {
			before += u.varint()
			list[i].Numbers[f] = float64(before) / powers[head[0]]
		}
	}
}
