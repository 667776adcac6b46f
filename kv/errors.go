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

// The kinds of failure. Every error of this package is an *Error; errors.Is matches its kind, if it has one. ErrFull,
// ErrReadOnly, ErrNoRead, ErrUnconfirmed and ErrClosed have a method Unavailable() bool that returns true, for use with
// errors.As: the call may succeed later (http-api.md section 7; decisions.md section 1: 503). ErrDamaged has a method
// Damaged() bool.
var (
	// ErrNotFound means that the bucket has no such key.
	ErrNotFound error = errors.New("not found")
	// ErrLocked means that another process has the store open.
	ErrLocked error = file.ErrLocked
	// ErrDamaged means that the data on the disk is not the data that was written.
	ErrDamaged error = damaged("damaged")
	// ErrNewer means that the store has run migrations that this program does not have.
	ErrNewer error = errors.New("written by a newer version of the program")
	// ErrOlder means that the store lacks migrations and was opened with ReadOnly, which runs none.
	ErrOlder error = errors.New("written by an older version of the program")
	// ErrFull means that writes fail until there is space on the disk; reads continue.
	ErrFull error = transient("the disk is full")
	// ErrReadOnly means that permission is missing or the disk refuses writes.
	ErrReadOnly error = transient("cannot be written")
	// ErrNoRead means that the disk could not be read; the data may be intact.
	ErrNoRead error = transient("the disk cannot be read")
	// ErrUnconfirmed means that a change may be present or absent.
	ErrUnconfirmed error = transient(unconfirmedText)
	// ErrClosed means that Close was called.
	ErrClosed error = transient("closed")
)

// unconfirmedText explains ErrUnconfirmed to clients.
const unconfirmedText = "the disk did not confirm the change, which may or may not be stored; check before you repeat it"

// transient is a failure that may end without a restart of the program.
type transient string

func (p transient) Error() string { return string(p) }

// Unavailable reports that the same call may succeed later.
func (p transient) Unavailable() bool { return true }

// damaged is a failure that lasts until a backup is restored.
type damaged string

func (d damaged) Error() string { return string(d) }

// Damaged reports that the data is lost.
func (d damaged) Damaged() bool { return true }

// Error is a failure of the store.
type Error struct {
	Op     string // the operation, such as "open store /var/lib/app/store.db"
	Bucket string // empty if not about a bucket
	Key    string // in readable form; empty if not about a key
	Kind   error  // one of the sentinels, or nil
	Err    error  // the cause or details; may be nil
}

// Error implements error, in the form of a path: "read: bucket key: key "k1": damaged: checksum does not match".
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

// errEnded is the cause if a transaction is used after its function has returned.
var errEnded = errors.New("the transaction has ended")

// wrap returns an *Error with the kind of err, which is a failure of bbolt or of the operating system. It returns an
// *Error unchanged, because that has more details.
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

// isResizeError reports whether text is bbolt's error for a file that cannot grow. bbolt formats the cause as text, so
// errors.Is cannot match it.
func isResizeError(text string) bool {
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
		isResizeError(text) && (strings.HasSuffix(text, syscall.ENOSPC.Error()) || strings.HasSuffix(text, "quota exceeded")):
		return ErrFull
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, berrors.ErrDatabaseReadOnly):
		return ErrReadOnly
	}
	return nil
}

// recovered turns a recovered value into an error. bbolt panics on an invalid page, and the runtime panics if mapped
// memory cannot be read from the file. db may be nil.
func recovered(db *bbolt.DB, op string, r any) *Error {
	cause, ok := r.(error)
	if !ok {
		cause = fmt.Errorf("%v", r)
	}
	if readFault(db, r) {
		return &Error{Op: op, Kind: ErrNoRead, Err: cause}
	}
	return &Error{Op: op, Kind: ErrDamaged, Err: fault{cause}}
}

// withAdvice adds instructions for an administrator to a failure of Open.
func withAdvice(path string, err error) error {
	var advice string
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrLocked):
		advice = "stop that process first, or use the running service"
	case errors.Is(err, ErrReadOnly):
		advice = "grant the user that runs this program (" + whoami() + ") write permission on the file and its directory, and check that the disk is not mounted read-only"
	case errors.Is(err, ErrFull):
		advice = "free some space on its disk"
	case errors.Is(err, ErrDamaged):
		advice = "keep a copy of the file and restore the newest backup"
	case errors.Is(err, ErrNewer):
		advice = "install the newer program"
	case errors.Is(err, os.ErrNotExist):
		advice = "create the directory " + filepath.Dir(path) + " first"
	}
	op := "open store " + path
	e, ok := err.(*Error)
	if !ok {
		e = &Error{Err: err} // an error of a migration
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
