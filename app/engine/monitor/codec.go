package monitor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// version is the version of the encoding below. It changes with every field; older states are recalculated from the
// log.
const version = 6

// ErrVersion is the error for a state with another version of the encoding: the station must be recalculated from the
// log.
var ErrVersion = errors.New("the state was written in another version's form")

// Encode returns the encoded state; equal states have equal encodings. The outputs are not part of it and must be taken
// before.
func (s *State) Encode() []byte {
	c := coder{buf: []byte{version}}
	c.state(s)
	return c.buf
}

// Decode decodes the result of Encode. configs returns the station's configuration by revision, nil if unknown. The
// error is ErrVersion, or reports damaged bytes or an unknown revision.
func Decode(data []byte, configs func(revision int64) *Config) (*State, error) {
	if len(data) == 0 || data[0] != version {
		return nil, ErrVersion
	}
	c := coder{buf: data[1:], reading: true, configs: configs}
	s := &State{}
	c.state(s)
	if c.err == nil && len(c.buf) > 0 {
		c.fail("bytes follow its end")
	}
	if c.err == nil && (s.cfg == nil || s.ctx == nil || len(s.tail) == 0) {
		c.fail("it has no configuration, context or time line")
	}
	if c.err != nil {
		return nil, fmt.Errorf("read a station's state: %w", c.err)
	}
	s.Relook()
	return s, nil
}

// coder writes fields to buf or reads them from it. One function per type does both, so they cannot diverge.
type coder struct {
	buf      []byte
	reading  bool
	err      error
	contexts Contexts
	// number of contexts and plans written or read so far
	contextsSeen, plansSeen int64
	configs                 func(int64) *Config
}

func (c *coder) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("damaged state: "+format, args...)
	}
	c.buf = nil
}

func (c *coder) int(p *int64) {
	if !c.reading {
		c.buf = binary.AppendVarint(c.buf, *p)
		return
	}
	v, n := binary.Varint(c.buf)
	if n <= 0 {
		c.fail("a number is cut short")
		return
	}
	*p, c.buf = v, c.buf[n:]
}

func (c *coder) float(p *float64) {
	if !c.reading {
		c.buf = binary.BigEndian.AppendUint64(c.buf, math.Float64bits(*p))
		return
	}
	if len(c.buf) < 8 {
		c.fail("a number is cut short")
		return
	}
	*p, c.buf = math.Float64frombits(binary.BigEndian.Uint64(c.buf)), c.buf[8:]
}

func (c *coder) text(p *string) {
	n := int64(len(*p))
	c.int(&n)
	if !c.reading {
		c.buf = append(c.buf, *p...)
		return
	}
	if n < 0 || n > int64(len(c.buf)) {
		c.fail("a text is cut short")
		return
	}
	*p, c.buf = string(c.buf[:n]), c.buf[n:]
}

// bits writes up to 8 flags as a byte.
func (c *coder) bits(p ...*bool) {
	if !c.reading {
		var b byte
		for i, v := range p {
			if *v {
				b |= 1 << i
			}
		}
		c.buf = append(c.buf, b)
		return
	}
	if len(c.buf) == 0 {
		c.fail("a flag is cut short")
		return
	}
	for i, v := range p {
		*v = c.buf[0]>>i&1 == 1
	}
	c.buf = c.buf[1:]
}

// small encodes a number of a narrow type.
func small[T ~uint8 | ~uint16 | ~int32](c *coder, p *T) {
	v := int64(*p)
	c.int(&v)
	if c.reading {
		if *p = T(v); int64(*p) != v {
			c.fail("%d is out of range", v)
		}
	}
}

// list encodes a slice.
func list[T any](c *coder, p *[]T, each func(*T)) {
	n := int64(len(*p))
	c.int(&n)
	if c.reading {
		if n < 0 || n > int64(len(c.buf)) { // an item takes a byte at least
			c.fail("a list of %d is cut short", n)
			return
		}
		if *p = nil; n > 0 {
			*p = make([]T, n)
		}
	}
	for i := range *p {
		each(&(*p)[i])
	}
}

// pointer encodes an optional value.
func pointer[T any](c *coder, p **T, each func(*T)) {
	there := *p != nil
	c.bits(&there)
	if c.reading && there {
		*p = new(T)
	}
	if there && c.err == nil {
		each(*p)
	}
}

