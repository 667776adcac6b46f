package floor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"opsmon/app/engine/monitor"
	"opsmon/app/engine/queue"
	"opsmon/app/engine/station"
	"opsmon/kv"
)

const day = 24 * hour

// replay is a station computed from a checkpoint on.
type replay struct {
	base        *monitor.State // has taken in everything before watermark; nil: not read yet
	watermark   int64          // ms
	out         outputs        // of base
	pending     queue.Queue    // inputs from watermark on
	checkpoints []checkpoint   // on the way, that are not stored
	next        int64          // when the next of them is due, ms; 0: not known yet
	read        int64          // what is earlier was read from the log and the ledger, ms
	gap         int64          // the log and the ledger have more from here on, which was not read, ms; 0: nothing
}

// checkpoint is a state to start a replay from.
type checkpoint struct {
	at    int64 // ms: it has taken in everything before
	state []byte
}

// replay computes a station on to a moment, ms, between chunks with other work. Inputs from settled on stay pending.
// Signals that it reads of since or later need no longer be taken in; those before are in the state, but change no
// figure.
func (wk *worker) replay(t *station.Timeline, code string, r *replay, since, settled, to, now int64) error {
	for c, err := range wk.inputs(t, code, r.watermark, to) {
		if err != nil {
			return err
		}
		wk.arrivals.forget(code, c.waiting, max(c.from, since), c.to)
		n := 0
		for n < len(c.inputs) && c.inputs[n].At < settled {
			n++
		}
		if err := r.take(c.inputs[:n], min(c.to, settled), now); err != nil {
			return fmt.Errorf("station %s: %w", code, err)
		}
		r.pending.Put(c.inputs[n:])
		if err := r.settleMost(now); err != nil {
			return fmt.Errorf("station %s: %w", code, err)
		}
		if r.read = c.to; c.to < to {
			wk.yield()
		}
	}
	r.base.Advance(r.watermark)
	r.absorb()
	return nil
}

// replayToNow computes a station up to now. The UTC day of now is read as a whole: the clock may be behind.
func (wk *worker) replayToNow(t *station.Timeline, code string, r *replay, since, now int64) error {
	end := now + settleAfter
	end += day - end%day
	if err := wk.replay(t, code, r, since, max(r.watermark, now-settleAfter), end, now); err != nil {
		return err
	}
	var err error
	r.gap, err = wk.gapAfter(t, code, end)
	return err
}

// fork returns a copy with nothing pending, which can be computed on while r stays as it is.
func (r *replay) fork() replay {
	return replay{base: r.base.Clone(), watermark: r.watermark, out: r.out.clone()}
}

// take takes in inputs that come before a moment, ms, and makes the checkpoints on the way to it.
func (r *replay) take(list []monitor.Input, until, now int64) error {
	for i := range list {
		if err := r.one(&list[i], now); err != nil {
			return err
		}
	}
	r.reach(until, now)
	r.absorb()
	return nil
}

// absorb takes the base's outputs.
func (r *replay) absorb() { r.out.add(r.base.Take()) }

func (r *replay) one(in *monitor.Input, now int64) error {
	r.checkpointTo(in.At, now)
	if err := r.base.Apply(in); err != nil {
		return fmt.Errorf("at %d: %w", in.At, err)
	}
	return nil
}

// reach moves the watermark on to a moment, ms: everything before it was taken in.
func (r *replay) reach(until, now int64) {
	if until <= r.watermark {
		return
	}
	r.checkpointTo(until-1, now)
	r.watermark = until
}

// checkpointTo makes the checkpoints that are due up to a moment, ms, which was not reached before.
func (r *replay) checkpointTo(at, now int64) {
	if r.next == 0 {
		r.next = nextCheckpoint(r.watermark, now)
	}
	for ; r.next <= at; r.next = nextCheckpoint(r.next, now) {
		r.base.Advance(r.next)
		r.absorb()
		r.checkpoints = append(r.checkpoints, checkpoint{r.next, r.base.Encode()})
	}
}

// nextCheckpoint returns the moment after another at which a checkpoint is due: each hour of the last two days, each
// day before.
func nextCheckpoint(after, now int64) int64 {
	if next := after - after%hour + hour; next > now-2*day {
		return next
	}
	return min(after-after%day+day, (now-2*day)/hour*hour+hour)
}

