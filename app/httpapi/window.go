package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"opsmon/app/engine/monitor"
	"opsmon/app/engine/report"
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

// resolution reads how long the windows are that are asked for.
func (c *call) resolution() report.Resolution {
	name := c.query("resolution")
	r, ok := report.ParseResolution(name)
	if !ok {
		c.fault("resolution", "must be minute, hour, shift or day; it is %q", shorten(name))
	}
	return r
}

// getStationWindows answers GET /station-window.
func getStationWindows(c *call) (reply, error) {
	limit, skip := c.page(mostWindows, mostWindows)
	by := c.resolution()
	x, err := c.choose(report.LongestDetail, "")
	if err != nil {
		return reply{}, err
	}
	if err := c.long(x, longDetail); err != nil {
		return reply{}, err
	}
	all, err := c.api.cfg.Reports.Windows(x, by)
	if err != nil {
		return reply{}, err
	}
	return reply{chunked: &chunked{kind: jsonType[0], run: func(ctx context.Context, w io.Writer) error {
		b := bufio.NewWriterSize(w, 64<<10)
		b.WriteString(`{"isSuccess":true,"results":[`)
		first := true
		err := all.Page(skip, limit).Each(ctx, func(row *report.Window) error {
			if !first {
				b.WriteByte(',')
			}
			first = false
			text, err := json.Marshal(windowOf(row))
			if err == nil {
				_, err = b.Write(text)
			}
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(b, `],"paging":{"totalElements":%d}}`, all.Len())
		return b.Flush()
	}}}, nil
}

func windowOf(x *report.Window) *window {
	out := &window{
		StationCode: x.Station, WindowStartAt: moment(x.Start), WindowEndAt: moment(x.End), TotalMs: x.Total(), ShiftMs: x.Shift(),
		ScheduledProductionMs: x.Of(monitor.Production), ScheduledNonProductionMs: x.Of(monitor.NonProduction),
		OutOfShiftMs: x.Was(monitor.OutOfShift), NoDataMs: x.Was(monitor.NoData), DowntimeMs: x.Was(monitor.Downtime),
		SlowMs: x.Was(monitor.Slow), ProductiveMs: x.Was(monitor.Productive), IdleMs: x.Was(monitor.Idle),
		ProductionGoodCount: units(x.Good), ProductionBadCount: units(x.Bad), outsideView: outsideOf(&x.Outside), ElectricalKnownMs: x.KWhMs, IsAlive: x.Alive,
		ScheduleIDs: filledList(x.Schedules), ReasonCodes: filledList(x.Reasons), ErrorCodes: filledList(x.ErrorCodes),
		IssueIDs: filledList(x.Issues), SKUCode: orNull(x.SKU), LineSpeedTarget: orNull(x.SpeedTarget), ShiftName: x.ShiftName, ManifestRevision: x.Revision,
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
	if x.HasSpeed {
		out.LineSpeedAvg = &x.SpeedAvg
	}
	if x.HasRSSI {
		out.RSSIAvg = &x.RSSIAvg
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
