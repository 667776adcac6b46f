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

// Compacted is the result of CompactTo.
type Compacted struct {
	Before   int64    // size of the original file, in bytes
	After    int64    // size of the new file, in bytes
	Contents Contents // of both files; Size is that of the new one
	Commit   uint64   // commit of the original that was copied: see LastCommit
}

// LastCommit returns the number of the newest commit of a store file. Two equal results mean that nobody wrote to the
// file in between. Errors: ErrDamaged; those of the disk.
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

// CompactTo copies the store at path to a new file without free pages. It syncs the new file, checks it as CheckFile
// does and compares it with the original: every bucket's counter and a hash over all entries. The original is not
// changed and must not be open for writing. CompactTo removes the new file if it fails; a killed process can leave an
// incomplete one. Errors: ErrDamaged, with the problem; ErrLocked; ErrFull; fs.ErrExist if the new file exists; that
// of ctx.
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
	// Created here, because a file that already exists must not be removed on failure.
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
		return c, &Error{Op: "compact", Kind: ErrDamaged, Err: errors.New("the new file does not have the content that was written to it: the disk or the memory is faulty")}
	}
	if info, err = os.Stat(to); err != nil {
		return c, err
	}
	c.After = info.Size()
	return c, nil
}

// copyBatch is the approximate number of bytes in one commit of the new file.
const copyBatch = 16 << 20

// copyEntries copies every entry of one file into another, empty file, checks each of them, and returns a hash over
// all.
func copyEntries(ctx context.Context, path, to string) (sum []byte, err error) {
	defer guard("compact", &err)
	// Synced only once, at the end, because nobody uses the file before.
	dst, err := bbolt.Open(to, 0o600, &bbolt.Options{PageSize: pageSize, FreelistType: bbolt.FreelistMapType, NoSync: true, NoGrowSync: true, Timeout: defaultLockTimeout})
	if err != nil {
		return nil, err
	}
	w := copier{dst: dst}
	defer func() {
		if w.tx != nil { // otherwise Close waits for it
			w.tx.Rollback()
		}
		err = errors.Join(err, dst.Close())
	}()
	return walkFile(ctx, path, &w)
}

// entries receives what walkFile reads. Names, keys and values are valid until end returns.
type entries interface {
	begin(name []byte, sequence uint64) error // of a bucket
	put(key, stored []byte) error
	end() error
}

// discard discards the entries, for a walk that only reads.
type discard struct{}

func (discard) begin([]byte, uint64) error { return nil }
func (discard) put(_, _ []byte) error      { return nil }
func (discard) end() error                 { return nil }

// copier writes entries to a file, many per commit.
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

// copyFill leaves some free space in each page, to avoid splitting all pages in the next writes.
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

// end commits the entries that were put.
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
	return walkFile(ctx, path, discard{})
}

// walkFile reads all buckets and entries, in order, of a file whose pages are sound, and returns a SHA-256 over all
// of them.
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

// digest is a hash over buckets and entries. Each part is preceded by its length, which makes the input unambiguous.
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

// trim removes the space that bbolt has reserved after the last page, and syncs.
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
