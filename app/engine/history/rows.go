package history

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"opsmon/app/column"
	"opsmon/app/engine/calendar"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/oee"
	"opsmon/app/instant"
)

// Formats of sums. They change with the fields of oee's Row and Terms and of energy's Row and Usage; a value of another
// format is recalculated. The format is followed by the moment up to which the sums are complete, 8 bytes. Sums by hour
// are compressed; those by day are not, because they are small and read by the hundred thousand.
const (
	formatHours byte = 3
	formatDays  byte = 4
)

const sumsHead = 9

// maxRows limits the rows of a day: an hour has few SKUs and shifts.
const maxRows = 1 << 16

// The numbers of the fields of Terms: integers, then floating-point numbers, then flags.
const (
	wholes = len(oee.Terms{}.Times)*len(oee.Terms{}.Times[0]) + len(oee.Terms{}.Down)*len(oee.Terms{}.Down[0]) +
		len(oee.Terms{}.Paused) + len(oee.Terms{}.Ran) + len(oee.Terms{}.Excluded) + 9
	floats = 4 + len(oee.Terms{}.Cost)
	flags  = 1 + len(oee.Terms{}.Priced) + len(oee.Terms{}.Unpriced)
)

// whole returns an integer field by its number.
func whole(t *oee.Terms, i int) *int64 {
	if n := len(t.Times) * len(t.Times[0]); i < n {
		return &t.Times[i/len(t.Times[0])][i%len(t.Times[0])]
	} else {
		i -= n
	}
	switch i {
	case 0:
		return &t.Good
	case 1:
		return &t.Bad
	case 2:
		return &t.Other
	case 3:
		return &t.All
	case 4:
		return &t.RatedRun
	case 5:
		return &t.UnscheduledGood
	case 6:
		return &t.UnscheduledBad
	case 7:
		return &t.UnknownGood
	case 8:
		return &t.UnknownBad
	}
	i -= 9
	if n := len(t.Down) * len(t.Down[0]); i < n {
		return &t.Down[i/len(t.Down[0])][i%len(t.Down[0])]
	} else {
		i -= n
	}
	if i < len(t.Paused) {
		return &t.Paused[i]
	}
	if i -= len(t.Paused); i < len(t.Ran) {
		return &t.Ran[i]
	}
	return &t.Excluded[i-len(t.Ran)]
}

// float returns a floating-point field by its number.
func float(t *oee.Terms, i int) *float64 {
	switch i {
	case 0:
		return &t.Ideal
	case 1:
		return &t.Target
	case 2:
		return &t.IdealTime
	case 3:
		return &t.BadTime
	}
	return &t.Cost[i-4]
}

// flag returns a flag by its number.
func flag(t *oee.Terms, i int) *bool {
	if i == 0 {
		return &t.HasRate
	}
	if i--; i < len(t.Priced) {
		return &t.Priced[i]
	}
	return &t.Unpriced[i-len(t.Priced)]
}

// terms encodes the fields that are set, after a mask of the integers and one of the others.
func (w *writer) terms(t *oee.Terms) {
	var set, others uint64
	for i := range wholes {
		if *whole(t, i) != 0 {
			set |= 1 << i
		}
	}
	for i := range flags {
		if *flag(t, i) {
			others |= 1 << i
		}
	}
	for i := range floats {
		if math.Float64bits(*float(t, i)) != 0 { // -0 is stored, too
			others |= 1 << (flags + i)
		}
	}
	w.Uvarint(set)
	w.Uvarint(others)
	for ; set != 0; set &= set - 1 {
		w.Varint(*whole(t, bits.TrailingZeros64(set)))
	}
	for others >>= flags; others != 0; others &= others - 1 {
		w.Float(*float(t, bits.TrailingZeros64(others)))
	}
}

func (r *reader) terms(t *oee.Terms) {
	set, others := r.Uvarint(), r.Uvarint()
	if set>>wholes != 0 || others>>(flags+floats) != 0 {
		r.Fail()
		return
	}
	for ; set != 0; set &= set - 1 {
		*whole(t, bits.TrailingZeros64(set)) = r.Varint()
	}
	for i := range flags {
		*flag(t, i) = others>>i&1 == 1
	}
	for others >>= flags; others != 0; others &= others - 1 {
		*float(t, bits.TrailingZeros64(others)) = r.Float()
	}
}

