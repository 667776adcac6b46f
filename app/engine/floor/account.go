package floor

import (
	"opsmon/app/account"
)

// Noted tells that something else is put up at a station: watchers are told of it.
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
	if err := wk.look(tr, plan.Of(stationCode), f.now(), answerAge, 2*showEvery); err != nil {
		wk.hint() // which tells of it
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

// got notes how far the worker has got (monitoring.md section 8): signals, to the moment until which it has taken in
// what arrived; windows, to the minute until which they are made of all that; tasks and schedules, to the moment for
// which it has done what falls due.
func (wk *worker) got(now int64) {
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
