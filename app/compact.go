package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"opsmon/app/errdefs"
	"opsmon/app/host/backup"
	"opsmon/app/host/config"
	"opsmon/app/host/datadir"
	"opsmon/app/host/failpoint"
	"opsmon/app/httpapi/appliance"
	"opsmon/kv"
	"opsmon/kv/file"
)

const (
	compactNew  = StoreFile + ".compact"        // the smaller store, while it is made
	compactKept = StoreFile + ".before-compact" // the store that it replaces, until the new one serves

	// compactReserve is how many bytes must stay free on the disk.
	compactReserve = 32 << 20
)

// Compact makes the store of the service smaller while it runs. Requests get 503 while it is copied.
func (h *Host) Compact(ctx context.Context) (result appliance.Compacted, err error) {
	began := time.Now()
	err = h.Replace(ctx, "the store is being compacted", func() (undo func() error, err error) {
		result, err = compact(ctx, h.cfg.DataDir)
		return func() error { return compactUndo(h.cfg.DataDir) }, err
	})
	if err != nil {
		return result, err
	}
	compactTidy(h.cfg.DataDir, h.log)
	h.log.Info("the store is compacted", slog.Int64("before", result.Before), slog.Int64("after", result.After), slog.Duration("took", time.Since(began)))
	return result, nil
}

// Compact makes the store of a data directory smaller that no service uses. Errors: kv.ErrLocked when a process uses it.
func Compact(ctx context.Context, cfg config.Settings, log *slog.Logger) (result appliance.Compacted, err error) {
	unlock, err := lockHost(cfg.DataDir)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	// Opening it ends what a killed process began, and migrates it.
	if err := openAndClose(cfg, log); err != nil {
		return result, err
	}
	if result, err = compact(ctx, cfg.DataDir); err != nil {
		return result, err
	}
	if err := openAndClose(cfg, log); err != nil {
		return result, errors.Join(fmt.Errorf("the new store does not open, and the old one was put back: %w", err), compactUndo(cfg.DataDir))
	}
	compactTidy(cfg.DataDir, log)
	return result, nil
}

func openAndClose(cfg config.Settings, log *slog.Logger) error {
	a, err := open(cfg, log, newBaseURL(cfg), nil, anyTime)
	if err != nil {
		return err
	}
	return a.Close()
}

// compact puts a smaller store in the place of one that nobody has open, and keeps that beside.
func compact(ctx context.Context, dir string) (result appliance.Compacted, err error) {
	path, smaller := filepath.Join(dir, StoreFile), filepath.Join(dir, compactNew)
	// A killed process has left these. What it kept is not needed any more, because the store has been opened since, and
	// must not be what an undo puts back.
	for _, left := range []string{smaller, filepath.Join(dir, compactKept)} {
		if err := os.Remove(left); err != nil && !errors.Is(err, os.ErrNotExist) {
			return result, err
		}
	}
	if err := compactRoom(dir, path); err != nil {
		return result, err
	}
	c, err := kv.CompactTo(ctx, path, smaller)
	if err != nil {
		return result, err
	}
	failpoint.At("compact: copied")
	result = appliance.Compacted{Before: c.Before, After: c.After}
	if c.After >= c.Before {
		result.After = c.Before
		return result, os.Remove(smaller) // there is nothing to gain
	}
	if err := datadir.HandOver(dir, smaller); err != nil {
		return result, errors.Join(err, os.Remove(smaller))
	}
	err = backup.Exchange{Name: StoreFile, New: compactNew, Keep: compactKept, Step: func(name string) { failpoint.At("compact: " + name) }, Sure: func() error {
		if now, err := kv.LastCommit(path); err != nil || now != c.Commit {
			return errors.Join(err, errdefs.New(errdefs.Conflict, "another command has written to the store meanwhile; try again"))
		}
		return nil
	}}.Do(dir)
	if err != nil {
		return result, err
	}
	failpoint.At("compact: exchanged")
	return result, nil
}

// compactRoom refuses when the disk has no room for what the store holds. It must be there beside the store.
func compactRoom(dir, path string) error {
	u, err := kv.UsageOf(path)
	if err != nil {
		return err
	}
	disk, err := file.SpaceOf(dir)
	if err != nil {
		return fmt.Errorf("find the room in %s: %w", dir, err)
	}
	if need := u.Bytes - u.Free + compactReserve; disk.Free < need {
		return errdefs.New(errdefs.Conflict, "%d MB in %s are free, and %d MB are needed to compact the store; free some, and try again",
			disk.Free/1e6, dir, (need+1e6-1)/1e6)
	}
	return nil
}

// compactUndo puts the store back that compact has kept.
func compactUndo(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, compactKept)); errors.Is(err, os.ErrNotExist) {
		return nil // there was nothing to gain
	}
	return backup.Exchange{Name: StoreFile, New: compactKept}.Do(dir)
}

// compactTidy removes what compacting has kept or left. It is called when the store has been opened and serves.
func compactTidy(dir string, log *slog.Logger) {
	for _, name := range []string{compactKept, compactNew} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			log.Warn("what compacting has kept could not be removed", slog.Any("error", err))
		}
	}
}
