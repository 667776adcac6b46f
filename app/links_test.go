package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestLinkTeller: a device that connects is told at once, one that goes away after a while, and one that comes back before
// it not at all; what fails is told again.
func TestLinkTeller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var said []string
		fail := false
		began := time.Now()
		l := newLinkTeller(func(account, source string, stations []string, up bool) error {
			mu.Lock()
			defer mu.Unlock()
			if fail {
				return errors.New("full")
			}
			said = append(said, fmt.Sprintf("%s %s %v %t at %s", account, source, stations, up, time.Since(began)))
			return nil
		}, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { l.run(ctx) })
		wait := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		stations := []string{"S1"}
		l.note("acme", "a", stations, 0, true)
		l.note("acme", "b", stations, 0, true)
		wait(time.Second)
		slices.Sort(said)
		l.note("acme", "a", stations, 0, false)
		wait(9 * time.Second)
		l.note("acme", "a", stations, 0, true) // it was never away
		wait(time.Minute)
		l.note("acme", "b", stations, 0, false)
		wait(11 * time.Second)
		mu.Lock()
		fail = true
		mu.Unlock()
		l.note("acme", "c", stations, 0, true)
		wait(time.Second)
		mu.Lock()
		fail = false
		mu.Unlock()
		wait(time.Minute)
		l.note("acme", "a", stations, 0, false)
		cancel()
		running.Wait()
		l.flush()
		want := []string{"acme a [S1] true at 0s", "acme b [S1] true at 0s", "acme b [S1] false at 1m20s", "acme c [S1] true at 2m21s", "acme a [S1] false at 2m22s"}
		if !slices.Equal(said, want) {
			t.Errorf("told were %q, want %q", said, want)
		}
	})
}
