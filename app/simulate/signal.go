package simulate

import (
	"math"
	"slices"
	"strconv"
	"time"

	"opsmon/app/instant"
)

// Field is a value in a message of a machine.
type Field uint8

// The fields (monitoring.md section 2).
const (
	CompleteGood Field = iota
	CompleteBad
	CountGood
	CountBad
	Productive // 1 or 0
	LineSpeed
	Kwh
	Kw
	Volts
	Amps
	RSSI
	fieldCount
)

// names are the fields' names in POST /signal.
var names = [fieldCount]string{
	"productionCompleteGood", "productionCompleteBad", "productionCountGood", "productionCountBad", "productive",
	"lineSpeed", "electricalKwh", "electricalKw", "electricalVolts", "electricalAmps", "rssi",
}

// Signal is one message of a machine.
type Signal struct {
	At        int64 // the time in the message
	ID        string
	ErrorCode string
	has       uint16
	values    [fieldCount]float64
}

// Empty reports whether the message has no value.
func (s *Signal) Empty() bool { return s.has == 0 && s.ErrorCode == "" }

// Get returns a value and whether it is set.
func (s *Signal) Get(f Field) (float64, bool) { return s.values[f], s.has&(1<<f) != 0 }

// Set sets a value.
func (s *Signal) Set(f Field, v float64) {
	s.has |= 1 << f
	s.values[f] = v
}

