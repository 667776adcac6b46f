// Package work serves what people do at stations: schedules, counts, stops, Tasks, messages and notes.
package work

import (
	"net/http"
	"slices"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/report"
	"opsmon/app/engine/station"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/idempotency"
	"opsmon/app/work/issue"
	"opsmon/app/work/message"
	"opsmon/app/work/schedule"
	"opsmon/app/work/task"
	"opsmon/schema"
)

// API has the services of these operations.
type API struct {
	Floor     *floor.Floor
	Schedules *schedule.Service
	Issues    *issue.Service
	Tasks     *task.Service
	Messages  *message.Service
	Notes     *station.Notes
	Requests  *idempotency.Service
}

// Routes returns the operations.
func (api *API) Routes() []rest.Route {
	return slices.Concat(
		api.noteRoutes(), api.scheduleRoutes(), api.productionRoutes(), api.refusedRoutes(), api.taskRoutes(),
		api.messageRoutes(), api.issueRoutes(),
	)
}

// scheduleRoutes returns the operations on schedules.
func (api *API) scheduleRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/schedule", Handle: api.getSchedules,
			Query: append(rest.SelectionParams(), "state", "limit", "skip"),
			Operation: openapi.Operation{
				ID: "listSchedules", Tag: "Schedule", Summary: "List schedules",
				About: "Schedules that overlap the range, by start. The default range is today's production day. A " +
					"planned schedule without a known end counts as a moment. Counts change while late signals " +
					"arrive.",
				Answer: "A page of schedules.", Form: openapi.FormPage, Gives: "Schedule", Also: []int{400},
				Sample: scheduleSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/schedule", Handle: api.postSchedule, Body: true, Role: auth.Supervisor,
			Once: true, Query: []string{"dryrun"},
			Operation: openapi.Operation{
				ID: "writeSchedule", Tag: "Schedule", Summary: "Create or change a schedule",
				About: "Without `id`, creates a schedule. With it, changes the fields that are sent: any field of a " +
					"planned schedule; quantity, end and note of a running one.\n\nWith `dryrun=true` everything " +
					"is checked and the answer is the result, but nothing is stored, no idempotency key is used, " +
					"and a refusal is not listed.\n\n403: the schedule has its own partsPerCycle, or moves to " +
					"another station, and the flag for that is off. 409: it overlaps another of its kind, a " +
					"schedule with the same SKU and planned start exists, or it has ended.",
				Answer: "The schedule as it is now.", Body: schema.ScheduleWrite, Form: openapi.FormResult, Gives: "Schedule",
				Also: []int{404, 409}, Sample: scheduleSample,
				Params: openapi.Params{
					"dryrun": {
						About:  "Check and return the result, but store nothing.",
						Schema: `{"type": "boolean", "default": false}`, Example: true,
					},
				},
			},
		},
		{
			Method: http.MethodGet, Path: "/schedule/:scheduleId", Handle: api.getSchedule,
			Operation: openapi.Operation{
				ID: "getSchedule", Tag: "Schedule", Summary: "Read a schedule",
				Answer: "The schedule.", Form: openapi.FormResult, Gives: "Schedule", Also: []int{404},
				Sample: scheduleSample,
			},
		},
		{
			Method: http.MethodDelete, Path: "/schedule/:scheduleId", Handle: api.deleteSchedule, Role: auth.Supervisor,
			Once: true,
			Operation: openapi.Operation{
				ID: "deleteSchedule", Tag: "Schedule", Summary: "Delete a planned schedule",
				About:  "Deleting a deleted schedule succeeds. 409: the schedule has started.",
				Answer: "Deleted.", Form: openapi.FormEmpty, Also: []int{404, 409},
			},
		},
		{
			Method: http.MethodPost, Path: "/schedule/:scheduleId/start", Handle: api.startSchedule, Body: true,
			Role: auth.Operator, Once: true, Query: []string{"endrunning"},
			Operation: openapi.Operation{
				ID: "startSchedule", Tag: "Schedule", Summary: "Start a schedule",
				About: "A station runs one production and one non-production schedule at a time; the non-production " +
					"one pauses the other. The body is optional.\n\n403: the schedule moves to another station, " +
					"or corrects the past, and the flag for that is off; or an operator would cut a running " +
					"schedule short. 409: another schedule of its kind runs (the message names it) or ran then, " +
					"or the schedule is not planned.",
				Answer: "The schedule, running.", Body: schema.ScheduleStart, Optional: true, Form: openapi.FormResult,
				Gives: "Schedule", Also: []int{404, 409}, Sample: scheduleSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/schedule/:scheduleId/end", Handle: api.endSchedule, Body: true,
			Role: auth.Operator, Once: true,
			Operation: openapi.Operation{
				ID: "endSchedule", Tag: "Schedule", Summary: "End a schedule",
				About: "Ending a schedule before its planned end cuts it short. The body is optional.\n\n403: it " +
					"would be cut short, and enableScheduleCutShort is off. 409: the schedule does not run.",
				Answer: "The schedule, completed.", Body: schema.ScheduleEnd, Optional: true, Form: openapi.FormResult,
				Gives: "Schedule", Also: []int{404, 409}, Sample: scheduleSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/schedule/:scheduleId/move", Handle: api.moveSchedule, Body: true,
			Role: auth.Supervisor, Once: true, Query: []string{"dryrun"},
			Operation: openapi.Operation{
				ID: "moveSchedule", Tag: "Schedule", Summary: "Move a planned schedule",
				About: "To another station where enableDragBetweenStationsOnGantt is on, or within the group where " +
					"enableScheduleStationFlexibility is; or to another time. A planned end moves with the " +
					"start. With `dryrun=true` it is only checked, as for `POST /schedule`.\n\n409: as for `POST " +
					"/schedule`, or the schedule has started.",
				Answer: "The schedule as it is now.", Body: schema.ScheduleMove, Form: openapi.FormResult, Gives: "Schedule",
				Also: []int{404, 409}, Sample: scheduleSample,
				Params: openapi.Params{
					"dryrun": {
						About:  "Check and return the result, but store nothing.",
						Schema: `{"type": "boolean", "default": false}`, Example: true,
					},
				},
			},
		},
		{
			Method: http.MethodPost, Path: "/quick-schedule", Handle: api.postQuickSchedule, Body: true,
			Role: auth.Operator, Once: true, Query: []string{"endrunning"},
			Operation: openapi.Operation{
				ID: "quickSchedule", Tag: "Schedule", Summary: "Start an unplanned schedule",
				About: "For a SKU with allowUseInQuickSchedule, or a non-production reason. Tablets must send " +
					"initials.\n\n403: enableQuickScheduleStart is off at the station. 409: another schedule of " +
					"its kind runs.",
				Answer: "The schedule, running.", Body: schema.ScheduleQuick, Form: openapi.FormResult, Gives: "Schedule",
				Also: []int{409}, Sample: scheduleSample,
			},
		},
	}
}

