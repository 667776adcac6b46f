package simulate

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// ActKind is the kind of an action by people.
type ActKind uint8

const (
	Plan    ActKind = iota + 1 // enter a schedule
	Start                      // start a schedule
	End                        // end a schedule
	SignOn                     // set the operator of the station
	Count                      // enter counts by hand
	Reject                     // reject good units
	Cause                      // set the cause of a stop
	DoTasks                    // do the pending Tasks
	Walk                       // start a Task list on demand
	Halt                       // begin a manual downtime
	Resume                     // end a manual downtime
)

// Act is an action of people. Which fields are used depends on Kind.
type Act struct {
	Kind     ActKind
	At       int64     // when it takes effect, which may be before it is sent
	Schedule *Schedule // Plan, Start, End, Count, Reject
	From, To int64     // Cause: the stop
	Reason   string    // Cause, Halt
	Good     float64   // Count
	Bad      float64   // Count, Reject
	Initials string
	List     string // Walk
	Luck     float64
}

// Schedule is a schedule as people enter it.
type Schedule struct {
	Ref          string // the work order, which identifies it
	SKU          string // of a production schedule
	Reason       string // of a non-production one
	PlannedStart int64
	PlannedEnd   int64   // 0: not planned
	Quantity     float64 // units; 0: not planned
	Quick        bool    // started without having been planned
	AutoEnd      bool    // ends with its quantity
	start, end   int64   // actual times
}

// acts appends the actions of people at a station in [from, to) of the day.
func (g *Generator) acts(list []Event, p *stationDay, from, to int64) []Event {
	if p.station.meterOnly {
		return list
	}
	if !p.peopled {
		p.peopled = true
		p.crew(&random{dice: p.dice.about(2)})
		next := g.stationDay(p.station, p.day+1)
		for i := range next.jobs { // plan tomorrow's schedules today
			if s := next.schedule(i); !s.Quick {
				p.act(p.Start+9*hour+int64(i)*7*second, Act{Kind: Plan, Schedule: s})
			}
		}
		slices.SortStableFunc(p.people, func(a, b Event) int { return cmp.Compare(a.Sent, b.Sent) })
		for i := range p.people {
			p.people[i].order = uint64(i)
		}
	}
	first := sort.Search(len(p.people), func(i int) bool { return p.people[i].Sent >= from })
	for _, e := range p.people[first:] {
		if e.Sent >= to {
			break
		}
		list = append(list, e)
	}
	return list
}

// Underway returns the actions before a moment that still matter then: planned schedules, running schedules (started at
// that moment) and operators. With them a simulation can start at any moment.
func (g *Generator) Underway(stations []string, at int64) ([]Event, error) {
	before, err := g.Events(stations, at-2*day, at)
	if err != nil {
		return nil, err
	}
	ended := map[string]bool{}
	var list []Event
	for _, e := range slices.Backward(before) {
		if e.Act == nil {
			continue
		}
		switch s := e.Act.Schedule; e.Act.Kind {
		case End:
			ended[s.Ref] = true
			continue
		case Plan:
			if s.end <= at {
				continue
			}
		case Start:
			if ended[s.Ref] {
				continue
			}
		case SignOn:
		default:
			continue
		}
		act := *e.Act
		act.At = at
		e.Sent, e.Act = at, &act
		list = append(list, e)
	}
	slices.Reverse(list)
	return list, nil
}

func (p *stationDay) act(sent int64, a Act) {
	if a.At == 0 {
		a.At = sent
	}
	if sent >= p.Start && sent < p.End {
		a.Luck = p.dice.about(uint64(sent)).about(uint64(a.Kind)).float()
		p.people = append(p.people, Event{Sent: sent, Station: p.station.Code, Act: &a})
	}
}

// schedule returns a job as people enter it, always the same object.
func (p *stationDay) schedule(i int) *Schedule {
	j := &p.jobs[i]
	if j.entered == nil {
		j.entered = &Schedule{
			Ref: j.ref, PlannedStart: j.plannedStart, PlannedEnd: j.plannedEnd, Quantity: j.quantity, Quick: j.quick,
			AutoEnd: j.endsByQuantity, start: j.start, end: j.end,
		}
		if j.sku != nil {
			j.entered.SKU = j.sku.code
		}
	}
	return j.entered
}

