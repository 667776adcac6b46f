// Package kvtest opens real stores in temporary directories for tests.
package kvtest

import (
	"errors"
	"path/filepath"
	"testing"

	"opsmon/kv"
)

// New opens a new store in a directory that is removed after the test. cfg may set the store's configuration; nil
// leaves it empty. At the end of the test, New checks the store and closes it, unless the test closed it.
func New(t testing.TB, cfg func(*kv.Config)) *kv.Store {
	t.Helper()
	c := kv.Config{Path: filepath.Join(t.TempDir(), "store.db")}
	if cfg != nil {
		cfg(&c)
	}
	s, err := kv.Open(c)
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	t.Cleanup(func() {
		err := s.Check(func(problem string) { t.Errorf("check store: %s", problem) })
		if err != nil && !errors.Is(err, kv.ErrClosed) {
			t.Errorf("check store: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	return s
}
