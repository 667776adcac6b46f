package report

import (
	"context"
	"time"

	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
)

// A timeline has MostPoints rows at most. Runs are shown up to longestRuns: of a longer time there are too many to be seen.
const (
	MostPoints  = 5000
	longestRuns = 24 * time.Hour
)

// timelineSteps are the lengths of a row, in minutes; beyond the last it is whole days.
var timelineSteps = [...]int64{1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720, 1440}

// stepOf returns the shortest length of a row, ms, by which a range has no more rows than points.
func stepOf(length int64, points int) int64 {
	for _, minutes := range timelineSteps {
		if step := minutes * instant.MinuteMs; (length+step-1)/step <= int64(points) {
			return step
		}
	}
	return ((length+instant.DayMs-1)/instant.DayMs + int64(points) - 1) / int64(points) * instant.DayMs
}

// chartDays is how many days are read at once for a chart: days are stored one by one and need not be joined for it, and a year
// takes no more memory than a day.
const chartDays = 1

// Timeline returns what a station did in its selected time, in at most so many rows; final is the moment before which it changes
// only when something comes late, ms. A chart of more than a day has no runs, as one with too many. Errors: errdefs.NotFound; the
// store's.
func (s *Service) Timeline(ctx context.Context, account string, a *Station, points int) (chart *monitor.Chart, final int64, err error) {
	chart = monitor.NewChart(a.From, a.To, stepOf(a.To-a.From, points), MostPoints)
	chart.TooManyRuns = a.To-a.From > longestRuns.Milliseconds()
	for at, next := a.From, int64(0); at < a.To; at = next {
		next = min(a.To, at-mod(at, instant.DayMs)+chartDays*instant.DayMs) // as days are stored
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		d, err := s.cfg.Floor.Detail(account, a.Code, at, next)
		if err != nil {
			return nil, 0, err
		}
		chart.Add(d.Segments, d.Minutes)
		final = d.Final
	}
	chart.Close()
	return chart, min(final, a.To), nil
}
