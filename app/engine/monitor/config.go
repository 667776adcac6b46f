package monitor

import (
	"math"

	"opsmon/app/engine/calendar"
	"opsmon/app/instant"
)

// DowntimeMode says how stops are found (downtimeDetectionMode).
type DowntimeMode uint8

// The modes; the zero value is the default.
const (
	DowntimeUtilisation DowntimeMode = iota // not productive for at least the threshold
	DowntimeProduction                      // no unit for longer than the multiplier x cycle time
	DowntimeLineSpeed                       // speed under the stopped threshold for at least the threshold
	DowntimeOff                             // never
)

// ProductiveMode says what tells that a machine produces (productiveStatusMode).
type ProductiveMode uint8

// The modes; the zero value is the default.
const (
	ProductiveSignal     ProductiveMode = iota // the signal productive
	ProductiveElectrical                       // power at or above the stopped threshold
	ProductiveLineSpeed                        // shown speed at or above the stopped threshold
)

// Rate is how fast units are due, given in one of three ways; the first that is set counts. 0: not set.
type Rate struct {
	CycleTime      float64 // ms per cycle
	UnitsPerMinute float64
	UnitsPerHour   float64
}

// Given reports whether the rate is set at all.
func (r Rate) Given() bool { return r.CycleTime > 0 || r.UnitsPerMinute > 0 || r.UnitsPerHour > 0 }

// PerMinute returns units per minute; 0 when the rate is not set. Only a cycle time needs the parts per cycle.
func (r Rate) PerMinute(partsPerCycle float64) float64 {
	switch {
	case r.CycleTime > 0:
		return instant.MinuteMs * partsPerCycle / r.CycleTime
	case r.UnitsPerMinute > 0:
		return r.UnitsPerMinute
	case r.UnitsPerHour > 0:
		return r.UnitsPerHour / 60
	}
	return 0
}

// SKU is what the machine needs of a product. 0 and nil: not set.
type SKU struct {
	Rate
	MinimumCycle       *int64  // ms
	PartsPerCycle      float64 // units
	LineSpeedTarget    float64
	DowntimeMultiplier float64 // of the cycle time
}

// Config is what the machine needs of one station as one manifest revision resolves it: flags decided, defaults filled
// in. It must not be changed once it is in use. Package station stores it as JSON, without the fields that are marked.
type Config struct {
	Revision int64              `json:"-"` // of the manifest; 0 is none
	Calendar *calendar.Calendar `json:"-"`

	AliveTimeout    int64 `json:"-"` // ms of silence after which a station is disconnected, LeastAliveTimeout or more; 0: DefaultAliveTimeout
	Spread          int64 `json:"-"` // ms, DefaultSpread where 0: within it the units of a signal are spread since the count signal before
	AlwaysConnected bool
	SchedulingOnly  bool // no capture, never disconnected
	MeterOnly       bool // electrical signals alone

	SpeedScale, SpeedOffset float64 // shown speed = raw x scale + offset; a scale that is not set is 1
	SpeedToProductionRatio  float64 // units a minute for each unit of shown speed; 0: speed counts nothing

	DowntimeMode         DowntimeMode
	UtilisationThreshold int64 // ms
	SlowThreshold        int64 // ms
	AnyStop              bool  `json:"-"` // every standstill is a stop, however short: Bare
	ForceShiftTime       bool  // shift time without a schedule is planned production (forceAllShiftTimeAsPlannedProduction)

	ProductiveMode ProductiveMode
	StoppedKw      float64 // 0: above 0 is productive
	StoppedSpeed   float64 // 0: above 0 is productive
	HoldOn         int64   // ms; 0: productive lasts until the signal says otherwise

	Rate
	MinimumCycle      int64 // ms
	LineSpeedTarget   float64
	EditPartsPerCycle bool  // a schedule's own parts per cycle count
	MaxUnits          int64 // units that one schedule records; 0: no limit

	SKUs   Products        `json:"-"` // nil: none is known
	Causes map[string]bool `json:"-"` // reason codes that may be the cause of a stop: an error code among them becomes it
}

// Products knows an account's SKUs over time, so that another rate of a SKU concerns the stations that run it, and no
// other.
type Products interface {
	// SKU returns what holds of a SKU at a moment, Unix ms, and until when: math.MaxInt64 as far as is known. A SKU
	// that does not exist then is the zero SKU.
	SKU(code string, at int64) (s SKU, until int64)
}

