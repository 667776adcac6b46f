package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"opsmon/app/host/failpoint"
	"opsmon/kv"
	"opsmon/kv/file"
)

// RestoreConfig says which backup to put where.
type RestoreConfig struct {
	Path       string // of the backup
	Passphrase string // of an encrypted one
	Dir        string // the data directory, made when it is not there; what it holds is kept under other names

	Store     kv.Config               // Buckets and Migrations of this program; its other fields are not used
	Transform func(*kv.Tx) error      // changes the restored store before it is used: sessions and one-time links end. May be nil
	Progress  func(done, total int64) // as in Config. May be nil
	Clock     func() time.Time        // nil = time.Now

	// Usable returns why an app.yaml of a text cannot be used. One in the backup is refused, and a present one is replaced
	// even by one without secrets. nil = every text can be used.
	Usable func(text []byte) error
	// WithoutSettings leaves the backup's app.yaml in the backup.
	WithoutSettings bool

	step func(name string) // called between the steps, so that a test can stop there
}

// Prepared is a backup unpacked beside what it is to replace, verified and brought to this program's version. It must
// be ended with Swap or Discard.
type Prepared struct {
	Manifest Manifest // of the backup; Leave takes entries out

	cfg    RestoreConfig
	left   bool // app.yaml stays in the backup, as asked
	unlock func() error
}

// newDir is where a restore unpacks to, in the data directory, so that renames suffice afterwards.
const newDir = "restore.new"

// Prepare unpacks a backup into the data directory, beside the store and without touching it, so the service may run
// meanwhile. It verifies the backup, runs the migrations that its store lacks and Transform on it, and checks the
// result. Errors: ErrDamaged with the part; ErrNewer; ErrPassphrase; ErrSettings; ErrBusy; ErrNoRoom; those of a
// migration and of the disk; ctx's own.
func Prepare(ctx context.Context, cfg RestoreConfig) (*Prepared, error) {
	p, err := prepare(ctx, cfg)
	return p, during("restore "+cfg.Path, err)
}

func prepare(ctx context.Context, cfg RestoreConfig) (p *Prepared, err error) {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.step == nil {
		cfg.step = failpoint.At
	}
	if cfg.Usable == nil {
		cfg.Usable = func([]byte) error { return nil }
	}
	header, err := inspect(cfg.Path, "")
	if err != nil {
		return nil, err
	}
	if known := len(cfg.Store.Migrations); header.Store > known {
		return nil, &Error{Part: partHeader, Kind: ErrNewer,
			Err: fmt.Errorf("its store has version %d and this program knows versions up to %d; install version %s or a later one", header.Store, known, header.App)}
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, err
	}
	unlock, err := lockWork(cfg.Dir)
	if err != nil {
		return nil, err
	}
	p = &Prepared{cfg: cfg, unlock: unlock}
	err = Recover(cfg.Dir, func() error { return nil }) // of an earlier restore, which needs what it has unpacked
	if err == nil {
		err = p.unpack(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, p.Discard())
	}
	return p, nil
}

