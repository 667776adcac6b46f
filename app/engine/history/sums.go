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

// ReplaceRows puts the sums of a UTC day, as oee.Collect and energy.Collect give them for the part of the day that is
// stored (Through): so it is called after Replace, in the same transaction or a later one, for every day that Replace has
// touched. c is the station's calendar on that day. Errors: a day that nothing is stored of; the store's.
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

// dropSums removes those of a day that hold something of the time from a moment on.
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

// progress follows a station's sums from day to day, and finds the moment from which on they are not whole.
type progress struct {
	tx               *kv.Tx
	account, station string
	next             int64 // the day that would come now
	through          int64 // where the sums end; MaxInt64 while they go on
}

// take reports whether the sums of a day can be used: those of all days before are whole.
func (p *progress) take(day, until int64) (bool, error) {
	if err := p.skip(day); err != nil || p.through != math.MaxInt64 {
		return false, err
	}
	p.next = day + 1
	if until < (day+1)*instant.DayMs {
		// There is more detail, or the day is where the history ends or has a hole.
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

// skip goes to a day: days between that have detail have lost their sums.
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

// end returns the moment up to which the sums hold all that is stored, when those of [from, to) were asked for.
func (s *Store) end(p *progress, to int64) (int64, error) {
	if err := p.skip(Day(to-1) + 1); err != nil {
		return 0, err
	}
	through, err := s.Through(p.tx, p.account, p.station)
	return min(p.through, through, to), err
}

// sumDays are the UTC days that sums of [from, to) may be in: where hours begin at half past, the first row of a day may
// be of an hour that began on the day before.
func sumDays(from, to int64) (first, last int64) { return Day(from), Day(to-1) + 2 }

// Rows returns the sums by hour, shift and SKU of the hours that begin in [from, to), and those of energy by hour, as
// Collect gave them. from and to are beginnings of hours. What comes after through is to be collected from Detail: it is
// `to` at most, and may lie within an hour, whose row then holds what is before; 0 when nothing is stored. Errors:
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

// addHours adds the hours of [from, to). One that lies over midnight is one row.
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

// daysAtOnce is about how many rows Days gives at a time: so many that calendars need not be asked often, and so few that
// they stay near the processor.
const daysAtOnce = 256

// Days returns the same as Rows, added up by production day, shift and SKU, energy by production day, for long ranges: Start
// is that of the production day by c. A production day has a row of each UTC day that it lies in, and where it begins
// before `from` or ends after `to`, or by the calendar of its time began at another moment, the rows of its hours. So the
// rows add up by day, week, month and shift to what those of Rows add up to. use is given some rows after others, in order;
// they are its own until it returns. Errors: kv.ErrDamaged and others of the store.
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

// fit tells whether sums by production day can be used for a range.
type fit struct {
	c        *calendar.Calendar
	from, to int64
	// The production day looked at last, and the one before it: a UTC day lies in two mostly.
	day, before calendar.Range
}

// one reports whether hours from the first to the last lie in the range, and in the production day that begins at start.
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
