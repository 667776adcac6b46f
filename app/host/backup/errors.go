package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"opsmon/kv"
)

// The kinds of failure, matched by errors.Is. Failures of the operating system carry their own, such as fs.ErrNotExist.
var (
	ErrDamaged    = errors.New("damaged")                                                  // the content differs from what was written
	ErrSettings   = errors.New("cannot be used on this computer")                          // the backup's app.yaml
	ErrNewer      = errors.New("made by a newer version of the program")                   // of the format, or of the store
	ErrPassphrase = errors.New("the passphrase does not fit")                              // or missing
	ErrWeak       = errors.New("the passphrase is too short")                              // to encrypt with
	ErrExists     = errors.New("exists already")                                           // and may not be replaced
	ErrBusy       = errors.New("another backup or restore is running")                     // on the same data directory
	ErrInUse      = errors.New("a process has the store open")                             // which must be replaced
	ErrNoRoom     = errors.New("not enough room")                                          // or less than must stay free
	ErrNotReady   = errors.New("the folder for backups is not there or cannot be written") // a share that is not mounted
	ErrNotFound   = errors.New("there is no backup of this name")                          // in a Folder
	ErrName       = errors.New("this cannot be the name of a backup")                      // in a Folder
	ErrLast       = errors.New("it is the newest scheduled backup")                        // and stays
)

// Error is a failure with a backup file.
type Error struct {
	Op   string // what was being done and with which file: "verify /mnt/plant.backup"
	Part string // the part of the file that it is about: "the header", "app.db", "the end"; empty for the whole
	Kind error  // one of the sentinels; nil when none fits
	Err  error  // the cause, or what to do; may be nil
}

// Error implements error. It reads like a path: "verify plant.backup: app.db: damaged: the checksum does not match".
func (e *Error) Error() string {
	var path []string
	for _, name := range []string{e.Op, e.Part} {
		if name != "" {
			path = append(path, name)
		}
	}
	for _, err := range e.Unwrap() {
		path = append(path, err.Error())
	}
	return strings.Join(path, ": ")
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	var chain []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			chain = append(chain, err)
		}
	}
	return chain
}

// during adds the operation to an error that does not name it yet.
func during(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok && e.Op == "" {
		named := *e
		named.Op = op
		return &named
	}
	return fmt.Errorf("%s: %w", op, err)
}

// damaged returns the error for a part that differs from what was written.
func damaged(part string, format string, args ...any) error {
	return &Error{Part: part, Kind: ErrDamaged, Err: fmt.Errorf(format, args...)}
}

// failed says that a part cannot be read: it is damaged, unless reading it failed for a reason outside the file.
func failed(part string, err error) error {
	var e *Error
	var outside *os.PathError
	switch {
	case err == nil, errors.As(err, &e), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &outside), errors.Is(err, kv.ErrFull), errors.Is(err, kv.ErrReadOnly):
		return &Error{Part: part, Err: err}
	}
	return &Error{Part: part, Kind: ErrDamaged, Err: err}
}
