package monitor

import (
	"math"
	"slices"

	"opsmon/app/instant"
)

// capture is the state derived from the machine's signals.
type capture struct {
	on        bool  // the last productive signal
	holdUntil int64 // including hold-on time

	speedKnown      bool
	rawSpeed, speed float64 // as sent, as shown
	speedSum        float64 // shown speed x ms not yet counted as units

	kwKnown, kwSent bool // kwSent: momentary power was sent
	kw              float64
	kwSentAt        int64
	kwSum           float64 // kW x ms not yet counted as energy
	kwMs            int64   // the time of kwSum
	energy          energySource
	meter           reading // kWh
	interval        int64   // time of the last interval; 0: none

	accrued int64 // the sums include the time up to here
	counts  Cycles
	report  report
}

// report is the last report of counts. Signals within reportTime are one report, because a gateway may send good and
// bad units, or the counters of two devices, one after another.
type report struct {
	at    int64 // time of the last signal; 0: none
	start int64 // time of the first signal
	base  int64 // time of the previous report's last signal, ms; 0: none
	batch int64 // time from base to a signal with more than one cycle, ms; 0: no such signal
}

const reportTime = 1000 // ms

// energySource is the source of a station's energy: the most accurate one that it has ever sent.
type energySource uint8

const (
	energyPower    energySource = iota // momentary power over time
	energyInterval                     // energy used since the previous interval signal
	energyMeter                        // differences of meter readings
)

// signal applies one signal and reports whether it brought a unit.
func (s *State) signal(g *Signal) (unit bool) {
	if g.Has&HasRSSI != 0 {
		s.openMinute()
		s.minute.RSSISum += g.RSSI
		s.minute.RSSICount++
	}
	if g.Has&(HasKwh|HasKwhInterval|HasKw) != 0 {
		s.electrical(g)
	}
	if s.cfg.MeterOnly {
		return false
	}
	if g.Has&HasLineSpeed != 0 {
		s.accrue()
		s.speedKnown, s.rawSpeed, s.speed = true, g.LineSpeed, s.cfg.shownSpeed(g.LineSpeed)
		s.openMinute()
	}
	if g.Has&HasProductive != 0 {
		s.on = g.Productive
		if g.Productive && s.cfg.HoldOn > 0 {
			s.holdUntil = s.now + s.cfg.HoldOn
		}
	}
	if g.Has&(HasCompleteGood|HasCompleteBad|HasCountGood|HasCountBad) != 0 {
		unit = s.cycles(g)
	}
	return unit
}

// cycles counts the cycles of a signal. Units that do not count because of manual downtime still show that the machine
// runs.
func (s *State) cycles(g *Signal) bool {
	good, bad, resets := s.counts.Take(s.now, g, s.ctx.MinimumCycle, s.manual.Start == 0)
	for range resets {
		s.wasReset()
	}
	s.count(micro(good*s.ctx.PartsPerCycle), micro(bad*s.ctx.PartsPerCycle), sourceMachine)
	s.reported(good + bad)
	return micro(good) != 0 || micro(bad) != 0
}

// reported records a count signal with a number of cycles.
func (s *State) reported(cycles float64) {
	r := &s.report
	if r.at == 0 || s.now-r.start >= reportTime {
		r.start, r.base, r.batch = s.now, r.at, 0
	}
	r.at = s.now
	if cycles > 1 && r.base != 0 && s.now-r.base <= s.cfg.SpreadWithin() {
		r.batch = s.now - r.base
		s.spread(r.base, cycles)
	}
}

// wasReset records that a running counter or a meter was reset.
func (s *State) wasReset() {
	s.out.Events = append(s.out.Events, Event{At: s.now, Kind: EventCounterReset})
}

