package report

import (
	"context"
	"time"

	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
)

// A timeline has at most MostPoints rows. Runs are included up to longestRuns: a longer range has too many to be
// visible.
const (
	MostPoints  = 5000
	longestRuns = 24 * time.Hour
)

// timelineSteps are the lengths of a row, in minutes; longer ones are whole days.
var timelineSteps = [...]int64{1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720, 1440}

// stepOf returns the shortest length of a row, ms, with which a range has at most points rows.
func stepOf(length int64, points int) int64 {
	for _, minutes := range timelineSteps {
		if step := minutes * instant.MinuteMs; (length+step-1)/step <= int64(points) {
			return step
		}
	}
	return ((length+instant.DayMs-1)/instant.DayMs + int64(points) - 1) / int64(points) * instant.DayMs
}

// chartDays is the number of days read at a time for a chart. Days are stored separately and need not be joined, so a
// year needs no more memory than a day.
const chartDays = 1

// Timeline returns the chart of a station's selected range with at most points rows. Before final, ms, it only changes
// by late signals. A chart of more than a day has no runs, like one with too many. Errors: errdefs.NotFound; the
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
