package history

import (
	"encoding/binary"
	"fmt"

	"opsmon/app/column"
	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
)

// formatDetail is the first byte of a day's detail. It is followed by the end of the last segment, 8 bytes, and the
// compressed payload. It changes with the fields of monitor's Segment, Context, Minute, Part and Issue; a value of
// another format is recalculated.
const formatDetail byte = 3

const detailHead = 9

// Limits of one station's day. Larger days are not encoded, so a larger count in a stored value means damage.
const (
	maxSegments = 1 << 20
	maxMinutes  = 24 * 60
	maxParts    = 1 << 20 // also the limit of error codes and of unapplied entries
	maxIssues   = 1 << 20
	maxContexts = 1 << 18
)

// The smallest encoded sizes of a context, an issue and an unapplied entry, bytes.
const (
	leastContext   = 18
	leastIssue     = 6
	leastUnapplied = 4
)

// Flags of a segment.
const (
	flagKnown = 1 << iota
	flagProductive
	flagManual
	flagStop
	flagSlow
	flagExcluded
	flagsEnd
)

// pack encodes a day's detail, which must have at least one segment.
func pack(day int64, out monitor.Outputs) ([]byte, error) {
	if len(out.Segments) > maxSegments || len(out.Minutes) > maxMinutes || len(out.Issues) > maxIssues {
		return nil, fmt.Errorf("a day of %d segments, %d minutes and %d issues is more than can be stored", len(out.Segments), len(out.Minutes), len(out.Issues))
	}
	var w writer
	var all monitor.Contexts
	w.segments(day*instant.DayMs, out.Segments, &all)
	if err := w.minutes(day*instant.DayMs, out.Minutes, &all); err != nil {
		return nil, err
	}
	w.Uvarint(uint64(len(out.Issues)))
	for i := range out.Issues {
		w.issue(day*instant.DayMs, &out.Issues[i])
	}
	if len(all.List) > maxContexts {
		return nil, fmt.Errorf("a day of %d contexts is more than can be stored", len(all.List))
	}
	body := w.Cut()
	w.Uvarint(uint64(len(all.List)))
	for _, x := range all.List {
		w.context(x)
	}
	w.Append(body)
	payload := w.Payload(nil)
	if len(payload) > most {
		return nil, fmt.Errorf("a day of %d bytes is more than can be stored", len(payload))
	}
	head := binary.BigEndian.AppendUint64([]byte{formatDetail}, uint64(out.Segments[len(out.Segments)-1].End))
	return compression.Compress(head, payload), nil
}

// unpack decodes the result of pack. Equal contexts are shared, also with those of known.
func unpack(day int64, stored []byte, known *monitor.Contexts) (out monitor.Outputs, err error) {
	until, err := untilOf(stored)
	if err != nil {
		return out, err
	}
	payload, err := compression.Decompress(stored[detailHead:])
	if err != nil {
		return out, err
	}
	r := newReader(payload)
	all := make([]*monitor.Context, r.Count(leastContext, maxContexts))
	for i := range all {
		x := r.context()
		all[i] = known.Shared(&x)
	}
	out.Segments = r.segments(day*instant.DayMs, all)
	out.Minutes = r.minutes(day*instant.DayMs, all)
	if n := r.Count(leastIssue, maxIssues); n > 0 {
		out.Issues = make([]monitor.Issue, n)
	}
	for i := range out.Issues {
		if out.Issues[i] = r.issue(day * instant.DayMs); out.Issues[i].Start < day*instant.DayMs {
			r.Fail()
		}
	}
	if err := r.End(); err != nil {
		return monitor.Outputs{}, err
	}
	if err := sound(day*instant.DayMs, (day+1)*instant.DayMs, &out); err != nil {
		return monitor.Outputs{}, fmt.Errorf("%w: %w", column.ErrBroken, err)
	}
	if n := len(out.Segments); n == 0 || out.Segments[n-1].End != until {
		return monitor.Outputs{}, column.ErrBroken
	}
	return out, nil
}