// electrical applies energy and power.
func (s *State) electrical(g *Signal) {
	if g.Has&HasKw != 0 {
		s.power(g.Kw)
		s.kwSent, s.kwSentAt = true, s.now
	}
	// Power is derived from differences of energy only while the machine does not send it.
	derive := !s.kwSent || s.now-s.kwSentAt >= s.cfg.SilentAfter()
	if g.Has&HasKwhInterval != 0 {
		if s.energy < energyInterval {
			s.flush()
			s.energy = energyInterval
		}
		if s.energy == energyInterval {
			p := s.part()
			p.KWh += micro(max(0, g.KwhInterval))
			if s.interval > 0 { // the time covered by the first interval is unknown
				p.KWhMs += s.now - s.interval
			}
		}
		if derive && s.interval > 0 && s.now > s.interval && g.Has&HasKwh == 0 {
			s.power(g.KwhInterval * instant.HourMs / float64(s.now-s.interval))
		}
		s.interval = s.now
	}
	if g.Has&HasKwh != 0 {
		if s.energy < energyMeter {
			s.flush()
			s.energy = energyMeter
		}
		before := s.meter
		d, reset := s.meter.take(s.now, g.Kwh)
		if reset {
			s.wasReset()
		}
		if before.known && (d > 0 || s.now > before.at) {
			p := s.part()
			p.KWh += micro(d)
			p.KWhMs += s.now - before.at
		}
		if derive && before.known && s.now > before.at {
			s.power(d * instant.HourMs / float64(s.now-before.at))
		}
	}
}

func (s *State) power(kw float64) {
	s.accrue()
	s.kwKnown, s.kw = true, kw
	if s.energy == energyPower {
		s.openMinute()
	}
}

// accrue adds the speed and the power since the last call to their sums.
func (s *State) accrue() {
	ms := s.now - s.accrued
	s.accrued = s.now
	if ms <= 0 {
		return
	}
	if s.speedKnown {
		s.minute.SpeedSum += s.speed * float64(ms)
		s.minute.SpeedMs += ms
		if s.manual.Start == 0 {
			s.speedSum += s.speed * float64(ms)
		}
	}
	if s.kwKnown && s.energy == energyPower {
		s.kwSum += s.kw * float64(ms)
		s.kwMs += ms
	}
}

// flush counts the sums of speed and power under the present context.
func (s *State) flush() {
	s.accrue()
	if s.speedSum != 0 {
		if s.cfg.SpeedToProductionRatio > 0 {
			s.count(micro(max(0, s.speedSum*s.cfg.SpeedToProductionRatio/instant.MinuteMs)), 0, sourceSpeed)
		}
		s.speedSum = 0
	}
	if s.kwMs != 0 {
		p := s.part()
		p.KWh += micro(max(0, s.kwSum/instant.HourMs))
		p.KWhMs += s.kwMs
		s.kwSum, s.kwMs = 0, 0
	}
}

// flows reports whether units are made continuously by speed at s.now.
func (s *State) flows() bool {
	return s.speedKnown && s.speed > 0 && s.cfg.SpeedToProductionRatio > 0 && !s.cfg.MeterOnly
}

// mostErrorCodes limits the different error codes of a minute to the first ones. A machine that puts a time or a
// counter into its codes would otherwise fill the history.
const mostErrorCodes = 100

// errorCode records an error of the machine, which becomes the cause of the present stop if it is a reason.
func (s *State) errorCode(code string) {
	s.openMinute()
	if len(s.minute.ErrorCodes) < mostErrorCodes && !slices.Contains(s.minute.ErrorCodes, code) {
		s.minute.ErrorCodes = append(s.minute.ErrorCodes, code)
	}
	if s.cfg.Causes[code] {
		s.mark(mark{at: s.now, rule: s.told, cause: code})
		s.settle()
	}
}

// source is the source of a schedule's good count.
type source uint8

const (
	sourceNone source = iota
	sourceSpeed
	sourceMachine
	sourceOperator
)

// counter has the counts of a schedule, millionths of units.
type counter struct {
	source               source
	recorded, recordedIn int64 // good, bad
	reached, full        bool
}

// counterNow returns the counter for the present counts.
func (s *State) counterNow() *counter {
	if s.ctx.Production != "" {
		return &s.production.counter
	}
	return &s.unscheduled
}

