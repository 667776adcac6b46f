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

// Config says which store to open and what it must hold.
type Config struct {
	Path        string           // the store file; made when there is none, mode 0600
	LockTimeout time.Duration    // how long to wait for another process's lock; 0 = 1 s
	Clock       func() time.Time // gives Tx.Now; nil = time.Now
	Buckets     []string         // made at Open when missing
	Migrations  []Migration      // in order; the store's version is how many have run. A new store runs them all
	ReadOnly    bool             // change nothing in the file: no making, no migrations, no Update
	OnDamage    func(error)      // told of the first damage that is met after Open, outside of any transaction; nil = nobody

	step func(name string) // called between the steps of making a store, so that a test can stop there
}

// Store is an open store. All its methods may be called by many goroutines at once.
type Store struct {
	path    string
	clock   func() time.Time
	bolt    *bbolt.DB
	version int
	group   group

	mu      sync.Mutex
	closed  bool
	broken  error // set when bbolt's own state can no longer be trusted: nothing works but Close
	refusal error // set when the tree is damaged: writes are refused until the next Open
	damage  error // the first that was met
	file    *os.File

	onDamage func(error)
	full     atomic.Bool // the last commit found the disk full

	unsettled *takeBack    // of the leader alone
	turn      sync.RWMutex // held by who begins to read, and for writing while a meta page is written back
	confirmed atomic.Int64 // the newest transaction that the disk confirmed
	early     atomic.Int64 // open Views of a transaction that the disk had not confirmed when they began
}

// defaultLockTimeout is long enough for a service that is just stopping.
const defaultLockTimeout = time.Second

// Open opens the store at cfg.Path, makes it when there is none, and runs the migrations that it lacks. Making it
// is all or nothing: it is built beside, synced and then given its name.
//
// Errors: ErrLocked when another process has it open, after LockTimeout; ErrDamaged for a file that is not a whole
// store, an empty one included; ErrNewer for a store that more migrations have run on than are known, which is left
// as it is; ErrOlder with ReadOnly for one that lacks migrations; ErrReadOnly without the right to write; ErrFull; and a
// migration's own.
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
	return s, advise(cfg.Path, err)
}

// errNowhere refuses to make a store in a place that somebody else has chosen, or that has vanished with a share.
var errNowhere = errors.New("it is a link that leads nowhere: remove it, or bring back what it leads to")

func open(cfg Config) (*Store, error) {
	op := "open store " + cfg.Path
	if _, err := os.Stat(cfg.Path); os.IsNotExist(err) && !cfg.ReadOnly {
		cfg.step("missing")
		if isLink(cfg.Path) {
			return nil, &Error{Op: op, Err: errNowhere}
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

// prepare brings an open file to what the configuration wants.
func (s *Store) prepare(cfg Config) error {
	if err := s.readVersion(len(cfg.Migrations)); err != nil {
		return err
	}
	if cfg.ReadOnly {
		if s.version < len(cfg.Migrations) {
			return &Error{Op: "open", Kind: ErrOlder, Err: fmt.Errorf("the store has version %d and this program works with %d", s.version, len(cfg.Migrations))}
		}
		return nil
	}
	if err := s.makeBuckets(cfg.Buckets); err != nil {
		return err
	}
	return s.migrate(cfg.Migrations)
}

// openBolt opens the file with bbolt. When bbolt panics, the file is closed, which gives the lock back.
func (s *Store) openBolt(cfg Config) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = caught(nil, "open", r)
		}
		if err != nil && s.file != nil {
			s.file.Close() // closed before by bbolt when it failed in good order
		}
	}()
	s.bolt, err = bbolt.Open(s.path, 0o600, &bbolt.Options{
		Timeout:         cfg.LockTimeout,
		ReadOnly:        cfg.ReadOnly,
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: initialMmap(),
		NoStatistics:    true,
		OpenFile: func(path string, flag int, mode os.FileMode) (*os.File, error) {
			// Without O_CREATE: a store that has just vanished must not come back empty.
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
		s.unsettled, err = s.found()
	}
	return errors.Join(err, bolt.Rollback())
}

// initialMmap is how much address space to reserve for the file, in bytes. bbolt has to wait for all readers when it
// outgrows the mapping, so a long read would stop writes; a reservation costs nothing. On Windows the file itself
// would grow to that size, and 32-bit machines have no address space to spare.
func initialMmap() int {
	if runtime.GOOS == "windows" || ^uint(0)>>32 == 0 {
		return 0
	}
	return 64 << 30
}

// makeBuckets adds the buckets that are missing.
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
		for _, full := range []string{name, tallyPrefix + name} {
			if _, err := tx.bolt.CreateBucketIfNotExists([]byte(full)); err != nil {
				return wrap("make bucket "+name, err)
			}
		}
	}
	return nil
}

