// Package kvtest gives tests a real store in a temporary directory.
package kvtest

import (
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
		defer s.Close()
		if err := s.Check(func(problem string) { t.Errorf("check store: %s", problem) }); err != nil {
			t.Errorf("check store: %v", err)
		}
	})
	return s
}