// AppendJSON appends the message in the format of POST /signal.
func (s *Signal) AppendJSON(b []byte, station string) []byte {
	b = append(b, `{"stationCode":`...)
	b = strconv.AppendQuote(b, station) // codes, IDs and error codes are plain letters here
	b = append(b, `,"at":"`...)
	b = time.UnixMilli(s.At).UTC().AppendFormat(b, instant.Layout)
	b = append(b, '"')
	if s.ID != "" {
		b = append(b, `,"id":`...)
		b = strconv.AppendQuote(b, s.ID)
	}
	if s.ErrorCode != "" {
		b = append(b, `,"errorCode":`...)
		b = strconv.AppendQuote(b, s.ErrorCode)
	}
	for f := range fieldCount {
		v, ok := s.Get(f)
		if !ok {
			continue
		}
		b = append(b, `,"`...)
		b = append(b, names[f]...)
		b = append(b, `":`...)
		if f == Productive {
			b = strconv.AppendBool(b, v != 0)
			continue
		}
		b = strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	return append(b, '}')
}

// The longest delay of a message with a connection, and of its duplicate.
const (
	longestDelay = minute
	longestEcho  = 20 * second
)

// rounded rounds to three decimals, to keep messages short.
func rounded(v float64) float64 { return math.Round(v*1000) / 1000 }

// The kinds of messages of one moment, for IDs and their order.
const (
	kindState = iota // the machine's state, at intervals
	kindTurn         // the machine starts or stops
	kindCycle        // a cycle is complete
	kindMeter        // a meter's reading
)

// report returns the interval of state messages, ms.
func (g *Generator) report(s *Station) int64 {
	if s.meterOnly {
		return max(g.cfg.Interval, minute)
	}
	if s.holdOn > 0 { // a state that is not repeated within the hold-on time ends
		return max(second, min(g.cfg.Interval, s.holdOn/3))
	}
	return g.cfg.Interval
}

// countsUp reports whether the machine has running counters.
func (s *Station) countsUp() bool {
	return !s.manualProduction && s.speedRatio == 0 && s.downtime != "production" && newDice(0, s.Code).about(7).float() < 0.6
}

// sendsCycles reports whether each cycle, or a few of them, is sent as a message.
func (s *Station) sendsCycles() bool {
	return !s.manualProduction && s.speedRatio == 0 && !s.countsUp()
}

// messages appends the messages of a machine in [from, to), a part of the day.
func (g *Generator) messages(list []Event, p *stationDay, from, to int64) []Event {
	s := p.station
	if s.schedulingOnly || from >= to {
		return list
	}
	low, first := max(p.Start, from-longestDelay-longestEcho), len(list)
	for _, d := range p.dead { // delayed messages are sent when the connection is back
		if d.start < low && d.end+2*minute > from {
			low = d.start
		}
	}
	w := &writer{generator: g, day: p, from: from, to: to, list: list}
	if s.meterOnly {
		w.meter(low)
	} else {
		w.states(low)
		w.turns(low)
		if s.sendsCycles() {
			w.cycles(low)
		}
	}
	sorted := w.list[first:]
	slices.SortStableFunc(sorted, compare)
	return w.list
}

// writer generates the messages of a day that are sent in [from, to).
type writer struct {
	generator *Generator
	day       *stationDay
	from, to  int64
	list      []Event
}

// send adds a message about the moment at if it is sent in the range. n distinguishes messages of one kind.
func (w *writer) send(at int64, kind, n uint64, sig *Signal) {
	p := w.day
	luck := p.dice.about(uint64(at)).about(kind<<40 | n)
	sent := at + 120 + int64(luck.about(1).float()*700)
	if luck.about(2).float() < 0.004 {
		sent += int64(luck.about(3).float() * float64(longestDelay-second))
	}
	kept := false
	for _, d := range p.dead {
		if at >= d.start && at < d.end {
			if d.lost {
				return
			}
			kept, sent = true, d.end+2*second+(at-d.start)*int64(minute)/(d.end-d.start)
		}
	}
	sig.At = at + p.drift.at(at)
	if w.generator.cfg.IDs || kept || p.station.buffers() {
		id := append(make([]byte, 0, 24), "abcd"[kind])
		id = strconv.AppendUint(id, w.generator.cfg.Seed, 36)
		id = append(id, '.')
		id = strconv.AppendInt(id, at, 36)
		if n != 0 {
			id = append(id, '.')
			id = strconv.AppendUint(id, n, 36)
		}
		sig.ID = string(id)
	}
	w.add(sent, kind<<40|n, sig)
	if sig.ID != "" && luck.about(4).float() < 0.003 { // the sender is not sure that it arrived
		w.add(sent+second+int64(luck.about(5).float()*float64(longestEcho-2*second)), kind<<40|n, sig)
	}
}

func (w *writer) add(sent int64, order uint64, sig *Signal) {
	if sent = min(sent, w.day.End-1); sent >= w.from && sent < w.to {
		w.list = append(w.list, Event{Sent: sent, Signal: *sig, order: 1<<60 | order})
	}
}

// buffers reports whether the station's gateway assigns IDs to its messages.
func (s *Station) buffers() bool { return newDice(0, s.Code).about(8).float() < 0.3 }

// ticks calls fn for the times of state messages from low on; n counts them since 1970.
func (w *writer) ticks(low int64, fn func(at, n int64)) {
	every := w.generator.report(w.day.station)
	phase := int64(newDice(0, w.day.station.Code).about(9).float() * float64(every))
	for n := (low-phase+every-1)/every - 1; ; n++ {
		at := n*every + phase
		if at >= w.to {
			return
		}
		if at >= low {
			fn(at, n)
		}
	}
}

// states sends the messages at intervals.
func (w *writer) states(low int64) {
	p, s := w.day, w.day.station
	every := w.generator.report(s)
	minutely := max(1, minute/every)
	w.ticks(low, func(at, n int64) {
		sp := &p.spells[p.spellAt(at)]
		if sp.activity == off && n%minutely != 0 {
			return // machines that are off only send heartbeats
		}
		var sig Signal
		w.measure(&sig, sp, at, n)
		if n%minutely == 0 {
			sig.Set(RSSI, math.Round(-55-22*newDice(0, s.Code).about(10).float()+6*(p.dice.about(uint64(at)).about(11).float()-0.5)))
			if s.nominalKw > 0 {
				sig.Set(Kwh, rounded(w.generator.reading(p, at)))
			}
		}
		w.send(at, kindState, 0, &sig)
	})
}

// measure sets the values of the machine's sensors.
func (w *writer) measure(sig *Signal, sp *spell, at, n int64) {
	p, s := w.day, w.day.station
	wobble := p.dice.about(uint64(n)).about(12).float() - 0.5
	runs := sp.activity == run || sp.activity == slow
	if s.productive == "productive_signal" {
		sig.Set(Productive, float64(boolMs(runs)))
	}
	if s.hasSpeed() {
		shown := 0.0
		if runs {
			shown = w.speed(sp) * (1 + 0.01*wobble)
		}
		sig.Set(LineSpeed, rounded((shown-s.speedOffset)/s.speedScale))
	}
	if kw := s.power(sp); s.nominalKw > 0 || s.productive == "electrical_usage" {
		sig.Set(Kw, rounded(kw*(1+0.04*wobble)))
	}
	if s.countsUp() {
		good, bad := p.counted(at)
		for _, reset := range slices.Backward(p.resets) {
			if reset <= at {
				g, b := p.counted(reset)
				good, bad = good-g, bad-b
				break
			}
		}
		sig.Set(CountGood, good)
		sig.Set(CountBad, bad)
	}
}

// hasSpeed reports whether the station has a speed sensor.
func (s *Station) hasSpeed() bool {
	return s.productive == "line_speed" || s.downtime == "line_speed" || s.speedRatio > 0 || s.target > 0
}

// speed returns the shown speed of a running machine.
func (w *writer) speed(sp *spell) float64 {
	s := w.day.station
	full := s.target
	if sp.job >= 0 {
		switch j := &w.day.jobs[sp.job]; {
		case s.speedRatio > 0:
			full = j.perMinute / s.speedRatio
		case j.sku != nil && j.sku.speed > 0:
			full = j.sku.speed
		}
	}
	if full == 0 {
		full = max(10, 10*s.stoppedSpeed)
	}
	return full * sp.pace
}

// power returns the power of the machine, kW.
func (s *Station) power(sp *spell) float64 {
	nominal := s.nominalKw
	if nominal == 0 {
		if s.productive != "electrical_usage" {
			return 0
		}
		nominal = max(4*s.stoppedKw, 5)
	}
	switch sp.activity {
	case run, slow:
		kw := nominal * (0.45 + 0.3*sp.pace)
		if s.productive == "electrical_usage" {
			kw = max(kw, 1.3*s.stoppedKw)
		}
		return kw
	case off:
		return 0.02 * nominal
	}
	kw := 0.2 * nominal
	if s.productive == "electrical_usage" && s.stoppedKw > 0 {
		kw = min(kw, 0.6*s.stoppedKw)
	}
	return kw
}

// turns sends the messages of starts and stops of the machine.
func (w *writer) turns(low int64) {
	p, s := w.day, w.day.station
	for i := max(1, p.spellAt(low)); i < len(p.spells) && p.spells[i].start < w.to; i++ {
		sp, before := &p.spells[i], &p.spells[i-1]
		runs := func(sp *spell) bool { return sp.activity == run || sp.activity == slow }
		if sp.start < low || runs(sp) == runs(before) && sp.code == "" {
			continue
		}
		var sig Signal
		if runs(sp) != runs(before) {
			w.measure(&sig, sp, sp.start, -sp.start)
		}
		sig.ErrorCode = sp.code
		if !sig.Empty() && !(s.manualProduction && sig.has == 0) {
			w.send(sp.start, kindTurn, 0, &sig)
		}
	}
}

// cycles sends the messages of cycles: one for each cycle, or for several if they are fast.
func (w *writer) cycles(low int64) {
	p := w.day
	for i := p.spellAt(low); i < len(p.spells) && p.spells[i].start < w.to; i++ {
		sp := &p.spells[i]
		if rate := p.pace(sp); rate > 0 {
			w.cyclesOf(sp, rate, low)
		}
	}
}

func (w *writer) cyclesOf(sp *spell, rate float64, low int64) {
	p := w.day
	step := p.step(sp, rate)
	cycles, _, _ := p.through(sp, sp.end)
	first, last := math.Floor(sp.cycles), math.Floor(cycles)
	n := first
	if skip := math.Floor(float64(low-sp.start)*rate/step) - 2; skip > 0 {
		n += skip * step
	}
	for n < last {
		before := n
		n = min(n+step, last)
		at := sp.start + int64(math.Ceil((n-sp.cycles)/rate))
		if at >= w.to {
			return
		}
		if at < low {
			continue
		}
		var sig Signal
		bad := sp.badBy(n) - sp.badBy(before)
		if good := n - before - bad; good > 0 {
			sig.Set(CompleteGood, good)
		}
		if bad > 0 {
			sig.Set(CompleteBad, bad)
		}
		w.send(at, kindCycle, 0, &sig)
	}
}

// step returns the number of cycles in one message. It is more than one if cycles are too fast for a gateway to send
// each, unless the time between messages would look like a stop.
func (p *stationDay) step(sp *spell, rate float64) float64 {
	k := p.jobs[sp.job].sku
	step := 1.0
	for least := max(1500, 1.2*float64(k.minimumCycle)); step/rate < least; step++ {
		if p.station.downtime == "production" && (step+1)/rate > 0.8*float64(k.gap) {
			break
		}
	}
	return step
}

// meter sends the messages of a station that only measures the consumption of others.
func (w *writer) meter(low int64) {
	p := w.day
	w.ticks(low, func(at, n int64) {
		kw := 0.0
		for _, s := range p.station.parts {
			other := w.generator.stationDay(s, s.calendar.ProductionDay(at))
			kw += s.power(&other.spells[other.spellAt(at)])
		}
		kw = kw*wired + baseKw
		wobble := p.dice.about(uint64(n)).about(12).float() - 0.5
		var sig Signal
		sig.Set(Kwh, rounded(w.generator.reading(p, at)))
		sig.Set(Kw, rounded(kw*(1+0.01*wobble)))
		sig.Set(Volts, rounded(400+4*wobble))
		sig.Set(Amps, rounded(kw*1000/(math.Sqrt(3)*400*0.92)))
		sig.Set(RSSI, math.Round(-61+5*wobble))
		w.send(at, kindMeter, 0, &sig)
	})
}
