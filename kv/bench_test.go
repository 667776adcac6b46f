package kv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

var blobs = NewBucket("blobs", Uint64, Raw)

// benchKey spreads keys over the bucket, as codes and hashes do.
func benchKey(i uint64) uint64 { return i * 0x9E3779B97F4A7C15 }

func rawStore(b *testing.B) *bbolt.DB {
	b.Helper()
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "raw.db"), 0o600, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	if err := db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("blobs")); return err }); err != nil {
		b.Fatal(err)
	}
	return db
}

// spread runs total writes on a number of goroutines and returns their duration.
func spread(b *testing.B, writers, total int, write func(i uint64) error) time.Duration {
	var wg sync.WaitGroup
	start := time.Now()
	for w := range writers {
		wg.Go(func() {
			for i := w; i < total; i += writers {
				if err := write(uint64(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// BenchmarkUpdate writes values of 500 bytes alternately with the store and with plain bbolt, because a disk's speed
// changes from second to second. The metric x-raw is bbolt's time divided by ours (median of the rounds): 1 is
// equally fast, 2 twice as fast.
func BenchmarkUpdate(b *testing.B) {
	type plain func(db *bbolt.DB) func(func(*bbolt.Tx) error) error
	update := func(db *bbolt.DB) func(func(*bbolt.Tx) error) error { return db.Update }
	batch := func(db *bbolt.DB) func(func(*bbolt.Tx) error) error { return db.Batch }
	tuned := func(db *bbolt.DB) func(func(*bbolt.Tx) error) error {
		db.MaxBatchDelay = time.Millisecond
		return db.Batch
	}
	for _, c := range []struct {
		name    string
		writers int
		turn    int
		raw     plain
	}{
		{"1-writer/Update", 1, 200, update},
		{"64-writers/Batch-10ms", 64, 64 * 20, batch},
		{"64-writers/Batch-1ms", 64, 64 * 50, tuned},
	} {
		b.Run(c.name, func(b *testing.B) {
			value := bytes.Repeat([]byte("v"), 500)
			ours := openStore(b, Config{Path: filepath.Join(b.TempDir(), "s.db"), Buckets: []string{"blobs"}})
			db := rawStore(b)
			raw := c.raw(db)
			var base uint64
			ourTurn := func(n int) time.Duration {
				return spread(b, c.writers, n, func(i uint64) error {
					return ours.Update(func(tx *Tx) error { return blobs.Put(tx, benchKey(base+i), value) })
				})
			}
			rawTurn := func(n int) time.Duration {
				return spread(b, c.writers, n, func(i uint64) error {
					return raw(func(tx *bbolt.Tx) error {
						return tx.Bucket([]byte("blobs")).Put(binary.BigEndian.AppendUint64(nil, benchKey(base+i)), value)
					})
				})
			}
			var ratios []float64
			var total time.Duration
			done := 0
			b.ResetTimer()
			for done < b.N {
				n := min(c.turn, b.N-done)
				var mine, theirs time.Duration
				if len(ratios)%2 == 0 {
					mine = ourTurn(n)
					theirs = rawTurn(n)
				} else {
					theirs = rawTurn(n)
					mine = ourTurn(n)
				}
				total += mine
				ratios = append(ratios, theirs.Seconds()/mine.Seconds())
				done += n
				base += uint64(n)
			}
			b.StopTimer()
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "x-raw")
			b.ReportMetric(float64(b.N)/total.Seconds(), "puts/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkView reads one value of 500 bytes per View.
func BenchmarkView(b *testing.B) {
	s := openStore(b, Config{Path: filepath.Join(b.TempDir(), "s.db"), Buckets: []string{"blobs"}})
	const n = 10_000
	err := s.Update(func(tx *Tx) error {
		for i := range uint64(n) {
			if err := blobs.Put(tx, benchKey(i), bytes.Repeat([]byte("v"), 500)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	i := uint64(0)
	for b.Loop() {
		i++
		err := s.View(func(tx *Tx) error {
			v, err := blobs.Get(tx, benchKey(i%n))
			if err == nil && len(v) != 500 {
				err = fmt.Errorf("%d bytes", len(v))
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
