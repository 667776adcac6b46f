package kv

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"opsmon/kv/file"
)

// Config configures a store.
type Config struct {
	Path        string           // the store file; created with mode 0600 if missing
	LockTimeout time.Duration    // maximum wait for another process's lock; 0 = 1 s
	Clock       func() time.Time // returns the time for Tx.Now; nil = time.Now
	Buckets     []string         // created by Open if missing
	Migrations  []Migration      // in order; the store's version is the number that have run. A new store runs them all
	ReadOnly    bool             // change nothing in the file: no creation, no migrations, no Update
	// called with the first damage found after Open, outside of any transaction; may be nil
	OnDamage func(error)

	step func(name string) // called between the steps of creation, for tests that stop there
}

// Store is an open store. Its methods may be called by many goroutines at once.
type Store struct {
	path    string
	clock   func() time.Time
	bolt    *bbolt.DB
	version int
	group   group

	mu      sync.Mutex
	closed  bool
	broken  error // set if bbolt's own state can no longer be trusted: only Close works
	refusal error // set if the tree is damaged: writes are refused until the next Open
	damage  error // the first damage found
	file    *os.File

	onDamage func(error)
	full     atomic.Bool // the last commit failed on a full disk

	unconfirmed *metaRewrite // used only by the leader
	metaMu      sync.RWMutex // read-locked to begin a read; locked while a meta page is restored
	confirmed   atomic.Int64 // the newest transaction that the disk confirmed
	early       atomic.Int64 // number of open Views of a transaction that was unconfirmed when they began
}

// defaultLockTimeout is long enough for a service that is stopping.
const defaultLockTimeout = time.Second

// Open opens the store at cfg.Path, creates it if missing, and runs the missing migrations. Creation is atomic: see
// create.
//
// Errors: ErrLocked if another process still has the store open after LockTimeout; ErrDamaged for a file that is not
// an intact store, including an empty file; ErrNewer for a store with more migrations than cfg.Migrations, which is
// not changed; ErrOlder with ReadOnly for a store that lacks migrations; ErrReadOnly without write permission;
// ErrFull; those of a migration.
func Open(cfg Config) (*Store, error) {
	if cfg.LockTimeout <= 0 {
		cfg.LockTimeout = defaultLockTimeout
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.step == nil {
		cfg.step = func(string) {}
	}
	for _, name := range cfg.Buckets {
		if name == "" || name[0] == reserved {
			return nil, &Error{Op: "open store " + cfg.Path, Err: fmt.Errorf("the bucket name %q is empty or starts with %q", name, reserved)}
		}
	}
	s, err := open(cfg)
	return s, withAdvice(cfg.Path, err)
}

// errDanglingLink prevents creating a store at a place that somebody else has chosen, or below a share that is
// not mounted.
var errDanglingLink = errors.New("it is a link to a missing file: remove the link, or restore the file")

func open(cfg Config) (*Store, error) {
	op := "open store " + cfg.Path
	if _, err := os.Stat(cfg.Path); os.IsNotExist(err) && !cfg.ReadOnly {
		cfg.step("missing")
		if isLink(cfg.Path) {
			return nil, &Error{Op: op, Err: errDanglingLink}
		}
		if err := create(cfg); err != nil {
			return nil, wrap(op, err)
		}
	} else if err != nil {
		return nil, wrap(op, err)
	}
	if err := probe(cfg.Path); err != nil {
		return nil, wrap(op, err)
	}
	s := &Store{path: cfg.Path, clock: cfg.Clock}
	if err := s.openBolt(cfg); err != nil {
		return nil, wrap(op, err)
	}
	if !cfg.ReadOnly {
		removeLeftovers(cfg.Path)
	}
	if err := s.inspect(); err != nil {
		s.Close()
		return nil, err
	}
	if err := s.prepare(cfg); err != nil {
		s.Close()
		return nil, wrap(op, err)
	}
	s.onDamage = cfg.OnDamage
	return s, nil
}

// prepare creates the missing buckets and runs the missing migrations.
func (s *Store) prepare(cfg Config) error {
	if err := s.readVersion(len(cfg.Migrations)); err != nil {
		return err
	}
	if cfg.ReadOnly {
		if s.version < len(cfg.Migrations) {
			return &Error{Op: "open", Kind: ErrOlder, Err: fmt.Errorf("the store has version %d; this program requires %d", s.version, len(cfg.Migrations))}
		}
		return nil
	}
	if err := s.makeBuckets(cfg.Buckets); err != nil {
		return err
	}
	return s.migrate(cfg.Migrations)
}

// openBolt opens the file with bbolt. If bbolt panics, it closes the file, which releases the lock.
func (s *Store) openBolt(cfg Config) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = recovered(nil, "open", r)
		}
		if err != nil && s.file != nil {
			s.file.Close() // already closed if bbolt failed without a panic
		}
	}()
	s.bolt, err = bbolt.Open(s.path, 0o600, &bbolt.Options{
		Timeout:         cfg.LockTimeout,
		ReadOnly:        cfg.ReadOnly,
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: initialMmap(),
		NoStatistics:    true,
		OpenFile: func(path string, flag int, mode os.FileMode) (*os.File, error) {
			// Without O_CREATE: a store that has just been removed must not come back empty.
			f, err := openRegular(path, flag&^os.O_CREATE, mode)
			s.file = f
			return f, err
		},
	})
	if err != nil {
		return err
	}
	bolt, err := s.bolt.Begin(false)
	if err != nil {
		return err
	}
	s.confirmed.Store(int64(bolt.ID()))
	if !cfg.ReadOnly {
		s.unconfirmed, err = s.found()
	}
	return errors.Join(err, bolt.Rollback())
}

