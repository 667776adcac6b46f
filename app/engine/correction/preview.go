package correction

import (
	"context"
	"slices"

	"opsmon/app/auth"
	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// Figures is OEE by the default profile, with its terms; null if unknown.
//
//openapi:schema CorrectionFigures
type Figures struct {
	// Scheduled production time with data, in milliseconds.
	ScheduledProductionMs float64 `json:"scheduledProductionMs"`
	DowntimeMs            float64 `json:"downtimeMs"` // downtime in scheduledProductionMs
	GoodCount             float64 `json:"goodCount"`
	BadCount              float64 `json:"badCount"`
	// Part of goodCount that was made without a production schedule; it is in no ratio.
	UnscheduledGoodCount float64  `json:"unscheduledGoodCount"`
	UnscheduledBadCount  float64  `json:"unscheduledBadCount"` // the same for bad units
	TargetCount          *float64 `json:"targetCount"`         // units due, without downtime
	Availability         *float64 `json:"availability"`
	Performance          *float64 `json:"performance"`
	Quality              *float64 `json:"quality"`
	OEE                  *float64 `json:"oee"`
	Coverage             *float64 `json:"coverage"` // share of the scheduled time with data
}

// Effect is the effect of a correction on a production day of a station.
//
//openapi:schema CorrectionEffect
type Effect struct {
	StationCode string  `json:"stationCode"`
	Day         string  `json:"day" schema:"format=date"` // the date on which the production day starts
	Before      Figures `json:"before"`
	After       Figures `json:"after"`
}

// Preview is the effect of a correction in advance.
type Preview struct {
	Effects []Effect `json:"effects"`
	// Complete is whether Effects has all of them: of a long range, or of many stations, only the first are included.
	Complete bool `json:"complete"`
}

// maxEffects limits a preview, in station days: each takes some hundredths of a second.
const maxEffects = 200

// Preview previews a correction. Errors are those of Make, and ctx's.
func (s *Service) Preview(ctx context.Context, p auth.Principal, in Input) (*Preview, error) {
	if !p.Role.AtLeast(auth.Admin) {
		return nil, errdefs.New(errdefs.Forbidden, "this needs the role %s; yours is %s", auth.Admin, p.Role)
	}
	c, t, err := s.checked(p, in)
	if err != nil {
		return nil, err
	}
	return s.preview(ctx, p.AccountID, t, t.With(c), c)
}

// PreviewUndo previews undoing a correction. Errors are those of Undo, and ctx's.
func (s *Service) PreviewUndo(ctx context.Context, p auth.Principal, id string) (*Preview, error) {
	c, t, err := s.standing(p.AccountID, id)
	if err != nil {
		return nil, err
	}
	c.UndoneAt = s.cfg.Clock()
	return s.preview(ctx, p.AccountID, t, t.With(c), c)
}

func (s *Service) preview(ctx context.Context, accountID string, is, would *station.Timeline, c station.Correction) (*Preview, error) {
	preview := &Preview{Effects: []Effect{}, Complete: true}
	now := s.cfg.Clock().UnixMilli()
	for _, code := range c.StationCodes {
		cal, err := calendarOf(is, code, c.From, c.To)
		if err != nil {
			return nil, err
		}
		if cal == nil {
			continue
		}
		days := cal.Buckets(cal.Bucket(c.From, calendar.UnitDay).Start, min(cal.Bucket(c.To-1, calendar.UnitDay).End, instant.FloorMinute(now)), calendar.UnitDay)
		if room := maxEffects - len(preview.Effects); len(days) > room {
			days, preview.Complete = days[:room], false
		}
		if len(days) == 0 {
			break
		}
		from, to := days[0].Start, days[len(days)-1].End
		before, err := s.cfg.Floor.Preview(ctx, accountID, is, code, from, to)
		if err != nil {
			return nil, err
		}
		after, err := s.cfg.Floor.Preview(ctx, accountID, would, code, from, to)
		if err != nil {
			return nil, err
		}
		for _, day := range days {
			preview.Effects = append(preview.Effects, Effect{
				StationCode: code, Day: cal.ProductionDay(day.Start).String(), Before: figures(rowsOf(before.Rows, day)), After: figures(rowsOf(after.Rows, day)),
			})
		}
	}
	return preview, nil
}

// calendarOf returns the calendar of a station at the start of a range or, if the station was added in the range, at
// that moment; nil: the station did not exist.
func calendarOf(t *station.Timeline, code string, from, to int64) (*calendar.Calendar, error) {
	changes, err := t.Changes(code, from, to-1)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	return changes[0].Rules.Calendar, nil
}

// rowsOf returns the rows of a day.
func rowsOf(rows []oee.Row, day calendar.Range) []oee.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r oee.Row) bool { return r.Start < day.Start || r.Start >= day.End })
}

// figures adds up rows.
func figures(rows []oee.Row) Figures {
	var terms oee.Terms
	for i := range rows {
		terms.Add(&rows[i].Terms)
	}
	f := terms.Figures(oee.ProfileDefault)
	out := Figures{
		ScheduledProductionMs: f.A.Denominator, DowntimeMs: f.A.Denominator - f.A.Numerator,
		GoodCount: float64(terms.Good) / monitor.Micro, BadCount: float64(terms.Bad) / monitor.Micro,
		UnscheduledGoodCount: float64(terms.UnscheduledGood) / monitor.Micro, UnscheduledBadCount: float64(terms.UnscheduledBad) / monitor.Micro,
		Availability: value(f.A), Performance: value(f.P), Quality: value(f.Q), OEE: value(f.OEE), Coverage: value(f.Coverage),
	}
	if terms.HasRate {
		out.TargetCount = &terms.Target
	}
	return out
}

func value(r oee.Ratio) *float64 {
	if !r.Known {
		return nil
	}
	return &r.Value
}
