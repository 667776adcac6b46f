package kv

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"
)

// Range is an interval of keys, from (inclusive) to (exclusive), in the order of their encodings. The zero value
// contains every key. Between, From and Under return other ranges.
type Range struct {
	from, to []byte // nil: no limit on that side
}

// Between returns the range of keys >= from and < to.
func (b *Bucket[K, V]) Between(from, to K) Range {
	return Range{from: b.keys.encode(from), to: b.keys.encode(to)}
}

// From returns the range of keys >= from.
func (b *Bucket[K, V]) From(from K) Range { return Range{from: b.keys.encode(from)} }

// Under returns the range of keys whose first part is a.
func Under[A, B, V any](b *Bucket[Pair[A, B], V], a A) Range {
	prefix := b.keys.first(nil, Pair[A, B]{A: a})
	return Range{from: prefix, to: after(prefix)}
}

// after returns the smallest key above every key that starts with prefix; nil if none.
func after(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xFF {
			next := append([]byte(nil), prefix[:i+1]...)
			next[i]++
			return next
		}
	}
	return nil
}

// Scan iterates over a range in ascending order. It ends after the first error (ErrDamaged), which comes with the key
// if that is known. The loop's body may write to the bucket: the iteration continues after the current key.
func (b *Bucket[K, V]) Scan(tx *Tx, r Range) iter.Seq2[Item[K, V], error] {
	return b.scan(tx, r, false)
}

// ScanDown iterates over a range in descending order, otherwise as Scan does.
func (b *Bucket[K, V]) ScanDown(tx *Tx, r Range) iter.Seq2[Item[K, V], error] {
	return b.scan(tx, r, true)
}

// First returns the lowest key of a range, and false if the range is empty. It verifies the value without decoding
// it. Errors: ErrDamaged.
func (b *Bucket[K, V]) First(tx *Tx, r Range) (K, bool, error) { return b.edge(tx, r, false) }

// Final returns the highest key of a range, otherwise as First does.
func (b *Bucket[K, V]) Final(tx *Tx, r Range) (K, bool, error) { return b.edge(tx, r, true) }

func (b *Bucket[K, V]) edge(tx *Tx, r Range, down bool) (k K, found bool, err error) {
	w := walk{tx: tx, name: b.name, r: r, down: down}
	_, _, found, err = w.step()
	if err != nil || !found {
		return k, false, err
	}
	if k, err = b.keys.decode(w.key); err != nil {
		return k, false, &Error{Op: "scan", Bucket: b.name, Key: hex.EncodeToString(w.key), Kind: ErrDamaged, Err: err}
	}
	return k, true, nil
}

