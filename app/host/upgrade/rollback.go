package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"opsmon/kv"
	"opsmon/kv/file"
)

// Rollback puts the previous program back, with the current store if that program can read it, otherwise with the one
// from the backup made before the upgrade. A replaced store is kept as app.db.failed-upgrade. An interrupted upgrade is
// undone with the store as it was then. store is the version of the service's store; 0 if unknown. Errors: ErrPrevious;
// ErrBusy; Confirm's; those of the backup, the service and the disk.
func Rollback(ctx context.Context, cfg Config, store int) (r Result, err error) {
	cfg.fill()
	end, err := begin(cfg.DataDir, cfg.HandOver)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, end()) }()
	j := readJournal(cfg.DataDir)
	if j != nil && cfg.isBack(ctx, j) {
		return Result{From: j.To, To: j.From, Previous: cfg.failed()}, cfg.finish(ctx, j)
	}
	was, err := cfg.findPrevious(ctx)
	if err != nil {
		return r, err
	}
	is, err := identify(ctx, cfg.Binary)
	if err != nil {
		is.Version = "unknown" // the program may be what is broken
	}
	if store <= 0 {
		store = is.Store
	}
	r = Result{From: is.Version, To: was.Version, Previous: cfg.failed()}
	if j != nil && j.From == was.Version {
		text := fmt.Sprintf("The upgrade from version %s to %s was broken off. Version %s comes back.", j.From, j.To, j.From)
		if j.Kept && j.Spare && store == j.FromStore {
			text += " The store stays as it is, unless something is missing in it."
		} else if j.Kept {
			text += fmt.Sprintf(" The store is then as it was at %s; what was written since is kept in %s alone.", j.At.Format(time.RFC3339), filepath.Join(cfg.DataDir, failedName))
		}
		if err := cfg.Confirm(text); err != nil {
			return r, err
		}
	} else {
		j = &journal{From: was.Version, To: is.Version, FromStore: was.Store, Kept: store > was.Store, At: cfg.Clock().UTC()}
		if r.Backup, err = cfg.agree(ctx, was, j.Kept); err != nil {
			return r, err
		}
	}
	cfg.step("prepared")
	if cfg.Service == nil {
		cfg.spare(j)
		if err := cfg.putBack(*j); err != nil {
			return r, err
		}
		return r, settle(cfg.DataDir)
	}
	return r, cfg.goBack(context.WithoutCancel(ctx), j) // what has begun must be completed
}

// isBack reports whether a rollback was broken off when the old program was in its place already.
func (cfg *Config) isBack(ctx context.Context, j *journal) bool {
	is, err := identify(ctx, cfg.Binary)
	return err == nil && j.Step == stepRollback && is.Version == j.From && is.Store == j.FromStore
}

// finish ends such a rollback.
func (cfg *Config) finish(ctx context.Context, j *journal) error {
	cfg.Say("Ending the rollback that was broken off")
	if cfg.Service != nil {
		if err := cfg.Service.Stop(ctx); err != nil {
			return err
		}
	}
	if err := cfg.storeBack(*j); err != nil {
		return err
	}
	if cfg.Service != nil {
		if err := cfg.start(ctx); err != nil {
			return err
		}
	}
	return settle(cfg.DataDir)
}

// findPrevious returns the description of the previous program.
func (cfg *Config) findPrevious(ctx context.Context) (p Program, err error) {
	p, err = identify(ctx, cfg.previous())
	if errors.Is(err, fs.ErrNotExist) || !file.Exists(cfg.previous()) {
		return p, fmt.Errorf("%w: %s is not there", ErrPrevious, cfg.previous())
	}
	if err != nil {
		return p, fmt.Errorf("%s: %w", cfg.previous(), err)
	}
	if sum, err := sumOf(cfg.Binary); err == nil && sum == p.sum {
		return p, fmt.Errorf("%w: version %s is installed, and %s is the same", ErrPrevious, p.Version, cfg.previous())
	}
	return p, nil
}

