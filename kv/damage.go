package kv

import (
	"errors"
	"fmt"
	"os"
)

// Damage returns the first damage that was met since Open, by a View, an Update or a Check; nil when none was.
func (s *Store) Damage() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.damage
}

// fault is the cause when bbolt cannot work with its pages, or they cannot be read from the file. Then the tree is not
// to be trusted, while after a wrong checksum of one value all others are as good as before.
type fault struct{ error }

// note keeps the first damage and tells of it. When the tree is damaged, no more is written to it: what would be
// answered could be lost with what is found to be lost already.
func (s *Store) note(err error) {
	if !errors.Is(err, ErrDamaged) {
		return
	}
	if errors.As(err, new(fault)) {
		s.refuseDamaged(err)
	}
	s.mu.Lock()
	first := s.damage == nil
	if first {
		s.damage = err
	}
	tell := s.onDamage
	s.mu.Unlock()
	if first && tell != nil {
		tell(err)
	}
}

// refuseDamaged answers every later write with ErrReadOnly, for the damage err.
func (s *Store) refuseDamaged(err error) {
	s.refuse(&Error{Op: "write store " + s.path, Kind: ErrReadOnly, Err: fmt.Errorf("it is damaged, and what is written could be lost: %w", err)})
}

// Full reports whether the last write found the disk full.
func (s *Store) Full() bool { return s.full.Load() }

// Attached finds out whether the store's name still leads to the file that is open. When the file was removed, or another
// put in its place, what is written would be gone with it: that is damage, and no more is written.
func (s *Store) Attached() error {
	is, err := s.file.Stat()
	if err != nil {
		return nil // it is closed, which the next call tells
	}
	if there, err := os.Stat(s.path); err == nil && os.SameFile(is, there) || err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	err = &Error{Op: "use store " + s.path, Kind: ErrDamaged, Err: fault{errors.New("its file was removed or replaced while it was open")}}
	s.note(err)
	return err
}