// Close waits for running transactions, then closes the file and releases its lock. Later calls of Update and View answer
// ErrClosed. A second Close does nothing. Close inside a transaction waits for ever.
func (s *Store) Close() error {
	s.mu.Lock()
	closed, broken := s.closed, s.broken
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	if broken != nil {
		// bbolt's own locks may be held for ever, so it cannot be closed, and its mapping stays.
		return wrap("close store "+s.path, errors.Join(file.Unlock(s.file), s.file.Close()))
	}
	return wrap("close store "+s.path, s.bolt.Close())
}

// Writable reports whether a write can succeed, as far as is known without one: ErrClosed, or why writes are refused
// until the store is opened again. A full disk does not count, nor one that confirms nothing, since both may pass.
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

// Path is the store file's path, as given to Open.
func (s *Store) Path() string { return s.path }

// Version is how many migrations have run on the store.
func (s *Store) Version() int { return s.version }

// Size is how many bytes the store takes, room for reuse included; a copy of it has this size. 0 when it cannot be
// read.
func (s *Store) Size() int64 {
	var size int64
	if err := s.View(func(tx *Tx) error { size = tx.bolt.Size(); return nil }); err != nil {
		return 0
	}
	return size
}

// View runs fn with a consistent view of the store, which no write disturbs. It does not wait for writers. fn's error
// is View's. A View that stays open keeps the room that later writes free from being used again. Errors: ErrDamaged
// when a method that returns no error met damage; ErrClosed.
func (s *Store) View(fn func(*Tx) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { s.note(err) }() // also of a fault after fn, and after the transaction's end
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

// Unmap lets go of the pages of the file that reads have brought into the process's memory. The system keeps them for the next
// reads, unless memory is short. Errors: ErrClosed, and the system's.
func (s *Store) Unmap() error {
	return s.View(func(tx *Tx) error { return unmap(tx.bolt) })
}

// beginView starts a transaction that reads. It is early, and counted as such, when it sees what the disk has not confirmed.
func (s *Store) beginView() (bolt *bbolt.Tx, early bool, err error) {
	s.turn.RLock()
	defer s.turn.RUnlock()
	bolt, err = s.begin(false)
	if early = err == nil && int64(bolt.ID()) > s.confirmed.Load(); early {
		s.early.Add(1)
	}
	return bolt, early, err
}

// metaPages is the least size of the two pages that a store begins with, in bytes.
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
	// A file that has been cut off before the end of its meta pages is found before bbolt meets it.
	if is, err := s.file.Stat(); err == nil && is.Size() < metaPages {
		return nil, s.breakDown(&Error{Op: op, Kind: ErrDamaged, Err: fault{errors.New("its file was cut off while it was open")}})
	}
	defer func() {
		if r := recover(); r != nil {
			err = s.breakDown(caught(s.bolt, op, r))
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

// free releases bbolt's locks after a panic at the start of a transaction that reads. It reads the meta pages with them held,
// and a file that was cut off, or that a commit has made longer again since, ends it there: others would wait for ever, who are
// starting, ending or committing a transaction. bbolt does this itself when it starts a transaction that writes.
func free(db *bbolt.DB) {
	fields := reflect.ValueOf(db).Elem()
	(*sync.RWMutex)(fields.FieldByName("mmaplock").Addr().UnsafePointer()).RUnlock()
	(*sync.Mutex)(fields.FieldByName("metalock").Addr().UnsafePointer()).Unlock()
}

// rollback ends a bbolt transaction without keeping anything.
func (s *Store) rollback(bolt *bbolt.Tx) {
	defer func() {
		if r := recover(); r != nil {
			s.breakDown(caught(s.bolt, "roll back", r))
		}
	}()
	bolt.Rollback() // its only error is that the transaction has ended, after a failed commit
}

// breakDown notes that a panic may have left bbolt's locks held, so that nobody waits for them.
func (s *Store) breakDown(err *Error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = err
	}
	return err
}
