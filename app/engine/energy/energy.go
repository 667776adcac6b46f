// Package energy adds up the electricity that stations used: kWh, cost and CO2 by the factors of their time, energy
// outside of scheduled production, energy per unit and per productive hour (monitoring.md section 7). It is pure
// arithmetic: it stores nothing and reads no clock.
//
// Usage is additive: a plant or a year is a sum of its stations, or of the meters named for it (Total). Figures are
// calculated from sums, never averaged. Unmeasured energy is unknown, not 0: a sum carries the measured time (KnownMs)
// and the whole time (TotalMs).
package energy

import (
	"cmp"
	"slices"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
)

// Tariff is the price of a kilowatt-hour from a moment to the next tariff.
type Tariff struct {
	From             int64 // Unix ms
	Price, CO2       float64
	HasPrice, HasCO2 bool
}

// Usage is the energy used, with the units and times it is related to. kWh and units are millionths.
type Usage struct {
	KWh            int64
	Outside        int64   // kWh used while no production was scheduled
	KnownMs        int64   // the time that KWh covers; if it and KWh are 0, the energy is unknown
	TotalMs        int64   // the time in which the stations existed
	Cost, CO2      float64 // of the energy with a price, and with a CO2 factor
	NoPrice, NoCO2 bool    // some of the known energy had none
	Units          int64   // good and bad
	ProductiveMs   int64   // productive or slow
}

// Add adds o to u.
func (u *Usage) Add(o *Usage) {
	u.KWh += o.KWh
	u.Outside += o.Outside
	u.KnownMs += o.KnownMs
	u.TotalMs += o.TotalMs
	u.Cost += o.Cost
	u.CO2 += o.CO2
	u.NoPrice = u.NoPrice || o.NoPrice
	u.NoCO2 = u.NoCO2 || o.NoCO2
	u.Units += o.Units
	u.ProductiveMs += o.ProductiveMs
}

// Row is the usage of a station in one hour, or in the requested part of it.
type Row struct {
	Start int64 // of the hour
	Usage
}

// Collect returns the rows of one station in [from, to), in order. Segments and minutes must be ordered by time, and
// tariffs by From; energy before the first tariff has no price. from and to are whole minutes.
func Collect(c *calendar.Calendar, tariffs []Tariff, from, to int64, segments []monitor.Segment, minutes []monitor.Minute) []Row {
	x := collector{calendar: c}
	for i := range minutes {
		m := &minutes[i]
		if m.Start < from || m.Start >= to {
			continue
		}
		for len(tariffs) > 1 && tariffs[1].From <= m.Start {
			tariffs = tariffs[1:]
		}
		tariff := Tariff{}
		if len(tariffs) > 0 && tariffs[0].From <= m.Start {
			tariff = tariffs[0]
		}
		x.minute(m, &tariff)
	}
	for i := range segments {
		x.segment(&segments[i], from, to)
	}
	return x.rows
}

// collector adds up usage into hourly rows.
type collector struct {
	calendar *calendar.Calendar
	rows     []Row
	hour     calendar.Range // of the last row
}

// row returns the usage of the hour that contains a moment.
func (x *collector) row(at int64) *Usage {
	if at < x.hour.Start || at >= x.hour.End {
		x.hour = x.calendar.Bucket(at, calendar.UnitHour)
	}
	i, found := slices.BinarySearchFunc(x.rows, x.hour.Start, func(r Row, at int64) int { return cmp.Compare(r.Start, at) })
	if !found {
		x.rows = slices.Insert(x.rows, i, Row{Start: x.hour.Start})
	}
	return &x.rows[i].Usage
}

func (x *collector) minute(m *monitor.Minute, tariff *Tariff) {
	for _, p := range m.Parts {
		u := x.row(m.Start)
		u.Units += p.Good + p.Bad
		if p.KWh == 0 && p.KWhMs == 0 {
			continue
		}
		u.KWh += p.KWh
		u.KnownMs += p.KWhMs
		if p.Ctx.Kind != monitor.Production {
			u.Outside += p.KWh
		}
		u.charge(p.KWh, tariff)
	}
}

// segment adds the part of a segment in [from, to), hour by hour.
func (x *collector) segment(g *monitor.Segment, from, to int64) {
	class := g.Class()
	for start, end := max(g.Start, from), min(g.End, to); start < end; {
		u := x.row(start)
		stop := min(end, x.hour.End)
		u.TotalMs += stop - start
		if class == monitor.Productive || class == monitor.Slow {
			u.ProductiveMs += stop - start
		}
		start = stop
	}
}

func (u *Usage) charge(kwh int64, t *Tariff) {
	u.NoPrice = u.NoPrice || !t.HasPrice
	if t.HasPrice {
		u.Cost += float64(kwh) / monitor.Micro * t.Price
	}
	u.NoCO2 = u.NoCO2 || !t.HasCO2
	if t.HasCO2 {
		u.CO2 += float64(kwh) / monitor.Micro * t.CO2
	}
}

// Figure is a number that may be unknown.
type Figure struct {
	Value float64
	Known bool
}

// Figures are the figures for people.
type Figures struct {
	KWh, Outside      Figure // known if some of the time is known; KnownMs and TotalMs show how much
	Cost, CO2         Figure // known if all of the known energy has a factor
	PerUnit           Figure // kWh for each good or bad unit
	PerProductiveHour Figure // kWh
}

// Figures calculates the figures.
func (u *Usage) Figures() Figures {
	kwh := float64(u.KWh) / monitor.Micro
	if u.KWh == 0 && u.KnownMs == 0 {
		return Figures{}
	}
	f := Figures{KWh: Figure{kwh, true}, Outside: Figure{float64(u.Outside) / monitor.Micro, true}}
	f.Cost = Figure{u.Cost, !u.NoPrice}
	f.CO2 = Figure{u.CO2, !u.NoCO2}
	if u.Units > 0 {
		f.PerUnit = Figure{kwh * monitor.Micro / float64(u.Units), true}
	}
	if u.ProductiveMs > 0 {
		f.PerProductiveHour = Figure{kwh * instant.HourMs / float64(u.ProductiveMs), true}
	}
	return f
}

// Total returns the usage of a group or plant: the energy of the stations named for it (totalEnergyStationCodes; nil:
// not set), else of all its members, with the units and the productive time of its members. stations has the usage of
// members and named stations by code; missing stations did not exist.
func Total(members, named []string, stations map[string]Usage) Usage {
	var sum Usage
	for _, code := range members {
		u := stations[code]
		if named != nil {
			u = Usage{Units: u.Units, ProductiveMs: u.ProductiveMs}
		}
		sum.Add(&u)
	}
	for _, code := range named {
		u := stations[code]
		u.Units, u.ProductiveMs = 0, 0
		sum.Add(&u)
	}
	return sum
}