// SKUs are Products that do not change.
type SKUs map[string]SKU

// SKU implements Products.
func (m SKUs) SKU(code string, _ int64) (SKU, int64) { return m[code], never }

// SKU returns what holds of a SKU at a moment, Unix ms, and until when.
func (c *Config) SKU(code string, at int64) (SKU, int64) {
	if c.SKUs == nil {
		return SKU{}, never
	}
	return c.SKUs.SKU(code, at)
}

const (
	// DefaultAliveTimeout is how long a station may be silent where nothing else is set, ms (monitoring.md section 3);
	// the least is what can be set (signals.aliveMinutes).
	DefaultAliveTimeout = 5 * instant.MinuteMs
	LeastAliveTimeout   = instant.MinuteMs
	// DefaultSpread is how far back a signal's units are spread for detection by production where nothing else is set,
	// ms (signals.spreadMinutes).
	DefaultSpread = 5 * instant.MinuteMs
	// slowPercent of the line speed target is the speed under which a station runs slowly.
	slowPercent = 80
	// longest is more than any threshold that can pass, ms; it keeps sums of times from running over.
	longest = 1 << 50
	// defaultMultiplier is a SKU's downtimeDurationThresholdMultiplier where none is set.
	defaultMultiplier = 1.5
	// UnknownSKU is the SKU of units made without a schedule.
	UnknownSKU = "UNKNOWN"
)

// Bare returns the configuration with its thresholds out of the way: every stretch of scheduled production in which the
// station's detection sees no production is a stop, however short. Where productive signals hold on, they hold for a
// millisecond. By production they last from one unit to the next. Detection that is off sees what it would by
// utilisation.
func (c *Config) Bare() *Config {
	bare := *c
	bare.AnyStop = true
	bare.HoldOn = min(c.HoldOn, 1)
	if c.DowntimeMode == DowntimeOff {
		bare.DowntimeMode = DowntimeUtilisation
	}
	return &bare
}

// SilentAfter is how long the station may be silent before nothing is known of it, ms.
func (c *Config) SilentAfter() int64 {
	if c.AliveTimeout > 0 {
		return c.AliveTimeout
	}
	return DefaultAliveTimeout
}

// SpreadWithin is how far back the units of a signal may have been made, where stops are found by production, ms.
func (c *Config) SpreadWithin() int64 {
	if c.Spread > 0 {
		return c.Spread
	}
	return DefaultSpread
}

// shownSpeed returns the speed as people see it.
func (c *Config) shownSpeed(raw float64) float64 { return raw*c.SpeedScale + c.SpeedOffset }

// running reports whether a shown speed is that of a machine which is not stopped.
func (c *Config) running(speed float64) bool {
	if c.StoppedSpeed > 0 {
		return speed >= c.StoppedSpeed
	}
	return speed > 0
}

// Kind says what time is planned for.
type Kind uint8

// The kinds; a schedule counts inside shifts only, unless it extends them.
const (
	Unscheduled Kind = iota
	Production
	NonProduction
	kinds
)

// Shift names a shift as it takes place. The zero Shift is none, or that of a station without a pattern.
type Shift struct {
	Name  string
	Start int64
	Day   calendar.Day // the production day in which it starts
}

// Plan is what the station's configuration, shifts, schedules and the SKU say of a stretch of time. Plans are shared:
// they must not be changed.
type Plan struct {
	Revision      int64 // of the manifest, since which the station's configuration holds
	InShift       bool
	Shift         Shift
	Kind          Kind
	Forced        bool   // planned production without a schedule
	Production    string // the production schedule that runs and is not paused, in shift or not; "" is none
	NonProduction string // the non-production schedule that runs; "" is none
	SKU           string // UnknownSKU without a production schedule
	Reason        string // reason of the non-production schedule

	LineSpeedTarget float64 // 0: none
	PartsPerCycle   float64
	MinimumCycle    int64 // ms
}

// Context is what holds at a station for a stretch of time, whatever its signals say. The rate of a SKU, which may
// change often, stands beside the plan: a thousand changes of it are a thousand contexts of one plan. Contexts are
// shared: they must not be changed.
type Context struct {
	*Plan
	UnitsPerMinute float64 // 0: no rate
	// UnitGap is how long no unit may come before production detection calls it a stop, ms.
	UnitGap int64
}

