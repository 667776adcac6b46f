package kv

import (
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

// A commit of bbolt writes its pages, syncs, writes one of the two meta pages in turn, and syncs again. When the first sync
// fails, nothing refers to the pages: the change is absent, and the next commit writes and syncs every page that it uses.
//
// When the second sync fails, readers see the change, and nobody knows which meta page is on the disk. A second sync proves
// nothing: the system may have dropped what it could not write and call the page clean. So the meta page of before is
// written over the new one and synced, which makes the change absent for certain: the page is written again, and the
// older state has been confirmed before. Until that sync succeeds, whether the change is kept is unknown and no other
// write is taken; each write tries again first.
//
// A process that ends in between leaves its meta pages to the next one, which reads them from the system's cache and cannot know
// whether the disk has the same: it may lack the newest, or still have one that was written over. The pages of the tree that is
// found have been confirmed; but the only tree that the disk knows may be the other one, and to write over its pages would lose
// the store with the power. So the first write after Open writes both meta pages once more, as they were found, and syncs them.

// takeBack is a commit that the disk did not confirm and that is still to be undone; or the meta pages that Open found, which are
// still to be confirmed, and stay.
type takeBack struct {
	at     int64  // where the meta page is, in bytes
	meta   []byte // its header and content before the commit; or both pages
	absent bool   // the disk has confirmed what is in meta
	stays  bool
}

// found returns the meta pages that Open found, which the disk may not have.
func (s *Store) found() (*takeBack, error) {
	t := &takeBack{meta: make([]byte, 2*s.bolt.Info().PageSize), stays: true}
	_, err := s.file.ReadAt(t.meta, t.at)
	return t, err
}

// metaBefore reads the meta page that the transaction with this number will write over.
func (s *Store) metaBefore(id int) (*takeBack, error) {
	t := &takeBack{at: int64(id%2) * int64(s.bolt.Info().PageSize), meta: make([]byte, pageHeader+metaSize)}
	_, err := s.file.ReadAt(t.meta, t.at)
	return t, err
}

// undo takes back a commit that readers see and the disk did not confirm, and returns the error for its callers.
func (s *Store) undo(op string, cause error, t *takeBack) error {
	s.unsettled = t
	if err := s.settle(); !t.absent {
		return &Error{Op: op, Kind: ErrUnsure, Err: errors.Join(cause, err)}
	}
	kind := ErrReadOnly
	if errors.Is(cause, ErrFull) {
		kind = ErrFull
	}
	return &Error{Op: op, Kind: kind, Err: fmt.Errorf("the disk did not confirm the change, which was taken back: %w", cause)}
}

// settle undoes the commit that is still to be undone, if any. Only the leader of the writers calls it. It fails as long
// as the disk confirms nothing, and as long as there are readers of what is taken back, whose pages must not be written over.
func (s *Store) settle() error {
	t := s.unsettled
	if t == nil {
		return nil
	}
	op := "write store " + s.path
	if !t.absent {
		if err := s.writeBack(t); err != nil {
			return &Error{Op: op, Kind: ErrReadOnly, Err: fmt.Errorf("the disk has not confirmed an earlier change, and confirms nothing yet: %w", err)}
		}
		t.absent = true
	}
	if t.stays {
		s.unsettled = nil
		return nil
	}
	if s.early.Load() > 0 {
		return &Error{Op: op, Kind: ErrReadOnly, Err: errors.New("somebody still reads a change that the disk did not confirm and that was taken back")}
	}
	if err := s.reload(); err != nil {
		return err
	}
	s.unsettled = nil
	return nil
}

func (s *Store) writeBack(t *takeBack) error {
	s.turn.Lock() // no transaction begins while the meta page is half written
	_, err := s.file.WriteAt(t.meta, t.at)
	s.turn.Unlock()
	if err != nil {
		return err
	}
	return s.file.Sync()
}

// errReloading ends the transaction of reload.
var errReloading = errors.New("reload the free list")

// reload makes bbolt read its list of free pages again, from the newest meta page. bbolt does so when a transaction panics
// in its Update, and has no other way to ask for it.
func (s *Store) reload() (err error) {
	defer func() {
		if r := recover(); r != nil && r != any(errReloading) {
			err = s.breakDown(caught(s.bolt, "reload the free list of store "+s.path, r))
		}
	}()
	s.mu.Lock()
	broken := s.broken
	s.mu.Unlock()
	if broken != nil {
		return broken // a transaction that writes may still be open, and its lock held
	}
	return s.bolt.Update(func(*bbolt.Tx) error { panic(errReloading) })
}

// readFault reports whether the panic r is a fault in memory mapped from the file and within its length: the disk did not
// give a page. Past the end the file was cut, and anywhere else bbolt followed a wrong number.
func readFault(db *bbolt.DB, r any) (is bool) {
	fault, ok := r.(interface{ Addr() uintptr })
	if !ok || db == nil {
		return false
	}
	info, err := os.Stat(db.Path())
	if err != nil || info.Size() < metaPages {
		return false
	}
	defer func() { is = is || recover() != nil }() // Info touches the first page, which may be the one that is not given
	return fault.Addr()-db.Info().Data < uintptr(info.Size())
}