// where parses the stations and their ranges for a list; the default is today's production day. A day is that of each
// station's plant.
func where(c *rest.Call) ([]schedule.Where, error) {
	_, all, err := c.AllStations()
	if err != nil {
		return nil, err
	}
	chosen := c.StationsOf(all)
	if len(chosen) == 0 {
		c.RangeOf(rest.UTCDays, report.LongestDetail, "today")
	}
	list := make([]schedule.Where, 0, len(chosen))
	for _, s := range chosen {
		r, _ := c.RangeOf(s.Calendar, report.LongestDetail, "today")
		list = append(list, schedule.Where{StationCode: s.Code, Range: r})
	}
	return list, nil
}

// getSchedules handles GET /schedule (monitoring.md section 4).
func (api *API) getSchedules(c *rest.Call) (rest.Reply, error) {
	states := rest.Some(c, "state", "planned, running, completed and deleted", func(name string) (schedule.State, bool) {
		return schedule.State(name), slices.Contains(schedule.States(), schedule.State(name))
	})
	f, err := filter(c)
	if err != nil {
		return rest.Reply{}, err
	}
	f.States = states
	views, total, err := api.Schedules.List(c.Principal.AccountID, f)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.List(views, total)
}

// filter parses the common parameters of lists of schedules and entries, and returns all problems with the query.
func filter(c *rest.Call) (f schedule.Filter, err error) {
	f.Limit, f.Skip = c.Page(100, 1000)
	if f.Where, err = where(c); err != nil {
		return f, err
	}
	return f, c.QueryError()
}

