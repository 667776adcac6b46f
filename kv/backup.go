package kv

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

// Contents says what a store holds at one moment.
type Contents struct {
	Version   int               // how many migrations have run
	Size      int64             // of the file, or of an export's runs, in bytes
	Counts    map[string]int    // keys by bucket; the store's own buckets are left out
	Sequences map[string]uint64 // the last number that Bucket.Next gave, by bucket; those that gave none are left out
}

// Same compares everything but the sizes, and says what differs.
func (c Contents) Same(want Contents) error {
	if c.Version != want.Version {
		return fmt.Errorf("it has version %d where %d is expected", c.Version, want.Version)
	}
	for name, n := range want.Counts {
		if got, there := c.Counts[name]; got != n || !there {
			return fmt.Errorf("bucket %s holds %d keys where %d are expected", name, got, n)
		}
	}
	if len(c.Counts) != len(want.Counts) {
		return fmt.Errorf("it holds %d buckets where %d are expected", len(c.Counts), len(want.Counts))
	}
	if !maps.Equal(c.Sequences, want.Sequences) {
		return fmt.Errorf("the last numbers given are %v where %v are expected", c.Sequences, want.Sequences)
	}
	return nil
}

// Snapshot writes a whole store file to w, as the store is at one moment. Opened with Open it is a store like any other.
// It may be damaged when this one is: see CheckFile.
//
// Writers go on meanwhile, but until it returns they cannot use again the room that they free, so the file grows; and
// on Windows, or past the 64 GiB that Open reserves, a write that outgrows the mapping waits for it. So w should be
// a file on a fast disk, to be copied to a slow one afterwards. It may be called by many goroutines at once. Close waits
// for it. Errors: w's own; ErrDamaged; ErrClosed; ErrFull.
func (s *Store) Snapshot(w io.Writer) (c Contents, err error) {
	err = s.View(func(tx *Tx) (err error) {
		defer tx.guard("copy", &err)
		if c, err = tx.contents(); err != nil {
			return err
		}
		m := &metaOrder{w: w, pageSize: s.bolt.Info().PageSize}
		if _, err = tx.bolt.WriteTo(m); m.err != nil {
			return m.err // which bbolt turns into text
		}
		return err
	})
	return c, wrap("copy store "+s.path, err)
}

// Contents returns what the store holds now. Errors: ErrDamaged; ErrClosed.
func (s *Store) Contents() (c Contents, err error) {
	err = s.View(func(tx *Tx) (err error) {
		c, err = tx.contents()
		return err
	})
	return c, wrap("count store "+s.path, err)
}

// contents counts what a transaction sees.
func (tx *Tx) contents() (c Contents, err error) {
	defer tx.guard("count", &err)
	var names []string
	err = tx.bolt.ForEach(func(name []byte, _ *bbolt.Bucket) error {
		if name[0] != reserved {
			names = append(names, string(name))
		}
		return nil
	})
	if err != nil {
		return c, err
	}
	c = Contents{Size: tx.bolt.Size(), Counts: make(map[string]int, len(names))}
	if c.Version, err = about.Get(tx, versionKey); err != nil {
		return c, err
	}
	for _, name := range names {
		n, err := tx.count(name)
		if err != nil {
			return c, err
		}
		c.Counts[name] = int(n)
		if last := tx.bolt.Bucket([]byte(name)).Sequence(); last > 0 {
			if c.Sequences == nil {
				c.Sequences = map[string]uint64{}
			}
			c.Sequences[name] = last
		}
	}
	return c, nil
}

// metaOrder puts the two meta pages that bbolt writes into their own places. bbolt always writes the newer one first,
// while in a store the transaction's number says which is first (readMetas), so that one in the wrong place is noticed.
type metaOrder struct {
	w        io.Writer
	pageSize int
	head     []byte // both meta pages, as far as they have come
	err      error  // w's first
}

// Write implements io.Writer.
func (m *metaOrder) Write(p []byte) (n int, err error) {
	if n = min(len(p), 2*m.pageSize-len(m.head)); n > 0 {
		m.head = append(m.head, p[:n]...)
		if len(m.head) < 2*m.pageSize {
			return n, nil
		}
		first, second := m.head[pageHeader:][:metaSize], m.head[m.pageSize+pageHeader:][:metaSize]
		if native.Uint64(first[48:])%2 != 0 {
			newer := slices.Clone(first)
			copy(first, second)
			copy(second, newer)
		}
		if _, m.err = m.w.Write(m.head); m.err != nil {
			return 0, m.err
		}
		if n == len(p) {
			return n, nil
		}
	}
	more, err := m.w.Write(p[n:])
	m.err = err
	return n + more, err
}

// CheckFile looks at everything in a store file that nobody writes to, as Check does, and says what it holds. It changes
// nothing in the file and does not need to know its buckets or migrations, so that the file may be of any version.
// Errors: ErrDamaged, with the first problem; ErrLocked when a process has it open.
func CheckFile(path string) (Contents, error) {
	c, err := checkFile(path)
	return c, wrap("check store "+path, err)
}

func checkFile(path string) (c Contents, err error) {
	if err := probe(path); err != nil {
		return c, err
	}
	if err := checkPages(path); err != nil {
		return c, err
	}
	// Its structure is sound: bbolt can be trusted with it.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer guard("check", &err)
	bolt, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: defaultLockTimeout, OpenFile: openRegular})
	if err != nil {
		return c, err
	}
	s := &Store{path: path, clock: time.Now, bolt: bolt}
	err = s.View(func(tx *Tx) (err error) {
		c, err = tx.contents()
		return err
	})
	return c, errors.Join(err, s.Close())
}

// checkPages reads every page of a store file without bbolt.
func checkPages(path string) error {
	f, err := OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	metas, err := readMetas(f)
	if err != nil {
		return unreadable("check", err)
	}
	problems, first := 0, ""
	err = walkPages(f, metas[1], func(problem string) {
		if problems++; problems == 1 {
			first = problem
		}
	})
	if err != nil && problems == 0 {
		return err
	}
	switch problems {
	case 0:
		return nil
	case 1:
		return &Error{Op: "check", Kind: ErrDamaged, Err: errors.New(first)}
	}
	return &Error{Op: "check", Kind: ErrDamaged, Err: fmt.Errorf("%s, and %d more problems", first, problems-1)}
}
