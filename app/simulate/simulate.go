// Package simulate simulates a plant (monitoring.md section 9): the signals of the machines of a manifest's stations,
// with realistic faults, and the actions of people. It also replays logs of signals recorded elsewhere.
//
// # Reproducible events
//
// A Generator reads no clock and has no state except caches. The course of a station's production day
// depends only on the manifest, the seed, the station's code and the day: jobs, breaks, stops, times without a
// connection. A machine's counters at a moment are a sum over the day, so any message can be generated without those
// before it. Events therefore returns the same events for a range however it is split and how often it is called, and
// the events of a station do not depend on the selection of other stations.
//
// Events are ordered by the time at which they are sent, which may differ from the time in the message: messages arrive
// late, in batches after a lost connection, or with the time of a drifting clock.
//
// # The content of a day
//
// Shifts come from the calendar. They have jobs with changeovers between: SKUs that may run at the station, at their
// rate. In a job the machine runs, slows down and stops; most stops are short and few are long. People start and end
// the schedules, take breaks, set the causes of stops, count by hand at stations without a machine, and do the due
// Tasks.
//
// A day starts with counters at zero, and every running job ends before the day's end, so days are independent of each
// other. A meter's reading counts from the first of the month.
//
// # Playing
//
// Player sends events to a service through its HTTP API, in step with a clock that may run up to ten thousand times as
// fast as real time.
package simulate

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"opsmon/app/engine/calendar"
)

// Durations in milliseconds.
const (
	second = int64(1000)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

// Event is a message of a machine or an action of people. Times are Unix ms.
type Event struct {
	Sent    int64 // when it is sent
	Station string
	Signal  Signal // empty for an action of people
	Act     *Act   // an action of people; nil: a message of a machine
	order   uint64 // order of the events of one moment
}

// Config has the settings of a Generator.
type Config struct {
	Seed uint64
	// Interval is the interval of a station's state messages, ms; 0: 10 s. Stations with detection by production send
	// their units when they are made, independent of it.
	Interval int64
	// IDs adds an ID to every message, so that duplicates count once. Without it only stations with a buffering gateway
	// send IDs. It costs the service an entry for each message.
	IDs bool
	// TrueClocks keeps the machines' clocks within the tolerance of the service: two minutes.
	TrueClocks bool
}

// Generator generates the events of a plant's stations. It is not safe for concurrent use.
type Generator struct {
	cfg   Config
	plant *Plant
	by    map[string]*Station
	days  map[dayKey]*stationDay
	used  map[monthKey][]float64 // kWh used by a station up to the start of each day of a month
}

type dayKey struct {
	station *Station
	day     calendar.Day
}

// daysKept limits the cache of days.
const daysKept = 4096

// New returns a Generator for a plant.
func New(p *Plant, cfg Config) *Generator {
	if cfg.Interval <= 0 {
		cfg.Interval = 10 * second
	}
	g := &Generator{cfg: cfg, plant: p, by: map[string]*Station{}, days: map[dayKey]*stationDay{}, used: map[monthKey][]float64{}}
	for _, s := range p.Stations {
		g.by[s.Code] = s
	}
	return g
}

// Stations returns the codes of all stations in the manifest's order.
func (g *Generator) Stations() []string {
	codes := make([]string, len(g.plant.Stations))
	for i, s := range g.plant.Stations {
		codes[i] = s.Code
	}
	return codes
}

// Events returns the events sent in [from, to) by some stations, or by all if none is named, in the order of sending.
// An unknown station is an error.
func (g *Generator) Events(stations []string, from, to int64) ([]Event, error) {
	if len(stations) == 0 {
		stations = g.Stations()
	}
	var list []Event
	for _, code := range stations {
		s := g.by[code]
		if s == nil {
			return nil, fmt.Errorf("the account has no station %q", code)
		}
		for d := s.calendar.ProductionDay(from); ; d++ {
			p := g.stationDay(s, d)
			if p.Start >= to {
				break
			}
			at := len(list)
			list = g.messages(list, p, max(from, p.Start), min(to, p.End))
			list = g.acts(list, p, from, to)
			for i := range list[at:] {
				list[at+i].Station = code
			}
		}
	}
	slices.SortStableFunc(list, compare)
	return list, nil
}

// compare orders events by the time of sending, then by station, then people before machines.
func compare(a, b Event) int {
	if c := cmp.Compare(a.Sent, b.Sent); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Station, b.Station); c != 0 {
		return c
	}
	if c := cmp.Compare(a.order, b.order); c != 0 {
		return c
	}
	return cmp.Compare(a.Signal.At, b.Signal.At)
}

// dice are random numbers that depend only on the seed and their subject, not on the order of calls.
type dice uint64

// newDice returns the dice for a seed and a name.
func newDice(seed uint64, name string) dice {
	h := fnv.New64a()
	h.Write([]byte(name)) // cannot fail
	return dice(seed).about(h.Sum64())
}

// about returns the dice for a subject within another one.
func (d dice) about(what uint64) dice {
	z := uint64(d) + 0x9e3779b97f4a7c15*(what+1)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return dice(z ^ z>>31)
}

// float returns a number in [0, 1).
func (d dice) float() float64 { return float64(uint64(d.about(0x5eed))>>11) / (1 << 53) }

// random is a sequence of random numbers.
type random struct {
	dice
	n uint64
}

func (r *random) next() float64 { r.n++; return r.about(r.n).float() }

func (r *random) within(low, high float64) float64 { return low + (high-low)*r.next() }

// chance returns true with a probability.
func (r *random) chance(p float64) bool { return r.next() < p }

// ms returns a whole number of milliseconds in [low, high).
func (r *random) ms(low, high int64) int64 { return low + int64(r.next()*float64(high-low)) }

// often returns a random time until an event with a mean interval, at least least, ms.
func (r *random) often(mean, least int64) int64 {
	return max(least, int64(-math.Log(1-r.next())*float64(mean)))
}

// pick returns a number in [0, n).
func (r *random) pick(n int) int { return min(n-1, int(r.next()*float64(n))) }
