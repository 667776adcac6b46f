package upgrade

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"opsmon/app/host/backup"
	"opsmon/kv"
	"opsmon/kv/file"
)

// Service is the service that runs the program.
type Service interface {
	Stop(ctx context.Context) error      // and wait until its process has ended
	Start(ctx context.Context) error     // it need not be ready yet
	WaitReady(ctx context.Context) error // with the reason, when ctx ends before
}

// Config says what is to be upgraded, or taken back.
type Config struct {
	Binary     string         // absolute path of the installed program
	DataDir    string         // of its service
	Service    Service        // nil: no service manager runs it
	Migrations []kv.Migration // of the calling program
	Key        string         // public key of signatures; "" = none: see PublicKey

	Backup     func(ctx context.Context) (path string, err error) // makes a verified backup of the data directory, as its owner
	BackupDirs []string                                           // folders that Backup may write to
	HandOver   func(path string) error                            // makes the service's user own a file in the data directory
	Confirm    func(question string) error                        // asks a person; an error ends it before anything has changed
	Say        func(text string)                                  // reports the progress to people
	ReadyTime  time.Duration                                      // how long the new program may take to get ready, after it has migrated; 0 = 2 minutes
	Clock      func() time.Time                                   // nil = time.Now

	// Holds says what a store holds that lasts, by people's names, of the numbers of its keys by bucket. nil = nobody
	// knows.
	Holds func(counts map[string]int) map[string]int

	probation  time.Duration // 0 = Probation()
	answerTime time.Duration // 0 = that of the constant, as is the next one
	hangTime   time.Duration

	step func(name string) // called between the steps, so that a test can stop there
}

