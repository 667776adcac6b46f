package calendar

// Named returns a range by its name, in production days relative to a moment: today, yesterday, week and month are
// whole ones, and last7d is today and the six days before. It returns false for an unknown name.
func (c *Calendar) Named(name string, now int64) (Range, bool) {
	today := c.ProductionDay(now)
	switch name {
	case "today":
		return c.DayRange(today), true
	case "yesterday":
		return c.DayRange(today - 1), true
	case "week":
		return c.Bucket(now, UnitWeek), true
	case "last7d":
		return Range{c.DayRange(today - 6).Start, c.DayRange(today).End}, true
	case "month":
		return c.Bucket(now, UnitMonth), true
	}
	return Range{}, false
}
