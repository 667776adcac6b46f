package history

import (
	"fmt"
	"math"
	"strings"

	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Staging returns the key of a station's staging area, in which recalculated results are stored until they are complete.
// No station can have such a code. All methods accept it instead of a station's code.
func Staging(station string) string { return station + "\x00" }

func isStaging(place string) bool { return strings.HasSuffix(place, "\x00") }

// Adopt replaces a station's results from a moment on, a whole minute, by those of its staging area, which must begin
// at that moment and is empty afterwards. Unless the moment is the start of a UTC day, the caller must then replace the
// sums of that day. Errors: kv.ErrDamaged and others of the store.
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

// joinStaging replaces the first day, of which the part before a moment remains.
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

// move changes the keys of a range of values.
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
