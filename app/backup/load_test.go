package backup

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"opsmon/kv"
)

// writers writes with so many goroutines until stop is called, which gives how long each write took. Two keys are always
// changed together.
func writers(t testing.TB, s *kv.Store, n uint64) (stop func() []time.Duration) {
	t.Helper()
	var mu sync.Mutex
	var all []time.Duration
	var ended atomic.Bool
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() {
			var took []time.Duration
			for i := w; !ended.Load(); i += n {
				start := time.Now()
				err := s.Update(func(tx *kv.Tx) error {
					return errors.Join(records.Put(tx, 1<<40+w, record(i)), records.Put(tx, 1<<41+w, record(i)), records.Put(tx, 1<<42+i, record(i)))
				})
				if err != nil {
					t.Error(err)
					return
				}
				took = append(took, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
		})
	}
	return func() []time.Duration {
		ended.Store(true)
		wg.Wait()
		slices.Sort(all)
		return all
	}
}

func percentile(sorted []time.Duration, p int) time.Duration { return sorted[len(sorted)*p/100] }

// TestUnderLoad backs up while 64 goroutines write: no write fails, none waits for the whole backup, and what is restored
// is one moment of what was written.
func TestUnderLoad(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	fill(t, s, 0, 100_000)
	stop := writers(t, s, 64)
	time.Sleep(time.Second)
	without := stop()

	var backups []time.Duration
	path := filepath.Join(t.TempDir(), "plant.backup")
	stop = writers(t, s, 64)
	for range 3 {
		start := time.Now()
		if _, err := Create(t.Context(), Config{Store: s, Overwrite: true}, path); err != nil {
			t.Fatal(err)
		}
		backups = append(backups, time.Since(start))
	}
	with := stop()
	slowest := with[len(with)-1]
	t.Logf("store of %d MB; %d writes without a backup: median %v, p99 %v, at most %v; %d with: median %v, p99 %v, at most %v; a backup took %v",
		s.Size()>>20, len(without), percentile(without, 50), percentile(without, 99), without[len(without)-1],
		len(with), percentile(with, 50), percentile(with, 99), slowest, backups)
	if shortest := slices.Min(backups); slowest > shortest*9/10 {
		t.Errorf("a write took %v while a backup took %v", slowest, shortest)
	}

	to := t.TempDir()
	if _, err := Restore(t.Context(), RestoreConfig{Path: path, Dir: to, Store: storeConfig("")}); err != nil {
		t.Fatal(err)
	}
	all, restored := content(t, s), contentOf(t, to)
	for k := range uint64(64) {
		if restored[1<<40+k] != restored[1<<41+k] {
			t.Errorf("writer %d: half a transaction was restored", k)
		}
	}
	for k, v := range restored {
		if now, there := all[k]; !there || now != v && (k < 1<<40 || k >= 1<<42) {
			t.Fatalf("record %d is not what was written", k)
		}
	}
	for k := range uint64(100_000) {
		if _, there := restored[k]; !there {
			t.Fatalf("record %d is missing", k)
		}
	}
}

// phases are what goes on while writes are timed.
const (
	phaseRest = iota // not counted
	phaseQuiet
	phaseBackup
	phaseCopy
	phaseCount
)

// load is 64 goroutines that write all the time, as writers does, and note how long that takes by what goes on.
type load struct {
	phase atomic.Int32
	stop  func()
	took  [phaseCount][]time.Duration // after stop
}

func newLoad(t testing.TB, s *kv.Store) *load {
	l := &load{}
	var mu sync.Mutex
	var ended atomic.Bool
	var wg sync.WaitGroup
	for w := range uint64(64) {
		wg.Go(func() {
			var took [phaseCount][]time.Duration
			value := record(w)
			for i := w; !ended.Load(); i += 64 {
				phase, start := l.phase.Load(), time.Now()
				err := s.Update(func(tx *kv.Tx) error {
					return errors.Join(records.Put(tx, 1<<40+w, value), records.Put(tx, 1<<41+w, value), records.Put(tx, 1<<42+i, value))
				})
				if err != nil {
					t.Error(err)
					return
				}
				took[phase] = append(took[phase], time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			for phase := range took {
				l.took[phase] = append(l.took[phase], took[phase]...)
			}
		})
	}
	l.stop = func() {
		ended.Store(true)
		wg.Wait()
		for phase := range l.took {
			slices.Sort(l.took[phase])
		}
	}
	return l
}

// BenchmarkCreate backs up a store that 64 goroutines write to, and compares the time with that of a copy of the store's
// file, synced, and the writes' p99 with that of a second without a backup. All is measured in turns; times are medians.
func BenchmarkCreate(b *testing.B) {
	dir := b.TempDir()
	s := openStore(b, dir)
	for n := uint64(0); s.Size() < benchmarkSize; n += 50_000 {
		fill(b, s, n, 50_000)
	}
	to := filepath.Join(b.TempDir(), "plant.backup")
	for _, c := range []struct {
		name string
		cfg  Config
	}{{"plain", Config{}}, {"encrypted", Config{Passphrase: "pass"}}} {
		b.Run(c.name, func(b *testing.B) {
			cfg := c.cfg
			cfg.Store, cfg.Overwrite = s, true
			l := newLoad(b, s)
			l.phase.Store(phaseRest)
			time.Sleep(time.Second)
			var backups, copies []time.Duration
			var bytes int64
			for b.Loop() {
				b.StopTimer()
				l.phase.Store(phaseQuiet)
				time.Sleep(time.Second)
				l.phase.Store(phaseCopy)
				copies = append(copies, copyTime(b, s.Path(), to+".copy", s.Size()))
				l.phase.Store(phaseRest)
				time.Sleep(200 * time.Millisecond)
				b.StartTimer()
				l.phase.Store(phaseBackup)
				start := time.Now()
				r, err := Create(b.Context(), cfg, to)
				if err != nil {
					b.Fatal(err)
				}
				backups = append(backups, time.Since(start))
				l.phase.Store(phaseRest)
				bytes = r.Bytes
			}
			b.StopTimer()
			l.stop()
			b.SetBytes(s.Size())
			slices.Sort(backups)
			slices.Sort(copies)
			p99 := func(phase int) float64 { return percentile(l.took[phase], 99).Seconds() * 1e3 }
			b.ReportMetric(float64(bytes)/float64(s.Size()), "packed/size")
			b.ReportMetric(percentile(copies, 50).Seconds()/percentile(backups, 50).Seconds(), "speed/cp")
			b.ReportMetric(p99(phaseQuiet), "ms-p99-quiet")
			b.ReportMetric(p99(phaseBackup), "ms-p99-backup")
			b.ReportMetric(p99(phaseCopy), "ms-p99-cp")
			b.ReportMetric(p99(phaseBackup)/p99(phaseQuiet), "p99-ratio")
			b.Logf("%d MiB; backups %v, copies %v; writes %d quiet, %d with a backup, at most %v", s.Size()>>20, backups, copies,
				len(l.took[phaseQuiet]), len(l.took[phaseBackup]), l.took[phaseBackup][len(l.took[phaseBackup])-1])
		})
	}
}

// copyTime is how long a plain copy of a file takes.
func copyTime(b *testing.B, from, to string, size int64) time.Duration {
	b.Helper()
	start := time.Now()
	in, err := os.Open(from)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		b.Fatal(err)
	}
	_, err = io.Copy(out, io.LimitReader(in, size))
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		b.Fatal(err)
	}
	took := time.Since(start)
	if err := os.Remove(to); err != nil {
		b.Fatal(err)
	}
	return took
}
