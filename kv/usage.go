package kv

import "errors"

// Usage is the room that a store takes.
type Usage struct {
	Bytes int64 // of the file
	Free  int64 // of these: what later writes use again. Compacting gives it back to the disk
}

// Usage tells the room that the store takes and how much of it is free, as of a commit a moment ago. It reads a few pages
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
		return u, &Error{Op: "read", Kind: ErrDamaged, Err: err}
	}
	info, err := s.file.Stat()
	if err != nil {
		return u, err
	}
	head := make([]byte, pageHeader+8)
	if _, err := s.file.ReadAt(head, int64(c.meta.freelist*c.meta.pageSize)); err != nil {
		return u, err
	}
	p := parsePage(head)
	if p.id != c.meta.freelist || p.flags != flagFree {
		return u, &Error{Op: "read", Kind: ErrDamaged, Err: errFreeList}
	}
	free := uint64(p.count)
	if free == 0xFFFF {
		free = native.Uint64(head[pageHeader:])
	}
	if free > c.meta.pages {
		return u, &Error{Op: "read", Kind: ErrDamaged, Err: errFreeList}
	}
	inUse := int64((c.meta.pages - free) * c.meta.pageSize)
	return Usage{Bytes: info.Size(), Free: max(info.Size()-inUse, 0)}, nil
}
