package monitor

import (
	"slices"

	"opsmon/app/instant"
)

// Times is the time of a range by Kind and Class, ms. The sum of all is the whole range.
type Times [kinds][classes]int64

// Add adds o to t.
func (t *Times) Add(o *Times) {
	for k := range t {
		for c := range t[k] {
			t[k][c] += o[k][c]
		}
	}
}

// Of returns the time of one kind in all classes.
func (t *Times) Of(k Kind) int64 {
	sum := int64(0)
	for _, ms := range t[k] {
		sum += ms
	}
	return sum
}

// Was returns the time of one class of all kinds.
func (t *Times) Was(c Class) int64 {
	sum := int64(0)
	for k := range t {
		sum += t[k][c]
	}
	return sum
}

// Total returns the sum of all classes.
func (t *Times) Total() int64 {
	sum := int64(0)
	for c := range classes {
		sum += t.Was(c)
	}
	return sum
}

// Shift returns the time in shift.
func (t *Times) Shift() int64 { return t.Total() - t.Was(OutOfShift) }

// Window is a station's activity in one whole minute (monitoring.md section 3). Units and kWh are millionths.
type Window struct {
	Start int64 // it ends a minute later
	Times
	DowntimeSince    int64 // start of the last downtime in the minute; 0: none
	Good, Bad, Other int64
	Outside                  // of Good and Bad
	HasRate          bool    // if false, ideal and target are unknown
	Ideal, Target    float64 // units due in known scheduled production; Target without downtime
	HasSpeed         bool
	SpeedAvg         float64 // over the time with a known speed
	SpeedTarget      float64 // at the end of the minute; 0: none
	KWh              int64
	// the time that KWh covers, which may begin before the window; if it and KWh are 0, the energy is unknown
	KWhMs              int64
	HasRSSI            bool
	RSSIAvg            float64
	Alive              bool // the station was known in a part of the minute
	Schedules, Reasons []string
	Issues, ErrorCodes []string
	SKU                string // at the end of the minute
	Revision           int64  // manifest revision at the end of the minute
}

// Windows returns the windows of the whole minutes covered by the segments, in order. Segments and minutes must be of
// one station and ordered by time, as in Outputs and View.
func Windows(segments []Segment, minutes []Minute) []Window {
	if len(segments) == 0 {
		return nil
	}
	first := instant.CeilMinute(segments[0].Start)
	end := segments[len(segments)-1].End
	out := make([]Window, 0, max(0, (end-first)/instant.MinuteMs))
	for at := first; at+instant.MinuteMs <= end; at += instant.MinuteMs {
		w := Window{Start: at}
		for segments[0].End <= at {
			segments = segments[1:]
		}
		for i := 0; i < len(segments) && segments[i].Start < at+instant.MinuteMs; i++ {
			w.add(&segments[i])
		}
		for len(minutes) > 0 && minutes[0].Start < at {
			minutes = minutes[1:]
		}
		if len(minutes) > 0 && minutes[0].Start == at {
			w.measured(&minutes[0])
		}
		out = append(out, w)
	}
	return out
}

// add adds the part of a segment in the window. Segments must come in order.
func (w *Window) add(g *Segment) {
	x, class := g.Ctx, g.Class()
	ms := min(g.End, w.Start+instant.MinuteMs) - max(g.Start, w.Start)
	w.Times[x.Kind][class] += ms
	w.Alive = w.Alive || g.Known
	if x.rated() {
		w.HasRate = true
		ideal, target := g.due(class, ms)
		w.Ideal += ideal
		w.Target += target
	}
	include(&w.Schedules, x.Production)
	include(&w.Schedules, x.NonProduction)
	if x.Kind == NonProduction {
		include(&w.Reasons, x.Reason)
	}
	switch {
	case class == Downtime && g.Manual != 0:
		w.DowntimeSince = g.Manual
		include(&w.Issues, IssueID(IssueManual, g.Manual))
		include(&w.Reasons, g.Cause)
	case class == Downtime:
		w.DowntimeSince = g.Stop
		include(&w.Issues, IssueID(IssueStop, g.Stop))
		include(&w.Reasons, g.Cause)
	case class == Slow:
		include(&w.Issues, IssueID(IssueSlow, g.Slow))
	}
	w.SpeedTarget, w.SKU, w.Revision = x.LineSpeedTarget, x.SKU, x.Revision
}

// rated reports whether units are due by a rate.
func (x *Context) rated() bool { return x.UnitsPerMinute > 0 && x.Kind == Production }

// due returns the units due in ms of the segment, whose context has a rate.
func (g *Segment) due(class Class, ms int64) (ideal, target float64) {
	due := g.Ctx.UnitsPerMinute * float64(ms) / instant.MinuteMs
	switch class {
	case NoData:
		return 0, 0
	case Downtime:
		return due, 0
	}
	return due, due
}

// measured adds the measurements of the window's minute.
func (w *Window) measured(m *Minute) {
	for i := range m.Parts {
		p := &m.Parts[i]
		w.Good, w.Bad, w.Other = add(w.Good, p.Good), add(w.Bad, p.Bad), add(w.Other, p.Other)
		w.Outside.Part(p)
		w.KWh, w.KWhMs = add(w.KWh, p.KWh), add(w.KWhMs, p.KWhMs)
	}
	if m.SpeedMs > 0 {
		w.HasSpeed, w.SpeedAvg = true, m.SpeedSum/float64(m.SpeedMs)
	}
	if m.RSSICount > 0 {
		w.HasRSSI, w.RSSIAvg = true, m.RSSISum/float64(m.RSSICount)
	}
	w.ErrorCodes = m.ErrorCodes
}

// include adds a code to a list of distinct codes.
func include(list *[]string, code string) {
	if code != "" && !slices.Contains(*list, code) {
		*list = append(*list, code)
	}
}
