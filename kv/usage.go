package kv

import (
	"errors"
	"os"
)

// Usage is the room that a store takes.
type Usage struct {
	Bytes int64 // of the file
	Free  int64 // of these: what later writes use again. Compacting gives it back to the disk
}

// Usage returns the room that the store takes and how much of it is free, as of a commit a moment ago. It reads a few pages
// of the file, and waits for nobody. Errors: ErrDamaged; ErrClosed; the disk's.
func (s *Store) Usage() (u Usage, err error) {
	for try := 0; ; try++ {
		// A writer may put newer pages over those that were found: only in a View do they stay.
		err = s.View(func(tx *Tx) error {
			u, err = s.usage(uint64(tx.bolt.ID()))
			return err
		})
		if !errors.Is(err, ErrDamaged) || try == checkTries {
			return u, wrap("read store "+s.path, err)
		}
	}
}

var errFreeList = errors.New("the free list is not where it should be")

func (s *Store) usage(tx uint64) (u Usage, err error) {
	c := checker{file: s.file}
	if err := c.findMeta(tx); err != nil {
		return u, unreadable("read", err)
	}
	return usageOf(s.file, c.meta)
}

// UsageOf is Usage of a file that nobody writes to.
func UsageOf(path string) (u Usage, err error) {
	f, err := os.Open(path)
	if err != nil {
		return u, err
	}
	defer f.Close()
	metas, err := readMetas(f)
	if err != nil {
		err = unreadable("read", err)
	} else {
		u, err = usageOf(f, metas[1])
	}
	return u, wrap("read store "+path, err)
}

func usageOf(f *os.File, m meta) (u Usage, err error) {
	info, err := f.Stat()
	if err != nil {
		return u, err
	}
	head := make([]byte, pageHeader+8)
	if _, err := f.ReadAt(head, int64(m.freelist*m.pageSize)); err != nil {
		return u, err
	}
	p := parsePage(head)
	if p.id != m.freelist || p.flags != flagFree {
		return u, &Error{Op: "read", Kind: ErrDamaged, Err: errFreeList}
	}
	free := uint64(p.count)
	if free == 0xFFFF {
		free = native.Uint64(head[pageHeader:])
	}
	if free > m.pages {
		return u, &Error{Op: "read", Kind: ErrDamaged, Err: errFreeList}
	}
	inUse := int64((m.pages - free) * m.pageSize)
	return Usage{Bytes: info.Size(), Free: max(info.Size()-inUse, 0)}, nil
}
