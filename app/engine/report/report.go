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

// The longest ranges: of sums as long as they are stored, of what is read minute by minute a year.
const (
	LongestSums   = 11 * 366 * 24 * time.Hour
	LongestDetail = 366 * 24 * time.Hour
)

// Config is what New needs.
type Config struct {
	Floor       *floor.Floor
	Signals     *signal.Log
	MostResults int // of an answer of OEE or Energy; 0: 100,000
}

// Service computes figures. It may be used by many goroutines.
type Service struct{ cfg Config }

// New makes a Service.
func New(cfg Config) *Service {
	if cfg.MostResults == 0 {
		cfg.MostResults = 100_000
	}
	return &Service{cfg}
}

// Selection is the stations and the time that figures are about.
type Selection struct {
	Account  string
	Plan     *station.Plan // in force
	Stations []Station
	From, To int64 // ms: of all stations together; set by the caller when there are none
	Now      int64 // ms
	Named    bool  // the stations were chosen by their codes
	Grouped  bool  // a group was chosen by its code
}

// Station is a station with its selected time. A range in days has the days of the station's own plant.
type Station struct {
	*station.Station
	From, To   int64 // ms: whole minutes, up to now
	Begin, End int64 // ms: the range as it was chosen; the end may lie ahead
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

// Minutes returns the whole minutes of a range that are over at now, ms.
func Minutes(r calendar.Range, now int64) (from, to int64) {
	from, to = instant.FloorMinute(r.Start), min(r.End, now)
	return from, max(from, instant.FloorMinute(to))
}

// Production returns the stations that views of production show: energy meters are left out unless they were named
// (http-api.md section 2.2).
func (x *Selection) Production() []Station {
	return slices.DeleteFunc(slices.Clone(x.Stations), func(a Station) bool { return a.Monitor.MeterOnly && !x.Named })
}

// Captured is Production without stations that are only scheduled, unless they were named: nothing is counted there, and
// unknown is not zero.
func (x *Selection) Captured() []Station {
	return slices.DeleteFunc(x.Production(), func(a Station) bool { return a.Monitor.SchedulingOnly && !x.Named })
}

// Span returns the selected time of a plant's stations, or of all where plant is "", ms.
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
