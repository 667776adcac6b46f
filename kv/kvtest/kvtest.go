// Package kvtest gives tests a real store in a temporary directory.
package kvtest

import (
	"errors"
	"path/filepath"
	"testing"

	"opsmon/kv"
)

// New opens a new store in a directory that ends with the test. cfg may set what the store must hold; nil leaves it
// empty. When the test ends, the store must be whole, and it is closed. A test that closed it itself is not checked.
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
