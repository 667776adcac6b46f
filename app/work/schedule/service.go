package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

// Config has the dependencies of a Service.
type Config struct {
	Store *kv.Store // must have Buckets() and those of package floor
	// Authorize checks in a transaction that the caller's credential is still valid and that its role is sufficient.
	Authorize func(tx *kv.Tx, p auth.Principal, need auth.Role) error
	Floor     Floor
	Log       *slog.Logger // nil: discard

	Retention time.Duration // after which Sweep deletes ended schedules and entries; 0: never
	Late      time.Duration // how long after its end a schedule accepts entries: as long as signals are stored
}

// Floor is the part of the floor that is read here. It is an interface because tests replace their floor at a restart.
type Floor interface {
	Plan(accountID string) (*station.Plan, error)
	Detail(accountID, stationCode string, from, to int64) (*floor.Detail, error)
	Time() int64
}

// Service plans, starts and ends schedules. Methods that take a Work must be called inside floor.Do; all others from
// any goroutine. It implements floor.Rule.
type Service struct {
	cfg Config

	mu  sync.Mutex
	due map[string]map[string]due // account -> schedule -> its next automatic move
}

// due is the time and the station of an automatic move.
type due struct {
	at      int64 // ms
	station string
}

// New reads the times of automatic moves. An unreadable schedule is logged and makes no moves. Errors are the store's.
func New(cfg Config) (*Service, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{cfg: cfg, due: map[string]map[string]due{}}
	err := cfg.Store.View(func(tx *kv.Tx) error {
		for item, err := range opens.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			sched, err := load(tx, item.Key.A, item.Key.B.B)
			if err != nil {
				cfg.Log.Error("a schedule cannot be read, so it does not start or end automatically", slog.String("account", item.Key.A), slog.String("schedule", item.Key.B.B), slog.Any("error", err))
				continue
			}
			s.note(item.Key.A, sched)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the open schedules: %w", err)
	}
	return s, nil
}

// note updates the time of a schedule's next automatic move in memory.
func (s *Service) note(account string, sched *Schedule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := sched.automatic()
	if at == 0 {
		delete(s.due[account], sched.ID)
		return
	}
	if s.due[account] == nil {
		s.due[account] = map[string]due{}
	}
	s.due[account][sched.ID] = due{at, sched.StationCode}
}

// Due implements floor.Rule.
func (s *Service) Due(plan *station.Plan, now int64) (stationCodes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.due[plan.Account] {
		if d.at <= now {
			stationCodes = append(stationCodes, d.station)
		}
	}
	slices.Sort(stationCodes)
	return slices.Compact(stationCodes)
}

// dueMoves returns the schedules of some stations whose automatic moves are due, with their times.
func (s *Service) dueMoves(account string, stationCodes []string, now int64) map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := map[string]int64{}
	for id, d := range s.due[account] {
		if d.at <= now && slices.Contains(stationCodes, d.station) {
			list[id] = d.at
		}
	}
	return list
}

// maxTick limits the automatic moves of one transaction; the next tick makes the rest.
const maxTick = 2000

// Tick implements floor.Rule: it makes automatic starts and ends in order of their planned times. After a pause of the
// service it makes up for the moves that became due meanwhile.
func (s *Service) Tick(w *floor.Work, stationCodes []string) error {
	var queue []dueMove
	for id, at := range s.dueMoves(w.Account, stationCodes, w.Now) {
		sched, err := load(w.Tx, w.Account, id)
		if err != nil {
			return err
		}
		queue = append(queue, dueMove{at, sched.State == Planned, id})
	}
	slices.SortFunc(queue, compareDueMoves)
	for range maxTick {
		if len(queue) == 0 {
			return nil
		}
		f := queue[0]
		queue = queue[1:]
		sched, err := load(w.Tx, w.Account, f.id)
		if err != nil {
			return err
		}
		if sched.automatic() != f.at { // it has moved in this transaction
			continue
		}
		next, err := s.automatic(w, sched, f.at)
		if err != nil {
			return fmt.Errorf("schedule %s: %w", sched.ID, err)
		}
		if due := next.automatic(); due != 0 && due <= w.Now {
			f := dueMove{due, next.State == Planned, next.ID}
			i, _ := slices.BinarySearchFunc(queue, f, compareDueMoves)
			queue = slices.Insert(queue, i, f)
		}
	}
	return nil
}

