package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"
	"golang.org/x/sync/errgroup"

	"opsmon/app/failpoint"
	"opsmon/kv"
)

// Config says what to back up and how.
type Config struct {
	Store      *kv.Store // open; its directory is the data directory, where app.yaml is
	Version    string    // of the program
	Passphrase string    // "" = not encrypted: no secrets go in
	Overwrite  bool      // replace a file that has the name already

	Files          []File   // of the data directory, besides the store and app.yaml
	SecretSettings []string // settings of app.yaml that hold a secret, such as smtp.password

	MinFreePercent int                     // of the backup's disk that must stay free; 0 = no limit
	Progress       func(done, total int64) // called now and then, by one goroutine at a time; units have no meaning. May be nil
	Clock          func() time.Time        // nil = time.Now

	step       func(name string) // called between the steps, so that a test can stop there
	workFactor int               // of scrypt, log2; 0 = age's own
}

// File is a further file to keep.
type File struct {
	Name   string // path in the data directory, with slashes: tls/ca.key
	Secret bool   // such as a private key: left out of what is not encrypted
}

// Result is a backup that was made (decisions.md section 7).
type Result struct {
	File     string   `json:"file"`
	Bytes    int64    `json:"bytes"`
	SHA256   string   `json:"sha256"` // of the file, in hexadecimal
	Manifest Manifest `json:"-"`
}

// Create makes a backup at path. It is written beside, synced, read back and compared, its store opened and checked, and
// only then given its name. Nothing is left behind when it fails; a killed process can leave files whose names contain
// ".partial-", and app.db.backup in the data directory, which the next Create removes.
//
// Errors: ErrExists without Overwrite; ErrBusy; ErrNoRoom; kv.ErrDamaged when the store itself is; ErrDamaged when the disk
// gives back something else than was written; those of the disk, which name the file; ctx's own.
func Create(ctx context.Context, cfg Config, path string) (Result, error) {
	r, err := create(ctx, cfg, path)
	return r, during("back up to "+path, err)
}

func create(ctx context.Context, cfg Config, path string) (r Result, err error) {
	cfg.fill()
	if _, err := os.Lstat(path); err == nil && !cfg.Overwrite {
		return r, &Error{Kind: ErrExists, Err: errors.New("choose another name, or have it replaced")}
	}
	unlock, err := lockWork(cfg.dataDir())
	if err != nil {
		return r, err
	}
	defer unlock()
	dir, base := filepath.Split(path)
	mine := func(name string) bool { return strings.HasPrefix(name, base+partial) }
	if err := removePartials(dir, mine, cfg.Clock()); err != nil {
		return r, err
	}
	c, err := takeCopy(ctx, cfg)
	defer c.remove()
	if err != nil {
		return r, err
	}
	f, err := os.CreateTemp(filepath.Clean(dir+"."), base+partial+"*")
	if err != nil {
		return r, err
	}
	temp := f.Name()
	defer os.Remove(temp) // when it still has that name
	cfg.step("named")
	if r, err = c.pack(ctx, f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return r, err
	}
	cfg.step("synced")
	if err := c.readBack(ctx, temp, r); err != nil {
		return r, err
	}
	cfg.step("verified")
	if err := publish(temp, path, cfg.Overwrite); err != nil {
		return r, err
	}
	cfg.step("published")
	r.File = path
	return r, syncDir(filepath.Dir(path))
}

// Write makes a backup that goes to w as it is made, a terminal's pipe for instance. The store is checked before the
// first byte is written. When Write fails, what was written lacks its end, and is refused by Verify and Restore.
// Result.File is empty. Errors: w's own, otherwise as Create.
func Write(ctx context.Context, cfg Config, w io.Writer) (r Result, err error) {
	const op = "back up"
	cfg.fill()
	cfg.MinFreePercent = 0 // nobody knows where it goes
	unlock, err := lockWork(cfg.dataDir())
	if err != nil {
		return r, during(op, err)
	}
	defer unlock()
	c, err := takeCopy(ctx, cfg)
	defer c.remove()
	if err == nil {
		r, err = c.pack(ctx, w)
	}
	return r, during(op, err)
}

func (cfg *Config) fill() {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Progress == nil {
		cfg.Progress = func(int64, int64) {}
	}
	if cfg.step == nil {
		cfg.step = failpoint.At
	}
}

func (cfg *Config) dataDir() string { return filepath.Dir(cfg.Store.Path()) }

