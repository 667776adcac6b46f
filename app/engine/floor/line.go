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

	// settleAfter is how long an input may be under way and still find its place without the line's going back to a state
	// that was kept: ms.
	settleAfter = 2 * minute
)

// line is one station. Its owner changes it; others look at it under mu.
type line struct {
	code string

	mu      sync.Mutex
	base    *monitor.State // has taken in all inputs before baseAt
	baseAt  int64          // ms
	pending queue          // those from baseAt on, in order
	hour    *passed        // the last full hour that the base has passed before it was kept; nil: none
	live    *monitor.State // base with the first applied of pending; nil: to be made anew
	applied int
	points  []checkpoint    // of live, the oldest first
	settled outputs         // what base gave out that is not kept
	taken   int             // inputs that the base has taken in since it was last kept
	through int64           // up to when it is kept, a whole minute, ms
	version uint64          // counts up when what is kept changes
	fresh   monitor.Outputs // what live gave out beyond that; nobody keeps it beyond mu

	gap     int64                    // from here on the log has more than the line knows, ms; 0: no
	retry   int64                    // a line that could not be computed is not tried before then, ms
	late    int64                    // the earliest moment that is to be computed again, ms; 0: none
	redone  int64                    // when it was last computed again, ms
	deep    int64                    // the same as late of what lies further back than deepAfter
	deepAt  int64                    // when it was last computed again from that far back, ms
	anew    *rework                  // that is being done; nil: not
	busy    bool                     // it is being computed again, and other work goes on between: its signals wait
	spoiled bool                     // while it was busy something happened that the computing may have passed
	spoils  int                      // how often that was so since it was last computed
	lost    bool                     // what was kept of it was dropped, and is to be computed again
	entered bool                     // people told of what makes it late: it is not served before it is computed
	told    map[fact]bool            // the engine's events since baseAt that rules have been told
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

// feed gives the line an input that is no signal. The caller holds mu.
func (l *line) feed(in monitor.Input) {
	l.spoiled = true
	l.asked++
	l.feedAll([]monitor.Input{in})
}

// feedAll gives the line inputs, in any order; it sorts them where they are. It costs as much as they are, and as what of
// the line is later than the first of them, in whatever order they came. The caller holds mu.
func (l *line) feedAll(inputs []monitor.Input) {
	l.touched = true
	if !slices.IsSortedFunc(inputs, compare) {
		slices.SortStableFunc(inputs, compare)
	}
	n, _ := slices.BinarySearchFunc(inputs, l.baseAt, func(in monitor.Input, at int64) int { return cmp.Compare(in.At, at) })
	if n > 0 {
		l.goBack(inputs[0].At)
	}
	if n == len(inputs) {
		return
	}
	if first := l.pending.put(inputs[n:]); first < l.applied {
		l.rewind(first)
	}
}

// checkpoint is live as it was a while ago. What comes a little late, or changes a rate in the middle of many signals, is taken in
// from there on, and not from the base on.
type checkpoint struct {
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

// A checkpoint is worth its memory after so many inputs, and so many ms: of two there is one then that is older than what comes
// a little late. Tests have them sooner.
var pointInputs, pointAfter = 256, int64(5_000)

// mark keeps a checkpoint of live where that is worth it. The caller holds mu.
func (l *line) mark() {
	from, at := 0, l.baseAt
	if n := len(l.points); n > 0 {
		from, at = l.points[n-1].applied, l.points[n-1].state.Now()
	}
	if l.applied-from < pointInputs || l.live.Now()-at < pointAfter {
		return
	}
	if len(l.points) == 2 {
		l.points = slices.Delete(l.points, 0, 1)
	}
	l.points = append(l.points, checkpoint{l.live.Clone(), l.applied, lengthsOf(&l.fresh)})
}

// rewind has live forget all but the first n of pending, or a few less. The caller holds mu.
func (l *line) rewind(n int) {
	l.upsets++
	for len(l.points) > 0 {
		p := &l.points[len(l.points)-1]
		if p.applied <= n {
			l.live, l.applied = p.state.Clone(), p.applied
			p.gave.cut(&l.fresh)
			return
		}
		l.points = slices.Delete(l.points, len(l.points)-1, len(l.points))
	}
	l.live = nil
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

// goBack notes that the line is to be computed again from a moment on.
func (l *line) goBack(at int64) {
	at = max(at, 1)
	l.spoiled = true
	l.anew.miss(at)
	if l.baseAt-at > deepAfter {
		l.deep = earlier(l.deep, at)
		return
	}
	l.late = earlier(l.late, at)
}

// earlier gives the earlier one of two moments, of which 0 is none.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// behind is the earliest moment from which on the line's figures are still to change for what came late, ms; 0: none. The
// caller holds mu.
func (l *line) behind() int64 {
	at := earlier(l.late, l.deep)
	if l.anew != nil {
		at = earlier(at, l.anew.Late)
	}
	return at
}

// refresh brings the live state to a moment: it takes in what has come by then. The caller holds mu.
func (l *line) refresh(now int64) error {
	if l.live == nil {
		l.live, l.applied, l.fresh, l.points = l.base.Clone(), 0, monitor.Outputs{}, nil
	}
	took := false
	for l.applied < l.pending.len() && l.pending.list[l.applied].at <= now {
		if err := l.live.Apply(l.pending.at(l.applied)); err != nil {
			return fmt.Errorf("station %s at %d: %w", l.code, l.pending.list[l.applied].at, err)
		}
		l.applied++
		took = true
	}
	if took {
		join(&l.fresh, l.live.Take())
		l.mark()
	}
	return nil
}

// passed is a line as it was when its base passed a moment.
type passed struct {
	at      int64          // ms
	base    *monitor.State // has taken in all inputs before
	settled outputs
}

// settle lets the base take in what is older than the moment given, which is never before baseAt. The caller holds mu.
func (l *line) settle(to int64) error {
	for full := l.baseAt - l.baseAt%hour + hour; full < to; full += hour {
		if err := l.advance(full); err != nil {
			return err
		}
		l.hour = &passed{full, l.base.Clone(), l.settled.clone()}
	}
	if err := l.advance(to); err != nil {
		return err
	}
	for f := range l.told {
		if f.at != 0 && f.at < to {
			delete(l.told, f)
		}
	}
	return nil
}

// advance is settle to a moment that no full hour lies before.
func (l *line) advance(to int64) error {
	n := l.pending.before(to)
	for i := range n {
		if err := l.base.Apply(l.pending.at(i)); err != nil {
			return fmt.Errorf("station %s at %d: %w", l.code, l.pending.list[i].at, err)
		}
	}
	l.base.Advance(to)
	l.baseAt = to
	gave := l.base.Take()
	l.settled.add(gave)
	l.settled.Segments = fitted(l.settled.Segments)
	l.pending.drop(n)
	l.taken += n
	l.follow(n, lengthsOf(&gave))
	return nil
}

// follow has the live state be that of a base which took in the first n inputs, and gave out so much then: the live state has
// given out the same before. The caller holds mu.
func (l *line) follow(n int, gave lengths) {
	if l.live == nil || l.applied < n || l.pending.len() == 0 || !gave.within(lengthsOf(&l.fresh)) {
		l.live, l.points = nil, nil // to be made anew when it is looked at
		return
	}
	l.applied -= n
	gave.drop(&l.fresh)
	l.fresh.Segments = fitted(l.fresh.Segments)
	l.points = slices.DeleteFunc(l.points, func(p checkpoint) bool { return p.applied < n || !gave.within(p.gave) })
	for i := range l.points {
		p := &l.points[i]
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

// outputs returns how much has come of the line that is not kept, and how much its states hold back. The caller holds mu.
func (l *line) outputs() int {
	n := l.settled.count() + l.base.Held()
	if l.live != nil {
		n += len(l.fresh.Segments) + len(l.fresh.Issues) + l.live.Held()
	}
	return n
}

// settleMost lets the base take in the oldest of what is pending until no more than that many inputs are left, or none that
// is older than newest, ms. The caller holds mu.
func (l *line) settleMost(most int, newest int64) error {
	n := l.pending.len() - most
	if n <= 0 {
		return nil
	}
	if to := min(l.pending.list[n-1].at+1, newest); to > l.baseAt {
		return l.settle(to)
	}
	return nil
}

// news gives the events of the engine that rules have not been told yet, and notes them as told. The caller holds mu.
func (l *line) news() (list []monitor.Event) {
	for _, events := range [][]monitor.Event{l.settled.Events, l.fresh.Events} {
		for i := range events {
			if f := factOf(&events[i]); !l.told[f] {
				if l.told == nil {
					l.told = map[fact]bool{}
				}
				l.told[f] = true
				list = append(list, events[i])
			}
		}
	}
	l.settled.Events = nil
	return list
}

// forgetTold forgets what rules were told of schedules that do not run any more. The caller holds mu.
func (l *line) forgetTold(now int64) {
	v, err := l.view(now)
	if err != nil {
		return // which is told when the line is looked at
	}
	for f := range l.told {
		if f.schedule != "" && !slices.ContainsFunc(v.Running, func(r monitor.RunningNow) bool { return r.ID == f.schedule }) {
			delete(l.told, f)
		}
	}
}

// untell takes back that rules were told of events. The caller holds mu.
func (l *line) untell(list []monitor.Event) {
	for i := range list {
		delete(l.told, factOf(&list[i]))
	}
	l.settled.Events = append(list, l.settled.Events...)
}

// view shows the line at a moment that is not before its last input. The caller holds mu.
func (l *line) view(now int64) (monitor.View, error) {
	if l.pending.len() == 0 && l.live == nil { // the base is as good, and most lines of a large plant need no copy of it
		l.fresh = monitor.Outputs{}
		return l.base.View(max(now, l.baseAt)), nil
	}
	if err := l.refresh(now); err != nil {
		return monitor.View{}, err
	}
	return l.live.View(max(now, l.baseAt)), nil
}

// lineState changes whenever what a line shows at a given moment may change.
type lineState struct {
	version, upsets, asked, rates uint64
	baseAt                        int64
	taken, applied                int
	live, touched                 bool
}

// is returns the line's state. The caller holds mu.
func (l *line) is() lineState {
	return lineState{l.version, l.upsets, l.asked, l.rates, l.baseAt, l.taken, l.applied, l.live != nil, l.touched}
}

// recent returns the outputs that are not kept yet, up to now, ms, and the view at that moment. Where g is not nil and the line
// has not changed since, it uses g's view instead of computing one. The caller owns the outputs, and holds mu.
func (l *line) recent(now int64, g *glimpse) (monitor.Outputs, monitor.View, error) {
	var v monitor.View
	if g != nil && g.lineState == l.is() {
		v = g.View
	} else {
		var err error
		if v, err = l.view(now); err != nil {
			return monitor.Outputs{}, v, err
		}
	}
	out := l.settled.clone()
	out.add(l.fresh)
	out.add(v.Outputs)
	v.Outputs = monitor.Outputs{}
	return out.Outputs, v, nil
}