func (cfg *Config) fill() {
	if cfg.ReadyTime == 0 {
		cfg.ReadyTime = 2 * time.Minute
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.step == nil {
		cfg.step = func(string) {}
	}
	if cfg.probation == 0 {
		cfg.probation = Probation()
	}
	cfg.answerTime, cfg.hangTime = cmp.Or(cfg.answerTime, answerTime), cmp.Or(cfg.hangTime, hangTime)
	if cfg.HandOver == nil {
		cfg.HandOver = func(string) error { return nil }
	}
}

// beside returns the path of a file next to the installed program: app.previous, or app.previous.exe.
func (cfg *Config) beside(what string) string {
	ext := filepath.Ext(cfg.Binary)
	if !strings.EqualFold(ext, ".exe") {
		ext = ""
	}
	return strings.TrimSuffix(cfg.Binary, ext) + "." + what + ext
}

func (cfg *Config) previous() string { return cfg.beside("previous") }
func (cfg *Config) failed() string   { return cfg.beside("failed") }
func (cfg *Config) record() string   { return cfg.previous() + ".json" }

// Result is the result of an upgrade or a rollback.
type Result struct {
	From     string `json:"from"` // versions
	To       string `json:"to"`
	Backup   string `json:"backup"`   // path of the backup that was taken, or put back; "" when there was no need
	Previous string `json:"previous"` // path of the program that was replaced
}

// The ways in which nothing was done, matched by errors.Is.
var (
	ErrSame     = errors.New("this program is installed already")
	ErrOlder    = errors.New("it is older than what is installed")
	ErrPrevious = errors.New("there is no previous program to go back to")
)

// Upgrade puts the program in file in the place of the installed one: a program, or a tar.gz or zip package of ours.
// See the package's comment for the steps. When the new program does not get ready, or fails its probation, the old one
// is put back and the error says why: with the store as it is when nothing is missing in it, otherwise as it was.
// Errors: ErrSame, ErrOlder, ErrUnsigned, ErrSignature, *PackageError, ErrBusy; those of the backup, of the check, of
// the service and the disk.
func Upgrade(ctx context.Context, cfg Config, file string, unsigned bool) (r Result, err error) {
	cfg.fill()
	end, err := begin(cfg.DataDir, cfg.HandOver)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := cfg.unfinished(ctx); err != nil {
		return r, err
	}
	cfg.Say("Reading " + file)
	s, err := stage(file, cfg.Binary, cfg.Key, unsigned)
	defer s.remove()
	if err != nil {
		return r, err
	}
	cfg.step("staged")
	was, is, err := cfg.compare(ctx, file, s.program)
	if err != nil {
		return r, err
	}
	r = Result{From: was.Version, To: is.Version, Previous: cfg.previous()}
	if err := cfg.Confirm(question(was, is, s.signed, cfg.Service != nil)); err != nil {
		return r, err
	}
	cfg.Say("Taking a backup")
	if r.Backup, err = cfg.Backup(ctx); err != nil {
		return r, fmt.Errorf("the upgrade was not begun, because no backup could be taken: %w", err)
	}
	if !cfg.holdsBackups(filepath.Dir(r.Backup)) {
		return r, fmt.Errorf("the service says that its backup is %s, which is in no folder for backups; nothing was changed", r.Backup)
	}
	cfg.step("backup taken")
	began := time.Now()
	m, err := cfg.checkCopy(ctx, r.Backup, s.program)
	if err != nil {
		return r, err
	}
	cfg.ReadyTime += 5 * time.Since(began) // it has to do the same again
	cfg.step("copy checked")
	if err := cfg.change(ctx, s.program, r, was, is, cfg.newJournal(m, was, is)); err != nil {
		return r, err
	}
	// Not before: until here the record of the previous program names an earlier one.
	if err := backup.Folder(filepath.Dir(r.Backup)).TrimUpgrades(filepath.Base(r.Backup)); err != nil {
		cfg.Say("Older backups of upgrades could not be removed: " + err.Error())
	}
	return r, nil
}

// holdsBackups reports whether a directory is one for backups, by whichever path the service knows it.
func (cfg *Config) holdsBackups(dir string) bool {
	is, err := os.Stat(dir)
	return err == nil && slices.ContainsFunc(cfg.BackupDirs, func(path string) bool {
		may, err := os.Stat(path)
		return err == nil && os.SameFile(is, may)
	})
}

// newJournal begins the journal of an upgrade.
func (cfg *Config) newJournal(m backup.Manifest, was, is Program) journal {
	j := journal{Step: stepTrying, From: was.Version, To: is.Version, FromStore: m.Store, Kept: true, At: cfg.Clock().UTC()}
	if cfg.Holds != nil && len(m.Entries) > 0 {
		j.Before = cfg.Holds(m.Entries[0].Counts)
	}
	if j.Spare = was.History == is.History; !j.Spare {
		delete(j.Before, History) // the new version computes it again
	}
	return j
}

func (s staged) remove() {
	if s.dir != "" {
		file.RemoveTree(s.dir) // what cannot be removed now, the next one removes
	}
}

// unfinished completes an upgrade or rollback that was killed, and returns an error if that needs a decision.
func (cfg *Config) unfinished(ctx context.Context) error {
	j := readJournal(cfg.DataDir)
	if j == nil {
		return nil
	}
	if cfg.isBack(ctx, j) {
		// Whether the old program gets ready does not matter: it is about to be replaced.
		if err := cfg.finish(ctx, j); Pending(cfg.DataDir) && file.Exists(filepath.Join(cfg.DataDir, keptName)) {
			return err
		}
		return settle(cfg.DataDir)
	}
	if cfg.Service != nil {
		wait, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err := cfg.Service.WaitReady(wait); err != nil {
			return fmt.Errorf("an earlier upgrade was broken off, and the service is not ready (%w); go back first with: app rollback", err)
		}
	}
	if s, err := cfg.lookAt(ctx); err == nil {
		if err := missing(j.Before, s.holds); err != nil {
			return fmt.Errorf("an earlier upgrade was broken off: %w; go back first with: app rollback; or, if that is right, remove %s", err, filepath.Join(cfg.DataDir, journalName))
		}
	}
	return settle(cfg.DataDir)
}

// compare looks at the installed and the new program.
func (cfg *Config) compare(ctx context.Context, file, program string) (was, is Program, err error) {
	if was, err = identify(ctx, cfg.Binary); err != nil {
		return was, is, fmt.Errorf("%s, which is to be replaced: %w", cfg.Binary, err)
	}
	if is, err = identify(ctx, program); err != nil {
		return was, is, fmt.Errorf("%s: %w", file, err)
	}
	switch {
	case was.sum == is.sum:
		return was, is, fmt.Errorf("%s: %w (version %s)", file, ErrSame, is.Version)
	case is.older(was):
		return was, is, fmt.Errorf("%s: %w: it has version %s, and version %s is there; app rollback goes back to the version before the last upgrade", file, ErrOlder, is.Version, was.Version)
	}
	return was, is, nil
}

func question(was, is Program, signed, running bool) string {
	text := fmt.Sprintf("Version %s takes the place of version %s.", is.Version, was.Version)
	if !signed {
		text += " It is not signed: nobody can tell who made it."
	}
	if running {
		text += " The service stops for a moment."
	}
	if is.Store > was.Store {
		text += " The store is migrated, so that the old version can no longer read it; a backup is taken before."
	}
	return text
}

// checkCopy has the new program migrate and check a copy of the store, made from the backup, and returns the backup's
// description.
func (cfg *Config) checkCopy(ctx context.Context, path, program string) (m backup.Manifest, err error) {
	cfg.Say("Letting the new version check a copy of the store")
	dir, end, err := cfg.trial()
	if err != nil {
		return m, err
	}
	defer end()
	m, err = backup.Inspect(path, "")
	if err != nil {
		return m, err
	}
	if err := cfg.unpack(ctx, path, dir, m.Store); err != nil {
		return m, fmt.Errorf("the copy of the store that the new version is to check: %w; it needs as much room in %s as the store takes", err, cfg.DataDir)
	}
	cfg.step("copied")
	if out, err := run(ctx, program, "check", "--json", "--data-dir", dir); err != nil {
		return m, fmt.Errorf("the new version cannot work with a copy of the store, so nothing was changed: %w %s", err, out)
	}
	return m, nil
}

// unpack puts the store of a backup into a directory, as it is.
func (cfg *Config) unpack(ctx context.Context, path, dir string, store int) error {
	if store > len(cfg.Migrations) {
		return fmt.Errorf("%s has a store of version %d, and this program knows versions up to %d; run the newer app", path, store, len(cfg.Migrations))
	}
	_, err := backup.Restore(ctx, backup.RestoreConfig{Path: path, Dir: dir, Store: kv.Config{Migrations: cfg.Migrations[:store]}})
	return err
}

// previousRecord is stored next to the previous program.
type previousRecord struct {
	Version string    `json:"version"`
	Store   int       `json:"store"`  // of the store that it works with
	Backup  string    `json:"backup"` // taken before it was replaced
	At      time.Time `json:"at"`     // of the backup
}

// change stops the service, lets the programs change places, and goes back when the new one fails.
func (cfg *Config) change(ctx context.Context, program string, r Result, was, is Program, j journal) error {
	record, err := json.Marshal(previousRecord{was.Version, was.Store, r.Backup, j.At})
	if err != nil {
		return err
	}
	write := func() error { return file.Replace(cfg.record(), bytes.NewReader(record), file.Options{}) }
	if cfg.Service == nil {
		if err := write(); err != nil {
			return err
		}
		return place(program, cfg.Binary, cfg.previous(), cfg.step)
	}
	cfg.Say("Stopping the service")
	always := context.WithoutCancel(ctx) // what has begun must be completed
	if err := cfg.Service.Stop(always); err != nil {
		return errors.Join(fmt.Errorf("nothing was changed: %w", err), cfg.Service.Start(always))
	}
	cfg.step("stopped")
	if err = cfg.prepare(j); err == nil {
		err = write()
	}
	if err == nil {
		cfg.step("recorded")
		err = place(program, cfg.Binary, cfg.previous(), cfg.step)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("nothing was changed: %w", err), settle(cfg.DataDir), cfg.Service.Start(always))
	}
	if err := cfg.prove(ctx, j); err != nil {
		back := cfg.goBack(always, &j)
		switch {
		case back != nil:
			return fmt.Errorf("%w; version %s could not be put back: %w; try: app rollback", err, was.Version, back)
		case !j.Kept:
			return fmt.Errorf("version %s runs again with the store as it is, and nothing is lost: %w", was.Version, err)
		}
		return fmt.Errorf("version %s runs again with the store as it was: %w", was.Version, err)
	}
	cfg.step("proved")
	return settle(cfg.DataDir)
}