// agree asks for confirmation, and unpacks the store of the backup if it is needed.
func (cfg *Config) agree(ctx context.Context, was Program, needed bool) (path string, err error) {
	if !needed {
		return "", cfg.Confirm(fmt.Sprintf("Version %s comes back, with the store as it is: nothing is lost. The service stops for a moment.", was.Version))
	}
	text, err := os.ReadFile(cfg.record())
	if err != nil {
		return "", fmt.Errorf("version %s cannot read the store that is there now, and which backup was taken before it was replaced is not known: %w; restore one with: app restore FILE", was.Version, err)
	}
	var record previousRecord
	if err := json.Unmarshal(text, &record); err != nil || record.Version != was.Version {
		return "", fmt.Errorf("%s is not of %s, which comes back: restore a backup of that version by hand", cfg.record(), cfg.previous())
	}
	lost := fmt.Sprintf("Version %s comes back. It cannot read the store that is there now, so the backup of before the upgrade is put in its place: everything that was written since %s is lost to it, and is kept in %s alone.",
		was.Version, record.At.Format(time.RFC3339), filepath.Join(cfg.DataDir, failedName))
	if err := cfg.Confirm(lost); err != nil {
		return "", err
	}
	cfg.Say("Unpacking " + record.Backup)
	return record.Backup, cfg.unpackKept(ctx, record)
}

// unpackKept unpacks the store of a backup next to the current one, for a rollback.
func (cfg *Config) unpackKept(ctx context.Context, record previousRecord) error {
	dir, end, err := cfg.trial()
	if err != nil {
		return err
	}
	defer end()
	if err := cfg.unpack(ctx, record.Backup, dir, record.Store); err != nil {
		return err
	}
	path := filepath.Join(dir, storeName)
	if _, err := kv.CheckFile(path); err != nil {
		return err
	}
	if err := cfg.HandOver(path); err != nil {
		return err
	}
	return file.Rename(path, filepath.Join(cfg.DataDir, keptName))
}

// goBack stops the service, puts the old program and the old store back, and starts it again.
func (cfg *Config) goBack(ctx context.Context, j *journal) error {
	cfg.Say("Going back to version " + j.From)
	if err := cfg.Service.Stop(ctx); err != nil {
		return err
	}
	cfg.step("stopped to go back")
	cfg.spare(j)
	if n, err := kv.VersionOf(filepath.Join(cfg.DataDir, storeName)); !j.Kept && err == nil && n > j.FromStore {
		err = fmt.Errorf("nothing was changed: version %s cannot read the store that is there; restore a backup of it with: app restore FILE", j.From)
		return errors.Join(err, cfg.Service.Start(ctx))
	}
	if err := cfg.putBack(*j); err != nil {
		return err
	}
	if err := cfg.start(ctx); err != nil {
		return err
	}
	cfg.step("old one ready")
	return settle(cfg.DataDir)
}

// putBack puts the old program and the old store back. The journal is first, and stays: whatever is killed, the old
// program finds in it that the store has to follow.
func (cfg *Config) putBack(j journal) error {
	j.Step = stepRollback
	if err := j.write(cfg.DataDir, cfg.HandOver); err != nil {
		return err
	}
	cfg.step("rollback journal")
	if err := place(cfg.previous(), cfg.Binary, cfg.failed(), cfg.step); err != nil {
		return err
	}
	if err := errors.Join(file.Remove(cfg.previous()), file.Remove(cfg.record())); err != nil { // the first is there still when both were one file
		return err
	}
	cfg.step("old program back")
	return cfg.storeBack(j)
}

func (cfg *Config) storeBack(j journal) error {
	if err := j.putStoreBack(cfg.DataDir, cfg.step); err != nil {
		return err
	}
	cfg.step("old store back")
	return nil
}
