package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"opsmon/kv"
	"opsmon/kv/file"
)

const (
	partsDir = "parts" // in a folder of backups: their shared parts

	// partLeast is the minimum size of a part to be stored in a file of its own, in bytes.
	partLeast = 64 << 10
)

func partPath(dir, sum string) string { return filepath.Join(dir, partsDir, sum) }

// pool is a folder of backups as far as a new one shares parts with those that are there.
type pool struct {
	dir   string
	key   *age.X25519Identity // of encrypted parts; nil = no key to take over
	known map[string]part     // by SHA-256 before encryption
}

// openPool looks which parts are there. Those whose SHA-256 is in damaged are not.
func openPool(dir, passphrase string, damaged map[string]bool) (*pool, error) {
	f := &pool{dir: dir, known: map[string]part{}}
	entries, err := os.ReadDir(filepath.Join(dir, partsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	there := map[string]part{}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && isPartName(entry.Name()) && info.Mode().IsRegular() && !damaged[entry.Name()] {
			there[entry.Name()] = part{Size: info.Size(), SHA256: entry.Name(), Beside: true}
		}
	}
	if passphrase == "" {
		f.known = there
		return f, nil
	}
	// Only a manifest tells what an encrypted part holds.
	list, err := scheduled(dir)
	if err != nil {
		return nil, err
	}
	for _, b := range list {
		o, file, err := openFile(filepath.Join(dir, b.Name), passphrase)
		if err != nil {
			if errors.Is(err, ErrDamaged) || errors.Is(err, ErrNewer) {
				continue
			}
			break // another passphrase: a new key
		}
		file.Close()
		if o.key == nil {
			continue
		}
		f.key = o.key
		for i, p := range o.table.Parts {
			if have, ok := there[p.SHA256]; ok && p.Beside && have.Size == p.Size {
				f.known[o.plain[i]] = p
			}
		}
		break
	}
	return f, nil
}

// isPartName reports whether a file in the directory of parts has the name of one.
func isPartName(name string) bool {
	return len(name) == 2*digestSize && strings.Trim(name, "0123456789abcdef") == ""
}

// createShared makes a backup in a folder where backups share parts. A damaged part of an earlier backup is written
// again.
func createShared(ctx context.Context, cfg Config, dir, base string) (temp string, r Result, err error) {
	bad := map[string]bool{}
	for {
		with, err := openPool(dir, cfg.Passphrase, bad)
		if err != nil {
			return "", r, err
		}
		temp, r, err := shareOnce(ctx, cfg, with, dir, base)
		if err == nil {
			return temp, r, nil
		}
		var e *Error
		if !errors.As(err, &e) || e.Kind != ErrDamaged {
			return "", r, err
		}
		sum, beside := strings.CutPrefix(e.Part, partsDir+"/")
		if !beside || bad[sum] || !isKnown(with, sum) {
			return "", r, err
		}
		found, err := damagedParts(ctx, with)
		if err != nil {
			return "", r, err
		}
		bad[sum] = true
		for _, sum := range found {
			bad[sum] = true
		}
	}
}

func isKnown(with *pool, sum string) bool {
	for _, p := range with.known {
		if p.SHA256 == sum {
			return true
		}
	}
	return false
}

// damagedParts reads all parts that were to be shared.
func damagedParts(ctx context.Context, with *pool) (bad []string, err error) {
	for _, p := range with.known {
		switch sum, err := hashFile(ctx, partPath(with.dir, p.SHA256)); {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil || sum != p.SHA256:
			bad = append(bad, p.SHA256)
		}
	}
	return bad, nil
}

// shareOnce makes the parts that the folder lacks, and the file that refers to all of them.
func shareOnce(ctx context.Context, cfg Config, with *pool, dir, base string) (temp string, r Result, err error) {
	p, err := newPacking(cfg, with)
	if err != nil {
		return "", r, err
	}
	err = spooled(cfg, func(spool *os.File, cfg Config) error {
		p.cfg = cfg
		_, err := p.run(ctx, spool)
		return err
	}, func(spool *os.File) error {
		f, err := os.CreateTemp(dir, base+partial+"*")
		if err != nil {
			return err
		}
		s := sharing{p: p, w: &measured{w: f, dir: dir, percent: cfg.MinFreePercent}, dir: dir}
		s.sum = newSummed(s.w)
		err = s.parts(ctx, spool)
		if err == nil {
			err = s.tail()
		}
		if err == nil {
			err = f.Sync()
		}
		if temp, r, err = keepFile(f, Result{Bytes: s.w.bytes + s.shared}, err); err != nil {
			return err
		}
		cfg.step("written")
		if r.Manifest, err = readAll(ctx, temp, cfg.Passphrase, checked, nil); err == nil {
			r.SHA256, err = hashFile(ctx, temp)
		}
		if err != nil {
			os.Remove(temp)
		}
		return err
	})
	p.progress.finish()
	return temp, r, err
}

// sharing puts the parts of a backup into their places.
type sharing struct {
	p      *packing
	w      *measured // the backup file
	sum    *summed   // of it
	dir    string
	shared int64 // bytes of the parts with files of their own
}

func (s *sharing) parts(ctx context.Context, spool *os.File) error {
	dir := filepath.Join(s.dir, partsDir)
	leftovers := func(name string) bool { return strings.Contains(name, partial) }
	if err := removePartials(dir, leftovers, s.p.cfg.Clock()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := s.sum.Write(s.p.raw); err != nil {
		return err
	}
	now := s.p.cfg.Clock()
	for i := range s.p.table.Parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.part(&s.p.table.Parts[i], s.p.offsets[i], spool, now); err != nil {
			return err
		}
	}
	s.p.cfg.step("parts")
	if err := file.SyncDir(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// part writes a part: to its own file if it is large or has one already (offset < 0), else into the backup.
func (s *sharing) part(t *part, offset int64, spool *os.File, now time.Time) error {
	s.p.progress.add(int(t.Size))
	if t.Beside || t.Size >= partLeast {
		t.Beside = true
		s.shared += t.Size
	}
	if offset < 0 {
		if err := os.Chtimes(partPath(s.dir, t.SHA256), now, now); err != nil { // used today: Prune leaves it
			return &Error{Part: partsDir + "/" + t.SHA256, Kind: ErrDamaged, Err: err}
		}
		return nil
	}
	stored := make([]byte, t.Size)
	if _, err := spool.ReadAt(stored, offset); err != nil {
		return err
	}
	if sum256hex(stored) != t.SHA256 {
		return errLying("")
	}
	if t.Beside {
		return s.beside(t.SHA256, stored)
	}
	if _, err := s.sum.Write(stored); err != nil {
		return err
	}
	t.SHA256 = s.sum.hex()
	return nil
}

// beside writes a part to its own file.
func (s *sharing) beside(sum string, stored []byte) error {
	dir := filepath.Join(s.dir, partsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := needRoom(dir, int64(len(stored)), s.p.cfg.MinFreePercent); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, sum+partial+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // when it still has that name
	_, err = f.Write(stored)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	s.p.cfg.step("part")
	return os.Rename(f.Name(), partPath(s.dir, sum))
}

func (s *sharing) tail() error {
	tail, err := s.p.tail()
	if err == nil {
		_, err = s.sum.Write(tail)
	}
	return err
}

// Whole returns a backup as one file that needs no others, for a download or for storage elsewhere: the parts that it
// shares are included. begin gets the size and returns the writer; if that is nil, nothing is written. Each part is
// compared with its checksum before it is written, so after an error the end of the output is missing, and Verify and
// Restore refuse it. It needs no passphrase, and the result stays encrypted. Result.File is empty. Errors: the
// writer's; ErrDamaged with the part; ErrNewer; the disk's; ctx's.
func Whole(ctx context.Context, path string, begin func(size int64) io.Writer) (Result, error) {
	r, err := whole(ctx, path, begin)
	return r, during("read "+path, err)
}

func whole(ctx context.Context, path string, begin func(size int64) io.Writer) (r Result, err error) {
	o, f, err := openFile(path, "")
	if err != nil {
		return r, err
	}
	defer f.Close()
	if o.misfit != nil {
		return r, o.misfit
	}
	t := o.table
	t.Parts = slices.Clone(t.Parts) // whose checksums change, but not their lengths
	size := int64(len(o.raw))
	for i := range t.Parts {
		t.Parts[i].Beside = false
		size += t.Parts[i].Size
	}
	tail, err := encodeTable(o.raw, t)
	if err != nil {
		return r, err
	}
	size += int64(len(tail))
	to := begin(size)
	if to == nil {
		return Result{Bytes: size, Manifest: o.manifest}, nil
	}
	w := newSummed(to)
	if _, err := w.Write(o.raw); err != nil {
		return r, err
	}
	bufs := &buffers{}
	loader := o.newLoader(bufs)
	for i := range t.Parts {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		stored, err := loader.next()
		if err != nil {
			return r, err
		}
		if _, err := w.Write(stored); err != nil {
			return r, err
		}
		bufs.put(stored)
		t.Parts[i].SHA256 = w.hex()
	}
	if c := t.Manifest; c != nil {
		c.Entries[0].SHA256 = storeSum(t.Parts[:c.Entries[0].Parts], nil)
	}
	if tail, err = encodeTable(o.raw, t); err == nil {
		_, err = w.Write(tail)
	}
	return Result{Bytes: w.bytes, SHA256: w.hex(), Manifest: o.manifest}, err
}

// OpenWhole returns the output of Whole as a reader, which must be closed. Its errors are Whole's.
func OpenWhole(ctx context.Context, path string) (r io.ReadCloser, size int64, err error) {
	from, to := io.Pipe()
	sizes, failed := make(chan int64, 1), make(chan error, 1)
	go func() {
		_, err := Whole(ctx, path, func(size int64) io.Writer { sizes <- size; return to })
		failed <- err
		to.CloseWithError(err) // io.EOF without one
	}()
	select {
	case size = <-sizes:
		return from, size, nil
	case err = <-failed:
		return nil, 0, err
	}
}

// references returns the parts that the backups of a folder share, by file: any regular file that starts as a
// backup does, whatever its name. The error says which file cannot be read.
func references(dir string) (refs map[string][]part, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	refs = map[string][]part{}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || strings.Contains(entry.Name(), partial) {
			continue
		}
		parts, err := sharedParts(filepath.Join(dir, entry.Name()))
		if err != nil {
			return refs, fmt.Errorf("find out which parts %s shares: %w", entry.Name(), err)
		}
		refs[entry.Name()] = parts
	}
	return refs, nil
}

// sharedParts returns the parts of a backup that have files of their own; none if the file is not a backup or is gone.
func sharedParts(path string) (parts []part, err error) {
	f, err := kv.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start := make([]byte, len(magic))
	if _, err := io.ReadFull(f, start); err == io.EOF || err == io.ErrUnexpectedEOF || err == nil && string(start) != magic {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	o, err := open(f, info.Size(), filepath.Dir(path), "")
	if err != nil {
		return nil, err
	}
	for _, p := range o.table.Parts {
		if p.Beside {
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// sweep removes the parts of a folder that no backup refers to, except those written or used in the last day.
func sweep(dir string, now time.Time) error {
	entries, err := os.ReadDir(filepath.Join(dir, partsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	refs, err := references(dir)
	if err != nil {
		return err
	}
	needed := map[string]bool{}
	for _, parts := range refs {
		for _, p := range parts {
			needed[p.SHA256] = true
		}
	}
	for _, entry := range entries {
		name := entry.Name()
		if sum, _, _ := strings.Cut(name, partial); needed[name] || !isPartName(sum) {
			continue
		}
		info, err := entry.Info()
		if err == nil && now.Sub(info.ModTime()) > 24*time.Hour {
			err = file.Remove(filepath.Join(dir, partsDir, name))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