// prove starts the new version, waits until it is ready, and watches it for its probation.
func (cfg *Config) prove(ctx context.Context, j journal) error {
	cfg.Say("Starting version " + j.To)
	if err := cfg.start(ctx); err != nil {
		return fmt.Errorf("version %s did not get ready: %w", j.To, err)
	}
	cfg.step("ready")
	cfg.Say(fmt.Sprintf("Version %s is ready. It is watched for %s, and goes back if it fails", j.To, cfg.probation))
	if err := cfg.watch(context.WithoutCancel(ctx), j.Before); err != nil {
		return fmt.Errorf("version %s failed its probation: %w", j.To, err)
	}
	return nil
}

// start starts the service and waits until it is ready.
func (cfg *Config) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cfg.ReadyTime)
	defer cancel()
	if err := cfg.Service.Start(ctx); err != nil {
		return err
	}
	cfg.step("started")
	return cfg.Service.WaitReady(ctx)
}

// prepare copies the store, which the new version may spoil, and writes the journal.
func (cfg *Config) prepare(j journal) (err error) {
	if err := file.Remove(filepath.Join(cfg.DataDir, failedName)); err != nil {
		return err
	}
	if err := cfg.keepStore(); err != nil {
		return fmt.Errorf("keep the store as it is: %w", err)
	}
	cfg.step("store kept")
	if err := j.write(cfg.DataDir, cfg.HandOver); err != nil {
		return err
	}
	cfg.step("journal")
	return nil
}

