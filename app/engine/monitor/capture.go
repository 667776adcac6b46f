package monitor

import (
	"math"
	"slices"

	"opsmon/app/instant"
)

// capture is what the machine's signals have told so far.
type capture struct {
	on        bool  // the last productive signal
	holdUntil int64 // with hold-on time

	speedKnown      bool
	rawSpeed, speed float64 // as sent, as shown
	speedSum        float64 // shown speed x ms that is not yet counted as units

	kwKnown, kwSent bool // kwSent: momentary power was sent
	kw              float64
	kwSentAt        int64
	kwSum           float64 // kW x ms that is not yet counted as energy
	kwMs            int64   // of this time
	energy          energySource
	meter           reading // kWh
	interval        int64   // when the last interval came; 0: none did

	accrued int64 // the sums hold time up to here
	counts  Cycles
	report  report
}

// report is what is known of the station's last count signals. Signals within reportTime are one report: a gateway may send good
// and bad units, or the counters of two devices, one after another.
type report struct {
	at    int64 // of the last signal; 0: none came
	start int64 // of the first signal
	base  int64 // the last signal of the report before, ms; 0: there was none
	batch int64 // the time from base to a signal with more than one cycle, ms; 0: the report has no such signal
}

const reportTime = 1000 // ms

// energySource says what a station's energy is taken from: the best that it has ever sent.
type energySource uint8

const (
	energyPower    energySource = iota // momentary power over time
	energyInterval                     // what it says it used since the last time
	energyMeter                        // differences of meter readings
)

// signal takes in one signal and reports whether it brought a unit.
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

// cycles counts what a signal says was made. Units that manual downtime keeps from counting still show the machine at work.
func (s *State) cycles(g *Signal) bool {
	good, bad, resets := s.counts.Take(s.now, g, s.ctx.MinimumCycle, s.manual.Start == 0)
	for range resets {
		s.wasReset()
	}
	s.count(micro(good*s.ctx.PartsPerCycle), micro(bad*s.ctx.PartsPerCycle), sourceMachine)
	s.reported(good + bad)
	return micro(good) != 0 || micro(bad) != 0
}

// reported takes in that a count signal with so many cycles came.
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

// wasReset notes that a running counter or a meter began again.
func (s *State) wasReset() {
	s.out.Events = append(s.out.Events, Event{At: s.now, Kind: EventCounterReset})
}

// electrical takes in energy and power.
func (s *State) electrical(g *Signal) {
	if g.Has&HasKw != 0 {
		s.power(g.Kw)
		s.kwSent, s.kwSentAt = true, s.now
	}
	// Differences tell the power only while the machine does not send it itself.
	derive := !s.kwSent || s.now-s.kwSentAt >= s.cfg.SilentAfter()
	if g.Has&HasKwhInterval != 0 {
		if s.energy < energyInterval {
			s.flush()
			s.energy = energyInterval
		}
		if s.energy == energyInterval {
			p := s.part()
			p.KWh += micro(max(0, g.KwhInterval))
			if s.interval > 0 { // of what time the first one is nobody knows
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

// accrue adds up speed and power over the time since it was last done.
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

// flush counts what speed and power added up to, where and while they hold.
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

// flows reports whether units arise by speed at s.now, all the time.
func (s *State) flows() bool {
	return s.speedKnown && s.speed > 0 && s.cfg.SpeedToProductionRatio > 0 && !s.cfg.MeterOnly
}

// mostErrorCodes is how many different error codes a minute keeps: the first. A machine that puts a time or a counter into its
// codes would fill the history with them.
const mostErrorCodes = 100

// errorCode notes the machine's own error, which is the cause of the stop it falls in when it is a reason for one.
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

// source is what a schedule's good count is taken from.
type source uint8

const (
	sourceNone source = iota
	sourceSpeed
	sourceMachine
	sourceOperator
)

// counter is what a schedule has recorded, millionths of units.
type counter struct {
	source               source
	recorded, recordedIn int64 // good, bad
	reached, full        bool
}

// counterNow returns the counter that counts go to.
func (s *State) counterNow() *counter {
	if s.ctx.Production != "" {
		return &s.production.counter
	}
	return &s.unscheduled
}

// count adds units, millionths, and reports whether they are of the source that counts, and which it left out: in manual downtime
// all, and past the maximum the rest.
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

// put records units, millionths; fewer than none are taken away, of which there must be as many.
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

// enter takes in what an operator entered, as far as it can be. What cannot is noted in the minute.
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

// adjust moves good units to bad and adds deltas, millionths, so that no total falls below zero, and returns what of it is
// left. The move gives way first: it needs units that are there.
func (s *State) adjust(good, bad, reject int64) (restGood, restBad int64) {
	t := s.counterNow()
	moved := min(reject, max(0, add(t.recorded, good)))
	newGood, newBad := max(good-moved, -t.recorded), max(bad+moved, -t.recordedIn)
	if newGood != 0 || newBad != 0 {
		s.put(newGood, newBad)
	}
	return good - reject - newGood, bad + reject - newBad
}

// add adds without running over.
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

// Part is what was counted in a minute under one context, millionths of units and of kWh.
type Part struct {
	Ctx       *Context
	Good, Bad int64
	Other     int64 // good units of a source that is not the schedule's: shown, not added
	// UnknownGood and UnknownBad are those of Good and Bad that people entered while nothing was known of the station.
	UnknownGood, UnknownBad int64
	KWh                     int64
	KWhMs                   int64 // the time that KWh is of; it may begin before the minute. Without it and KWh nothing is known of energy
}

// Outside are units that are in no ratio and no loss, millionths: those made without a production schedule, and those that people
// entered for one while nothing was known of the station.
type Outside struct {
	UnscheduledGood, UnscheduledBad int64
	UnknownGood, UnknownBad         int64
}

// Part adds those of a part.
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

// Minute is what was measured in a minute: facts that no later finding about stops or silence changes.
type Minute struct {
	Start      int64
	Parts      []Part
	SpeedSum   float64 // shown speed x ms, over the time in which it was known
	SpeedMs    int64
	RSSISum    float64 // dBm
	RSSICount  int64
	ErrorCodes []string // each once, in order of arrival, mostErrorCodes at most
	Unapplied  []Unapplied
}

// Unapplied is the part of an operator's entry that could not be: what of it is missing from the counts, millionths of units
// and signed as the entry is. Of a reject that found too few good units, Good is negative and Bad as much above zero.
type Unapplied struct {
	Entry     string // Input.ID
	Schedule  string // that it was for; "" is none
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

// part returns the part of the minute at hand that belongs to the context at hand: mostly the last one. A rate that is changed
// thousands of times in a minute makes as many, which differ in the rate.
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
