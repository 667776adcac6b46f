package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"opsmon/app/host/failpoint"
	"opsmon/kv"
	"opsmon/kv/file"
)

// Config says what to back up and how.
type Config struct {
	Store      *kv.Store // open; its directory is the data directory, where app.yaml is
	Version    string    // of the program
	Passphrase string    // "" = not encrypted: no secrets go in
	Overwrite  bool      // replace a file that has the name already
	AllowWeak  bool      // Passphrase is a configured one: it encrypts also when it is shorter than a new one may be
	Share      bool      // large parts are stored in a directory next to the file, where other backups share them

	Files          []File   // of the data directory, besides the store and app.yaml; missing ones are listed as left out
	SecretSettings []string // settings of app.yaml that hold a secret, such as smtp.password

	// Usable says what keeps an app.yaml of a text from being used: the backup notes it. nil = every text can be used.
	Usable func(text []byte) error

	MinFreePercent int                     // of the backup's disk that must stay free; 0 = no limit
	Progress       func(done, total int64) // called now and then, by one goroutine at a time; units have no meaning. May be nil
	Clock          func() time.Time        // nil = time.Now
	WorkFactor     int                     // cost of deriving a key from the passphrase (scrypt, log2); 0 = age's own. Tests use a small one

	step    func(name string) // called between the steps, so that a test can stop there
	reserve int64             // bytes of the disk that must stay free
}

// File is a further file to keep.
type File struct {
	Name   string // path in the data directory, with slashes: tls/ca.key
	Secret bool   // such as a private key: left out of unencrypted backups

	// From is where the file is when that is not Name: a setting names it. One that cannot be read is left out, and the
	// manifest says why.
	From string
	// Opens says that its first line is the passphrase of backups. It goes into those that it opens alone: whoever gets
	// another one is not to open them too.
	Opens bool
}

// Result is a backup that was made (decisions.md section 7).
type Result struct {
	File     string   `json:"file"`
	Bytes    int64    `json:"bytes"`  // including its shared parts
	SHA256   string   `json:"sha256"` // of the file, in hexadecimal
	Manifest Manifest `json:"-"`
}

// Create makes a backup at path. It writes a temporary file next to it, syncs it, reads it back, unpacks and checks it,
// and only then renames it. A failure leaves nothing behind. A killed process may leave files with ".partial-" in their
// names, which a later Create removes if it makes the same name or one that the service gives, and app.db.backup in the
// data directory, which the next Create removes. Errors: ErrExists without Overwrite; ErrWeak; ErrBusy; ErrNoRoom;
// kv.ErrDamaged if the store is damaged; ErrDamaged if the disk returns something else than was written; the disk's,
// which name the file; ctx's.
func Create(ctx context.Context, cfg Config, path string) (Result, error) {
	r, err := create(ctx, cfg, path)
	return r, during("back up to "+path, err)
}

func create(ctx context.Context, cfg Config, path string) (r Result, err error) {
	cfg.fill()
	if err := cfg.checkPassphrase(); err != nil {
		return r, err
	}
	if file.Exists(path) && !cfg.Overwrite {
		return r, &Error{Kind: ErrExists, Err: errors.New("choose another name, or have it replaced")}
	}
	unlock, err := lockWork(cfg.dataDir())
	if err != nil {
		return r, err
	}
	defer unlock()
	dir, base := filepath.Dir(path), filepath.Base(path)
	if err := removePartials(dir, leftBy(base), cfg.Clock()); err != nil {
		return r, err
	}
	if err := file.Remove(filepath.Join(cfg.dataDir(), spoolName)); err != nil { // left by a killed process
		return r, err
	}
	here, err := file.SameDisk(cfg.dataDir(), dir)
	if err != nil {
		return r, err
	}
	make := createAway
	switch {
	case cfg.Share:
		make = createShared
	case here:
		make = createHere
	}
	temp, r, err := make(ctx, cfg, dir, base)
	if err != nil {
		return r, err
	}
	defer os.Remove(temp) // when it still has that name
	cfg.step("verified")
	if err := publish(temp, path, cfg.Overwrite); err != nil {
		return r, err
	}
	cfg.step("published")
	r.File = path
	return r, file.SyncDir(filepath.Dir(path))
}

