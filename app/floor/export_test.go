package floor

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
