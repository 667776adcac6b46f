package figures

import (
	"bufio"
	"context"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/report"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/app/work/schedule"
	"opsmon/app/work/task"
)

// exportRoutes returns the operations on exports.
func (api *API) exportRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/export/:table", Handle: api.getExport,
			Query: append(rest.SelectionParams(), "resolution"),
			Operation: openapi.Operation{
				ID: "exportTable", Tag: "Monitoring", Summary: "Export a table as CSV",
				About: "A file by RFC 4180 with column names in the first line, streamed. Text that a spreadsheet " +
					"would take for a formula is preceded by an apostrophe. If the connection breaks, rows are " +
					"missing.",
				Answer: "The table.", Form: openapi.FormTable, Also: []int{400, 404},
				Sample: "stationCode,windowStartAt,windowEndAt\r\nPACK-1,2026-11-20T08:00:00.000Z," +
					"2026-11-20T08:01:00.000Z\r\n",
				Params: openapi.Params{
					"table": {
						About:  "The table to export.",
						Schema: `{"type": "string", "enum": ["windows", "schedules", "issues", "tasks"]}`, Example: "windows",
					},
				},
			},
		},
	}
}

// export returns a function that parses the parameters of a table and returns its constructor; nil: no such table.
func (api *API) export(name string) func(c *rest.Call) func(x *report.Selection) (*rest.Table, error) {
	switch name {
	case "windows":
		return api.exportWindows
	case "schedules":
		return api.exportSchedules
	case "tasks":
		return api.exportTasks
	case "issues":
		return api.exportIssues
	}
	return nil
}

// getExport handles GET /export/{table}.
func (api *API) getExport(c *rest.Call) (rest.Reply, error) {
	name := c.Params.ByName("table")
	export := api.export(name)
	if export == nil {
		return rest.Reply{}, errdefs.New(errdefs.NotFound, "there is no such table; there are windows, schedules, issues and tasks")
	}
	of := export(c)
	x, err := c.Choose(report.LongestDetail, "")
	if err != nil {
		return rest.Reply{}, err
	}
	if err := c.WaitIfLong(x, rest.LongDetail); err != nil {
		return rest.Reply{}, err
	}
	t, err := of(x)
	if err != nil {
		return rest.Reply{}, err
	}
	file := name + "-" + instant.FormatMs(x.From)[:10] + ".csv"
	return rest.Reply{Chunked: &rest.Chunked{Kind: rest.CSVType, Name: file, Run: func(ctx context.Context, w io.Writer) error {
		b := bufio.NewWriterSize(w, 64<<10)
		rest.WriteCSV(b, t.Header)
		err := t.Each(ctx, func(cells []string) error { return rest.WriteCSV(b, cells) })
		if err != nil {
			return err
		}
		return b.Flush()
	}}}, nil
}

var windowColumns = []string{
	"stationCode", "windowStartAt", "windowEndAt", "totalMs", "shiftMs", "scheduledProductionMs", "scheduledNonProductionMs", "outOfShiftMs", "noDataMs", "downtimeMs",
	"slowMs", "productiveMs", "idleMs", "downtimeSince", "productionGoodCount", "productionBadCount", "productionIdealCount", "productionTargetCount", "lineSpeedAvg",
	"lineSpeedTarget", "electricalKwh", "electricalKnownMs", "rssiAvg", "isAlive", "scheduleIds", "issueIds", "reasonCodes", "errorCodes", "skuCode", "manifestRevision", "shiftName",
	"unscheduledGoodCount", "unscheduledBadCount", "noDataGoodCount", "noDataBadCount",
}

// exportWindows exports windows of the requested resolution.
func (api *API) exportWindows(c *rest.Call) func(x *report.Selection) (*rest.Table, error) {
	by := resolution(c)
	return func(x *report.Selection) (*rest.Table, error) {
		all, err := api.Reports.Windows(x, by)
		if err != nil {
			return nil, err
		}
		return &rest.Table{Header: windowColumns, Each: func(ctx context.Context, row func([]string) error) error {
			return all.Each(ctx, func(w *report.Window) error { return row(windowOf(w).cells()) })
		}}, nil
	}
}

