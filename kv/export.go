package kv

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"runtime"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"opsmon/kv/file"
)

// How long a run is, in bytes. One that is being filled ends after an entry that is chosen by its key, with a chance
// such that runs are of the target's size on average. An entry that comes, goes or changes so changes the run that it is in,
// and at most the next one: the others stay byte for byte as they were in an earlier export. A run that is longer than
// the most has a single entry.
const (
	runLeast  = 256 << 10
	runTarget = 1 << 20
	runMost   = 4 << 20
)

// Export reads everything that a store holds at one moment, in pieces: cfg.Use is called with each run, in order. A run is
// a part of one bucket's entries, encoded as
//
//	length of the bucket's name, name, then for each entry: length of the key, key, length of the value, value
//
// with lengths as unsigned varints, and values as they are stored, with their checksums. Runs come in the order of
// their buckets' names and of the keys; the bucket that holds the version is one of them. An empty bucket has no run: its name is in the
// Contents, whose Size is that of all runs together. Imported elsewhere it makes a store that holds the same.
//
// Every value's checksum and every bucket's tally are compared on the way, so damage that matters to the content is an
// error, ErrDamaged. Writers go on meanwhile, but until Export returns they cannot use again the room that they free,
// so the file grows; and on Windows a write that outgrows the mapping waits for it. So cfg.Use should be fast.
// Errors: cfg.Use's own; ErrDamaged; ErrClosed.
func (s *Store) Export(cfg ExportConfig) (c Contents, err error) {
	prefetch(s.file)
	err = s.View(func(tx *Tx) (err error) {
		defer tx.guard("export", &err)
		if c, err = tx.contents(); err != nil {
			return err
		}
		c.Size = 0
		return tx.bolt.ForEach(func(name []byte, b *bbolt.Bucket) error {
			if strings.HasPrefix(string(name), tallyPrefix) {
				return nil
			}
			e := exporter{cfg: cfg, name: string(name), sum: nameSum(string(name))}
			err := e.bucket(tx.bolt, b)
			c.Size += e.size
			return err
		})
	})
	return c, wrap("export store "+s.path, err)
}

// ExportConfig says what becomes of an export's runs.
type ExportConfig struct {
	Use  func(run []byte) error // is called with each run, which it may keep
	Next func() []byte          // gives the buffer that the next run is appended to, with whose content Use gets it; nil = a new one each time

	// Trust leaves the checksums of the values to whoever reads the runs: Import compares them as well.
	Trust bool
}

// exporter makes the runs of one bucket.
type exporter struct {
	cfg  ExportConfig
	name string
	sum  uint32 // of the name

	run    []byte
	front  int   // bytes in front of the run in its buffer
	size   int64 // of the runs so far
	worked int   // bytes since others were let go first
}

func (e *exporter) bucket(tx *bbolt.Tx, b *bbolt.Bucket) error {
	var t tally
	var last []byte
	cursor := b.Cursor()
	for key, stored := cursor.First(); key != nil; key, stored = cursor.Next() {
		if last != nil && !below(last, key) {
			return e.damaged(key, errOrder)
		}
		last = append(last[:0], key...)
		if !e.cfg.Trust {
			if _, _, err := unsealIn(e.sum, key, stored); err != nil {
				return e.damaged(key, err)
			}
		}
		t.add(stored)
		if err := e.add(key, stored); err != nil {
			return err
		}
	}
	if err := e.end(); err != nil {
		return err
	}
	kept, err := readTally(tx, e.name)
	if err == nil && kept != t {
		err = fmt.Errorf("it holds %d keys with the sum %x where %d with %x are expected", t.count, t.sum, kept.count, kept.sum)
	}
	if err != nil {
		return e.damaged(nil, err)
	}
	return nil
}

func (e *exporter) damaged(key []byte, err error) error {
	return &Error{Op: "export", Bucket: e.name, Key: hex.EncodeToString(key), Kind: ErrDamaged, Err: err}
}

