package figures

import (
	"math"
	"net/http"
	"strconv"

	"opsmon/app/engine/monitor"
	"opsmon/app/engine/report"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
)

// timelineRoutes returns the operations on timelines.
func (api *API) timelineRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/timeline", Handle: api.getTimeline,
			Query: []string{"stationcode", "from", "to", "rangecode", "points", "archived"},
			Operation: openapi.Operation{
				ID: "getTimeline", Tag: "Monitoring", Summary: "Read a station's timeline",
				About: "Columns of numbers for drawing. There is one row for each `stepMs` from `from` on; the last " +
					"one is shorter where `to` cuts it. The step is the shortest of 1, 2, 5, 10, 15, 30 minutes, " +
					"1, 2, 4, 6, 12 hours and 1 day, or a number of whole days, for which there are at most " +
					"`points` rows. All times in this answer are Unix milliseconds. The range starts at a whole " +
					"minute, ends at the last whole minute at most, and may be a year. Rows equal those of `GET " +
					"/station-window`; time without data is `noData`.\n\nFor a range of at most 24 hours `runs` " +
					"has the classes to the millisecond as well.",
				Answer: "The columns.", Form: openapi.FormResult, Gives: "Timeline", Also: []int{400},
				Sample: `{"stationCode":"PACK-1","from":1795161600000,"to":1795161720000,"final":1795161660000,
					"stepMs":60000,"rows":2,"classes":{"productive":[60000,42000],"slow":[0,0],"downtime":[0,0],
					"idle":[0,18000],"noData":[0,0],"outOfShift":[0,0]},"scheduledProduction":[60000,60000],
					"runTime":[60000,60000],"scheduledNonProduction":{"total":[0,0],"productive":[0,0],"idle":[0,0]},
					"good":[58,40],"bad":[0,1],"ideal":[60,60],"target":[60,60],"lineSpeedAvg":[58.2,null],
					"lineSpeedTarget":[60,60],"electricalKwh":[0.08,null],"schedules":[{"start":1795161600000,
					"end":1795161720000,"shiftName":"Early","scheduleId":"s7xk2v9m4q6w","skuCode":"BOWL",
					"nonProductionScheduleId":null,"reasonCode":null}],"runs":[{"class":"productive",
					"start":1795161600000,"end":1795161702000,"scheduled":"production","issueId":null,
					"causeCode":null,"excluded":false},{"class":"idle","start":1795161702000,"end":1795161720000,
					"scheduled":"production","issueId":null,"causeCode":null,"excluded":false}]}`,
				Params: openapi.OneStation("points", openapi.Param{
					About:  "Maximum number of rows.",
					Schema: `{"type": "integer", "minimum": 1, "maximum": 5000, "default": 1500}`, Example: 1000,
				}),
			},
		},
	}
}

// usualPoints is the default of the largest number of rows.
const usualPoints = 1500

// column is one number for each row; null if unknown.
//
// NaN is an unknown value.
//
//openapi:schema Column {"type": "array", "items": {"type": ["number", "null"]}}
type column []float64

// MarshalJSON implements json.Marshaler.
func (c column) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 8*len(c)+2), '[')
	for i, v := range c {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(v) {
			b = append(b, "null"...)
			continue
		}
		b = strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	return append(b, ']'), nil
}

