package kv

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/bbolt"

	"opsmon/kv/file"
)

// create makes a new store. It builds the file under a temporary name in the same directory, syncs it and then links
// it to its own name, so a power cut leaves either a complete store or none. The link fails if the name exists: of
// two processes that create the same store at once, one wins and the other uses that store.
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

// leftover is part of the temporary name of a store that is being created.
const leftover = ".new-"

// build makes an empty store of version 0 with the configured buckets in an empty file, and closes it.
func build(f *os.File, cfg Config) (err error) {
	defer guard("make store", &err)
	defer f.Close() // bbolt closes it on success
	bolt, err := bbolt.Open(f.Name(), 0o600, &bbolt.Options{
		Timeout:      cfg.LockTimeout,
		PageSize:     pageSize,
		FreelistType: bbolt.FreelistMapType,
		// Passed as an open file, because another user with access to the directory could replace the name by a link.
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

// pageSize, in bytes, is the same on every machine, which makes stores portable.
const pageSize = 4096

// removeLeftovers removes the temporary files of processes that died while creating this store. The store exists now,
// so a process that is still creating it cannot succeed.
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

// isLink reports whether a path is a symbolic link. A store that another process has just created is not.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}
