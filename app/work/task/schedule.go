package task

import (
	"fmt"
	"slices"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/errdefs"
)

// Recorded implements floor.Rule: it handles starts and ends of schedules.
func (s *Service) Recorded(w *floor.Work, stationCode string, in monitor.Input) error {
	switch {
	case in.Kind == monitor.InputScheduleStart && !in.Schedule.NonProduction:
		return s.inTx(w, stationCode, func(t *stationTx) error { return t.scheduleStarts(in) })
	case in.Kind == monitor.InputScheduleEnd, in.Kind == monitor.InputQuantityEnd:
		return s.inTx(w, stationCode, func(t *stationTx) error { return t.scheduleEnds(in.ID, in.At) })
	}
	return nil
}

// Cancelled implements floor.Rule: it handles schedules whose end was cancelled.
func (s *Service) Cancelled(w *floor.Work, stationCode string, in monitor.Input) error {
	if in.Kind == monitor.InputScheduleEnd || in.Kind == monitor.InputQuantityEnd {
		return s.inTx(w, stationCode, func(t *stationTx) error { return t.scheduleRunsOn(in.ID, in.At) })
	}
	return nil
}

// inTx runs fn on the Tasks of a station.
func (s *Service) inTx(w *floor.Work, stationCode string, fn func(t *stationTx) error) error {
	t, err := s.begin(w, stationCode)
	if err == nil {
		err = fn(t)
	}
	if err == nil {
		err = t.finish()
	}
	if err != nil {
		return fmt.Errorf("move on the Tasks of %s: %w", stationCode, err)
	}
	return nil
}

// finish stores the changes of fn.
func (t *stationTx) finish() error {
	if t.changes == 0 {
		return nil
	}
	return t.store() // schedules do not change the time of the next fire
}

// scheduleStarts makes the Tasks of a production schedule.
func (t *stationTx) scheduleStarts(in monitor.Input) error {
	st, err := t.w.StationAt(t.code, in.At)
	if errdefs.KindOf(err) == errdefs.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if on, _ := st.Flag(flag); !on || !hasTasks(st) {
		return nil
	}
	var wanted []Text
	for _, a := range asksOf(st) {
		if a.text.Trigger == OnSchedule {
			wanted = append(wanted, a.text)
		}
	}
	if sku := st.SKUs[in.Schedule.SKU]; sku != nil {
		for _, text := range t.skuTasks(sku.TaskCodes) {
			if !slices.ContainsFunc(wanted, func(o Text) bool { return o.TaskCode == text.TaskCode }) && len(wanted) < maxAsks {
				wanted = append(wanted, text)
			}
		}
	}
	for _, text := range wanted {
		if slices.ContainsFunc(t.now(), func(i *instance) bool { return i.Schedule == in.Schedule.ID && i.same(&text) }) {
			continue
		}
		if _, err := t.add(text, in.At, record{State: Pending, Schedule: in.Schedule.ID}); err != nil {
			return err
		}
	}
	return nil
}

// skuTasks returns the texts of Tasks that a SKU names.
func (t *stationTx) skuTasks(codes []string) (list []Text) {
	if len(codes) == 0 {
		return nil
	}
	for i := range t.w.Plan().Manifest.Tasks {
		m := &t.w.Plan().Manifest.Tasks[i]
		if !slices.Contains(codes, m.Code) {
			continue
		}
		text := Text{TaskCode: m.Code, Title: m.Title, RequireNotes: m.RequireNotes != nil && *m.RequireNotes, Trigger: OnSchedule}
		if m.Description != nil {
			text.Description = *m.Description
		}
		list = append(list, text)
	}
	return list
}

// scheduleEnds marks the pending Tasks of a schedule as missed.
func (t *stationTx) scheduleEnds(id string, at int64) error {
	for _, i := range t.now() {
		if i.Schedule == "" || i.Schedule != id {
			continue
		}
		i.Deadline = at
		if err := t.end(i); err != nil {
			return err
		}
	}
	return nil
}

// scheduleRunsOn sets the Tasks missed at the cancelled end of a schedule, ms, to pending again. Those that the
// manifest no longer requires stay missed.
func (t *stationTx) scheduleRunsOn(id string, end int64) error {
	st, err := t.w.Station(t.code)
	if errdefs.KindOf(err) == errdefs.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	wanted := t.wanted(st, listed(st))
	var missed []key
	for item, err := range instances.Scan(t.w.Tx, during(t.w.Account, t.code, 0, end+1)) {
		if err != nil {
			return fmt.Errorf("read the Tasks of schedule %s: %w", id, err)
		}
		if r := item.Value; r.Schedule == id && r.State == Missed && r.Deadline == end {
			missed = append(missed, item.Key)
		}
	}
	for _, k := range missed {
		i, err := t.reader.get(k)
		if err != nil {
			return err
		}
		if !wanted(i) {
			continue
		}
		i.State, i.Deadline = Pending, 0
		if err := instances.Put(t.w.Tx, k, i.record); err != nil {
			return err
		}
		if err := currents.Put(t.w.Tx, k, nil); err != nil {
			return err
		}
		t.current = append(t.current, i)
		t.change(i)
	}
	return nil
}