// untilOf returns the end of the last segment of an encoded day.
func untilOf(stored []byte) (int64, error) {
	if len(stored) < detailHead {
		return 0, column.ErrBroken
	}
	if stored[0] != formatDetail {
		return 0, fmt.Errorf("%w: the format is %d", column.ErrBroken, stored[0])
	}
	return int64(binary.BigEndian.Uint64(stored[1:])), nil
}

func (w *writer) context(x *monitor.Context) {
	w.Bits(x.InShift, x.Forced)
	w.Byte(byte(x.Kind))
	w.Varint(x.Revision)
	w.Text(x.Shift.Name)
	w.Varint(x.Shift.Start)
	w.Varint(int64(x.Shift.Day))
	for _, s := range []string{x.Production, x.NonProduction, x.SKU, x.Reason} {
		w.Text(s)
	}
	for _, f := range []float64{x.UnitsPerMinute, x.LineSpeedTarget, x.PartsPerCycle} {
		w.Float(f)
	}
	w.Varint(x.MinimumCycle)
	w.Varint(x.UnitGap)
}

func (r *reader) context() (x monitor.Context) {
	x.Plan = &monitor.Plan{}
	r.Bits(&x.InShift, &x.Forced)
	x.Kind = monitor.Kind(r.Byte())
	if x.Kind > monitor.NonProduction {
		r.Fail()
	}
	x.Revision = r.Varint()
	x.Shift.Name = r.Text()
	x.Shift.Start = r.Varint()
	day := r.Varint()
	if x.Shift.Day = calendar.Day(day); int64(x.Shift.Day) != day {
		r.Fail()
	}
	for _, s := range []*string{&x.Production, &x.NonProduction, &x.SKU, &x.Reason} {
		*s = r.Text()
	}
	for _, f := range []*float64{&x.UnitsPerMinute, &x.LineSpeedTarget, &x.PartsPerCycle} {
		*f = r.Float()
	}
	x.MinimumCycle, x.UnitGap = r.Varint(), r.Varint()
	return x
}

func flagsOf(g *monitor.Segment) (flags int64) {
	for i, set := range [...]bool{g.Known, g.Productive, g.Manual != 0, g.Stop != 0, g.Slow != 0, g.Excluded} {
		if set {
			flags |= 1 << i
		}
	}
	return flags
}

func (w *writer) segments(start int64, list []monitor.Segment, all *monitor.Contexts) {
	w.Uvarint(uint64(len(list)))
	for i := range list {
		w.Uvarint(uint64(list[i].End - list[i].Start))
	}
	w.Ints(len(list), func(i int) int64 { // the gap between a segment and the previous one
		if i == 0 {
			return list[0].Start - start
		}
		return list[i].Start - list[i-1].End
	})
	w.Ints(len(list), func(i int) int64 { return all.Number(list[i].Ctx) })
	w.Ints(len(list), func(i int) int64 { return flagsOf(&list[i]) })
	for _, mark := range []func(*monitor.Segment) int64{
		func(g *monitor.Segment) int64 { return g.Manual }, func(g *monitor.Segment) int64 { return g.Stop }, func(g *monitor.Segment) int64 { return g.Slow },
	} {
		before := start
		for i := range list {
			if at := mark(&list[i]); at != 0 {
				w.Varint(at - before)
				before = at
			}
		}
	}
	w.Ints(len(list), func(i int) int64 { return int64(w.Word(list[i].Cause)) })
}

