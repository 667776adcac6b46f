package simulate

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"opsmon/app/engine/calendar"
)

// activity is what a machine does.
type activity uint8

const (
	off  activity = iota // out of shift
	idle                 // in shift, without a job, in a break or after the job's quantity
	run
	slow // running at less than 80 % of its speed
	stop
)

// spell is a part of a day with one activity.
type spell struct {
	start, end int64
	activity   activity
	job        int     // in stationDay.jobs; -1: none
	pace       float64 // relative to the rate of the job
	scrap      float64 // share of bad units
	cause      string  // of a stop; "": never set
	code       string  // the machine's error code; "": none
	// Counts and consumption since the start of the day, at the spell's start.
	cycles, bad, kWh float64
}

// job is the actual course of a production schedule.
type job struct {
	ref                    string // the work order
	sku                    *sku   // nil: the station has no SKU
	start, end             int64
	plannedStart           int64
	plannedEnd             int64     // 0: not planned
	quantity               float64   // units; 0: not planned
	endsByQuantity         bool      // the service ends it with its quantity
	quick                  bool      // started without a plan
	cyclesPerMs, perMinute float64   // expected rates; perMinute in units
	entered                *Schedule // as people enter it; nil until it is needed
}

// pause is a non-production schedule.
type pause struct {
	ref, reason string
	start, end  int64
}

// dead is a time without a connection.
type dead struct {
	start, end int64
	lost       bool // messages are lost instead of delayed
}

// stationDay is the course of a station's production day.
type stationDay struct {
	station *Station
	day     calendar.Day
	calendar.Range
	dice    dice
	shifts  []calendar.Instance // those in the day, cut to it
	jobs    []job
	pauses  []pause
	spells  []spell // adjacent, from the day's start to its end
	dead    []dead
	resets  []int64 // when the machine's counters are reset, besides the day's start
	drift   drift
	people  []Event // ordered by time; see peopled
	peopled bool
}

// drift is a clock that drifts a little each minute, and is slowly corrected.
type drift struct {
	start, turn, end int64
	most             int64 // ms ahead at the turning point
}

// at returns how far the clock is ahead, ms.
func (d drift) at(t int64) int64 {
	switch {
	case t <= d.start || t >= d.end:
		return 0
	case t < d.turn:
		return d.most * (t - d.start) / (d.turn - d.start)
	}
	return d.most * (d.end - t) / (d.end - d.turn)
}

// stationDay returns a station's day.
func (g *Generator) stationDay(s *Station, d calendar.Day) *stationDay {
	key := dayKey{s, d}
	if p := g.days[key]; p != nil {
		return p
	}
	if len(g.days) >= daysKept {
		clear(g.days)
	}
	p := &stationDay{station: s, day: d, Range: s.calendar.DayRange(d), dice: newDice(g.cfg.Seed, s.Code).about(uint64(d))}
	r := &random{dice: p.dice.about(1)}
	p.findShifts()
	if !s.meterOnly {
		p.work(r)
	}
	p.live(r)
	p.fail(r)
	if g.cfg.TrueClocks {
		p.drift.most = min(p.drift.most, 110*second)
	}
	g.days[key] = p
	return p
}

// findShifts sets the shifts of the day. Without a pattern the whole day is one shift.
func (p *stationDay) findShifts() {
	if !p.station.shifts {
		p.shifts = []calendar.Instance{{Range: p.Range, Day: p.day}}
		return
	}
	for _, shift := range p.station.calendar.Shifts(p.Start, p.End) {
		shift.Start, shift.End = max(shift.Start, p.Start), min(shift.End, p.End)
		p.shifts = append(p.shifts, shift)
	}
}

// work fills the shifts with jobs, breaks and changeovers.
func (p *stationDay) work(r *random) {
	var spans []calendar.Range
	for _, shift := range p.shifts {
		if n := len(spans); n > 0 && spans[n-1].End == shift.Start {
			spans[n-1].End = shift.End
			continue
		}
		spans = append(spans, shift.Range)
	}
	for _, span := range spans {
		if r.chance(0.03) { // no orders
			continue
		}
		p.fill(span, r)
	}
	for _, shift := range p.shifts {
		p.rest(shift.Range, r)
	}
	slices.SortFunc(p.pauses, func(a, b pause) int { return int(a.start - b.start) })
	for i := range p.pauses {
		p.pauses[i].ref = fmt.Sprintf("NP-%s-%s-%d", p.day, p.station.Code, i+1)
	}
}

