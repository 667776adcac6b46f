package kv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"opsmon/kv/file"
)

// The kinds of failure. Every error of this package is an *Error whose kind, when it has one, is matched by
// errors.Is. ErrFull, ErrReadOnly, ErrNoRead, ErrUnsure and ErrClosed also answer true from a method Unavailable() bool, found by
// errors.As: what failed may work later (http-api.md section 7; decisions.md section 1: 503). ErrDamaged has a method
// Damaged() bool likewise.
var (
	ErrNotFound error = errors.New("not found")                                  // no such key in the bucket
	ErrLocked   error = file.ErrLocked                                           // another process has the store open
	ErrDamaged  error = damaged("damaged")                                       // what is on the disk is not what was written
	ErrNewer    error = errors.New("written by a newer version of the program")  // more migrations have run than are known
	ErrOlder    error = errors.New("written by an older version of the program") // and may not be migrated
	ErrFull     error = passing("the disk is full")                              // reads go on; writes do when there is room
	ErrReadOnly error = passing("cannot be written")                             // no permission, or the disk refuses writes
	ErrNoRead   error = passing("the disk cannot be read")                       // what it holds may be whole
	ErrUnsure   error = passing(unsureText)                                      // a change may be kept or not
	ErrClosed   error = passing("closed")                                        // the store was closed
)

// unsureText tells a client what an answer with ErrUnsure means.
const unsureText = "the disk did not confirm the change, and whether it is kept is not known; look before you repeat it"

// passing is a kind of failure that may pass by itself or by what an administrator does.
type passing string

func (p passing) Error() string { return string(p) }

// Unavailable reports that the same call may work later.
func (p passing) Unavailable() bool { return true }

// damaged is a failure that stays until a backup is restored.
type damaged string

func (d damaged) Error() string { return string(d) }

// Damaged reports that what was to be read is lost.
func (d damaged) Damaged() bool { return true }

// Error is a failure of the store.
type Error struct {
	Op     string // what was being done, such as "open store /var/lib/app/store.db"
	Bucket string // the bucket concerned; empty when none is
	Key    string // the key concerned, in readable form; empty when none is
	Kind   error  // one of the sentinels; nil when none fits
	Err    error  // the cause, or more about it; may be nil
}

// Error implements error. It reads like a path: "read: bucket key: key "k1": damaged: checksum does not match".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Bucket != "" {
		fmt.Fprintf(&b, ": bucket %s", e.Bucket)
	}
	if e.Key != "" {
		fmt.Fprintf(&b, ": key %s", e.Key)
	}
	if e.Kind != nil {
		fmt.Fprintf(&b, ": %v", e.Kind)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	chain := make([]error, 0, 2)
	if e.Kind != nil {
		chain = append(chain, e.Kind)
	}
	if e.Err != nil {
		chain = append(chain, e.Err)
	}
	return chain
}

// errEnded is the cause when a transaction is used after the function that it was given to has returned.
var errEnded = errors.New("the transaction has ended")

// wrap makes an *Error of a failure of bbolt or of the operating system, with the kind that fits. An *Error
// passes unchanged: it already says more.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	return &Error{Op: op, Kind: kindOf(err), Err: err}
}

// growing reports whether text is bbolt's error when the file cannot grow. The cause is text in it, so its identity is lost.
func growing(text string) bool {
	return strings.HasPrefix(text, "file resize error") || strings.HasPrefix(text, "file sync error")
}

func kindOf(err error) error {
	text := err.Error()
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return ErrLocked
	case errors.Is(err, berrors.ErrDatabaseNotOpen):
		return ErrClosed
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrChecksum):
		return ErrDamaged
	case isFull(err),
		growing(text) && (strings.HasSuffix(text, syscall.ENOSPC.Error()) || strings.HasSuffix(text, "quota exceeded")):
		return ErrFull
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, berrors.ErrDatabaseReadOnly):
		return ErrReadOnly
	}
	return nil
}

// caught turns what recover gave into an error. bbolt panics when a page is not what it should be, and the
// runtime panics when memory mapped from the file cannot be read. db may be nil.
func caught(db *bbolt.DB, op string, r any) *Error {
	cause, ok := r.(error)
	if !ok {
		cause = fmt.Errorf("%v", r)
	}
	if readFault(db, r) {
		return &Error{Op: op, Kind: ErrNoRead, Err: cause}
	}
	return &Error{Op: op, Kind: ErrDamaged, Err: fault{cause}}
}

// advise adds to a failure to open what an administrator can do about it.
func advise(path string, err error) error {
	var advice string
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrLocked):
		advice = "stop that process first, or use the running service"
	case errors.Is(err, ErrReadOnly):
		advice = "give the user that runs this program (" + whoami() + ") the right to write to the file and its directory, and see that the disk is not mounted read-only"
	case errors.Is(err, ErrFull):
		advice = "free some room on the disk that holds it"
	case errors.Is(err, ErrDamaged):
		advice = "keep a copy of the file and restore the newest backup"
	case errors.Is(err, ErrNewer):
		advice = "install the newer program"
	case errors.Is(err, os.ErrNotExist):
		advice = "make the directory " + filepath.Dir(path) + " first"
	}
	op := "open store " + path
	e, ok := err.(*Error)
	if !ok {
		e = &Error{Err: err} // of a migration
	}
	cause := e.Err
	switch {
	case advice == "":
	case cause == nil:
		cause = errors.New(advice)
	default:
		cause = fmt.Errorf("%w; %s", cause, advice)
	}
	return &Error{Op: op, Bucket: e.Bucket, Key: e.Key, Kind: e.Kind, Err: cause}
}

func whoami() string {
	if runtime.GOOS == "windows" {
		return "see the service's settings"
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
