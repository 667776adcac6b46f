package task

import (
	"cmp"
	"slices"
	"time"

	"opsmon/app/account/manifest"
	"opsmon/app/cron"
	"opsmon/app/engine/station"
)

// Trigger is what makes a Task due (http-api.md section 2.3).
type Trigger string

const (
	OnSchedule Trigger = "schedule"
	OnCron     Trigger = "cron"
	OnDemand   Trigger = "on_demand"
)

// maxAsks limits the Tasks of lists at one station.
const maxAsks = 1000

// ask is one Task of one list, as configured at a station.
type ask struct {
	text    Text
	pattern cron.Pattern
	before  int64 // ms that it is pending before a fire; 0: since the previous fire
	zone    *time.Location
	timer   timer
}

// timer identifies a schedule of fires: asks with equal timers are due at the same times.
type timer struct {
	pattern string
	before  int64
}

// asksOf returns the configured Tasks of a station in the order of lists and Tasks; empty if enableTasks is off.
func asksOf(s *station.Station) []ask {
	if on, _ := s.Flag(flag); !on {
		return nil
	}
	return listed(s)
}

// hasTasks reports whether a station can have Tasks. An archived station and an energy meter, which nobody works at,
// cannot.
func hasTasks(s *station.Station) bool { return !s.Archived && !s.Monitor.MeterOnly }

// listed returns the Tasks of a station's lists in their order, whether or not enableTasks is on.
func listed(s *station.Station) (asks []ask) {
	if !hasTasks(s) {
		return nil
	}
	for i := range s.TaskLists {
		l := &s.TaskLists[i]
		for j := range l.Tasks {
			t := &l.Tasks[j]
			trigger := l.Trigger
			if trigger == nil {
				trigger = t.Trigger
			}
			a, ok := newAsk(textOf(l, t), trigger, s.Zone)
			if !ok {
				continue
			}
			if len(asks) == maxAsks {
				return asks
			}
			asks = append(asks, a)
		}
	}
	return asks
}

// textOf returns the texts of a Task in a list; l is nil for a Task of a SKU.
func textOf(l *manifest.TaskListView, t *manifest.TaskView) Text {
	text := Text{TaskCode: t.Code, Title: t.Title, RequireNotes: t.RequireNotes, Order: t.Order.Float()}
	if t.Description != nil {
		text.Description = *t.Description
	}
	if l != nil {
		text.ListCode, text.ListName = l.Code, l.Name
	}
	return text
}

func newAsk(text Text, trigger *manifest.Trigger, zone *time.Location) (a ask, ok bool) {
	a = ask{text: text, zone: zone}
	a.text.Trigger = OnDemand
	if trigger == nil {
		return a, true
	}
	if a.text.Trigger = Trigger(trigger.Type); a.text.Trigger != OnCron {
		return a, true
	}
	var err error
	if a.pattern, err = cron.Parse(trigger.Pattern); err != nil {
		return a, false // the manifest's validation refuses it
	}
	a.before = trigger.AvailableBeforeDeadlineMinutes.Int() * time.Minute.Milliseconds()
	a.timer = timer{trigger.Pattern, a.before}
	return a, true
}

// window is the time in which a Task with a cron trigger is pending, ms.
type window struct{ opens, deadline int64 }

// windowAt returns the window with the first deadline after a moment, ms. It may not be open yet. It returns false if
// the pattern has no further fire.
func (a *ask) windowAt(now int64) (w window, ok bool) {
	next := a.pattern.Next(time.UnixMilli(now), a.zone)
	if next.IsZero() {
		return window{}, false
	}
	return a.windowOf(next.UnixMilli()), true
}

// windowOf returns the window that ends with a fire.
func (a *ask) windowOf(fire int64) window {
	w := window{fire - a.before, fire}
	if a.before == 0 {
		if last := a.pattern.Last(time.UnixMilli(fire-1), a.zone); !last.IsZero() {
			w.opens = last.UnixMilli()
		}
	}
	return w
}

// fires reports whether the pattern fires at a moment.
func (a *ask) fires(at int64) bool {
	return a.pattern.Next(time.UnixMilli(at-1), a.zone).UnixMilli() == at
}

// latest returns the newest times of the pattern in (from, to], ms, in order, and at most as many as most. cut reports
// whether there are more. Its cost depends on most only, not on how long ago from is.
func (a *ask) latest(from, to int64, most int) (fires []int64, cut bool) {
	for back := time.Hour.Milliseconds(); ; back *= 4 {
		start := max(from, to-back)
		fires = fires[:0]
		for at := a.pattern.Next(time.UnixMilli(start), a.zone); !at.IsZero() && at.UnixMilli() <= to; at = a.pattern.Next(at, a.zone) {
			fires = append(fires, at.UnixMilli())
		}
		if len(fires) > most {
			return fires[len(fires)-most:], true
		}
		if start == from {
			return fires, false
		}
	}
}

// period is a range of time, (from, to], in which a station's configuration did not change.
type period struct {
	from, to int64 // ms
	asks     []ask
}

// due is a Task whose deadline has passed.
type due struct {
	ask *ask
	window
}

// Limits of the Tasks that are created late, after a pause of the service.
const (
	maxBack      = 31 * 24 * time.Hour
	maxFires     = 1000 // of one pattern in one period
	maxDue       = 5000 // of one station
	maxRevisions = 20
)

// passed returns the Tasks with a deadline in the periods, in order. If there are too many, it returns the newest, and
// cut is true. The periods must be in order and must not overlap.
func passed(periods []period) (list []due, cut bool) {
	for _, p := range periods {
		windows := map[timer][]window{}
		for i := range p.asks {
			a := &p.asks[i]
			if a.text.Trigger != OnCron {
				continue
			}
			of, found := windows[a.timer]
			if !found {
				fires, more := a.latest(p.from, p.to, maxFires)
				cut = cut || more
				for _, fire := range fires {
					of = append(of, a.windowOf(fire))
				}
				windows[a.timer] = of
			}
			for _, w := range of {
				list = append(list, due{a, w})
			}
		}
	}
	slices.SortStableFunc(list, func(x, y due) int { return cmp.Compare(x.deadline, y.deadline) })
	if n := len(list); n > maxDue {
		return list[n-maxDue:], true
	}
	return list, cut
}