func (c *coder) config(p **Config) {
	revision := int64(-1)
	if *p != nil {
		revision = (*p).Revision
	}
	c.int(&revision)
	if c.reading && revision >= 0 && c.err == nil {
		if *p = c.configs(revision); *p == nil {
			c.fail("there is no revision %d", revision)
		}
	}
}

// context encodes each context once.
func (c *coder) context(p **Context) {
	at := int64(-1)
	if !c.reading && *p != nil {
		at = c.contexts.Number(*p)
	}
	c.int(&at)
	switch {
	case c.err != nil || at == -1:
	case at >= 0 && at < c.contextsSeen:
		if c.reading { // a written context is shared with concurrent readers
			*p = c.contexts.List[at]
		}
	case at == c.contextsSeen:
		c.contextsSeen++
		if c.reading {
			*p = &Context{}
			c.contexts.List = append(c.contexts.List, *p)
		}
		x := *p
		c.plan(&x.Plan)
		c.float(&x.UnitsPerMinute)
		c.int(&x.UnitGap)
	default:
		c.fail("there is no context %d", at)
	}
}

// plan encodes each plan once.
func (c *coder) plan(p **Plan) {
	at := int64(0)
	if !c.reading {
		at = c.contexts.numberOf(*p)
	}
	c.int(&at)
	if c.reading {
		*p = &Plan{} // damaged data has a plan, too
	}
	switch {
	case c.err != nil:
	case at >= 0 && at < c.plansSeen:
		if c.reading {
			*p = c.contexts.plans[at]
		}
	case at == c.plansSeen:
		c.plansSeen++
		if c.reading {
			c.contexts.plans = append(c.contexts.plans, *p)
		}
		x := *p
		c.int(&x.Revision)
		c.bits(&x.InShift, &x.Forced)
		c.text(&x.Shift.Name)
		c.int(&x.Shift.Start)
		small(c, &x.Shift.Day)
		small(c, &x.Kind)
		for _, s := range []*string{&x.Production, &x.NonProduction, &x.SKU, &x.Reason} {
			c.text(s)
		}
		c.float(&x.LineSpeedTarget)
		c.float(&x.PartsPerCycle)
		c.int(&x.MinimumCycle)
	default:
		c.fail("there is no plan %d", at)
	}
}

func (c *coder) state(s *State) {
	c.config(&s.cfg)
	for _, v := range []*int64{&s.now, &s.last, &s.lastSign, &s.shift.Start, &s.shiftUntil, &s.statusSince, &s.freed, &s.hand.from} {
		c.int(v)
	}
	small(c, &s.lastKind)
	small(c, &s.status)
	small(c, &s.shift.Day)
	c.text(&s.shift.Name)
	c.bits(&s.silent, &s.heard, &s.hand.sure, &s.inShift, &s.broken, &s.produces, &s.minuteOpen)
	list(c, &s.links, c.text)
	list(c, &s.pending, c.input)
	c.context(&s.ctx)
	pointer(c, &s.production, c.running)
	pointer(c, &s.nonProduction, c.running)
	c.counter(&s.unscheduled)
	c.issue(&s.manual)
	c.capture(&s.capture)
	c.search(&s.search)
	c.candidate(&s.slow)
	list(c, &s.ended, c.issue)
	list(c, &s.tail, c.segment)
	c.segment(&s.held)
	c.minute(&s.minute)
}

func (c *coder) running(r *running) {
	c.schedule(&r.Schedule)
	c.counter(&r.counter)
	c.due(&r.due)
	c.due(&r.recent)
}

// due encodes the sums of known time and run time as numbers with multiplicities.
func (c *coder) due(d *due) {
	type share struct {
		number     float64
		known, run int64
	}
	var shares []share
	if !c.reading {
		for _, part := range d.known.parts() {
			shares = append(shares, share{part, 1, 0})
		}
		for _, part := range d.run.parts() {
			shares = append(shares, share{part, 0, 1})
		}
	}
	list(c, &shares, func(x *share) {
		c.float(&x.number)
		c.int(&x.known)
		c.int(&x.run)
		if c.reading {
			d.known.add(x.number, x.known)
			d.run.add(x.number, x.run)
		}
	})
	if c.reading && !(math.Abs(d.known.value()) <= mostDue && math.Abs(d.run.value()) <= mostDue) {
		*d = due{}
		c.fail("more is due than can be")
	}
}

// mostDue is far more than can be due for a schedule, in units per minute times ms.
const mostDue = 1e30