func (b *Bucket[K, V]) scan(tx *Tx, r Range, down bool) iter.Seq2[Item[K, V], error] {
	return func(yield func(Item[K, V], error) bool) {
		w := walk{tx: tx, name: b.name, r: r, down: down}
		for {
			format, document, ok, err := w.step()
			var item Item[K, V]
			if err != nil {
				if w.unsealed { // only the value is damaged
					item.Key, _ = b.keys.decode(w.key) // if this fails, the key is in the error
				}
				yield(item, err)
				return
			}
			if !ok {
				return
			}
			if item.Key, err = b.keys.decode(w.key); err == nil {
				item.Value, err = b.values.open(format, document)
			}
			if err != nil {
				yield(item, &Error{Op: "scan", Bucket: b.name, Key: hex.EncodeToString(w.key), Kind: ErrDamaged, Err: err})
				return
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}

var errOrder = errors.New("the keys are not in order")

// below reports whether x < y; nil is the lowest.
func below(x, y []byte) bool { return bytes.Compare(x, y) < 0 }

// walk is the untyped part of a scan.
type walk struct {
	tx     *Tx
	name   string
	r      Range
	down   bool
	cursor *bbolt.Cursor
	writes int    // number of changes of the transaction when the cursor was placed
	key    []byte // the current key; nil before the first step
	steps  uint64

	unsealed bool // the value at key failed verification
}

// step moves to the next key in the range and returns a verified copy of its document.
func (w *walk) step() (format byte, document []byte, ok bool, err error) {
	defer w.tx.guard("scan", &err)
	bolt, err := w.tx.bucket("scan", w.name, false)
	if err != nil {
		return 0, nil, false, err
	}
	key, stored := w.move(bolt)
	if key == nil || w.down && below(key, w.r.from) || !w.down && w.r.to != nil && !below(key, w.r.to) {
		return 0, nil, false, w.complete()
	}
	if w.down && (w.key != nil && !below(key, w.key) || w.r.to != nil && !below(key, w.r.to)) ||
		!w.down && (w.key != nil && !below(w.key, key) || below(key, w.r.from)) {
		return 0, nil, false, &Error{Op: "scan", Bucket: w.name, Key: hex.EncodeToString(key), Kind: ErrDamaged, Err: errOrder}
	}
	w.steps++
	w.key = append(w.key[:0], key...)
	format, document, err = unseal(w.name, w.key, stored)
	if err != nil {
		w.unsealed = true
		return 0, nil, false, &Error{Op: "scan", Bucket: w.name, Key: hex.EncodeToString(w.key), Kind: ErrDamaged, Err: err}
	}
	return format, append([]byte{}, document...), true, nil
}

// complete returns an error if a walk over the whole bucket met fewer or more keys than the bucket's counter. After a
// change in the same transaction it cannot compare.
func (w *walk) complete() error {
	if w.r.from != nil || w.r.to != nil || w.tx.writes > 0 {
		return nil
	}
	n, err := w.tx.count(w.name)
	if err == nil && n != w.steps {
		err = &Error{Op: "scan", Bucket: w.name, Kind: ErrDamaged, Err: fmt.Errorf("%d keys, want %d", w.steps, n)}
	}
	return err
}

// move places the cursor again at the start and after every change, which invalidates bbolt's cursors.
func (w *walk) move(bolt *bbolt.Bucket) (key, stored []byte) {
	fresh := w.cursor == nil || w.tx.writes != w.writes
	if fresh {
		w.cursor, w.writes = bolt.Cursor(), w.tx.writes
	}
	switch {
	case w.down:
		return w.moveDown(bolt, fresh)
	case !fresh:
		return w.cursor.Next()
	case w.key != nil:
		if key, stored = w.cursor.Seek(w.key); bytes.Equal(key, w.key) {
			return w.cursor.Next()
		}
		return key, stored
	case w.r.from != nil:
		return w.cursor.Seek(w.r.from)
	default:
		return w.cursor.First()
	}
}

// moveDown moves to the highest key below the current one, or below the range's end. Deleting leaves empty pages
// until the commit. On an empty page bbolt's Prev returns nil although there are lower keys, and if all pages are
// empty its Last never returns. The first key therefore decides whether there are keys left.
func (w *walk) moveDown(bolt *bbolt.Bucket, fresh bool) (key, stored []byte) {
	limit := w.r.to
	if w.key != nil {
		limit = w.key
	}
	if fresh {
		first, _ := bolt.Cursor().First()
		if first == nil {
			return nil, nil
		}
		if limit == nil {
			return w.cursor.Last()
		}
		if key, _ = w.cursor.Seek(limit); key == nil {
			return w.cursor.Last()
		}
	}
	if key, stored = w.cursor.Prev(); key != nil {
		return key, stored
	}
	first, _ := bolt.Cursor().First()
	if first == nil || limit != nil && bytes.Compare(first, limit) >= 0 {
		return nil, nil
	}
	for key == nil {
		key, stored = w.cursor.Prev()
	}
	return key, stored
}

// Count returns the number of keys in the bucket, without iterating. If it meets damage, the enclosing View or Update
// returns ErrDamaged.
func (b *Bucket[K, V]) Count(tx *Tx) int {
	n, err := tx.count(b.name)
	if err != nil {
		tx.setFault(err)
	}
	return int(n)
}

func (tx *Tx) count(name string) (n uint64, err error) {
	defer tx.guard("count", &err)
	if _, err := tx.bucket("count", name, false); err != nil {
		return 0, err
	}
	if tx.shared != nil {
		t, err := tx.shared.counter(name)
		if err != nil {
			return 0, err
		}
		return t.count, nil
	}
	t, err := readCounter(tx.bolt, name)
	if err != nil {
		return 0, &Error{Op: "count", Bucket: name, Kind: ErrDamaged, Err: err}
	}
	return t.count, nil
}
