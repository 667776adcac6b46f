package floor

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"opsmon/app/engine/monitor"
	"opsmon/app/ingest/signal"
)

// What the stations of all accounts hold in memory of signals is bounded by their number. What does not fit any more,
// the bases take in before the two minutes are over; what comes faster than that goes is not taken from its senders
// (Room).
const (
	maxArrivals       = 60_000  // signals that are stored and that no tracker has taken in
	maxPending        = 500_000 // inputs of all trackers that no base has taken in
	maxTrackerPending = 32_768  // the same of one tracker
	maxOutputs        = 600_000 // segments and issues of all trackers that are not stored

	// minSettle is how long an input may be under way however many there are, ms.
	minSettle = 5000

	minLiveSegments = 50 // segments of a live state in two minutes, in any plant

	feedBatch = 512 // signals that are given to a tracker together
)

// arrivals queues stored signals and connection changes for the worker. Any goroutine adds; only the worker takes.
type arrivals struct {
	sync.Mutex
	signals map[string][]signal.Signal // by station, as they came
	count   int
	sources map[string]int // how many of them are of each source
	links   []linked

	held   weight // signals that the trackers held when they were last weighed
	output weight // segments and issues that are not stored
}

// weight is how much of something there is, and how much of it is of each source.
type weight struct {
	total int
	by    map[string]int
}

// add notes signals of one account.
func (a *arrivals) add(list []signal.Signal) {
	a.Lock()
	defer a.Unlock()
	for start := 0; start < len(list); {
		end := start + 1
		for end < len(list) && list[end].Station == list[start].Station && list[end].Source == list[start].Source {
			end++
		}
		s := &list[start]
		a.signals[s.Station] = append(a.signals[s.Station], list[start:end]...)
		a.sources[s.Source] += end - start
		start = end
	}
	a.count += len(list)
}

// gone says that signals are not among them any more. The caller holds the lock.
func (a *arrivals) gone(list []signal.Signal) {
	a.count -= len(list)
	for i := range list {
		if s := list[i].Source; a.sources[s] > 1 {
			a.sources[s]--
		} else {
			delete(a.sources, s)
		}
	}
}

// of returns how many signals of a station there are.
func (a *arrivals) of(code string) int {
	a.Lock()
	defer a.Unlock()
	return len(a.signals[code])
}

// take returns the signals of all stations but those that are to wait.
func (a *arrivals) take(wait func(code string) bool) map[string][]signal.Signal {
	a.Lock()
	defer a.Unlock()
	all := a.signals
	a.signals = map[string][]signal.Signal{}
	for code, list := range all {
		if wait(code) {
			a.signals[code] = list
			delete(all, code)
			continue
		}
		a.gone(list)
	}
	return all
}

// forget drops of the first signals of a station those of [from, to).
func (a *arrivals) forget(code string, first int, from, to int64) {
	if first == 0 {
		return
	}
	a.Lock()
	defer a.Unlock()
	list := a.signals[code]
	read := func(s *signal.Signal) bool { return s.At >= from && s.At < to }
	kept := list[:0]
	for i := range list {
		if i < first && read(&list[i]) {
			a.gone(list[i : i+1])
			continue
		}
		kept = append(kept, list[i])
	}
	clear(list[len(kept):])
	if a.signals[code] = kept; len(kept) == 0 {
		delete(a.signals, code)
	}
}

// waiting reports whether there are signals of a station ("" = any) from before a moment.
func (a *arrivals) waiting(code string, before int64) bool {
	a.Lock()
	defer a.Unlock()
	for of, list := range a.signals {
		if (code == "" || code == of) && slices.ContainsFunc(list, func(s signal.Signal) bool { return s.At < before }) {
			return true
		}
	}
	return false
}

// room reports whether a source may send more, given how many accounts share the limits. A source that uses little of a
// limit may go on while the limit is exceeded.
func (a *arrivals) room(source string, share int) bool {
	a.Lock()
	defer a.Unlock()
	arrived := weight{a.count, a.sources}
	return arrived.fits(source, maxArrivals/share) && a.held.fits(source, maxPending/share) && a.output.fits(source, maxOutputs/share)
}

// fits reports whether a source may add to a quantity with a limit.
func (w *weight) fits(source string, most int) bool {
	return w.total < most || w.by[source] < most/(2*(len(w.by)+1))
}

