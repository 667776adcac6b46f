package floor

import (
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"

	"opsmon/app/engine/monitor"
	"opsmon/app/errdefs"
)

// fault is an action of a rule that failed at a station.
type fault struct{ what, station string }

// What rules do, as the log tells it when it fails.
const (
	notifyFailed  = "events of the engine were not processed; retrying"
	tickFailed    = "due work was not done; retrying"
	removedFailed = "the removal of the station from the manifest was not processed; retrying"
)

// isolate runs fn for stations in one transaction; if that fails, for each station in its own, so that a failure at one
// does not affect the others. A station with a failure is skipped for a while. It returns the stations at which fn did
// not succeed.
func (wk *worker) isolate(what, by string, codes []string, now int64, fn func(w *Work, codes []string) error) (failed []string) {
	var able []string
	for _, code := range codes {
		if until := wk.faults[fault{what + by, code}]; now < until && until-now <= retryAfter {
			failed = append(failed, code)
		} else {
			able = append(able, code)
		}
	}
	if len(able) == 0 {
		return failed
	}
	err := wk.update(recovering(able, fn))
	if err == nil {
		wk.clearFaults(what+by, able)
		return failed
	}
	if wk.f.cfg.Store.Writable() != nil || errdefs.KindOf(err) == errdefs.Unavailable || wk.stopping() {
		wk.logError(what, err)
		return append(failed, able...)
	}
	for _, code := range able {
		if len(able) > 1 {
			err = wk.update(recovering([]string{code}, fn))
		}
		if err == nil {
			wk.clearFaults(what+by, []string{code})
			continue
		}
		wk.f.cfg.Log.Error(what, slog.String("account", wk.account), slog.String("station", code), slog.Any("error", err))
		wk.faults[fault{what + by, code}] = now + retryAfter
		failed = append(failed, code)
	}
	wk.failing.Store(int64(len(wk.faults)))
	return failed
}

// clearFaults notes that an action succeeded at stations.
func (wk *worker) clearFaults(what string, codes []string) {
	if len(wk.faults) == 0 {
		return
	}
	for _, code := range codes {
		delete(wk.faults, fault{what, code})
	}
	wk.failing.Store(int64(len(wk.faults)))
}

// recovering returns fn with a panic turned into an error.
func recovering(codes []string, fn func(w *Work, codes []string) error) func(w *Work) error {
	return func(w *Work) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v: %s", v, debug.Stack())
			}
		}()
		return fn(w, codes)
	}
}

// fallDue runs the rules that are due.
func (wk *worker) fallDue(now int64) {
	wk.pruneFaults(now)
	for i, r := range wk.f.rules {
		if codes := r.Due(wk.plan(), now); len(codes) > 0 {
			wk.isolate(tickFailed, fmt.Sprint(i), codes, now, r.Tick)
		}
	}
}

// pruneFaults drops faults of actions that were not retried, since they are no longer needed, and of removed stations.
func (wk *worker) pruneFaults(now int64) {
	maps.DeleteFunc(wk.faults, func(f fault, until int64) bool {
		return now > until+retryAfter || until-now > retryAfter || wk.trackers[f.station] == nil
	})
	wk.failing.Store(int64(len(wk.faults)))
}

// notifyRules passes the engine's new events to the rules.
func (wk *worker) notifyRules(now int64) {
	news, codes := map[string][]monitor.Event{}, []string(nil)
	for code, tr := range wk.trackers {
		tr.mu.Lock()
		err := tr.refresh(now)
		if list := tr.undelivered(); len(list) > 0 {
			news[code], codes = list, append(codes, code)
		}
		tr.mu.Unlock()
		if err != nil {
			wk.logError("a station cannot be computed; it is recomputed", err)
			tr.mu.Lock()
			tr.markLate(tr.watermark - hour)
			tr.mu.Unlock()
		}
	}
	if len(news) == 0 || len(wk.f.rules) == 0 {
		return
	}
	slices.Sort(codes)
	for _, code := range wk.isolate(notifyFailed, "", codes, now, func(w *Work, codes []string) error {
		for _, code := range codes {
			for _, e := range news[code] {
				for _, r := range wk.f.rules {
					if err := r.Happened(w, code, e); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}) {
		tr := wk.trackers[code]
		tr.mu.Lock()
		tr.redeliver(news[code])
		tr.mu.Unlock()
	}
}

// notifyRulesRemoved notifies rules of stations that left the manifest. It returns those for which this failed.
func (wk *worker) notifyRulesRemoved(left []string, now int64) (failed []string) {
	if len(wk.f.rules) == 0 {
		return nil
	}
	return wk.isolate(removedFailed, "", left, now, func(w *Work, codes []string) error {
		for _, code := range codes {
			for _, r := range wk.f.rules {
				if err := r.Left(w, code); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
