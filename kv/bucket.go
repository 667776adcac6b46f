package kv

import (
	"errors"
)

var (
	errView     = errors.New("a View cannot write")
	errNoBucket = errors.New("the store has no such bucket; name it in Config.Buckets")
)

// Bucket is a typed handle of one bucket. It holds no state: make one for each bucket at package level and share
// it. The bucket itself must be named in Config.Buckets.
type Bucket[K, V any] struct {
	name   string
	keys   Keys[K]
	values Values[V]
}

// Item is one key with its value.
type Item[K, V any] struct {
	Key   K
	Value V
}

// NewBucket makes the handle of the bucket called name.
func NewBucket[K, V any](name string, keys Keys[K], values Values[V]) *Bucket[K, V] {
	return &Bucket[K, V]{name: name, keys: keys, values: values}
}

// Name is the bucket's name, for Config.Buckets.
func (b *Bucket[K, V]) Name() string { return b.name }

// Get reads the value of a key. It shares no memory with the store. Errors: ErrNotFound, ErrDamaged.
func (b *Bucket[K, V]) Get(tx *Tx, k K) (V, error) {
	var none V
	key := b.keys.encode(k)
	format, document, err := b.read(tx, key)
	if err != nil {
		return none, b.about(err, k)
	}
	v, err := b.values.open(format, document)
	if err != nil {
		return none, b.about(&Error{Op: "read", Kind: ErrDamaged, Err: err}, k)
	}
	return v, nil
}

// read gives a checked copy of the document stored at a key.
func (b *Bucket[K, V]) read(tx *Tx, key []byte) (format byte, document []byte, err error) {
	defer guard("read", &err)
	bolt, err := tx.bucket("read", b.name, false)
	if err != nil {
		return 0, nil, err
	}
	stored := bolt.Get(key)
	if stored == nil {
		return 0, nil, &Error{Op: "read", Kind: ErrNotFound}
	}
	format, document, err = unseal(b.name, key, stored)
	if err != nil {
		return 0, nil, &Error{Op: "read", Kind: ErrDamaged, Err: err}
	}
	return format, append([]byte{}, document...), nil
}

// Has tells whether a key is there. It does not look at the value. Damage that it meets is answered by the
// View or Update that it is called in.
func (b *Bucket[K, V]) Has(tx *Tx, k K) bool {
	found, err := b.has(tx, b.keys.encode(k))
	if err != nil {
		tx.blame(b.about(err, k))
	}
	return found
}

func (b *Bucket[K, V]) has(tx *Tx, key []byte) (found bool, err error) {
	defer guard("look up", &err)
	bolt, err := tx.bucket("look up", b.name, false)
	if err != nil {
		return false, err
	}
	return bolt.Get(key) != nil, nil
}

// Put sets the value of a key. The value may be changed by the caller afterwards. Errors: ErrDamaged; an encoded
// key of more than 32,768 bytes; a value that has no JSON form.
func (b *Bucket[K, V]) Put(tx *Tx, k K, v V) error {
	document, err := b.values.encode(v)
	if err != nil {
		return b.about(&Error{Op: "write", Err: err}, k)
	}
	key := b.keys.encode(k)
	return b.about(b.write(tx, key, seal(b.name, key, b.values.format, document)), k)
}

func (b *Bucket[K, V]) write(tx *Tx, key, stored []byte) (err error) {
	defer guard("write", &err)
	bolt, err := tx.bucket("write", b.name, true)
	if err != nil {
		return err
	}
	if len(key) > maxKey {
		return &Error{Op: "write", Err: errKeyTooLong}
	}
	t, err := tx.shared.tally(b.name)
	if err != nil {
		return err
	}
	tx.wrote()
	if old := bolt.Get(key); old != nil {
		t.remove(old)
	}
	t.add(stored)
	return wrap("write", bolt.Put(key, stored))
}

// Delete removes a key. Deleting what is not there is fine. Errors: ErrDamaged.
func (b *Bucket[K, V]) Delete(tx *Tx, k K) error {
	return b.about(b.remove(tx, b.keys.encode(k)), k)
}

func (b *Bucket[K, V]) remove(tx *Tx, key []byte) (err error) {
	defer guard("delete", &err)
	bolt, err := tx.bucket("delete", b.name, true)
	if err != nil {
		return err
	}
	old := bolt.Get(key)
	if old == nil {
		return nil
	}
	t, err := tx.shared.tally(b.name)
	if err != nil {
		return err
	}
	tx.wrote()
	t.remove(old)
	return wrap("delete", bolt.Delete(key))
}

// Next gives the bucket's next number: 1, 2, 3 and so on. A number given in a transaction that is not committed
// is given again. Errors: ErrDamaged.
func (b *Bucket[K, V]) Next(tx *Tx) (n uint64, err error) {
	defer guard("next number", &err)
	bolt, err := tx.bucket("next number", b.name, true)
	if err != nil {
		return 0, err
	}
	tx.wrote()
	n, err = bolt.NextSequence()
	return n, wrap("next number", err)
}

// Last gives the number that Next gave last; 0 before the first. Errors: ErrDamaged.
func (b *Bucket[K, V]) Last(tx *Tx) (n uint64, err error) {
	defer guard("last number", &err)
	bolt, err := tx.bucket("last number", b.name, false)
	if err != nil {
		return 0, err
	}
	return bolt.Sequence(), nil
}

// maxKey is bbolt's limit for the length of a key, in bytes.
const maxKey = 32768

var errKeyTooLong = errors.New("the key is longer than 32,768 bytes")

// about says in an error which bucket and key it is about.
func (b *Bucket[K, V]) about(err error, k K) error {
	if e, ok := err.(*Error); ok && e.Key == "" {
		e.Bucket, e.Key = b.name, b.keys.show(k)
	}
	return err
}

// guard turns a panic of bbolt, or a fault in the mapped file, into an error. Deferred directly.
func guard(op string, err *error) {
	if r := recover(); r != nil {
		*err = caught(op, r)
	}
}
