package floor

import (
	"opsmon/app/account"
)

// Noted publishes a station's status after its notes (operator, alert) have changed.
func (f *Floor) Noted(accountID, stationCode string) {
	wk := f.started(accountID)
	if wk == nil {
		return
	}
	plan, err := f.Plan(accountID)
	tr := wk.tracker(stationCode)
	if err != nil || tr == nil || plan.Of(stationCode) == nil {
		return
	}
	tr.mu.Lock()
	tr.touched = true
	tr.mu.Unlock()
	if err := wk.refreshView(tr, plan.Of(stationCode), f.now(), answerAge, 2*showEvery); err != nil {
		wk.wake() // the worker publishes it
	}
}

// Account returns what GET /account shows of the floor as it is now; nil while the stations are being read after a
// start. It does not wait.
func (f *Floor) Account(accountID string) *account.Live {
	wk, err := f.worker(accountID)
	if err != nil {
		return nil
	}
	select {
	case <-wk.loaded:
	default:
		return nil
	}
	plan, err := f.Plan(accountID)
	if err != nil {
		return nil
	}
	live := &account.Live{Station: func(code string) (at account.LiveStation) {
		s := plan.Of(code)
		if s == nil { // of a revision that is not in force any more
			return at
		}
		now, err := wk.live(s, account.LiveAge.Milliseconds())
		at.OperatorInitials, at.AlertMessage, at.AlertExpiresAt = now.Note.OperatorInitials, now.Note.AlertMessage, now.Note.AlertExpiresAt
		if err == nil {
			at.Status = now.View.Status.String()
			if !noSignalYet(&now.View) {
				at.StatusAt = now.View.Since
			}
		}
		return at
	}}
	if cursors := wk.cursors.Load(); cursors != nil {
		live.Cursors = *cursors
	}
	return live
}

// setCursors publishes the worker's progress (monitoring.md section 8): for signals, the time up to which arrivals have
// been processed; for windows, the whole minute up to which they include all signals; for tasks and schedules, the time
// up to which due work is done.
func (wk *worker) setCursors(now int64) {
	windows := now
	for _, tr := range wk.trackers {
		if at := tr.backfill.behind(); at != 0 {
			windows = min(windows, at)
		}
	}
	wk.cursors.Store(&[]account.Cursor{
		{Type: "signals", At: now}, {Type: "windows", At: windows - windows%minute}, {Type: "tasks", At: now}, {Type: "schedules", At: now},
	})
}
