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

// Lengths of a run, in bytes. A run ends after an entry that is selected by its key, with a probability that makes
// the average length runTarget. A changed, new or deleted entry therefore changes only its own run and at most the
// next one; all others stay byte for byte as in an earlier export. Only a run with a single entry is longer than
// runMost.
const (
	runLeast  = 256 << 10
	runTarget = 1 << 20
	runMost   = 4 << 20
)

// Export reads the whole store, as of one moment, in pieces called runs: it calls cfg.Use with each run, in order. A
// run is a part of the entries of one bucket, encoded as
//
//	length of the bucket's name, name, then for each entry: length of the key, key, length of the value, value
//
// with lengths as unsigned varints, and values in their stored form, with checksums. Runs are ordered by bucket name
// and key, and include the bucket that has the version. An empty bucket has no run; its name is in the Contents,
// whose Size is the sum of all runs. Import builds a store with the same content from the runs.
//
// Export verifies every value's checksum and every bucket's counter, and returns ErrDamaged for damage that affects
// the content. Writers continue, but cannot reuse the pages that they free until Export returns, so the file grows.
// On Windows, a write that outgrows the mapping waits for Export. Therefore cfg.Use should be fast. Errors: those of
// cfg.Use; ErrDamaged; ErrClosed.
func (s *Store) Export(cfg ExportConfig) (c Contents, err error) {
	prefetch(s.file)
	err = s.View(func(tx *Tx) (err error) {
		defer tx.guard("export", &err)
		if c, err = tx.contents(); err != nil {
			return err
		}
		c.Size = 0
		return tx.bolt.ForEach(func(name []byte, b *bbolt.Bucket) error {
			if strings.HasPrefix(string(name), counterPrefix) {
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

// ExportConfig configures an export.
type ExportConfig struct {
	Use func(run []byte) error // receives each run, and may keep it
	// returns a buffer to append the next run to, which Use receives with its content; nil = allocate one per run
	Next func() []byte

	// Trust skips the verification of the values' checksums, which Import verifies too.
	Trust bool
}

// exporter makes the runs of one bucket.
type exporter struct {
	cfg  ExportConfig
	name string
	sum  uint32 // of the name

	run       []byte
	front     int   // bytes before the run in its buffer
	size      int64 // of all runs so far
	processed int   // bytes since the last yield
}

func (e *exporter) bucket(tx *bbolt.Tx, b *bbolt.Bucket) error {
	var t counter
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
	kept, err := readCounter(tx, e.name)
	if err == nil && kept != t {
		err = fmt.Errorf("it has %d keys with the sum %x, want %d with %x", t.count, t.sum, kept.count, kept.sum)
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
	e.processed = yieldProcessor(e.processed + size)
	if len(e.run)-e.front >= runLeast && endsRun(key, size) {
		return e.end()
	}
	return nil
}

// yieldAfter is the number of bytes after which an export or an import yields the processor: about 0.1 ms of work.
const yieldAfter = 128 << 10

// yieldProcessor yields the processor if enough bytes were processed since the last yield, and returns the number of
// bytes since then.
func yieldProcessor(processed int) int {
	if processed < yieldAfter {
		return processed
	}
	runtime.Gosched()
	return 0
}

// endsRun selects the entries that end a run, by key, with a probability proportional to the entry's size.
func endsRun(key []byte, size int) bool {
	// Similar keys have similar checksums; the multiplication spreads them.
	n := uint64(crc32.Checksum(key, castagnoli)) * 0x9E3779B97F4A7C15 >> 32
	return n*(runTarget-runLeast) < uint64(size)<<32
}

// end passes the current run, if any, to cfg.Use.
func (e *exporter) end() error {
	run := e.run
	if run == nil {
		return nil
	}
	e.run = nil
	e.size += int64(len(run) - e.front)
	return e.cfg.Use(run)
}

// Import verifies the runs of an export and builds a store from them.
type Import struct {
	path    string
	bolt    *bbolt.DB // nil: only verify the runs
	tx      *bbolt.Tx
	pending int // bytes put into tx

	bucket   string
	last     []byte // key
	counters map[string]counter
	version  int
	size     int64
}

// NewImport begins an import into a new store at path, which must not exist. With an empty path it only verifies the
// runs. Every import must end with Finish or Abort. Before Finish returns, the store is incomplete and may vanish in
// a power cut.
func NewImport(path string) (im *Import, err error) {
	im = &Import{path: path, counters: map[string]counter{}, version: -1}
	if path == "" {
		return im, nil
	}
	defer guard("import", &err)
	if file.Exists(path) {
		return nil, &Error{Op: "import store " + path, Err: errors.New("the file already exists; remove it or choose another name")}
	}
	im.bolt, err = bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: defaultLockTimeout, PageSize: pageSize, FreelistType: bbolt.FreelistMapType,
		NoSync: true, NoGrowSync: true, // Finish syncs
		OpenFile: func(path string, flag int, mode os.FileMode) (*os.File, error) {
			return os.OpenFile(path, flag|os.O_EXCL, mode) // does not follow a link either
		},
	})
	return im, wrap("import store "+path, err)
}

// importBatch is the number of bytes per transaction, whose changes are in memory.
const importBatch = 32 << 20

// Add imports the next run. It does not retain run. Errors: ErrDamaged; those of the disk.
func (im *Import) Add(run []byte) (err error) {
	defer guard("import", &err)
	if im.bolt != nil {
		run = slices.Clone(run) // bbolt refers to the values until the commit
	}
	im.size += int64(len(run))
	r := runReader{run}
	name, err := r.field()
	if err != nil || len(name) == 0 || strings.HasPrefix(string(name), counterPrefix) {
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
	t, sum, processed := im.counters[bucket], nameSum(bucket), 0
	for len(r.left) > 0 {
		stored, err := im.addNext(bucket, sum, into, &r)
		if err != nil {
			return err
		}
		t.add(stored)
		processed = yieldProcessor(processed + len(stored))
	}
	im.counters[bucket] = t
	if im.pending += len(run); im.bolt != nil && im.pending >= importBatch {
		return wrap("import store "+im.path, im.commit())
	}
	return nil
}

// addNext imports the next entry of a run and returns its stored value.
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

var errRun = errors.New("the run has no valid bucket name")

func (im *Import) damaged(bucket string, key []byte, err error) error {
	return &Error{Op: "import", Bucket: bucket, Key: hex.EncodeToString(key), Kind: ErrDamaged, Err: err}
}

// begin returns the bucket to fill; nil if the runs are only verified.
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
		b.FillPercent = 1 // entries come in order, so pages can be full
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

// Finish compares the imported entries with the contents of the export, completes the store, and syncs it. It does
// not sync the directory. Errors: ErrDamaged if entries are missing or superfluous; those of the disk.
func (im *Import) Finish(want Contents) (err error) {
	defer func() { err = errors.Join(err, im.Abort()) }()
	defer guard("import", &err)
	has := Contents{Version: im.version, Size: im.size, Counts: map[string]int{}}
	for name, t := range im.counters {
		if name[0] != reserved {
			has.Counts[name] = int(t.count)
		}
	}
	for name, n := range want.Counts {
		if _, there := has.Counts[name]; !there && n == 0 {
			has.Counts[name] = 0
			im.counters[name] = counter{}
		}
	}
	has.Sequences = want.Sequences // not in the runs
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

// complete adds what is not in the runs: empty buckets, sequence numbers and counters.
func (im *Import) complete(sequences map[string]uint64) error {
	for name, t := range im.counters {
		b, err := im.begin(name)
		if err != nil {
			return err
		}
		if err := b.SetSequence(sequences[name]); err != nil {
			return err
		}
		kept, err := im.begin(counterPrefix + name)
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

// Abort closes the file without removing it. After Finish it does nothing.
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
