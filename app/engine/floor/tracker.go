package floor

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"opsmon/app/engine/monitor"
	"opsmon/app/engine/queue"
	"opsmon/app/ingest/signal"
)

const (
	minute = 60_000
	hour   = 60 * minute

	// settleAfter is how late an input may arrive and still be processed in order without a stored checkpoint: ms.
	settleAfter = 2 * minute
)

// tracker is one station. Its worker changes it; others look at it under mu.
type tracker struct {
	code string

	mu        sync.Mutex
	base      *monitor.State // has taken in all inputs before watermark
	watermark int64          // ms
	pending   queue.Queue    // those from watermark on, in order
	hour      *passed        // the last full hour that the base has passed before it was stored; nil: none
	live      *monitor.State // base with the first applied of pending; nil: to be made again
	applied   int
	snapshots []snapshot      // of live, the oldest first
	settled   outputs         // results of base that are not stored
	taken     int             // inputs that the base has processed since it was last stored
	through   int64           // results are stored up to here, a whole minute, ms
	version   uint64          // counts changes of the stored results
	fresh     monitor.Outputs // further results of live; not used without mu

	gap      int64 // from here on the log has more than the tracker knows, ms; 0: no
	backfill backfill

	delivered map[fact]bool            // the engine's events since watermark that rules were notified of
	touched   bool                     // it took something in since it was last shown
	reorders  uint64                   // counts up when something came out of order
	asked     uint64                   // counts inputs that are no signals: their effect must show in the next answer
	rates     uint64                   // counts up when a SKU that it runs changed
	rated     int64                    // from when on one did since it was last looked at, ms; 0: none did
	published published                // the last published status
	seenAt    int64                    // when it was last looked at, ms
	seen      monitor.View             // as it was then, without outputs, and with the causes that people found
	open      map[string]monitor.Issue // issues last published as ongoing, without manual downtime

	showing sync.Mutex // held, without mu, while the published status changes
	soFar   soFar      // the current shift; under showing
	idle    idleView   // the last status, if nothing was ongoing; under showing
}

// fact identifies an event of the engine, however often it is recomputed.
type fact struct {
	kind     monitor.EventKind
	schedule string
	at       int64   // of those without a schedule
	quantity float64 // that was reached
}

func factOf(e *monitor.Event) fact {
	if e.Schedule != "" {
		return fact{kind: e.Kind, schedule: e.Schedule, quantity: e.Quantity}
	}
	return fact{kind: e.Kind, at: e.At}
}

// InputOf returns a signal as an input of package monitor. The bits of both masks are the same (a test holds them so).
func InputOf(s *signal.Signal) monitor.Input {
	n := &s.Numbers
	return monitor.Input{
		At: s.At, Kind: monitor.InputSignal, Source: s.Source, ID: s.ID,
		Signal: monitor.Signal{
			Has: monitor.Has(s.Mask), Productive: n[signal.Productive] != 0,
			CompleteGood: n[signal.ProductionCompleteGood], CompleteBad: n[signal.ProductionCompleteBad],
			CountGood: n[signal.ProductionCountGood], CountBad: n[signal.ProductionCountBad],
			LineSpeed: n[signal.LineSpeed],
			Kwh:       n[signal.ElectricalKwh], KwhInterval: n[signal.ElectricalKwhInterval],
			Kw: n[signal.ElectricalKw], Volts: n[signal.ElectricalVolts], Amps: n[signal.ElectricalAmps],
			RSSI: n[signal.RSSI], ErrorCode: s.ErrorCode,
		},
	}
}

// compare is the order of inputs.
func compare(a, b monitor.Input) int { return monitor.Compare(&a, &b) }

// feed passes an input other than a signal to the tracker. The caller holds mu.
func (tr *tracker) feed(in monitor.Input) {
	tr.backfill.outdated = true
	tr.asked++
	tr.feedAll([]monitor.Input{in})
}

// feedAll passes inputs in any order to the tracker, and sorts them in place. The cost grows with their number and with
// the inputs of the tracker that are later than the first of them. The caller holds mu.
func (tr *tracker) feedAll(inputs []monitor.Input) {
	tr.touched = true
	if !slices.IsSortedFunc(inputs, compare) {
		slices.SortStableFunc(inputs, compare)
	}
	n, _ := slices.BinarySearchFunc(inputs, tr.watermark, func(in monitor.Input, at int64) int { return cmp.Compare(in.At, at) })
	if n > 0 {
		tr.markLate(inputs[0].At)
	}
	if n == len(inputs) {
		return
	}
	if first := tr.pending.Put(inputs[n:]); first < tr.applied {
		tr.rewind(first)
	}
}

// snapshot is an earlier version of live. A slightly late input, or a changed rate among many signals, is processed
// from there and not from the base.
type snapshot struct {
	state   *monitor.State // with the first applied of pending
	applied int
	gave    lengths // how much of fresh it had given out by then
}

// lengths are how long the lists of outputs are.
type lengths struct{ segments, minutes, issues, events int }

