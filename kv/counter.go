package kv

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"
)

// counter counts a bucket's keys and adds up the checksums of their values. bbolt has no checksum over its pages, so a
// flipped bit can make keys vanish undetected; comparing with the counter detects that. It is stored as the sequence
// number of a separate empty bucket, because bbolt stores that number in a page which every commit writes.
type counter struct {
	count uint64 // number of keys, 40 bits
	sum   uint32 // sum of the low 24 bits of their checksums, modulo 2^24
}

const (
	counterBits   = 24
	counterPrefix = "_tally."
)

func unpackCounter(n uint64) counter {
	return counter{n >> counterBits, uint32(n) & (1<<counterBits - 1)}
}

func (t counter) pack() uint64 { return t.count<<counterBits | uint64(t.sum&(1<<counterBits-1)) }

// add adds a stored value.
func (t *counter) add(stored []byte) {
	t.count++
	t.sum = (t.sum + checksumPart(stored)) & (1<<counterBits - 1)
}

// remove subtracts a stored value.
func (t *counter) remove(stored []byte) {
	t.count--
	t.sum = (t.sum - checksumPart(stored)) & (1<<counterBits - 1)
}

// checksumPart returns what a stored value adds to the sum.
func checksumPart(stored []byte) uint32 {
	if len(stored) < sealSize {
		return 0
	}
	return binary.BigEndian.Uint32(stored[1:])
}

// readCounter returns the committed counter of a bucket.
func readCounter(bolt *bbolt.Tx, name string) (counter, error) {
	b := bolt.Bucket([]byte(counterPrefix + name))
	if b == nil {
		return counter{}, fmt.Errorf("the counter of bucket %s is missing", name)
	}
	return unpackCounter(b.Sequence()), nil
}

// counter returns the transaction's own counter of a bucket.
func (sh *shared) counter(name string) (*counter, error) {
	if t, ok := sh.counters[name]; ok {
		return t, nil
	}
	t, err := readCounter(sh.bolt, name)
	if err != nil {
		return nil, &Error{Op: "count", Bucket: name, Kind: ErrDamaged, Err: err}
	}
	if sh.counters == nil {
		sh.counters = map[string]*counter{}
	}
	sh.counters[name] = &t
	return &t, nil
}

// flush writes the changed counters.
func (sh *shared) flush() error {
	for name, t := range sh.counters {
		b := sh.bolt.Bucket([]byte(counterPrefix + name))
		if n := t.pack(); b.Sequence() != n {
			if err := b.SetSequence(n); err != nil {
				return err
			}
		}
	}
	return nil
}