// createHere makes the backup next to its final name.
func createHere(ctx context.Context, cfg Config, dir, base string) (temp string, r Result, err error) {
	f, err := os.CreateTemp(dir, base+partial+"*")
	if err != nil {
		return "", r, err
	}
	p, err := newPacking(cfg, nil)
	if err == nil {
		r, err = p.run(ctx, f)
	}
	return keepFile(f, r, err)
}

// keepFile closes a file that was written, and removes it after an error.
func keepFile(f *os.File, r Result, err error) (string, Result, error) {
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), r, err
}

// createAway makes the backup in the data directory and copies it, because the store can be let go of earlier so.
func createAway(ctx context.Context, cfg Config, dir, base string) (temp string, r Result, err error) {
	err = spooled(cfg, func(spool *os.File, cfg Config) error {
		p, err := newPacking(cfg, nil)
		if err != nil {
			return err
		}
		r, err = p.run(ctx, spool)
		return err
	}, func(spool *os.File) error {
		f, err := os.CreateTemp(dir, base+partial+"*")
		if err != nil {
			return err
		}
		temp, r, err = keepFile(f, r, copySynced(ctx, cfg, f, spool))
		if err != nil {
			return err
		}
		cfg.step("copied away")
		switch got, err := hashFile(ctx, temp); {
		case err != nil:
			return errors.Join(err, os.Remove(temp))
		case got != r.SHA256:
			return errors.Join(errLying(""), os.Remove(temp))
		}
		return nil
	})
	return temp, r, err
}

// spooled makes a file in the data directory, has it used, and removes it.
func spooled(cfg Config, write func(spool *os.File, cfg Config) error, use func(spool *os.File) error) (err error) {
	path := filepath.Join(cfg.dataDir(), spoolName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		f.Close()
		os.Remove(path) // what cannot be removed now, the next Create removes
	}()
	cfg.MinFreePercent, cfg.reserve = 0, spoolReserve
	if err := write(f, cfg); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return use(f)
}

// copySynced copies a file to another disk.
func copySynced(ctx context.Context, cfg Config, to, from *os.File) error {
	w := &measured{w: to, dir: filepath.Dir(to.Name()), percent: cfg.MinFreePercent}
	for {
		n, err := io.CopyN(&watched{ctx: ctx, w: w, step: func(int) {}}, struct{ io.Reader }{from}, syncEvery)
		if err != nil && err != io.EOF {
			return err
		}
		if err := syncData(to); err != nil || n < syncEvery {
			return err
		}
	}
}

// Write makes a backup that goes to w when it is finished and verified, a terminal's pipe for instance. It is in the
// data directory until then. When Write fails, what was written lacks its end, and is refused by Verify and Restore.
// Result.File is empty; Share is not used. Errors: w's own, otherwise as Create.
func Write(ctx context.Context, cfg Config, w io.Writer) (r Result, err error) {
	const op = "back up"
	cfg.fill()
	if err := cfg.checkPassphrase(); err != nil {
		return r, during(op, err)
	}
	unlock, err := lockWork(cfg.dataDir())
	if err != nil {
		return r, during(op, err)
	}
	defer unlock()
	if err := file.Remove(filepath.Join(cfg.dataDir(), spoolName)); err != nil { // left by a killed process
		return r, during(op, err)
	}
	err = spooled(cfg, func(spool *os.File, cfg Config) error {
		p, err := newPacking(cfg, nil)
		if err != nil {
			return err
		}
		r, err = p.run(ctx, spool)
		return err
	}, func(spool *os.File) error {
		cfg.step("verified")
		_, err := io.CopyBuffer(&watched{ctx: ctx, w: w, step: func(int) {}}, struct{ io.Reader }{spool}, make([]byte, 256<<10))
		return err
	})
	return r, during(op, err)
}

func (cfg *Config) fill() {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Progress == nil {
		cfg.Progress = func(int64, int64) {}
	}
	if cfg.Usable == nil {
		cfg.Usable = func([]byte) error { return nil }
	}
	if cfg.step == nil {
		cfg.step = failpoint.At
	}
}

// checkPassphrase refuses to encrypt with a passphrase that protects nothing. Error: ErrWeak.
func (cfg *Config) checkPassphrase() error {
	if cfg.Passphrase == "" || cfg.AllowWeak && CheckPassphrase(cfg.Passphrase) == nil {
		return nil
	}
	if err := CheckNewPassphrase(cfg.Passphrase); err != nil {
		return &Error{Kind: ErrWeak, Err: fmt.Errorf("it %w", err)}
	}
	return nil
}

