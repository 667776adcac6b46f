package floor

// A step of a backfill may take as long as there are signals. In between the worker does what others wait for: calls
// are served and signals are taken in, so that no station's past delays what people do, or what the other stations
// show.

// maxYieldCalls is how many calls are served at once.
const maxYieldCalls = 64

// yield does waiting work, if that is allowed now.
func (wk *worker) yield() {
	if !wk.yields {
		return
	}
	wk.yields, wk.yielding = false, true
	defer func() { wk.yields, wk.yielding = true, false }()
	for range maxYieldCalls {
		select {
		case call := <-wk.calls:
			wk.yielded++
			call()
			continue
		default:
		}
		break
	}
	wk.takeArrivals()
	wk.showDirty(wk.f.now())
}

// maxOutdated is how often a step is recomputed because its station changed meanwhile. Then no other work is allowed.
const maxOutdated = 3

// markBusy marks stations as being computed until release is called: their signals wait, since they may be read from
// the log.
func (wk *worker) markBusy(trackers ...*tracker) (release func()) {
	yields := wk.yields
	for _, tr := range trackers {
		tr.mu.Lock()
		tr.backfill.busy, tr.backfill.outdated = true, false
		tr.mu.Unlock()
		wk.yields = wk.yields && tr.backfill.outdatedTimes < maxOutdated
	}
	return func() {
		wk.yields = yields
		for _, tr := range trackers {
			tr.mu.Lock()
			tr.backfill.busy = false
			tr.mu.Unlock()
		}
	}
}

// isOutdated reports whether something happened at a busy station that its step may have passed, and counts it.
func (tr *tracker) isOutdated() bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	b := &tr.backfill
	if b.outdated {
		b.outdatedTimes++
	}
	return b.outdated
}

// replaced reports whether another tracker has a station now: all of them were read again while a step was computed.
func (wk *worker) replaced(tr *tracker) bool {
	now := wk.trackers[tr.code]
	return now != nil && now != tr
}
