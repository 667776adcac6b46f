package history

import (
	"errors"
	"fmt"
	"math"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/oee"
	"opsmon/app/instant"
	"opsmon/kv"
)

// ReplaceRows stores the sums of a UTC day, as returned by oee.Collect and energy.Collect for the stored part of the
// day (Through). It must be called after Replace, in the same or a later transaction, for every day that Replace has
// changed. c is the station's calendar on that day. Errors: a day without stored results; the store's.
func (s *Store) ReplaceRows(tx *kv.Tx, account, station string, c *calendar.Calendar, day int64, rows []oee.Row, used []energy.Row) error {
	fail := func(err error) error {
		return fmt.Errorf("keep the sums of %s on day %d: %w", station, day, err)
	}
	stored, err := details.Get(tx, keyOf(account, station, day))
	if errors.Is(err, kv.ErrNotFound) {
		return fail(errors.New("nothing else is stored of it"))
	}
	if err != nil {
		return fail(err)
	}
	until, err := untilOf(stored)
	if err != nil {
		return broken(details.Name(), station, day, err)
	}
	byHour, err := packHours(day, until, rows, used)
	if err != nil {
		return fail(err)
	}
	if err := hours.Put(tx, keyOf(account, station, day), byHour); err != nil {
		return fail(err)
	}
	sums, usedSums := byDay(c, rows, used)
	if err := days.Put(tx, keyOf(account, station, day), packDays(day, until, sums, usedSums)); err != nil {
		return fail(err)
	}
	return nil
}

// dropSums deletes the sums of a day that include time from a moment on.
func dropSums(tx *kv.Tx, account, station string, day, from int64) error {
	stored, err := days.Get(tx, keyOf(account, station, day))
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	until, _, err := openSums(formatDays, stored)
	if err != nil {
		return broken(days.Name(), station, day, err)
	}
	if until <= from {
		return nil
	}
	if err := hours.Delete(tx, keyOf(account, station, day)); err != nil {
		return err
	}
	return days.Delete(tx, keyOf(account, station, day))
}

// progress checks a station's sums day by day, and finds the moment up to which they are complete.
type progress struct {
	tx               *kv.Tx
	account, station string
	next             int64 // the next expected day
	through          int64 // the end of complete sums; MaxInt64 while they are complete
}

// take reports whether the sums of a day can be used, which requires complete sums of all days before.
func (p *progress) take(day, until int64) (bool, error) {
	if err := p.skip(day); err != nil || p.through != math.MaxInt64 {
		return false, err
	}
	p.next = day + 1
	if until < (day+1)*instant.DayMs {
		// The detail has more, or the history ends or has a gap on this day.
		stored, err := details.Get(p.tx, keyOf(p.account, p.station, day))
		if err != nil {
			return false, err
		}
		end, err := untilOf(stored)
		if err != nil {
			return false, broken(details.Name(), p.station, day, err)
		}
		if end > until {
			p.through = until
		}
	}
	return true, nil
}

// skip advances to a day. Days in between with detail have lost their sums.
func (p *progress) skip(day int64) error {
	if p.through != math.MaxInt64 || day <= p.next {
		return nil
	}
	for item, err := range details.Scan(p.tx, of(p.account, p.station, p.next, day)) {
		if err != nil {
			return err
		}
		p.through = numberOf(item.Key) * instant.DayMs
		return nil
	}
	return nil
}

// end returns the moment up to which the sums are complete, for a requested range [from, to).
func (s *Store) end(p *progress, to int64) (int64, error) {
	if err := p.skip(Day(to-1) + 1); err != nil {
		return 0, err
	}
	through, err := s.Through(p.tx, p.account, p.station)
	return min(p.through, through, to), err
}

// sumDays returns the UTC days that may have sums of [from, to). If hours begin at half past, the first row of a day
// may be of an hour that began on the day before.
func sumDays(from, to int64) (first, last int64) { return Day(from), Day(to-1) + 2 }

// Rows returns the sums by hour, shift and SKU of the hours that begin in [from, to), and those of energy by hour, as
// Collect returned them. from and to are starts of hours. Later sums than through must be collected from Detail.
// through is at most `to`, may be within an hour whose row is then partial, and is 0 if nothing is stored. Errors:
// kv.ErrDamaged and others of the store.
func (s *Store) Rows(tx *kv.Tx, account, station string, from, to int64) (rows []oee.Row, used []energy.Row, through int64, err error) {
	fail := func(err error) ([]oee.Row, []energy.Row, int64, error) {
		return nil, nil, 0, fmt.Errorf("read the sums of %s: %w", station, err)
	}
	first, last := sumDays(from, to)
	p := progress{tx: tx, account: account, station: station, next: first, through: math.MaxInt64}
	for item, err := range hours.Scan(tx, of(account, station, first, last)) {
		if err != nil {
			return fail(err)
		}
		day := numberOf(item.Key)
		sums, err := unpackHours(day, item.Value)
		if err != nil {
			return fail(broken(hours.Name(), station, day, err))
		}
		whole, err := p.take(day, sums.until)
		if err != nil {
			return fail(err)
		}
		if !whole {
			break
		}
		rows, used = addHours(rows, used, &sums, from, to)
	}
	if through, err = s.end(&p, to); err != nil {
		return fail(err)
	}
	return rows, used, through, nil
}

