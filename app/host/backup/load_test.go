package backup

import (
	"errors"
	"fmt"
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
// is one moment of what was written. The backup is to a slow disk: where one takes no longer than the machine keeps a write
// waiting anyhow, nothing would be told.
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
	slow := func(step string) {
		if step == "synced" {
			time.Sleep(150 * time.Millisecond)
		}
	}
	for range 2 {
		start := time.Now()
		if _, err := Create(t.Context(), Config{Store: s, Overwrite: true, step: slow}, path); err != nil {
			t.Fatal(err)
		}
		backups = append(backups, time.Since(start))
	}
	with := stop()
	slowest := with[len(with)-1]
	t.Logf("store of %d MB; %d writes without a backup: median %v, p99 %v, at most %v; %d with: median %v, p99 %v, at most %v; a backup took %v",
		s.Size()>>20, len(without), percentile(without, 50), percentile(without, 99), without[len(without)-1],
		len(with), percentile(with, 50), percentile(with, 99), slowest, backups)
	if shortest := slices.Min(backups); slowest > shortest/2 {
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

// What goes on while writes are timed, in each turn of a comparison.
const (
	phaseQuiet = iota
	phaseCopy
	phaseBackup
	phasePaced
	phaseCount
)

// atRest is when writes are not counted.
const atRest = -1

// load is 64 goroutines that write all the time, as writers does, and note how long that takes by what goes on.
type load struct {
	phase atomic.Int32 // turn times phaseCount, and the phase; or atRest
	stop  func()
	took  [][]time.Duration // by phase, sorted; after stop
}

func newLoad(t testing.TB, s *kv.Store, turns int) *load {
	l := &load{took: make([][]time.Duration, turns*phaseCount)}
	l.phase.Store(atRest)
	var mu sync.Mutex
	var ended atomic.Bool
	var wg sync.WaitGroup
	for w := range uint64(64) {
		wg.Go(func() {
			took := make([][]time.Duration, len(l.took))
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
				if phase != atRest {
					took[phase] = append(took[phase], time.Since(start))
				}
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

// pace compares backups with copies of the store's file, and what writers notice of them, turn by turn: all of a turn is
// measured within seconds, because a machine's and its disk's pace changes. The medians of the turns are what counts.
type pace struct {
	backups, copies []time.Duration
	// The writes' 99th percentiles, in ms: with nothing beside them; with a backup; with a copy as fast as it goes; and with
	// reading the file and writing and syncing as many bytes as a backup has, spread over as much time. The last is what
	// the disk and the system cost alone, whatever a backup computes.
	quiet, during, copy, paced []float64
	slowest                    time.Duration
	bytes                      int64 // of the last backup
}

// measure backs a store up in turns, while 64 goroutines write to it.
func measure(t testing.TB, cfg Config, turns int) (p pace) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "plant.backup")
	l := newLoad(t, cfg.Store, turns)
	time.Sleep(time.Second)
	for turn := range turns {
		during := func(phase int) { l.phase.Store(int32(turn*phaseCount + phase)) }
		during(phaseQuiet)
		time.Sleep(time.Second)
		during(phaseCopy)
		p.copies = append(p.copies, copyTime(t, cfg.Store.Path(), to+".copy", cfg.Store.Size()))
		l.phase.Store(atRest)
		time.Sleep(200 * time.Millisecond)
		during(phaseBackup)
		start := time.Now()
		r, err := Create(t.Context(), cfg, to)
		if err != nil {
			t.Fatal(err)
		}
		p.backups, p.bytes = append(p.backups, time.Since(start)), r.Bytes
		during(phasePaced)
		pacedCopy(t, cfg.Store.Path(), to+".copy", r.Bytes, p.backups[turn])
		l.phase.Store(atRest)
	}
	l.stop()
	for turn := range turns {
		p99 := func(phase int) float64 { return percentile(l.took[turn*phaseCount+phase], 99).Seconds() * 1e3 }
		p.quiet, p.copy = append(p.quiet, p99(phaseQuiet)), append(p.copy, p99(phaseCopy))
		p.during, p.paced = append(p.during, p99(phaseBackup)), append(p.paced, p99(phasePaced))
		p.slowest = max(p.slowest, l.took[turn*phaseCount+phaseBackup][len(l.took[turn*phaseCount+phaseBackup])-1])
	}
	return p
}

// speed is how fast backups are, where a copy has 1.
func (p pace) speed() float64 {
	var each []float64
	for i := range p.backups {
		each = append(each, p.copies[i].Seconds()/p.backups[i].Seconds())
	}
	return median(each)
}

// wait is how much longer writes take during backups, as a factor of their 99th percentile.
func (p pace) wait() float64 {
	var each []float64
	for i := range p.quiet {
		each = append(each, p.during[i]/p.quiet[i])
	}
	return median(each)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func (p pace) String() string {
	return fmt.Sprintf("backups %v, copies %v; the writes' p99 in ms: %.1f quiet, %.1f with a backup (at most %v), %.1f with a copy, %.1f with the bytes alone",
		p.backups, p.copies, p.quiet, p.during, p.slowest, p.copy, p.paced)
}

// largeStore makes a store of benchmarkSize.
func largeStore(t testing.TB) *kv.Store {
	s := openStore(t, t.TempDir())
	for n := uint64(0); s.Size() < benchmarkSize; n += 50_000 {
		fill(t, s, n, 50_000)
	}
	return s
}

// BenchmarkCreate gives the figures that TestPace demands; times are those of all turns together.
func BenchmarkCreate(b *testing.B) {
	s := largeStore(b)
	for _, c := range []struct {
		name string
		cfg  Config
	}{{"plain", Config{}}, {"encrypted", Config{Passphrase: "correct horse"}}} {
		b.Run(c.name, func(b *testing.B) {
			cfg := c.cfg
			cfg.Store, cfg.Overwrite = s, true
			p := measure(b, cfg, b.N)
			b.SetBytes(s.Size())
			b.ReportMetric(float64(p.bytes)/float64(s.Size()), "packed/size")
			b.ReportMetric(p.speed(), "speed/cp")
			b.ReportMetric(median(p.quiet), "ms-p99-quiet")
			b.ReportMetric(median(p.during), "ms-p99-backup")
			b.ReportMetric(median(p.copy), "ms-p99-cp")
			b.ReportMetric(median(p.paced), "ms-p99-paced")
			b.ReportMetric(p.wait(), "p99-ratio")
			b.Logf("%d MiB; %v", s.Size()>>20, p)
		})
	}
}

// copyTime is how long a plain copy of a file takes.
func copyTime(t testing.TB, from, to string, size int64) time.Duration {
	t.Helper()
	start := time.Now()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, io.LimitReader(in, size))
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	if err := os.Remove(to); err != nil {
		t.Fatal(err)
	}
	return took
}

// pacedCopy reads a file to its end, and writes so many bytes of it to another one, which it syncs as often as a backup
// does, evenly over a time. Then it removes that.
func pacedCopy(t testing.TB, from, to string, bytes int64, over time.Duration) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(to)
	defer out.Close()
	buf, start := make([]byte, 1<<20), time.Now()
	var read, written, synced int64
	for read < info.Size() {
		n, err := in.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		read += int64(n)
		part := float64(read) / float64(info.Size())
		if due := int64(part*float64(bytes)) - written; due > 0 {
			if _, err := out.Write(buf[:min(due, int64(n))]); err != nil {
				t.Fatal(err)
			}
			written += min(due, int64(n))
		}
		if written-synced >= syncEvery {
			if err := syncData(out); err != nil {
				t.Fatal(err)
			}
			synced = written
		}
		time.Sleep(time.Until(start.Add(time.Duration(part * float64(over)))))
	}
	if err := syncData(out); err != nil {
		t.Fatal(err)
	}
}
