package history

import (
	"fmt"
	"math"
	"strings"

	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Staging names the place of a station's staging copy, where a backfill keeps its results until they are whole. No station
// can have that code, and all methods take it in the place of a code.
func Staging(station string) string { return station + "\x00" }

func isStaging(place string) bool { return strings.HasSuffix(place, "\x00") }

// Adopt replaces a station's history from a moment on, a whole minute, with its staging copy, which begins there. The copy is
// empty then. The sums of the moment's UTC day have to be made again, unless it is the day's first. Errors: kv.ErrDamaged
// and others of the store.
func (s *Store) Adopt(tx *kv.Tx, account, station string, from int64) error {
	fail := func(err error) error { return fmt.Errorf("adopt the staging copy of %s: %w", station, err) }
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
		if err := s.joinStaging(tx, account, station, from); err != nil {
			return fail(err)
		}
	}
	for _, b := range []*kv.Bucket[dayKey, []byte]{details, hours, days, states} {
		if err := move(tx, b, of(account, Staging(station), math.MinInt64, math.MaxInt64), func(k dayKey) dayKey {
			return keyOf(account, station, numberOf(k))
		}); err != nil {
			return fail(err)
		}
	}
	for _, t := range issueTypes {
		r := issues.Between(issueKeyOf(account, Staging(station), t, math.MinInt64), issueKeyOf(account, Staging(station), t, math.MaxInt64))
		if err := move(tx, issues, r, func(k issueKey) issueKey { return issueKeyOf(account, station, t, endOf(k)) }); err != nil {
			return fail(err)
		}
	}
	return nil
}

// joinStaging puts the first day, of which what lies before a moment stays, in its place.
func (s *Store) joinStaging(tx *kv.Tx, account, station string, from int64) error {
	day, known := Day(from), &monitor.Contexts{}
	later, err := readDetail(tx, account, Staging(station), day, known)
	if err != nil {
		return err
	}
	for _, b := range []*kv.Bucket[dayKey, []byte]{details, hours, days} {
		if err := drop(tx, b, of(account, Staging(station), day, day+1)); err != nil {
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