// timelineView is what a station did, in columns for drawing. Times are Unix ms.
//
//openapi:schema Timeline
type timelineView struct {
	StationCode string `json:"stationCode"`
	From        int64  `json:"from"`
	To          int64  `json:"to"` // end of the last row
	// Rows before it change only when late signals arrive.
	Final  int64 `json:"final"`
	StepMs int64 `json:"stepMs" schema:"min=60000"` // length of a row, ms: row i begins at from + i x stepMs
	Rows   int   `json:"rows" schema:"min=0"`       // number of rows
	// Milliseconds of each class; they add up to the row. Scheduled non-production is included.
	Classes    timelineClasses `json:"classes"`
	Production []int64         `json:"scheduledProduction" schema:"min=0"`
	// Milliseconds of known scheduled production, without downtime.
	RunTime []int64 `json:"runTime" schema:"min=0"`
	// Milliseconds for which a non-production schedule ran, and how much of it is counted as productive and as idle: to
	// be drawn as non-production.
	NonProduction   timelinePaused `json:"scheduledNonProduction"`
	Good            column         `json:"good"`
	Bad             column         `json:"bad"`
	Ideal           column         `json:"ideal"`
	Target          column         `json:"target"`
	LineSpeedAvg    column         `json:"lineSpeedAvg"`
	LineSpeedTarget column         `json:"lineSpeedTarget"`
	ElectricalKwh   column         `json:"electricalKwh"`
	// Ranges of one shift with the same schedules, in order; null if there are more than 5,000.
	Schedules []spellView `json:"schedules" schema:"null"`
	// Ranges of one class, to the millisecond, in order; null if there are more than 5,000, or the range is longer than
	// 24 hours.
	Runs []runView `json:"runs" schema:"null"`
}

// timelineClasses are ms by class; they add up to the row.
type timelineClasses struct {
	Productive []int64 `json:"productive" schema:"min=0"`
	Slow       []int64 `json:"slow" schema:"min=0"`
	Downtime   []int64 `json:"downtime" schema:"min=0"`
	Idle       []int64 `json:"idle" schema:"min=0"`
	NoData     []int64 `json:"noData" schema:"min=0"`
	OutOfShift []int64 `json:"outOfShift" schema:"min=0"`
}

// timelinePaused is the time of non-production schedules, and what of it is counted in some classes.
type timelinePaused struct {
	Total      []int64 `json:"total" schema:"min=0"`
	Productive []int64 `json:"productive" schema:"min=0"`
	Idle       []int64 `json:"idle" schema:"min=0"`
}

// spellView is a range of one shift with the same schedules.
//
//openapi:schema TimelineSchedule
type spellView struct {
	Start           int64   `json:"start"`
	End             int64   `json:"end"`
	ShiftName       *string `json:"shiftName"`  // name of the shift; null outside shifts, or without a shift pattern
	ScheduleID      *string `json:"scheduleId"` // the production schedule; null if there is none, or it is paused
	SKUCode         *string `json:"skuCode"`    // UNKNOWN without a production schedule
	NonProductionID *string `json:"nonProductionScheduleId"`
	ReasonCode      *string `json:"reasonCode"` // reason of the non-production schedule
}

// runView is a range of one class.
//
//openapi:schema TimelineRun
type runView struct {
	Class string `json:"class" schema:"enum=outOfShift|noData|downtime|slow|productive|idle"`
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	// What the time was scheduled for; null if not scheduled.
	Scheduled *string `json:"scheduled" schema:"enum=production|nonProduction"`
	// The stop, slow period or manual downtime that it belongs to.
	IssueID   *string `json:"issueId"`
	CauseCode *string `json:"causeCode"`
	Excluded  bool    `json:"excluded"` // excluded from figures
}

// classNames and kindNames are the names of monitor.Class and monitor.Kind in timelines.
var (
	classNames = map[monitor.Class]string{
		monitor.OutOfShift: "outOfShift", monitor.NoData: "noData", monitor.Downtime: "downtime", monitor.Slow: "slow",
		monitor.Productive: "productive", monitor.Idle: "idle",
	}
	kindNames = map[monitor.Kind]string{monitor.Production: "production", monitor.NonProduction: "nonProduction"}
)

