// Package queue holds the inputs of a station that are too young to be final, packed and in order.
package queue

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sort"

	"opsmon/app/engine/monitor"
)

// Queue holds inputs in order; the zero value is empty. A signal takes a few dozen bytes, where a monitor.Input takes
// some 500: the inputs of two minutes are the largest part of an account's memory.
type Queue struct {
	list []entry
	data []byte          // the signals, packed, in the order in which they came
	dead int             // unused bytes of data
	rare []monitor.Input // inputs that are not signals
	gone int             // removed inputs in rare

	sources []string // by number
	number  map[string]int
	held    []int // signals in the queue, by the number of their source

	one *monitor.Input // what At returned last
}

// entry is an input's moment and its place.
type entry struct {
	at  int64
	ref int32 // where in data the signal begins; below 0: ^ref is the place in rare
}

// compactAfter is the number of unused bytes from which on compacting is worth it; rareGone is the number of removed
// inputs that are not signals.
const (
	compactAfter = 4 << 10
	rareGone     = 16
)

// Len returns the number of inputs.
func (q *Queue) Len() int { return len(q.list) }

// Time returns the moment of an input, in ms.
func (q *Queue) Time(i int) int64 { return q.list[i].at }

// Others returns the inputs that are not signals, and zero values for removed ones. The caller must not change them.
func (q *Queue) Others() []monitor.Input { return q.rare }

// At returns an input, which is valid until the next call. Its ID is left out when it is a signal: that counts only for
// the order.
func (q *Queue) At(i int) *monitor.Input {
	e := q.list[i]
	if e.ref < 0 {
		return &q.rare[^e.ref]
	}
	if q.one == nil {
		q.one = new(monitor.Input)
	}
	q.unpack(e, q.one, false)
	return q.one
}

// Put adds inputs, which are in order, and returns the place of the first of them. It shares no memory with them.
func (q *Queue) Put(inputs []monitor.Input) (first int) {
	if len(inputs) == 0 {
		return len(q.list)
	}
	// Of two equal inputs, the one that was added later comes later.
	first = sort.Search(len(q.list), func(i int) bool { return q.compare(&inputs[0], q.list[i]) < 0 })
	if first == len(q.list) {
		for i := range inputs {
			q.list = append(q.list, q.pack(&inputs[i]))
		}
		return first
	}
	later := slices.Clone(q.list[first:])
	q.list = q.list[:first]
	for i := range inputs {
		n := 0
		for n < len(later) && (later[n].at < inputs[i].At || later[n].at == inputs[i].At && q.compare(&inputs[i], later[n]) >= 0) {
			n++
		}
		q.list = append(q.list, later[:n]...)
		q.list, later = append(q.list, q.pack(&inputs[i])), later[n:]
	}
	q.list = append(q.list, later...)
	return first
}

// compare is the order of an input and one that is in the queue.
func (q *Queue) compare(in *monitor.Input, e entry) int {
	switch {
	case in.At < e.at:
		return -1
	case in.At > e.at:
		return 1
	case e.ref < 0:
		return monitor.Compare(in, &q.rare[^e.ref])
	}
	var other monitor.Input
	q.unpack(e, &other, true)
	return monitor.Compare(in, &other)
}

// Before returns how many inputs are earlier than a moment, ms.
func (q *Queue) Before(at int64) int {
	return sort.Search(len(q.list), func(i int) bool { return q.list[i].at >= at })
}

// Drop removes the first n inputs.
func (q *Queue) Drop(n int) {
	for _, e := range q.list[:n] {
		if e.ref < 0 {
			q.rare[^e.ref] = monitor.Input{}
			q.gone++
			continue
		}
		size, head := binary.Uvarint(q.data[e.ref:])
		source, _ := binary.Uvarint(q.data[int(e.ref)+head:])
		q.held[source]--
		q.dead += head + int(size)
	}
	if n == len(q.list) {
		*q = Queue{}
		return
	}
	q.list = slices.Delete(q.list, 0, n)
	if q.dead > compactAfter && q.dead > len(q.data)/2 || q.gone > rareGone && q.gone > len(q.rare)/2 {
		q.compact()
	}
}

// Weigh divides an amount among the sources by how many of the signals are of each.
func (q *Queue) Weigh(by map[string]int, amount int) {
	signals := 0
	for _, n := range q.held {
		signals += n
	}
	for i, n := range q.held {
		if n > 0 {
			by[q.sources[i]] += amount * n / signals
		}
	}
}

// Has reports whether a change of configuration is among the inputs.
func (q *Queue) Has(in *monitor.Input) bool {
	return slices.ContainsFunc(q.rare, func(p monitor.Input) bool {
		return p.Kind == in.Kind && p.At == in.At && p.Config.Revision == in.Config.Revision
	})
}