// crew adds the actions of people in the day.
func (p *stationDay) crew(r *random) {
	s := p.station
	who := initials(r)
	for _, shift := range p.shifts {
		who = initials(r)
		p.act(shift.Start+r.ms(20*second, 4*minute), Act{Kind: SignOn, Initials: who})
		for t := shift.Start + r.ms(20*minute, 90*minute); s.tasks && t < shift.End; t += r.ms(50*minute, 100*minute) {
			p.act(t, Act{Kind: DoTasks, Initials: who})
		}
	}
	for i := range p.jobs {
		if p.jobs[i].sku != nil {
			p.runJob(i, r)
		}
	}
	for i := range p.pauses {
		b := &p.pauses[i]
		sched := &Schedule{Ref: b.ref, Reason: b.reason, PlannedStart: b.start, PlannedEnd: b.end, Quick: s.quick, start: b.start, end: b.end}
		who := initials(r)
		p.act(b.start, Act{Kind: Start, Schedule: sched, Initials: who})
		p.act(b.end, Act{Kind: End, Schedule: sched, Initials: who})
	}
	if !s.schedulingOnly {
		p.explain(r)
	}
	if len(s.byHand) > 0 && len(p.shifts) > 0 && r.chance(0.25) {
		p.act(p.shifts[0].Start+r.ms(30*minute, 3*hour), Act{Kind: Walk, List: s.byHand[r.pick(len(s.byHand))], Initials: who})
	}
}

// runJob starts and ends a production schedule, and enters counts if machines do not.
func (p *stationDay) runJob(i int, r *random) {
	s, j, sched := p.station, &p.jobs[i], p.schedule(i)
	who := initials(r)
	p.act(j.start, Act{Kind: Start, Schedule: sched, Initials: who})
	p.act(j.end, Act{Kind: End, Schedule: sched, Initials: who})
	if s.manualProduction {
		good, bad := p.counted(j.start)
		for t := j.start + hour; ; t += hour {
			t = min(t, j.end-5*second)
			g, b := p.counted(t)
			units := j.sku.perCycle
			if g-good+b-bad > 0 {
				p.act(t, Act{Kind: Count, Schedule: sched, Good: (g - good) * units, Bad: (b - bad) * units, Initials: who})
			}
			if good, bad = g, b; t == j.end-5*second {
				break
			}
		}
	}
	if at := j.start + (j.end-j.start)*7/10; s.reject && r.chance(0.6) && !j.endsByQuantity {
		p.act(at, Act{Kind: Reject, Schedule: sched, Bad: 1 + math.Floor(4*r.next()), Initials: who})
	}
}

// explain sets the causes of the stops that the service should have found. Some get no cause.
func (p *stationDay) explain(r *random) {
	for i := range p.spells {
		sp := &p.spells[i]
		if sp.activity != stop || sp.cause == "" || sp.code == sp.cause {
			continue
		}
		if length := sp.end - sp.start; length < p.station.registered(p.jobs[sp.job].sku) {
			continue
		}
		if length := sp.end - sp.start; p.station.manualDowntime && length > 8*minute && r.chance(0.2) {
			who := initials(r)
			p.act(sp.start+r.ms(20*second, 90*second), Act{Kind: Halt, Reason: sp.cause, Initials: who})
			p.act(sp.end-r.ms(second, 20*second), Act{Kind: Resume, Initials: who})
			continue
		}
		sent := sp.end + r.ms(20*second, 12*minute)
		p.act(sent, Act{Kind: Cause, From: sp.start, To: sp.end, Reason: sp.cause, Initials: initials(r)})
	}
}

// registered returns the shortest duration of a stop that the service finds, ms.
func (s *Station) registered(k *sku) int64 {
	switch {
	case s.downtime == "off":
		return day
	case s.downtime == "production" && k != nil && k.gap > 0:
		return k.gap + minute
	}
	return s.threshold + minute
}

// initials returns three random letters.
func initials(r *random) string {
	const letters = "ABDEFGHJKLMNPRSTVW"
	var b [3]byte
	for i := range b {
		b[i] = letters[r.pick(len(letters))]
	}
	return string(b[:])
}
