package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/history"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
)

// mostWindows is how many windows one answer has at most (monitoring.md section 3).
const mostWindows = 100_000

// window is a row of GET /station-window, by the names of monitoring.md section 3.
type window struct {
	StationCode              string  `json:"stationCode"`
	WindowStartAt            string  `json:"windowStartAt"`
	WindowEndAt              string  `json:"windowEndAt"`
	TotalMs                  int64   `json:"totalMs"`
	ShiftMs                  int64   `json:"shiftMs"`
	ScheduledProductionMs    int64   `json:"scheduledProductionMs"`
	ScheduledNonProductionMs int64   `json:"scheduledNonProductionMs"`
	OutOfShiftMs             int64   `json:"outOfShiftMs"`
	NoDataMs                 int64   `json:"noDataMs"`
	DowntimeMs               int64   `json:"downtimeMs"`
	SlowMs                   int64   `json:"slowMs"`
	ProductiveMs             int64   `json:"productiveMs"`
	IdleMs                   int64   `json:"idleMs"`
	DowntimeSince            *string `json:"downtimeSince"`
	ProductionGoodCount      float64 `json:"productionGoodCount"`
	ProductionBadCount       float64 `json:"productionBadCount"`
	outsideView
	ProductionIdealCount  *float64 `json:"productionIdealCount"`
	ProductionTargetCount *float64 `json:"productionTargetCount"`
	LineSpeedAvg          *float64 `json:"lineSpeedAvg"`
	LineSpeedTarget       *float64 `json:"lineSpeedTarget"`
	ElectricalKwh         *float64 `json:"electricalKwh"`     // null: not known
	ElectricalKnownMs     int64    `json:"electricalKnownMs"` // the time that it is of, which may begin before the window
	RSSIAvg               *float64 `json:"rssiAvg"`
	IsAlive               bool     `json:"isAlive"`
	ScheduleIDs           []string `json:"scheduleIds"`
	IssueIDs              []string `json:"issueIds"`
	ReasonCodes           []string `json:"reasonCodes"`
	ErrorCodes            []string `json:"errorCodes"`
	SKUCode               *string  `json:"skuCode"`
	ManifestRevision      int64    `json:"manifestRevision"`
	ShiftName             *string  `json:"shiftName"` // of the shift that the row is of; null where it is of another stretch
}

// span is the stretch of time that a row is of.
type span struct {
	calendar.Range
	shift *string
}

// resolution cuts a range into rows.
type resolution func(s *station.Station, from, to int64) []span

var resolutions = map[string]resolution{
	"":       nil, // a minute
	"minute": nil,
	"hour": func(s *station.Station, from, to int64) []span {
		return spans(s.Calendar.Buckets(from, to, calendar.UnitHour))
	},
	"day": func(s *station.Station, from, to int64) []span {
		return spans(s.Calendar.Buckets(from, to, calendar.UnitDay))
	},
	"shift": shiftsOf,
}

func spans(list []calendar.Range) []span {
	out := make([]span, len(list))
	for i, r := range list {
		out[i] = span{Range: r}
	}
	return out
}

// shiftsOf gives the shifts of a range; where there is no pattern all time is one shift, and is given by the day.
func shiftsOf(s *station.Station, from, to int64) []span {
	if s.Calendar.Always() {
		return spans(s.Calendar.Buckets(from, to, calendar.UnitDay))
	}
	var out []span
	for _, i := range s.Calendar.Shifts(from, to) {
		// A minute belongs to the shift in which it begins.
		r := calendar.Range{Start: max(from, i.Start+mod(-i.Start, minuteMs)), End: min(to, i.End+mod(-i.End, minuteMs))}
		if r.Start < r.End {
			out = append(out, span{r, &i.Name})
		}
	}
	return out
}

// rows are those of one station, from the first ones that are left out on. Where they are of something longer than a minute
// they are made only when they are told: of a thousand stations and a year they would fill the memory.
type rows struct {
	station     *station.Station
	from, to    int64
	cut         resolution // nil: minutes
	first, last int        // of those in the range
}

func (x *rows) count() int { return x.last - x.first }

// part gives the rows from the first to before the last.
func (x *rows) part(first, last int) rows {
	part := *x
	part.first, part.last = x.first+first, x.first+last
	return part
}