const (
	copyName = storeName + ".backup" // the copy of the store, in the data directory
	lockName = "backup.lock"         // held by who backs up or restores
	partial  = ".partial-"           // marks the name of a backup that is being written

	// copyReserve is how many bytes the copy of the store must leave free, because the service writes to the same disk.
	copyReserve = 64 << 20
)

// lockWork keeps two backups, or a backup and a restore, of one data directory apart. Error: ErrBusy.
func lockWork(dir string) (unlock func() error, err error) {
	unlock, err = kv.LockFile(filepath.Join(dir, lockName), 0)
	if errors.Is(err, kv.ErrLocked) {
		return nil, &Error{Kind: ErrBusy, Err: errors.New("try again when it has ended")}
	}
	return unlock, err
}

// removePartials removes what killed processes left of the backups that are meant. Another machine may be writing to the
// same share, so what is younger than a day stays.
func removePartials(dir string, meant func(name string) bool, now time.Time) error {
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
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

// source is what goes into a backup: a copy of the store that nobody writes to, and the other files' bytes.
type source struct {
	cfg      Config
	path     string // of the copy of the store
	manifest Manifest
	data     map[string][]byte // by name; not the store
	progress progress
}

// takeCopy copies the store and reads the other files. The source must be removed, also after an error.
func takeCopy(ctx context.Context, cfg Config) (c *source, err error) {
	c = &source{cfg: cfg, path: filepath.Join(cfg.dataDir(), copyName), data: map[string][]byte{}}
	c.remove() // left by a killed process
	size := cfg.Store.Size()
	c.progress = progress{report: cfg.Progress, total: 4 * size} // copied, hashed, packed, read back
	if err := needRoom(cfg.dataDir(), size+copyReserve, cfg.MinFreePercent); err != nil {
		return c, err
	}
	f, err := os.OpenFile(c.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return c, err
	}
	had, err := cfg.Store.Snapshot(&watched{ctx: ctx, w: f, step: c.progress.add})
	if err = errors.Join(err, f.Close()); err != nil {
		return c, err
	}
	cfg.step("copied")
	entry := Entry{Name: storeName, Kind: KindStore, Size: had.Size, Counts: had.Counts}
	var has kv.Contents
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() (err error) {
		entry.SHA256, err = hashFile(ctx, c.path, c.progress.add)
		return err
	})
	work.Go(func() (err error) {
		has, err = kv.CheckFile(c.path)
		return err
	})
	if err := work.Wait(); err != nil {
		return c, fmt.Errorf("the store: %w", err)
	}
	if err := sameContents(had, has); err != nil {
		return c, fmt.Errorf("the copy of the store: %w", err)
	}
	cfg.step("checked")
	c.manifest = Manifest{
		Header:  Header{Format: format, App: cfg.Version, Store: had.Version, MadeAt: cfg.Clock().UTC().Truncate(time.Second), Encrypted: cfg.Passphrase != ""},
		Entries: []Entry{entry},
	}
	return c, c.readFiles()
}

// sameContents compares what a store held with what its copy holds.
func sameContents(had, has kv.Contents) error {
	if had.Version != has.Version {
		return fmt.Errorf("it has version %d where %d is expected", has.Version, had.Version)
	}
	return sameCounts(had.Counts, has.Counts)
}

func sameCounts(want, got map[string]int) error {
	for name, n := range want {
		if got[name] != n {
			return fmt.Errorf("bucket %s holds %d keys where %d are expected", name, got[name], n)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("it holds %d buckets where %d are expected", len(got), len(want))
	}
	return nil
}

// readFiles reads the settings and the other files, as far as they may be kept.
func (c *source) readFiles() error {
	dir, encrypted := c.cfg.dataDir(), c.cfg.Passphrase != ""
	text, err := os.ReadFile(filepath.Join(dir, settingsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		kind, removed := KindSettings, []string(nil)
		if !encrypted {
			plain := text
			if text, removed = redact(text, c.cfg.SecretSettings); !bytes.Equal(text, plain) {
				kind = KindRedacted
			}
		}
		for _, setting := range removed {
			c.manifest.Omitted = append(c.manifest.Omitted, settingsName+":"+setting)
		}
		if text == nil {
			c.manifest.Omitted = append(c.manifest.Omitted, settingsName)
		} else {
			c.add(settingsName, kind, text)
		}
	}
	for _, file := range c.cfg.Files {
		if file.Secret && !encrypted {
			c.manifest.Omitted = append(c.manifest.Omitted, file.Name)
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file.Name)))
		if err != nil {
			return err
		}
		c.add(file.Name, KindFile, data)
	}
	return nil
}