func lengthsOf(o *monitor.Outputs) lengths {
	return lengths{len(o.Segments), len(o.Minutes), len(o.Issues), len(o.Events)}
}

// cut shortens outputs to an earlier length in place. Only their owner may look at them.
func (n lengths) cut(o *monitor.Outputs) {
	o.Segments, o.Minutes, o.Issues, o.Events = o.Segments[:n.segments], o.Minutes[:n.minutes], o.Issues[:n.issues], o.Events[:n.events]
}

// A snapshot is worth its memory after this many inputs and ms; with two of them, one is usually older than a slightly
// late input. Tests take them sooner.
var snapshotInputs, snapshotAfter = 256, int64(5_000)

// takeSnapshot adds a snapshot of live if it is worth it. The caller holds mu.
func (tr *tracker) takeSnapshot() {
	from, at := 0, tr.watermark
	if n := len(tr.snapshots); n > 0 {
		from, at = tr.snapshots[n-1].applied, tr.snapshots[n-1].state.Now()
	}
	if tr.applied-from < snapshotInputs || tr.live.Now()-at < snapshotAfter {
		return
	}
	if len(tr.snapshots) == 2 {
		tr.snapshots = slices.Delete(tr.snapshots, 0, 1)
	}
	tr.snapshots = append(tr.snapshots, snapshot{tr.live.Clone(), tr.applied, lengthsOf(&tr.fresh)})
}

// rewind resets live to the first n pending inputs, or a few less. The caller holds mu.
func (tr *tracker) rewind(n int) {
	tr.reorders++
	for len(tr.snapshots) > 0 {
		p := &tr.snapshots[len(tr.snapshots)-1]
		if p.applied <= n {
			tr.live, tr.applied = p.state.Clone(), p.applied
			p.gave.cut(&tr.fresh)
			return
		}
		tr.snapshots = slices.Delete(tr.snapshots, len(tr.snapshots)-1, len(tr.snapshots))
	}
	tr.live = nil
}

// drop removes the first outputs in place.
func (n lengths) drop(o *monitor.Outputs) {
	o.Segments, o.Minutes = slices.Delete(o.Segments, 0, n.segments), slices.Delete(o.Minutes, 0, n.minutes)
	o.Issues, o.Events = slices.Delete(o.Issues, 0, n.issues), slices.Delete(o.Events, 0, n.events)
}

// within reports whether outputs of this length can be the first of others.
func (n lengths) within(all lengths) bool {
	return n.segments <= all.segments && n.minutes <= all.minutes && n.issues <= all.issues && n.events <= all.events
}

// less returns the length without the first outputs.
func (n lengths) less(first lengths) lengths {
	return lengths{n.segments - first.segments, n.minutes - first.minutes, n.issues - first.issues, n.events - first.events}
}

// markLate marks the station for recomputation from a moment on, in ms. The caller holds mu.
func (tr *tracker) markLate(at int64) { tr.backfill.add(at, tr.watermark) }

// refresh has the live state process the inputs up to a moment. The caller holds mu.
func (tr *tracker) refresh(now int64) error {
	if tr.live == nil {
		tr.live, tr.applied, tr.fresh, tr.snapshots = tr.base.Clone(), 0, monitor.Outputs{}, nil
	}
	took := false
	for tr.applied < tr.pending.Len() && tr.pending.Time(tr.applied) <= now {
		if err := tr.live.Apply(tr.pending.At(tr.applied)); err != nil {
			return fmt.Errorf("station %s at %d: %w", tr.code, tr.pending.Time(tr.applied), err)
		}
		tr.applied++
		took = true
	}
	if took {
		join(&tr.fresh, tr.live.Take())
		tr.takeSnapshot()
	}
	return nil
}

// passed is a tracker at a full hour that its base has passed.
type passed struct {
	at      int64          // ms
	base    *monitor.State // has taken in all inputs before
	settled outputs
}

// settle has the base process inputs before a moment, which is not before watermark. The caller holds mu.
func (tr *tracker) settle(to int64) error {
	for full := tr.watermark - tr.watermark%hour + hour; full < to; full += hour {
		if err := tr.advance(full); err != nil {
			return err
		}
		tr.hour = &passed{full, tr.base.Clone(), tr.settled.clone()}
	}
	if err := tr.advance(to); err != nil {
		return err
	}
	for f := range tr.delivered {
		if f.at != 0 && f.at < to {
			delete(tr.delivered, f)
		}
	}
	return nil
}

// advance is settle without a full hour in between.
func (tr *tracker) advance(to int64) error {
	n := tr.pending.Before(to)
	for i := range n {
		if err := tr.base.Apply(tr.pending.At(i)); err != nil {
			return fmt.Errorf("station %s at %d: %w", tr.code, tr.pending.Time(i), err)
		}
	}
	tr.base.Advance(to)
	tr.watermark = to
	gave := tr.base.Take()
	tr.settled.add(gave)
	tr.settled.Segments = fit(tr.settled.Segments)
	tr.pending.Drop(n)
	tr.taken += n
	tr.follow(n, lengthsOf(&gave))
	return nil
}