// getSchedule handles GET /schedule/{scheduleId}.
func (api *API) getSchedule(c *rest.Call) (rest.Reply, error) {
	v, err := api.Schedules.Get(c.Principal.AccountID, c.Params.ByName("scheduleId"))
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(v)
}

// postSchedule handles POST /schedule: it creates a schedule, or changes the one with the given ID.
func (api *API) postSchedule(c *rest.Call) (rest.Reply, error) {
	var in schedule.Input
	return c.FloorWrite(schema.ScheduleWrite, false, &in, func(w *floor.Work) (any, error) { return api.Schedules.Write(w, c.Principal, in) })
}

// deleteSchedule handles DELETE /schedule/{scheduleId}.
func (api *API) deleteSchedule(c *rest.Call) (rest.Reply, error) {
	return c.RunOnce(func(w *floor.Work) (any, error) {
		return nil, api.Schedules.Delete(w, c.Principal, c.Params.ByName("scheduleId"))
	})
}

// startSchedule handles POST /schedule/{scheduleId}/start.
func (api *API) startSchedule(c *rest.Call) (rest.Reply, error) {
	var in schedule.StartInput
	in.EndRunning = c.On("endrunning") // validated by checkQuery
	return c.FloorWrite(schema.ScheduleStart, true, &in, func(w *floor.Work) (any, error) {
		return api.Schedules.Start(w, c.Principal, c.Params.ByName("scheduleId"), in)
	})
}

// endSchedule handles POST /schedule/{scheduleId}/end.
func (api *API) endSchedule(c *rest.Call) (rest.Reply, error) {
	var in schedule.EndInput
	return c.FloorWrite(schema.ScheduleEnd, true, &in, func(w *floor.Work) (any, error) {
		return api.Schedules.End(w, c.Principal, c.Params.ByName("scheduleId"), in)
	})
}

// moveSchedule handles POST /schedule/{scheduleId}/move.
func (api *API) moveSchedule(c *rest.Call) (rest.Reply, error) {
	var in schedule.MoveInput
	return c.FloorWrite(schema.ScheduleMove, false, &in, func(w *floor.Work) (any, error) {
		return api.Schedules.Move(w, c.Principal, c.Params.ByName("scheduleId"), in)
	})
}

// postQuickSchedule handles POST /quick-schedule.
func (api *API) postQuickSchedule(c *rest.Call) (rest.Reply, error) {
	var in schedule.QuickInput
	in.EndRunning = c.On("endrunning") // validated by checkQuery
	return c.FloorWrite(schema.ScheduleQuick, false, &in, func(w *floor.Work) (any, error) { return api.Schedules.Quick(w, c.Principal, in) })
}

// scheduleSample is an example of an answer.
const scheduleSample = `{"id":"q4m2x7c3w6zd","stationCode":"PACK-1","kind":"production","type":"fixedQuantity",
	"state":"running","paused":false,"skuCode":"BK-1000","reasonCode":null,"workOrderReference":"WO-20417",
	"plannedStartAt":"2026-11-20T06:00:00.000Z","plannedEndAt":null,"plannedQuantity":4800,"cycleTime":null,
	"unitsPerMinute":null,"unitsPerHour":null,"lineSpeedTarget":null,"partsPerCycle":null,"autoStart":true,
	"autoEnd":false,"autoEndOnQuantityComplete":true,"extendShift":false,"note":null,
	"expectedEndAt":"2026-11-20T07:36:00.000Z","expectedQuantity":4800,"rate":{"unitsPerMinute":50,"from":"sku"},
	"actualStartAt":"2026-11-20T06:00:00.000Z","actualEndAt":null,"goodCount":1311,"badCount":9,"otherCount":0,
	"unappliedEntries":0,"events":[{"move":"create","at":"2026-11-19T15:12:04.551Z",
	"recordedAt":"2026-11-19T15:12:04.551Z","by":"planner@acme.example","initials":null,"note":null},
	{"move":"autoStart","at":"2026-11-20T06:00:00.000Z","recordedAt":"2026-11-20T06:00:00.412Z","by":"service",
	"initials":null,"note":null}],"createdAt":"2026-11-19T15:12:04.551Z","updatedAt":"2026-11-20T06:00:00.412Z"}`
