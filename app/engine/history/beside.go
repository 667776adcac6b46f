package history

import (
	"fmt"
	"math"
	"strings"

	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Beside names the place where what is computed again of a station is kept until it is whole: no station can have that
// code. All methods take it in the place of a code.
func Beside(station string) string { return station + "\x00" }

func isBeside(place string) bool { return strings.HasSuffix(place, "\x00") }

// Adopt puts what is kept beside a station in the place of what is kept of it from a moment on, a whole minute, which is
// where the former begins. Nothing stays beside it. The sums of the moment's UTC day are to be made anew, unless it is the
// day's first. Errors: kv.ErrDamaged and others of the store.
func (s *Store) Adopt(tx *kv.Tx, account, station string, from int64) error {
	fail := func(err error) error { return fmt.Errorf("put what was computed of %s in its place: %w", station, err) }
	through, err := s.Through(tx, account, station)
	if err != nil {
		return err
	}
	if from < through {
		if err := s.Forget(tx, account, station, from); err != nil {
			return err
		}
	}
	if from > Day(from)*instant.DayMs {
		if err := s.joinBeside(tx, account, station, from); err != nil {
			return fail(err)
		}
	}
	for _, b := range []*kv.Bucket[dayKey, []byte]{details, hours, days, states} {
		if err := move(tx, b, of(account, Beside(station), math.MinInt64, math.MaxInt64), func(k dayKey) dayKey {
			return keyOf(account, station, numberOf(k))
		}); err != nil {
			return fail(err)
		}
	}
	for _, t := range issueTypes {
		r := issues.Between(issueKeyOf(account, Beside(station), t, math.MinInt64), issueKeyOf(account, Beside(station), t, math.MaxInt64))
		if err := move(tx, issues, r, func(k issueKey) issueKey { return issueKeyOf(account, station, t, endOf(k)) }); err != nil {
			return fail(err)
		}
	}
	return nil
}

// joinBeside puts the first day, of which what lies before a moment stays, in its place.
func (s *Store) joinBeside(tx *kv.Tx, account, station string, from int64) error {
	day, known := Day(from), &monitor.Contexts{}
	later, err := readDetail(tx, account, Beside(station), day, known)
	if err != nil {
		return err
	}
	for _, b := range []*kv.Bucket[dayKey, []byte]{details, hours, days} {
		if err := drop(tx, b, of(account, Beside(station), day, day+1)); err != nil {
			return err
		}
	}
	if len(later.Segments) == 0 {
		return nil
	}
	all, err := readDetail(tx, account, station, day, known)
	if err != nil {
		return err
	}
	all.Segments = Join(all.Segments, later.Segments)
	all.Minutes = append(all.Minutes, later.Minutes...)
	all.Issues = append(all.Issues, later.Issues...)
	return putDetail(tx, account, station, day, all)
}

// move puts the values of a range under other keys.
func move[K any](tx *kv.Tx, b *kv.Bucket[K, []byte], r kv.Range, to func(K) K) error {
	var list []kv.Item[K, []byte]
	for item, err := range b.Scan(tx, r) {
		if err != nil {
			return err
		}
		list = append(list, item)
	}
	for _, item := range list {
		if err := b.Delete(tx, item.Key); err != nil {
			return err
		}
		if err := b.Put(tx, to(item.Key), item.Value); err != nil {
			return err
		}
	}
	return nil
}
