package kvtest

import (
	"encoding/binary"
	"path/filepath"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"

	"opsmon/kv"
)

// Raw gives the floors that benchmarks of durable writes are held against: a bare bbolt database with its default
// options, to which each call appends a value in one Update or one Batch. It is closed when the test ends.
func Raw(t testing.TB) (update, batch func(value []byte) error) {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(t.TempDir(), "raw.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
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
	put := func(write func(func(*bbolt.Tx) error) error) func([]byte) error {
		return func(value []byte) error {
			key := binary.BigEndian.AppendUint64(nil, next.Add(1))
			return write(func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put(key, value) })
		}
	}
	return put(db.Update), put(db.Batch)
}

// Lengths gives how many bytes the values of a bucket have whose keys are numbers, in their order: what a floor is to store.
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
