package httpapi

import (
	"slices"
	"time"

	"opsmon/app/calendar"
	"opsmon/app/errdefs"
	"opsmon/app/floor"
	"opsmon/app/station"
	"opsmon/app/task"
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
	if q.Limit, q.Skip, err = c.page(100, 1000); err != nil {
		return reply{}, err
	}
	if err := c.taskStates(&q); err != nil {
		return reply{}, err
	}
	chosen, err := c.taskStations(all)
	if err != nil {
		return reply{}, err
	}
	if err := c.taskRanges(&q, chosen); err != nil {
		return reply{}, err
	}
	results, total, err := c.api.cfg.Tasks.List(c.p.AccountID, q)
	if err != nil {
		return reply{}, err
	}
	return list(results, total)
}

func (c *call) taskStates(q *task.Query) error {
	for _, name := range parts(c.r.URL.Query().Get("state")) {
		state := task.State(name)
		if !slices.Contains([]task.State{task.Pending, task.Completed, task.Missed}, state) {
			return errdefs.InvalidField("state", "must be some of pending, completed and missed, with commas between them; it has %q", shorten(name))
		}
		q.States = append(q.States, state)
	}
	return nil
}

func (c *call) taskStations(all []*station.Station) ([]*station.Station, error) {
	chosen, err := c.stationsOf(all)
	if err != nil {
		return nil, err
	}
	if code := c.r.URL.Query().Get("stationcode"); code != "" {
		if chosen = slices.DeleteFunc(slices.Clone(chosen), func(s *station.Station) bool { return s.Code != code }); len(chosen) == 0 {
			return nil, errdefs.InvalidField("stationcode", "names the station %q, which is not among those that are asked for", shorten(code))
		}
	}
	return chosen, nil
}

// taskRanges reads which time of each station is asked for; a day is that of its own plant.
func (c *call) taskRanges(q *task.Query, chosen []*station.Station) error {
	most := tasksOfSeveral
	if len(chosen) == 1 {
		most = tasksOfOne
	}
	now := c.api.cfg.Floor.Time()
	for _, s := range chosen {
		r, given, err := readRange(c.r.URL.Query(), s.Calendar, now, most)
		if err != nil {
			return err
		}
		if !given {
			r = calendar.Range{Start: now - tasksUsually.Milliseconds(), End: now + 1}
			q.Whole = len(q.States) == 1 && q.States[0] == task.Pending
		}
		q.Where = append(q.Where, task.Where{StationCode: s.Code, From: r.Start, To: r.End})
	}
	return nil
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

// startTaskList answers POST /task-list/{code}/start.
func startTaskList(c *call) (reply, error) {
	var in struct {
		task.ListStart
		At string `json:"at"`
	}
	return c.act(schema.TaskListStart, false, &in, func(w *floor.Work) (any, error) {
		in.ListStart.At = momentOf(in.At)
		made, err := c.api.cfg.Tasks.Start(w, c.p, c.params.ByName("taskListCode"), in.ListStart)
		return struct {
			Tasks []*task.View `json:"tasks"`
		}{made}, err
	})
}
