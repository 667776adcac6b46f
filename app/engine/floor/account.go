package floor

import (
	"opsmon/app/account"
)

// Noted tells that something else is put up at a station: watchers are told of it.
func (f *Floor) Noted(accountID, stationCode string) {
	o := f.started(accountID)
	if o == nil {
		return
	}
	plan, err := f.Plan(accountID)
	l := o.line(stationCode)
	if err != nil || l == nil || plan.Of(stationCode) == nil {
		return
	}
	l.mu.Lock()
	l.touched = true
	l.mu.Unlock()
	if err := o.look(l, plan.Of(stationCode), f.now(), answerAge, 2*showEvery); err != nil {
		o.hint() // which tells of it
	}
}

// Account gives what GET /account shows of the floor as it is now; nil while the stations are being read after a start. It
// does not wait.
func (f *Floor) Account(accountID string) *account.Live {
	o, err := f.owner(accountID)
	if err != nil {
		return nil
	}
	select {
	case <-o.loaded:
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
		now, err := o.live(s, account.LiveAge.Milliseconds())
		at.OperatorInitials, at.AlertMessage, at.AlertExpiresAt = now.Note.OperatorInitials, now.Note.AlertMessage, now.Note.AlertExpiresAt
		if err == nil {
			at.Status = now.View.Status.String()
			if !noSignalYet(&now.View) {
				at.StatusAt = now.View.Since
			}
		}
		return at
	}}
	if cursors := o.cursors.Load(); cursors != nil {
		live.Cursors = *cursors
	}
	return live
}

// got notes how far the owner has got (monitoring.md section 8): signals, to the moment until which it has taken in what
// arrived; windows, to the minute until which they are made of all that; tasks and schedules, to the moment for which it
// has done what falls due.
func (o *owner) got(now int64) {
	windows := now
	for _, l := range o.lines {
		if at := l.behind(); at != 0 {
			windows = min(windows, at)
		}
	}
	o.cursors.Store(&[]account.Cursor{
		{Type: "signals", At: now}, {Type: "windows", At: windows - windows%minute}, {Type: "tasks", At: now}, {Type: "schedules", At: now},
	})
}
