package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"opsmon/app/host/failpoint"
	"opsmon/kv/file"
)

// ReceiveConfig configures Receive.
type ReceiveConfig struct {
	Path           string           // of the file to make
	Overwrite      bool             // replace a file that has the name already
	Passphrase     string           // of an encrypted one; without it only the checksums can be compared
	MinFreePercent int              // as in Config
	Clock          func() time.Time // nil = time.Now
}

// Receive stores a backup that was made elsewhere. It writes a temporary file, syncs it, reads it back, unpacks and
// checks it, and only then renames it. A failure leaves nothing behind. Without the passphrase of an encrypted backup
// only the checksums are compared. Errors: r's; ErrExists without Overwrite; ErrDamaged; ErrNewer; ErrPassphrase;
// ErrNoRoom; the disk's.
func Receive(ctx context.Context, cfg ReceiveConfig, from io.Reader) (Result, error) {
	r, err := receive(ctx, cfg, from)
	return r, during("write "+cfg.Path, err)
}

func receive(ctx context.Context, cfg ReceiveConfig, from io.Reader) (r Result, err error) {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if file.Exists(cfg.Path) && !cfg.Overwrite {
		return r, &Error{Kind: ErrExists, Err: errors.New("choose another name, or have it replaced")}
	}
	dir, base := filepath.Split(cfg.Path)
	if err := removePartials(dir, leftBy(base), cfg.Clock()); err != nil {
		return r, err
	}
	if err := sweepAbandoned(dir); err != nil {
		return r, err
	}
	f, release, err := createHeld(filepath.Clean(dir+"."), base)
	if err != nil {
		return r, err
	}
	defer release()
	temp := f.Name()
	defer os.Remove(temp) // when it still has that name
	sum := sha256.New()
	w := &measured{w: io.MultiWriter(f, sum), dir: filepath.Dir(temp), percent: cfg.MinFreePercent}
	_, err = io.CopyBuffer(&watched{ctx: ctx, w: w, step: func(int) {}}, struct{ io.Reader }{from}, make([]byte, 256<<10))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return r, err
	}
	r = Result{Bytes: w.bytes, SHA256: hex.EncodeToString(sum.Sum(nil))}
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
	return r, file.SyncDir(filepath.Dir(cfg.Path))
}

// Spool writes an uploaded backup to a new file in the data directory, whose name starts with prefix, for Restore to
// read it. size is the number of bytes to come, negative if unknown. The space that the service needs on the same disk
// stays free. A failure leaves nothing behind. Errors: from's; ErrNoRoom; the disk's; ctx's.
func Spool(ctx context.Context, dir, prefix string, size int64, from io.Reader) (path string, err error) {
	path, err = spool(ctx, dir, prefix, size, from)
	return path, during("receive a backup", err)
}

func spool(ctx context.Context, dir, prefix string, size int64, from io.Reader) (path string, err error) {
	if err := needRoom(dir, max(size, 0)+spoolReserve, 0); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, prefix+"*")
	if err != nil {
		return "", err
	}
	w := &measured{w: f, dir: dir, reserve: spoolReserve}
	_, err = io.CopyBuffer(&watched{ctx: ctx, w: w, step: func(int) {}}, struct{ io.Reader }{from}, make([]byte, 256<<10))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// readReceived reads the stored file and compares it with what was received.
func readReceived(ctx context.Context, path, passphrase string, r Result) (m Manifest, err error) {
	o, f, err := openFile(path, passphrase)
	if err != nil {
		return m, err
	}
	defer f.Close()
	if err := o.read(ctx, checked, func(int) {}); err != nil {
		return m, err
	}
	switch got, err := hashFile(ctx, path); {
	case err != nil:
		return m, err
	case got != r.SHA256:
		return m, errLying("")
	}
	return o.manifest, nil
}