// settleMost takes in the oldest of the pending inputs where they are very many, as the station's tracker does.
func (r *replay) settleMost(now int64) error {
	n := r.pending.Len() - maxTrackerPending
	if n <= 0 {
		return nil
	}
	to := min(r.pending.Time(n-1)+1, now-minSettle)
	n = r.pending.Before(to)
	for i := range n {
		if err := r.one(r.pending.At(i), now); err != nil {
			return err
		}
	}
	r.pending.Drop(n)
	r.reach(to, now)
	return nil
}

// finalBefore returns the moment from which a station's history changes when something came late: a whole minute, ms.
func (wk *worker) finalBefore(t *station.Timeline, code string, late int64) (int64, error) {
	s, _, err := wk.checkpointBefore(t, code, late)
	if err != nil {
		return 0, err
	}
	return max(0, min(late, s.Final())/minute*minute), nil
}

// checkpointBefore returns a station's last checkpoint before a moment, and its own moment; without any, a state that
// knows nothing.
func (wk *worker) checkpointBefore(t *station.Timeline, code string, before int64) (*monitor.State, int64, error) {
	if s, at, err := wk.readCheckpoint(t, code, code, before); s != nil || err != nil {
		return s, at, err
	}
	at, err := wk.origin(t, code)
	if err != nil {
		return nil, 0, err
	}
	first, err := t.RulesAt(code, at)
	if err != nil {
		return nil, 0, err
	}
	return monitor.New(first.Monitor, at), at, nil
}

// readCheckpoint returns the last stored checkpoint of a station before a moment, and its time; nil if there is none.
// place is the station's code or that of its staging copy.
func (wk *worker) readCheckpoint(t *station.Timeline, code, place string, before int64) (*monitor.State, int64, error) {
	for {
		var at int64
		var stored []byte
		err := wk.f.cfg.Store.View(func(tx *kv.Tx) (err error) {
			at, stored, err = wk.f.cfg.History.StateBefore(tx, wk.account, place, before)
			return err
		})
		if err != nil || stored == nil {
			return nil, 0, err
		}
		s, err := monitor.Decode(stored, func(revision int64) *monitor.Config { return t.Config(code, revision) })
		if err == nil {
			return s, at, nil
		}
		if !errors.Is(err, monitor.ErrVersion) {
			wk.f.cfg.Log.Warn("a stored state of a station cannot be used; using an earlier one",
				slog.String("account", wk.account), slog.String("station", code), slog.Any("error", err))
		}
		before = at
	}
}

// compute computes a station from the last checkpoint before from up to until, with the given timeline, and stores
// nothing. use gets the results in chunks, which begin before from. change, if not nil, alters the configurations after
// from. It may run on any goroutine. Errors: the store's, ctx's.
func (wk *worker) compute(
	ctx context.Context, t *station.Timeline, code string, from, until int64,
	change func(*monitor.Config) *monitor.Config, use func(monitor.Outputs),
) (*monitor.State, error) {
	s, at, err := wk.checkpointBefore(t, code, from)
	if err != nil {
		return nil, err
	}
	from = max(from, at)
	for c, err := range wk.inputs(t, code, at, until) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && change != nil {
			err = c.alter(t, code, from, change)
		}
		if err != nil {
			return nil, err
		}
		for i := range c.inputs {
			if err := s.Apply(&c.inputs[i]); err != nil {
				return nil, err
			}
		}
		use(s.Take())
	}
	return s, nil
}

// viewAt returns a tracker's view at a moment, in ms. It must not be called in a transaction.
func (wk *worker) viewAt(tr *tracker, at int64) (monitor.View, error) {
	tr.mu.Lock()
	if at >= tr.watermark {
		defer tr.mu.Unlock()
		s := tr.base.Clone()
		for i := range tr.pending.Before(at + 1) {
			if err := s.Apply(tr.pending.At(i)); err != nil {
				return monitor.View{}, err
			}
		}
		return s.View(at), nil
	}
	tr.mu.Unlock()
	s, err := wk.compute(context.Background(), wk.timeline, tr.code, at, at+1, nil, func(monitor.Outputs) {})
	if err != nil {
		return monitor.View{}, err
	}
	return s.View(at), nil
}