// dueMove is a move that is due. At one moment, ends come before starts.
type dueMove struct {
	at     int64 // ms
	starts bool
	id     string
}

func compareDueMoves(a, b dueMove) int {
	if a.at == b.at && a.starts != b.starts {
		if b.starts {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id))
}

// automatic makes a due move at its planned time and returns the new state of the schedule.
func (s *Service) automatic(w *floor.Work, sched *Schedule, at int64) (*Schedule, error) {
	a := &act{s: s, w: w, by: service, at: at}
	if sched.State == Running {
		return a.end(sched, MoveAutoEnd, "")
	}
	st, err := w.Station(sched.StationCode)
	if err == nil {
		err = sched.Fields.runnable(st)
	}
	if err == nil {
		var next *Schedule
		if next, err = a.start(sched, st, MoveAutoStart, true); err == nil {
			return next, nil
		}
	}
	// It cannot start automatically: record that, and leave it planned.
	var refused *errdefs.Error
	if !errors.As(err, &refused) || refused.Kind != errdefs.Conflict && refused.Kind != errdefs.NotFound && refused.Kind != errdefs.Invalid {
		return nil, err
	}
	next := sched.copy()
	next.AutoStart = false
	return next, a.save(sched, next, a.event(MoveNotStarted, refused.Message))
}

// Happened implements floor.Rule: a schedule ends when its quantity is reached, if it is set to do so.
func (s *Service) Happened(w *floor.Work, stationCode string, e monitor.Event) error {
	if e.Schedule == "" {
		return nil
	}
	sched, err := load(w.Tx, w.Account, e.Schedule)
	if err != nil {
		if errdefs.KindOf(err) == errdefs.NotFound {
			return nil
		}
		return err
	}
	if sched.State != Running || sched.StationCode != stationCode || e.At < sched.Start {
		return nil
	}
	a := &act{s: s, w: w, by: service, at: e.At}
	switch e.Kind {
	case monitor.EventQuantityReached:
		st, err := w.Station(stationCode)
		if err != nil {
			return err
		}
		if e.Quantity != sched.PlannedQuantity || !sched.endsByQuantity(st) {
			return nil
		}
		_, err = a.end(sched, MoveQuantityReached, "")
		return err
	case monitor.EventMaximumReached:
		for i := range sched.Events {
			if sched.Events[i].Move == MoveMaximumReached {
				return nil
			}
		}
		next := sched.copy()
		return a.save(sched, next, a.event(MoveMaximumReached, fmt.Sprintf("%d units were recorded, which is the most", maximum(w, stationCode))))
	}
	return nil
}

func maximum(w *floor.Work, stationCode string) int64 {
	st, err := w.Station(stationCode)
	if err != nil {
		return 0
	}
	return st.Monitor.MaxUnits
}

// Recorded implements floor.Rule; schedules do not depend on other inputs.
func (s *Service) Recorded(*floor.Work, string, monitor.Input) error { return nil }

// Cancelled implements floor.Rule; schedules do not depend on other inputs.
func (s *Service) Cancelled(*floor.Work, string, monitor.Input) error { return nil }

// Left implements floor.Rule: the open schedules of a station end when it leaves the manifest (monitoring.md section
// 10).
func (s *Service) Left(w *floor.Work, stationCode string) error {
	open, err := openAt(w.Tx, w.Account, stationCode)
	if err != nil {
		return err
	}
	for _, p := range open {
		a := &act{s: s, w: w, by: service, at: w.Now}
		sched, err := load(w.Tx, w.Account, p.id)
		if err != nil {
			return err
		}
		if sched.State == Running {
			_, err = a.end(sched, MoveStationLeft, "")
		} else {
			next := sched.copy()
			next.State = Deleted
			err = a.save(sched, next, a.event(MoveStationLeft, ""))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
