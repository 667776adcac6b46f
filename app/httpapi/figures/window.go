package figures

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"opsmon/app/engine/monitor"
	"opsmon/app/engine/report"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
)

// windowRoutes returns the operations on windows.
func (api *API) windowRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/station-window", Handle: api.getStationWindows,
			Query: append(rest.SelectionParams(), "resolution", "limit", "skip"),
			Operation: openapi.Operation{
				ID: "listWindows", Tag: "Monitoring", Summary: "List windows",
				About: "One row for each station and whole minute, hour, shift or day, ordered by station and time, " +
					"from the first data of the station up to now. The classes of time add up to `totalMs`. A " +
					"minute is calculated within two seconds of its end, and again when late signals arrive. A " +
					"shift is one row even over midnight; rows that the range cuts are left out.",
				Answer: "A page of windows.", Form: openapi.FormPage, Gives: "StationWindow", Also: []int{400},
				Sample: `{"stationCode":"PACK-1","windowStartAt":"2026-11-20T08:00:00.000Z",
					"windowEndAt":"2026-11-20T09:00:00.000Z","totalMs":3600000,"shiftMs":3600000,
					"scheduledProductionMs":3600000,"scheduledNonProductionMs":0,"outOfShiftMs":0,"noDataMs":0,
					"downtimeMs":600000,"slowMs":120000,"productiveMs":2800000,"idleMs":80000,
					"downtimeSince":"2026-11-20T08:15:30.000Z","productionGoodCount":2820,"productionBadCount":12,
					"unscheduledGoodCount":0,"unscheduledBadCount":0,"noDataGoodCount":0,"noDataBadCount":0,
					"productionIdealCount":3600,"productionTargetCount":3000,"lineSpeedAvg":58.2,"lineSpeedTarget":60,
					"electricalKwh":4.72,"electricalKnownMs":3600000,"rssiAvg":-61,"isAlive":true,
					"scheduleIds":["s7xk2v9m4q6w"],"issueIds":["PACK-1.stop-1795680930000"],"reasonCodes":["JAM"],
					"errorCodes":["E17"],"skuCode":"BOWL","manifestRevision":3,"shiftName":null}`,
				Params: openapi.Params{
					"limit": {
						About:  "Maximum number of results.",
						Schema: `{"type": "integer", "minimum": 1, "maximum": 100000, "default": 100000}`, Example: 1440,
					},
				},
			},
		},
	}
}

// mostWindows is the largest number of windows in one answer (monitoring.md section 3).
const mostWindows = 100_000

// window is what a station did in a window of time.
//
// See monitoring.md section 3.
//
//openapi:schema StationWindow
type window struct {
	StationCode              string `json:"stationCode"`
	WindowStartAt            string `json:"windowStartAt" schema:"ref=Moment"`
	WindowEndAt              string `json:"windowEndAt" schema:"ref=Moment"`
	TotalMs                  int64  `json:"totalMs" schema:"min=0"`   // all of the time, ms
	ShiftMs                  int64  `json:"shiftMs"`                  // time in shift
	ScheduledProductionMs    int64  `json:"scheduledProductionMs"`    // shift time in which a production schedule ran
	ScheduledNonProductionMs int64  `json:"scheduledNonProductionMs"` // shift time in which a non-production schedule ran
	// First of the classes of time: each millisecond is in exactly one.
	OutOfShiftMs int64 `json:"outOfShiftMs"`
	// Time without data: no signals, no manual downtime, no manual counts.
	NoDataMs     int64 `json:"noDataMs"`
	DowntimeMs   int64 `json:"downtimeMs"` // stopped in scheduled production, or by hand
	SlowMs       int64 `json:"slowMs"`     // slower than 80 % of the line speed target
	ProductiveMs int64 `json:"productiveMs"`
	IdleMs       int64 `json:"idleMs"` // time in none of the other classes
	// Start of the last downtime that overlaps the window; null if none does.
	DowntimeSince *string `json:"downtimeSince" schema:"ref=Moment"`
	// Good units that were told of in the window: made, entered, corrected, less those rejected. Below zero where more
	// was rejected or taken away in it than was made, as those units were made before: an entry counts at its own
	// moment and changes no earlier window, and windows add up. Of a whole schedule it is never below zero. An entry
	// whose at is the moment at which the units were made counts there.
	ProductionGoodCount float64 `json:"productionGoodCount"`
	ProductionBadCount  float64 `json:"productionBadCount"` // the same for bad units
	outsideView
	// Units due by the rate in scheduled production; null: there is no rate.
	ProductionIdealCount  *float64 `json:"productionIdealCount"`
	ProductionTargetCount *float64 `json:"productionTargetCount"` // the same without downtime
	// Average displayed speed over the time in which it was known; null if it was not.
	LineSpeedAvg    *float64 `json:"lineSpeedAvg"`
	LineSpeedTarget *float64 `json:"lineSpeedTarget"` // value at the end of the window
	ElectricalKwh   *float64 `json:"electricalKwh"`   // measured energy; null if nothing was measured
	// Time for which energy was measured: less than the window where measurements are missing, more where a meter's
	// reading covers time before it.
	ElectricalKnownMs int64    `json:"electricalKnownMs" schema:"min=0"`
	RSSIAvg           *float64 `json:"rssiAvg"` // signal strength in dBm; null if unknown
	// Signals arrived, or people counted by hand.
	IsAlive     bool     `json:"isAlive"`
	ScheduleIDs []string `json:"scheduleIds"` // schedules that ran
	IssueIDs    []string `json:"issueIds"`    // stops, slow periods and manual downtimes
	ReasonCodes []string `json:"reasonCodes"` // reasons of stops and of non-production schedules
	// Error codes of the machine: the first 100 different ones of each minute.
	ErrorCodes []string `json:"errorCodes"`
	// SKU at the end of the window; UNKNOWN without a production schedule.
	SKUCode          *string `json:"skuCode"`
	ManifestRevision int64   `json:"manifestRevision" schema:"min=0"` // revision in force at the end of the window
	// With resolution=shift, the name of the shift; null for a day without shifts.
	ShiftName *string `json:"shiftName"`
}