func (c *coder) schedule(d *Schedule) {
	c.text(&d.ID)
	c.bits(&d.NonProduction, &d.ExtendShift)
	c.text(&d.SKU)
	c.text(&d.Reason)
	c.text(&d.WorkOrder)
	for _, f := range []*float64{&d.Quantity, &d.CycleTime, &d.UnitsPerMinute, &d.UnitsPerHour, &d.LineSpeedTarget, &d.PartsPerCycle} {
		c.float(f)
	}
}

func (c *coder) counter(t *counter) {
	small(c, &t.source)
	c.int(&t.recorded)
	c.int(&t.recordedIn)
	c.bits(&t.reached, &t.full)
}

func (c *coder) issue(i *Issue) {
	small(c, &i.Type)
	c.int(&i.Start)
	c.int(&i.End)
	c.text(&i.Cause)
	c.text(&i.Production)
	c.text(&i.SKU)
}

func (c *coder) capture(p *capture) {
	for _, v := range []*int64{&p.report.at, &p.report.start, &p.report.base, &p.report.batch} {
		c.int(v)
	}
	c.bits(&p.on, &p.speedKnown, &p.kwKnown, &p.kwSent, &p.meter.known, &p.counts.good.known, &p.counts.bad.known)
	small(c, &p.energy)
	for _, v := range []*int64{&p.holdUntil, &p.kwSentAt, &p.meter.at, &p.interval, &p.accrued, &p.kwMs, &p.counts.good.at, &p.counts.bad.at, &p.counts.lastCounted} {
		c.int(v)
	}
	for _, f := range []*float64{&p.rawSpeed, &p.speed, &p.speedSum, &p.kw, &p.kwSum, &p.meter.value, &p.counts.good.value, &p.counts.bad.value} {
		c.float(f)
	}
}

func (c *coder) search(p *search) {
	c.candidate(&p.stop)
	c.rule(&p.rule)
	c.rule(&p.told)
	c.int(&p.searched)
	c.int(&p.busy)
	list(c, &p.marks, func(m *mark) {
		c.int(&m.at)
		c.rule(&m.rule)
		c.bits(&m.broken, &m.unit, &m.rising)
		c.text(&m.cause)
		c.int(&m.batch.left)
		c.int(&m.batch.to)
		c.float(&m.batch.step)
		c.float(&m.batch.cycle)
		if m.batch.left < 0 || m.batch.left > mostPlaced {
			c.fail("%d units are placed", m.batch.left)
		}
	})
}

func (c *coder) rule(p *rule) {
	c.context(&p.ctx)
	c.bits(&p.may, &p.gap, &p.anyStop)
	c.int(&p.need)
}

func (c *coder) candidate(p *candidate) {
	c.bits(&p.active, &p.registered)
	c.int(&p.start)
	c.int(&p.need)
	c.text(&p.cause)
	c.context(&p.ctx)
}

func (c *coder) segment(g *Segment) {
	c.int(&g.Start)
	c.int(&g.End)
	c.context(&g.Ctx)
	c.bits(&g.Known, &g.Productive)
	c.int(&g.Manual)
	c.int(&g.Stop)
	c.int(&g.Slow)
	c.text(&g.Cause)
}

func (c *coder) minute(m *Minute) {
	c.int(&m.Start)
	list(c, &m.Parts, func(p *Part) {
		c.context(&p.Ctx)
		for _, v := range []*int64{&p.Good, &p.Bad, &p.Other, &p.UnknownGood, &p.UnknownBad, &p.KWh, &p.KWhMs} {
			c.int(v)
		}
	})
	c.float(&m.SpeedSum)
	c.int(&m.SpeedMs)
	c.float(&m.RSSISum)
	c.int(&m.RSSICount)
	list(c, &m.ErrorCodes, c.text)
	list(c, &m.Unapplied, func(u *Unapplied) {
		c.text(&u.Entry)
		c.text(&u.Schedule)
		c.int(&u.Good)
		c.int(&u.Bad)
	})
}

// input encodes a pending input, which is never a signal.
func (c *coder) input(in *Input) {
	c.int(&in.At)
	small(c, &in.Kind)
	for _, s := range []*string{&in.Source, &in.ID, &in.Reason, &in.Entry.Schedule} {
		c.text(s)
	}
	c.bits(&in.Up, &in.Entry.Correction)
	c.schedule(&in.Schedule)
	for _, f := range []*float64{&in.Entry.Good, &in.Entry.Bad, &in.Entry.Reject} {
		c.float(f)
	}
	c.config(&in.Config)
}
