package kv

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/bbolt"

	"opsmon/kv/file"
)

// create makes a new store. It is built under another name in the same directory, synced, and then given its own
// name, so that a power cut leaves either a whole store or none. The last step is a link, which fails when the name
// is taken: of two processes that make the same store at once, one wins and the other finds it.
func create(cfg Config) error {
	dir := filepath.Dir(cfg.Path)
	f, err := os.CreateTemp(dir, filepath.Base(cfg.Path)+leftover)
	if err != nil {
		return err
	}
	temp := f.Name()
	defer os.Remove(temp)
	cfg.step("named")
	if err := build(f, cfg); err != nil {
		return err
	}
	cfg.step("built")
	if err := file.Link(temp, cfg.Path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	cfg.step("linked")
	if err := file.Remove(temp); err != nil {
		return err
	}
	cfg.step("removed")
	return file.SyncDir(dir)
}

// leftover marks the name of a store that is being made.
const leftover = ".new-"

// build makes an empty store of version 0 with the wanted buckets in an empty file, and closes it.
func build(f *os.File, cfg Config) (err error) {
	defer guard("make store", &err)
	defer f.Close() // closed by bbolt when all goes well
	bolt, err := bbolt.Open(f.Name(), 0o600, &bbolt.Options{
		Timeout:      cfg.LockTimeout,
		PageSize:     pageSize,
		FreelistType: bbolt.FreelistMapType,
		// Whoever else may write in the directory could have put a link in the place of the name.
		OpenFile: func(string, int, os.FileMode) (*os.File, error) { return f, nil },
	})
	if err != nil {
		return err
	}
	cfg.step("opened")
	err = bolt.Update(func(b *bbolt.Tx) error {
		sh := &shared{bolt: b}
		tx := &Tx{bolt: b, shared: sh}
		if err := tx.makeBuckets(append([]string{about.Name()}, cfg.Buckets...)); err != nil {
			return err
		}
		if err := about.Put(tx, versionKey, 0); err != nil {
			return err
		}
		return sh.flush()
	})
	return errors.Join(err, bolt.Close())
}

// pageSize is the same on every machine, in bytes, so that a store can be moved between them.
const pageSize = 4096

// removeLeftovers removes what was left when a process died while it made this store. The store exists now, so
// nobody who still makes one will get its name.
func removeLeftovers(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), filepath.Base(path)+leftover) {
			os.Remove(filepath.Join(filepath.Dir(path), entry.Name()))
		}
	}
}

// isLink reports whether a path names a symbolic link. A store that another process has made meanwhile is none.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}
