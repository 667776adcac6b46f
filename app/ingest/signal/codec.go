package signal

import (
	"encoding/binary"
	"fmt"
	"math"

	"opsmon/app/column"
)

// Signals are stored by column, because values of a machine change little from one signal to the next. The stored
// form is a format byte, in the compressed format the times of the first and the last signal (a reader of other times
// then need not decompress), and a payload:
//
//	count
//	strings         number, then each with its length: accounts, stations, sources, codes and ids, without ""
//	columns         account, station, source, error code, id, mask, corrected: numbers; strings from 1, 0 = ""
//	at              first, then differences of differences, ms
//	arrived         minus at, differences, ms
//	fields          each field in a mask: scale, then its numbers where it is set
//
// Numbers are varints. A column of equal numbers is written as 0 and that number, any other as 1 and all numbers. The
// numbers of a field are multiplied by 10^scale to become integers, and written as differences; with the scale raw
// they are the bits of float64, each XORed with the previous one.
const (
	formatPlain byte = 1
	formatZstd  byte = 2
)

const (
	scales = 4 // 0 to 3 decimal places
	raw    = 255
)

var powers = [scales]float64{1, 10, 100, 1000}

// maxCount is the maximum number of signals that a stored value may claim to have.
const maxCount = 10_000_000

// compression decompresses at most 256 MiB per part, which is one station's day.
var compression = column.NewCompression(256 << 20)

// texts are the string columns, in order.
var texts = []func(*Signal) *string{
	func(s *Signal) *string { return &s.Account }, func(s *Signal) *string { return &s.Station }, func(s *Signal) *string { return &s.Source },
	func(s *Signal) *string { return &s.ErrorCode }, func(s *Signal) *string { return &s.ID },
}

// pack returns the stored form of signals, at least one. All numbers must be finite.
func pack(list []Signal, compress bool) []byte {
	var w column.Writer
	n := len(list)
	for _, text := range texts {
		writeTexts(&w, list, text)
	}
	var masks uint16
	for i := range list {
		masks |= list[i].Mask
	}
	w.Uints(n, func(i int) uint64 { return uint64(list[i].Mask) })
	w.Uints(n, func(i int) uint64 {
		if list[i].ClockCorrected {
			return 1
		}
		return 0
	})
	writeTimes(&w, list)
	for f := range fieldCount {
		if masks&(1<<f) != 0 {
			writeNumbers(&w, list, f)
		}
	}
	if !compress {
		return w.Payload(binary.AppendUvarint([]byte{formatPlain}, uint64(n)))
	}
	first, end := span(list)
	return compression.Compress(binary.AppendVarint(binary.AppendVarint([]byte{formatZstd}, first), end), w.Payload(binary.AppendUvarint(nil, uint64(n))))
}

// writeTexts writes a column of strings. It compares strings where possible, because looking up their numbers is
// slower.
func writeTexts(w *column.Writer, list []Signal, of func(*Signal) *string) {
	last := *of(&list[0])
	number := w.Word(last)
	w.Uints(len(list), func(i int) uint64 {
		if s := *of(&list[i]); s != last {
			last, number = s, w.Word(s)
		}
		return number
	})
}

// writeTimes writes the times of the signals as changes of their intervals, and the delays of their arrival.
func writeTimes(w *column.Writer, list []Signal) {
	var last, step int64
	for i := range list {
		now := list[i].At - last
		w.Varint(now - step)
		last, step = list[i].At, now
		if i == 0 {
			step = 0
		}
	}
	w.Deltas(len(list), func(i int) int64 { return list[i].Arrived - list[i].At })
}

// span returns the times of the earliest and the latest signal, ms.
func span(list []Signal) (first, last int64) {
	first, last = list[0].At, list[0].At
	for i := range list {
		first, last = min(first, list[i].At), max(last, list[i].At)
	}
	return first, last
}

// spanOf returns the times of the first and the last packed signal without decompressing; all times if unknown.
func spanOf(stored []byte) (first, last int64) {
	if len(stored) > 0 && stored[0] == formatZstd {
		var r column.Reader
		r.Open(stored[1:])
		if first, last = r.Varint(), r.Varint(); !r.Failed() {
			return first, last
		}
	}
	return math.MinInt64, math.MaxInt64
}

