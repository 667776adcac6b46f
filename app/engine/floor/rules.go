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

// fault is something that cannot be done at a station.
type fault struct{ what, station string }

// What rules do, as the log tells it when it fails.
const (
	toNote  = "what the engine found was not noted; it is tried again"
	toMove  = "what falls due by itself was not done; it is tried again"
	toLeave = "that the station left the manifest was not noted; it is tried again"
)

// isolated does something for stations in one transaction; where that fails, for each in its own, so that what cannot be done
// at one is in the way of no other. There it rests for a while. It gives the stations at which it was not done.
func (wk *worker) isolated(what, by string, codes []string, now int64, fn func(w *Work, codes []string) error) (failed []string) {
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
	err := wk.update(caught(able, fn))
	if err == nil {
		wk.fine(what+by, able)
		return failed
	}
	if wk.f.cfg.Store.Writable() != nil || errdefs.KindOf(err) == errdefs.Unavailable || wk.ends() {
		wk.trouble(what, err)
		return append(failed, able...)
	}
	for _, code := range able {
		if len(able) > 1 {
			err = wk.update(caught([]string{code}, fn))
		}
		if err == nil {
			wk.fine(what+by, []string{code})
			continue
		}
		wk.f.cfg.Log.Error(what, slog.String("account", wk.account), slog.String("station", code), slog.Any("error", err))
		wk.faults[fault{what + by, code}] = now + retryAfter
		failed = append(failed, code)
	}
	wk.failing.Store(int64(len(wk.faults)))
	return failed
}

// fine notes that something was done at stations.
func (wk *worker) fine(what string, codes []string) {
	if len(wk.faults) == 0 {
		return
	}
	for _, code := range codes {
		delete(wk.faults, fault{what, code})
	}
	wk.failing.Store(int64(len(wk.faults)))
}

// caught makes a panic in a transaction an error of it.
func caught(codes []string, fn func(w *Work, codes []string) error) func(w *Work) error {
	return func(w *Work) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v: %s", v, debug.Stack())
			}
		}()
		return fn(w, codes)
	}
}

// fallDue has rules do what falls due by itself.
func (wk *worker) fallDue(now int64) {
	wk.outlived(now)
	for i, r := range wk.f.rules {
		if codes := r.Due(wk.plan(), now); len(codes) > 0 {
			wk.isolated(toMove, fmt.Sprint(i), codes, now, r.Tick)
		}
	}
}

// outlived forgets what could not be done, when it has not been tried again since it might have been, or its station is gone:
// there is nothing to do any more.
func (wk *worker) outlived(now int64) {
	maps.DeleteFunc(wk.faults, func(f fault, until int64) bool {
		return now > until+retryAfter || until-now > retryAfter || wk.trackers[f.station] == nil
	})
	wk.failing.Store(int64(len(wk.faults)))
}

// happened tells rules what the engine found.
func (wk *worker) happened(now int64) {
	news, codes := map[string][]monitor.Event{}, []string(nil)
	for code, tr := range wk.trackers {
		tr.mu.Lock()
		err := tr.refresh(now)
		if list := tr.news(); len(list) > 0 {
			news[code], codes = list, append(codes, code)
		}
		tr.mu.Unlock()
		if err != nil {
			wk.trouble("a station has stopped counting; it is computed again", err)
			tr.mu.Lock()
			tr.markLate(tr.watermark - hour)
			tr.mu.Unlock()
		}
	}
	if len(news) == 0 || len(wk.f.rules) == 0 {
		return
	}
	slices.Sort(codes)
	for _, code := range wk.isolated(toNote, "", codes, now, func(w *Work, codes []string) error {
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
		tr.untell(news[code])
		tr.mu.Unlock()
	}
}

// leave tells rules that stations have left the manifest. It gives those of which they could not be told.
func (wk *worker) leave(left []string, now int64) (failed []string) {
	if len(wk.f.rules) == 0 {
		return nil
	}
	return wk.isolated(toLeave, "", left, now, func(w *Work, codes []string) error {
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
