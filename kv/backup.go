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

// Contents summarizes a store at one moment.
type Contents struct {
	Version int            // number of migrations that have run
	Size    int64          // of the file, or of all runs of an export, in bytes
	Counts  map[string]int // keys by bucket, without the store's own buckets
	// last number that Bucket.Next returned, by bucket; without buckets that never used Next
	Sequences map[string]uint64
}

// Same compares everything except the sizes and returns an error for the first difference.
func (c Contents) Same(want Contents) error {
	if c.Version != want.Version {
		return fmt.Errorf("the version is %d, want %d", c.Version, want.Version)
	}
	for name, n := range want.Counts {
		if got, there := c.Counts[name]; got != n || !there {
			return fmt.Errorf("bucket %s has %d keys, want %d", name, got, n)
		}
	}
	if len(c.Counts) != len(want.Counts) {
		return fmt.Errorf("the store has %d buckets, want %d", len(c.Counts), len(want.Counts))
	}
	if !maps.Equal(c.Sequences, want.Sequences) {
		return fmt.Errorf("the sequence numbers are %v, want %v", c.Sequences, want.Sequences)
	}
	return nil
}

// Snapshot writes a complete store file to w, as of one moment. Open accepts it like any other store. If this store
// is damaged, the copy may be damaged too: see CheckFile.
//
// Writers continue, but cannot reuse the pages that they free until Snapshot returns, so the file grows. On Windows,
// or beyond the 64 GiB that Open reserves, a write that outgrows the mapping waits for Snapshot. Therefore w should
// be a file on a fast disk, to be copied to a slow one afterwards. Snapshot may be called by many goroutines at once;
// Close waits for it. Errors: those of w; ErrDamaged; ErrClosed; ErrFull.
func (s *Store) Snapshot(w io.Writer) (c Contents, err error) {
	err = s.View(func(tx *Tx) (err error) {
		defer tx.guard("copy", &err)
		if c, err = tx.contents(); err != nil {
			return err
		}
		m := &metaOrder{w: w, pageSize: s.bolt.Info().PageSize}
		if _, err = tx.bolt.WriteTo(m); m.err != nil {
			return m.err // bbolt turns it into text
		}
		return err
	})
	return c, wrap("copy store "+s.path, err)
}

// Contents returns a summary of the store. Errors: ErrDamaged; ErrClosed.
func (s *Store) Contents() (c Contents, err error) {
	err = s.View(func(tx *Tx) (err error) {
		c, err = tx.contents()
		return err
	})
	return c, wrap("count store "+s.path, err)
}

// contents returns a summary of the transaction's snapshot.
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

// metaOrder swaps the two meta pages of a copy where necessary. bbolt writes the newer one first, but in a store the
// transaction's number determines the position (readMetas), which detects a misplaced page.
type metaOrder struct {
	w        io.Writer
	pageSize int
	head     []byte // both meta pages, as far as received
	err      error  // first error of w
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

// CheckFile checks a store file as Check does, and returns a summary of it. Nobody may write to the file meanwhile.
// It changes nothing and needs no list of buckets or migrations, so the file may have any version. Errors:
// ErrDamaged, with the first problem; ErrLocked if a process has the file open.
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
	// The structure is sound, so bbolt can open the file without a panic.
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
