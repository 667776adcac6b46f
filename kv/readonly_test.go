package kv

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"opsmon/kv/file"
)

// TestReadOnly opens a store read-only: the file must not change, whatever its version.
func TestReadOnly(t *testing.T) {
	nothing := Migration{Name: "nothing", Run: func(*Tx) error { return nil }}
	cfg := Config{Path: filepath.Join(t.TempDir(), "s.db"), Buckets: []string{blobs.Name()}, Migrations: []Migration{nothing}}
	s := openStore(t, cfg)
	if err := s.Update(func(tx *Tx) error { return blobs.Put(tx, 1, []byte("x")) }); err != nil {
		t.Fatal(err)
	}
	closeChecked(t, s)
	if n, err := VersionOf(cfg.Path); err != nil || n != 1 {
		t.Errorf("version %d, %v", n, err)
	}
	before, err := os.ReadFile(cfg.Path)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		migrations []Migration
		want       error
	}{
		"same version":  {[]Migration{nothing}, nil},
		"older program": {nil, ErrNewer},
		"newer program": {[]Migration{nothing, nothing}, ErrOlder},
	} {
		s, err := Open(Config{Path: cfg.Path, Buckets: []string{blobs.Name(), "another"}, Migrations: test.migrations, ReadOnly: true})
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if err != nil {
			continue
		}
		if got := content(t, s); got[1] != "x" {
			t.Errorf("%s: it holds %v", name, got)
		}
		if err := s.Update(func(tx *Tx) error { return blobs.Put(tx, 2, nil) }); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: a write: %v, want ErrReadOnly", name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if after, err := os.ReadFile(cfg.Path); err != nil || !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
	if err := os.WriteFile(cfg.Path, before[:pageSize], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := VersionOf(cfg.Path); !errors.Is(err, ErrDamaged) {
		t.Errorf("version of a cut file: %v", err)
	}
	none := filepath.Join(t.TempDir(), "none.db")
	if _, err := Open(Config{Path: none, ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) || file.Exists(none) {
		t.Errorf("no store: %v", err)
	}
}
