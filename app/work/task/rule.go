package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"opsmon/app/audit"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/instant"
	"opsmon/kv"
)

// maxChanges limits the changed Instances of a transaction; the remaining stations are left to the next one.
const maxChanges = 2000

// setBack is the smallest step back of the clock that is treated as a correction of a wrong clock.
const setBack = time.Minute

// Due implements floor.Rule: it returns the stations with a due fire, and all stations after a change of the manifest
// or a step back of the clock.
func (s *Service) Due(plan *station.Plan, now int64) (stationCodes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.memory(plan.Account)
	back := now < m.seen-setBack.Milliseconds()
	if m.seen = now; back || m.revision != plan.Revision {
		m.revision, m.soonest, m.next = plan.Revision, 0, map[string]int64{}
		for _, st := range plan.Stations {
			m.next[st.Code] = 0
		}
	}
	if m.soonest > now {
		return nil
	}
	for _, st := range plan.Stations {
		if at, has := m.next[st.Code]; has && at <= now {
			stationCodes = append(stationCodes, st.Code)
		}
	}
	return stationCodes
}

// Tick implements floor.Rule: it processes the stations. Those that do not fit the transaction stay due.
func (s *Service) Tick(w *floor.Work, stationCodes []string) error {
	next, changes := map[string]int64{}, 0
	for _, code := range stationCodes {
		st := w.Plan().Of(code)
		if st == nil || changes > maxChanges {
			continue
		}
		t, err := s.begin(w, code)
		if err != nil {
			return err
		}
		if err := t.pass(st); err != nil {
			return fmt.Errorf("move on the Tasks of %s: %w", code, err)
		}
		changes += t.changes
		next[code] = t.next
	}
	w.After(func() { s.note(w.Account, next) })
	return nil
}

// Happened implements floor.Rule: the engine's events make no Task due.
func (s *Service) Happened(*floor.Work, string, monitor.Event) error { return nil }

// Left implements floor.Rule: the Tasks of a station are withdrawn when it leaves the manifest.
func (s *Service) Left(w *floor.Work, stationCode string) error {
	t, err := s.begin(w, stationCode)
	if err != nil {
		return err
	}
	w.After(func() { s.note(w.Account, map[string]int64{stationCode: forever}) })
	if len(t.current) == 0 {
		return nil
	}
	if err := t.withdraw(func(*instance) bool { return false }); err != nil {
		return err
	}
	return t.store()
}

// stationTx is a transaction's work on the Tasks of one station.
type stationTx struct {
	s       *Service
	w       *floor.Work
	code    string
	rec     stationRecord
	fresh   bool // the station has no record yet
	reader  *reader
	current []*instance
	cron    map[fireOf]*instance // the current ones with a fire as deadline
	changes int
	changed []*instance
	next    int64 // time of the next work, ms
}

// fireOf identifies a fire of a Task in a list.
type fireOf struct {
	task, list string
	deadline   int64
}

func (i *instance) fire() fireOf { return fireOf{i.text.TaskCode, i.text.ListCode, i.Deadline} }

func (s *Service) begin(w *floor.Work, stationCode string) (*stationTx, error) {
	t := &stationTx{s: s, w: w, code: stationCode, reader: newReader(w.Tx, w.Account), cron: map[fireOf]*instance{}, next: forever}
	var err error
	t.rec, err = stations.Get(w.Tx, place{A: w.Account, B: stationCode})
	if errors.Is(err, kv.ErrNotFound) {
		t.rec, t.fresh, err = stationRecord{Through: w.Now}, true, nil
	}
	if err == nil {
		t.current, err = t.reader.current(stationCode)
	}
	for _, i := range t.current {
		if i.text.Trigger == OnCron {
			t.cron[i.fire()] = i
		}
	}
	return t, err
}

// pass processes the time from the station's last processing to now.
func (t *stationTx) pass(st *station.Station) error {
	all, asks := listed(st), []ask(nil)
	if on, _ := st.Flag(flag); on {
		asks = all
	}
	if t.w.Now < t.rec.Through-setBack.Milliseconds() { // the clock was ahead: continue from the present time
		t.rec.Through = t.w.Now
	}
	if t.w.Now > t.rec.Through {
		if err := t.miss(asks); err != nil {
			return err
		}
	}
	if err := t.withdraw(t.wanted(st, all)); err != nil {
		return err
	}
	if err := t.open(asks); err != nil {
		return err
	}
	t.rec.Through = max(t.rec.Through, t.w.Now)
	return t.store()
}

// store writes the station's progress and publishes the changes.
func (t *stationTx) store() error {
	t.publishChanges()
	return stations.Put(t.w.Tx, place{A: t.w.Account, B: t.code}, t.rec)
}

