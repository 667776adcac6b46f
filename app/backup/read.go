package backup

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"filippo.io/age"

	"opsmon/kv"
)

// maxWorkFactor is age's own work factor: a backup never asks for more, and one that does would take the machine's memory.
const maxWorkFactor = 18

// opened is a backup whose manifest has been read.
type opened struct {
	manifest Manifest
	sections *unpacker // at the first entry; nil when the passphrase is missing
}

// open reads the header and, when it can be read, the manifest. A missing passphrase is no failure: the manifest then
// has a header alone. Errors: ErrDamaged, ErrNewer, ErrPassphrase.
func open(r io.Reader, passphrase string) (*opened, error) {
	h, raw, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	o := &opened{manifest: Manifest{Header: h.Header}}
	body := io.Reader(bufio.NewReaderSize(r, 256<<10))
	if h.Encrypted {
		if passphrase == "" {
			return o, nil
		}
		if body, err = decrypt(body, h.Age, passphrase); err != nil {
			return nil, err
		}
	}
	if o.sections, err = newUnpacker(body, raw); err != nil {
		return nil, err
	}
	text, err := o.sections.manifest()
	if err != nil {
		return nil, failed(partManifest, err)
	}
	o.manifest, err = decodeManifest(text, h.Header)
	return o, err
}

// decrypt opens the age file made of a header and a body.
func decrypt(body io.Reader, front []byte, passphrase string) (io.Reader, error) {
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, err
	}
	identity.SetMaxWorkFactor(maxWorkFactor)
	body, err = age.Decrypt(io.MultiReader(bytes.NewReader(front), body), identity)
	switch {
	case errors.Is(err, age.ErrIncorrectIdentity):
		return nil, &Error{Kind: ErrPassphrase}
	case err != nil:
		return nil, failed(partHeader, err)
	}
	return body, nil
}

// read reads a backup to its end, with every checksum compared. to gives the writer of an entry's content, closed when
// the entry is whole or has failed; step is called with the number of bytes of each piece of the entries. Errors:
// ErrDamaged, ErrNewer, ErrPassphrase, and to's.
func read(ctx context.Context, r io.Reader, passphrase string, to func(Entry) (io.WriteCloser, error), step func(n int)) (Manifest, error) {
	o, err := open(r, passphrase)
	if err != nil {
		return Manifest{}, err
	}
	if o.sections == nil {
		return Manifest{}, &Error{Kind: ErrPassphrase, Err: errors.New("it is encrypted and no passphrase was given")}
	}
	return o.entries(ctx, to, step)
}

// entries reads all that follows the manifest, as read does.
func (o *opened) entries(ctx context.Context, to func(Entry) (io.WriteCloser, error), step func(n int)) (Manifest, error) {
	for _, e := range o.manifest.Entries {
		w, err := to(e)
		if err != nil {
			return Manifest{}, err
		}
		err = o.sections.entry(ctx, e, w, step)
		if closed := w.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return Manifest{}, failed(e.Name, err)
		}
	}
	if err := o.sections.finish(); err != nil {
		return Manifest{}, failed(partEnd, err)
	}
	return o.manifest, nil
}

// Inspect reads what a backup says of itself, without looking at its entries. Without the passphrase of an encrypted one
// it is the header alone, and Entries is nil. Errors: ErrDamaged, ErrNewer, ErrPassphrase for a wrong one.
func Inspect(path, passphrase string) (Manifest, error) {
	m, err := inspect(path, passphrase)
	return m, during("inspect "+path, err)
}

func inspect(path, passphrase string) (Manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return Manifest{}, err
	}
	defer f.Close()
	o, err := open(f, passphrase)
	if err != nil {
		return Manifest{}, err
	}
	return o.manifest, nil
}

// VerifyConfig says which backup to verify.
type VerifyConfig struct {
	Path       string
	Passphrase string                  // of an encrypted one
	Scratch    string                  // a directory with room for the store; "" = the system's for temporary files
	Progress   func(done, total int64) // as in Config. May be nil
}

// VerifyPrefix is how the names of the directories begin that Verify makes in its scratch directory. A killed process
// leaves one behind.
const VerifyPrefix = "app-verify-"

// Verify reads every byte of a backup, and unpacks, opens, checks and counts the store in it. It needs nothing but the
// file. The store is there in the clear meanwhile, readable for the caller's user alone. Errors: ErrDamaged with the
// part; ErrNewer; ErrPassphrase; those of the disk; ctx's own.
func Verify(ctx context.Context, cfg VerifyConfig) (Manifest, error) {
	m, err := verify(ctx, cfg)
	return m, during("verify "+cfg.Path, err)
}

func verify(ctx context.Context, cfg VerifyConfig) (m Manifest, err error) {
	dir, err := os.MkdirTemp(cfg.Scratch, VerifyPrefix)
	if err != nil {
		return m, err
	}
	path := filepath.Join(dir, storeName)
	defer func() { err = errors.Join(err, remove(path), remove(dir)) }()
	u := unpacking{path: cfg.Path, passphrase: cfg.Passphrase, progress: cfg.Progress}
	return u.run(ctx, func(e Entry) (io.WriteCloser, error) {
		if e.Kind != KindStore {
			return discard{}, nil
		}
		return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	}, path)
}

// unpacking is one reading of a backup with a check of its store.
type unpacking struct {
	path, passphrase string
	progress         func(done, total int64)
}

// run reads the backup to its end and checks the store, which to has put at the path given.
func (u unpacking) run(ctx context.Context, to func(Entry) (io.WriteCloser, error), store string) (m Manifest, err error) {
	f, err := os.Open(u.path)
	if err != nil {
		return m, err
	}
	defer f.Close()
	p := progress{report: u.progress}
	if p.report == nil {
		p.report = func(int64, int64) {}
	}
	m, err = read(ctx, f, u.passphrase, func(e Entry) (io.WriteCloser, error) {
		p.total += e.Size
		return to(e)
	}, p.add)
	if err != nil {
		return m, err
	}
	return m, checkStore(store, m)
}

// checkStore compares an unpacked store with the manifest.
func checkStore(path string, m Manifest) error {
	has, err := kv.CheckFile(path)
	if err != nil {
		return failed(storeName, err)
	}
	if err := sameContents(kv.Contents{Version: m.Store, Counts: m.Entries[0].Counts}, has); err != nil {
		return failed(storeName, err)
	}
	return nil
}