func (e *exporter) add(key, stored []byte) error {
	size := len(key) + len(stored) + 2*binary.MaxVarintLen32
	if len(e.run)-e.front+size > runMost {
		if err := e.end(); err != nil {
			return err
		}
	}
	if e.run == nil {
		if e.cfg.Next != nil {
			e.run = e.cfg.Next()
		}
		e.front = len(e.run)
		e.run = binary.AppendUvarint(e.run, uint64(len(e.name)))
		e.run = append(e.run, e.name...)
	}
	e.run = binary.AppendUvarint(e.run, uint64(len(key)))
	e.run = append(e.run, key...)
	e.run = binary.AppendUvarint(e.run, uint64(len(stored)))
	e.run = append(e.run, stored...)
	e.worked = breathe(e.worked + size)
	if len(e.run)-e.front >= runLeast && endsRun(key, size) {
		return e.end()
	}
	return nil
}

// breath is after how many bytes an export or an import lets others go first: it takes about 0.1 ms for them.
const breath = 128 << 10

// breathe lets those go first who wait for a processor, when enough has been worked since the last time, and returns what
// has been worked since.
func breathe(worked int) int {
	if worked < breath {
		return worked
	}
	runtime.Gosched()
	return 0
}

// endsRun chooses the entries that runs end after, by their keys alone, in proportion to their size.
func endsRun(key []byte, size int) bool {
	// Keys that follow each other have checksums that do too; the multiplication spreads them.
	n := uint64(crc32.Checksum(key, castagnoli)) * 0x9E3779B97F4A7C15 >> 32
	return n*(runTarget-runLeast) < uint64(size)<<32
}

// end hands over the run that is being filled, if there is one.
func (e *exporter) end() error {
	run := e.run
	if run == nil {
		return nil
	}
	e.run = nil
	e.size += int64(len(run) - e.front)
	return e.cfg.Use(run)
}

// Import takes the runs of an export, checks them, and makes a store of them.
type Import struct {
	path    string
	bolt    *bbolt.DB // nil: the runs are checked alone
	tx      *bbolt.Tx
	pending int // bytes put into tx

	bucket  string
	last    []byte // key
	tallies map[string]tally
	version int
	size    int64
}

// NewImport begins an import into a new store at path, which must not exist. A path of "" makes no store: the
// runs are checked alone. It must be ended with Finish or Abort. The store has no name that lasts before Finish, and
// is not whole.
func NewImport(path string) (im *Import, err error) {
	im = &Import{path: path, tallies: map[string]tally{}, version: -1}
	if path == "" {
		return im, nil
	}
	defer guard("import", &err)
	if file.Exists(path) {
		return nil, &Error{Op: "import store " + path, Err: errors.New("there is a file of this name")}
	}
	im.bolt, err = bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: defaultLockTimeout, PageSize: pageSize, FreelistType: bbolt.FreelistMapType,
		NoSync: true, NoGrowSync: true, // Finish syncs
		OpenFile: func(path string, flag int, mode os.FileMode) (*os.File, error) {
			return os.OpenFile(path, flag|os.O_EXCL, mode) // no link is followed, either
		},
	})
	return im, wrap("import store "+path, err)
}

// importBatch is how many bytes share a transaction: its changes are in memory.
const importBatch = 32 << 20

// Add takes the next run. It keeps no reference to it. Errors: ErrDamaged; those of the disk.
func (im *Import) Add(run []byte) (err error) {
	defer guard("import", &err)
	if im.bolt != nil {
		run = slices.Clone(run) // values stay referenced until the commit
	}
	im.size += int64(len(run))
	r := runReader{run}
	name, err := r.field()
	if err != nil || len(name) == 0 || strings.HasPrefix(string(name), tallyPrefix) {
		return im.damaged("", nil, errRun)
	}
	bucket := string(name)
	if bucket < im.bucket {
		return im.damaged(bucket, nil, errOrder)
	}
	if bucket != im.bucket {
		im.bucket, im.last = bucket, nil
	}
	into, err := im.begin(bucket)
	if err != nil {
		return wrap("import store "+im.path, err)
	}
	t, sum, worked := im.tallies[bucket], nameSum(bucket), 0
	for len(r.left) > 0 {
		stored, err := im.addNext(bucket, sum, into, &r)
		if err != nil {
			return err
		}
		t.add(stored)
		worked = breathe(worked + len(stored))
	}
	im.tallies[bucket] = t
	if im.pending += len(run); im.bolt != nil && im.pending >= importBatch {
		return wrap("import store "+im.path, im.commit())
	}
	return nil
}

