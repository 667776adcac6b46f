package floor

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"opsmon/app/engine/monitor"
	"opsmon/app/ingest/signal"
)

const (
	minute = 60_000
	hour   = 60 * minute

	// settleAfter is how long an input may be under way and still find its place without the tracker's going back to a
	// state that was kept: ms.
	settleAfter = 2 * minute
)

// tracker is one station. Its worker changes it; others look at it under mu.
type tracker struct {
	code string

	mu        sync.Mutex
	base      *monitor.State // has taken in all inputs before watermark
	watermark int64          // ms
	pending   queue          // those from watermark on, in order
	hour      *passed        // the last full hour that the base has passed before it was kept; nil: none
	live      *monitor.State // base with the first applied of pending; nil: to be made again
	applied   int
	snapshots []snapshot      // of live, the oldest first
	settled   outputs         // what base gave out that is not kept
	taken     int             // inputs that the base has taken in since it was last kept
	through   int64           // up to when it is kept, a whole minute, ms
	version   uint64          // counts up when what is kept changes
	fresh     monitor.Outputs // what live gave out beyond that; nobody keeps it beyond mu

	gap      int64 // from here on the log has more than the tracker knows, ms; 0: no
	backfill backfill

	told    map[fact]bool            // the engine's events since watermark that rules have been told
	touched bool                     // it took something in since it was last shown
	upsets  uint64                   // counts up when something came out of order
	asked   uint64                   // counts inputs that are no signals: their effect must show in the next answer
	rates   uint64                   // counts up when a SKU that it runs changed
	rated   int64                    // from when on one did since it was last looked at, ms; 0: none did
	shown   shown                    // as watchers know it
	seenAt  int64                    // when it was last looked at, ms
	seen    monitor.View             // as it was then, without outputs, and with the causes that people found
	open    map[string]monitor.Issue // issues that watchers know as open, but for manual downtime

	showing sync.Mutex // held, without mu, while what is shown changes
	soFar   soFar      // the shift that goes on; under showing
	still   still      // as it was shown last; under showing
}

// fact names an event of the engine, however often it is computed.
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

// feedAll passes inputs in any order to the tracker; it sorts them in place. It costs as much as they are, and as what
// of the tracker is later than the first of them, in whatever order they came. The caller holds mu.
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
	if first := tr.pending.put(inputs[n:]); first < tr.applied {
		tr.rewind(first)
	}
}

// snapshot is live as it was a while ago. What comes a little late, or changes a rate in the middle of many signals, is
// taken in from there on, and not from the base on.
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

// cut shortens outputs to what they were once, in the memory that they have: only their owner may look at it.
func (n lengths) cut(o *monitor.Outputs) {
	o.Segments, o.Minutes, o.Issues, o.Events = o.Segments[:n.segments], o.Minutes[:n.minutes], o.Issues[:n.issues], o.Events[:n.events]
}

// A checkpoint is worth its memory after so many inputs, and so many ms: of two there is one then that is older than
// what comes a little late. Tests have them sooner.
var snapshotInputs, snapshotAfter = 256, int64(5_000)

// takeSnapshot keeps a checkpoint of live where that is worth it. The caller holds mu.
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

