package floor

import "time"

// Takes has the owner of an account believe that what it computes again takes so long. Real time passes as it does.
func (f *Floor) Takes(accountID string, d time.Duration) error {
	o, err := f.owner(accountID)
	if err != nil {
		return err
	}
	return o.do(func() { o.since = func(time.Time) time.Duration { return d } })
}

// Turns has the owner of an account compute so many days in a turn of what it computes in pieces.
func (f *Floor) Turns(accountID string, days int) error {
	o, err := f.owner(accountID)
	if err != nil {
		return err
	}
	return o.do(func() { o.turnDays = days })
}

// Told tells how many events of a station are remembered as told.
func (f *Floor) Told(accountID, stationCode string) int {
	o, err := f.owner(accountID)
	if err != nil {
		return -1
	}
	l := o.lines[stationCode]
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.told)
}