// miss marks Tasks as missed whose deadline passed since the last processing.
func (t *stationTx) miss(asks []ask) error {
	periods, cut, err := t.periods(asks)
	if err != nil {
		return err
	}
	list, more := passed(periods)
	for _, d := range list {
		if i := t.find(&d.ask.text, d.deadline); i != nil {
			err = t.end(i)
		} else if i, err = t.made(&d.ask.text, window{d.opens, d.deadline}); i == nil && err == nil {
			_, err = t.add(d.ask.text, d.opens, record{State: Missed, Deadline: d.deadline})
		}
		if err != nil {
			return err
		}
	}
	if cut || more {
		since := ""
		if len(list) > 0 {
			since = instant.FormatMs(list[0].deadline)
		}
		return audit.Put(t.w.Tx, t.w.Account, service, "task.leaveOut", t.code, map[string]string{"before": since})
	}
	return nil
}

// service is the author of automatic changes.
var service = audit.Actor{Credential: "service"}

// periods returns the station's configurations since the last processing. cut reports whether a part of the time is
// left out.
func (t *stationTx) periods(asks []ask) (list []period, cut bool, err error) {
	from, now := t.rec.Through, t.w.Now
	if oldest := now - maxBack.Milliseconds(); from < oldest {
		from, cut = oldest, true
	}
	line, err := t.s.cfg.Timelines.Of(t.w.Account)
	if err != nil {
		return nil, false, err
	}
	shapes, err := line.Shapes(from, now)
	if err != nil {
		return nil, false, err
	}
	if n := len(shapes); n > maxRevisions {
		shapes, cut = shapes[n-maxRevisions:], true
	}
	to := now
	for i := len(shapes) - 1; i >= 0; i-- {
		revision, last := shapes[i], shapes[len(shapes)-1]
		p := period{to: to, asks: asks}
		began := from
		if len(shapes) > 1 {
			plan, err := line.PlanOf(revision)
			if err != nil { // not retried, because that would delay the Tasks of all stations indefinitely
				t.s.cfg.Log.Error("Tasks that fell due under a revision of the manifest that cannot be read are left out",
					slog.String("account", t.w.Account), slog.Int64("revision", revision), slog.Any("error", err))
				cut = true
				break
			}
			if began = plan.From; revision != last {
				p.asks = nil
				if st := plan.Of(t.code); st != nil {
					p.asks = asksOf(st)
				}
			}
		}
		if p.from = max(from, began); p.from < p.to {
			list = append(list, p)
		}
		to = p.from
	}
	slices.Reverse(list)
	return list, cut, nil
}

// find returns the current Instance of a Task in a list with a deadline; nil: none.
func (t *stationTx) find(text *Text, deadline int64) *instance {
	return t.cron[fireOf{text.TaskCode, text.ListCode, deadline}]
}

// wanted returns a function that reports whether a pending Instance is still required by the station's configuration.
// An Instance made while enableTasks was on stays when the flag goes off; only Instances of a future fire depend on the
// flag.
func (t *stationTx) wanted(st *station.Station, asks []ask) func(*instance) bool {
	on, _ := st.Flag(flag)
	byName := make(map[fireOf]*ask, len(asks))
	for k := range asks {
		byName[fireOf{task: asks[k].text.TaskCode, list: asks[k].text.ListCode}] = &asks[k]
	}
	return func(i *instance) bool {
		if i.text.ListCode == "" { // of a SKU: required while the Task exists
			return hasTasks(st) && len(t.skuTasks([]string{i.text.TaskCode})) > 0
		}
		a := byName[fireOf{task: i.text.TaskCode, list: i.text.ListCode}]
		if a == nil || a.text.Trigger != i.text.Trigger {
			return false
		}
		if a.text.Trigger != OnCron {
			return true
		}
		began := i.at() <= t.w.Now+setBack.Milliseconds() // otherwise it was made while the clock was ahead
		return on && began && i.Deadline > t.w.Now && a.fires(i.Deadline)
	}
}

// withdraw deletes the pending Instances that are no longer wanted, and removes completed ones from the current ones
// once their deadline has passed.
func (t *stationTx) withdraw(wanted func(*instance) bool) error {
	gone := 0
	for _, i := range t.now() {
		switch {
		case i.State == Pending && !wanted(i):
			gone++
			i.State = withdrawn
			if err := instances.Delete(t.w.Tx, i.key); err != nil {
				return err
			}
			t.rec.Count--
			t.change(i)
			if err := t.let(i); err != nil {
				return err
			}
		case i.State != Pending && i.Deadline <= t.w.Now:
			if err := t.let(i); err != nil {
				return err
			}
		}
	}
	if gone == 0 {
		return nil
	}
	return audit.Put(t.w.Tx, t.w.Account, service, "task.withdraw", t.code, map[string]string{"tasks": fmt.Sprint(gone)})
}

