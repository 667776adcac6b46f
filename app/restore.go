package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/host/backup"
	"opsmon/app/host/config"
	"opsmon/app/host/datadir"
	"opsmon/app/host/upgrade"
	"opsmon/app/httpapi/appliance"
	"opsmon/app/instant"
	"opsmon/kv"
)

// RestoreInput says which backup Restore is to put where, and Restored what it has changed.
type (
	RestoreInput = appliance.RestoreInput
	Restored     = appliance.RestoreResult
	BroughtFile  = appliance.BroughtFile
)

// StoreVersion is the version of stores that this program makes, and the newest that it reads.
func StoreVersion() int { return len(migrations) }

// keepPrevious is how many former stores are kept after restores, besides the newest one's other files.
const keepPrevious = 3

// Restore puts a backup in the place of a store that no service uses, and makes the data directory when it is not
// there. It verifies the backup first, keeps what was there before, opens what was restored, and goes back when that
// does not work. Errors: those of backup.Prepare and backup.Prepared.Swap; of opening what was restored.
func Restore(ctx context.Context, cfg config.Settings, in RestoreInput) (Restored, error) {
	if err := datadir.Make(cfg.DataDir, StoreFile); err != nil {
		return Restored{}, fmt.Errorf("make the data directory: %w; choose another", err)
	}
	unlock, err := lockHost(cfg.DataDir)
	if err != nil {
		return Restored{}, err
	}
	defer unlock()
	r, err := prepareRestore(ctx, cfg, in)
	if err != nil {
		return Restored{}, err
	}
	defer r.prepared.Discard()
	undo, err := r.swap()
	if err != nil {
		return Restored{}, err
	}
	if err := tryOut(cfg); err != nil {
		return Restored{}, errors.Join(fmt.Errorf("what was restored does not work, and what was there before was put back: %w", err), undo())
	}
	r.tidy()
	return r.result, nil
}

// tryOut opens a store as the service does, and closes it.
func tryOut(cfg config.Settings) error {
	cfg.SMTP = config.SMTP{TLS: "none"}
	a, err := open(cfg, slog.New(slog.DiscardHandler), newBaseURL(cfg), nil, anyTime)
	if err != nil {
		return err
	}
	return errors.Join(a.serves(), a.Close())
}

// Restore implements httpapi.Restorer: it puts a backup in the place of the store while the service runs. Everything
// but the exchange itself is done while requests are answered.
func (h *Host) Restore(ctx context.Context, in RestoreInput) (Restored, error) {
	r, err := prepareRestore(ctx, h.cfg, in)
	if err != nil {
		return Restored{}, err
	}
	defer r.prepared.Discard()
	if err := h.Replace(ctx, "a backup is being restored", r.swap); err != nil {
		return Restored{}, err
	}
	r.tidy()
	h.log.Warn("a backup was restored", slog.String("file", in.Name), slog.Time("madeAt", r.prepared.Manifest.MadeAt), slog.String("previous", r.result.Previous))
	return r.result, nil
}

// Begin implements httpapi.Restorer.
func (h *Host) Begin(in RestoreInput) (*appliance.RestoreState, error) {
	h.restores.mu.Lock()
	defer h.restores.mu.Unlock()
	if s := h.restores.state; s != nil && s.State == "running" {
		return nil, errdefs.New(errdefs.Conflict, "the backup %s is being restored already", s.Name)
	}
	state := appliance.RestoreState{Name: in.Name, State: "running", StartedAt: instant.Of(time.Now())}
	h.restores.state = &state
	h.restores.running.Go(func() {
		r, err := h.Restore(h.restores.ctx, in)
		ended := state
		ended.State, ended.EndedAt, ended.Result = "done", instant.OrNil(time.Now()), &r
		if err != nil {
			h.log.Error("the restore failed", slog.String("file", in.Name), slog.Any("error", err))
			ended.State, ended.Error, ended.Result = "failed", err.Error(), nil
		}
		h.restores.mu.Lock()
		defer h.restores.mu.Unlock()
		h.restores.state = &ended
	})
	return &state, nil
}

// State implements httpapi.Restorer.
func (h *Host) State() *appliance.RestoreState {
	h.restores.mu.Lock()
	defer h.restores.mu.Unlock()
	return h.restores.state
}

// restores are those that a Host does in the background. States are not changed once they are there.
type restores struct {
	mu      sync.Mutex
	state   *appliance.RestoreState // of the newest; nil when there was none
	running sync.WaitGroup
	ctx     context.Context // ends with the service
	end     context.CancelFunc
}

// restore is a restore that is under way.
type restore struct {
	cfg      config.Settings
	prepared *backup.Prepared
	result   Restored
}