// leastRow is the smallest encoded size of a row, bytes.
const leastRow = 3

// row encodes the fields before the terms, with times relative to after.
func (w *writer) row(x *oee.Row, after int64) {
	w.Varint(x.Start - after)
	w.Text(x.Shift.Name)
	if x.Shift.Name != "" || x.Shift.Start != 0 || x.Shift.Day != 0 {
		w.Byte(1)
		w.Varint(x.Shift.Start - after)
		w.Varint(int64(x.Shift.Day))
	} else {
		w.Byte(0)
	}
	w.Text(x.SKU)
	w.terms(&x.Terms)
}

func (r *reader) row(x *oee.Row, after int64) {
	x.Start = after + r.Varint()
	x.Shift.Name = r.Text()
	switch r.Byte() {
	case 1:
		x.Shift.Start = after + r.Varint()
		day := r.Varint()
		if x.Shift.Day = calendar.Day(day); int64(x.Shift.Day) != day {
			r.Fail()
		}
	case 0:
	default:
		r.Fail()
	}
	x.SKU = r.Text()
	r.terms(&x.Terms)
}

// usageWhole returns the integer fields of Usage.
func usageWhole(u *energy.Usage) [6]*int64 {
	return [...]*int64{&u.KWh, &u.Outside, &u.KnownMs, &u.TotalMs, &u.Units, &u.ProductiveMs}
}

// leastUsed is the smallest encoded size of a row of energy, bytes.
const leastUsed = 2

// used encodes a row of energy: its hour, a mask, and the fields that are set.
func (w *writer) used(x *energy.Row, after int64) {
	w.Varint(x.Start - after)
	fields := usageWhole(&x.Usage)
	var set uint64
	for i, f := range fields {
		if *f != 0 {
			set |= 1 << i
		}
	}
	for i, f := range [...]float64{x.Cost, x.CO2} {
		if math.Float64bits(f) != 0 {
			set |= 1 << (len(fields) + i)
		}
	}
	for i, f := range [...]bool{x.NoPrice, x.NoCO2} {
		if f {
			set |= 1 << (len(fields) + 2 + i)
		}
	}
	w.Uvarint(set)
	for i, f := range fields {
		if set>>i&1 == 1 {
			w.Varint(*f)
		}
	}
	for i, f := range [...]float64{x.Cost, x.CO2} {
		if set>>(len(fields)+i)&1 == 1 {
			w.Float(f)
		}
	}
}

func (r *reader) used(x *energy.Row, after int64) {
	x.Start = after + r.Varint()
	set := r.Uvarint()
	fields := usageWhole(&x.Usage)
	if set>>(len(fields)+4) != 0 {
		r.Fail()
		return
	}
	for i, f := range fields {
		if set>>i&1 == 1 {
			*f = r.Varint()
		}
	}
	for i, f := range [...]*float64{&x.Cost, &x.CO2} {
		if set>>(len(fields)+i)&1 == 1 {
			*f = r.Float()
		}
	}
	x.NoPrice, x.NoCO2 = set>>(len(fields)+2)&1 == 1, set>>(len(fields)+3)&1 == 1
}

func sumsOf(format byte, until int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{format}, uint64(until))
}

// openSums checks the header of encoded sums and returns their moment and the rest.
func openSums(format byte, stored []byte) (until int64, rest []byte, err error) {
	if len(stored) < sumsHead || stored[0] != format {
		return 0, nil, column.ErrBroken
	}
	return int64(binary.BigEndian.Uint64(stored[1:])), stored[sumsHead:], nil
}

// packHours encodes a day's sums by hour.
func packHours(day, until int64, rows []oee.Row, used []energy.Row) ([]byte, error) {
	if len(rows) > maxRows || len(used) > maxRows {
		return nil, fmt.Errorf("a day of %d rows is more than can be stored", max(len(rows), len(used)))
	}
	var w writer
	w.Uvarint(uint64(len(rows)))
	for i := range rows {
		w.row(&rows[i], day*instant.DayMs)
	}
	w.Uvarint(uint64(len(used)))
	for i := range used {
		w.used(&used[i], day*instant.DayMs)
	}
	return compression.Compress(sumsOf(formatHours, until), w.Payload(nil)), nil
}