// count adds units, millionths. It reports whether they come from the source that counts, and returns the units left
// out: all of them during manual downtime, and those beyond the maximum.
func (s *State) count(good, bad int64, from source) (counts bool, restGood, restBad int64) {
	if good == 0 && bad == 0 || s.manual.Start != 0 {
		return false, good, bad
	}
	t := s.counterNow()
	if t.source == sourceNone && good > 0 {
		t.source = from
		if s.cfg.SpeedToProductionRatio > 0 {
			t.source = sourceSpeed
		}
		if s.ctx.Production != "" && t.source != sourceOperator && !s.hand.sure {
			s.hand = byHand{} // the machine counts
		}
	}
	p := s.part()
	counts = good > 0 && from == t.source
	if counts && from == sourceOperator {
		s.countedByHand()
	}
	if from != t.source {
		p.Other = add(p.Other, good)
		good = 0
	}
	if s.ctx.Production != "" && s.cfg.MaxUnits > 0 {
		room := max(0, s.cfg.MaxUnits*Micro-add(t.recorded, t.recordedIn))
		keptGood := min(good, room)
		keptBad := min(bad, room-max(0, keptGood))
		if (keptGood < good || keptBad < bad) && !t.full {
			t.full = true
			s.out.Events = append(s.out.Events, Event{At: s.now, Kind: EventMaximumReached, Schedule: s.ctx.Production})
		}
		restGood, restBad = good-keptGood, bad-keptBad
		good, bad = keptGood, keptBad
	}
	s.put(good, bad)
	return counts, restGood, restBad
}

// put adds units, millionths, to the counts. Negative ones are subtracted and must not exceed the counts.
func (s *State) put(good, bad int64) {
	p, t := s.part(), s.counterNow()
	p.Good, p.Bad = add(p.Good, good), add(p.Bad, bad)
	if !s.known() {
		p.UnknownGood, p.UnknownBad = add(p.UnknownGood, good), add(p.UnknownBad, bad)
	}
	t.recorded, t.recordedIn = add(t.recorded, good), add(t.recordedIn, bad)
	s.checkQuantity(t)
}

func (s *State) checkQuantity(t *counter) {
	if s.ctx.Production == "" || t.reached || s.production.Quantity <= 0 || t.recorded < micro(s.production.Quantity) {
		return
	}
	t.reached = true
	s.out.Events = append(s.out.Events, Event{s.now, EventQuantityReached, s.ctx.Production, s.production.Quantity})
}

// enter applies an operator's entry as far as possible. The rest is recorded in the minute as unapplied.
func (s *State) enter(id string, e *Entry) (unit bool) {
	good, bad, reject := micro(e.Good), micro(e.Bad), max(0, micro(e.Reject))
	rest := Unapplied{Entry: id, Schedule: e.Schedule, Good: good - reject, Bad: bad + reject}
	if e.Schedule == "" {
		rest.Schedule = s.ctx.Production
	}
	if rest.Schedule == s.ctx.Production {
		rest.Good, rest.Bad = 0, 0
		if !e.Correction {
			unit, rest.Good, rest.Bad = s.count(max(0, good), max(0, bad), sourceOperator)
			good, bad = 0, 0
		}
		more, moreBad := s.adjust(good, bad, reject)
		rest.Good, rest.Bad = rest.Good+more, rest.Bad+moreBad
	}
	if rest.Good != 0 || rest.Bad != 0 {
		s.openMinute()
		s.minute.Unapplied = append(s.minute.Unapplied, rest)
	}
	return unit
}

// adjust moves good units to bad and adds deltas, millionths, without letting a total fall below zero, and returns what
// could not be applied. The move is reduced first, because it needs existing units.
func (s *State) adjust(good, bad, reject int64) (restGood, restBad int64) {
	t := s.counterNow()
	moved := min(reject, max(0, add(t.recorded, good)))
	newGood, newBad := max(good-moved, -t.recorded), max(bad+moved, -t.recordedIn)
	if newGood != 0 || newBad != 0 {
		s.put(newGood, newBad)
	}
	return good - reject - newGood, bad + reject - newBad
}