// addNext takes the next key of a run, and returns what is stored there.
func (im *Import) addNext(bucket string, sum uint32, into *bbolt.Bucket, r *runReader) (stored []byte, err error) {
	key, err := r.field()
	if err != nil {
		return nil, im.damaged(bucket, nil, err)
	}
	if stored, err = r.field(); err != nil {
		return nil, im.damaged(bucket, key, err)
	}
	if len(key) == 0 || im.last != nil && !below(im.last, key) {
		return nil, im.damaged(bucket, key, errOrder)
	}
	format, document, err := unsealIn(sum, key, stored)
	if err != nil {
		return nil, im.damaged(bucket, key, err)
	}
	if bucket == about.name && bytes.Equal(key, about.keys.encode(versionKey)) {
		if im.version, err = about.values.open(format, document); err != nil {
			return nil, im.damaged(bucket, key, err)
		}
	}
	im.last = append(im.last[:0], key...)
	if into != nil {
		err = wrap("import store "+im.path, into.Put(key, stored))
	}
	return stored, err
}

var errRun = errors.New("the run does not say which bucket it is of")

func (im *Import) damaged(bucket string, key []byte, err error) error {
	return &Error{Op: "import", Bucket: bucket, Key: hex.EncodeToString(key), Kind: ErrDamaged, Err: err}
}

// begin returns the bucket to fill, nil when no store is made.
func (im *Import) begin(name string) (*bbolt.Bucket, error) {
	if im.bolt == nil {
		return nil, nil
	}
	if im.tx == nil {
		var err error
		if im.tx, err = im.bolt.Begin(true); err != nil {
			return nil, err
		}
	}
	b, err := im.tx.CreateBucketIfNotExists([]byte(name))
	if err == nil {
		b.FillPercent = 1 // nothing will come between
	}
	return b, err
}

func (im *Import) commit() error {
	if im.tx == nil {
		return nil
	}
	tx := im.tx
	im.tx, im.pending = nil, 0
	return tx.Commit()
}

// Finish compares what came with what the export said, completes the store, and syncs it. The directory is not synced.
// Errors: ErrDamaged when something is missing or too much; those of the disk.
func (im *Import) Finish(want Contents) (err error) {
	defer func() { err = errors.Join(err, im.Abort()) }()
	defer guard("import", &err)
	has := Contents{Version: im.version, Size: im.size, Counts: map[string]int{}}
	for name, t := range im.tallies {
		if name[0] != reserved {
			has.Counts[name] = int(t.count)
		}
	}
	for name, n := range want.Counts {
		if _, there := has.Counts[name]; !there && n == 0 {
			has.Counts[name] = 0
			im.tallies[name] = tally{}
		}
	}
	has.Sequences = want.Sequences // which the runs do not carry
	if err := has.Same(want); err != nil {
		return im.damaged("", nil, err)
	}
	if im.bolt == nil {
		return nil
	}
	if err := im.complete(want.Sequences); err != nil {
		return wrap("import store "+im.path, err)
	}
	return nil
}

// complete adds what the runs do not carry: empty buckets, sequence numbers and tallies.
func (im *Import) complete(sequences map[string]uint64) error {
	for name, t := range im.tallies {
		b, err := im.begin(name)
		if err != nil {
			return err
		}
		if err := b.SetSequence(sequences[name]); err != nil {
			return err
		}
		kept, err := im.begin(tallyPrefix + name)
		if err != nil {
			return err
		}
		if err := kept.SetSequence(t.pack()); err != nil {
			return err
		}
	}
	if err := im.commit(); err != nil {
		return err
	}
	return im.bolt.Sync()
}

// Abort stops using the file; it stays where it is. After Finish it does nothing.
func (im *Import) Abort() (err error) {
	if im.bolt == nil {
		return nil
	}
	defer guard("import", &err)
	if im.tx != nil {
		err = im.tx.Rollback()
		im.tx = nil
	}
	err = errors.Join(err, im.bolt.Close())
	im.bolt = nil
	return wrap("import store "+im.path, err)
}

// runReader reads the fields of a run.
type runReader struct{ left []byte }

var errRunShort = errors.New("the run ends too early")

func (r *runReader) field() ([]byte, error) {
	n, width := binary.Uvarint(r.left)
	if width <= 0 || n > uint64(len(r.left)-width) {
		return nil, errRunShort
	}
	field := r.left[width:][:n:n]
	r.left = r.left[width+int(n):]
	return field, nil
}
