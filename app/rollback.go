package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"opsmon/app/host/backup"
	"opsmon/app/host/config"
	"opsmon/app/instant"
	"opsmon/kv"
)

// rollback is how a damaged store is brought back: which backup to restore, with which command.
type rollback struct {
	mu   sync.Mutex
	text string // for people, with mend at its end; "" while the store is whole
	mend string // the command, or what to do
}

const seeking = "the newest backup that can be restored is being looked for"

// set notes a rollback. The caller holds the lock.
func (r *rollback) set(text, mend string) { r.text, r.mend = text+mend, mend }

// hurt notes that the store is damaged, tells the log so once, and looks for the newest backup that verifies: that can
// take minutes.
func (h *Host) hurt(err error) {
	h.rollback.mu.Lock()
	defer h.rollback.mu.Unlock()
	if h.rollback.text != "" {
		return
	}
	h.rollback.set("", seeking)
	h.log.Error("the store is damaged: keep a copy of it; app check tells how much of it is", slog.Any("error", err))
	if h.restores.ctx.Err() != nil {
		return // the service stops
	}
	h.restores.running.Go(func() {
		text, mend := h.newestWhole(h.restores.ctx)
		h.rollback.mu.Lock()
		defer h.rollback.mu.Unlock()
		if h.rollback.text == seeking {
			h.rollback.set(text, mend)
			h.log.Error(h.rollback.text)
		}
	})
}

// healed notes that a whole store was opened.
func (h *Host) healed() {
	h.rollback.mu.Lock()
	defer h.rollback.mu.Unlock()
	h.rollback.set("", "")
}

// withRollback adds to a reason that says the store is damaged how to bring it back.
func (h *Host) withRollback(err error) error {
	h.rollback.mu.Lock()
	defer h.rollback.mu.Unlock()
	if h.rollback.text == "" || !errors.Is(err, kv.ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w; %s", err, h.rollback.text)
}

// mending returns what mends that the service is not ready, which is the reason: a command, or what to do; "" when
// there is nothing to do but to wait.
func (h *Host) mending(why error) string {
	switch {
	case errors.Is(why, kv.ErrDamaged):
		h.rollback.mu.Lock()
		defer h.rollback.mu.Unlock()
		return h.rollback.mend
	case errors.Is(why, kv.ErrFull):
		return "free some room on the disk of " + h.cfg.DataDir + "; the service goes on by itself"
	case errors.As(why, new(*clockError)):
		return "set the machine's clock; the service goes on by itself. If it is right now, and was ahead before: " + acceptClockCommand + dirFlag(h.cfg)
	case errors.Is(why, kv.ErrReadOnly):
		return "see that the disk of " + h.cfg.DataDir + " works and can be written; then: app restart"
	}
	return ""
}

// newestWhole verifies the backups in the folder, the newest first, until one can be restored. What it says ends with
// mend.
func (h *Host) newestWhole(ctx context.Context) (text, mend string) {
	dir := h.cfg.BackupDir()
	bring := "bring a backup and restore it with: app restore FILE" + dirFlag(h.cfg)
	all, err := backup.Folder(dir).All()
	if err != nil {
		return fmt.Sprintf("the backups in %s cannot be read (%v): ", dir, err), bring
	}
	passphrase, err := h.cfg.BackupPassphrase()
	if err != nil {
		h.log.Error("encrypted backups cannot be verified", slog.Any("error", err))
	}
	for _, b := range all {
		path := filepath.Join(dir, b.Name)
		m, err := backup.Verify(ctx, backup.VerifyConfig{Path: path, Passphrase: passphrase})
		if err == nil && m.Store > StoreVersion() {
			err = kv.ErrNewer
		}
		if err == nil {
			return fmt.Sprintf("restore the newest verified backup, of %s, with: ", instant.Format(m.MadeAt)), restoreCommand(h.cfg, path)
		}
		if ctx.Err() != nil {
			return "", seeking
		}
		h.log.Warn("a backup cannot be restored", slog.String("file", b.Name), slog.Any("error", err))
	}
	return fmt.Sprintf("none of the %d backups in %s can be restored: ", len(all), dir), bring
}

// restoreCommand is the command that restores a backup.
func restoreCommand(cfg config.Settings, path string) string {
	return "app restore " + Quote(path) + dirFlag(cfg)
}

func dirFlag(cfg config.Settings) string { return " --data-dir " + Quote(cfg.DataDir) }

// newer adds the rollback to the refusal of a store that a newer version has used: which version that was, as far as
// the backups tell, and the newest of those that this version can read.
func newer(cfg config.Settings, err error) error {
	all, failed := backup.Folder(cfg.BackupDir()).All()
	if failed != nil {
		return err
	}
	for _, b := range all {
		if b.Problem == "" && b.Store > StoreVersion() {
			err = fmt.Errorf("%w (version %s or a later one)", err, b.App)
			break
		}
	}
	for _, b := range all {
		if b.Problem == "" && b.Store <= StoreVersion() {
			return fmt.Errorf("%w, or go back to the newest backup that this version can read, of %s, which loses all that was changed since: %s",
				err, instant.Format(b.MadeAt), restoreCommand(cfg, filepath.Join(cfg.BackupDir(), b.Name)))
		}
	}
	return fmt.Errorf("%w, or restore a backup from before with: app restore FILE%s", err, dirFlag(cfg))
}
