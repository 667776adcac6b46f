package httpapi

import (
	"slices"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/report"
	"opsmon/app/work/schedule"
	"opsmon/schema"
)

// where reads which stations and which range of their time a list is about; without a range it is today's production day. A
// day is that of each station's own plant.
func (c *call) where() ([]schedule.Where, error) {
	_, all, err := c.allStations()
	if err != nil {
		return nil, err
	}
	chosen := c.stationsOf(all)
	if len(chosen) == 0 {
		c.rangeOf(utcDays, report.LongestDetail, "today")
	}
	list := make([]schedule.Where, 0, len(chosen))
	for _, s := range chosen {
		r, _ := c.rangeOf(s.Calendar, report.LongestDetail, "today")
		list = append(list, schedule.Where{StationCode: s.Code, Range: r})
	}
	return list, nil
}

// getSchedules answers GET /schedule (monitoring.md section 4).
func getSchedules(c *call) (reply, error) {
	states := some(c, "state", "planned, running, completed and deleted", func(name string) (schedule.State, bool) {
		return schedule.State(name), slices.Contains(schedule.States(), schedule.State(name))
	})
	f, err := c.filter()
	if err != nil {
		return reply{}, err
	}
	f.States = states
	views, total, err := c.api.cfg.Schedules.List(c.p.AccountID, f)
	if err != nil {
		return reply{}, err
	}
	return list(views, total)
}

// filter reads what lists of schedules and of entries have in common, and returns all that is wrong with the query.
func (c *call) filter() (f schedule.Filter, err error) {
	f.Limit, f.Skip = c.page(100, 1000)
	if f.Where, err = c.where(); err != nil {
		return f, err
	}
	return f, c.unclear()
}

// getSchedule answers GET /schedule/{scheduleId}.
func getSchedule(c *call) (reply, error) {
	v, err := c.api.cfg.Schedules.Get(c.p.AccountID, c.params.ByName("scheduleId"))
	if err != nil {
		return reply{}, err
	}
	return ok(v)
}

// postSchedule answers POST /schedule: without an id it makes a schedule, with one it changes it.
func postSchedule(c *call) (reply, error) {
	var in schedule.Input
	return c.act(schema.ScheduleWrite, false, &in, func(w *floor.Work) (any, error) { return c.api.cfg.Schedules.Write(w, c.p, in) })
}

// deleteSchedule answers DELETE /schedule/{scheduleId}.
func deleteSchedule(c *call) (reply, error) {
	return c.once(func(w *floor.Work) (any, error) {
		return nil, c.api.cfg.Schedules.Delete(w, c.p, c.params.ByName("scheduleId"))
	})
}

// startSchedule answers POST /schedule/{scheduleId}/start.
func startSchedule(c *call) (reply, error) {
	var in schedule.StartInput
	in.EndRunning = c.on("endrunning") // checkQuery has judged it
	return c.act(schema.ScheduleStart, true, &in, func(w *floor.Work) (any, error) {
		return c.api.cfg.Schedules.Start(w, c.p, c.params.ByName("scheduleId"), in)
	})
}

// endSchedule answers POST /schedule/{scheduleId}/end.
func endSchedule(c *call) (reply, error) {
	var in schedule.EndInput
	return c.act(schema.ScheduleEnd, true, &in, func(w *floor.Work) (any, error) {
		return c.api.cfg.Schedules.End(w, c.p, c.params.ByName("scheduleId"), in)
	})
}

// moveSchedule answers POST /schedule/{scheduleId}/move.
func moveSchedule(c *call) (reply, error) {
	var in schedule.MoveInput
	return c.act(schema.ScheduleMove, false, &in, func(w *floor.Work) (any, error) {
		return c.api.cfg.Schedules.Move(w, c.p, c.params.ByName("scheduleId"), in)
	})
}

// postQuickSchedule answers POST /quick-schedule.
func postQuickSchedule(c *call) (reply, error) {
	var in schedule.QuickInput
	in.EndRunning = c.on("endrunning") // checkQuery has judged it
	return c.act(schema.ScheduleQuick, false, &in, func(w *floor.Work) (any, error) { return c.api.cfg.Schedules.Quick(w, c.p, in) })
}
