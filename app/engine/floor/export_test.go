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

// Held tells how many inputs the lines of an account hold in memory.
func (f *Floor) Held(accountID string) (n int) {
	o, err := f.owner(accountID)
	if err != nil {
		return -1
	}
	_ = o.do(func() {
		for _, l := range o.lines {
			n += l.pending.len()
		}
	})
	return n
}

// Outputs returns how much came of signals that is held in memory.
func (f *Floor) Outputs(accountID string) (n int) {
	o, err := f.owner(accountID)
	if err != nil {
		return -1
	}
	_ = o.do(func() {
		for _, l := range o.lines {
			l.mu.Lock()
			n += l.outputs()
			l.mu.Unlock()
		}
	})
	return n
}

// Breaths tells how many calls the owner of an account has served while it computed something again.
func (f *Floor) Breaths(accountID string) (n int) {
	o, err := f.owner(accountID)
	if err != nil {
		return -1
	}
	_ = o.do(func() { n = o.breaths })
	return n
}

// The bounds of what is held in memory.
const (
	LineMost   = lineMost
	GatherMost = gatherMost
)

func init() { pointInputs, pointAfter = 2, 1_000 }
