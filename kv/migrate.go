package kv

import "fmt"

// Migration changes the stored data from one version of the layout to the next. Once released, a migration is never
// changed, moved or removed.
type Migration struct {
	Name string          // for error messages
	Run  func(*Tx) error // runs at most once per store, in the transaction that changes the version
}

// reserved is the first character of the names of the store's own buckets.
const reserved = '_'

// about is the store's own bucket.
var about = NewBucket("_about", String, JSON[int]())

const versionKey = "version"

// readVersion reads the store's version and refuses one that is too new.
func (s *Store) readVersion(known int) error {
	err := s.View(func(tx *Tx) (err error) {
		s.version, err = about.Get(tx, versionKey)
		return err
	})
	if err != nil {
		return &Error{Op: "read version", Kind: ErrDamaged, Err: err}
	}
	if s.version > known {
		return &Error{Op: "open", Kind: ErrNewer,
			Err: fmt.Errorf("the store has version %d; this program supports versions up to %d", s.version, known)}
	}
	return nil
}

// migrate runs the missing migrations, each in its own transaction.
func (s *Store) migrate(migrations []Migration) error {
	for i := s.version; i < len(migrations); i++ {
		m := migrations[i]
		err := s.Update(func(tx *Tx) error {
			if err := m.Run(tx); err != nil {
				return err
			}
			return about.Put(tx, versionKey, i+1)
		})
		if err != nil {
			return fmt.Errorf("migrate store to version %d (%s): %w", i+1, m.Name, err)
		}
		s.version = i + 1
	}
	return nil
}
