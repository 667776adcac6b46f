package kv

import (
	"errors"
)

var (
	errView     = errors.New("a View is read-only; write in an Update")
	errNoBucket = errors.New("the store has no such bucket; name it in Config.Buckets")
)

// Bucket is a typed handle of one bucket. It has no state: declare one per bucket at package level. The bucket's name
// must be in Config.Buckets.
type Bucket[K, V any] struct {
	name   string
	keys   Keys[K]
	values Values[V]
}

// Item is a key and its value.
type Item[K, V any] struct {
	Key   K
	Value V
}

// NewBucket returns a handle of the bucket called name.
func NewBucket[K, V any](name string, keys Keys[K], values Values[V]) *Bucket[K, V] {
	return &Bucket[K, V]{name: name, keys: keys, values: values}
}

// Name returns the bucket's name, for Config.Buckets.
func (b *Bucket[K, V]) Name() string { return b.name }

// Get returns the value of a key, which shares no memory with the store. Errors: ErrNotFound, ErrDamaged.
func (b *Bucket[K, V]) Get(tx *Tx, k K) (V, error) {
	var none V
	key := b.keys.encode(k)
	format, document, err := tx.get(b.name, key)
	if err != nil {
		return none, b.about(err, k)
	}
	v, err := b.values.open(format, document)
	if err != nil {
		return none, b.about(&Error{Op: "read", Kind: ErrDamaged, Err: err}, k)
	}
	return v, nil
}

// Has reports whether a key exists. It does not verify the value. If it meets damage, the enclosing View or Update
// returns ErrDamaged.
func (b *Bucket[K, V]) Has(tx *Tx, k K) bool {
	found, err := tx.has(b.name, b.keys.encode(k))
	if err != nil {
		tx.setFault(b.about(err, k))
	}
	return found
}

// Put stores the value of a key. The caller may change the value afterwards. Errors: ErrDamaged; an encoded key
// longer than 32,768 bytes; a value that cannot be encoded as JSON.
func (b *Bucket[K, V]) Put(tx *Tx, k K, v V) error {
	document, err := b.values.encode(v)
	if err != nil {
		return b.about(&Error{Op: "write", Err: err}, k)
	}
	return b.about(tx.put(b.name, b.keys.encode(k), b.values.format, document), k)
}

// Delete removes a key. A missing key is not an error. Errors: ErrDamaged.
func (b *Bucket[K, V]) Delete(tx *Tx, k K) error {
	return b.about(tx.remove(b.name, b.keys.encode(k)), k)
}

// Next returns the bucket's next sequence number: 1, 2, 3 and so on. A number from a transaction that was not
// committed is used again. Errors: ErrDamaged.
func (b *Bucket[K, V]) Next(tx *Tx) (uint64, error) { return tx.next(b.name) }

// Last returns the number that Next returned last; 0 before the first call. Errors: ErrDamaged.
func (b *Bucket[K, V]) Last(tx *Tx) (uint64, error) { return tx.last(b.name) }

// maxKey is bbolt's maximum length of a key, in bytes.
const maxKey = 32768

var errKeyTooLong = errors.New("the key is longer than 32,768 bytes")

// about adds the bucket and the key to an error.
func (b *Bucket[K, V]) about(err error, k K) error {
	if e, ok := err.(*Error); ok && e.Key == "" {
		e.Bucket, e.Key = b.name, b.keys.show(k)
	}
	return err
}

// guard turns a panic of bbolt, or a fault in the mapped file, into an error. It is for files that no Store has open.
// It must be deferred directly.
func guard(op string, err *error) {
	if r := recover(); r != nil {
		*err = recovered(nil, op, r)
	}
}