// initialMmap returns how much address space to reserve for the file, in bytes. When the file outgrows the mapping,
// bbolt waits for all readers, so a long read would block writes; a reservation costs nothing. On Windows the file
// itself would grow to that size, and 32-bit machines lack the address space.
func initialMmap() int {
	if runtime.GOOS == "windows" || ^uint(0)>>32 == 0 {
		return 0
	}
	return 64 << 30
}

// makeBuckets creates missing buckets.
func (s *Store) makeBuckets(names []string) error {
	missing := false
	err := s.View(func(tx *Tx) error {
		missing = slices.ContainsFunc(names, func(name string) bool { return tx.bolt.Bucket([]byte(name)) == nil })
		return nil
	})
	if err != nil || !missing {
		return err
	}
	return s.Update(func(tx *Tx) error { return tx.makeBuckets(names) })
}

func (tx *Tx) makeBuckets(names []string) (err error) {
	defer tx.guard("make buckets", &err)
	for _, name := range names {
		tx.wrote()
		for _, full := range []string{name, counterPrefix + name} {
			if _, err := tx.bolt.CreateBucketIfNotExists([]byte(full)); err != nil {
				return wrap("make bucket "+name, err)
			}
		}
	}
	return nil
}

// Close waits for running transactions, then closes the file and releases its lock. Later calls of Update and View
// return ErrClosed. A second Close does nothing. Close inside a transaction deadlocks.
func (s *Store) Close() error {
	s.mu.Lock()
	closed, broken := s.closed, s.broken
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	if broken != nil {
		// bbolt's locks may be held for ever, so its Close could block; the mapping remains.
		return wrap("close store "+s.path, errors.Join(file.Unlock(s.file), s.file.Close()))
	}
	return wrap("close store "+s.path, s.bolt.Close())
}

// Writable returns an error if writes fail until the store is opened again: ErrClosed, or the reason why writes are
// refused. Conditions that can end are not reported: a full disk, or a disk that confirms nothing.
func (s *Store) Writable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return &Error{Op: "write store " + s.path, Kind: ErrClosed}
	case s.broken != nil:
		return s.broken
	}
	return s.refusal
}

// Path returns the store file's path, as passed to Open.
func (s *Store) Path() string { return s.path }

// Version returns the number of migrations that have run.
func (s *Store) Version() int { return s.version }

