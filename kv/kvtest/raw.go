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

// batchDelay is how long a Batch waits for further writers. With bbolt's default of 10 ms, the wait would be most of
// the measured time.
const batchDelay = 200 * time.Microsecond

// Raw returns the baseline for benchmarks of durable writes: a bare bbolt database. Each call appends values in one
// transaction, each by its own Put. A single writer uses Update; several writers use Batch, which starts when all of
// them have joined, so that concurrent writes share one sync as in the service. The database is closed after the
// test.
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

// Lengths returns the lengths, in bytes, of the values of a bucket whose keys are numbers, in key order: the sizes
// that a baseline stores.
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
