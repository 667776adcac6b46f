package kv

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"
)

// tally says how many keys a bucket holds and adds up the checksums of their values. bbolt has no checksum over its
// pages, so a flipped bit in one can make keys vanish without a trace: the tally is that trace. It is kept as the
// sequence number of an empty bucket beside the bucket, because bbolt keeps that in a page which every commit writes.
type tally struct {
	count uint64 // keys; 40 bits are kept
	sum   uint32 // of the low 24 bits of their checksums, modulo 2^24
}

const (
	tallyBits   = 24
	tallyPrefix = "_tally."
)

func unpackTally(n uint64) tally { return tally{n >> tallyBits, uint32(n) & (1<<tallyBits - 1)} }

func (t tally) pack() uint64 { return t.count<<tallyBits | uint64(t.sum&(1<<tallyBits-1)) }

// add counts a stored value in.
func (t *tally) add(stored []byte) {
	t.count++
	t.sum = (t.sum + share(stored)) & (1<<tallyBits - 1)
}

// remove takes a stored value out.
func (t *tally) remove(stored []byte) {
	t.count--
	t.sum = (t.sum - share(stored)) & (1<<tallyBits - 1)
}

// share is what a stored value adds to the sum.
func share(stored []byte) uint32 {
	if len(stored) < sealSize {
		return 0
	}
	return binary.BigEndian.Uint32(stored[1:])
}

// readTally reads what was committed.
func readTally(bolt *bbolt.Tx, name string) (tally, error) {
	b := bolt.Bucket([]byte(tallyPrefix + name))
	if b == nil {
		return tally{}, fmt.Errorf("the tally of bucket %s is missing", name)
	}
	return unpackTally(b.Sequence()), nil
}

// tally is the transaction's own tally of a bucket.
func (sh *shared) tally(name string) (*tally, error) {
	if t, ok := sh.tallies[name]; ok {
		return t, nil
	}
	t, err := readTally(sh.bolt, name)
	if err != nil {
		return nil, &Error{Op: "count", Bucket: name, Kind: ErrDamaged, Err: err}
	}
	if sh.tallies == nil {
		sh.tallies = map[string]*tally{}
	}
	sh.tallies[name] = &t
	return &t, nil
}

// flush writes the tallies that changed.
func (sh *shared) flush() error {
	for name, t := range sh.tallies {
		b := sh.bolt.Bucket([]byte(tallyPrefix + name))
		if n := t.pack(); b.Sequence() != n {
			if err := b.SetSequence(n); err != nil {
				return err
			}
		}
	}
	return nil
}
