package report

import (
	"context"
	"slices"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/history"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/instant"
)

// Resolution is the length of windows.
type Resolution uint8

// The resolutions.
const (
	ByMinute Resolution = iota
	ByHour
	ByDay   // production days
	ByShift // production days if the station has no shift pattern
)

// ParseResolution returns the resolution with a name; "": ByMinute.
func ParseResolution(name string) (Resolution, bool) {
	r, ok := map[string]Resolution{"": ByMinute, "minute": ByMinute, "hour": ByHour, "day": ByDay, "shift": ByShift}[name]
	return r, ok
}

// Window is the sum of a station's minutes in a range (monitoring.md section 3). Start, values at the end of a minute,
// and averages are those of the whole range. Issues are IDs within the account.
type Window struct {
	monitor.Window
	Station   string
	End       int64   // ms
	ShiftName *string // the name of the shift of the window; nil: not by shift
}

// span is the time range of a window.
type span struct {
	calendar.Range
	shift *string
}

// cut returns the windows of a range; it is not called for ByMinute.
func (r Resolution) cut(s *station.Station, from, to int64) []span {
	switch r {
	case ByHour:
		return spans(s.Calendar.Buckets(from, to, calendar.UnitHour))
	case ByShift:
		return shiftsOf(s, from, to)
	}
	return spans(s.Calendar.Buckets(from, to, calendar.UnitDay))
}

func spans(list []calendar.Range) []span {
	out := make([]span, len(list))
	for i, r := range list {
		out[i] = span{Range: r}
	}
	return out
}

// shiftsOf returns the shifts of a range. Without a pattern all time is one shift, which is returned day by day.
func shiftsOf(s *station.Station, from, to int64) []span {
	if s.Calendar.Always() {
		return spans(s.Calendar.Buckets(from, to, calendar.UnitDay))
	}
	var out []span
	for _, i := range s.Calendar.Shifts(from, to) {
		// A minute belongs to the shift in which it begins.
		r := calendar.Range{Start: max(from, instant.CeilMinute(i.Start)), End: min(to, instant.CeilMinute(i.End))}
		if r.Start < r.End {
			out = append(out, span{r, &i.Name})
		}
	}
	return out
}

// Windows are the windows of some stations, one station after the other. They are calculated on demand, because those
// of a thousand stations and a year would not fit into memory.
type Windows struct {
	service *Service
	account string
	list    []rows
}

// rows are the windows of one station.
type rows struct {
	station     *station.Station
	from, to    int64
	by          Resolution
	first, last int // of those in the range
}

func (x *rows) count() int { return x.last - x.first }

// part returns the windows [first, last).
func (x *rows) part(first, last int) rows {
	part := *x
	part.first, part.last = x.first+first, x.first+last
	return part
}

// stretch calculates the times of the windows.
func (x *rows) stretch() stretch {
	if x.by == ByMinute {
		return stretch{x.station, x.from + int64(x.first)*instant.MinuteMs, x.from + int64(x.last)*instant.MinuteMs, nil}
	}
	list := x.by.cut(x.station, x.from, x.to)[x.first:x.last]
	return stretch{x.station, list[0].Start, list[len(list)-1].End, list}
}

// stretch is a range of a station with its windows.
type stretch struct {
	station  *station.Station
	from, to int64
	spans    []span // nil: minutes
}

func (x *stretch) count() int {
	if x.spans != nil {
		return len(x.spans)
	}
	return int((x.to - x.from) / instant.MinuteMs)
}

// part returns the windows [first, last).
func (x *stretch) part(first, last int) stretch {
	if x.spans != nil {
		return stretch{x.station, x.spans[first].Start, x.spans[last-1].End, x.spans[first:last]}
	}
	return stretch{x.station, x.from + int64(first)*instant.MinuteMs, x.from + int64(last)*instant.MinuteMs, nil}
}

// Windows returns the windows of a selection's stations, from the start of each station's data. Energy meters are
// treated as in Production.
func (s *Service) Windows(x *Selection, by Resolution) (*Windows, error) {
	w := &Windows{service: s, account: x.Account}
	known := map[rowsOf]int{}
	for _, a := range x.Production() {
		since, err := s.cfg.Floor.Since(x.Account, a.Code)
		if err != nil {
			return nil, err
		}
		r := rows{station: a.Station, from: max(a.From, instant.CeilMinute(since)), to: a.To, by: by}
		if r.from >= r.to {
			continue
		}
		if r.last = int((r.to - r.from) / instant.MinuteMs); by != ByMinute {
			k := rowsOf{a.Calendar, r.from, r.to}
			n, counted := known[k]
			if r.last = n; !counted {
				r.last = len(by.cut(a.Station, r.from, r.to))
				known[k] = r.last
			}
		}
		if r.last > 0 {
			w.list = append(w.list, r)
		}
	}
	return w, nil
}