// open makes the Instances of open windows, and calculates when the station has work next.
func (t *stationTx) open(asks []ask) error {
	now := max(t.w.Now, t.rec.Through)
	windows := map[timer]window{}
	for k := range asks {
		a := &asks[k]
		if a.text.Trigger != OnCron {
			continue
		}
		win, found := windows[a.timer]
		if !found {
			win, found = a.windowAt(now)
			if !found {
				win = window{forever, forever}
			}
			windows[a.timer] = win
		}
		if win.opens > now {
			t.next = min(t.next, win.opens)
			continue
		}
		t.next = min(t.next, win.deadline)
		if t.find(&a.text, win.deadline) == nil {
			if err := t.ask(a, win); err != nil {
				return err
			}
		}
	}
	for _, i := range t.now() {
		if i.Deadline > now {
			t.next = min(t.next, i.Deadline)
		}
	}
	return nil
}

// ask makes the Instance of an open window. If it exists because the clock was ahead, it is set to pending again if it
// was missed then.
func (t *stationTx) ask(a *ask, win window) error {
	i, err := t.made(&a.text, win)
	switch {
	case err != nil || i != nil && i.State != Missed:
		return err
	case i == nil:
		_, err = t.add(a.text, win.opens, record{State: Pending, Deadline: win.deadline})
		return err
	}
	i.State = Pending
	if err := instances.Put(t.w.Tx, i.key, i.record); err != nil {
		return err
	}
	return t.take(i)
}

// made returns the existing Instance of a window that is not among the current ones; nil: none.
func (t *stationTx) made(text *Text, win window) (*instance, error) {
	for item, err := range instances.Scan(t.w.Tx, during(t.w.Account, t.code, win.opens, win.opens+1)) {
		if err != nil {
			return nil, err
		}
		i, err := t.reader.instance(item.Key, item.Value)
		if err != nil {
			return nil, err
		}
		if i.Deadline == win.deadline && i.text.Trigger == OnCron && i.same(text) {
			return i, nil
		}
	}
	return nil, nil
}

// take adds a pending Instance to the current ones.
func (t *stationTx) take(i *instance) error {
	t.current = append(t.current, i)
	if i.text.Trigger == OnCron {
		t.cron[i.fire()] = i
	}
	t.change(i)
	return currents.Put(t.w.Tx, i.key, nil)
}

// add makes an Instance.
func (t *stationTx) add(text Text, at int64, rec record) (*instance, error) {
	var err error
	if rec.Text, err = putText(t.w.Tx, t.w.Account, text, t.w.Now); err != nil {
		return nil, err
	}
	k, err := freeKey(t.w.Tx, t.w.Account, t.code, at)
	if err != nil {
		return nil, err
	}
	i := &instance{key: k, text: text, record: rec}
	if err := instances.Put(t.w.Tx, k, rec); err != nil {
		return nil, err
	}
	t.rec.Count++
	if rec.State == Pending {
		return i, t.take(i)
	}
	t.change(i)
	return i, nil
}

// end marks an Instance as missed at its deadline.
func (t *stationTx) end(i *instance) error {
	if i.State == Pending {
		i.State = Missed
		if err := instances.Put(t.w.Tx, i.key, i.record); err != nil {
			return err
		}
		t.change(i)
	}
	return t.let(i)
}

// now returns the current Instances.
func (t *stationTx) now() []*instance {
	t.current = slices.DeleteFunc(t.current, func(i *instance) bool { return i.let })
	return slices.Clone(t.current)
}

// let removes an Instance from the current ones.
func (t *stationTx) let(i *instance) error {
	i.let = true
	if t.cron[i.fire()] == i {
		delete(t.cron, i.fire())
	}
	return currents.Delete(t.w.Tx, i.key)
}

// change records an Instance to publish.
func (t *stationTx) change(i *instance) {
	t.changes++
	if len(t.changed) <= maxPublished {
		t.changed = append(t.changed, i)
	}
}

// maxPublished limits the changes of a station that are published one by one.
const maxPublished = 20

// publishChanges publishes the changes, or only their number if there are many.
func (t *stationTx) publishChanges() {
	publish := func(v any) {
		data, err := json.Marshal(v)
		if err != nil {
			return // cannot fail for texts and numbers
		}
		t.w.Publish(event.Event{At: t.w.Now, Type: event.Task, Station: t.code, Data: data})
	}
	if t.changes > maxPublished {
		publish(struct {
			StationCode string `json:"stationCode"`
			Changed     int    `json:"changed"`
		}{t.code, t.changes})
		return
	}
	for _, i := range t.changed {
		publish(i.view())
	}
}