// compact frees the memory of removed inputs.
func (q *Queue) compact() {
	old := *q
	*q = Queue{list: make([]entry, 0, len(old.list)+len(old.list)/4), data: make([]byte, 0, len(old.data)-old.dead), number: map[string]int{}}
	for _, e := range old.list {
		if e.ref < 0 {
			q.list = append(q.list, q.pack(&old.rare[^e.ref]))
			continue
		}
		size, head := binary.Uvarint(old.data[e.ref:])
		body := old.data[int(e.ref)+head:][:size]
		source, n := binary.Uvarint(body)
		was := len(q.data)
		q.data = append(q.data, 0, 0)
		q.data = binary.AppendUvarint(q.data, uint64(q.source(old.sources[source])))
		q.data = append(q.data, body[n:]...)
		q.setLength(was)
		q.list = append(q.list, entry{e.at, int32(was)})
	}
}

// source returns the number of a source, and counts one more signal of it.
func (q *Queue) source(name string) int {
	n, ok := q.number[name]
	if !ok {
		if q.number == nil {
			q.number = map[string]int{}
		}
		n = len(q.sources)
		q.sources, q.held = append(q.sources, name), append(q.held, 0)
		q.number[name] = n
	}
	q.held[n]++
	return n
}

// The packed form of a signal: its length, the number of its source, flags, the mask of its values, the values as varints
// of their float64 with the bytes reversed, which is short for most numbers, and its texts, each with its length.
const (
	packedProductive = 1 << iota
	packedID
	packedCode
)

// pack puts an input into the queue's memory.
func (q *Queue) pack(in *monitor.Input) entry {
	if in.Kind != monitor.InputSignal {
		q.rare = append(q.rare, *in)
		return entry{in.At, int32(^(len(q.rare) - 1))}
	}
	was := len(q.data)
	b := append(q.data, 0, 0) // the length, in two bytes
	b = binary.AppendUvarint(b, uint64(q.source(in.Source)))
	flags := byte(0)
	if in.Productive {
		flags |= packedProductive
	}
	if in.ID != "" {
		flags |= packedID
	}
	if in.ErrorCode != "" {
		flags |= packedCode
	}
	b = binary.AppendUvarint(append(b, flags), uint64(in.Has))
	for i, v := range values(&in.Signal) {
		if in.Has&valueBits[i] != 0 {
			b = binary.AppendUvarint(b, bits.ReverseBytes64(math.Float64bits(*v)))
		}
	}
	for _, text := range [...]string{in.ID, in.ErrorCode} {
		if text != "" {
			b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
		}
	}
	q.data = b
	q.setLength(was)
	return entry{in.At, int32(was)}
}

// setLength writes the length of the signal packed at a place, always as two bytes of a varint.
func (q *Queue) setLength(from int) {
	size := len(q.data) - from - 2
	q.data[from], q.data[from+1] = byte(size)|0x80, byte(size>>7)
}

// unpack reads a signal.
func (q *Queue) unpack(e entry, in *monitor.Input, id bool) {
	b := q.data[e.ref+2:]
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return v
	}
	in.At, in.Kind, in.ID, in.Signal = e.at, monitor.InputSignal, "", monitor.Signal{}
	in.Source = q.sources[next()]
	flags := b[0]
	b = b[1:]
	in.Productive, in.Has = flags&packedProductive != 0, monitor.Has(next())
	for i, v := range values(&in.Signal) {
		if in.Has&valueBits[i] != 0 {
			*v = math.Float64frombits(bits.ReverseBytes64(next()))
		}
	}
	if flags&packedID != 0 {
		n := next()
		if id {
			in.ID = string(b[:n])
		}
		b = b[n:]
	}
	if flags&packedCode != 0 {
		n := next()
		in.ErrorCode = string(b[:n])
	}
}

// values are the numbers of a signal; valueBits are the bits that mark them as present.
func values(s *monitor.Signal) [11]*float64 {
	return [...]*float64{&s.CompleteGood, &s.CompleteBad, &s.CountGood, &s.CountBad, &s.LineSpeed, &s.Kwh, &s.KwhInterval, &s.Kw, &s.Volts, &s.Amps, &s.RSSI}
}

var valueBits = [...]monitor.Has{
	monitor.HasCompleteGood, monitor.HasCompleteBad, monitor.HasCountGood, monitor.HasCountBad, monitor.HasLineSpeed, monitor.HasKwh, monitor.HasKwhInterval,
	monitor.HasKw, monitor.HasVolts, monitor.HasAmps, monitor.HasRSSI,
}