// getTimeline handles GET /timeline: the data of a chart of a station.
func (api *API) getTimeline(c *rest.Call) (rest.Reply, error) {
	points := c.Number("points", usualPoints, 1, report.MostPoints)
	x, err := c.ChooseOne(report.LongestDetail)
	if err != nil {
		return rest.Reply{}, err
	}
	if err := c.WaitIfLong(x, rest.LongDetail); err != nil {
		return rest.Reply{}, err
	}
	a := &x.Stations[0]
	chart, final, err := api.Reports.Timeline(c.Request.Context(), c.Principal.AccountID, a, points)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(timelineOf(a.Code, chart, final))
}

func timelineOf(code string, c *monitor.Chart, final int64) *timelineView {
	n := len(c.Rows)
	times := make([]int64, 11*n) // one allocation for all columns of times
	next := func() []int64 {
		column := times[:n:n]
		times = times[n:]
		return column
	}
	v := &timelineView{
		StationCode: code, From: c.From, To: c.To, Final: final, StepMs: c.Step, Rows: n,
		Classes:    timelineClasses{next(), next(), next(), next(), next(), next()},
		Production: next(), RunTime: next(), NonProduction: timelinePaused{next(), next(), next()},
	}
	for _, of := range []*column{&v.Good, &v.Bad, &v.Ideal, &v.Target, &v.LineSpeedAvg, &v.LineSpeedTarget, &v.ElectricalKwh} {
		*of = make(column, n)
	}
	for i := range c.Rows {
		v.row(i, &c.Rows[i])
	}
	v.Schedules, v.Runs = spellsOf(c), runsOf(code, c)
	return v
}

// row fills in a row of the columns.
func (v *timelineView) row(i int, r *monitor.ChartRow) {
	v.Classes.Productive[i], v.Classes.Slow[i], v.Classes.Downtime[i] = r.Was(monitor.Productive), r.Was(monitor.Slow), r.Was(monitor.Downtime)
	v.Classes.Idle[i], v.Classes.NoData[i], v.Classes.OutOfShift[i] = r.Was(monitor.Idle), r.Was(monitor.NoData), r.Was(monitor.OutOfShift)
	v.Production[i], v.NonProduction.Total[i] = r.Of(monitor.Production), r.Of(monitor.NonProduction)
	v.RunTime[i] = r.RunTime()
	v.NonProduction.Productive[i] = r.Times[monitor.NonProduction][monitor.Productive]
	v.NonProduction.Idle[i] = r.Times[monitor.NonProduction][monitor.Idle]
	v.Good[i], v.Bad[i] = units(r.Good), units(r.Bad)
	known := func(value float64, is bool) float64 {
		if !is {
			return math.NaN()
		}
		return value
	}
	v.Ideal[i], v.Target[i] = known(r.Ideal, r.HasRate), known(r.Target, r.HasRate)
	v.LineSpeedAvg[i] = known(r.Speed())
	v.LineSpeedTarget[i] = known(r.SpeedTarget, r.SpeedTarget > 0)
	v.ElectricalKwh[i] = known(r.Energy())
}

func spellsOf(c *monitor.Chart) []spellView {
	if c.TooManySpells {
		return nil
	}
	list := make([]spellView, len(c.Spells))
	for i := range c.Spells {
		s := &c.Spells[i]
		list[i] = spellView{s.Start, s.End, rest.OrNull(s.Shift), rest.OrNull(s.Production), rest.OrNull(s.SKU), rest.OrNull(s.NonProduction), rest.OrNull(s.Reason)}
	}
	return list
}

func runsOf(code string, c *monitor.Chart) []runView {
	if c.TooManyRuns {
		return nil
	}
	list := make([]runView, len(c.Runs))
	for i := range c.Runs {
		r := &c.Runs[i]
		list[i] = runView{Class: classNames[r.Class], Start: r.Start, End: r.End, Scheduled: rest.OrNull(kindNames[r.Kind]), CauseCode: rest.OrNull(r.Cause), Excluded: r.Excluded}
		if r.Type != 0 {
			id := code + "." + monitor.IssueID(r.Type, r.Issue)
			list[i].IssueID = &id
		}
	}
	return list
}
