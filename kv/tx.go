package kv

import (
	"time"

	"go.etcd.io/bbolt"
)

// Tx is one function's view of a transaction. It lives until the function that it was given to returns: later
// use gives an error. It must stay in that function's goroutine.
type Tx struct {
	bolt   *bbolt.Tx
	now    time.Time
	shared *shared // what the functions of one commit share; nil in a View
	writes int     // changes made through this Tx
	fault  error   // the first damage met by a method that cannot return an error
	ended  bool
}

// Now is the time of the transaction: fixed for its length, in UTC, cut to milliseconds.
func (tx *Tx) Now() time.Time { return tx.now }

// wrote notes a change. It is called before the change, so that one that fails half-way counts.
func (tx *Tx) wrote() {
	tx.writes++
	tx.shared.writes++
}

// blame keeps the first failure of a method without an error result, for the transaction to answer with.
func (tx *Tx) blame(err error) {
	if tx.fault == nil {
		tx.fault = err
	}
}

// bucket finds the bbolt bucket behind a handle.
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
