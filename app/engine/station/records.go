package station

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"opsmon/app/errdefs"
	"opsmon/kv"
)

// storedAt returns when a revision was stored, ms.
func (t *revisions) storedAt(revision uint64) (int64, error) {
	var e effect
	err := t.store.View(func(tx *kv.Tx) (err error) {
		e, err = effects.Get(tx, kv.Pair[string, uint64]{A: t.account, B: revision})
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return 0, errdefs.New(errdefs.NotFound, "there is no revision %d of the manifest", revision)
	}
	return e.At, err
}

// from returns the moment at which a revision came into force, ms. The caller holds mu and has loaded the revision.
func (t *revisions) from(revision uint64) int64 {
	if first := t.records[0].number; revision >= first && revision-first < uint64(len(t.records)) {
		return t.records[revision-first].from
	}
	if revision > t.records[len(t.records)-1].number {
		return math.MaxInt64 // not requested so far
	}
	return math.MinInt64 // before all requested revisions
}

// load loads the newest revision and, one chunk at a time, those that came into force since a moment: more reports
// whether earlier ones remain. The caller holds mu.
func (t *revisions) load(since int64) (more bool, err error) {
	snap, err := t.accounts.Get(t.account)
	if err != nil {
		return false, err
	}
	newest := snap.Account.Revision
	if n := len(t.records); n > 0 && t.records[n-1].number < newest {
		list, err := t.read(t.records[n-1].number+1, newest)
		if err != nil {
			return false, err
		}
		t.records = append(t.records, list...)
		t.order(len(t.records))
	}
	if len(t.records) > 0 && (t.records[0].number == 1 || t.records[0].from <= since) {
		return false, nil
	}
	last := newest
	if len(t.records) > 0 {
		last = t.records[0].number - 1
	}
	first := uint64(1)
	if last > chunk {
		first = last - chunk + 1
	}
	list, err := t.read(first, last)
	if err != nil {
		return false, err
	}
	t.records = append(list, t.records...)
	t.order(len(list))
	return true, nil
}

// order calculates when the revisions before an index came into force: never after a later one. It stops at those for
// which that is already known.
func (t *revisions) order(end int) {
	from := int64(math.MaxInt64)
	if end < len(t.records) {
		from = t.records[end].from
	}
	for i := end - 1; i >= 0; i-- {
		r := &t.records[i]
		if from = min(from, r.stored); r.from == from {
			return
		}
		r.from = from
	}
}

func (t *revisions) read(first, last uint64) ([]record, error) {
	records := make([]record, 0, last-first+1)
	err := t.store.View(func(tx *kv.Tx) error {
		records = records[:0]
		at := func(n uint64) kv.Pair[string, uint64] { return kv.Pair[string, uint64]{A: t.account, B: n} }
		for item, err := range effects.Scan(tx, effects.Between(at(first), at(last+1))) {
			if err != nil {
				return fmt.Errorf("read what the revisions of %s changed: %w", t.account, err)
			}
			e := &item.Value
			records = append(records, record{number: item.Key.B, stored: e.At, from: math.MinInt64, shape: e.Shape, skus: e.SKUs})
		}
		return nil
	})
	if err == nil && uint64(len(records)) != last-first+1 {
		err = fmt.Errorf("read what the revisions of %s changed: of %d to %d there are %d", t.account, first, last, len(records))
	}
	return records, err
}

// shaped reports whether rules of stations may have changed in the revisions (after, last].
func (t *revisions) shaped(after, last uint64) (bool, error) {
	if last-after > chunk {
		return true, nil // reading them all would take longer
	}
	list, err := t.read(after+1, last)
	return slices.ContainsFunc(list, func(r record) bool { return r.shape }), err
}

// recordAt returns the record of the revision in force at a moment.
func (t *revisions) recordAt(at int64) (record, error) {
	for {
		r, more, err := t.tryRecord(at)
		if err != nil || !more {
			return r, err
		}
	}
}

func (t *revisions) tryRecord(at int64) (r record, more bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if more, err = t.load(at); err != nil || more {
		return r, more, err
	}
	i := sort.Search(len(t.records), func(i int) bool { return t.records[i].from > at })
	return t.records[max(i-1, 0)], false, nil
}

// between returns the records of the revisions with a higher number than after that came into force up to to.
func (t *revisions) between(after uint64, to int64) []record {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := 0
	if begin := t.records[0].number; after >= begin {
		first = int(min(after-begin+1, uint64(len(t.records))))
	}
	n := sort.Search(len(t.records), func(i int) bool { return t.records[i].from > to })
	return slices.Clone(t.records[min(first, n):n])
}
