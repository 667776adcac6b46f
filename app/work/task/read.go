package task

import (
	"cmp"
	"fmt"
	"slices"

	"opsmon/app/account/manifest"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

type listView = manifest.TaskListView

// View is a Task of a list that fell due at a station, with the texts of that time.
//
//openapi:schema TaskInstance
type View struct {
	ID          string `json:"id"`
	StationCode string `json:"stationCode"`
	State       State  `json:"state" schema:"enum=pending|completed|missed"`
	// The trigger that made it due: the list's, or the Task's own if the list has none.
	Trigger      Trigger      `json:"trigger"`
	TaskCode     string       `json:"taskCode"`
	Title        string       `json:"title"`
	Description  *string      `json:"description"`
	RequireNotes bool         `json:"requireNotes"` // completing it requires a note
	TaskListCode *string      `json:"taskListCode"` // null if the Task comes from the schedule's SKU
	TaskListName *string      `json:"taskListName"`
	Order        *float64     `json:"order"`       // position in the list
	ScheduleID   *string      `json:"scheduleId"`  // the schedule that made it due
	AvailableAt  instant.Time `json:"availableAt"` // when it became available
	// Deadline: the next time of the pattern, or the end of the schedule; null if not known yet.
	DeadlineAt  *instant.Time `json:"deadlineAt"`
	StartedBy   *string       `json:"startedBy"`   // initials of who started the list
	CompletedAt *instant.Time `json:"completedAt"` // null if that has not happened yet
	RecordedAt  *instant.Time `json:"recordedAt"`  // when the service received the completion
	CompletedBy *string       `json:"completedBy"` // initials
	Note        *string       `json:"note"`
}

func (i *instance) view() *View {
	v := &View{
		ID: i.id(), StationCode: i.station(), State: i.State, Trigger: i.text.Trigger, TaskCode: i.text.TaskCode, Title: i.text.Title,
		Description: orNil(i.text.Description), RequireNotes: i.text.RequireNotes, ScheduleID: orNil(i.Schedule),
		AvailableAt: instant.OfMs(i.at()), DeadlineAt: instant.OfMsOrNil(i.Deadline), StartedBy: orNil(i.Started),
		CompletedAt: instant.OfMsOrNil(i.Done), RecordedAt: instant.OfMsOrNil(i.Noted), CompletedBy: orNil(i.Initials), Note: orNil(i.Note),
	}
	if i.text.ListCode != "" {
		v.TaskListCode, v.TaskListName, v.Order = &i.text.ListCode, &i.text.ListName, &i.text.Order
	}
	return v
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Query selects Tasks to list.
type Query struct {
	Where  []Where
	States []State // empty: all
	// Whole ignores the time ranges and returns all pending Tasks. States must then be only Pending.
	Whole       bool
	Limit, Skip int
}

// Where is a station and the range in which its Tasks became available, [From, To), ms.
type Where struct {
	StationCode string
	From, To    int64
}

// maxListed limits the Tasks of a list over all its pages.
const maxListed = 100_000

// List returns a page of the Tasks of stations, and their total number. Pending Tasks are ordered by deadline, those
// without one last; others by the time at which they became available, the newest first. Errors: Invalid (from) if too
// many Tasks are in the range.
func (s *Service) List(accountID string, q Query) (list []*View, total int, err error) {
	err = s.cfg.Store.View(func(tx *kv.Tx) error {
		found, err := q.find(tx, accountID)
		if err != nil {
			return err
		}
		total = len(found)
		found = found[min(q.Skip, total):]
		r := newReader(tx, accountID)
		list = []*View{}
		for _, f := range found[:min(q.Limit, len(found))] {
			i, err := r.instance(f.key, f.record)
			if err != nil {
				return err
			}
			list = append(list, i.view())
		}
		return nil
	})
	return list, total, err
}

func (q *Query) find(tx *kv.Tx, accountID string) (found []instance, err error) {
	r := newReader(tx, accountID)
	for _, w := range q.Where {
		if q.Whole {
			current, err := r.current(w.StationCode)
			if err != nil {
				return nil, err
			}
			for _, i := range current {
				if i.State == Pending {
					found = append(found, *i)
				}
			}
			continue
		}
		for item, err := range instances.Scan(tx, during(accountID, w.StationCode, w.From, w.To)) {
			if err != nil {
				return nil, fmt.Errorf("read the Tasks of %s: %w", w.StationCode, err)
			}
			if len(q.States) > 0 && !slices.Contains(q.States, item.Value.State) {
				continue
			}
			if len(found) == maxListed {
				return nil, errdefs.InvalidField("from", "must make a range with at most %d Tasks; ask for a shorter one, or for fewer stations", maxListed)
			}
			found = append(found, instance{key: item.Key, record: item.Value})
		}
	}
	slices.SortStableFunc(found, func(a, b instance) int {
		if !q.Whole {
			return cmp.Or(cmp.Compare(b.at(), a.at()), cmp.Compare(a.station(), b.station()), cmp.Compare(a.key.B.B.B, b.key.B.B.B))
		}
		late := func(i *instance) int64 {
			if i.Deadline == 0 {
				return forever
			}
			return i.Deadline
		}
		return cmp.Or(cmp.Compare(late(&a), late(&b)), cmp.Compare(a.at(), b.at()), cmp.Compare(a.station(), b.station()), cmp.Compare(a.key.B.B.B, b.key.B.B.B))
	})
	return found, nil
}