func (c *source) add(name string, kind Kind, data []byte) {
	sum := sha256.Sum256(data)
	c.data[name] = data
	c.manifest.Entries = append(c.manifest.Entries, Entry{Name: name, Kind: kind, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])})
}

func (c *source) remove() {
	os.Remove(c.path) // what cannot be removed now is removed by the next Create
}

// pack writes the backup.
func (c *source) pack(ctx context.Context, to io.Writer) (r Result, err error) {
	w := &measured{w: to, sum: sha256.New()}
	if f, ok := to.(*os.File); ok {
		w.dir, w.percent = filepath.Dir(f.Name()), c.cfg.MinFreePercent
	}
	header := storedHeader{Header: c.manifest.Header}
	var body io.Writer = w
	finish := func() error { return nil }
	if c.manifest.Encrypted {
		out := &redirected{}
		sealed, err := c.encrypt(out, &header)
		if err != nil {
			return r, fmt.Errorf("encrypt: %w", err)
		}
		out.w, body, finish = w, sealed, sealed.Close
	}
	raw, err := encodeHeader(header)
	if err != nil {
		return r, err
	}
	if _, err := w.Write(raw); err != nil {
		return r, err
	}
	p, err := newPacker(body, raw)
	if err != nil {
		return r, err
	}
	if err := c.sections(ctx, p); err != nil {
		return r, err
	}
	if err := finish(); err != nil {
		return r, err
	}
	return Result{Bytes: w.bytes, SHA256: hex.EncodeToString(w.sum.Sum(nil)), Manifest: c.manifest}, nil
}

// encrypt opens an age file that is written to out, whose own header goes into the backup's.
func (c *source) encrypt(out *redirected, header *storedHeader) (io.WriteCloser, error) {
	to, err := age.NewScryptRecipient(c.cfg.Passphrase)
	if err != nil {
		return nil, err
	}
	if c.cfg.workFactor > 0 {
		to.SetWorkFactor(c.cfg.workFactor)
	}
	var front bytes.Buffer
	out.w = &front
	sealed, err := age.Encrypt(out, to)
	header.Age = front.Bytes()
	return sealed, err
}

func (c *source) sections(ctx context.Context, p *packer) error {
	text, err := json.Marshal(contents{c.manifest.Entries, c.manifest.Omitted})
	if err != nil {
		return err
	}
	if len(text) > maxBlock {
		return fmt.Errorf("%s has %d bytes, more than the %d that it may", partManifest, len(text), maxBlock)
	}
	if err := errors.Join(p.block(text), p.end()); err != nil {
		return err
	}
	c.cfg.step("manifest")
	for _, e := range c.manifest.Entries {
		if err := c.entry(ctx, p, e); err != nil {
			return err
		}
		c.cfg.step("packed " + e.Name)
	}
	return p.end()
}

func (c *source) entry(ctx context.Context, p *packer, e Entry) error {
	if e.Kind != KindStore {
		return p.entry(ctx, bytes.NewReader(c.data[e.Name]), func(int) {})
	}
	f, err := os.Open(c.path)
	if err != nil {
		return err
	}
	defer f.Close()
	return p.entry(ctx, f, c.progress.add)
}

// readBack compares what is on the disk with what was written, all the way to the content.
func (c *source) readBack(ctx context.Context, path string, r Result) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := &measured{w: io.Discard, sum: sha256.New()}
	m, err := read(ctx, io.TeeReader(f, w), c.cfg.Passphrase, func(e Entry) (io.WriteCloser, error) { return discard{}, nil }, c.progress.add)
	if err != nil {
		return fmt.Errorf("read what was written: %w", err)
	}
	if w.bytes != r.Bytes || hex.EncodeToString(w.sum.Sum(nil)) != r.SHA256 {
		return &Error{Kind: ErrDamaged, Err: errors.New("the disk gives back something else than was written to it")}
	}
	for i, e := range m.Entries {
		if want := c.manifest.Entries[i]; e.Name != want.Name || e.SHA256 != want.SHA256 {
			return damaged(e.Name, "the disk gives back something else than was written to it")
		}
	}
	return nil
}

// hashFile gives the SHA-256 of a file.
func hashFile(ctx context.Context, path string, step func(n int)) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.CopyBuffer(&watched{ctx: ctx, w: sum, step: step}, struct{ io.Reader }{f}, make([]byte, blockSize)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
