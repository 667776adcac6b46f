package kv

import (
	"errors"
	"fmt"
	"os"
)

// Damage returns the first damage found since Open, by a View, an Update or a Check; nil if none.
func (s *Store) Damage() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.damage
}

// fault is the cause if bbolt cannot work with its pages, or they cannot be read from the file. The whole tree is
// then suspect, whereas a wrong checksum affects only its own value.
type fault struct{ error }

// note records the first damage and reports it to Config.OnDamage. If the tree is damaged, it also refuses all later
// writes: they could be lost along with the damaged part.
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
	report := s.onDamage
	s.mu.Unlock()
	if first && report != nil {
		report(err)
	}
}

// refuseDamaged makes every later write fail with ErrReadOnly, because of the damage err.
func (s *Store) refuseDamaged(err error) {
	s.refuse(&Error{Op: "write store " + s.path, Kind: ErrReadOnly, Err: fmt.Errorf("it is damaged, and new data could be lost: %w", err)})
}

// Full reports whether the last write failed because the disk is full.
func (s *Store) Full() bool { return s.full.Load() }

// Attached checks that the store's path still refers to the open file. If the file was removed or replaced, new data
// would be lost with it: this counts as damage, and later writes are refused.
func (s *Store) Attached() error {
	is, err := s.file.Stat()
	if err != nil {
		return nil // closed; the next call reports it
	}
	if there, err := os.Stat(s.path); err == nil && os.SameFile(is, there) || err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	err = &Error{Op: "use store " + s.path, Kind: ErrDamaged, Err: fault{errors.New("its file was removed or replaced while it was open")}}
	s.note(err)
	return err
}