// stretch makes the rows.
func (x *rows) stretch() stretch {
	if x.cut == nil {
		return stretch{x.station, x.from + int64(x.first)*minuteMs, x.from + int64(x.last)*minuteMs, nil}
	}
	list := x.cut(x.station, x.from, x.to)[x.first:x.last]
	return stretch{x.station, list[0].Start, list[len(list)-1].End, list}
}

// stretch is a stretch of time of a station with its rows.
type stretch struct {
	station  *station.Station
	from, to int64
	spans    []span // nil: minutes
}

func (x *stretch) count() int {
	if x.spans != nil {
		return len(x.spans)
	}
	return int((x.to - x.from) / minuteMs)
}

// part gives the rows from the first to before the last.
func (x *stretch) part(first, last int) stretch {
	if x.spans != nil {
		return stretch{x.station, x.spans[first].Start, x.spans[last-1].End, x.spans[first:last]}
	}
	return stretch{x.station, x.from + int64(first)*minuteMs, x.from + int64(last)*minuteMs, nil}
}

// resolution reads how long the rows are that are asked for.
func (c *call) resolution() resolution {
	name := c.query("resolution")
	cut, ok := resolutions[name]
	if !ok {
		c.fault("resolution", "must be minute, hour, shift or day; it is %q", shorten(name))
	}
	return cut
}

// windows finds the rows of a choice: from when on something is known of each station.
func (c *call) windows(x *choice, cut resolution) (list []rows, total int, err error) {
	known := map[rowsOf]int{}
	for _, s := range x.production() {
		since, err := c.api.cfg.Floor.Since(c.p.AccountID, s.Code)
		if err != nil {
			return nil, 0, err
		}
		r := rows{station: s.Station, from: max(s.from, since+mod(-since, minuteMs)), to: s.to, cut: cut}
		if r.from >= r.to {
			continue
		}
		if r.last = int((r.to - r.from) / minuteMs); cut != nil {
			k := rowsOf{s.Calendar, r.from, r.to}
			n, counted := known[k]
			if r.last = n; !counted {
				r.last = len(cut(s.Station, r.from, r.to))
				known[k] = r.last
			}
		}
		if r.last > 0 {
			list = append(list, r)
			total += r.count()
		}
	}
	return list, total, nil
}

// rowsOf is a range of which the rows have been counted: stations that share a calendar have the same.
type rowsOf struct {
	calendar *calendar.Calendar
	from, to int64
}

