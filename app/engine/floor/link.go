package floor

import (
	"cmp"
	"log/slog"
	"slices"

	"opsmon/app/engine/ledger"
	"opsmon/app/engine/monitor"
	"opsmon/kv"
)

// linkGrace is how long a device may be disconnected without a record, in ms. A device with a bad radio reconnects all
// the time, and each time would store two records for each of its stations. It equals the shortest timeout after which
// a station counts as disconnected, so that recomputed results do not depend on it.
const linkGrace = monitor.LeastAliveTimeout

// linked is a connection that began or ended.
type linked struct {
	device   string
	stations []string
	at       int64
	up       bool
}

// Linked notes that a live connection of a device began or ended at a moment, in ms; a connection is a sign of life of
// the device's stations (monitoring.md section 3). Unknown stations are ignored. It does not wait.
func (f *Floor) Linked(accountID, device string, stationCodes []string, at int64, up bool) {
	wk, err := f.worker(accountID)
	if err != nil {
		return // the connections that there are end with the service
	}
	wk.arrivals.Lock()
	wk.arrivals.links = append(wk.arrivals.links, linked{device, stationCodes, at, up})
	wk.arrivals.Unlock()
	wk.wake()
}

// takeLinks records the connections that began and ended: an end when the device has been away for a while.
func (wk *worker) takeLinks() {
	due := wk.dueLinks()
	if len(due) == 0 {
		return
	}
	err := wk.update(func(w *Work) error {
		for _, l := range due {
			for _, code := range l.stations {
				if w.worker.trackers[code] == nil {
					continue
				}
				if err := w.link(code, l.device, min(l.at, w.Now), l.up); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		wk.logError("device connections are not recorded as signs of life yet; retrying", err)
		wk.arrivals.Lock()
		wk.arrivals.links = append(due, wk.arrivals.links...)
		wk.arrivals.Unlock()
	}
}

// dueLinks returns the connection changes to record now, in order, and keeps recent disconnections for later.
func (wk *worker) dueLinks() []linked {
	wk.arrivals.Lock()
	list := wk.arrivals.links
	wk.arrivals.links = nil
	wk.arrivals.Unlock()
	var due []linked
	for _, l := range list {
		if !l.up {
			wk.ended = append(wk.ended, l)
			continue
		}
		due = append(due, l)
		for i := range wk.ended {
			if e := &wk.ended[i]; e.device == l.device {
				e.stations = slices.DeleteFunc(slices.Clone(e.stations), func(code string) bool { return slices.Contains(l.stations, code) })
			}
		}
	}
	now := wk.f.now()
	wk.ended = slices.DeleteFunc(wk.ended, func(e linked) bool {
		if now-e.at < linkGrace && e.at <= now+minute {
			return false
		}
		due = append(due, e)
		return true
	})
	slices.SortStableFunc(due, func(a, b linked) int { return cmp.Compare(a.at, b.at) })
	return due
}

// link records the beginning or end of a connection, once.
func (w *Work) link(code, device string, at int64, up bool) error {
	if ledger.Linked(w.Tx, w.Account, code, device) == up {
		return nil
	}
	if _, err := w.Record(code, monitor.Input{At: at, Kind: monitor.InputLink, Source: device, Up: up}); err != nil {
		return err
	}
	if up {
		return ledger.SetLink(w.Tx, w.Account, ledger.Link{Station: code, Device: device, Since: at})
	}
	return ledger.DeleteLink(w.Tx, w.Account, code, device)
}

// heard returns the time of the last arrival before the start, in ms; 0 if it is unknown.
func (wk *worker) heard() (last int64) {
	err := wk.f.cfg.Store.View(func(tx *kv.Tx) (err error) {
		last, err = wk.f.cfg.Signals.LastArrival(tx, wk.account)
		return err
	})
	if err != nil {
		wk.logError("the time of the last arrival is unknown", err)
	}
	return last
}

// unlink ends the connections that were live when the service last stopped, at the time of the last arrival.
func (wk *worker) unlink(last int64) {
	err := wk.update(func(w *Work) error {
		var list []ledger.Link
		for l, err := range ledger.Links(w.Tx, wk.account) {
			if err != nil {
				return err
			}
			list = append(list, l)
		}
		for _, l := range list {
			if w.worker.trackers[l.Station] == nil {
				if err := ledger.DeleteLink(w.Tx, wk.account, l.Station, l.Device); err != nil {
					return err
				}
				continue
			}
			if err := w.link(l.Station, l.Device, max(l.Since, last), false); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		wk.f.cfg.Log.Error("device connections that ended with the service still count as live", slog.String("account", wk.account), slog.Any("error", err))
	}
}
