//go:build soak

package app

import (
	"sync/atomic"
	"testing"
	"time"

	"opsmon/app/simulate"
	"opsmon/kv"
	"opsmon/kv/powercut"
)

// TestGrowthOfAPlant lives through months of a plant whose machines send and whose people work, with the shortest times
// that things may be kept: once every kind has had its time, they take no more room than before. (Tasks are kept for
// 400 days, and no more than so many of a station: they are not among it.)
func TestGrowthOfAPlant(t *testing.T) {
	const settled, days, every = 50, 100, 10
	var clock atomic.Int64
	from := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	clock.Store(from.UnixMilli())
	cfg := testConfig(t)
	cfg.DataDir = powercut.Scratch(t) // it is about room, not about syncs
	cfg.Signals.Days, cfg.Windows.Days, cfg.AuditDays, cfg.Signals.PerSecond, cfg.Backup.Every = 8, 30, 30, 10_000_000, 0
	cfg.Clock = func() time.Time { return time.UnixMilli(clock.Load()).UTC() }
	r := serve(t, cfg)
	plant := r.plant(t)
	var sizes []int64 // of what is held, by tens of days
	tidied := from
	player := simulate.NewPlayer(simulate.PlayConfig{
		Generator: simulate.New(plant, simulate.Config{Seed: 4, Interval: time.Minute.Milliseconds(), IDs: true}),
		Send:      sender(r.url, r.key), Stations: []string{"PACK-1", "KILN-1", "METER-1"},
		From: from.UnixMilli(), Until: from.AddDate(0, 0, days).UnixMilli(), Batch: 5000, Patience: time.Minute,
		Clock: func(at int64) {
			clock.Store(at)
			for now := cfg.Clock(); now.Sub(tidied) >= time.Hour; {
				tidied = tidied.Add(time.Hour)
				if err := r.signals.Pack(); err != nil {
					t.Error(err)
				}
				if err := r.upkeep(t.Context()); err != nil {
					t.Error(err)
				}
				if lived := tidied.Sub(from); lived%(every*24*time.Hour) == 0 {
					sizes = append(sizes, held(t, r.store))
				}
			}
		},
	})
	if err := player.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d signals and %d acts of people in %d days, %+v; KiB held, each %d days: %v", player.Progress().Signals, player.Progress().Acts, days, player.Progress(), every, kib(sizes))
	before, after := sizes[settled/every-1], sizes[len(sizes)-1]
	if after > before+before/10 {
		t.Errorf("what is held grew from %d KiB on day %d to %d KiB on day %d", before>>10, settled, after>>10, len(sizes)*every)
	}
}

// held returns how many bytes a store holds, of all but Tasks.
func held(t *testing.T, s *kv.Store) (n int64) {
	t.Helper()
	_, err := s.Export(kv.ExportConfig{Use: func(run []byte) error {
		if name := run[1 : 1+run[0]]; string(name) != "task" { // a run begins with its bucket's name
			n += int64(len(run))
		}
		return nil
	}})
	if err != nil {
		t.Error(err)
	}
	return n
}
