package floor

import (
	"iter"
	"math"
	"slices"

	"opsmon/app/engine/ledger"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/kv"
)

// chunkSignals is about how many signals are read from the log at once.
const chunkSignals = 50_000

// chunk holds the inputs of a station in [from, to), ms, in order.
type chunk struct {
	from, to int64
	inputs   []monitor.Input
	waiting  int // signals of the station that no tracker had taken in when the log was read; the log has them
}

// inputs yields what happened at a station in [from, to), ms: a UTC day at a time, and less where it has very many
// signals. The last pair has the error, if any; errClosed when the service stops.
func (wk *worker) inputs(t *station.Timeline, code string, from, to int64) iter.Seq2[chunk, error] {
	return func(use func(chunk, error) bool) {
		for at := from; at < to; {
			if wk.stopping() {
				use(chunk{}, errClosed)
				return
			}
			c, err := wk.readChunk(t, code, at, to)
			if !use(c, err) || err != nil {
				return
			}
			at = c.to
		}
	}
}

// readChunk reads the first chunk of [from, to) from the log of signals, the ledger and the manifest's revisions.
func (wk *worker) readChunk(t *station.Timeline, code string, from, to int64) (c chunk, err error) {
	c.from = from
	count := func() { c.waiting = wk.arrivals.of(code) }
	end := min(to, from-mod(from, day)+day)
	signals, end, err := wk.f.cfg.Signals.Some(wk.account, code, from, end, chunkSignals, count)
	if err != nil {
		return c, err
	}
	c.to = end
	c.inputs = make([]monitor.Input, 0, len(signals)+8)
	for i := range signals {
		c.inputs = append(c.inputs, InputOf(&signals[i]))
	}
	err = wk.f.cfg.Store.View(func(tx *kv.Tx) error {
		more, err := ledger.Read(tx, wk.account, code, from, end)
		c.inputs = append(c.inputs, more...)
		return err
	})
	if err != nil {
		return c, err
	}
	changes, err := changesIn(t, code, from, end)
	if err != nil {
		return c, err
	}
	c.inputs = append(c.inputs, changes...)
	if len(c.inputs) > len(signals) || !inOrder(c.inputs) {
		slices.SortFunc(c.inputs, compare)
	}
	return c, nil
}

// inOrder reports whether inputs that are in order of time are in that of compare: the log has its own for those of one
// moment.
func inOrder(list []monitor.Input) bool {
	for i := 1; i < len(list); i++ {
		if list[i-1].At == list[i].At && compare(list[i-1], list[i]) > 0 {
			return false
		}
	}
	return true
}

// changesIn returns the changes of a station's configuration in [from, to) that matter to the engine.
func changesIn(t *station.Timeline, code string, from, to int64) ([]monitor.Input, error) {
	changes, err := t.Changes(code, from-1, to-1)
	if err != nil {
		return nil, err
	}
	var list []monitor.Input
	for _, c := range changes {
		if c.At >= from && c.Engine && !c.Gone {
			list = append(list, monitor.Input{At: c.At, Kind: monitor.InputConfig, Config: c.Rules.Monitor})
		}
	}
	return list, nil
}

// origin returns the moment before which nothing is known of a station: the start of an hour, ms; that of a UTC day
// where an entry was recorded for a time before the station appeared.
func (wk *worker) origin(t *station.Timeline, code string) (int64, error) {
	at, err := t.Appeared(code)
	if err != nil {
		return 0, err
	}
	at = min(at, wk.f.now())
	at -= at % hour
	if first, ok, err := wk.f.cfg.Signals.First(wk.account, code); err != nil {
		return 0, err
	} else if ok {
		at = min(at, first*day)
	}
	began := at
	err = wk.f.cfg.Store.View(func(tx *kv.Tx) error {
		if first, ok, err := ledger.First(tx, wk.account, code, 0, at); ok || err != nil {
			at = first
			return err
		}
		return nil
	})
	if at < began {
		at -= at % day
	}
	return at, err
}

// gapAfter returns the start of a UTC day if something is known of a station from then on, else 0.
func (wk *worker) gapAfter(t *station.Timeline, code string, from int64) (int64, error) {
	last, ok, err := wk.f.cfg.Signals.Last(wk.account, code)
	if err != nil || ok && last*day >= from {
		return from, err
	}
	err = wk.f.cfg.Store.View(func(tx *kv.Tx) (err error) {
		_, ok, err = ledger.First(tx, wk.account, code, from, math.MaxInt64)
		return err
	})
	if err != nil || ok {
		return from, err
	}
	changes, err := changesIn(t, code, from, math.MaxInt64)
	if err != nil || len(changes) > 0 {
		return from, err
	}
	return 0, nil
}
