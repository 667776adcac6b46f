package kv

import (
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

// A commit of bbolt writes its pages, syncs, writes one of the two meta pages alternately, and syncs again. If the
// first sync fails, nothing refers to the pages: the change is absent, and the next commit writes and syncs every
// page that it uses.
//
// If the second sync fails, readers see the change, and it is unknown which meta page is on the disk. Another sync
// proves nothing: the system may have dropped the data that it could not write and marked the page as clean.
// Therefore the previous meta page is written over the new one and synced. Then the change is certainly absent: the
// page has been written again, and the older state was confirmed before. Until that sync succeeds the change may be
// present or absent, and no other write is accepted; each write tries the sync again first.
//
// If the process ends in between, the next one reads the meta pages from the system's cache and cannot know whether
// the disk has the same pages: it may lack the newest, or still have one that was overwritten. The pages of the tree
// in the cache have been confirmed. But the disk may have only the meta page of the other tree; overwriting that
// tree's pages would lose the store in a power cut. Therefore the first write after Open writes both meta pages
// again, unchanged, and syncs them.

// metaRewrite is a commit that the disk did not confirm and that must be undone; or the meta pages that Open read,
// which must be confirmed unchanged.
type metaRewrite struct {
	at        int64  // offset of the meta page, in bytes
	meta      []byte // header and content of the meta page before the commit; or both pages
	absent    bool   // the disk has confirmed meta
	unchanged bool   // true for the meta pages that Open read
}

// found returns the meta pages that Open read, which may not be on the disk.
func (s *Store) found() (*metaRewrite, error) {
	t := &metaRewrite{meta: make([]byte, 2*s.bolt.Info().PageSize), unchanged: true}
	_, err := s.file.ReadAt(t.meta, t.at)
	return t, err
}

// metaBefore returns the meta page that transaction id will overwrite.
func (s *Store) metaBefore(id int) (*metaRewrite, error) {
	t := &metaRewrite{at: int64(id%2) * int64(s.bolt.Info().PageSize), meta: make([]byte, pageHeader+metaSize)}
	_, err := s.file.ReadAt(t.meta, t.at)
	return t, err
}

// undo undoes a commit that readers see and the disk did not confirm, and returns the error for its callers.
func (s *Store) undo(op string, cause error, t *metaRewrite) error {
	s.unconfirmed = t
	if err := s.settle(); !t.absent {
		return &Error{Op: op, Kind: ErrUnconfirmed, Err: errors.Join(cause, err)}
	}
	kind := ErrReadOnly
	if errors.Is(cause, ErrFull) {
		kind = ErrFull
	}
	return &Error{Op: op, Kind: kind, Err: fmt.Errorf("the disk did not confirm the change, which was undone: %w", cause)}
}

// settle undoes the unconfirmed commit, if any. Only the writers' leader calls it. It fails while the disk confirms
// nothing, and while Views of the undone commit are open, because their pages must not be overwritten.
func (s *Store) settle() error {
	t := s.unconfirmed
	if t == nil {
		return nil
	}
	op := "write store " + s.path
	if !t.absent {
		if err := s.writeBack(t); err != nil {
			return &Error{Op: op, Kind: ErrReadOnly, Err: fmt.Errorf("the disk has not confirmed an earlier change, and still does not confirm writes: %w", err)}
		}
		t.absent = true
	}
	if t.unchanged {
		s.unconfirmed = nil
		return nil
	}
	if s.early.Load() > 0 {
		return &Error{Op: op, Kind: ErrReadOnly, Err: errors.New("a View still reads a change that the disk did not confirm and that was undone")}
	}
	if err := s.reload(); err != nil {
		return err
	}
	s.unconfirmed = nil
	return nil
}

func (s *Store) writeBack(t *metaRewrite) error {
	s.metaMu.Lock() // no transaction begins while the meta page is half-written
	_, err := s.file.WriteAt(t.meta, t.at)
	s.metaMu.Unlock()
	if err != nil {
		return err
	}
	return s.file.Sync()
}

// errReloading ends the transaction of reload.
var errReloading = errors.New("reload the free list")

// reload makes bbolt read its free list again, from the newest meta page. bbolt does this only when a transaction in
// its Update panics.
func (s *Store) reload() (err error) {
	defer func() {
		if r := recover(); r != nil && r != any(errReloading) {
			err = s.breakDown(recovered(s.bolt, "reload the free list of store "+s.path, r))
		}
	}()
	s.mu.Lock()
	broken := s.broken
	s.mu.Unlock()
	if broken != nil {
		return broken // a write transaction may still be open and hold the lock
	}
	return s.bolt.Update(func(*bbolt.Tx) error { panic(errReloading) })
}

// readFault reports whether the panic r is a fault in mapped memory within the file's length: the disk could not read
// a page. A fault past the end means that the file was truncated, and one elsewhere that bbolt followed an invalid
// number.
func readFault(db *bbolt.DB, r any) (is bool) {
	fault, ok := r.(interface{ Addr() uintptr })
	if !ok || db == nil {
		return false
	}
	info, err := os.Stat(db.Path())
	if err != nil || info.Size() < metaPages {
		return false
	}
	defer func() { is = is || recover() != nil }() // Info reads the first page, which may be the unreadable one
	return fault.Addr()-db.Info().Data < uintptr(info.Size())
}
