package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"opsmon/app/failpoint"
)

// ReceiveConfig says where a backup that comes from somewhere else is put.
type ReceiveConfig struct {
	Path           string           // of the file to make
	Overwrite      bool             // replace a file that has the name already
	Passphrase     string           // of an encrypted one; without it only the header can be checked
	MinFreePercent int              // as in Config
	Clock          func() time.Time // nil = time.Now
}

// Receive takes a backup that Write makes elsewhere, or that was made before, to a file: it is written beside, synced,
// read back with every checksum compared, and only then given its name. Nothing is left behind when it fails. An encrypted
// backup whose passphrase is not given is held against what came, byte by byte, and its header is checked.
// Errors: r's own; ErrExists without Overwrite; ErrDamaged; ErrNewer; ErrPassphrase; ErrNoRoom; those of the disk.
func Receive(ctx context.Context, cfg ReceiveConfig, from io.Reader) (Result, error) {
	r, err := receive(ctx, cfg, from)
	return r, during("write "+cfg.Path, err)
}

func receive(ctx context.Context, cfg ReceiveConfig, from io.Reader) (r Result, err error) {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if exists(cfg.Path) && !cfg.Overwrite {
		return r, &Error{Kind: ErrExists, Err: errors.New("choose another name, or have it replaced")}
	}
	dir, base := filepath.Split(cfg.Path)
	mine := func(name string) bool { return strings.HasPrefix(name, base+partial) }
	if err := removePartials(dir, mine, cfg.Clock()); err != nil {
		return r, err
	}
	f, err := os.CreateTemp(filepath.Clean(dir+"."), base+partial+"*")
	if err != nil {
		return r, err
	}
	temp := f.Name()
	defer os.Remove(temp) // when it still has that name
	w := &measured{w: f, sum: sha256.New(), dir: filepath.Dir(temp), percent: cfg.MinFreePercent}
	_, err = io.CopyBuffer(&watched{ctx: ctx, w: w, step: func(int) {}}, struct{ io.Reader }{from}, make([]byte, 256<<10))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return r, err
	}
	r = Result{Bytes: w.bytes, SHA256: hex.EncodeToString(w.sum.Sum(nil))}
	failpoint.At("received")
	if r.Manifest, err = readReceived(ctx, temp, cfg.Passphrase, r); err != nil {
		return r, err
	}
	failpoint.At("read back")
	if err := publish(temp, cfg.Path, cfg.Overwrite); err != nil {
		return r, err
	}
	failpoint.At("published")
	r.File = cfg.Path
	return r, syncDir(filepath.Dir(cfg.Path))
}

// readReceived reads what is on the disk as far as it can be, and holds it against what came.
func readReceived(ctx context.Context, path, passphrase string, r Result) (m Manifest, err error) {
	f, err := os.Open(path)
	if err != nil {
		return m, err
	}
	defer f.Close()
	w := &measured{w: io.Discard, sum: sha256.New()}
	from := io.TeeReader(f, w)
	if o, err := open(from, passphrase); err != nil {
		return m, err
	} else if o.sections == nil {
		m = o.manifest
	} else if m, err = o.entries(ctx, func(Entry) (io.WriteCloser, error) { return discard{}, nil }, func(int) {}); err != nil {
		return m, err
	}
	if _, err := io.CopyBuffer(&watched{ctx: ctx, w: io.Discard, step: func(int) {}}, struct{ io.Reader }{from}, make([]byte, 256<<10)); err != nil {
		return m, err
	}
	if w.bytes != r.Bytes || hex.EncodeToString(w.sum.Sum(nil)) != r.SHA256 {
		return m, &Error{Kind: ErrDamaged, Err: errors.New("the disk gives back something else than was written to it")}
	}
	return m, nil
}
