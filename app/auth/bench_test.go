package auth

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"go.etcd.io/bbolt"

	"opsmon/app/audit"
	"opsmon/app/instant"
	"opsmon/kv"
)

func BenchmarkAuthenticateKey(b *testing.B) {
	f := newFixture(b)
	f.secrets = nil
	raws := make([]string, 1000)
	for i := range raws {
		_, raw, err := f.CreateKey(f.admin, KeyInput{})
		if err != nil {
			b.Fatal(err)
		}
		raws[i] = raw
	}
	b.Run("one goroutine", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			if _, err := f.AuthenticateKey(raws[i%len(raws)]); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				if _, err := f.AuthenticateKey(raws[i%len(raws)]); err != nil {
					b.Error(err)
				}
			}
		})
	})
	b.Run("unknown", func(b *testing.B) {
		unknown, _ := newToken(prefixKey)
		for b.Loop() {
			f.AuthenticateKey(unknown)
		}
	})
	b.Run("mistyped", func(b *testing.B) {
		wrong := raws[0][:43] + "1"
		for b.Loop() {
			f.AuthenticateKey(wrong)
		}
	})
}

// spread runs n calls on a number of goroutines.
func spread(b *testing.B, goroutines int, call func() error) {
	b.Helper()
	todo := make(chan struct{})
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range todo {
				if err := call(); err != nil {
					b.Error(err)
				}
			}
		})
	}
	b.ResetTimer()
	for range b.N {
		todo <- struct{}{}
	}
	close(todo)
	wg.Wait()
}

// BenchmarkCreateKey is comparable with BenchmarkRawBolt: bare bbolt with as many bytes in as many buckets.
func BenchmarkCreateKey(b *testing.B) {
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := newFixture(b)
			spread(b, n, func() error {
				_, _, err := f.CreateKey(f.admin, KeyInput{Name: "bench"})
				return err
			})
			b.StopTimer()
		})
	}
}

func BenchmarkRawBolt(b *testing.B) {
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			db, err := bbolt.Open(filepath.Join(b.TempDir(), "raw.db"), 0o600, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			names := [][]byte{[]byte("key"), []byte("audit"), []byte("count"), []byte("action")}
			err = db.Update(func(tx *bbolt.Tx) error {
				for _, name := range names {
					if _, err := tx.CreateBucket(name); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			// What CreateKey stores: a record of 210 bytes, an audit record of 290, its index entry, and two
			// counters.
			key, record, counter := make([]byte, 210), make([]byte, 290), make([]byte, 8)
			put := func(tx *bbolt.Tx) error {
				id := make([]byte, 14)
				rand.Read(id)
				if err := tx.Bucket(names[0]).Put(id, key); err != nil {
					return err
				}
				log := tx.Bucket(names[1])
				seq, err := log.NextSequence()
				if err != nil {
					return err
				}
				if err := log.Put(fmt.Appendf(nil, "plant-a\x00\x01%08d", seq), record); err != nil {
					return err
				}
				if err := tx.Bucket(names[3]).Put(fmt.Appendf(nil, "plant-a\x00\x01key.create\x00\x01%08d", seq), counter[:5]); err != nil {
					return err
				}
				for _, name := range []string{"plant-a", "plant-a key.create"} {
					if err := tx.Bucket(names[2]).Put([]byte(name), counter); err != nil {
						return err
					}
				}
				return nil
			}
			write := db.Update
			if n > 1 {
				db.MaxBatchDelay = 1e6 // 1 ms
				write = db.Batch
			}
			spread(b, n, func() error { return write(put) })
		})
	}
}

// BenchmarkRemoveUser removes one of many users from an account with ten thousand keys.
func BenchmarkRemoveUser(b *testing.B) {
	f := newFixture(b)
	f.swept = true
	err := f.store.Update(func(tx *kv.Tx) error {
		for range 10_000 {
			_, made := newToken(prefixKey)
			record := keyRecord{Hash: made.hash[:], AccountID: plantA, Email: boss, Role: Admin, CreatedAt: instant.Of(tx.Now())}
			if err := putKey(tx, made.id, record, audit.Actor{}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		email := fmt.Sprint("u", i, "@x.example")
		if _, err := f.AddUser(f.admin, email, Member); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := f.RemoveUser(f.admin, email); err != nil {
			b.Fatal(err)
		}
	}
}
