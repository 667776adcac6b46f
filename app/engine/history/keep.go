package history

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/instant"
	"opsmon/kv"
)

// hourly is how long the states of every hour are stored.
const hourly = 48 * time.Hour

// Sweep deletes days older than the retention, and states that are older than the signals or superfluous: one a day of
// those older than two days remains. Call it only while the clock is known to be right. Errors: the store's, ctx's.
func (s *Store) Sweep(ctx context.Context) error {
	now := s.cfg.Clock()
	first := Day(now.Add(-s.cfg.Retention).UnixMilli())
	olderDay := kv.Sweeper[dayKey]{Keep: func(k dayKey) bool { return numberOf(k) >= first }, Next: nextStation}
	old := 0
	for _, b := range []*kv.Bucket[dayKey, []byte]{details, hours, days} {
		n, err := b.Sweep(ctx, s.cfg.Store, olderDay)
		if err != nil {
			return fmt.Errorf("remove old history: %w", err)
		}
		if b == details {
			old = n
		}
	}
	if _, err := issues.Sweep(ctx, s.cfg.Store, kv.Sweeper[issueKey]{
		Keep: func(k issueKey) bool { return Day(endOf(k)) >= first },
		Next: func(k issueKey) issueKey {
			return issueKeyOf(k.A, k.B.A, monitor.IssueType(k.B.B.A+1), math.MinInt64)
		},
	}); err != nil {
		return fmt.Errorf("remove old issues: %w", err)
	}
	if err := s.thinStates(ctx, now.Add(-s.cfg.Signals).UnixMilli(), now.Add(-hourly).UnixMilli()); err != nil {
		return fmt.Errorf("remove old states: %w", err)
	}
	if old > 0 {
		s.cfg.Log.Info("old days of stations removed", slog.Int("days", old), slog.Duration("retention", s.cfg.Retention))
	}
	return nil
}

// nextStation returns the first key after those of a station.
func nextStation(k dayKey) dayKey { return keyOf(k.A, k.B.A+"\x00", math.MinInt64) }

// thinStates deletes the states that are no longer needed, station by station.
func (s *Store) thinStates(ctx context.Context, oldest, recent int64) error {
	for from := (kv.Range{}); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var group []dayKey
		err := s.cfg.Store.View(func(tx *kv.Tx) (err error) {
			group, err = firstStation(tx, from)
			return err
		})
		if err != nil || len(group) == 0 {
			return err
		}
		if gone := thin(group, oldest, recent); len(gone) > 0 {
			if err := s.cfg.Store.Update(func(tx *kv.Tx) error { return deleteStates(tx, gone) }); err != nil {
				return err
			}
		}
		from = states.From(nextStation(group[0]))
	}
}

// firstStation returns the states of the first station in a range.
func firstStation(tx *kv.Tx, from kv.Range) (group []dayKey, err error) {
	for item, err := range states.Scan(tx, from) {
		if err != nil {
			return nil, err
		}
		if len(group) > 0 && (item.Key.A != group[0].A || item.Key.B.A != group[0].B.A) {
			break
		}
		group = append(group, item.Key)
	}
	return group, nil
}

func deleteStates(tx *kv.Tx, keys []dayKey) error {
	for _, k := range keys {
		if err := states.Delete(tx, k); err != nil {
			return err
		}
	}
	return nil
}

// thin returns those of a station's states, in order, that are not needed: all except the last one of those up to
// oldest, the first day that can be recalculated, and all except the first of each day before recent. The newest
// remains.
func thin(group []dayKey, oldest, recent int64) (gone []dayKey) {
	oldest = Day(oldest) * instant.DayMs // signals are stored in whole days
	for i, k := range group[:len(group)-1] {
		at, next := numberOf(k), numberOf(group[i+1])
		if next <= oldest || i > 0 && at > oldest && at < recent && Day(numberOf(group[i-1])) == Day(at) {
			gone = append(gone, k)
		}
	}
	return gone
}