func (r *reader) segments(start int64, all []*monitor.Context) []monitor.Segment {
	n := r.Count(1, maxSegments)
	if n == 0 {
		return nil
	}
	list := make([]monitor.Segment, n)
	for i := range list {
		list[i].End = int64(r.Uvarint()) // for now its length
	}
	r.Ints(n, func(i int, gap int64) {
		at := start
		if i > 0 {
			at = list[i-1].End
		}
		if gap < 0 || gap > instant.DayMs || list[i].End <= 0 || list[i].End > instant.DayMs {
			r.Fail()
			return
		}
		list[i].Start = at + gap
		list[i].End += list[i].Start
	})
	r.Ints(n, func(i int, v int64) {
		if v < 0 || v >= int64(len(all)) {
			r.Fail()
			return
		}
		list[i].Ctx = all[v]
	})
	flags := make([]uint8, n)
	r.Ints(n, func(i int, v int64) {
		if v < 0 || v >= flagsEnd {
			r.Fail()
			return
		}
		flags[i] = uint8(v)
		list[i].Known, list[i].Productive, list[i].Excluded = v&flagKnown != 0, v&flagProductive != 0, v&flagExcluded != 0
	})
	r.marks(start, list, flags, flagManual, func(g *monitor.Segment) *int64 { return &g.Manual })
	r.marks(start, list, flags, flagStop, func(g *monitor.Segment) *int64 { return &g.Stop })
	r.marks(start, list, flags, flagSlow, func(g *monitor.Segment) *int64 { return &g.Slow })
	r.Ints(n, func(i int, v int64) { list[i].Cause = r.Word(uint64(v)) })
	return list
}

// marks decodes the starts of the issues of segments.
func (r *reader) marks(start int64, list []monitor.Segment, flags []uint8, flag uint8, of func(*monitor.Segment) *int64) {
	at := start
	for i := range list {
		if flags[i]&flag != 0 && !r.Failed() {
			if at += r.Varint(); at == 0 {
				r.Fail()
			}
			*of(&list[i]) = at
		}
	}
}

func (w *writer) minutes(start int64, list []monitor.Minute, all *monitor.Contexts) error {
	w.Uvarint(uint64(len(list)))
	for i := range list {
		w.Uvarint(uint64((list[i].Start - start) / instant.MinuteMs))
	}
	n := len(list)
	var parts []*monitor.Part
	var codes []string
	for i := range list {
		for k := range list[i].Parts {
			parts = append(parts, &list[i].Parts[k])
		}
		codes = append(codes, list[i].ErrorCodes...)
	}
	if len(parts) > maxParts || len(codes) > maxParts {
		return fmt.Errorf("a day of %d counts and %d error codes is more than can be stored", len(parts), len(codes))
	}
	w.Ints(n, func(i int) int64 { return int64(len(list[i].Parts)) })
	w.Uvarint(uint64(len(parts)))
	for _, p := range parts {
		w.Uvarint(uint64(all.Number(p.Ctx)))
	}
	for _, of := range partFields {
		w.Ints(len(parts), func(i int) int64 { return *of(parts[i]) })
	}
	w.Floats(n, func(i int) float64 { return list[i].SpeedSum })
	w.Ints(n, func(i int) int64 { return list[i].SpeedMs })
	w.Floats(n, func(i int) float64 { return list[i].RSSISum })
	w.Ints(n, func(i int) int64 { return list[i].RSSICount })
	w.Ints(n, func(i int) int64 { return int64(len(list[i].ErrorCodes)) })
	w.Uvarint(uint64(len(codes)))
	for _, code := range codes {
		w.Text(code)
	}
	return w.unapplied(list)
}

func (w *writer) unapplied(list []monitor.Minute) error {
	var all []monitor.Unapplied
	for i := range list {
		all = append(all, list[i].Unapplied...)
	}
	if len(all) > maxParts {
		return fmt.Errorf("a day of %d unapplied entries is more than can be stored", len(all))
	}
	w.Ints(len(list), func(i int) int64 { return int64(len(list[i].Unapplied)) })
	w.Uvarint(uint64(len(all)))
	for _, u := range all {
		w.Text(u.Entry)
		w.Text(u.Schedule)
		w.Varint(u.Good)
		w.Varint(u.Bad)
	}
	return nil
}

