package kv

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCached checks that Get returns what was stored, even if a caller changed an earlier result.
func TestCached(t *testing.T) {
	decoded := 0
	values := JSON[map[string]int]()
	decode := values.decode
	values.decode = func(document []byte) (map[string]int, error) { decoded++; return decode(document) }
	path := filepath.Join(t.TempDir(), "app.db")
	bucket := NewBucket("maps", String, Cached(values, maps.Clone[map[string]int]))
	store := openStore(t, Config{Path: path, Buckets: []string{"maps"}})
	put := func(k string, v map[string]int) {
		t.Helper()
		if err := store.Update(func(tx *Tx) error { return bucket.Put(tx, k, v) }); err != nil {
			t.Fatal(err)
		}
	}
	get := func(k string) (v map[string]int) {
		t.Helper()
		if err := store.View(func(tx *Tx) (err error) { v, err = bucket.Get(tx, k); return err }); err != nil {
			t.Fatal(err)
		}
		return v
	}
	put("a", map[string]int{"x": 1})
	put("b", map[string]int{"x": 1})
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	// with an empty cache, as after a start
	bucket = NewBucket("maps", String, Cached(values, maps.Clone[map[string]int]))
	store = openStore(t, Config{Path: path, Buckets: []string{"maps"}})
	for _, k := range []string{"a", "a", "b"} {
		got := get(k)
		if diff := cmp.Diff(map[string]int{"x": 1}, got); diff != "" {
			t.Error(diff)
		}
		got["x"], got["y"] = 2, 3
	}
	if decoded != 1 {
		t.Errorf("decoded %d times", decoded)
	}
	for n := range 3 * cacheSize {
		put("a", map[string]int{"x": n})
		for range 2 {
			if got := get("a")["x"]; got != n {
				t.Errorf("%d is read as %d", n, got)
			}
		}
	}
}

// TestSealAllocates checks that verifying a value allocates nothing, because every read does it.
func TestSealAllocates(t *testing.T) {
	key := []byte("key")
	stored := seal("a-bucket-of-more-than-thirty-two-bytes", key, formatRaw, make([]byte, 300))
	n := testing.AllocsPerRun(100, func() {
		if _, _, err := unseal("a-bucket-of-more-than-thirty-two-bytes", key, stored); err != nil {
			t.Error(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
