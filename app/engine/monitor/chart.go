package monitor

// Chart aggregates a station's activity into rows of equal length, runs and spells, for drawing. Make one with
// NewChart. It is not safe for concurrent use.
type Chart struct {
	From, To, Step int64 // ms; the last row is shorter where To cuts it
	Rows           []ChartRow
	Runs           []Run // in order, to the millisecond
	Spells         []Spell
	// TooManyRuns and TooManySpells report that the limit was exceeded; no runs or spells are then returned.
	TooManyRuns, TooManySpells bool
	most                       int
}

// ChartRow is a station's activity in one row. Units and kWh are millionths.
type ChartRow struct {
	Times
	Good, Bad     int64
	HasRate       bool // if false, ideal and target are unknown
	Ideal, Target float64
	SpeedSum      float64 // shown speed x ms, over the time with a known speed
	SpeedMs       int64
	SpeedTarget   float64 // at the end of the row; 0: none
	KWh           int64
	KWhMs         int64 // the time that KWh covers; if it and KWh are 0, the energy is unknown
}

// RunTime returns the known time of scheduled production without downtime, ms.
func (r *ChartRow) RunTime() int64 {
	return r.Of(Production) - r.Times[Production][NoData] - r.Times[Production][Downtime]
}

// Speed returns the average of the shown speed over the time with a known speed; false if it was never known.
func (r *ChartRow) Speed() (float64, bool) { return r.SpeedSum / float64(r.SpeedMs), r.SpeedMs > 0 }

// Energy returns the energy in kWh; false if it is unknown.
func (r *ChartRow) Energy() (kWh float64, known bool) {
	return float64(r.KWh) / Micro, r.KWhMs > 0 || r.KWh != 0
}

// Run is a range of time of one class, with one plan, in one issue with one cause.
type Run struct {
	Start, End int64
	Class      Class
	Kind       Kind
	Type       IssueType // of its issue; 0: none
	Issue      int64     // start of its issue
	Cause      string    // reason code; "": none
	Excluded   bool      // excluded from figures
}

// Spell is a range of one shift with the same schedules.
type Spell struct {
	Start, End            int64
	Shift                 string // name; "" outside of shifts and without a pattern
	Production, SKU       string
	NonProduction, Reason string
}

// NewChart returns a Chart of [from, to) with a row for each step, ms. from and step are whole minutes. most limits the
// runs and the spells.
func NewChart(from, to, step int64, most int) *Chart {
	return &Chart{From: from, To: to, Step: step, most: most, Rows: make([]ChartRow, max(0, to-from+step-1)/step)}
}

// Add adds segments and minutes, which must follow those added before in order of time. Anything outside of the chart
// is ignored.
func (c *Chart) Add(segments []Segment, minutes []Minute) {
	for i := range segments {
		c.segment(&segments[i])
	}
	for i := range minutes {
		if m := &minutes[i]; m.Start >= c.From && m.Start < c.To {
			c.Rows[(m.Start-c.From)/c.Step].measured(m)
		}
	}
}

// Close marks unknown time as time without data, after everything has been added.
func (c *Chart) Close() {
	for i := range c.Rows {
		r, start := &c.Rows[i], c.From+int64(i)*c.Step
		r.Times[Unscheduled][NoData] += min(c.Step, c.To-start) - r.Total()
	}
}

func (c *Chart) segment(g *Segment) {
	start, end := max(g.Start, c.From), min(g.End, c.To)
	if start >= end {
		return
	}
	class := g.Class()
	for at := start; at < end; {
		i := (at - c.From) / c.Step
		stop := min(end, c.From+(i+1)*c.Step)
		c.Rows[i].add(g, class, stop-at)
		at = stop
	}
	c.run(g, class, start, end)
	c.spell(g.Ctx, start, end)
}

func (r *ChartRow) add(g *Segment, class Class, ms int64) {
	r.Times[g.Ctx.Kind][class] += ms
	if g.Ctx.rated() {
		r.HasRate = true
		ideal, target := g.due(class, ms)
		r.Ideal += ideal
		r.Target += target
	}
	r.SpeedTarget = g.Ctx.LineSpeedTarget
}

func (r *ChartRow) measured(m *Minute) {
	for i := range m.Parts {
		p := &m.Parts[i]
		r.Good, r.Bad = add(r.Good, p.Good), add(r.Bad, p.Bad)
		r.KWh, r.KWhMs = add(r.KWh, p.KWh), add(r.KWhMs, p.KWhMs)
	}
	r.SpeedSum += m.SpeedSum
	r.SpeedMs += m.SpeedMs
}

// run appends to the runs.
func (c *Chart) run(g *Segment, class Class, start, end int64) {
	if c.TooManyRuns {
		return
	}
	r := Run{Start: start, End: end, Class: class, Kind: g.Ctx.Kind, Cause: g.Cause, Excluded: g.Excluded}
	switch {
	case class == Downtime && g.Manual != 0:
		r.Type, r.Issue = IssueManual, g.Manual
	case class == Downtime:
		r.Type, r.Issue = IssueStop, g.Stop
	case class == Slow:
		r.Type, r.Issue = IssueSlow, g.Slow
	default:
		r.Cause = ""
	}
	if n := len(c.Runs); n > 0 && c.Runs[n-1].End == start {
		same := r
		same.Start, same.End = c.Runs[n-1].Start, c.Runs[n-1].End
		if same == c.Runs[n-1] {
			c.Runs[n-1].End = end
			return
		}
	}
	if c.Runs = append(c.Runs, r); len(c.Runs) > c.most {
		c.Runs, c.TooManyRuns = nil, true
	}
}

// spell appends to the spells.
func (c *Chart) spell(x *Context, start, end int64) {
	if c.TooManySpells {
		return
	}
	s := Spell{start, end, x.Shift.Name, x.Production, x.SKU, x.NonProduction, x.Reason}
	if n := len(c.Spells); n > 0 && c.Spells[n-1].End == start {
		same := s
		same.Start, same.End = c.Spells[n-1].Start, c.Spells[n-1].End
		if same == c.Spells[n-1] {
			c.Spells[n-1].End = end
			return
		}
	}
	if c.Spells = append(c.Spells, s); len(c.Spells) > c.most {
		c.Spells, c.TooManySpells = nil, true
	}
}