// resolution parses the requested length of windows.
func resolution(c *rest.Call) report.Resolution {
	name := c.Query("resolution")
	r, ok := report.ParseResolution(name)
	if !ok {
		c.Fault("resolution", "must be minute, hour, shift or day; it is %q", errdefs.Shorten(name))
	}
	return r
}

// getStationWindows handles GET /station-window.
func (api *API) getStationWindows(c *rest.Call) (rest.Reply, error) {
	limit, skip := c.Page(mostWindows, mostWindows)
	by := resolution(c)
	x, err := c.Choose(report.LongestDetail, "")
	if err != nil {
		return rest.Reply{}, err
	}
	if err := c.WaitIfLong(x, rest.LongDetail); err != nil {
		return rest.Reply{}, err
	}
	all, err := api.Reports.Windows(x, by)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.Reply{Chunked: &rest.Chunked{Kind: rest.JSONType[0], Run: func(ctx context.Context, w io.Writer) error {
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
		StationCode: x.Station, WindowStartAt: instant.FormatMs(x.Start), WindowEndAt: instant.FormatMs(x.End), TotalMs: x.Total(), ShiftMs: x.Shift(),
		ScheduledProductionMs: x.Of(monitor.Production), ScheduledNonProductionMs: x.Of(monitor.NonProduction),
		OutOfShiftMs: x.Was(monitor.OutOfShift), NoDataMs: x.Was(monitor.NoData), DowntimeMs: x.Was(monitor.Downtime),
		SlowMs: x.Was(monitor.Slow), ProductiveMs: x.Was(monitor.Productive), IdleMs: x.Was(monitor.Idle),
		ProductionGoodCount: units(x.Good), ProductionBadCount: units(x.Bad), outsideView: outsideOf(&x.Outside), ElectricalKnownMs: x.KWhMs, IsAlive: x.Alive,
		ScheduleIDs: filledList(x.Schedules), ReasonCodes: filledList(x.Reasons), ErrorCodes: filledList(x.ErrorCodes),
		IssueIDs: filledList(x.Issues), SKUCode: rest.OrNull(x.SKU), LineSpeedTarget: rest.OrNull(x.SpeedTarget), ShiftName: x.ShiftName, ManifestRevision: x.Revision,
	}
	if x.DowntimeSince != 0 {
		since := instant.FormatMs(x.DowntimeSince)
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

// units converts millionths to units, or kWh.
func units(micro int64) float64 { return float64(micro) / monitor.Micro }

// filledList replaces nil by an empty list, so that it is encoded as a list.
func filledList(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
