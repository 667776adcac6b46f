package signal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"opsmon/kv"
)

const (
	packEvery  = 5 * time.Minute
	mergeEvery = 6 * time.Hour
)

// Run packs the tail, merges the parts of past days and stores the state of senders, periodically until ctx ends. It
// logs failures and retries them in the next period. Sweep is not called here: the caller must know whether the clock
// is trustworthy.
func (l *Log) Run(ctx context.Context) {
	pack, merge := time.NewTicker(l.packEvery), time.NewTicker(l.mergeEvery)
	flush := time.NewTicker(flushEvery)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { l.keepIDs(ctx) })
	defer pack.Stop()
	defer merge.Stop()
	defer flush.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			if err := errors.Join(l.flushSenders(), l.flushCrowds()); err != nil {
				l.cfg.Log.Warn("storing the state of devices failed", slog.Any("error", err))
			}
			return
		case <-flush.C:
			err = errors.Join(l.flushSenders(), l.flushCrowds())
		case <-pack.C:
			err = l.Pack()
		case <-l.full:
			err = l.Pack()
		case <-merge.C:
			// Yesterday may still get many late signals; each would require merging the whole day again.
			err = l.Merge(ctx, Day(l.cfg.Clock().UnixMilli())-1)
		}
		if err != nil && ctx.Err() == nil {
			l.cfg.Log.Error("packing signals or storing the state of devices failed; will retry", slog.Any("error", err))
		}
	}
}

// Check reads every signal and reports unreadable and inconsistent records. known has the ids of all accounts.
func Check(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	c := checker{tx, known, report}
	c.tail()
	c.parts()
	c.open()
	for item, err := range settled.Scan(tx, kv.Range{}) {
		c.fine("up to when signals are settled", item.Key, err)
	}
	for item, err := range late.Scan(tx, kv.Range{}) {
		c.fine("the marks of late signals", item.Key.A, err)
	}
	c.ids()
	for item, err := range storedSenders.Scan(tx, kv.Range{}) {
		c.fine("senders of signals", item.Key.A, err)
	}
	for item, err := range swept.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("up to when signals are removed (%s): %v", item.Key, err))
		}
	}
	for item, err := range storedCrowds.Scan(tx, kv.Range{}) {
		c.fine("times with many signals", item.Key.A, err)
	}
}

type checker struct {
	tx     *kv.Tx
	known  map[string]bool
	report func(string)
}

// fine reports whether an item was readable; it also reports an unknown account as a problem.
func (c *checker) fine(what, account string, err error) bool {
	if err != nil {
		c.report(fmt.Sprintf("%s: %v", what, err))
		return false
	}
	c.account(account)
	return true
}

func (c *checker) account(id string) {
	if !c.known[id] {
		c.report(fmt.Sprintf("signals: their account %s is not there", id))
	}
}

func (c *checker) tail() {
	for item, err := range tail.Scan(c.tx, kv.Range{}) {
		var list []Signal
		if err == nil {
			list, err = unpack(item.Value)
		}
		if err != nil {
			c.report(fmt.Sprintf("the tail of the signals: batch %d: %v", item.Key, err))
		}
		for i := range list {
			c.account(list[i].Account)
		}
	}
}

// parts checks that signals are stored under their own station and day.
func (c *checker) parts() {
	for item, err := range parts.Scan(c.tx, kv.Range{}) {
		if !c.fine("signals", item.Key.A, err) {
			continue
		}
		list, err := readPart(item)
		if err != nil {
			c.report(fmt.Sprintf("signals: %v", err))
		}
		for i := range list {
			if s := &list[i]; s.Account != item.Key.A || s.Station != item.Key.B.A || Day(s.At) != dayOf(item.Key) {
				c.report(fmt.Sprintf("signals of %s on day %d: one of %s is among them", item.Key.B.A, dayOf(item.Key), s.Station))
				break
			}
		}
	}
}

// ids checks that runs of ids have the content that they declare. Blocks without a run were left by a merge.
func (c *checker) ids() {
	runs, counts := map[uint64]*run{}, map[uint64]int{}
	for item, err := range storedRuns.Scan(c.tx, kv.Range{}) {
		if err == nil {
			runs[item.Key], err = openRun(item.Key, item.Value)
		}
		if err != nil {
			c.report(fmt.Sprintf("ids of signals: %v", err))
		}
	}
	for item, err := range oldIDs.Scan(c.tx, oldIDs.From(oldFrom)) {
		if err != nil {
			c.report(fmt.Sprintf("old ids of signals: near %x: %v", item.Key, err))
		}
	}
	for item, err := range blocks.Scan(c.tx, allBlocks()) {
		if err != nil {
			c.report(fmt.Sprintf("ids of signals: %v", err))
			continue
		}
		r := runs[item.Key.A]
		if r == nil {
			continue
		}
		ids, err := r.open(item.Value)
		wrong := err != nil || !slices.IsSortedFunc(ids, compareHashes)
		for i := range ids {
			wrong = wrong || ids[i].part(r.blocks) != item.Key.B || !r.filter.may(&ids[i].hash)
		}
		if counts[item.Key.A] += len(ids); wrong {
			c.report(fmt.Sprintf("ids of signals: block %d of run %d is not as it was written", item.Key.B, item.Key.A))
		}
	}
	for number, r := range runs {
		if r != nil && counts[number] != r.count {
			c.report(fmt.Sprintf("ids of signals: run %d has %d, want %d", number, counts[number], r.count))
		}
	}
}

// open reports days to merge that have no parts.
func (c *checker) open() {
	for item, err := range open.Scan(c.tx, kv.Range{}) {
		if err != nil {
			c.report(fmt.Sprintf("days of signals to merge: %v", err))
			continue
		}
		day := int64(item.Key.B.B ^ 1<<63)
		if next, err := nextPart(c.tx, item.Key.A, item.Key.B.A, day); err == nil && next == 0 {
			c.report(fmt.Sprintf("days of signals to merge: %s has none on day %d", item.Key.B.A, day))
		}
	}
}
