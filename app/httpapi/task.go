package httpapi

import (
	"slices"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/station"
	"opsmon/app/work/task"
	"opsmon/schema"
)

// How long a range of Tasks may be, of one station and of several; and how far back one goes that is not given.
const (
	tasksOfOne     = 400 * 24 * time.Hour
	tasksOfSeveral = 31 * 24 * time.Hour
	tasksUsually   = 7 * 24 * time.Hour
)

// getTasks answers GET /task (monitoring.md section 5).
func getTasks(c *call) (reply, error) {
	_, all, err := c.allStations()
	if err != nil {
		return reply{}, err
	}
	q := task.Query{}
	q.Limit, q.Skip = c.page(100, 1000)
	q.States = some(c, "state", "pending, completed and missed", func(name string) (task.State, bool) {
		return task.State(name), slices.Contains([]task.State{task.Pending, task.Completed, task.Missed}, task.State(name))
	})
	c.taskRanges(&q, c.taskStations(all))
	if err := c.unclear(); err != nil {
		return reply{}, err
	}
	results, total, err := c.api.cfg.Tasks.List(c.p.AccountID, q)
	if err != nil {
		return reply{}, err
	}
	return list(results, total)
}

func (c *call) taskStations(all []*station.Station) []*station.Station {
	chosen := c.stationsOf(all)
	if code := c.query("stationcode"); code != "" {
		if chosen = slices.DeleteFunc(slices.Clone(chosen), func(s *station.Station) bool { return s.Code != code }); len(chosen) == 0 {
			c.fault("stationcode", "names the station %q, which is not among those that are asked for", shorten(code))
		}
	}
	return chosen
}

// taskRanges reads which time of each station is asked for; a day is that of its own plant.
func (c *call) taskRanges(q *task.Query, chosen []*station.Station) {
	most := tasksOfSeveral
	if len(chosen) == 1 {
		most = tasksOfOne
	}
	now := c.api.cfg.Floor.Time()
	if len(chosen) == 0 {
		c.rangeOf(utcDays, most, "today")
	}
	for _, s := range chosen {
		r, given := c.rangeOf(s.Calendar, most, "today")
		if !given {
			r = calendar.Range{Start: now - tasksUsually.Milliseconds(), End: now + 1}
			q.Whole = len(q.States) == 1 && q.States[0] == task.Pending
		}
		q.Where = append(q.Where, task.Where{StationCode: s.Code, From: r.Start, To: r.End})
	}
}

// momentOf reads the field at of a write, whose form the schema has judged; nil for none.
func momentOf(text string) *int64 {
	t, err := readTime("at", text)
	if err != nil {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

// completeTask answers POST /task/{id}/complete.
func completeTask(c *call) (reply, error) {
	var in struct {
		task.Completion
		At string `json:"at"`
	}
	return c.act(schema.TaskComplete, false, &in, func(w *floor.Work) (any, error) {
		in.Completion.At = momentOf(in.At)
		return c.api.cfg.Tasks.Complete(w, c.p, c.params.ByName("taskId"), in.Completion)
	})
}

// startedTaskList is what a start has made.
//
//openapi:schema StartedTaskList
type startedTaskList struct {
	Tasks []*task.View `json:"tasks" schema:"ref=TaskInstance"`
}

// startTaskList answers POST /task-list/{code}/start.
func startTaskList(c *call) (reply, error) {
	var in struct {
		task.ListStart
		At string `json:"at"`
	}
	return c.act(schema.TaskListStart, false, &in, func(w *floor.Work) (any, error) {
		in.ListStart.At = momentOf(in.At)
		made, err := c.api.cfg.Tasks.Start(w, c.p, c.params.ByName("taskListCode"), in.ListStart)
		return startedTaskList{made}, err
	})
}
