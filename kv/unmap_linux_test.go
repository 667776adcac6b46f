package kv_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// TestUnmap checks that unmapped pages no longer count as memory of the process, and can be read again.
func TestUnmap(t *testing.T) {
	b := kv.NewBucket("large", kv.Uint64, kv.Raw)
	s := kvtest.New(t, func(c *kv.Config) { c.Buckets = []string{b.Name()} })
	for n := range uint64(16) {
		if err := s.Update(func(tx *kv.Tx) error { return b.Put(tx, n, make([]byte, 1<<20)) }); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (bytes int) {
		t.Helper()
		if err := s.View(func(tx *kv.Tx) error {
			for item, err := range b.Scan(tx, kv.Range{}) {
				if err != nil {
					return err
				}
				bytes += len(item.Value)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	for range 2 {
		if n := read(); n != 16<<20 {
			t.Fatalf("%d bytes were read", n)
		}
		before := mapped(t, s.Path())
		if err := s.Unmap(); err != nil {
			t.Fatal(err)
		}
		if after := mapped(t, s.Path()); before < 8<<10 || after > 1<<10 {
			t.Errorf("%d KiB of the file are in memory, %d after they were let go", before, after)
		}
	}
}

// mapped returns how many KiB of a file are in this process's memory.
func mapped(t *testing.T, path string) (kib int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	of := false
	for line := range strings.Lines(string(maps)) {
		var n int
		switch name, rest, _ := strings.Cut(line, " "); {
		case !strings.HasSuffix(name, ":"):
			of = strings.HasSuffix(strings.TrimSpace(line), path)
		case of && name == "Rss:":
			if _, err := fmt.Sscan(rest, &n); err != nil {
				t.Fatal(err)
			}
			kib += n
		}
	}
	return kib
}
