package kv_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"opsmon/kv"
)

// TestReadersOfAnEmptiedFileHoldUpNobody: readers that find the file emptied, and writers who were just committing, all
// have an answer.
func TestReadersOfAnEmptiedFileHoldUpNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: -short leaves out what takes long")
	}
	for range 3 {
		bucket, still := kv.NewBucket("b", kv.Uint64, kv.JSON[int]()), kv.NewBucket("still", kv.Uint64, kv.Raw)
		store, err := kv.Open(kv.Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{bucket.Name(), still.Name()}})
		if err != nil {
			t.Fatal(err)
		}
		// What no write touches: two commits after the file was emptied, all else is whole again.
		if err := store.Update(func(tx *kv.Tx) error { return still.Put(tx, 0, make([]byte, 1<<16)) }); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		stop := make(chan struct{})
		for i := range 4 {
			all.Go(func() {
				for n := uint64(0); ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					var err error
					if i%2 == 0 {
						err = store.Update(func(tx *kv.Tx) error { return bucket.Put(tx, n%8, i) })
					} else {
						err = store.View(func(tx *kv.Tx) error { _, err := still.Get(tx, 0); return err })
						time.Sleep(300 * time.Microsecond) // as people read: the moment in which a reader can still meet it is far shorter
					}
					_ = err
				}
			})
		}
		time.Sleep(5 * time.Millisecond)
		if err := os.Truncate(store.Path(), 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
		close(stop)
		done := make(chan struct{})
		go func() { all.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatal("somebody waits for ever")
		}
		if err := store.Damage(); err == nil {
			t.Error("the store tells of no damage")
		}
		_ = store.Close() // of a store that is damaged it may fail
		if err := store.Damage(); !errors.Is(err, kv.ErrDamaged) {
			t.Errorf("the store tells of %v", err)
		}
	}
}
