package floor

// What is computed again may take as long as there are signals. In between the worker does what others wait for: calls are
// served and signals are taken in, so that no station's past holds up what people do, or what the other stations show.

// yieldMost is how many calls are served at once.
const yieldMost = 64

// yield does what waits, if that may be done now.
func (wk *worker) yield() {
	if !wk.yields {
		return
	}
	wk.yields, wk.yielding = false, true
	defer func() { wk.yields, wk.yielding = true, false }()
	for range yieldMost {
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

// outdatedMost is how often the computing of a tracker is given up for what happened meanwhile. Then nothing may.
const outdatedMost = 3

// occupy says that trackers are being computed again until the function is called that it returns: signals of theirs wait, as
// they may be read from the log.
func (wk *worker) occupy(trackers ...*tracker) (release func()) {
	breathes := wk.yields
	for _, tr := range trackers {
		tr.mu.Lock()
		tr.busy, tr.outdated = true, false
		tr.mu.Unlock()
		wk.yields = wk.yields && tr.outdatedTimes < outdatedMost
	}
	return func() {
		wk.yields = breathes
		for _, tr := range trackers {
			tr.mu.Lock()
			tr.busy = false
			tr.mu.Unlock()
		}
	}
}

// isOutdated tells whether something happened at a busy tracker that its computing may have passed, and counts it.
func (tr *tracker) isOutdated() bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.outdated {
		tr.outdatedTimes++
	}
	return tr.outdated
}