func (p *Prepared) unpack(ctx context.Context) error {
	dir := filepath.Join(p.cfg.Dir, newDir)
	if err := file.RemoveTree(dir); err != nil {
		return err
	}
	p.cfg.step("begun")
	store := filepath.Join(dir, storeName)
	to := func(e Entry) (sink, error) {
		if err := needRoom(p.cfg.Dir, e.Size, 0); err != nil {
			return nil, err
		}
		path := filepath.Join(dir, filepath.FromSlash(e.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if e.Kind == KindStore {
			return importTo(path)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return fileSink{f}, err
	}
	var err error
	if p.Manifest, err = readAll(ctx, p.cfg.Path, p.cfg.Passphrase, to, p.cfg.Progress); err != nil {
		return err
	}
	p.cfg.step("unpacked")
	if err := p.checkSettings(); err != nil { // before the migrations, which take long
		return err
	}
	if err := p.adapt(store); err != nil {
		return err
	}
	p.cfg.step("adapted")
	for _, e := range p.Manifest.Entries {
		if err := file.SyncDir(filepath.Dir(filepath.Join(dir, filepath.FromSlash(e.Name)))); err != nil {
			return err
		}
	}
	return nil
}

// adapt brings the unpacked store to what this program works with.
func (p *Prepared) adapt(path string) error {
	s, err := kv.Open(kv.Config{Path: path, Buckets: p.cfg.Store.Buckets, Migrations: p.cfg.Store.Migrations, Clock: p.cfg.Clock})
	if err != nil {
		return err
	}
	err = func() error {
		if p.cfg.Transform != nil {
			if err := s.Update(p.cfg.Transform); err != nil {
				return fmt.Errorf("change the restored store: %w", err)
			}
		}
		var first string
		if err := s.Check(func(problem string) { first = problem }); err != nil {
			return err
		}
		if first != "" {
			return &Error{Part: storeName, Kind: ErrDamaged, Err: fmt.Errorf("after the change: %s", first)}
		}
		return nil
	}()
	return errors.Join(err, s.Close())
}

// checkSettings refuses an unpacked app.yaml that cannot be used, unless it is to stay in the backup.
func (p *Prepared) checkSettings() error {
	text, err := os.ReadFile(filepath.Join(p.cfg.Dir, newDir, settingsName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if p.cfg.WithoutSettings {
		p.Leave(settingsName)
		p.left = true
		return nil
	}
	if err := p.cfg.Usable(text); err != nil {
		return &Error{Part: settingsName, Kind: ErrSettings, Err: err}
	}
	return nil
}

// Leave keeps an entry from being put in place: what has its name in the data directory stays as it is.
func (p *Prepared) Leave(name string) {
	p.Manifest.Entries = slices.DeleteFunc(slices.Clone(p.Manifest.Entries), func(e Entry) bool { return e.Name == name })
}

// Settings returns the text of the backup's app.yaml, when that is whole, and nil otherwise.
func (p *Prepared) Settings() ([]byte, error) {
	if !slices.ContainsFunc(p.Manifest.Entries, func(e Entry) bool { return e.Kind == KindSettings && e.Name == settingsName }) {
		return nil, nil
	}
	return os.ReadFile(filepath.Join(p.cfg.Dir, newDir, settingsName))
}

// ChangeSettings has another text take the place of the backup's app.yaml.
func (p *Prepared) ChangeSettings(text []byte) error {
	f, err := os.OpenFile(filepath.Join(p.cfg.Dir, newDir, settingsName), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	p.cfg.step("settings changed")
	return errors.Join(err, f.Close())
}

// fileSink puts an entry's content into a file.
type fileSink struct{ *os.File }

// Add implements sink.
func (f fileSink) Add(content []byte) error { _, err := f.Write(content); return err }

// Finish implements sink.
func (f fileSink) Finish(Entry, Manifest) error { return f.Sync() }

// Discard removes what Prepare has unpacked and leaves everything as it was. After Swap it does nothing, and after a
// Swap that failed half-way it leaves what the next Recover needs.
func (p *Prepared) Discard() error {
	if p.unlock == nil {
		return nil
	}
	if !file.Exists(filepath.Join(p.cfg.Dir, journalName)) {
		file.RemoveTree(filepath.Join(p.cfg.Dir, newDir)) // what cannot be removed now is removed by the next Recover
	}
	err := p.unlock()
	p.unlock = nil
	return err
}

// Restored says what a restore has changed.
type Restored struct {
	Manifest Manifest // of the backup, without what was left there
	Previous string   // path of the store that was there before; "" when there was none
	Settings Settings // what became of app.yaml

	dir  string
	undo []move
}

// Settings says what became of app.yaml.
type Settings string

// What can become of app.yaml.
const (
	SettingsAbsent   Settings = "absent"   // the backup has none: the one in the data directory stays, if there is one
	SettingsRestored Settings = "restored" // the backup's, whole
	SettingsKept     Settings = "kept"     // the backup's lacks secrets: the one in the data directory stays
	SettingsRedacted Settings = "redacted" // the backup's lacks secrets, and there was none that can be used: Manifest.Omitted must be set again
	SettingsLeft     Settings = "left"     // the backup's stays there, as asked: the one in the data directory stays, if there is one
)

// Swap puts what Prepare has unpacked in the place of what is there, which is kept as NAME.before-restore-TIME. The
// service must not run. Killed at any step, the next Recover ends what was begun. A redacted app.yaml does not replace
// one that is there and can be used. Errors: ErrInUse, after which Swap may
// be called again or Discard; those of the disk.
func (p *Prepared) Swap() (Restored, error) {
	r, err := p.swap()
	return r, during("restore "+p.cfg.Path, err)
}

func (p *Prepared) swap() (r Restored, err error) {
	stamp := p.cfg.Clock().UTC().Format(stampLayout)
	r = Restored{Manifest: p.Manifest, Settings: SettingsAbsent, dir: p.cfg.Dir}
	if p.left {
		r.Settings = SettingsLeft
	}
	var moves []move
	put := func(name, new string) {
		m := move{Name: name, New: new}
		if file.Exists(filepath.Join(p.cfg.Dir, filepath.FromSlash(name))) {
			m.Keep = unusedName(p.cfg.Dir, name+".before-restore-"+stamp)
		}
		moves = append(moves, m)
		r.undo = append(r.undo, move{Name: name, New: m.Keep, Keep: unusedName(p.cfg.Dir, name+".failed-restore-"+stamp)})
		if name == storeName && m.Keep != "" {
			r.Previous = filepath.Join(p.cfg.Dir, m.Keep)
		}
	}
	for _, e := range p.Manifest.Entries {
		name := e.Name
		if name == settingsName {
			if r.Settings = p.settle(e.Kind); r.Settings == SettingsKept {
				continue
			}
		}
		put(name, newDir+"/"+e.Name)
	}
	if err := exchange(p.cfg.Dir, moves, p.cfg.step); err != nil {
		return r, err
	}
	return r, p.Discard()
}

// settle returns what becomes of app.yaml when the backup's is of a kind.
func (p *Prepared) settle(kind Kind) Settings {
	text, err := os.ReadFile(filepath.Join(p.cfg.Dir, settingsName))
	stays := err == nil && p.cfg.Usable(text) == nil // one that nobody can read is of no use
	switch {
	case kind == KindRedacted && stays:
		return SettingsKept
	case kind == KindRedacted:
		return SettingsRedacted
	}
	return SettingsRestored
}

// Undo puts back what was there before Swap, for when the service does not become ready with what was restored, which
// is kept as NAME.failed-restore-TIME. The service must not run. Errors: ErrInUse; those of the disk.
func (r Restored) Undo() error {
	return during("undo the restore in "+r.dir, exchange(r.dir, r.undo, failpoint.At))
}

// Restore is Prepare and Swap, for when no service has to be stopped between them.
func Restore(ctx context.Context, cfg RestoreConfig) (Restored, error) {
	p, err := Prepare(ctx, cfg)
	if err != nil {
		return Restored{}, err
	}
	r, err := p.Swap()
	if err != nil {
		return r, errors.Join(err, p.Discard())
	}
	return r, nil
}