func (cfg *Config) dataDir() string { return filepath.Dir(cfg.Store.Path()) }

const (
	spoolName = storeName + ".backup" // a backup on its way to another disk, in the data directory
	lockName  = "backup.lock"         // held during a backup or restore
	partial   = ".partial-"           // marks the name of a backup that is being written

	// spoolReserve is how many bytes such a file must leave free, because the service writes to the same disk.
	spoolReserve = 64 << 20
)

// lockWait bridges the moment in which a process that has just started still has its parent's files open.
const lockWait = 300 * time.Millisecond

// lockWork excludes other backups and restores of a data directory. Error: ErrBusy.
func lockWork(dir string) (unlock func() error, err error) {
	unlock, err = kv.LockFile(filepath.Join(dir, lockName), lockWait)
	if errors.Is(err, kv.ErrLocked) {
		return nil, &Error{Kind: ErrBusy, Err: errors.New("try again when it has ended")}
	}
	return unlock, err
}

// leftBy returns a function that reports whether a file was left by a killed process making a backup of this name, or
// of a name that the service gives: those contain the time, and are never made again.
func leftBy(base string) func(name string) bool {
	return func(name string) bool {
		of, _, found := strings.Cut(name, partial)
		return found && (of == base || isName(of) && originOf(of) != Uploaded)
	}
}

// removePartials removes unfinished backups of killed processes. Files younger than a day stay, since another machine
// may be writing to the same share.
func removePartials(dir string, meant func(name string) bool, now time.Time) error {
	entries, err := os.ReadDir(filepath.Clean(dir)) // "" is the present directory
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !meant(entry.Name()) {
			continue
		}
		info, err := entry.Info()
		if err == nil && now.Sub(info.ModTime()) > 24*time.Hour {
			err = os.Remove(filepath.Join(dir, entry.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// readFiles reads the settings and the other files that may be included, and begins the manifest.
func (p *packing) readFiles() (files [][]byte, err error) {
	c := &p.contents
	c.Entries = []Entry{{Name: storeName, Kind: KindStore}}
	add := func(name string, kind Kind, data []byte) {
		files = append(files, data)
		c.Entries = append(c.Entries, Entry{Name: name, Kind: kind, Size: int64(len(data)), SHA256: sum256hex(data)})
	}
	if text := p.settings; text != nil {
		kind, removed := KindSettings, []string(nil)
		if !p.header.Encrypted {
			plain := text
			if text, removed = p.inTheClear(text); !bytes.Equal(text, plain) {
				kind = KindRedacted
			}
		}
		for _, setting := range removed {
			c.Omitted = append(c.Omitted, settingsName+":"+setting)
		}
		if text == nil {
			c.Omitted = append(c.Omitted, settingsName)
		} else {
			add(settingsName, kind, text)
		}
	}
	for _, file := range p.cfg.Files {
		data, omitted, err := p.readFile(file)
		switch {
		case err != nil:
			return nil, err
		case omitted != "":
			c.Omitted = append(c.Omitted, omitted)
		default:
			add(file.Name, KindFile, data)
		}
	}
	return files, nil
}

// readFile reads another file if it may be included. omitted is its entry in the manifest if it is left out.
func (p *packing) readFile(file File) (data []byte, omitted string, err error) {
	switch {
	case file.From != "":
		data, omitted = p.readNamed(file)
		return data, omitted, nil
	case file.Secret && !p.header.Encrypted:
		return nil, file.Name, nil
	}
	data, err = os.ReadFile(filepath.Join(p.cfg.dataDir(), filepath.FromSlash(file.Name)))
	if errors.Is(err, os.ErrNotExist) {
		return nil, file.Name, nil
	}
	if len(data) > maxContent {
		err = fmt.Errorf("%s has %d bytes, more than the %d that a backup can hold", file.Name, len(data), maxContent)
	}
	return data, "", err
}

// hashFile returns the SHA-256 of a file.
func hashFile(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.CopyBuffer(&watched{ctx: ctx, w: sum, step: func(int) {}}, struct{ io.Reader }{f}, make([]byte, 256<<10)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
