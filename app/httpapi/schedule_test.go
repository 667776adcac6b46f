package httpapi

import (
	"encoding/json"
	"fmt"
	"time"

	"opsmon/app/auth"
	"opsmon/app/floor"
	"opsmon/app/schedule"
)

// planned makes a continuous schedule of acme at PACK-1, each at a start of its own.
func (s *server) planned() *schedule.View {
	s.t.Helper()
	var made *schedule.View
	start := s.clock.now().Add(time.Duration(s.from.Add(1)) * time.Minute)
	in := schedule.Input{
		StationCode: schedule.Give("PACK-1"), SKUCode: schedule.Give("B2"), PlannedStart: schedule.Give(schedule.Moment(start.UnixMilli())),
	}
	s.must(nil, s.floor.Do("acme", func(w *floor.Work) (err error) {
		made, err = s.schedules.Write(w, auth.Local("acme"), in)
		return err
	}))
	return made
}

// running makes a schedule that runs; one that ran before ends.
func (s *server) running() *schedule.View {
	s.t.Helper()
	made := s.planned()
	s.must(nil, s.floor.Do("acme", func(w *floor.Work) (err error) {
		_, err = s.schedules.Start(w, auth.Local("acme"), made.ID, schedule.StartInput{EndRunning: true})
		return err
	}))
	return made
}

func newSchedule(s *server, _ caller) ask {
	start := s.clock.now().Add(time.Duration(s.from.Add(1)) * time.Minute)
	return ask{path: "/schedule", body: `{"stationCode":"PACK-1","skuCode":"B2","plannedStartAt":"` + start.UTC().Format(time.RFC3339Nano) + `"}`}
}

func someSchedule(then string) func(*server, caller) ask {
	return func(s *server, _ caller) ask { return ask{path: "/schedule/" + s.planned().ID + then} }
}

func runningSchedule(then string) func(*server, caller) ask {
	return func(s *server, _ caller) ask { return ask{path: "/schedule/" + s.running().ID + then} }
}

func movable(s *server, c caller) ask {
	a := newSchedule(s, c)
	var body struct {
		PlannedStartAt string `json:"plannedStartAt"`
	}
	s.must(nil, json.Unmarshal([]byte(a.body), &body))
	return ask{path: "/schedule/" + s.planned().ID + "/move", body: `{"plannedStartAt":"` + body.PlannedStartAt + `"}`}
}

func someProduction(then string) func(*server, caller) ask {
	return func(s *server, _ caller) ask {
		running := s.running()
		if then == "" {
			return ask{path: "/production", body: `{"stationCode":"PACK-1","good":5,"initials":"abc"}`}
		}
		var made *schedule.EntryView
		s.must(nil, s.floor.Do("acme", func(w *floor.Work) (err error) {
			made, err = s.schedules.Enter(w, auth.Local("acme"), schedule.EntryInput{StationCode: "PACK-1", ScheduleID: running.ID, Good: 5, Initials: "abc"})
			return err
		}))
		return ask{path: fmt.Sprintf("/production/%s/%s", made.ID, then), body: `{"initials":"abc"}`}
	}
}