// exportSchedules exports the schedules that overlap the range, station by station.
func (api *API) exportSchedules(c *rest.Call) func(x *report.Selection) (*rest.Table, error) {
	return func(x *report.Selection) (*rest.Table, error) {
		return &rest.Table{Header: schedule.CSVHeader(), Each: func(ctx context.Context, row func([]string) error) error {
			for _, s := range x.Stations {
				if err := ctx.Err(); err != nil {
					return err
				}
				f := schedule.Filter{Where: []schedule.Where{{StationCode: s.Code, Range: calendar.Range{Start: s.Begin, End: s.End}}}, Limit: schedule.MaxListed}
				views, _, err := api.Schedules.List(c.Principal.AccountID, f)
				if err != nil {
					return err
				}
				for _, v := range views {
					if err := row(v.CSV()); err != nil {
						return err
					}
				}
			}
			return nil
		}}, nil
	}
}

var taskColumns = []string{
	"id", "stationCode", "state", "trigger", "taskCode", "title", "taskListCode", "taskListName", "scheduleId", "availableAt", "deadlineAt",
	"startedBy", "completedAt", "recordedAt", "completedBy", "note",
}

// exportTasks exports the Tasks that became available in the range, station by station and month by month.
func (api *API) exportTasks(c *rest.Call) func(x *report.Selection) (*rest.Table, error) {
	return func(x *report.Selection) (*rest.Table, error) {
		return &rest.Table{Header: taskColumns, Each: func(ctx context.Context, row func([]string) error) error {
			for _, s := range x.Stations {
				for from := s.Begin; from < s.End; from += 31 * instant.DayMs {
					if err := ctx.Err(); err != nil {
						return err
					}
					views, _, err := api.Tasks.List(c.Principal.AccountID, task.Query{Where: []task.Where{{StationCode: s.Code, From: from, To: min(s.End, from+31*instant.DayMs)}}, Limit: math.MaxInt32})
					if err != nil {
						return err
					}
					slices.Reverse(views) // oldest first
					for _, v := range views {
						if err := row(taskCells(v)); err != nil {
							return err
						}
					}
				}
			}
			return nil
		}}, nil
	}
}

func taskCells(v *task.View) []string {
	return []string{
		v.ID, v.StationCode, string(v.State), string(v.Trigger), v.TaskCode, v.Title, rest.OrEmpty(v.TaskListCode), rest.OrEmpty(v.TaskListName), rest.OrEmpty(v.ScheduleID),
		rest.TimeText(&v.AvailableAt), rest.TimeText(v.DeadlineAt), rest.OrEmpty(v.StartedBy), rest.TimeText(v.CompletedAt), rest.TimeText(v.RecordedAt), rest.OrEmpty(v.CompletedBy), rest.OrEmpty(v.Note),
	}
}

func (w *window) cells() []string {
	return []string{
		w.StationCode, w.WindowStartAt, w.WindowEndAt, rest.Integer(w.TotalMs), rest.Integer(w.ShiftMs), rest.Integer(w.ScheduledProductionMs), rest.Integer(w.ScheduledNonProductionMs),
		rest.Integer(w.OutOfShiftMs), rest.Integer(w.NoDataMs), rest.Integer(w.DowntimeMs), rest.Integer(w.SlowMs), rest.Integer(w.ProductiveMs), rest.Integer(w.IdleMs), rest.OrEmpty(w.DowntimeSince),
		rest.Decimal(&w.ProductionGoodCount), rest.Decimal(&w.ProductionBadCount), rest.Decimal(w.ProductionIdealCount), rest.Decimal(w.ProductionTargetCount), rest.Decimal(w.LineSpeedAvg),
		rest.Decimal(w.LineSpeedTarget), rest.Decimal(w.ElectricalKwh), rest.Integer(w.ElectricalKnownMs), rest.Decimal(w.RSSIAvg), strconv.FormatBool(w.IsAlive), strings.Join(w.ScheduleIDs, " "),
		strings.Join(w.IssueIDs, " "), strings.Join(w.ReasonCodes, " "), strings.Join(w.ErrorCodes, " "), rest.OrEmpty(w.SKUCode), rest.Integer(w.ManifestRevision), rest.OrEmpty(w.ShiftName),
		rest.Decimal(&w.UnscheduledGoodCount), rest.Decimal(&w.UnscheduledBadCount), rest.Decimal(&w.NoDataGoodCount), rest.Decimal(&w.NoDataBadCount),
	}
}
