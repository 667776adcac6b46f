package kv

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"os"
	"runtime/debug"

	"go.etcd.io/bbolt"
)

// Compacted says what CompactTo has made.
type Compacted struct {
	Before   int64    // size of the file that was read, in bytes
	After    int64    // size of the file that was made, in bytes
	Contents Contents // what both hold; its Size is that of the new one
	Commit   uint64   // the commit of the original that was read: see LastCommit
}

// LastCommit is the number of the newest commit of a store file: two readings that agree mean that nobody has written to
// it between. Errors: ErrDamaged; the disk's.
func LastCommit(path string) (uint64, error) {
	op := "read store " + path
	f, err := os.Open(path)
	if err != nil {
		return 0, wrap(op, err)
	}
	defer f.Close()
	metas, err := readMetas(f)
	if err != nil {
		return 0, unreadable(op, err)
	}
	return metas[1].tx, nil
}

// CompactTo writes a store that holds what the one at path holds, without the room that deleting has left, to a new file,
// which is synced, checked as CheckFile does and compared with the original: every bucket's tally and a hash over all
// entries. The original is not changed, and nobody may have it open for writing. Nothing is left behind when it fails; a
// killed process can leave part of the new file. Errors: ErrDamaged, with what is wrong; ErrLocked; ErrFull; fs.ErrExist
// when there is a file already; ctx's own.
func CompactTo(ctx context.Context, path, to string) (c Compacted, err error) {
	c, err = compactTo(ctx, path, to)
	return c, wrap("compact store "+path, err)
}

func compactTo(ctx context.Context, path, to string) (c Compacted, err error) {
	if err := probe(path); err != nil {
		return c, err
	}
	if err := checkPages(path); err != nil { // bbolt trusts what it reads
		return c, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return c, err
	}
	c.Before = info.Size()
	if c.Commit, err = LastCommit(path); err != nil {
		return c, err
	}
	// Made here, so that a file that is there already is nobody's to remove.
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return c, err
	}
	defer func() {
		if err != nil {
			os.Remove(to)
		}
	}()
	if err := f.Close(); err != nil {
		return c, err
	}
	read, err := copyEntries(ctx, path, to)
	if err != nil {
		return c, err
	}
	if err := trim(to); err != nil {
		return c, err
	}
	if c.Contents, err = checkFile(to); err != nil {
		return c, fmt.Errorf("the new file: %w", err)
	}
	written, err := digestFile(ctx, to)
	if err != nil {
		return c, fmt.Errorf("the new file: %w", err)
	}
	if !bytes.Equal(read, written) {
		return c, &Error{Op: "compact", Kind: ErrDamaged, Err: errors.New("the new file does not hold what was written to it: the disk or the memory is faulty")}
	}
	if info, err = os.Stat(to); err != nil {
		return c, err
	}
	c.After = info.Size()
	return c, nil
}

// copyBatch is about how many bytes go into one commit of the new file.
const copyBatch = 16 << 20

// copyEntries copies every entry of one file into another, an empty one, checks each on the way, and returns a hash over all.
func copyEntries(ctx context.Context, path, to string) (sum []byte, err error) {
	defer guard("compact", &err)
	// It is synced once, at the end: until then nobody needs it.
	dst, err := bbolt.Open(to, 0o600, &bbolt.Options{PageSize: pageSize, FreelistType: bbolt.FreelistMapType, NoSync: true, NoGrowSync: true, Timeout: defaultLockTimeout})
	if err != nil {
		return nil, err
	}
	w := copier{dst: dst}
	defer func() {
		if w.tx != nil { // Close would wait for it
			w.tx.Rollback()
		}
		err = errors.Join(err, dst.Close())
	}()
	return walkFile(ctx, path, &w)
}

// entries takes what walkFile reads. Names, keys and values are valid until end has returned.
type entries interface {
	begin(name []byte, sequence uint64) error // of a bucket
	put(key, stored []byte) error
	end() error
}

// nowhere is for a walk that only reads.
type nowhere struct{}

func (nowhere) begin([]byte, uint64) error { return nil }
func (nowhere) put(_, _ []byte) error      { return nil }
func (nowhere) end() error                 { return nil }

// copier puts entries into a file, many in a commit.
type copier struct {
	dst    *bbolt.DB
	tx     *bbolt.Tx
	bucket *bbolt.Bucket
	name   []byte
	size   int
}

func (w *copier) begin(name []byte, sequence uint64) (err error) {
	if w.tx == nil {
		if w.tx, err = w.dst.Begin(true); err != nil {
			return err
		}
	}
	w.name = bytes.Clone(name)
	if w.bucket, err = w.tx.CreateBucket(name); err != nil {
		return err
	}
	w.bucket.FillPercent = copyFill
	return w.bucket.SetSequence(sequence)
}

// copyFill leaves a little room in each page, so that the next writes do not split them all.
const copyFill = 0.9

func (w *copier) put(key, stored []byte) (err error) {
	if w.size += len(key) + len(stored); w.size > copyBatch {
		if err := w.end(); err != nil {
			return err
		}
		if w.tx, err = w.dst.Begin(true); err != nil {
			return err
		}
		w.bucket = w.tx.Bucket(w.name)
		w.bucket.FillPercent = copyFill
	}
	return w.bucket.Put(key, stored)
}

// end commits what was put.
func (w *copier) end() error {
	if w.tx == nil {
		return nil
	}
	tx := w.tx
	w.tx, w.size = nil, 0
	return tx.Commit()
}

// digestFile returns a hash over all entries of a file.
func digestFile(ctx context.Context, path string) (sum []byte, err error) {
	defer guard("read", &err)
	return walkFile(ctx, path, nowhere{})
}

// walkFile reads every bucket and entry of a file whose pages are sound, in order, and returns a SHA-256 over all.
func walkFile(ctx context.Context, path string, to entries) (sum []byte, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	src, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: defaultLockTimeout})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	h := digest{sha256.New()}
	err = src.View(func(tx *bbolt.Tx) error {
		n := 0
		err := tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			h.bucket(name, b.Sequence())
			if err := to.begin(name, b.Sequence()); err != nil {
				return err
			}
			return b.ForEach(func(key, stored []byte) error {
				if n++; n%1000 == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				h.entry(key, stored)
				return to.put(key, stored)
			})
		})
		return errors.Join(err, ctx.Err(), to.end())
	})
	return h.Sum(nil), err
}

// digest is a hash over buckets and entries. Everything is preceded by its length, so that no two contents give the same
// bytes.
type digest struct{ hash.Hash }

func (h digest) part(b []byte) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(b)))
	h.Write(length[:])
	h.Write(b)
}

func (h digest) bucket(name []byte, sequence uint64) {
	h.Write([]byte{1})
	h.part(name)
	h.part(binary.BigEndian.AppendUint64(nil, sequence))
}

func (h digest) entry(key, stored []byte) {
	h.Write([]byte{2})
	h.part(key)
	h.part(stored)
}

// trim cuts off what bbolt has reserved behind the last page, and syncs.
func trim(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	metas, err := readMetas(f)
	if err == nil {
		err = f.Truncate(int64(metas[1].pages * metas[1].pageSize))
	}
	return errors.Join(err, f.Sync(), f.Close())
}