// add adds without overflow.
func add(a, b int64) int64 {
	switch sum := a + b; {
	case b > 0 && sum < a:
		return math.MaxInt64
	case b < 0 && sum > a:
		return math.MinInt64
	default:
		return sum
	}
}

// Part has the counts of a minute under one context, millionths of units and of kWh.
type Part struct {
	Ctx       *Context
	Good, Bad int64
	Other     int64 // good units from a source other than the schedule's: shown, not added
	// UnknownGood and UnknownBad are the part of Good and Bad that people entered while the station's state was
	// unknown.
	UnknownGood, UnknownBad int64
	KWh                     int64
	// the time that KWh covers, which may begin before the minute; if it and KWh are 0, the energy is unknown
	KWhMs int64
}

// Outside has units that belong to no ratio and no loss, millionths: those made without a production schedule, and
// those entered for one while the station's state was unknown.
type Outside struct {
	UnscheduledGood, UnscheduledBad int64
	UnknownGood, UnknownBad         int64
}

// Part adds the outside units of a part.
func (o *Outside) Part(p *Part) {
	if p.Ctx.Kind != Production {
		o.UnscheduledGood, o.UnscheduledBad = add(o.UnscheduledGood, p.Good), add(o.UnscheduledBad, p.Bad)
		return
	}
	o.UnknownGood, o.UnknownBad = add(o.UnknownGood, p.UnknownGood), add(o.UnknownBad, p.UnknownBad)
}

// Add adds p to o.
func (o *Outside) Add(p *Outside) {
	o.UnscheduledGood, o.UnscheduledBad = add(o.UnscheduledGood, p.UnscheduledGood), add(o.UnscheduledBad, p.UnscheduledBad)
	o.UnknownGood, o.UnknownBad = add(o.UnknownGood, p.UnknownGood), add(o.UnknownBad, p.UnknownBad)
}

// Minute has the measurements of a minute, which later findings about stops or silence do not change.
type Minute struct {
	Start      int64
	Parts      []Part
	SpeedSum   float64 // shown speed x ms, over the time with a known speed
	SpeedMs    int64
	RSSISum    float64 // dBm
	RSSICount  int64
	ErrorCodes []string // distinct, in order of arrival, at most mostErrorCodes
	Unapplied  []Unapplied
}

// Unapplied is the part of an operator's entry that does not count, millionths of units, with the entry's sign. For a
// reject with too few good units, Good is negative and Bad positive, of the same size.
type Unapplied struct {
	Entry     string // Input.ID
	Schedule  string // of the entry; "": none
	Good, Bad int64
}

func (m *Minute) measured() bool {
	return len(m.Parts) > 0 || m.SpeedMs > 0 || m.RSSICount > 0 || len(m.ErrorCodes) > 0 || len(m.Unapplied) > 0
}

func (s *State) openMinute() {
	if !s.minuteOpen {
		s.minute = Minute{Start: instant.FloorMinute(s.now)}
		s.minuteOpen = true
	}
}

// part returns the current minute's part for the current context, which is mostly the last one. Each change of the rate
// within a minute makes another part.
func (s *State) part() *Part {
	s.openMinute()
	for i := len(s.minute.Parts) - 1; i >= 0; i-- {
		if p := &s.minute.Parts[i]; p.Ctx.Same(s.ctx) {
			return p
		}
	}
	s.minute.Parts = append(s.minute.Parts, Part{Ctx: s.ctx})
	return &s.minute.Parts[len(s.minute.Parts)-1]
}

// endMinute closes the minute that ends at s.now.
func (s *State) endMinute() {
	s.flush()
	if m := &s.minute; m.measured() {
		s.out.Minutes = append(s.out.Minutes, *m)
	}
	s.minuteOpen, s.minute = false, Minute{}
	if s.speedKnown || s.kwKnown && s.energy == energyPower {
		s.openMinute()
	}
}