// getStationWindows answers GET /station-window.
func getStationWindows(c *call) (reply, error) {
	limit, skip := c.page(mostWindows, mostWindows)
	cut := c.resolution()
	x, err := c.choose(longestDetail, "")
	if err != nil {
		return reply{}, err
	}
	if err := c.long(x, longDetail); err != nil {
		return reply{}, err
	}
	list, total, err := c.windows(x, cut)
	if err != nil {
		return reply{}, err
	}
	list = page(list, skip, limit)
	return reply{pour: &pour{kind: jsonType[0], run: func(ctx context.Context, w io.Writer) error {
		b := bufio.NewWriterSize(w, 64<<10)
		b.WriteString(`{"isSuccess":true,"results":[`)
		first := true
		err := c.eachWindow(ctx, list, func(row *window) error {
			if !first {
				b.WriteByte(',')
			}
			first = false
			text, err := json.Marshal(row)
			if err == nil {
				_, err = b.Write(text)
			}
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(b, `],"paging":{"totalElements":%d}}`, total)
		return b.Flush()
	}}}, nil
}

// page gives the rows after the first ones, and no more than a limit.
func page(list []rows, skip, limit int) (out []rows) {
	for i := range list {
		n := list[i].count()
		first, last := min(skip, n), min(n, skip+limit)
		if skip -= first; first < last {
			out = append(out, list[i].part(first, last))
			limit -= last - first
		}
	}
	return out
}

// eachWindow makes rows, one after another, from about a day of a station at a time.
func (c *call) eachWindow(ctx context.Context, list []rows, use func(*window) error) error {
	timeline, err := c.api.cfg.Floor.Timeline(c.p.AccountID)
	if err != nil {
		return err
	}
	for i := range list {
		x := list[i].stretch()
		for n, done := x.count(), 0; done < n; {
			if err := ctx.Err(); err != nil {
				return err
			}
			more := done + 1
			if x.spans == nil {
				more = min(n, done+24*60)
			}
			for ; more < n && x.spans != nil && x.spans[more].End-x.spans[done].Start <= dayMs; more++ {
			}
			part := x.part(done, more)
			d, err := c.api.cfg.Floor.Detail(c.p.AccountID, x.station.Code, part.from, part.to)
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

// each makes the rows of what is known of a stretch.
func (x *stretch) each(d *floor.Detail, timeline *station.Timeline, use func(*window) error) error {
	all := monitor.Windows(d.Segments, d.Minutes)
	for i := range x.count() {
		r := span{Range: calendar.Range{Start: x.from + int64(i)*minuteMs, End: x.from + int64(i+1)*minuteMs}}
		if x.spans != nil {
			r = x.spans[i]
		}
		row := windowRow{at: r.Start}
		for row.at < r.End {
			for len(all) > 0 && all[0].Start < row.at {
				all = all[1:]
			}
			if len(all) > 0 && all[0].Start == row.at {
				row.add(&all[0])
			} else {
				row.Times[monitor.Unscheduled][monitor.NoData] += minuteMs // nothing is known of it
			}
			row.at += minuteMs
		}
		row.measured(history.Cut(monitor.Outputs{Minutes: d.Minutes}, r.Start, r.End).Minutes)
		revision, err := timeline.Revision(r.End - 1)
		if err != nil {
			return err
		}
		out := row.shown(x.station.Code, r)
		out.ManifestRevision = revision
		if err := use(out); err != nil {
			return err
		}
	}
	return nil
}

// windowRow adds minutes up.
type windowRow struct {
	monitor.Window
	at        int64
	speed     float64
	speedMs   int64
	rssi      float64
	rssiCount int64
}

// add adds a minute; minutes come in order.
func (x *windowRow) add(w *monitor.Window) {
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

// measured adds the speed and signal strength of minutes, each over the time in which it was known.
func (x *windowRow) measured(minutes []monitor.Minute) {
	for i := range minutes {
		m := &minutes[i]
		x.speed += m.SpeedSum
		x.speedMs += m.SpeedMs
		x.rssi += m.RSSISum
		x.rssiCount += m.RSSICount
	}
}

func (x *windowRow) shown(code string, r span) *window {
	out := &window{
		StationCode: code, WindowStartAt: moment(r.Start), WindowEndAt: moment(r.End), TotalMs: x.Total(), ShiftMs: x.Shift(),
		ScheduledProductionMs: x.Of(monitor.Production), ScheduledNonProductionMs: x.Of(monitor.NonProduction),
		OutOfShiftMs: x.Was(monitor.OutOfShift), NoDataMs: x.Was(monitor.NoData), DowntimeMs: x.Was(monitor.Downtime),
		SlowMs: x.Was(monitor.Slow), ProductiveMs: x.Was(monitor.Productive), IdleMs: x.Was(monitor.Idle),
		ProductionGoodCount: units(x.Good), ProductionBadCount: units(x.Bad), outsideView: outsideOf(&x.Outside), ElectricalKnownMs: x.KWhMs, IsAlive: x.Alive,
		ScheduleIDs: filledList(x.Schedules), ReasonCodes: filledList(x.Reasons), ErrorCodes: filledList(x.ErrorCodes),
		IssueIDs: make([]string, len(x.Issues)), SKUCode: orNull(x.SKU), LineSpeedTarget: orNull(x.SpeedTarget), ShiftName: r.shift,
	}
	for i, id := range x.Issues {
		out.IssueIDs[i] = code + "." + id
	}
	if x.DowntimeSince != 0 {
		since := moment(x.DowntimeSince)
		out.DowntimeSince = &since
	}
	if x.HasRate {
		out.ProductionIdealCount, out.ProductionTargetCount = &x.Ideal, &x.Target
	}
	if x.KWhMs > 0 || x.KWh != 0 {
		kwh := units(x.KWh)
		out.ElectricalKwh = &kwh
	}
	if x.speedMs > 0 {
		speed := x.speed / float64(x.speedMs)
		out.LineSpeedAvg = &speed
	}
	if x.rssiCount > 0 {
		rssi := x.rssi / float64(x.rssiCount)
		out.RSSIAvg = &rssi
	}
	return out
}

// units gives millionths as units, or kWh.
func units(micro int64) float64 { return float64(micro) / monitor.Micro }

// filledList is never nil, so that it is written as a list.
func filledList(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func orNull[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}