// Same reports whether x and o are equal.
func (x *Context) Same(o *Context) bool {
	if x == o {
		return true
	}
	return x.UnitsPerMinute == o.UnitsPerMinute && x.UnitGap == o.UnitGap && x.SamePlan(o)
}

// SamePlan reports whether x and o differ in the rate at most.
func (x *Context) SamePlan(o *Context) bool { return x.Plan == o.Plan || *x.Plan == *o.Plan }

// context works out what holds from s.now on; its plan is that of s.ctx where that holds.
func (s *State) context() Context {
	c := s.cfg
	p := Plan{Revision: c.Revision, SKU: UnknownSKU, PartsPerCycle: 1, MinimumCycle: c.MinimumCycle, LineSpeedTarget: c.LineSpeedTarget}
	p.InShift, p.Shift = s.shiftNow()
	s.skuUntil = never
	rate, multiplier := c.Rate, defaultMultiplier
	switch {
	case s.nonProduction != nil:
		p.NonProduction, p.Reason = s.nonProduction.ID, s.nonProduction.Reason
		rate = Rate{}
	case s.production != nil:
		rate, multiplier = s.producing(&p)
	}
	if p.InShift {
		switch {
		case p.NonProduction != "":
			p.Kind = NonProduction
		case p.Production != "":
			p.Kind = Production
		case c.ForceShiftTime && !c.MeterOnly:
			p.Kind, p.Forced = Production, true
		}
	}
	x := Context{UnitsPerMinute: rate.PerMinute(p.PartsPerCycle), UnitGap: min(c.UtilisationThreshold, longest)}
	if s.ctx != nil && *s.ctx.Plan == p {
		x.Plan = s.ctx.Plan
	} else {
		x.Plan = new(p)
	}
	if x.UnitsPerMinute > 0 {
		cycle := instant.MinuteMs * p.PartsPerCycle / x.UnitsPerMinute
		x.UnitGap = int64(min(math.Floor(multiplier*cycle), longest))
	}
	return x
}

// shiftNow returns the shift that goes on at s.now, which a schedule may extend beyond its end.
func (s *State) shiftNow() (in bool, shift Shift) {
	extended := s.production != nil && s.production.ExtendShift || s.nonProduction != nil && s.nonProduction.ExtendShift
	switch {
	case s.inShift:
		return true, s.shift
	case extended && s.ctx != nil && s.ctx.InShift:
		return true, s.ctx.Shift // the shift goes on
	case extended:
		return true, Shift{Start: s.now, Day: s.cfg.Calendar.ProductionDay(s.now)}
	}
	return false, Shift{}
}

// producing sets what the production schedule that runs and its SKU say, and returns the rate that holds and after how
// many cycles without a unit a stop begins.
func (s *State) producing(x *Plan) (rate Rate, multiplier float64) {
	c := s.cfg
	rate, multiplier = c.Rate, defaultMultiplier
	p := s.production
	x.Production, x.SKU = p.ID, p.SKU
	k, until := c.SKU(p.SKU, s.now)
	s.skuUntil = until
	if k.PartsPerCycle > 0 {
		x.PartsPerCycle = k.PartsPerCycle
	}
	if c.EditPartsPerCycle && p.PartsPerCycle > 0 {
		x.PartsPerCycle = p.PartsPerCycle
	}
	if k.MinimumCycle != nil {
		x.MinimumCycle = *k.MinimumCycle
	}
	if k.DowntimeMultiplier > 0 {
		multiplier = k.DowntimeMultiplier
	}
	for _, speed := range []float64{k.LineSpeedTarget, p.LineSpeedTarget} {
		if speed > 0 {
			x.LineSpeedTarget = speed
		}
	}
	for _, r := range []Rate{k.Rate, p.Rate} {
		if r.Given() {
			rate = r
		}
	}
	return rate, multiplier
}

// changed works out the context anew and, where it is another one, ends what belongs to the old one.
func (s *State) changed() {
	x := s.context()
	if s.ctx != nil && s.ctx.Same(&x) {
		return
	}
	s.flush()
	if old := s.ctx; old == nil || old.InShift != x.InShift || old.Shift != x.Shift || old.Kind != x.Kind || old.Production != x.Production || old.NonProduction != x.NonProduction {
		s.broken = true
	}
	if x.Production == "" && (s.ctx == nil || s.ctx.Production != "") {
		s.unscheduled = counter{}
	}
	s.ctx = new(x)
}