// rowsOf caches the number of windows of a range: stations that share a calendar have the same.
type rowsOf struct {
	calendar *calendar.Calendar
	from, to int64
}

// Len returns the number of windows.
func (w *Windows) Len() int {
	n := 0
	for i := range w.list {
		n += w.list[i].count()
	}
	return n
}

// Page returns at most limit windows after the first skip.
func (w *Windows) Page(skip, limit int) *Windows {
	out := &Windows{service: w.service, account: w.account}
	for i := range w.list {
		n := w.list[i].count()
		first, last := min(skip, n), min(n, skip+limit)
		if skip -= first; first < last {
			out.list = append(out.list, w.list[i].part(first, last))
			limit -= last - first
		}
	}
	return out
}

// Each calculates the windows one by one, reading about a day of a station at a time. Errors: the store's, and those of
// use.
func (w *Windows) Each(ctx context.Context, use func(*Window) error) error {
	f := w.service.cfg.Floor
	timeline, err := f.Timeline(w.account)
	if err != nil {
		return err
	}
	for i := range w.list {
		x := w.list[i].stretch()
		for n, done := x.count(), 0; done < n; {
			if err := ctx.Err(); err != nil {
				return err
			}
			more := done + 1
			if x.spans == nil {
				more = min(n, done+24*60)
			}
			for ; more < n && x.spans != nil && x.spans[more].End-x.spans[done].Start <= instant.DayMs; more++ {
			}
			part := x.part(done, more)
			d, err := f.Detail(w.account, x.station.Code, part.from, part.to)
			if err != nil {
				return err
			}
			if err := part.each(d, timeline, use); err != nil {
				return err
			}
			done = more
		}
	}
	return nil
}

// each calculates the windows from the detail of a range.
func (x *stretch) each(d *floor.Detail, timeline *station.Timeline, use func(*Window) error) error {
	all := monitor.Windows(d.Segments, d.Minutes)
	for i := range x.count() {
		r := span{Range: calendar.Range{Start: x.from + int64(i)*instant.MinuteMs, End: x.from + int64(i+1)*instant.MinuteMs}}
		if x.spans != nil {
			r = x.spans[i]
		}
		w := &Window{Station: x.station.Code, End: r.End, ShiftName: r.shift}
		for at := r.Start; at < r.End; at += instant.MinuteMs {
			for len(all) > 0 && all[0].Start < at {
				all = all[1:]
			}
			if len(all) > 0 && all[0].Start == at {
				w.add(&all[0])
			} else {
				w.Times[monitor.Unscheduled][monitor.NoData] += instant.MinuteMs // time before the station's data
			}
		}
		w.Start = r.Start
		w.measured(history.Cut(monitor.Outputs{Minutes: d.Minutes}, r.Start, r.End).Minutes)
		for k, id := range w.Issues {
			w.Issues[k] = x.station.Code + "." + id
		}
		var err error
		if w.Revision, err = timeline.Revision(r.End - 1); err != nil {
			return err
		}
		if err := use(w); err != nil {
			return err
		}
	}
	return nil
}

// add adds a minute; minutes must come in order.
func (x *Window) add(w *monitor.Window) {
	x.Times.Add(&w.Times)
	if w.DowntimeSince != 0 {
		x.DowntimeSince = w.DowntimeSince
	}
	x.Good += w.Good
	x.Bad += w.Bad
	x.Outside.Add(&w.Outside)
	x.KWh += w.KWh
	x.KWhMs += w.KWhMs
	x.HasRate = x.HasRate || w.HasRate
	x.Ideal += w.Ideal
	x.Target += w.Target
	x.Alive = x.Alive || w.Alive
	x.SpeedTarget, x.SKU = w.SpeedTarget, w.SKU
	for _, l := range []struct {
		into *[]string
		from []string
	}{{&x.Schedules, w.Schedules}, {&x.Reasons, w.Reasons}, {&x.Issues, w.Issues}, {&x.ErrorCodes, w.ErrorCodes}} {
		for _, s := range l.from {
			if !slices.Contains(*l.into, s) {
				*l.into = append(*l.into, s)
			}
		}
	}
}

// measured averages the speed and the signal strength of minutes, each over the time in which it was known.
func (x *Window) measured(minutes []monitor.Minute) {
	speed, speedMs, rssi, rssiCount := 0.0, int64(0), 0.0, int64(0)
	for i := range minutes {
		m := &minutes[i]
		speed += m.SpeedSum
		speedMs += m.SpeedMs
		rssi += m.RSSISum
		rssiCount += m.RSSICount
	}
	if x.HasSpeed = speedMs > 0; x.HasSpeed {
		x.SpeedAvg = speed / float64(speedMs)
	}
	if x.HasRSSI = rssiCount > 0; x.HasRSSI {
		x.RSSIAvg = rssi / float64(rssiCount)
	}
}