var partFields = []func(*monitor.Part) *int64{
	func(p *monitor.Part) *int64 { return &p.Good }, func(p *monitor.Part) *int64 { return &p.Bad },
	func(p *monitor.Part) *int64 { return &p.Other }, func(p *monitor.Part) *int64 { return &p.KWh },
	func(p *monitor.Part) *int64 { return &p.KWhMs },
	func(p *monitor.Part) *int64 { return &p.UnknownGood }, func(p *monitor.Part) *int64 { return &p.UnknownBad },
}

func (r *reader) minutes(start int64, all []*monitor.Context) []monitor.Minute {
	n := r.Count(1, maxMinutes)
	var list []monitor.Minute
	if n > 0 {
		list = make([]monitor.Minute, n)
	}
	for i := range list {
		list[i].Start = start + int64(min(r.Uvarint(), maxMinutes))*instant.MinuteMs
	}
	counts := make([]int64, n)
	count := func(i int, v int64) {
		if v < 0 || v > maxParts {
			r.Fail()
			v = 0
		}
		counts[i] = v
	}
	r.Ints(n, count)
	parts := make([]monitor.Part, r.Count(1, maxParts))
	for i := range parts {
		if c := r.Uvarint(); c < uint64(len(all)) {
			parts[i].Ctx = all[c]
		} else {
			r.Fail()
		}
	}
	for _, of := range partFields {
		r.Ints(len(parts), func(i int, v int64) { *of(&parts[i]) = v })
	}
	for i := range list {
		list[i].Parts, parts = cut(r, parts, counts[i])
	}
	r.Floats(n, func(i int, v float64) { list[i].SpeedSum = v })
	r.Ints(n, func(i int, v int64) { list[i].SpeedMs = v })
	r.Floats(n, func(i int, v float64) { list[i].RSSISum = v })
	r.Ints(n, func(i int, v int64) { list[i].RSSICount = v })
	r.Ints(n, count)
	codes := make([]string, r.Count(1, maxParts))
	for i := range codes {
		codes[i] = r.Text()
	}
	for i := range list {
		list[i].ErrorCodes, codes = cut(r, codes, counts[i])
	}
	r.Ints(n, count)
	r.unapplied(list, counts)
	if len(parts) > 0 || len(codes) > 0 {
		r.Fail()
	}
	return list
}

func (r *reader) unapplied(list []monitor.Minute, counts []int64) {
	all := make([]monitor.Unapplied, r.Count(leastUnapplied, maxParts))
	for i := range all {
		all[i] = monitor.Unapplied{Entry: r.Text(), Schedule: r.Text(), Good: r.Varint(), Bad: r.Varint()}
	}
	for i := range list {
		list[i].Unapplied, all = cut(r, all, counts[i])
	}
	if len(all) > 0 {
		r.Fail()
	}
}

// cut splits off the first n items of a list; an empty result is nil.
func cut[T any](r *reader, list []T, n int64) (first, rest []T) {
	switch {
	case n > int64(len(list)):
		r.Fail()
		return nil, nil
	case n == 0:
		return nil, list
	}
	return list[:n:n], list[n:]
}

func (w *writer) issue(start int64, i *monitor.Issue) {
	w.Byte(byte(i.Type))
	w.Varint(i.Start - start)
	w.Varint(i.End - start)
	for _, s := range []string{i.Cause, i.Production, i.SKU} {
		w.Text(s)
	}
}

func (r *reader) issue(start int64) (i monitor.Issue) {
	i.Type = monitor.IssueType(r.Byte())
	i.Start = start + r.Varint()
	i.End = start + r.Varint()
	i.Cause, i.Production, i.SKU = r.Text(), r.Text(), r.Text()
	if i.Type < monitor.IssueStop || i.Type > monitor.IssueManual || i.End <= i.Start {
		r.Fail()
	}
	return i
}
