package upgrade

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"opsmon/app/host/backup"
	"opsmon/app/host/namedfile"
	"opsmon/kv"
	"opsmon/kv/file"
)

// The names in the data directory.
const (
	journalName = "upgrade.json"
	lockName    = "upgrade.lock" // held while an upgrade or a rollback is at work
	storeName   = "app.db"
	keptName    = storeName + ".before-upgrade" // the store as it was, until the new program is ready
	failedName  = storeName + ".failed-upgrade" // the store that a rollback has replaced, until the next upgrade
)

// What the journal may say.
const (
	stepTrying   = "trying"   // the new program may be in its place; it is not known yet whether it works
	stepRollback = "rollback" // the old program is being put back
)

// journal is the state of an upgrade while programs are exchanged. It is in the data directory, where the service can
// read it.
type journal struct {
	Step      string    `json:"step"`
	From      string    `json:"from"` // versions of the old and the new program
	To        string    `json:"to"`
	FromStore int       `json:"fromStore"` // of the store that the old program works with
	Kept      bool      `json:"kept"`      // a rollback restores app.db.before-upgrade
	At        time.Time `json:"at"`

	Before map[string]int `json:"before,omitempty"` // the content of the store; empty if unknown
	Spare  bool           `json:"spare,omitempty"`  // a store of the same version may stay as it is in a rollback
}

func (j journal) write(dir string, handOver func(string) error) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return file.Replace(filepath.Join(dir, journalName), bytes.NewReader(text), file.Options{Ready: handOver})
}

// readJournal reads the journal; nil if there is none or it cannot be read. It is written as a whole, so a damaged one
// means nothing, and the store's own version decides.
func readJournal(dir string) *journal {
	text, err := namedfile.Read(filepath.Join(dir, journalName)) // the service's user may have put a device there
	if err != nil {
		return nil
	}
	var j journal
	if json.Unmarshal(text, &j) != nil {
		return nil
	}
	return &j
}

// Recover puts the store of before an upgrade back when a rollback was broken off after the old program had been put
// back. store is the version of the store that the calling program works with. It must be called before the store is
// opened. Errors: those of backup.Exchange.
func Recover(dir string, store int) error {
	j := readJournal(dir)
	if j == nil || j.Step != stepRollback || store != j.FromStore {
		return nil
	}
	return j.putStoreBack(dir, func(string) {})
}

// putStoreBack restores the copy of the store, if there is one.
func (j *journal) putStoreBack(dir string, step func(string)) error {
	if !j.Kept || !file.Exists(filepath.Join(dir, keptName)) {
		return nil
	}
	failed := ""
	if file.Exists(filepath.Join(dir, storeName)) {
		failed = failedName
	}
	return backup.Exchange{Name: storeName, New: keptName, Keep: failed, Step: step, Sure: func() error {
		return file.Remove(filepath.Join(dir, failedName)) // of an earlier upgrade
	}}.Do(dir)
}

// Pending reports whether an upgrade or a rollback has not come to its end.
func Pending(dir string) bool {
	return file.Exists(filepath.Join(dir, journalName)) || file.Exists(filepath.Join(dir, keptName))
}

// Settle completes an interrupted upgrade. A service that has been ready for a Probation calls it. holds is the content
// of its store, as returned by Config.Holds. While an upgrade is running it does nothing, since that may still roll
// back. Error: ErrLost, which leaves the journal and the copy to app rollback.
func Settle(dir string, holds map[string]int) error {
	if !Pending(dir) {
		return nil
	}
	unlock, err := kv.LockFile(filepath.Join(dir, lockName), 0)
	if err != nil {
		return nil // it is running, or was started by a user with more rights
	}
	if j := readJournal(dir); j != nil && j.Step != stepRollback {
		if err := missing(j.Before, holds); err != nil {
			return errors.Join(err, unlock())
		}
	}
	return errors.Join(settle(dir), unlock())
}

func settle(dir string) error {
	return errors.Join(file.Remove(filepath.Join(dir, journalName)), file.Remove(filepath.Join(dir, keptName)), file.SyncDir(dir))
}

// begin takes the lock. Error: ErrBusy.
func begin(dir string, handOver func(string) error) (unlock func() error, err error) {
	path := filepath.Join(dir, lockName)
	unlock, err = kv.LockFile(path, 2*time.Second) // a service that settles holds it for a moment
	if errors.Is(err, kv.ErrLocked) {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	if err := handOver(path); err != nil {
		return nil, errors.Join(err, unlock())
	}
	return unlock, nil
}

// ErrBusy says that another upgrade or rollback is at work.
var ErrBusy = errors.New("another upgrade or rollback is at work; try again when it has ended")