// Size returns the size of the store in bytes, including free pages; a copy has the same size. It returns 0 if the
// store cannot be read.
func (s *Store) Size() int64 {
	var size int64
	if err := s.View(func(tx *Tx) error { size = tx.bolt.Size(); return nil }); err != nil {
		return 0
	}
	return size
}

// View runs fn with a consistent snapshot of the store. It does not wait for writers. It returns fn's error. While a
// View is open, pages that later writes free cannot be reused. Errors: ErrDamaged if a method without an error result
// met damage; ErrClosed.
func (s *Store) View(fn func(*Tx) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { s.note(err) }() // also for a fault after fn or after the transaction's end
	bolt, early, err := s.beginView()
	if err != nil {
		return err
	}
	tx := &Tx{bolt: bolt, now: s.now()}
	defer func() {
		tx.ended = true
		s.rollback(bolt)
		if early {
			s.early.Add(-1)
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.fault
}

// Unmap releases the process's memory that reads have filled with pages of the file. The system still caches them for
// the next reads, unless memory is short. Errors: ErrClosed, and the system's.
func (s *Store) Unmap() error {
	return s.View(func(tx *Tx) error { return unmap(tx.bolt) })
}

// beginView starts a read transaction. It is early, and counted, if the disk has not confirmed the commit that it
// sees.
func (s *Store) beginView() (bolt *bbolt.Tx, early bool, err error) {
	s.metaMu.RLock()
	defer s.metaMu.RUnlock()
	bolt, err = s.begin(false)
	if early = err == nil && int64(bolt.ID()) > s.confirmed.Load(); early {
		s.early.Add(1)
	}
	return bolt, early, err
}

// metaPages is the minimum size of the two pages at the start of a store, in bytes.
const metaPages = 2 * 4096

// begin starts a bbolt transaction.
func (s *Store) begin(write bool) (bolt *bbolt.Tx, err error) {
	op := "read store " + s.path
	if write {
		op = "write store " + s.path
	}
	s.mu.Lock()
	closed, refused := s.closed, s.broken
	if write && s.refusal != nil {
		refused = s.refusal
	}
	s.mu.Unlock()
	switch {
	case closed:
		return nil, &Error{Op: op, Kind: ErrClosed}
	case refused != nil:
		return nil, refused
	}
	// Detects a file truncated within its meta pages before bbolt reads them.
	if is, err := s.file.Stat(); err == nil && is.Size() < metaPages {
		return nil, s.breakDown(&Error{Op: op, Kind: ErrDamaged, Err: fault{errors.New("its file was truncated while it was open")}})
	}
	defer func() {
		if r := recover(); r != nil {
			err = s.breakDown(recovered(s.bolt, op, r))
		}
	}()
	if write {
		if err := s.settle(); err != nil {
			return nil, err
		}
	}
	began := false
	defer func() {
		if !began && !write {
			free(s.bolt)
		}
	}()
	bolt, err = s.bolt.Begin(write)
	began = true
	return bolt, wrap(op, err)
}

// free releases bbolt's locks after a panic at the start of a read transaction. bbolt reads the meta pages with these
// locks held, and panics if the file was truncated. Without free, all goroutines that start, end or commit a
// transaction would then wait for ever. For write transactions bbolt releases the locks itself.
func free(db *bbolt.DB) {
	fields := reflect.ValueOf(db).Elem()
	(*sync.RWMutex)(fields.FieldByName("mmaplock").Addr().UnsafePointer()).RUnlock()
	(*sync.Mutex)(fields.FieldByName("metalock").Addr().UnsafePointer()).Unlock()
}

// rollback ends a bbolt transaction and discards its changes.
func (s *Store) rollback(bolt *bbolt.Tx) {
	defer func() {
		if r := recover(); r != nil {
			s.breakDown(recovered(s.bolt, "roll back", r))
		}
	}()
	bolt.Rollback() // its only error is that the transaction has ended, after a failed commit
}

// breakDown records that a panic may have left bbolt's locks held, which makes later transactions fail instead of
// waiting.
func (s *Store) breakDown(err *Error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = err
	}
	return err
}