// rewind has live forget all but the first n of pending, or a few less. The caller holds mu.
func (tr *tracker) rewind(n int) {
	tr.upsets++
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

// drop removes so many of outputs from the front. What follows moves, in the memory that there is.
func (n lengths) drop(o *monitor.Outputs) {
	o.Segments, o.Minutes = slices.Delete(o.Segments, 0, n.segments), slices.Delete(o.Minutes, 0, n.minutes)
	o.Issues, o.Events = slices.Delete(o.Issues, 0, n.issues), slices.Delete(o.Events, 0, n.events)
}

// within reports whether outputs that are so long may be the first of others.
func (n lengths) within(all lengths) bool {
	return n.segments <= all.segments && n.minutes <= all.minutes && n.issues <= all.issues && n.events <= all.events
}

// less returns what is left of outputs without the first ones.
func (n lengths) less(first lengths) lengths {
	return lengths{n.segments - first.segments, n.minutes - first.minutes, n.issues - first.issues, n.events - first.events}
}

// markLate notes that the station is to be computed again from a moment on, ms. The caller holds mu.
func (tr *tracker) markLate(at int64) { tr.backfill.add(at, tr.watermark) }

// refresh brings the live state to a moment: it takes in what has come by then. The caller holds mu.
func (tr *tracker) refresh(now int64) error {
	if tr.live == nil {
		tr.live, tr.applied, tr.fresh, tr.snapshots = tr.base.Clone(), 0, monitor.Outputs{}, nil
	}
	took := false
	for tr.applied < tr.pending.len() && tr.pending.list[tr.applied].at <= now {
		if err := tr.live.Apply(tr.pending.at(tr.applied)); err != nil {
			return fmt.Errorf("station %s at %d: %w", tr.code, tr.pending.list[tr.applied].at, err)
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

// passed is a tracker as it was when its base passed a moment.
type passed struct {
	at      int64          // ms
	base    *monitor.State // has taken in all inputs before
	settled outputs
}

// settle lets the base take in what is older than the moment given, which is never before watermark. The caller holds
// mu.
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
	for f := range tr.told {
		if f.at != 0 && f.at < to {
			delete(tr.told, f)
		}
	}
	return nil
}

// advance is settle to a moment that no full hour lies before.
func (tr *tracker) advance(to int64) error {
	n := tr.pending.before(to)
	for i := range n {
		if err := tr.base.Apply(tr.pending.at(i)); err != nil {
			return fmt.Errorf("station %s at %d: %w", tr.code, tr.pending.list[i].at, err)
		}
	}
	tr.base.Advance(to)
	tr.watermark = to
	gave := tr.base.Take()
	tr.settled.add(gave)
	tr.settled.Segments = fitted(tr.settled.Segments)
	tr.pending.drop(n)
	tr.taken += n
	tr.follow(n, lengthsOf(&gave))
	return nil
}

// follow has the live state be that of a base which took in the first n inputs, and gave out so much then: the live
// state has given out the same before. The caller holds mu.
func (tr *tracker) follow(n int, gave lengths) {
	if tr.live == nil || tr.applied < n || tr.pending.len() == 0 || !gave.within(lengthsOf(&tr.fresh)) {
		tr.live, tr.snapshots = nil, nil // to be made again when it is looked at
		return
	}
	tr.applied -= n
	gave.drop(&tr.fresh)
	tr.fresh.Segments = fitted(tr.fresh.Segments)
	tr.snapshots = slices.DeleteFunc(tr.snapshots, func(p snapshot) bool { return p.applied < n || !gave.within(p.gave) })
	for i := range tr.snapshots {
		p := &tr.snapshots[i]
		p.applied, p.gave = p.applied-n, p.gave.less(gave)
	}
}

// fitted returns segments in memory that is not many times as much as they need.
func fitted(list []monitor.Segment) []monitor.Segment {
	if cap(list) > 2*len(list)+32 {
		return slices.Clone(list)
	}
	return list
}

// outputs returns how much has come of the tracker that is not kept, and how much its states hold back. The caller
// holds mu.
func (tr *tracker) outputs() int {
	n := tr.settled.count() + tr.base.Held()
	if tr.live != nil {
		n += len(tr.fresh.Segments) + len(tr.fresh.Issues) + tr.live.Held()
	}
	return n
}

// settleMost lets the base take in the oldest of what is pending until no more than that many inputs are left, or none
// that is older than newest, ms. The caller holds mu.
func (tr *tracker) settleMost(most int, newest int64) error {
	n := tr.pending.len() - most
	if n <= 0 {
		return nil
	}
	if to := min(tr.pending.list[n-1].at+1, newest); to > tr.watermark {
		return tr.settle(to)
	}
	return nil
}

// news returns the engine's events that rules were not notified of yet, and marks them as notified. The caller holds
// mu.
func (tr *tracker) news() (list []monitor.Event) {
	for _, events := range [][]monitor.Event{tr.settled.Events, tr.fresh.Events} {
		for i := range events {
			if f := factOf(&events[i]); !tr.told[f] {
				if tr.told == nil {
					tr.told = map[fact]bool{}
				}
				tr.told[f] = true
				list = append(list, events[i])
			}
		}
	}
	tr.settled.Events = nil
	return list
}

// forgetTold forgets what rules were told of schedules that do not run any more. The caller holds mu.
func (tr *tracker) forgetTold(now int64) {
	v, err := tr.view(now)
	if err != nil {
		return // which is told when the tracker is looked at
	}
	for f := range tr.told {
		if f.schedule != "" && !slices.ContainsFunc(v.Running, func(r monitor.RunningNow) bool { return r.ID == f.schedule }) {
			delete(tr.told, f)
		}
	}
}

// untell takes back that rules were told of events. The caller holds mu.
func (tr *tracker) untell(list []monitor.Event) {
	for i := range list {
		delete(tr.told, factOf(&list[i]))
	}
	tr.settled.Events = append(list, tr.settled.Events...)
}

// view shows the tracker at a moment that is not before its last input. The caller holds mu.
func (tr *tracker) view(now int64) (monitor.View, error) {
	if tr.pending.len() == 0 && tr.live == nil { // the base is as good, and most trackers of a large plant need no copy of it
		tr.fresh = monitor.Outputs{}
		return tr.base.View(max(now, tr.watermark)), nil
	}
	if err := tr.refresh(now); err != nil {
		return monitor.View{}, err
	}
	return tr.live.View(max(now, tr.watermark)), nil
}

// trackerState changes whenever what a tracker shows at a given moment may change.
type trackerState struct {
	version, upsets, asked, rates uint64
	watermark                     int64
	taken, applied                int
	live, touched                 bool
}

// is returns the tracker's state. The caller holds mu.
func (tr *tracker) is() trackerState {
	return trackerState{tr.version, tr.upsets, tr.asked, tr.rates, tr.watermark, tr.taken, tr.applied, tr.live != nil, tr.touched}
}

// recent returns the outputs that are not kept yet, up to now, ms, and the view at that moment. Where g is not nil and
// the tracker has not changed since, it uses g's view instead of computing one. The caller owns the outputs, and holds
// mu.
func (tr *tracker) recent(now int64, g *glimpse) (monitor.Outputs, monitor.View, error) {
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
