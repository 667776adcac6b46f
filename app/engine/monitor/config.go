package monitor

import (
	"math"

	"opsmon/app/engine/calendar"
	"opsmon/app/instant"
)

// DowntimeMode is how stops are detected (downtimeDetectionMode).
type DowntimeMode uint8

// The modes; the zero value is the default.
const (
	DowntimeUtilisation DowntimeMode = iota // not productive for at least the threshold
	DowntimeProduction                      // no unit for longer than the multiplier x cycle time
	DowntimeLineSpeed                       // speed under the stopped threshold for at least the threshold
	DowntimeOff                             // never
)

// ProductiveMode is how production is detected (productiveStatusMode).
type ProductiveMode uint8

// The modes; the zero value is the default.
const (
	ProductiveSignal     ProductiveMode = iota // the signal productive
	ProductiveElectrical                       // power at or above the stopped threshold
	ProductiveLineSpeed                        // shown speed at or above the stopped threshold
)

// Rate is the rate at which units are due, given in one of three ways. The first that is set applies; 0: not set.
type Rate struct {
	CycleTime      float64 // ms per cycle
	UnitsPerMinute float64
	UnitsPerHour   float64
}

// Given reports whether the rate is set.
func (r Rate) Given() bool { return r.CycleTime > 0 || r.UnitsPerMinute > 0 || r.UnitsPerHour > 0 }

// PerMinute returns units per minute; 0 if the rate is not set. Only a cycle time needs partsPerCycle.
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

// SKU is the configuration of a product. 0 and nil: not set.
type SKU struct {
	Rate
	MinimumCycle       *int64  // ms
	PartsPerCycle      float64 // units
	LineSpeedTarget    float64
	DowntimeMultiplier float64 // of the cycle time
}

// Config is the configuration of one station as resolved from one manifest revision, with flags decided and defaults
// filled in. It must not be changed after its first use. Package station stores it as JSON, without the fields tagged
// "-".
type Config struct {
	Revision int64              `json:"-"` // of the manifest; 0: none
	Calendar *calendar.Calendar `json:"-"`

	// ms of silence after which a station is disconnected, at least LeastAliveTimeout; 0: DefaultAliveTimeout
	AliveTimeout int64 `json:"-"`
	// ms; 0: DefaultSpread. Units of a signal are spread over the time since the previous count signal, if it is at
	// most this long
	Spread          int64 `json:"-"`
	AlwaysConnected bool
	SchedulingOnly  bool // no capture, never disconnected
	MeterOnly       bool // electrical signals only

	SpeedScale, SpeedOffset float64 // shown speed = raw x scale + offset; a scale of 0 means 1
	SpeedToProductionRatio  float64 // units per minute for each unit of shown speed; 0: units are not counted by speed

	DowntimeMode         DowntimeMode
	UtilisationThreshold int64 // ms
	SlowThreshold        int64 // ms
	AnyStop              bool  `json:"-"` // every standstill is a stop, however short (see Bare)
	ForceShiftTime       bool  // shift time without a schedule is planned production (forceAllShiftTimeAsPlannedProduction)

	ProductiveMode ProductiveMode
	StoppedKw      float64 // 0: any power above 0 is productive
	StoppedSpeed   float64 // 0: any speed above 0 is productive
	HoldOn         int64   // ms; 0: productive lasts until a signal ends it

	Rate
	MinimumCycle      int64 // ms
	LineSpeedTarget   float64
	EditPartsPerCycle bool  // a schedule's own parts per cycle apply
	MaxUnits          int64 // limit of units recorded by one schedule; 0: no limit

	SKUs Products `json:"-"` // nil: no SKUs
	// reason codes that may be the cause of a stop; such an error code becomes the cause
	Causes map[string]bool `json:"-"`
}

// Products has an account's SKUs over time, so that a change of a SKU's rate affects only the stations that run it.
type Products interface {
	// SKU returns the SKU at a moment, Unix ms, and the time until which it is valid, or math.MaxInt64 if no change is
	// known. It returns the zero SKU if there is none at that moment.
	SKU(code string, at int64) (s SKU, until int64)
}

// SKUs are Products that never change.
type SKUs map[string]SKU

// SKU implements Products.
func (m SKUs) SKU(code string, _ int64) (SKU, int64) { return m[code], never }

// SKU returns the SKU at a moment, Unix ms, and the time until which it is valid.
func (c *Config) SKU(code string, at int64) (SKU, int64) {
	if c.SKUs == nil {
		return SKU{}, never
	}
	return c.SKUs.SKU(code, at)
}