// fill adds adjacent jobs with changeovers between them.
func (p *stationDay) fill(span calendar.Range, r *random) {
	s := p.station
	for t := span.Start + r.ms(minute, 6*minute); span.End-t > 40*minute; {
		length := r.ms(90*minute, 5*hour)
		last := span.End-t-length < 90*minute
		if last {
			length = span.End - t - r.ms(2*minute, 8*minute)
		}
		j := job{ref: fmt.Sprintf("WO-%s-%s-%d", p.day, s.Code, len(p.jobs)+1), start: t, end: t + length}
		j.plannedStart = t - t%minute
		if len(s.skus) > 0 {
			p.order(&j, r)
		}
		p.jobs = append(p.jobs, j)
		if t = j.end; last {
			return
		}
		change, reasons := r.ms(8*minute, 25*minute), s.changeovers
		if r.chance(0.06) || len(reasons) == 0 { // maintenance or a meeting
			change, reasons = change+r.ms(10*minute, 60*minute), s.breaks
		}
		if from := t + r.ms(20*second, 90*second); len(reasons) > 0 && from+change < span.End {
			p.pauses = append(p.pauses, pause{reason: reasons[r.pick(len(reasons))], start: from, end: from + change})
			t = from
		}
		t += change + r.ms(20*second, 90*second)
	}
}

// order sets a job's quantity and plan.
func (p *stationDay) order(j *job, r *random) {
	s := p.station
	j.sku = &s.skus[r.pick(len(s.skus))]
	due := j.sku.perMinute
	if due == 0 {
		due = 10 // without a rate the machine has a default pace
	}
	j.perMinute = due
	j.cyclesPerMs = due / j.sku.perCycle / float64(minute)
	capacity := due * float64(j.end-j.start) / float64(minute)
	wanted := math.Max(1, math.Floor(capacity*r.within(0.62, 0.8)))
	if wanted > 100 {
		wanted = math.Floor(wanted/10) * 10
	}
	soon := j.end - r.ms(minute, 10*minute) // planned to end shortly before the actual end
	soon -= soon % minute
	switch kind := r.next(); {
	case j.sku.perMinute == 0 || kind < 0.2:
		j.plannedEnd = soon
	case kind < 0.4:
		j.plannedEnd, j.quantity = soon, math.Max(1, math.Floor(capacity*r.within(0.9, 1))) // implies the rate
	case kind < 0.5 && s.quick && j.sku.quick:
		j.quick = true
	default:
		j.quantity = wanted
		j.endsByQuantity = s.autoEnd && !s.manualProduction && !s.schedulingOnly && r.chance(0.3)
	}
	if j.plannedEnd > 0 && s.cutShort && r.chance(0.15) {
		j.plannedEnd = (j.end/minute + 5) * minute // it will be cut short; the next one is planned for later
	}
}