// hourSums are a day's sums by hour.
type hourSums struct {
	until int64
	rows  []oee.Row
	used  []energy.Row
}

func unpackHours(day int64, stored []byte) (s hourSums, err error) {
	var rest []byte
	if s.until, rest, err = openSums(formatHours, stored); err != nil {
		return s, err
	}
	payload, err := compression.Decompress(rest)
	if err != nil {
		return s, err
	}
	r := newReader(payload)
	s.rows = make([]oee.Row, r.Count(leastRow, maxRows))
	for i := range s.rows {
		r.row(&s.rows[i], day*instant.DayMs)
	}
	s.used = make([]energy.Row, r.Count(leastUsed, maxRows))
	for i := range s.used {
		r.used(&s.used[i], day*instant.DayMs)
	}
	return s, r.End()
}

// dayRow is the sum of the hours of one production day within a UTC day, for one shift and SKU. First and Last are the
// first and the last of these hours. Row.Start is the start of the production day.
type dayRow struct {
	oee.Row
	first, last int64
}

// dayUsed is the same for energy.
type dayUsed struct {
	energy.Row
	first, last int64
}

// byDay adds up the hours of a UTC day by production day.
func byDay(c *calendar.Calendar, rows []oee.Row, used []energy.Row) (out []dayRow, outUsed []dayUsed) {
	var day calendar.Range
	start := func(at int64) int64 {
		if at < day.Start || at >= day.End {
			day = c.Bucket(at, calendar.UnitDay)
		}
		return day.Start
	}
	type key struct {
		day   int64
		shift string
		begun int64
		sku   string
	}
	at := map[key]int{}
	for i := range rows {
		x := &rows[i]
		k := key{start(x.Start), x.Shift.Name, x.Shift.Start, x.SKU}
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k] = n
			out = append(out, dayRow{oee.Row{Start: k.day, Shift: x.Shift, SKU: x.SKU}, x.Start, x.Start})
		}
		out[n].Terms.Add(&x.Terms)
		out[n].last = x.Start
	}
	for i := range used {
		x := &used[i]
		if n := len(outUsed); n == 0 || outUsed[n-1].Start != start(x.Start) {
			outUsed = append(outUsed, dayUsed{energy.Row{Start: start(x.Start)}, x.Start, x.Start})
		}
		n := len(outUsed) - 1
		outUsed[n].Usage.Add(&x.Usage)
		outUsed[n].last = x.Start
	}
	return out, outUsed
}

// packDays encodes a day's sums by production day.
func packDays(day, until int64, rows []dayRow, used []dayUsed) []byte {
	var w writer
	w.Uvarint(uint64(len(rows)))
	for i := range rows {
		w.row(&rows[i].Row, day*instant.DayMs)
		w.Varint(rows[i].first - day*instant.DayMs)
		w.Varint(rows[i].last - rows[i].first)
	}
	w.Uvarint(uint64(len(used)))
	for i := range used {
		w.used(&used[i].Row, day*instant.DayMs)
		w.Varint(used[i].first - day*instant.DayMs)
		w.Varint(used[i].last - used[i].first)
	}
	return w.Payload(sumsOf(formatDays, until))
}

// daySums are a UTC day's sums by production day.
type daySums struct {
	names map[string]string // shares equal strings; nil: not shared
	until int64
	rows  []dayRow
	used  []dayUsed

	reader reader
}

// unpack decodes the result of packDays into the memory of s.
func (s *daySums) unpack(day int64, stored []byte) (err error) {
	var rest []byte
	if s.until, rest, err = openSums(formatDays, stored); err != nil {
		return err
	}
	r := &s.reader
	r.Open(rest)
	r.Dictionary(s.names)
	s.rows, s.used = s.rows[:0], s.used[:0]
	for range r.Count(leastRow+2, maxRows) {
		var x dayRow
		r.row(&x.Row, day*instant.DayMs)
		x.first = day*instant.DayMs + r.Varint()
		x.last = x.first + r.Varint()
		s.rows = append(s.rows, x)
	}
	for range r.Count(leastUsed+2, maxRows) {
		var x dayUsed
		r.used(&x.Row, day*instant.DayMs)
		x.first = day*instant.DayMs + r.Varint()
		x.last = x.first + r.Varint()
		s.used = append(s.used, x)
	}
	return r.End()
}
