package kvtest_test

import (
	"os"
	"testing"

	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// TestNew uses a store with a configuration of the test, which is closed after the test.
func TestNew(t *testing.T) {
	words := kv.NewBucket("words", kv.String, kv.JSON[int]())
	var s *kv.Store
	t.Run("use", func(t *testing.T) {
		s = kvtest.New(t, func(c *kv.Config) { c.Buckets = []string{words.Name()} })
		if err := s.Update(func(tx *kv.Tx) error { return words.Put(tx, "one", 1) }); err != nil {
			t.Fatal(err)
		}
	})
	if err := s.View(func(*kv.Tx) error { return nil }); err == nil {
		t.Error("the store is open after the test")
	}
	if _, err := os.Stat(s.Path()); !os.IsNotExist(err) {
		t.Errorf("the store's file is left: %v", err)
	}
}

// TestClosed closes the store in the test.
func TestClosed(t *testing.T) {
	if err := kvtest.New(t, nil).Close(); err != nil {
		t.Fatal(err)
	}
}