func boolMs(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// rest adds a break in the middle of a long shift whose pattern has none.
func (p *stationDay) rest(shift calendar.Range, r *random) {
	s := p.station
	length := shift.End - shift.Start
	// hot processes are not interrupted for breaks
	if length <= 5*hour || len(s.breaks) == 0 || s.alwaysConnected && s.productive == "line_speed" {
		return
	}
	start := shift.Start + length/2 + r.ms(-40*minute, 20*minute)
	end := start + 30*minute + r.ms(-minute, 4*minute)
	for _, other := range p.pauses {
		if start < other.end+5*minute && end > other.start-5*minute {
			return
		}
	}
	for _, j := range p.jobs {
		if start > j.start+10*minute && end < j.end-10*minute {
			p.pauses = append(p.pauses, pause{reason: s.breaks[0], start: start, end: end})
			return
		}
	}
}

// live lets the machine run, slow down and stop during the day.
func (p *stationDay) live(r *random) {
	mood := r.within(0.6, 1.5) // some days are worse than others
	if r.chance(0.04) {
		mood = 3
	}
	t := p.Start
	for i := range p.jobs {
		j := &p.jobs[i]
		p.quiet(t, j.start)
		t = j.start
		made := 0.0 // cycles
		for t < j.end {
			var over bool
			until := j.end
			for _, b := range p.pauses {
				if b.start <= t && t < b.end {
					p.add(spell{start: t, end: min(b.end, j.end), activity: idle, job: i})
					t, over = min(b.end, j.end), true
					break
				}
				if b.start > t {
					until = min(until, b.start)
				}
			}
			if over {
				continue
			}
			p.stretch(&t, until, i, j, &made, mood, r)
		}
	}
	p.quiet(t, p.End)
	p.sum()
}

// stretch adds one run of the machine and the stop after it.
func (p *stationDay) stretch(t *int64, until int64, i int, j *job, made *float64, mood float64, r *random) {
	next := func(length int64, sp spell) {
		sp.start, sp.end, sp.job = *t, min(*t+length, until), i
		if sp.start < sp.end {
			p.add(sp)
			*t = sp.end
		}
	}
	if *t == j.start {
		next(r.ms(30*second, 4*minute), spell{activity: idle}) // until the first good unit
	}
	if j.endsByQuantity && *made >= j.quantity/j.sku.perCycle+2 { // quantity reached
		next(until-*t, spell{activity: idle})
		return
	}
	scrap := r.within(0.004, 0.035) + float64(boolMs(r.chance(0.05)))*0.08
	sp := spell{activity: run, pace: r.within(0.92, 1.0), scrap: scrap}
	length := r.often(int64(26*float64(minute)/mood), 90*second)
	if r.chance(0.09) { // slow, but not slow enough for a stop by missing units
		sp.activity, sp.pace, length = slow, r.within(0.69, 0.77), r.ms(4*minute, 18*minute)
	}
	if j.endsByQuantity && j.cyclesPerMs > 0 {
		left := (j.quantity/j.sku.perCycle + 2 - *made) / (j.cyclesPerMs * sp.pace * (1 - scrap))
		length = min(length, max(second, int64(left)+second))
	}
	from := *t
	next(length, sp)
	*made += float64(*t-from) * j.cyclesPerMs * sp.pace * (1 - scrap)
	down := spell{activity: stop}
	switch kind := r.next(); {
	case kind < 0.22 && sp.activity == run: // only a change of pace
		return
	case kind < 0.87:
		length = r.ms(70*second, 6*minute)
	case kind < 0.97:
		length = r.ms(7*minute, 20*minute)
	default:
		length = r.ms(20*minute, 75*minute)
	}
	if causes := p.station.causes; len(causes) > 0 && r.chance(0.85) {
		down.cause = causes[r.pick(len(causes))]
	}
	switch kind := r.next(); {
	case kind < 0.15 && down.cause != "":
		down.code = down.cause // this machine sends an error code
	case kind < 0.35:
		down.code = fmt.Sprintf("E-%03d", 100+r.pick(60))
	}
	next(length, down)
}

// quiet adds time without a job.
func (p *stationDay) quiet(from, to int64) {
	for _, shift := range p.shifts {
		if start := max(from, shift.Start); start < min(to, shift.End) {
			p.add(spell{start: from, end: start, activity: off, job: -1})
			from = min(to, shift.End)
			p.add(spell{start: start, end: from, activity: idle, job: -1})
		}
	}
	p.add(spell{start: from, end: to, activity: off, job: -1})
}

func (p *stationDay) add(sp spell) {
	if sp.start < sp.end {
		p.spells = append(p.spells, sp)
	}
}

// sum sets the counts and the consumption at the start of each spell.
func (p *stationDay) sum() {
	var cycles, bad, kWh float64
	for i := range p.spells {
		sp := &p.spells[i]
		sp.cycles, sp.bad, sp.kWh = cycles, bad, kWh
		cycles, bad, kWh = p.through(sp, sp.end)
	}
}

// pace returns the cycles per millisecond of a spell.
func (p *stationDay) pace(sp *spell) float64 {
	if sp.job < 0 || sp.activity != run && sp.activity != slow {
		return 0
	}
	return p.jobs[sp.job].cyclesPerMs * sp.pace
}

// through returns the counts and the consumption from the start of the day to a moment in a spell: cycles including the
// incomplete one, and bad ones in proportion to the complete ones.
func (p *stationDay) through(sp *spell, t int64) (cycles, bad, kWh float64) {
	cycles = sp.cycles + float64(t-sp.start)*p.pace(sp)
	bad = sp.bad + (math.Floor(cycles)-math.Floor(sp.cycles))*sp.scrap
	return cycles, bad, sp.kWh + float64(t-sp.start)/float64(hour)*p.station.power(sp)
}

// badBy returns how many of the first n cycles of the day were bad; the nth is in the spell.
func (sp *spell) badBy(n float64) float64 {
	return math.Floor(sp.bad + (n-math.Floor(sp.cycles))*sp.scrap)
}

// spellAt returns the index of the spell at a moment of the day.
func (p *stationDay) spellAt(t int64) int {
	return max(0, min(len(p.spells)-1, sort.Search(len(p.spells), func(i int) bool { return p.spells[i].end > t })))
}

// counted returns the good and bad cycles since the start of the day.
func (p *stationDay) counted(t int64) (good, bad float64) {
	cycles, bad, _ := p.through(&p.spells[p.spellAt(t)], t)
	bad = math.Floor(bad)
	return math.Floor(cycles) - bad, bad
}

// fail adds the communication faults.
func (p *stationDay) fail(r *random) {
	if p.station.schedulingOnly {
		return
	}
	for t := p.Start + r.often(30*hour, hour); t < p.End-3*hour; t += r.often(30*hour, hour) {
		d := dead{start: t, end: t + r.ms(6*minute, 90*minute), lost: r.chance(0.3)}
		p.dead = append(p.dead, d)
		t = d.end
	}
	for _, sp := range p.spells {
		if sp.activity == stop && r.chance(0.02) {
			p.resets = append(p.resets, sp.start+(sp.end-sp.start)/2) // switched off and on again
		}
	}
	if r.chance(0.08) {
		start := p.Start + r.ms(hour, 6*hour)
		p.drift = drift{start: start, turn: start + 4*hour, end: start + 8*hour, most: r.ms(20*second, 110*second)}
		if !p.station.countsUp() {
			p.drift.most *= 2 // more than the service tolerates; such a clock must not affect counters
		}
	}
}