// Check reads every record and reports those that are unreadable or inconsistent. known has the IDs of all accounts.
func Check(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	c := checker{tx, known, report}
	for _, err := range formats.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("the format of the history: %v", err))
		}
	}
	for item, err := range details.Scan(tx, kv.Range{}) {
		if c.readable("history", item.Key.A, err) {
			c.detail(item)
		}
	}
	for item, err := range issues.Scan(tx, kv.Range{}) {
		if c.readable("issues", item.Key.A, err) {
			if _, err := unpackIssue(item); err != nil {
				report(fmt.Sprintf("issues: %v", err))
			}
		}
	}
	for item, err := range hours.Scan(tx, kv.Range{}) {
		if c.readable("sums", item.Key.A, err) {
			c.sums(item)
		}
	}
	for item, err := range days.Scan(tx, kv.Range{}) {
		if c.readable("sums", item.Key.A, err) && !hours.Has(tx, item.Key) {
			report(fmt.Sprintf("sums of %s on day %d: those by hour are missing", item.Key.B.A, numberOf(item.Key)))
		}
	}
	c.checkLost()
	for item, err := range states.Scan(tx, kv.Range{}) {
		if c.readable("states", item.Key.A, err) {
			if state, err := unpackState(item.Value); err != nil || len(state) == 0 {
				report(fmt.Sprintf("state of %s at %d: it cannot be read", item.Key.B.A, numberOf(item.Key)))
			}
		}
	}
}

// checkLost reports records of unknown accounts.
func (c *checker) checkLost() {
	for item, err := range losts.Scan(c.tx, kv.Range{}) {
		c.readable("what is to be computed again", item.Key.A, err)
	}
}

type checker struct {
	tx     *kv.Tx
	known  map[string]bool
	report func(string)
}

// readable reports whether an item was read and its account is known, and records the problem otherwise.
func (c *checker) readable(what, account string, err error) bool {
	if err != nil {
		c.report(fmt.Sprintf("%s: %v", what, err))
		return false
	}
	if !c.known[account] {
		c.report(fmt.Sprintf("%s: their account %s is not there", what, account))
	}
	return true
}

func (c *checker) detail(item kv.Item[dayKey, []byte]) {
	if _, err := unpack(numberOf(item.Key), item.Value, &monitor.Contexts{}); err != nil {
		c.report(fmt.Sprintf("history: %v", broken(details.Name(), item.Key.B.A, numberOf(item.Key), err)))
	}
}

// sums checks a day's sums: those by production day must equal those by hour added up.
func (c *checker) sums(item kv.Item[dayKey, []byte]) {
	day, station := numberOf(item.Key), item.Key.B.A
	problem := func(format string, args ...any) {
		c.report(fmt.Sprintf("sums of %s on day %d: ", station, day) + fmt.Sprintf(format, args...))
	}
	byHour, err := unpackHours(day, item.Value)
	if err != nil {
		problem("%v", err)
		return
	}
	stored, err := days.Get(c.tx, item.Key)
	if err != nil {
		problem("those by day: %v", err)
		return
	}
	var byDay daySums
	if err := byDay.unpack(day, stored); err != nil {
		problem("those by day: %v", err)
		return
	}
	if b, err := details.Get(c.tx, item.Key); err != nil {
		problem("what they are sums of: %v", err)
	} else if until, err := untilOf(b); err == nil && (byHour.until > until || byHour.until != byDay.until) {
		problem("they reach to %d, those by day to %d, and what they are sums of to %d", byHour.until, byDay.until, until)
	}
	rows := 0
	for i := range byDay.rows {
		x := &byDay.rows[i]
		var sum oee.Terms
		for k := range byHour.rows {
			if h := &byHour.rows[k]; h.Start >= x.first && h.Start <= x.last && h.Shift == x.Shift && h.SKU == x.SKU {
				sum.Add(&h.Terms)
				rows++
			}
		}
		if sum != x.Terms {
			problem("those by hour do not add up to those by day")
			return
		}
	}
	if rows != len(byHour.rows) {
		problem("%d of %d rows are in none of those by day", len(byHour.rows)-rows, len(byHour.rows))
	}
}
