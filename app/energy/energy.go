// Package energy adds up the electricity that stations used: kWh, cost and CO2 by the factors of their time, what was used
// outside of scheduled production, per unit and per productive hour (monitoring.md section 7). It is arithmetic: it keeps
// nothing and reads no clock.
//
// Usage adds up, so a plant or a year is a sum: of its stations, or of the meters that are named for it (Total). Figures
// are made of sums, never averaged.
package energy

import (
	"slices"

	"opsmon/app/calendar"
	"opsmon/app/monitor"
)

// Tariff is what a kilowatt-hour costs from a moment on, until the next tariff.
type Tariff struct {
	From             int64 // Unix ms
	Price, CO2       float64
	HasPrice, HasCO2 bool
}

// Usage is what was used, and beside what. kWh and units are millionths.
type Usage struct {
	KWh          int64
	Outside      int64   // kWh used while no production was scheduled
	Cost, CO2    float64 // of Priced and Weighed
	Priced       int64   // kWh for which there was a price
	Weighed      int64   // kWh for which there was a CO2 factor
	Units        int64   // good and bad
	ProductiveMs int64   // productive or slow
}

// Add adds o to u.
func (u *Usage) Add(o *Usage) {
	u.KWh += o.KWh
	u.Outside += o.Outside
	u.Cost += o.Cost
	u.CO2 += o.CO2
	u.Priced += o.Priced
	u.Weighed += o.Weighed
	u.Units += o.Units
	u.ProductiveMs += o.ProductiveMs
}

// Row is what a station used in one hour, or in the part of it that was asked for.
type Row struct {
	Start int64 // of the hour
	Usage
}

// Collect gives the rows of [from, to) of one station, in order, from its segments and minutes in order of time. Hours in
// which nothing was used, made or productive are left out. Tariffs come in order of From; before the first there is none.
// from and to are whole minutes.
func Collect(c *calendar.Calendar, tariffs []Tariff, from, to int64, segments []monitor.Segment, minutes []monitor.Minute) []Row {
	var rows []Row
	var hour calendar.Range
	row := func(at int64) *Usage {
		if at < hour.Start || at >= hour.End {
			hour = c.Bucket(at, calendar.UnitHour)
		}
		i, found := slices.BinarySearchFunc(rows, hour.Start, func(r Row, at int64) int {
			switch {
			case r.Start < at:
				return -1
			case r.Start > at:
				return 1
			}
			return 0
		})
		if !found {
			rows = slices.Insert(rows, i, Row{Start: hour.Start})
		}
		return &rows[i].Usage
	}
	for i := range minutes {
		m := &minutes[i]
		if m.Start < from || m.Start >= to {
			continue
		}
		for len(tariffs) > 1 && tariffs[1].From <= m.Start {
			tariffs = tariffs[1:]
		}
		for _, p := range m.Parts {
			if p.KWh == 0 && p.Good == 0 && p.Bad == 0 {
				continue
			}
			u := row(m.Start)
			u.KWh += p.KWh
			u.Units += p.Good + p.Bad
			if p.Ctx.Kind != monitor.Production {
				u.Outside += p.KWh
			}
			if len(tariffs) > 0 && tariffs[0].From <= m.Start {
				u.charge(p.KWh, &tariffs[0])
			}
		}
	}
	for i := range segments {
		g := &segments[i]
		if class := g.Class(); class != monitor.Productive && class != monitor.Slow {
			continue
		}
		for start, end := max(g.Start, from), min(g.End, to); start < end; {
			u := row(start)
			stop := min(end, hour.End)
			u.ProductiveMs += stop - start
			start = stop
		}
	}
	return rows
}

func (u *Usage) charge(kwh int64, t *Tariff) {
	if t.HasPrice {
		u.Priced += kwh
		u.Cost += float64(kwh) / monitor.Micro * t.Price
	}
	if t.HasCO2 {
		u.Weighed += kwh
		u.CO2 += float64(kwh) / monitor.Micro * t.CO2
	}
}

// Figure is a number that may be unknown.
type Figure struct {
	Value float64
	Known bool
}

// Figures are what people look at.
type Figures struct {
	KWh, Outside      float64
	Cost, CO2         Figure // known where all of the energy had a factor
	PerUnit           Figure // kWh for each good or bad unit
	PerProductiveHour Figure // kWh
}

// Figures works them out.
func (u *Usage) Figures() Figures {
	kwh := float64(u.KWh) / monitor.Micro
	f := Figures{KWh: kwh, Outside: float64(u.Outside) / monitor.Micro}
	f.Cost = Figure{u.Cost, u.Priced == u.KWh && u.Priced != 0}
	f.CO2 = Figure{u.CO2, u.Weighed == u.KWh && u.Weighed != 0}
	if u.Units > 0 {
		f.PerUnit = Figure{kwh * monitor.Micro / float64(u.Units), true}
	}
	if u.ProductiveMs > 0 {
		f.PerProductiveHour = Figure{kwh * 3_600_000 / float64(u.ProductiveMs), true}
	}
	return f
}

// Total gives the usage of a group or plant: the energy of the stations named for it (totalEnergyStationCodes; nil is not
// set) or else of all its members, with the units and the productive time of its members in any case. stations holds the
// usage of members and of those named, by code; one that is missing used nothing.
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
