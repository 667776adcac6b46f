package kv

import (
	"time"

	"go.etcd.io/bbolt"
)

// Tx is a transaction as seen by one function. It is valid until the function returns; later use is an error. It must
// stay in the function's goroutine.
type Tx struct {
	bolt   *bbolt.Tx
	now    time.Time
	shared *shared // shared by the functions of one commit; nil in a View
	writes int     // number of changes made through this Tx
	fault  error   // the first damage met by a method without an error result
	ended  bool
}

// Now returns the time of the transaction: constant, in UTC, truncated to milliseconds.
func (tx *Tx) Now() time.Time { return tx.now }

// wrote counts a change. It is called before the change, to count one that fails half-way too.
func (tx *Tx) wrote() {
	tx.writes++
	tx.shared.writes++
}

// setFault records the first failure of a method without an error result; the transaction returns it.
func (tx *Tx) setFault(err error) {
	if tx.fault == nil {
		tx.fault = err
	}
}

// bucket returns the bbolt bucket called name.
func (tx *Tx) bucket(op, name string, write bool) (*bbolt.Bucket, error) {
	if tx.ended {
		return nil, &Error{Op: op, Bucket: name, Err: errEnded}
	}
	if write && tx.shared == nil {
		return nil, &Error{Op: op, Bucket: name, Err: errView}
	}
	b := tx.bolt.Bucket([]byte(name))
	if b == nil {
		return nil, &Error{Op: op, Bucket: name, Err: errNoBucket}
	}
	return b, nil
}

// guard turns a panic of bbolt, or a fault in the mapped file, into an error. It must be deferred directly.
func (tx *Tx) guard(op string, err *error) {
	if r := recover(); r != nil {
		*err = recovered(tx.bolt.DB(), op, r)
	}
}

// The untyped parts of Bucket's methods follow, which are compiled only once for all key and value types.

// get returns a verified copy of the document stored at a key.
func (tx *Tx) get(name string, key []byte) (format byte, document []byte, err error) {
	defer tx.guard("read", &err)
	bolt, err := tx.bucket("read", name, false)
	if err != nil {
		return 0, nil, err
	}
	stored := bolt.Get(key)
	if stored == nil {
		return 0, nil, &Error{Op: "read", Kind: ErrNotFound}
	}
	format, document, err = unseal(name, key, stored)
	if err != nil {
		return 0, nil, &Error{Op: "read", Kind: ErrDamaged, Err: err}
	}
	return format, append([]byte{}, document...), nil
}

func (tx *Tx) has(name string, key []byte) (found bool, err error) {
	defer tx.guard("look up", &err)
	bolt, err := tx.bucket("look up", name, false)
	if err != nil {
		return false, err
	}
	return bolt.Get(key) != nil, nil
}

func (tx *Tx) put(name string, key []byte, format byte, document []byte) (err error) {
	defer tx.guard("write", &err)
	bolt, err := tx.bucket("write", name, true)
	if err != nil {
		return err
	}
	if len(key) > maxKey {
		return &Error{Op: "write", Err: errKeyTooLong}
	}
	t, err := tx.shared.counter(name)
	if err != nil {
		return err
	}
	tx.wrote()
	if old := bolt.Get(key); old != nil {
		t.remove(old)
	}
	stored := seal(name, key, format, document)
	t.add(stored)
	return wrap("write", bolt.Put(key, stored))
}

func (tx *Tx) remove(name string, key []byte) (err error) {
	defer tx.guard("delete", &err)
	bolt, err := tx.bucket("delete", name, true)
	if err != nil {
		return err
	}
	old := bolt.Get(key)
	if old == nil {
		return nil
	}
	t, err := tx.shared.counter(name)
	if err != nil {
		return err
	}
	tx.wrote()
	t.remove(old)
	return wrap("delete", bolt.Delete(key))
}

func (tx *Tx) next(name string) (n uint64, err error) {
	defer tx.guard("next number", &err)
	bolt, err := tx.bucket("next number", name, true)
	if err != nil {
		return 0, err
	}
	tx.wrote()
	n, err = bolt.NextSequence()
	return n, wrap("next number", err)
}

func (tx *Tx) last(name string) (n uint64, err error) {
	defer tx.guard("last number", &err)
	bolt, err := tx.bucket("last number", name, false)
	if err != nil {
		return 0, err
	}
	return bolt.Sequence(), nil
}
