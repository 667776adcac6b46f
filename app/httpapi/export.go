package httpapi

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
	"opsmon/app/instant"
	"opsmon/app/work/schedule"
	"opsmon/app/work/task"
)

// exportRoutes returns the operations on exports.
func (api *figuresAPI) exportRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/export/:table", handle: api.getExport,
			query: append(chosenBy(), "resolution"),
			operation: openapi.Operation{
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
func (api *figuresAPI) export(name string) func(c *call) func(x *report.Selection) (*table, error) {
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
func (api *figuresAPI) getExport(c *call) (reply, error) {
	name := c.params.ByName("table")
	export := api.export(name)
	if export == nil {
		return reply{}, errdefs.New(errdefs.NotFound, "there is no such table; there are windows, schedules, issues and tasks")
	}
	of := export(c)
	x, err := c.choose(report.LongestDetail, "")
	if err != nil {
		return reply{}, err
	}
	if err := c.long(x, longDetail); err != nil {
		return reply{}, err
	}
	t, err := of(x)
	if err != nil {
		return reply{}, err
	}
	file := name + "-" + instant.FormatMs(x.From)[:10] + ".csv"
	return reply{chunked: &chunked{kind: csvType, name: file, run: func(ctx context.Context, w io.Writer) error {
		b := bufio.NewWriterSize(w, 64<<10)
		writeCSV(b, t.header)
		err := t.each(ctx, func(cells []string) error { return writeCSV(b, cells) })
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
func (api *figuresAPI) exportWindows(c *call) func(x *report.Selection) (*table, error) {
	by := resolution(c)
	return func(x *report.Selection) (*table, error) {
		all, err := api.Reports.Windows(x, by)
		if err != nil {
			return nil, err
		}
		return &table{windowColumns, func(ctx context.Context, row func([]string) error) error {
			return all.Each(ctx, func(w *report.Window) error { return row(windowOf(w).cells()) })
		}}, nil
	}
}

// exportSchedules exports the schedules that overlap the range, station by station.
func (api *figuresAPI) exportSchedules(c *call) func(x *report.Selection) (*table, error) {
	return func(x *report.Selection) (*table, error) {
		return &table{schedule.CSVHeader(), func(ctx context.Context, row func([]string) error) error {
			for _, s := range x.Stations {
				if err := ctx.Err(); err != nil {
					return err
				}
				f := schedule.Filter{Where: []schedule.Where{{StationCode: s.Code, Range: calendar.Range{Start: s.Begin, End: s.End}}}, Limit: schedule.MaxListed}
				views, _, err := api.Schedules.List(c.p.AccountID, f)
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
func (api *figuresAPI) exportTasks(c *call) func(x *report.Selection) (*table, error) {
	return func(x *report.Selection) (*table, error) {
		return &table{taskColumns, func(ctx context.Context, row func([]string) error) error {
			for _, s := range x.Stations {
				for from := s.Begin; from < s.End; from += 31 * instant.DayMs {
					if err := ctx.Err(); err != nil {
						return err
					}
					views, _, err := api.Tasks.List(c.p.AccountID, task.Query{Where: []task.Where{{StationCode: s.Code, From: from, To: min(s.End, from+31*instant.DayMs)}}, Limit: math.MaxInt32})
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
		v.ID, v.StationCode, string(v.State), string(v.Trigger), v.TaskCode, v.Title, orEmpty(v.TaskListCode), orEmpty(v.TaskListName), orEmpty(v.ScheduleID),
		timeText(&v.AvailableAt), timeText(v.DeadlineAt), orEmpty(v.StartedBy), timeText(v.CompletedAt), timeText(v.RecordedAt), orEmpty(v.CompletedBy), orEmpty(v.Note),
	}
}

func (w *window) cells() []string {
	return []string{
		w.StationCode, w.WindowStartAt, w.WindowEndAt, whole(w.TotalMs), whole(w.ShiftMs), whole(w.ScheduledProductionMs), whole(w.ScheduledNonProductionMs),
		whole(w.OutOfShiftMs), whole(w.NoDataMs), whole(w.DowntimeMs), whole(w.SlowMs), whole(w.ProductiveMs), whole(w.IdleMs), orEmpty(w.DowntimeSince),
		decimal(&w.ProductionGoodCount), decimal(&w.ProductionBadCount), decimal(w.ProductionIdealCount), decimal(w.ProductionTargetCount), decimal(w.LineSpeedAvg),
		decimal(w.LineSpeedTarget), decimal(w.ElectricalKwh), whole(w.ElectricalKnownMs), decimal(w.RSSIAvg), strconv.FormatBool(w.IsAlive), strings.Join(w.ScheduleIDs, " "),
		strings.Join(w.IssueIDs, " "), strings.Join(w.ReasonCodes, " "), strings.Join(w.ErrorCodes, " "), orEmpty(w.SKUCode), whole(w.ManifestRevision), orEmpty(w.ShiftName),
		decimal(&w.UnscheduledGoodCount), decimal(&w.UnscheduledBadCount), decimal(&w.NoDataGoodCount), decimal(&w.NoDataBadCount),
	}
}