// addHours appends the hours of [from, to). An hour across midnight becomes one row.
func addHours(rows []oee.Row, used []energy.Row, sums *hourSums, from, to int64) ([]oee.Row, []energy.Row) {
	known := len(rows)
next:
	for i := range sums.rows {
		x := &sums.rows[i]
		if x.Start < from || x.Start >= to {
			continue
		}
		for k := known - 1; k >= 0 && rows[k].Start == x.Start; k-- {
			if rows[k].Shift == x.Shift && rows[k].SKU == x.SKU {
				rows[k].Terms.Add(&x.Terms)
				continue next
			}
		}
		rows = append(rows, *x)
	}
	for i := range sums.used {
		x := &sums.used[i]
		if x.Start < from || x.Start >= to {
			continue
		}
		if n := len(used); n > 0 && used[n-1].Start == x.Start {
			used[n-1].Usage.Add(&x.Usage)
			continue
		}
		used = append(used, *x)
	}
	return rows, used
}

// daysAtOnce is the approximate number of rows that Days passes at a time: enough to amortise calls of the calendar,
// and few enough to stay in the processor's cache.
const daysAtOnce = 256

// Days returns the sums of Rows added up by production day, shift and SKU, and energy by production day, for long
// ranges. Start is the start of the production day by c. A production day has a row for each UTC day that it overlaps.
// If it begins before `from`, ends after `to`, or began at another moment by the calendar of its time, it has the rows
// of its hours instead. Sums by day, week, month and shift therefore equal those of Rows. use is called with several
// batches of rows in order, which are valid until it returns. Errors: kv.ErrDamaged and others of the store.
func (s *Store) Days(tx *kv.Tx, account, station string, c *calendar.Calendar, from, to int64, use func(rows []oee.Row, used []energy.Row)) (through int64, err error) {
	fail := func(err error) (int64, error) { return 0, fmt.Errorf("read the sums of %s: %w", station, err) }
	first, last := sumDays(from, to)
	p := progress{tx: tx, account: account, station: station, next: first, through: math.MaxInt64}
	sums := daySums{names: map[string]string{}}
	by := fit{c: c, from: from, to: to}
	rows, used := make([]oee.Row, 0, daysAtOnce), make([]energy.Row, 0, daysAtOnce)
	for item, err := range days.Scan(tx, of(account, station, first, last)) {
		if err != nil {
			return fail(err)
		}
		day := numberOf(item.Key)
		if err := sums.unpack(day, item.Value); err != nil {
			return fail(broken(days.Name(), station, day, err))
		}
		whole, err := p.take(day, sums.until)
		if err != nil {
			return fail(err)
		}
		if !whole {
			break
		}
		if len(rows)+len(sums.rows) > daysAtOnce || len(used)+len(sums.used) > daysAtOnce {
			use(rows, used)
			rows, used = rows[:0], used[:0]
		}
		if !by.fits(&sums) {
			b, err := hours.Get(tx, keyOf(account, station, day))
			if err != nil {
				return fail(err)
			}
			byHour, err := unpackHours(day, b)
			if err != nil {
				return fail(broken(hours.Name(), station, day, err))
			}
			rows, used = addHours(rows, used, &byHour, from, to)
			continue
		}
		for i := range sums.rows {
			rows = append(rows, sums.rows[i].Row)
		}
		for i := range sums.used {
			used = append(used, sums.used[i].Row)
		}
	}
	use(rows, used)
	if through, err = s.end(&p, to); err != nil {
		return fail(err)
	}
	return through, nil
}

// fit decides whether sums by production day can be used for a range.
type fit struct {
	c        *calendar.Calendar
	from, to int64
	// The last production day and the one before it: a UTC day mostly overlaps two.
	day, before calendar.Range
}

// one reports whether hours from first to last are in the range and in the production day that begins at start.
func (f *fit) one(start, first, last int64) bool {
	if first < f.from || last >= f.to {
		return false
	}
	if first >= f.before.Start && first < f.before.End {
		return start == f.before.Start && last < f.before.End
	}
	if first < f.day.Start || first >= f.day.End {
		f.day, f.before = f.c.Bucket(first, calendar.UnitDay), f.day
	}
	return start == f.day.Start && last < f.day.End
}

func (f *fit) fits(s *daySums) bool {
	for i := range s.rows {
		if x := &s.rows[i]; !f.one(x.Start, x.first, x.last) {
			return false
		}
	}
	for i := range s.used {
		if x := &s.used[i]; !f.one(x.Start, x.first, x.last) {
			return false
		}
	}
	return true
}