// keepReserve is the number of bytes that must stay free after the copy of the store.
const keepReserve = 64 << 20

// keepStore makes a copy of the store while nobody has it open, and checks it.
func (cfg *Config) keepStore() (err error) {
	path, kept := filepath.Join(cfg.DataDir, storeName), filepath.Join(cfg.DataDir, keptName)
	unlock, err := kv.LockFile(path, 5*time.Second)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	disk, err := file.SpaceOf(cfg.DataDir)
	if err != nil {
		return err
	}
	if need := info.Size() + keepReserve; disk.Free < need {
		return fmt.Errorf("%d MB in %s are free, and %d MB are needed; free some, or compact the store with: app compact", disk.Free/1e6, cfg.DataDir, need/1e6+1)
	}
	for _, old := range []string{kept, kept + ".new"} {
		if err := file.Remove(old); err != nil {
			return err
		}
	}
	if err := cfg.copyStore(kept+".new", info.Size()); err != nil {
		return err
	}
	if _, err := kv.CheckFile(kept + ".new"); err != nil {
		return err
	}
	if err := cfg.HandOver(kept + ".new"); err != nil {
		return err
	}
	return file.Rename(kept+".new", kept)
}

// copyStore copies the store, and nothing that a link in its place leads to outside the data directory.
func (cfg *Config) copyStore(to string, limit int64) error {
	f, err := openIn(cfg.DataDir, storeName)
	if err != nil {
		return err
	}
	defer f.Close()
	return write(to, f, storeName, limit)
}