// follow adjusts the live state after the base processed the first n inputs and gave out results of the given length,
// which the live state already gave out. The caller holds mu.
func (tr *tracker) follow(n int, gave lengths) {
	if tr.live == nil || tr.applied < n || tr.pending.Len() == 0 || !gave.within(lengthsOf(&tr.fresh)) {
		tr.live, tr.snapshots = nil, nil // to be made again when it is looked at
		return
	}
	tr.applied -= n
	gave.drop(&tr.fresh)
	tr.fresh.Segments = fit(tr.fresh.Segments)
	tr.snapshots = slices.DeleteFunc(tr.snapshots, func(p snapshot) bool { return p.applied < n || !gave.within(p.gave) })
	for i := range tr.snapshots {
		p := &tr.snapshots[i]
		p.applied, p.gave = p.applied-n, p.gave.less(gave)
	}
}

// fit returns segments with little unused capacity.
func fit(list []monitor.Segment) []monitor.Segment {
	if cap(list) > 2*len(list)+32 {
		return slices.Clone(list)
	}
	return list
}

// outputs returns how many results of the tracker are not stored or are held by its states. The caller holds mu.
func (tr *tracker) outputs() int {
	n := tr.settled.count() + tr.base.Held()
	if tr.live != nil {
		n += len(tr.fresh.Segments) + len(tr.fresh.Issues) + tr.live.Held()
	}
	return n
}

// settleMost has the base process the oldest pending inputs until at most most are left, or none older than newest, in
// ms. The caller holds mu.
func (tr *tracker) settleMost(most int, newest int64) error {
	n := tr.pending.Len() - most
	if n <= 0 {
		return nil
	}
	if to := min(tr.pending.Time(n-1)+1, newest); to > tr.watermark {
		return tr.settle(to)
	}
	return nil
}

// undelivered returns the engine's events that rules were not notified of, and marks them as delivered. The caller
// holds mu.
func (tr *tracker) undelivered() (list []monitor.Event) {
	for _, events := range [][]monitor.Event{tr.settled.Events, tr.fresh.Events} {
		for i := range events {
			if f := factOf(&events[i]); !tr.delivered[f] {
				if tr.delivered == nil {
					tr.delivered = map[fact]bool{}
				}
				tr.delivered[f] = true
				list = append(list, events[i])
			}
		}
	}
	tr.settled.Events = nil
	return list
}

// pruneDelivered forgets delivered events of schedules that no longer run. The caller holds mu.
func (tr *tracker) pruneDelivered(now int64) {
	v, err := tr.view(now)
	if err != nil {
		return // reported when the tracker is read
	}
	for f := range tr.delivered {
		if f.schedule != "" && !slices.ContainsFunc(v.Running, func(r monitor.RunningNow) bool { return r.ID == f.schedule }) {
			delete(tr.delivered, f)
		}
	}
}

// redeliver marks events as not delivered. The caller holds mu.
func (tr *tracker) redeliver(list []monitor.Event) {
	for i := range list {
		delete(tr.delivered, factOf(&list[i]))
	}
	tr.settled.Events = append(list, tr.settled.Events...)
}

// view returns the tracker's view at a moment that is not before its last input. The caller holds mu.
func (tr *tracker) view(now int64) (monitor.View, error) {
	if tr.pending.Len() == 0 && tr.live == nil { // the base is as good, and most trackers of a large plant need no copy of it
		tr.fresh = monitor.Outputs{}
		return tr.base.View(max(now, tr.watermark)), nil
	}
	if err := tr.refresh(now); err != nil {
		return monitor.View{}, err
	}
	return tr.live.View(max(now, tr.watermark)), nil
}

// trackerState changes whenever the tracker's view at a given moment may change.
type trackerState struct {
	version, reorders, asked, rates uint64
	watermark                       int64
	taken, applied                  int
	live, touched                   bool
}

// is returns the tracker's state. The caller holds mu.
func (tr *tracker) is() trackerState {
	return trackerState{tr.version, tr.reorders, tr.asked, tr.rates, tr.watermark, tr.taken, tr.applied, tr.live != nil, tr.touched}
}

// recent returns the results that are not stored, up to now, in ms, and the view at that moment. If g is not nil and
// the tracker has not changed since, its view is used. The caller owns the outputs and holds mu.
func (tr *tracker) recent(now int64, g *liveView) (monitor.Outputs, monitor.View, error) {
	var v monitor.View
	if g != nil && g.trackerState == tr.is() {
		v = g.View
	} else {
		var err error
		if v, err = tr.view(now); err != nil {
			return monitor.Outputs{}, v, err
		}
	}
	out := tr.settled.clone()
	out.add(tr.fresh)
	out.add(v.Outputs)
	v.Outputs = monitor.Outputs{}
	return out.Outputs, v, nil
}
