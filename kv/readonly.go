package kv

import (
	"errors"
	"math"
	"time"
)

// VersionOf returns the number of migrations that have run on a store file that is not open for writing. Errors:
// ErrDamaged; ErrLocked.
func VersionOf(path string) (int, error) {
	op := "read store " + path
	if err := probe(path); err != nil {
		return 0, wrap(op, err)
	}
	s := &Store{path: path, clock: time.Now}
	if err := s.openBolt(Config{ReadOnly: true, LockTimeout: defaultLockTimeout}); err != nil {
		return 0, wrap(op, err)
	}
	err := s.inspect()
	if err == nil {
		err = s.readVersion(math.MaxInt)
	}
	return s.version, wrap(op, errors.Join(err, s.Close()))
}