// Room reports whether a source of an account may send signals now. It may not while it has more of them under way than
// its share, and all of them together are too many.
func (f *Floor) Room(accountID, source string) bool {
	f.mu.Lock()
	wk, share := f.workers[accountID], len(f.workers)
	f.mu.Unlock()
	return wk == nil || wk.arrivals.room(source, share)
}

// changePause is how long a change of configuration waits at most, in ms, while an account has much that is not stored.
const changePause = 100

// AwaitChange waits before an account's configuration changes, while its stations have given out more than half of what
// they may: each change begins another segment at each station that it touches, and more of them at once than the
// engine follows would leave senders of signals no room. A hundred changes come and go without a wait. Of several that
// come together one waits after the other.
func (f *Floor) AwaitChange(accountID string) {
	f.mu.Lock()
	wk, share := f.workers[accountID], len(f.workers)
	f.mu.Unlock()
	if wk == nil || !wk.arrivals.crowded(maxOutputs/share/2) {
		return
	}
	wk.changing.Lock()
	defer wk.changing.Unlock()
	for range changePause / 10 {
		if !wk.arrivals.crowded(maxOutputs / share / 2) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// crowded reports whether the stations have given out more than so much that is not stored.
func (a *arrivals) crowded(most int) bool {
	a.Lock()
	defer a.Unlock()
	return a.output.total > most
}

// share tells among how many accounts what is held is divided.
func (f *Floor) share() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(1, len(f.workers))
}

// takeArrivals passes the signals that have arrived to their trackers. Those of a tracker that is being recalculated
// wait.
func (wk *worker) takeArrivals() {
	for code, list := range wk.arrivals.take(func(code string) bool { tr := wk.trackers[code]; return tr != nil && tr.backfill.busy }) {
		if tr := wk.trackers[code]; tr != nil {
			wk.feed(tr, list)
			wk.dirty[tr] = true
		}
	}
	if wk.pending > maxPending/wk.f.share()*3/4 {
		wk.relieveAll()
	}
}

// feed passes signals to a tracker, some at a time: as inputs they take more than twice the memory. They belong to the
// worker.
func (wk *worker) feed(tr *tracker, list []signal.Signal) {
	slices.SortStableFunc(list, func(a, b signal.Signal) int { return cmp.Compare(a.At, b.At) })
	inputs := make([]monitor.Input, 0, min(len(list), feedBatch))
	tr.mu.Lock()
	defer tr.mu.Unlock()
	was := tr.pending.Len()
	for batch := range slices.Chunk(list, feedBatch) {
		inputs = inputs[:0]
		for i := range batch {
			inputs = append(inputs, InputOf(&batch[i]))
		}
		tr.feedAll(inputs)
	}
	wk.relieve(tr, maxTrackerPending)
	wk.pending += tr.pending.Len() - was
}

// relieve has the base of a tracker with more than most pending inputs process the oldest half of them, so that this
// happens rarely. The caller holds the tracker's mu.
func (wk *worker) relieve(tr *tracker, most int) {
	if tr.pending.Len() <= most || tr.backfill.busy {
		return
	}
	if err := tr.settleMost(most/2, wk.f.now()-minSettle); err != nil {
		tr.markLate(tr.watermark - hour)
		wk.logError("a station cannot be computed; it is recomputed", err)
	}
}

// relieveAll does the same for all trackers if together they hold too much, and then measures how much they hold.
func (wk *worker) relieveAll() {
	stations := max(len(wk.trackers), 1) // none while the stations are loaded again
	most, held, output := maxTrackerPending, weight{by: map[string]int{}}, weight{by: map[string]int{}}
	if share := maxPending / wk.f.share(); wk.pending > share*3/4 {
		most = min(most, max(share/stations, 2))
	}
	gave := math.MaxInt // segments of a live state from which on its base settles early, where all trackers together hold too much
	if share := maxOutputs / wk.f.share() / 8; wk.outputs > share {
		gave = max(minLiveSegments, share/stations)
	}
	for _, tr := range wk.trackers {
		tr.mu.Lock()
		wk.relieve(tr, most)
		if len(tr.fresh.Segments) > gave {
			wk.relieve(tr, 0)
		}
		held.total += tr.pending.Len()
		tr.pending.Weigh(held.by, tr.pending.Len())
		n := tr.outputs()
		output.total += n
		tr.pending.Weigh(output.by, n)
		tr.mu.Unlock()
	}
	wk.pending, wk.outputs = held.total, output.total
	wk.arrivals.Lock()
	wk.arrivals.held, wk.arrivals.output = held, output
	wk.arrivals.Unlock()
}
