// Package simulate plays a plant (monitoring.md section 9): what the machines of a manifest's stations send, with the
// faults that real ones have, and what people do beside them. It also feeds a log of signals that was kept elsewhere.
//
// # The same again
//
// A Generator reads no clock and keeps nothing but what it can compute again. What happens at a station in a production
// day, its plot, follows from the manifest, the seed, the station's code and the day alone: the jobs, the breaks, the
// stops, the times without radio. What the machine has counted at a moment is a sum over the plot, so that any message
// can be made without those before it. So Events gives the same events for a range however it is cut, as often as it is
// asked, and one station's events do not change when others are left out.
//
// Events are in order of the time at which they are sent, which is not always the time that they tell: messages arrive
// late, in batches after a radio was dead, or with the time of a clock that drifts.
//
// # What a day holds
//
// Shifts come from the calendar. In them jobs follow each other with changeovers between: SKUs that may run at the
// station, at their rate. In a job the machine runs, slows down and stops; most stops are short and few are long. People
// start and end the schedules, take breaks, say what caused the stops, count by hand where there is no machine to do it,
// and do the tasks that are due.
//
// A day starts with counters at zero, and every job that runs when it ends is ended by then, so that days need nothing of
// each other. A meter's reading counts from the first of the month.
//
// # Playing it
//
// Player sends events to a service through its HTTP API, in step with a clock that may run up to ten thousand times as
// fast as the real one.
package simulate

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"opsmon/app/engine/calendar"
)

// Lengths of time in milliseconds.
const (
	second = int64(1000)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

// Event is something that reaches the service: a message of a machine or something that people do. Moments are
// milliseconds since 1970 in UTC.
type Event struct {
	Sent    int64 // when it is sent
	Station string
	Signal  Signal // what a machine tells; without a value it is none
	Act     *Act   // what people do; nil: a machine tells something
	order   uint64 // among events of one moment
}

// Config is what New needs.
type Config struct {
	Seed uint64
	// Interval is how often a station tells how it is, ms; 0: every 10 s. Stations whose stops are found by missing units
	// tell them as they come, whatever this says.
	Interval int64
	// IDs gives every message an id, so that one which is sent twice counts once. Without it only stations with a gateway
	// that keeps messages do so. It costs the service an entry for each message.
	IDs bool
	// TrueClocks keeps the clocks of machines within what a service believes: two minutes.
	TrueClocks bool
}

// Generator tells what happens at the stations of a plant. It must not be used by several goroutines at once.
type Generator struct {
	cfg   Config
	plant *Plant
	by    map[string]*Station
	plots map[plotKey]*plot
	used  map[monthKey][]float64 // kWh that a station has used by the start of each day of a month
}

type plotKey struct {
	station *Station
	day     calendar.Day
}

// plotsKept is how many plots are kept before they are computed again when they are needed.
const plotsKept = 4096

// New makes a generator for a plant.
func New(p *Plant, cfg Config) *Generator {
	if cfg.Interval <= 0 {
		cfg.Interval = 10 * second
	}
	g := &Generator{cfg: cfg, plant: p, by: map[string]*Station{}, plots: map[plotKey]*plot{}, used: map[monthKey][]float64{}}
	for _, s := range p.Stations {
		g.by[s.Code] = s
	}
	return g
}

// Stations returns the codes of all stations, in the manifest's order.
func (g *Generator) Stations() []string {
	codes := make([]string, len(g.plant.Stations))
	for i, s := range g.plant.Stations {
		codes[i] = s.Code
	}
	return codes
}

// Events returns what is sent from [from, to) for some stations, or all when none is named, in the order in which it is
// sent. An unknown station is an error.
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
			p := g.plot(s, d)
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

// compare orders events by the time at which they are sent; those of one moment by station, and then people before
// machines.
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

// dice give numbers by what they are about: the same seed and the same question give the same answer, in whatever order
// the questions come.
type dice uint64

// newDice makes the dice of a seed and a name.
func newDice(seed uint64, name string) dice {
	h := fnv.New64a()
	h.Write([]byte(name)) // it never fails
	return dice(seed).about(h.Sum64())
}

// about returns the dice for a question within what these are about.
func (d dice) about(what uint64) dice {
	z := uint64(d) + 0x9e3779b97f4a7c15*(what+1)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return dice(z ^ z>>31)
}

// float returns a number in [0, 1).
func (d dice) float() float64 { return float64(uint64(d.about(0x5eed))>>11) / (1 << 53) }

// roll gives one number after another.
type roll struct {
	dice
	n uint64
}

func (r *roll) next() float64 { r.n++; return r.about(r.n).float() }

func (r *roll) within(low, high float64) float64 { return low + (high-low)*r.next() }

// chance is true with a probability.
func (r *roll) chance(p float64) bool { return r.next() < p }

// ms returns a whole number of milliseconds in [low, high).
func (r *roll) ms(low, high int64) int64 { return low + int64(r.next()*float64(high-low)) }

// often returns a time until something happens that happens once in mean ms, at least least.
func (r *roll) often(mean, least int64) int64 {
	return max(least, int64(-math.Log(1-r.next())*float64(mean)))
}

// pick returns a number in [0, n).
func (r *roll) pick(n int) int { return min(n-1, int(r.next()*float64(n))) }
