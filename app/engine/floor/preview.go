package floor

import (
	"context"
	"slices"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/history"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

// silence returns how long after a moment it is known whether a station was alive then and made units, in ms, with a
// margin.
func silence(c *monitor.Config) int64 {
	return 2 * max(c.SilentAfter(), c.SpreadWithin(), monitor.DefaultAliveTimeout)
}

// Previewed is the result of Preview.
type Previewed struct {
	Rows  []oee.Row
	Stops oee.Lengths
}

// Preview computes the sums and stops of a station in [from, to), ms, whole minutes, with another timeline, and stores
// nothing. Errors: errdefs.NotFound, the store's, ctx's.
func (f *Floor) Preview(ctx context.Context, accountID string, t *station.Timeline, stationCode string, from, to int64) (*Previewed, error) {
	wk, now, err := f.previewWorker(accountID, stationCode)
	if err != nil {
		return nil, err
	}
	if to = min(to, now/minute*minute); to <= from {
		return &Previewed{}, nil
	}
	// What comes after the end may still tell what the time before it was: a stop is registered when it has lasted long
	// enough.
	until := to
	if last, err := t.StationAt(stationCode, to-1); err != nil {
		return nil, err
	} else if last != nil {
		until = min(now, to+min(max(last.Monitor.UtilisationThreshold, last.Monitor.SlowThreshold), day)+silence(last.Monitor))
	}
	var out monitor.Outputs
	s, err := wk.compute(ctx, t, stationCode, from, until, nil, func(part monitor.Outputs) { join(&out, part) })
	if err != nil {
		return nil, err
	}
	v := s.View(until)
	join(&out, v.Outputs)
	issues := append(out.Issues, v.Open...)
	issues = slices.DeleteFunc(issues, func(i monitor.Issue) bool { return i.Start >= to || i.End != 0 && i.End <= from })
	out = history.Cut(out, from, to)
	var findings []monitor.Finding
	err = f.cfg.Store.View(func(tx *kv.Tx) (err error) {
		findings, err = f.cfg.Findings(tx, accountID, stationCode, issues)
		return err
	})
	if err != nil {
		return nil, err
	}
	rows, _, err := sumRows(t, stationCode, calendar.UnitHour, from, to, monitor.Explain(out.Segments, findings), out.Minutes)
	return &Previewed{Rows: rows, Stops: oee.Stops(out.Segments)}, err
}

// previewWorker returns the worker of a station and the current time, in ms.
func (f *Floor) previewWorker(accountID, stationCode string) (wk *worker, now int64, err error) {
	if wk, err = f.ready(accountID); err != nil {
		return nil, 0, err
	}
	wk.mu.RLock()
	defer wk.mu.RUnlock()
	if wk.trackers[stationCode] == nil {
		return nil, 0, errdefs.New(errdefs.NotFound, "there is no station with this code")
	}
	return wk, f.now(), nil
}

// alter applies change to the configurations in a chunk from a moment on, including the one in force then.
func (c *chunk) alter(
	t *station.Timeline, code string, from int64, change func(*monitor.Config) *monitor.Config,
) error {
	begins := c.from <= from && from < c.to
	for i := range c.inputs {
		if in := &c.inputs[i]; in.Kind == monitor.InputConfig && in.At >= from {
			in.Config = change(in.Config)
			begins = begins && in.At > from
		}
	}
	if !begins {
		return nil
	}
	r, err := t.RulesAt(code, from)
	if err != nil {
		return err
	}
	c.inputs = append(c.inputs, monitor.Input{At: from, Kind: monitor.InputConfig, Config: change(r.Monitor)})
	slices.SortFunc(c.inputs, compare)
	return nil
}

// Standstills returns the stretches of scheduled production in [from, to), ms, in which a station's detection saw no
// production, however short (monitor.Config.Bare), in order of time, cut to the range. Errors: errdefs.NotFound, the
// store's, ctx's.
func (f *Floor) Standstills(ctx context.Context, accountID, stationCode string, from, to int64, use func(start, end int64)) error {
	wk, now, err := f.previewWorker(accountID, stationCode)
	if err != nil {
		return err
	}
	if to = min(to, now); to <= from {
		return nil
	}
	t := wk.timeline
	one := func(i *monitor.Issue) {
		end := i.End
		if end == 0 {
			end = to
		}
		if start, end := max(i.Start, from), min(end, to); i.Type == monitor.IssueStop && start < end {
			use(start, end)
		}
	}
	last, err := t.RulesAt(stationCode, to-1)
	if err != nil {
		return err
	}
	each := func(out monitor.Outputs) {
		for i := range out.Issues {
			one(&out.Issues[i])
		}
	}
	until := min(now, to+silence(last.Monitor))
	s, err := wk.compute(ctx, t, stationCode, from, until, (*monitor.Config).Bare, each)
	if err != nil {
		return err
	}
	v := s.View(until)
	each(v.Outputs)
	for i := range v.Open {
		one(&v.Open[i])
	}
	return nil
}
