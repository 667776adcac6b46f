package backup

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// KeeperConfig is the configuration of scheduled backups.
type KeeperConfig struct {
	Folder   string // that must be there, a mounted share too
	Schedule Schedule
	Policy   Policy
	Backup   Config // Overwrite, Share, Progress and MinFreePercent are not used
	Log      *slog.Logger

	Delay  time.Duration                // from the start of Run to the first backup at the earliest
	Before func(cfg *Config) error      // sets what may change between backups, such as the passphrase. May be nil
	Done   func(r Result, failed error) // called after each backup, except those that ctx ended. May be nil
}

// Keeper makes scheduled backups, removes old ones, and reports its status.
type Keeper struct {
	cfg   KeeperConfig
	clock func() time.Time
	wake  chan struct{} // has one when the plan changed

	mu        sync.Mutex
	schedule  Schedule
	policy    Policy
	start     time.Time // since when the schedule holds
	status    Status
	scheduled time.Time // when the newest scheduled backup was made
}

// NewKeeper makes a Keeper. It does nothing until Run.
func NewKeeper(cfg KeeperConfig) *Keeper {
	cfg.Backup.fill()
	if cfg.Before == nil {
		cfg.Before = func(*Config) error { return nil }
	}
	if cfg.Done == nil {
		cfg.Done = func(Result, error) {}
	}
	k := &Keeper{cfg: cfg, clock: cfg.Backup.Clock, wake: make(chan struct{}, 1), schedule: cfg.Schedule, policy: cfg.Policy}
	k.start = k.clock()
	return k
}

// Plan changes the schedule and the retention policy, also while the Keeper runs.
func (k *Keeper) Plan(schedule Schedule, policy Policy) {
	k.mu.Lock()
	if k.schedule != schedule {
		k.start = k.clock()
	}
	k.schedule, k.policy = schedule, policy
	k.mu.Unlock()
	k.look()
	select {
	case k.wake <- struct{}{}:
	default: // the last change is still pending
	}
}

// keeping returns the policy that holds now.
func (k *Keeper) keeping() Policy {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.policy
}

// Run makes backups when they are due, until ctx ends, which also ends a running one. Failures are logged and shown by
// Status, and retried after an hour. It waits for another running backup or restore.
func (k *Keeper) Run(ctx context.Context) {
	pause := k.cfg.Delay
	for {
		wait := max(k.look().Sub(k.clock()), pause)
		// Check again now and then: clocks are set, machines sleep, and files may be removed.
		timer := time.NewTimer(min(wait, lookEvery))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-k.wake:
			timer.Stop()
			continue // the first backup keeps its distance from the start
		case <-timer.C:
		}
		pause = 0
		if !k.look().After(k.clock()) {
			if _, err := k.Make(ctx); errors.Is(err, ErrBusy) { // other failures are shown by Status
				pause = busyPause
			}
		}
	}
}

const (
	lookEvery = 10 * time.Minute // how often the folder is read
	busyPause = time.Minute      // how long another backup or restore is waited for at a time
)

// Make makes a backup in the folder now, whether or not one is due, and removes old ones. Errors: those of Create;
// ErrNotReady when the folder cannot be used.
func (k *Keeper) Make(ctx context.Context) (Result, error) {
	k.change(func(s *Status) { s.Running = true })
	r, err := k.make(ctx)
	now := k.clock()
	k.change(func(s *Status) {
		s.Running = false
		switch {
		case err == nil:
			s.Error, s.FailedAt = "", time.Time{}
			k.scheduled = now
			s.Newest = Kept{filepath.Base(r.File), now, r.Bytes} // also when the folder cannot be read any more
		case ctx.Err() == nil && !errors.Is(err, ErrBusy):
			s.Error, s.FailedAt = err.Error(), now
			s.Failures++
		}
	})
	switch {
	case err == nil:
		k.cfg.Log.Info("backup made", slog.String("file", r.File), slog.Int64("bytes", r.Bytes))
		if m := r.Manifest; m.Encrypted && len(m.Omitted) > 0 {
			k.cfg.Log.Warn("the backup lacks files", slog.String("file", r.File), slog.String("lacks", strings.Join(m.Omitted, ", ")))
		}
		k.cfg.Done(r, nil)
	case ctx.Err() == nil && !errors.Is(err, ErrBusy):
		k.cfg.Log.Error("backup failed", slog.Any("error", err))
		k.cfg.Done(r, err)
	}
	k.look()
	return r, err
}

func (k *Keeper) make(ctx context.Context) (Result, error) {
	folder := k.cfg.Folder
	cfg := k.cfg.Backup
	if err := k.cfg.Before(&cfg); err != nil {
		return Result{}, during("back up to "+folder, err)
	}
	cfg.Overwrite, cfg.Share, cfg.MinFreePercent = false, true, k.keeping().MinFreePercent
	if err := Folder(folder).Ready(); err != nil {
		return Result{}, err
	}
	k.clean(added(folder)) // the next one will be about as large
	r, err := Create(ctx, cfg, filepath.Join(folder, fileName(k.clock())))
	if err == nil {
		k.clean(0)
	}
	return r, err
}

// clean removes backups that the policy does not keep, given that need bytes will be added.
// It also removes what killed processes left.
func (k *Keeper) clean(need int64) {
	removed, err := Prune(k.cfg.Folder, k.keeping(), need, k.clock())
	for _, b := range removed {
		k.cfg.Log.Info("old backup removed", slog.String("file", b.Name))
	}
	if err == nil {
		ours := func(name string) bool { // whatever their origin: it is the service's own folder
			of, _, found := strings.Cut(name, partial)
			return found && isName(of)
		}
		err = removePartials(k.cfg.Folder, ours, k.clock())
	}
	k.change(func(s *Status) {
		s.CleaningErr = ""
		if err != nil {
			s.CleaningErr = err.Error()
		}
	})
	if err != nil {
		k.cfg.Log.Error("old backups were not removed", slog.Any("error", err))
	}
}

// look reads the folder and returns the time of the next attempt.
func (k *Keeper) look() (next time.Time) {
	list, err := List(k.cfg.Folder)
	// One from the future was made while the clock was wrong; it must not keep others from being made.
	list = slices.DeleteFunc(list, func(b Kept) bool { return b.MadeAt.After(k.clock()) })
	k.change(func(s *Status) {
		switch {
		case err != nil: // keep the last state while a share is unreachable
		case len(list) == 0:
			s.Newest = Kept{}
		default:
			s.Newest = list[0]
		}
		if err == nil {
			k.scheduled = s.Newest.MadeAt
			if byHand := newestManual(k.cfg.Folder, k.clock()); byHand.MadeAt.After(s.Newest.MadeAt) {
				s.Newest = byHand
			}
			if s.Newest.MadeAt.After(s.FailedAt) { // the folder works again
				s.Error, s.FailedAt = "", time.Time{}
			}
		}
		if k.schedule.Off {
			s.Next, next = time.Time{}, k.clock().Add(lookEvery)
			return
		}
		s.Next = due(k.schedule, k.scheduled, s.FailedAt, k.clock())
		next = s.Next
	})
	return next
}

// Refresh reads the folder again: for the Status of a Keeper that does not run, and after a backup was added.
func (k *Keeper) Refresh() { k.look() }

func (k *Keeper) change(f func(*Status)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f(&k.status)
}

// Status returns how the backups are doing. It reads no disk.
func (k *Keeper) Status() Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.status
	s.Overdue = overdue(k.schedule, s.Newest.MadeAt, k.start, k.clock())
	return s
}
