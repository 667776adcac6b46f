package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"opsmon/kv"
	"opsmon/kv/file"
)

// move is the exchange of one file. All names are paths in the data directory, with slashes.
type move struct {
	Name string `json:"name"`
	New  string `json:"new,omitempty"`  // takes the place of Name; "" = nothing does
	Keep string `json:"keep,omitempty"` // new name of the existing file; "" = there is none
}

// journal lists the files to exchange. It exists while the exchange runs.
type journal struct {
	Moves []move `json:"moves"`
}

const (
	journalName = "restore.json"
	swapLock    = "swap.lock" // held while files are exchanged, and while the store is opened

	// swapWait is how long to wait for another process that exchanges files or opens the store.
	swapWait = 10 * time.Second

	// stampLayout is the form of times in names of files.
	stampLayout = "20060102T150405Z"
)

// Recover ends a restore that a killed process left half-way, and calls open, which opens the store. No restore can
// begin between the two: every process must open the store of a data directory in this way. Leftovers of killed backups
// and restores are removed. Errors: ErrBusy, ErrInUse; those of the disk; open's own.
func Recover(dir string, open func() error) error {
	unlock, err := kv.LockFile(filepath.Join(dir, swapLock), swapWait)
	if err != nil {
		if mayNotWrite(err) && !file.Exists(filepath.Join(dir, journalName)) {
			return open() // which returns the better error
		}
		return during("recover "+dir, busy(err))
	}
	defer unlock()
	if err := finish(dir, func(string) {}); err != nil {
		return during("recover "+dir, err)
	}
	tidy(dir)
	return open()
}

// Resume completes a restore that a killed process left half-way, if there is one. It is for callers that read the
// settings before the store is opened. Errors: Recover's.
func Resume(dir string) error {
	if !file.Exists(filepath.Join(dir, journalName)) {
		return nil
	}
	return Recover(dir, func() error { return nil })
}

// busy turns a lock that somebody holds into ErrBusy.
func busy(err error) error {
	if errors.Is(err, kv.ErrLocked) {
		return &Error{Kind: ErrBusy, Err: errors.New("try again when it has ended")}
	}
	return err
}

func mayNotWrite(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOSPC)
}

// tidy removes what killed processes left, unless a process is working. Files that cannot be removed stay until the
// next time.
func tidy(dir string) {
	if !file.Exists(filepath.Join(dir, lockName)) {
		return // no process ever worked here
	}
	unlock, err := lockWork(dir)
	if err != nil {
		return
	}
	defer unlock()
	os.Remove(filepath.Join(dir, spoolName))
	file.RemoveTree(filepath.Join(dir, newDir))
}

// exchange makes all moves, or none as far as a caller of Recover can see. Errors: ErrBusy; ErrInUse.
func exchange(dir string, moves []move, step func(string)) error {
	return exchangeWhen(dir, nil, moves, step)
}

// exchangeWhen is exchange if sure returns no error. sure may be nil. It is called when nobody can open the store any
// more.
func exchangeWhen(dir string, sure func() error, moves []move, step func(string)) error {
	unlock, err := kv.LockFile(filepath.Join(dir, swapLock), swapWait)
	if err != nil {
		return busy(err)
	}
	defer unlock()
	if err := finish(dir, step); err != nil { // of another restore
		return err
	}
	if err := notInUse(dir); err != nil {
		return err
	}
	if sure != nil {
		if err := sure(); err != nil {
			return err
		}
	}
	if err := (journal{moves}).inside(dir); err != nil { // before it is a journal that cannot be ended
		return err
	}
	if err := writeJournal(dir, journal{moves}, step); err != nil {
		return err
	}
	step("journal")
	return finish(dir, step)
}

// notInUse returns an error if a process has the store open. To open it, a process needs the lock that the caller
// holds.
func notInUse(dir string) error {
	path := filepath.Join(dir, storeName)
	if !file.Exists(path) {
		return nil
	}
	unlock, err := kv.LockFile(path, time.Second)
	if errors.Is(err, kv.ErrLocked) {
		return &Error{Kind: ErrInUse, Err: errors.New("stop the service first")}
	}
	if err != nil {
		return err
	}
	return unlock() // Windows renames no open file
}

func writeJournal(dir string, j journal, step func(string)) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	in, err := openWithin(dir)
	if err != nil {
		return err
	}
	defer in.Close()
	const beside = journalName + ".new"
	if err := in.remove(beside); err != nil { // a link to elsewhere would be written through
		return err
	}
	f, err := in.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	step("journal written")
	if err := in.Rename(beside, journalName); err != nil {
		return err
	}
	return file.SyncDir(dir)
}

// finish makes the moves of the journal, as far as they are not made. Without a journal there is nothing to do.
func finish(dir string, step func(string)) error {
	name := filepath.Join(dir, journalName)
	in, err := openWithin(dir)
	if err != nil {
		return err
	}
	defer in.Close()
	text, err := in.ReadFile(journalName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var j journal
	if err := json.Unmarshal(text, &j); err != nil {
		return fmt.Errorf("%s says what a restore has begun and cannot be read (%w): the names that end in .before-restore-TIME hold what was there before", name, err)
	}
	if err := notInUse(dir); err != nil {
		return err
	}
	if err := j.inside(dir); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, m := range j.Moves {
		if err := m.make(in, dir, step); err != nil {
			return err
		}
	}
	step("moved")
	if err := in.remove(journalName); err != nil {
		return err
	}
	step("journal removed")
	return file.SyncDir(dir)
}

// inside refuses moves one of which its own inside refuses.
func (j journal) inside(dir string) error {
	for _, m := range j.Moves {
		if err := m.inside(dir); err != nil {
			return err
		}
	}
	return nil
}

// inside refuses a move that would lead outside the directory: whoever owns that could have root move files anywhere.
func (m move) inside(dir string) error {
	for i, name := range []string{m.Name, m.New, m.Keep} {
		if name == "" && i > 0 {
			continue
		}
		if !plainName(name) {
			return fmt.Errorf("%q is no name of a file in the data directory; remove this file when it is not of a restore", name)
		}
		for at := path.Dir(name); at != "."; at = path.Dir(at) {
			info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(at)))
			if err == nil && !info.IsDir() {
				return fmt.Errorf("%s is no directory, and %s is to be moved in it: put a directory in its place", filepath.Join(dir, filepath.FromSlash(at)), name)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// make makes a move, or the rest of it. The name always has a whole file, the old or the new one, if the file system
// has links; without links there is a moment without, which the journal bridges.
func (m move) make(in within, dir string, step func(string)) error {
	if m.New != "" && !in.exists(m.New) {
		return nil // made before
	}
	folder := filepath.Join(dir, filepath.FromSlash(path.Dir(m.Name)))
	if m.Keep != "" && in.exists(m.Name) && !in.exists(m.Keep) {
		if in.Link(m.Name, m.Keep) != nil {
			if err := in.Rename(m.Name, m.Keep); err != nil {
				return err
			}
		}
		if err := file.SyncDir(folder); err != nil {
			return err
		}
	}
	step("kept " + m.Name)
	if m.New == "" {
		if err := in.remove(m.Name); err != nil {
			return err
		}
	} else {
		if err := in.MkdirAll(path.Dir(m.Name), 0o700); err != nil {
			return err
		}
		if err := in.Rename(m.New, m.Name); err != nil {
			return err
		}
	}
	step("moved " + m.Name)
	return file.SyncDir(folder)
}

// unusedName is a name, with a number after it when it is taken.
func unusedName(dir, name string) string {
	free := name
	for n := 2; file.Exists(filepath.Join(dir, filepath.FromSlash(free))); n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}
