package report

import (
	"slices"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
	"opsmon/app/instant"
)

// The longest ranges: sums are limited by their retention, and figures read minute by minute to a year.
const (
	LongestSums   = 11 * 366 * 24 * time.Hour
	LongestDetail = 366 * 24 * time.Hour
)

// Config has the dependencies and limits of a Service.
type Config struct {
	Floor       *floor.Floor
	Signals     *signal.Log
	MostResults int // limit of one answer of OEE or Energy; 0: 100,000
}

// Service calculates figures. It is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a Service.
func New(cfg Config) *Service {
	if cfg.MostResults == 0 {
		cfg.MostResults = 100_000
	}
	return &Service{cfg}
}

// Selection is the stations and the range of figures.
type Selection struct {
	Account  string
	Plan     *station.Plan // in force
	Stations []Station
	From, To int64 // ms: of all stations together; set by the caller if there are none
	Now      int64 // ms
	Named    bool  // the stations were selected by code
	Grouped  bool  // a group was selected by code
}

// Station is a station with its selected range. A range in days has the days of the station's plant.
type Station struct {
	*station.Station
	From, To   int64 // ms: whole minutes, up to now
	Begin, End int64 // ms: the selected range; the end may be in the future
}

// Add adds a station with a range.
func (x *Selection) Add(s *station.Station, r calendar.Range) {
	a := Station{Station: s, Begin: r.Start, End: r.End}
	a.From, a.To = Minutes(r, x.Now)
	if len(x.Stations) == 0 || a.From < x.From {
		x.From = a.From
	}
	if len(x.Stations) == 0 || a.To > x.To {
		x.To = a.To
	}
	x.Stations = append(x.Stations, a)
}

// Minutes returns the whole minutes of a range before now, ms.
func Minutes(r calendar.Range, now int64) (from, to int64) {
	from, to = instant.FloorMinute(r.Start), min(r.End, now)
	return from, max(from, instant.FloorMinute(to))
}

// Production returns the stations for views of production: without energy meters, unless they were named (http-api.md
// section 2.2).
func (x *Selection) Production() []Station {
	return slices.DeleteFunc(slices.Clone(x.Stations), func(a Station) bool { return a.Monitor.MeterOnly && !x.Named })
}

// Captured is Production without stations that are only scheduled, unless they were named: they have no counts, and
// unknown is not zero.
func (x *Selection) Captured() []Station {
	return slices.DeleteFunc(x.Production(), func(a Station) bool { return a.Monitor.SchedulingOnly && !x.Named })
}

// Span returns the selected range of a plant's stations, or of all if plant is "", ms.
func (x *Selection) Span(plant string) (from, to int64) {
	if plant == "" || len(x.Stations) == 0 {
		return x.From, x.To
	}
	for i := range x.Stations {
		if a := &x.Stations[i]; a.Plant.Code == plant {
			if from == 0 || a.From < from {
				from = a.From
			}
			to = max(to, a.To)
		}
	}
	return from, to
}