const (
	// DefaultAliveTimeout is the default time of silence after which a station is disconnected, ms (monitoring.md
	// section 3). LeastAliveTimeout is the smallest setting (signals.aliveMinutes).
	DefaultAliveTimeout = 5 * instant.MinuteMs
	LeastAliveTimeout   = instant.MinuteMs
	// DefaultSpread is the default of the time over which the units of a signal are spread for detection by production,
	// ms (signals.spreadMinutes).
	DefaultSpread = 5 * instant.MinuteMs
	// slowPercent is the percentage of the line speed target under which a station is slow.
	slowPercent = 80
	// longest is longer than any threshold, ms. It prevents overflow in sums of times.
	longest = 1 << 50
	// defaultMultiplier is the default of a SKU's downtimeDurationThresholdMultiplier.
	defaultMultiplier = 1.5
	// UnknownSKU is the SKU of units made without a schedule.
	UnknownSKU = "UNKNOWN"
)

// Bare returns the configuration without thresholds: every range of scheduled production in which the station's
// detection sees no production is a stop, however short. A hold-on time is reduced to a millisecond. With detection by
// production, a unit shows production until the next one. If detection is off, detection by utilisation is used.
func (c *Config) Bare() *Config {
	bare := *c
	bare.AnyStop = true
	bare.HoldOn = min(c.HoldOn, 1)
	if c.DowntimeMode == DowntimeOff {
		bare.DowntimeMode = DowntimeUtilisation
	}
	return &bare
}

// SilentAfter returns the time of silence after which the station is disconnected, ms.
func (c *Config) SilentAfter() int64 {
	if c.AliveTimeout > 0 {
		return c.AliveTimeout
	}
	return DefaultAliveTimeout
}

// SpreadWithin returns the maximum time over which the units of a signal are spread if stops are detected by
// production, ms.
func (c *Config) SpreadWithin() int64 {
	if c.Spread > 0 {
		return c.Spread
	}
	return DefaultSpread
}

// shownSpeed converts a raw speed to the speed shown to people.
func (c *Config) shownSpeed(raw float64) float64 { return raw*c.SpeedScale + c.SpeedOffset }

// running reports whether a shown speed is that of a running machine.
func (c *Config) running(speed float64) bool {
	if c.StoppedSpeed > 0 {
		return speed >= c.StoppedSpeed
	}
	return speed > 0
}

// Kind is what a time is planned for.
type Kind uint8

// The kinds. A schedule counts only inside shifts, unless it extends them.
const (
	Unscheduled Kind = iota
	Production
	NonProduction
	kinds
)

// Shift identifies one shift on a particular day. The zero Shift is no shift, or that of a station without a pattern.
type Shift struct {
	Name  string
	Start int64
	Day   calendar.Day // the production day in which it starts
}

// Plan is what a station's configuration, shifts, schedules and SKU define for a range of time. Plans are shared and
// must not be changed.
type Plan struct {
	Revision      int64 // manifest revision since which the station's configuration is unchanged
	InShift       bool
	Shift         Shift
	Kind          Kind
	Forced        bool   // planned production without a schedule
	Production    string // the production schedule that is running and not paused, in shift or not; "": none
	NonProduction string // the running non-production schedule; "": none
	SKU           string // UnknownSKU without a production schedule
	Reason        string // reason of the non-production schedule

	LineSpeedTarget float64 // 0: none
	PartsPerCycle   float64
	MinimumCycle    int64 // ms
}

// Context is everything that applies to a station for a range of time, independent of its signals. The rate of a SKU,
// which may change often, is not part of the Plan, so a thousand changes of it are a thousand contexts with one plan.
// Contexts are shared and must not be changed.
type Context struct {
	*Plan
	UnitsPerMinute float64 // 0: no rate
	// UnitGap is the time without a unit after which detection by production finds a stop, ms.
	UnitGap int64
}

// Same reports whether x and o are equal.
func (x *Context) Same(o *Context) bool {
	if x == o {
		return true
	}
	return x.UnitsPerMinute == o.UnitsPerMinute && x.UnitGap == o.UnitGap && x.SamePlan(o)
}

// SamePlan reports whether x and o are equal except for the rate.
func (x *Context) SamePlan(o *Context) bool { return x.Plan == o.Plan || *x.Plan == *o.Plan }

// context calculates the context from s.now on. It reuses the plan of s.ctx if that still applies.
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

// shiftNow returns the shift at s.now, which a schedule may extend beyond its end.
func (s *State) shiftNow() (in bool, shift Shift) {
	extended := s.production != nil && s.production.ExtendShift || s.nonProduction != nil && s.nonProduction.ExtendShift
	switch {
	case s.inShift:
		return true, s.shift
	case extended && s.ctx != nil && s.ctx.InShift:
		return true, s.ctx.Shift // the shift is extended
	case extended:
		return true, Shift{Start: s.now, Day: s.cfg.Calendar.ProductionDay(s.now)}
	}
	return false, Shift{}
}

// producing sets the fields of the running production schedule and its SKU. It returns the rate, and the number of
// cycles without a unit after which a stop begins.
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

// changed recalculates the context and, if it differs, ends what belongs to the old one.
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