// prepareRestore unpacks a backup beside the store, verified and ready to take its place.
func prepareRestore(ctx context.Context, cfg config.Settings, in RestoreInput) (*restore, error) {
	about, err := backup.Inspect(in.Path, "")
	if err != nil {
		return nil, err
	}
	detail := map[string]string{"madeAt": instant.Format(about.MadeAt), "app": about.App}
	p, err := backup.Prepare(ctx, backup.RestoreConfig{
		Path: in.Path, Passphrase: in.Passphrase, Dir: cfg.DataDir, Store: storeConfig(cfg), Usable: usable(cfg), WithoutSettings: in.WithoutSettings, Progress: in.Progress, Clock: cfg.Clock,
		Transform: func(tx *kv.Tx) error {
			if err := auth.EndSignIns(tx); err != nil {
				return err
			}
			return noteAll(tx, in.By, "backup.restore", in.Name, detail)
		},
	})
	if errors.Is(err, backup.ErrSettings) {
		return nil, fmt.Errorf("%w; nothing was changed. To restore without the settings of the backup, and keep those of this computer: app restore --without-settings", err)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range p.Manifest.Entries {
		// The service's own files of state are nobody's to bring.
		if e.Name != StoreFile && e.Name != config.File && path.Dir(e.Name) != CertificateDir && !config.IsNamed(e) {
			return nil, errors.Join(fmt.Errorf("%s holds %s, which is no part of a backup; nothing was changed", in.Name, e.Name), p.Discard())
		}
	}
	r := &restore{cfg: cfg, prepared: p}
	if err := r.bring(); err != nil {
		return nil, errors.Join(fmt.Errorf("bring the files that the settings name: %w", err), p.Discard())
	}
	return r, nil
}

// swap makes the exchange and says what it has changed. The undo puts everything back.
func (r *restore) swap() (undo func() error, err error) {
	dir, m := r.cfg.DataDir, r.prepared.Manifest
	before, _ := os.ReadFile(r.at(config.File)) // unreadable is as good as not there
	swapped, err := r.prepared.Swap()
	if err != nil {
		return nil, err
	}
	if err := r.handOver(m); err != nil {
		return nil, errors.Join(fmt.Errorf("what was restored cannot be used, and what was there before was put back: %w", err), swapped.Undo())
	}
	after, _ := os.ReadFile(r.at(config.File))
	r.result.SettingsChanged = string(before) != string(after)
	r.result.MadeAt, r.result.App, r.result.Previous, r.result.Settings, r.result.Omitted = instant.Of(m.MadeAt), m.App, swapped.Previous, swapped.Settings, append([]string{}, m.Omitted...)
	for _, name := range m.Omitted {
		if strings.HasPrefix(name, CertificateDir+"/") {
			_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
			r.result.NewAuthority = r.result.NewAuthority || errors.Is(err, os.ErrNotExist)
		}
	}
	r.result.Missing = []string{}
	if cfg, err := config.Load(dir, os.Getenv); err == nil {
		for _, file := range cfg.Missing() {
			r.result.Missing = append(r.result.Missing, file.Path)
		}
	}
	r.result.CertificatesChanged = slices.ContainsFunc(m.Entries, func(e backup.Entry) bool { return strings.HasPrefix(e.Name, CertificateDir+"/") })
	return swapped.Undo, nil
}

// usable returns why an app.yaml of a text cannot be used where some settings hold. The error names the line, and not the
// file, which is in the backup.
func usable(cfg config.Settings) func(text []byte) error {
	return func(text []byte) error {
		err, setting := cfg.Unusable(text), (*config.Error)(nil)
		if !errors.As(err, &setting) {
			return err
		}
		_, line, _ := strings.Cut(setting.Origin, config.File)
		if line = strings.TrimSpace(line); line == "" {
			return setting.Err
		}
		return &config.Error{Origin: line, Err: setting.Err}
	}
}

// handOver gives what root has restored to the owner of the data directory.
func (r *restore) handOver(m backup.Manifest) error {
	var names []string
	for _, e := range m.Entries {
		names = append(names, e.Name)
	}
	for _, name := range names {
		path := r.at(name)
		if dir := filepath.Dir(path); dir != filepath.Clean(r.cfg.DataDir) {
			if err := datadir.HandOver(r.cfg.DataDir, dir); err != nil {
				return err
			}
		}
		if _, err := os.Lstat(path); err != nil {
			continue // the one that was there stays
		}
		if err := datadir.HandOver(r.cfg.DataDir, path); err != nil {
			return err
		}
	}
	return nil
}

// tidy removes all but the newest former stores, each with the files that were kept with it. What cannot be removed is
// left for the next restore.
func (r *restore) tidy() {
	dirs := []string{r.cfg.DataDir, r.at(CertificateDir), r.at(config.FilesDir)}
	for _, what := range []string{".before-restore-", ".failed-restore-"} {
		var stamps []string // of the former stores, in the order of time
		for _, name := range namesIn(dirs[0]) {
			if stamp, found := strings.CutPrefix(name, StoreFile+what); found {
				stamps = append(stamps, stamp)
			}
		}
		for _, stamp := range stamps[:max(len(stamps)-keepPrevious, 0)] {
			for _, dir := range dirs {
				for _, name := range namesIn(dir) {
					if strings.HasSuffix(name, what+stamp) {
						_ = os.Remove(filepath.Join(dir, name))
					}
				}
			}
		}
	}
}

// namesIn lists what is in a directory, sorted; nothing when it cannot be read.
func namesIn(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// uploads is how the names of files begin that clients send and that have not become anything yet.
const uploads = "upload-"

// tidyScratch removes what a killed service left in the data directory: backups that were sent; and what a killed
// upgrade left that cannot be at work any more.
func tidyScratch(dir string) {
	upgrade.SweepTrials(dir, 24*time.Hour, time.Now())
	for _, name := range namesIn(dir) {
		if strings.HasPrefix(name, uploads) {
			_ = os.RemoveAll(filepath.Join(dir, name)) // tried again at the next start
		}
	}
}
