package simulate

import (
	"time"

	"opsmon/app/engine/calendar"
)

// monthKey identifies a station's month: the production day of its first date.
type monthKey struct {
	station *Station
	first   calendar.Day
}

// reading returns a station's meter reading: kWh since the start of the production day of the first of the month.
func (g *Generator) reading(p *stationDay, at int64) float64 {
	s := p.station
	first := firstOfMonth(p.day)
	total := g.usedBefore(s, first, p.day)
	if !s.meterOnly {
		_, _, kWh := p.through(&p.spells[p.spellAt(at)], at)
		return total + kWh
	}
	total += baseKw * float64(at-p.Start) / float64(hour)
	for _, part := range s.parts { // of one plant, so their days are the same
		other := g.stationDay(part, p.day)
		_, _, kWh := other.through(&other.spells[other.spellAt(at)], at)
		total += wired * kWh
	}
	return total
}

// wired is the kWh measured by a meter for each kWh used by a machine, because of losses.
const wired = 1.04

// baseKw is the consumption of a plant besides its machines.
const baseKw = 6.5

// usedBefore returns the consumption of a station from the start of one day to that of another of the same month.
func (g *Generator) usedBefore(s *Station, first, until calendar.Day) float64 {
	if s.meterOnly {
		total := baseKw * float64(s.calendar.DayRange(until).Start-s.calendar.DayRange(first).Start) / float64(hour)
		for _, part := range s.parts {
			total += wired * g.usedBefore(part, first, until)
		}
		return total
	}
	key := monthKey{s, first}
	sums := g.used[key]
	if sums == nil {
		sums = []float64{0}
	}
	for d := first + calendar.Day(len(sums)) - 1; d < until; d++ {
		p := g.stationDay(s, d)
		_, _, kWh := p.through(&p.spells[len(p.spells)-1], p.End)
		sums = append(sums, sums[len(sums)-1]+kWh)
	}
	g.used[key] = sums
	return sums[until-first]
}

// firstOfMonth returns the production day of the first of a day's month.
func firstOfMonth(d calendar.Day) calendar.Day {
	date := time.Unix(int64(d)*86400, 0).UTC()
	return calendar.DayOf(date.Year(), date.Month(), 1)
}
