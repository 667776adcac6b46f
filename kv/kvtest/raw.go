package kvtest

import (
	"encoding/binary"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"opsmon/kv"
)

// batchDelay is how long a Batch waits for the writers that are not in it yet. By bbolt's default, 10 ms, the wait would be
// most of what it takes.
const batchDelay = 200 * time.Microsecond

// Raw returns the floor that benchmarks of durable writes are held against: a bare bbolt database, to which each call appends
// values, each by its own Put, in one transaction. One writer does it by an Update; more of them by a Batch, which begins when
// all are in it: what they write at once is stored with one sync, as by the service. It is closed when the test ends.
func Raw(t testing.TB, writers int) func(values ...[]byte) error {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(t.TempDir(), "raw.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	db.MaxBatchDelay, db.MaxBatchSize = batchDelay, writers
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	bucket := []byte("values")
	if err := db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(bucket)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var next atomic.Uint64
	write := db.Update
	if writers > 1 {
		write = db.Batch
	}
	return func(values ...[]byte) error {
		last := next.Add(uint64(len(values)))
		return write(func(tx *bbolt.Tx) error {
			b := tx.Bucket(bucket)
			for i, value := range values {
				if err := b.Put(binary.BigEndian.AppendUint64(nil, last-uint64(len(values)-1-i)), value); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// Lengths returns how many bytes the values of a bucket have whose keys are numbers, in their order: what a floor is to store.
func Lengths(t testing.TB, s *kv.Store, bucket string) (list []int) {
	t.Helper()
	if err := s.View(func(tx *kv.Tx) error {
		for item, err := range kv.NewBucket(bucket, kv.Uint64, kv.Raw).Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			list = append(list, len(item.Value))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}
