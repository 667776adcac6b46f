package work

import (
	"net/http"
	"slices"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/calendar"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/work/task"
	"opsmon/schema"
)

// taskRoutes returns the operations on Tasks.
func (api *API) taskRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/task", Handle: api.getTasks,
			Query: append(rest.SelectionParams(), "stationcode", "state", "limit", "skip"),
			Operation: openapi.Operation{
				ID: "listTasks", Tag: "Task", Summary: "List Tasks",
				About: "One entry for each time that a Task of a list falls due at a station. With `state=pending` " +
					"and no range: all pending Tasks by deadline. Otherwise: Tasks that became available in the " +
					"range (default: the last seven days), newest first. The range may be 400 days for one " +
					"station and 31 for several.\n\nTasks are created only where `enableTasks` is on, and never " +
					"at energy meters. When it is turned off, pending Tasks of running schedules and started " +
					"lists stay until they can be completed again, or are missed at the end of their schedule. " +
					"Completed and missed Tasks are retained for 400 days, at most 10,000 for a station.",
				Answer: "A page of Tasks.", Form: openapi.FormPage, Gives: "TaskInstance", Also: []int{400, 503},
				Sample: taskSample,
				Params: openapi.Params{
					"state": {
						About:  "Only these states, separated by commas.",
						Schema: `{"type": "string"}`, Example: "pending",
					},
				},
			},
		},
		{
			Method: http.MethodPost, Path: "/task/:taskId/complete", Handle: api.completeTask, Body: true,
			Role: auth.Operator, Once: true,
			Operation: openapi.Operation{
				ID: "completeTask", Tag: "Task", Summary: "Complete a Task",
				About: "At stations on which the caller may act. A missed Task can be completed with an `at` before " +
					"its deadline, up to 24 hours back, for tablets that were offline.\n\n403: the caller may " +
					"not act on this station, or `enableTasks` is off. 409: the Task was completed before, or " +
					"missed.",
				Answer: "The Task as it is now.", Body: schema.TaskComplete, Form: openapi.FormResult, Gives: "TaskInstance",
				Also: []int{404, 409, 503}, Sample: taskSample,
				Params: openapi.Params{
					"taskId": {
						About:  "Identifier of the Task.",
						Schema: `{"type": "string", "minLength": 1}`, Example: "PACK-1.mqwkm4g0.0",
					},
				},
			},
		},
		{
			Method: http.MethodPost, Path: "/task-list/:taskListCode/start", Handle: api.startTaskList, Body: true,
			Role: auth.Operator, Once: true,
			Operation: openapi.Operation{
				ID: "startTaskList", Tag: "Task", Summary: "Start a Task list",
				About: "The list's on-demand Tasks are pending until they are completed; they have no " +
					"deadline.\n\n403: the caller may not act on this station, or `enableTasks` is off. 404: the " +
					"list is not available at the station. 409: the list has no on-demand Task, or Tasks of an " +
					"earlier start are pending.",
				Answer: "The Tasks, in their order.", Body: schema.TaskListStart, Form: openapi.FormResult,
				Gives: "StartedTaskList", Also: []int{404, 409, 503},
				Sample: `{"tasks":[` + taskSample + `]}`,
				Params: openapi.Params{
					"taskListCode": {
						About:  "Code of the Task list.",
						Schema: `{"type": "string", "minLength": 1}`, Example: "CLEAN",
					},
				},
			},
		},
	}
}

// The longest ranges of Tasks, of one station and of several, and the default range.
const (
	tasksOfOne     = 400 * 24 * time.Hour
	tasksOfSeveral = 31 * 24 * time.Hour
	tasksUsually   = 7 * 24 * time.Hour
)

// getTasks handles GET /task (monitoring.md section 5).
func (api *API) getTasks(c *rest.Call) (rest.Reply, error) {
	_, all, err := c.AllStations()
	if err != nil {
		return rest.Reply{}, err
	}
	q := task.Query{}
	q.Limit, q.Skip = c.Page(100, 1000)
	q.States = rest.Some(c, "state", "pending, completed and missed", func(name string) (task.State, bool) {
		return task.State(name), slices.Contains([]task.State{task.Pending, task.Completed, task.Missed}, task.State(name))
	})
	api.taskRanges(c, &q, taskStations(c, all))
	if err := c.QueryError(); err != nil {
		return rest.Reply{}, err
	}
	results, total, err := api.Tasks.List(c.Principal.AccountID, q)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.List(results, total)
}

func taskStations(c *rest.Call, all []*station.Station) []*station.Station {
	chosen := c.StationsOf(all)
	if code := c.Query("stationcode"); code != "" {
		if chosen = slices.DeleteFunc(slices.Clone(chosen), func(s *station.Station) bool { return s.Code != code }); len(chosen) == 0 {
			c.Fault("stationcode", "names the station %q, which is not among those that are asked for", errdefs.Shorten(code))
		}
	}
	return chosen
}

// taskRanges parses the range of each station; a day is that of its plant.
func (api *API) taskRanges(c *rest.Call, q *task.Query, chosen []*station.Station) {
	most := tasksOfSeveral
	if len(chosen) == 1 {
		most = tasksOfOne
	}
	now := api.Floor.Time()
	if len(chosen) == 0 {
		c.RangeOf(rest.UTCDays, most, "today")
	}
	for _, s := range chosen {
		r, given := c.RangeOf(s.Calendar, most, "today")
		if !given {
			r = calendar.Range{Start: now - tasksUsually.Milliseconds(), End: now + 1}
			q.Whole = len(q.States) == 1 && q.States[0] == task.Pending
		}
		q.Where = append(q.Where, task.Where{StationCode: s.Code, From: r.Start, To: r.End})
	}
}

// completeTask handles POST /task/{id}/complete.
func (api *API) completeTask(c *rest.Call) (rest.Reply, error) {
	var in struct {
		task.Completion
		At string `json:"at"`
	}
	return c.FloorWrite(schema.TaskComplete, false, &in, func(w *floor.Work) (any, error) {
		in.Completion.At = rest.MomentOf(in.At)
		return api.Tasks.Complete(w, c.Principal, c.Params.ByName("taskId"), in.Completion)
	})
}

// startedTaskList is the result of starting a Task list.
//
//openapi:schema StartedTaskList
type startedTaskList struct {
	Tasks []*task.View `json:"tasks" schema:"ref=TaskInstance"`
}

// startTaskList handles POST /task-list/{code}/start.
func (api *API) startTaskList(c *rest.Call) (rest.Reply, error) {
	var in struct {
		task.ListStart
		At string `json:"at"`
	}
	return c.FloorWrite(schema.TaskListStart, false, &in, func(w *floor.Work) (any, error) {
		in.ListStart.At = rest.MomentOf(in.At)
		made, err := api.Tasks.Start(w, c.Principal, c.Params.ByName("taskListCode"), in.ListStart)
		return startedTaskList{made}, err
	})
}

// taskSample is an example of an answer.
const taskSample = `{"id":"PACK-1.mqwkm4g0.0","stationCode":"PACK-1","state":"pending","trigger":"cron",
	"taskCode":"WALK","title":"Walk round the machine","description":null,"requireNotes":true,"taskListCode":"ROUND",
	"taskListName":"Round","order":1,"scheduleId":null,"availableAt":"2026-11-20T07:30:00.000Z",
	"deadlineAt":"2026-11-20T08:00:00.000Z","startedBy":null,"completedAt":null,"recordedAt":null,"completedBy":null,
	"note":null}`
