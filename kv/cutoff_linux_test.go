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

// TestReadersOfAnEmptiedFileHoldUpNobody truncates the file under readers and committing writers: all of them must
// return.
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
		// An entry that no write changes: two commits after the truncation, everything else is valid again.
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
						// a realistic rate; the moment in which a reader can meet the truncation is far shorter
						time.Sleep(300 * time.Microsecond)
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
			t.Error("the store reports no damage")
		}
		_ = store.Close() // may fail on a damaged store
		if err := store.Damage(); !errors.Is(err, kv.ErrDamaged) {
			t.Errorf("the store reports %v", err)
		}
	}
}
