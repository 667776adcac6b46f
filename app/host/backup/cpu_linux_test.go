package backup

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"opsmon/kv"
)

// BenchmarkProcessorTime gives what a backup takes of the processors, without anybody writing: seconds for each GiB of
// the store's file, in the program and in the system. On a busy machine it is steadier than how long a backup takes.
func BenchmarkProcessorTime(b *testing.B) {
	s := openStore(b, b.TempDir())
	size := int64(256 << 20)
	if testing.Short() {
		size = 64 << 20
	}
	for n := uint64(0); s.Size() < size; n += 50_000 {
		fill(b, s, n, 50_000)
	}
	for _, c := range []struct {
		name string
		cfg  Config
	}{{"plain", Config{}}, {"encrypted", Config{Passphrase: "correct horse"}}, {"shared", Config{Share: true}}} {
		b.Run(c.name, func(b *testing.B) {
			cfg := c.cfg
			cfg.Store, cfg.Overwrite = s, true
			benchmarkProcessorTime(b, cfg, s)
		})
	}
}

func benchmarkProcessorTime(b *testing.B, cfg Config, s *kv.Store) {
	var program, system time.Duration
	for b.Loop() {
		b.StopTimer()
		to := filepath.Join(b.TempDir(), "plant.backup") // nothing to share
		before := usedTimes(b)
		b.StartTimer()
		if _, err := Create(b.Context(), cfg, to); err != nil {
			b.Fatal(err)
		}
		after := usedTimes(b)
		program += after[0] - before[0]
		system += after[1] - before[1]
	}
	gib := float64(b.N) * float64(s.Size()) / (1 << 30)
	b.SetBytes(s.Size())
	b.ReportMetric(program.Seconds()/gib, "program-s/GiB")
	b.ReportMetric(system.Seconds()/gib, "system-s/GiB")
}

// usedTimes returns what this process has taken of the processors.
func usedTimes(b *testing.B) [2]time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return [2]time.Duration{time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())}
}
