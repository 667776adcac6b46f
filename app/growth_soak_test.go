//go:build soak

package app

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"opsmon/app/simulate"
	"opsmon/kv/powercut"
)

// TestGrowthOfAPlant lives through months of a plant whose machines send and whose people work, with the shortest times that
// things may be kept: once every kind has had its time, they take no more room than before.
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
	manifest := examplePlant(t)
	if status := r.request(t, http.MethodPut, "/account/manifest", r.key, string(manifest)); status != http.StatusOK {
		t.Fatalf("PUT /account/manifest: %d", status)
	}
	plant, err := simulate.ReadPlant(manifest)
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int64 // of what is used, by tens of days
	tidied := from
	player := simulate.NewPlayer(simulate.PlayConfig{
		Generator: simulate.New(plant, simulate.Config{Seed: 4, Interval: time.Minute.Milliseconds(), IDs: true}),
		Send:      sender(r.url, r.key), From: from.UnixMilli(), Until: from.AddDate(0, 0, days).UnixMilli(), Batch: 5000, Patience: time.Minute,
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
					u, err := r.store.Usage()
					if err != nil {
						t.Error(err)
					}
					sizes = append(sizes, u.Bytes-u.Free)
				}
			}
		},
	})
	if err := player.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d signals and %d acts of people in %d days, %+v; KiB used, each %d days: %v", player.Progress().Signals, player.Progress().Acts, days, player.Progress(), every, kib(sizes))
	before, after := sizes[settled/every-1], sizes[len(sizes)-1]
	if after > before+before/10 {
		t.Errorf("what is used grew from %d KiB on day %d to %d KiB on day %d", before>>10, settled, after>>10, len(sizes)*every)
	}
}
