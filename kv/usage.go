package kv

import (
	"errors"
	"os"
)

// Usage is the disk space that a store takes.
type Usage struct {
	Bytes int64 // size of the file
	Free  int64 // part of Bytes that later writes reuse; compacting returns it to the disk
}

// Usage returns the store's size and its free space, as of a recent commit. It reads a few pages of the file and
// waits for nobody. Errors: ErrDamaged; ErrClosed; those of the disk.
func (s *Store) Usage() (u Usage, err error) {
	for try := 0; ; try++ {
		// Outside of a View, a writer may overwrite the pages.
		err = s.View(func(tx *Tx) error {
			u, err = s.usage(uint64(tx.bolt.ID()))
			return err
		})
		if !errors.Is(err, ErrDamaged) || try == checkRetries {
			return u, wrap("read store "+s.path, err)
		}
	}
}

var errFreeList = errors.New("the free list is missing")

func (s *Store) usage(tx uint64) (u Usage, err error) {
	c := checker{file: s.file}
	if err := c.findMeta(tx); err != nil {
		return u, unreadable("read", err)
	}
	return usageOf(s.file, c.meta)
}

// UsageOf is Usage for a file that nobody writes to.
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
