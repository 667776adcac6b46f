package kv

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamageMet damages an open store. The first damage is kept and reported once. After a damaged value writes
// continue; after damage to the tree all are refused, with the reason.
func TestDamageMet(t *testing.T) {
	value := []byte("a value that is looked for in the file")
	for _, tt := range []struct {
		name   string
		damage func(data []byte)
		meet   func(s *Store) error
		writes bool // writes continue
	}{
		{"nothing", func([]byte) {}, func(s *Store) error { return s.Check(func(string) {}) }, true},
		{"a value, read", flipValue, func(s *Store) error {
			return s.View(func(tx *Tx) error { _, err := blobs.Get(tx, 1); return err })
		}, true},
		{"a value, checked", flipValue, func(s *Store) error {
			return errors.Join(s.Check(func(string) {}), ErrDamaged) // Check itself reports damage and returns no error
		}, true},
		{"the tree, read", clearPages, func(s *Store) error {
			return s.View(func(tx *Tx) error { _, err := blobs.Get(tx, 1); return err })
		}, false},
		{"the tree, written", clearPages, func(s *Store) error {
			return s.Update(func(tx *Tx) error { return blobs.Put(tx, 1, nil) })
		}, false},
		{"the tree, kept", func([]byte) {}, func(s *Store) error {
			return s.Update(func(tx *Tx) error {
				err := blobs.Put(tx, 1, nil)
				damage(t, s.Path(), clearPages) // after everything that this Update needs was read
				return err
			})
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var told []error
			path := filepath.Join(t.TempDir(), "s.db")
			s, err := Open(Config{Path: path, Buckets: []string{blobs.Name(), triples.Name()}, OnDamage: func(err error) { told = append(told, err) }})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Update(func(tx *Tx) error { return blobs.Put(tx, 1, value) }); err != nil {
				t.Fatal(err)
			}
			damage(t, path, tt.damage)
			hurt := tt.name != "nothing"
			for range 2 {
				if err := tt.meet(s); hurt != errors.Is(err, ErrDamaged) && !(hurt && !tt.writes && errors.Is(err, ErrReadOnly)) {
					t.Errorf("met: %v", err)
				}
			}
			if err := s.Damage(); hurt != errors.Is(err, ErrDamaged) {
				t.Errorf("Damage: %v", err)
			}
			if want := map[bool]int{true: 1}[hurt]; len(told) != want || hurt && !errors.Is(told[0], ErrDamaged) {
				t.Errorf("told %d times: %v", len(told), told)
			}
			err = s.Update(func(tx *Tx) error { return triples.Put(tx, triple("a", "", 1), nil) })
			if tt.writes != (err == nil) || !tt.writes && (!errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "damaged")) {
				t.Errorf("a write afterwards: %v", err)
			}
			if err := s.Writable(); tt.writes != (err == nil) {
				t.Errorf("Writable: %v", err)
			}
		})
	}
}

// damage changes the file of an open store.
func damage(t *testing.T, path string, change func(data []byte)) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	change(data)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(data, 0); err != nil { // in place: the mapping must still refer to the file
		t.Fatal(err)
	}
}

func flipValue(data []byte) {
	for at := 0; ; at++ {
		i := strings.Index(string(data[at:]), "looked for")
		if i < 0 {
			return
		}
		at += i
		data[at] ^= 1
	}
}

// clearPages overwrites everything except the meta pages with noise.
func clearPages(data []byte) {
	for i := 2 * pageSize; i < len(data); i++ {
		data[i] = byte(i * 31)
	}
}