// writeNumbers writes a field.
func writeNumbers(w *column.Writer, list []Signal, f Field) {
	values, scale := make([]float64, 0, len(list)), 0
	for i := range list {
		if list[i].Has(f) {
			v := list[i].Numbers[f]
			for values = append(values, v); scale < scales && !whole(v, scale); {
				scale++
			}
		}
	}
	if scale == scales {
		w.Byte(raw)
		w.FloatBits(len(values), func(i int) float64 { return values[i] })
		return
	}
	w.Byte(byte(scale))
	w.Deltas(len(values), func(i int) int64 { return int64(math.Round(values[i] * powers[scale])) })
}

// whole reports whether a number with that many decimal places is preserved exactly.
func whole(n float64, scale int) bool {
	scaled := math.Round(n * powers[scale])
	return math.Abs(scaled) < 1<<53 && scaled/powers[scale] == n && !(n == 0 && math.Signbit(n))
}

// unpack decodes the result of pack. The error is column.ErrBroken.
func unpack(stored []byte) ([]Signal, error) {
	if len(stored) == 0 {
		return nil, column.ErrBroken
	}
	var r column.Reader
	r.Open(stored[1:])
	var first, latest int64
	switch stored[0] {
	case formatPlain:
	case formatZstd:
		if first, latest = r.Varint(), r.Varint(); r.Failed() {
			return nil, column.ErrBroken
		}
		plain, err := compression.Decompress(r.Left())
		if err != nil {
			return nil, err
		}
		r.Open(plain)
	default:
		return nil, fmt.Errorf("%w: the format is %d", column.ErrBroken, stored[0])
	}
	list := readSignals(&r)
	if err := r.End(); err != nil {
		return nil, err
	}
	if f, l := span(list); stored[0] == formatZstd && (f != first || l != latest) {
		return nil, column.ErrBroken
	}
	return list, nil
}

func readSignals(r *column.Reader) []Signal {
	n := r.Count(2, maxCount) // a signal takes at least two bytes: time and arrival
	if r.Dictionary(nil); n == 0 || r.Failed() {
		r.Fail()
		return nil
	}
	list := make([]Signal, n)
	for _, text := range texts {
		r.Uints(n, func(i int, v uint64) { *text(&list[i]) = r.Word(v) })
	}
	var masks uint16
	r.Uints(n, func(i int, v uint64) {
		if v >= 1<<fieldCount {
			r.Fail()
		}
		list[i].Mask = uint16(v)
		masks |= list[i].Mask
	})
	r.Uints(n, func(i int, v uint64) { list[i].ClockCorrected = v == 1 })
	readTimes(r, list)
	for f := range fieldCount {
		if !r.Failed() && masks&(1<<f) != 0 {
			readNumbers(r, list, f)
		}
	}
	return list
}

// readTimes reads times and arrivals of the signals.
func readTimes(r *column.Reader, list []Signal) {
	var last, step int64
	for i := 0; i < len(list) && !r.Failed(); i++ {
		step += r.Varint()
		last += step
		list[i].At = last
		if i == 0 {
			step = 0
		}
	}
	r.Deltas(len(list), func(i int, lag int64) { list[i].Arrived = list[i].At + lag })
}

// readNumbers reads a field.
func readNumbers(r *column.Reader, list []Signal, f Field) {
	n := 0
	for i := range list {
		if list[i].Has(f) {
			n++
		}
	}
	at := -1 // index of the last read number's signal
	next := func() *float64 {
		for at++; !list[at].Has(f); at++ {
		}
		return &list[at].Numbers[f]
	}
	switch scale := r.Byte(); {
	case scale == raw:
		r.FloatBits(n, func(_ int, v float64) { *next() = v })
	case scale < scales:
		r.Deltas(n, func(_ int, v int64) { *next() = float64(v) / powers[scale] })
	default:
		r.Fail()
	}
}
