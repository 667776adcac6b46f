package kv

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Check verifies the whole store: that every page is in its place and used once, that keys are in order, every
// value's checksum, and each bucket's counter. It calls report with one sentence per problem; no call means that the
// store is intact. Writes continue meanwhile. The error means that the check could not be completed.
func (s *Store) Check(report func(problem string)) error {
	first := ""
	err := s.check(func(problem string) {
		if first == "" {
			first = problem
		}
		report(problem)
	})
	if first != "" {
		s.note(&Error{Op: "check store " + s.path, Kind: ErrDamaged, Err: errors.New(first)})
	}
	return err
}

func (s *Store) check(report func(problem string)) error {
	for try := 0; ; try++ {
		var unknown error
		err := s.View(func(tx *Tx) error {
			c := checker{file: s.file}
			if unknown = c.findMeta(uint64(tx.bolt.ID())); unknown == nil {
				return walkPages(s.file, c.meta, report)
			} else if c.unread(unknown) {
				return c.noRead
			}
			return nil
		})
		if err != nil {
			return wrap("check store "+s.path, err)
		}
		if unknown == nil {
			return nil
		}
		if try == checkRetries {
			report(unknown.Error())
			return nil
		}
	}
}

// inspect is the part of Check that Open runs: it verifies the structure of pages, which bbolt trusts, and not the
// content of leaves. A tree with a cycle would make bbolt recurse until the process dies; a leaf with a wrong length
// would make it free pages in use, or billions that do not exist; a page that is both in use and free would be
// overwritten. Open holds the lock, so nobody writes. inspect reads the file once, sequentially, because disks are
// slow at random access.
func (s *Store) inspect() error {
	metas, err := readMetas(s.file)
	if err != nil {
		return unreadable("open", err)
	}
	c := checker{file: s.file, meta: metas[1], names: map[string]bool{}, kept: map[string]counter{}}
	c.report = func(problem string) {
		if err == nil {
			err = &Error{Op: "open", Kind: ErrDamaged, Err: errors.New(problem)}
		}
	}
	headers, failed := readHeaders(s.file, c.meta)
	if failed != nil {
		return unreadable("open", failed)
	}
	c.headers = headers
	if failed := c.run(); failed != nil {
		return failed
	}
	return err
}

// Report is Check for a file that may not be a store. It calls report with one sentence for each problem that it can
// find, and does not open a store. A file that another process writes to may look damaged. The error means that the
// check could not be completed.
func Report(path string, report func(problem string)) error {
	err := probe(path)
	if known := (*Error)(nil); errors.As(err, &known) && known.Kind == ErrDamaged {
		report(known.Err.Error())
	} else if err != nil {
		return wrap("check store "+path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return wrap("check store "+path, err)
	}
	defer f.Close()
	if m, ok := anyMeta(f); ok {
		return wrap("check store "+path, walkPages(f, m, report))
	}
	return nil
}

// anyMeta returns the newer readable meta page, from which as much as possible is checked.
func anyMeta(f *os.File) (m meta, ok bool) {
	info, err := f.Stat()
	if err != nil {
		return m, false
	}
	head := make([]byte, pageHeader+metaSize)
	for _, at := range []int64{0, pageSize} {
		if _, err := f.ReadAt(head, at); err != nil {
			continue
		}
		found, err := parseMeta(head)
		// A page count far beyond the file's size would make the checker allocate too much memory.
		if err == nil && found.pages < 1<<20+uint64(info.Size())/found.pageSize && (!ok || found.tx > m.tx) {
			m, ok = found, true
		}
	}
	return m, ok
}

// walkPages checks everything reachable from a meta page. After ErrNoRead there may be more problems.
func walkPages(f io.ReaderAt, m meta, report func(problem string)) error {
	c := checker{file: f, meta: m, report: report, names: map[string]bool{}, found: map[string]counter{}, kept: map[string]counter{}}
	return c.run()
}

// checkRetries is how often a reader tries to find a transaction's meta page before a writer overwrites it.
const checkRetries = 100

// checker walks the pages of one transaction, which no writer changes while the transaction is open.
type checker struct {
	file    io.ReaderAt
	report  func(string)
	meta    meta
	headers []byte // every page's header; nil if leaves are checked too
	used    []bool // by page
	names   map[string]bool
	found   map[string]counter // by bucket, computed from the values
	kept    map[string]counter // by bucket, as stored
	noRead  error              // the first page that the disk could not read
}

// problem reports a problem. After a page that could not be read it reports nothing, because the pages below are
// unknown.
func (c *checker) problem(format string, args ...any) {
	if c.noRead == nil {
		c.report(fmt.Sprintf(format, args...))
	}
}

// unread records a page that could not be read, and reports whether the disk was the cause.
func (c *checker) unread(err error) bool {
	if errors.Is(unreadable("check", err), ErrNoRead) {
		if c.noRead == nil {
			c.noRead = unreadable("check", err)
		}
		return true
	}
	return false
}

// findMeta finds the meta page of a transaction. A writer may overwrite it soon after the transaction began, so it
// may be missing or half-written.
func (c *checker) findMeta(tx uint64) error {
	metas, err := readMetas(c.file)
	if err != nil {
		return err
	}
	for _, m := range metas {
		if m.tx == tx {
			c.meta = m
			return nil
		}
	}
	return errors.New("the meta page of the newest commit is missing")
}

// run checks all pages. Errors: ErrNoRead.
func (c *checker) run() error {
	c.used = make([]bool, c.meta.pages)
	c.used[0], c.used[1] = true, true
	free := make([]bool, c.meta.pages)
	p, ids, err := readFree(c.file, c.meta)
	if err != nil {
		if c.unread(err) {
			return c.noRead
		}
		c.problem("%v", err)
	} else {
		c.use(p)
		for _, id := range ids {
			free[id] = true
		}
	}
	c.tree(c.meta.root, "", nil, nil, 0)
	for id, used := range c.used {
		switch {
		case used && free[id]:
			c.problem("page %d is in use and in the free list", id)
		case !used && !free[id] && err == nil:
			c.problem("page %d is neither in use nor in the free list", id)
		}
	}
	for name := range c.names {
		kept, ok := c.kept[name]
		switch found := c.found[name]; {
		case !ok:
			c.problem("bucket %s: its counter is missing", name)
		case c.headers != nil:
		case kept.count != found.count:
			c.problem("bucket %s: it has %d keys, want %d", name, found.count, kept.count)
		case kept.sum != found.sum:
			c.problem("bucket %s: its values are not those written last", name)
		}
	}
	return c.noRead
}

// use marks the pages of p as used and reports whether none of them was used before.
func (c *checker) use(p page) (fresh bool) {
	for id := p.id; id <= p.id+p.overflow; id++ {
		if c.used[id] {
			c.problem("page %d is in use twice", id)
			return false
		}
		c.used[id] = true
	}
	return true
}

// maxDepth is more levels than a tree of any possible file can have.
const maxDepth = 64

// tree walks the pages of one bucket, or of the root bucket if name is empty. Keys must be >= low and < high; nil is
// no limit.
func (c *checker) tree(id uint64, name string, low, high []byte, depth int) {
	p, err := c.readPage(id, name)
	switch {
	case err != nil && c.unread(err):
	case err != nil:
		c.problem("%s%v", prefix(name), err)
	case depth > maxDepth:
		c.problem("%spage %d is too deep", prefix(name), id)
	case c.use(p) && p.data != nil:
		c.page(p, name, low, high, depth)
	}
}

// readPage reads a page, or only its header if that is enough: for a leaf outside the root bucket.
func (c *checker) readPage(id uint64, name string) (page, error) {
	if c.headers != nil && name != "" && id < c.meta.pages {
		p := parsePage(c.headers[id*pageHeader:][:pageHeader])
		if p.flags == flagLeaf && p.id == id && p.overflow < c.meta.pages-id {
			p.data = nil
			return p, nil
		}
	}
	return readPage(c.file, c.meta, id)
}

func (c *checker) page(p page, name string, low, high []byte, depth int) {
	if p.flags != flagBranch && p.flags != flagLeaf {
		c.problem("%spage %d has an unknown type", prefix(name), p.id)
		return
	}
	if p.count == 0 && depth > 0 || p.count == 0 && p.flags == flagBranch {
		c.problem("%spage %d is empty", prefix(name), p.id)
		return
	}
	elements := make([]element, p.count)
	for i := range elements {
		e, err := p.element(i)
		if err != nil {
			c.problem("%spage %d: %v", prefix(name), p.id, err)
			return
		}
		// The first key of a branch may be empty or lower than all keys below it.
		first := i == 0 && p.flags == flagBranch
		if !first && (len(e.key) == 0 || low != nil && bytes.Compare(e.key, low) < 0) ||
			high != nil && bytes.Compare(e.key, high) >= 0 ||
			i > 0 && bytes.Compare(elements[i-1].key, e.key) >= 0 {
			c.problem("%spage %d: its keys are not in order", prefix(name), p.id)
			return
		}
		elements[i] = e
	}
	for i, e := range elements {
		if p.flags == flagLeaf {
			c.leaf(p, name, e)
			continue
		}
		below, above := e.key, high
		if i == 0 {
			below = low
		}
		if i+1 < len(elements) {
			above = elements[i+1].key
		}
		c.tree(e.page, name, below, above, depth+1)
	}
}

// leaf checks one entry of a leaf page: a bucket in the root bucket, a value in every other.
func (c *checker) leaf(p page, name string, e element) {
	if name == "" {
		if !e.bucket {
			c.problem("page %d: a value in place of a bucket", p.id)
			return
		}
		c.bucket(string(e.key), e.value)
		return
	}
	if c.headers != nil {
		return // an inline bucket
	}
	if e.bucket {
		c.problem("bucket %s: page %d: a bucket in place of a value", name, p.id)
		return
	}
	if _, _, err := unseal(name, e.key, e.value); err != nil {
		c.problem("bucket %s: key %s: %v", name, hex.EncodeToString(e.key), err)
	}
	t := c.found[name]
	t.add(e.value)
	c.found[name] = t
}

// bucket checks one bucket, starting at its entry in the root bucket.
func (c *checker) bucket(name string, entry []byte) {
	if len(entry) < 16 {
		c.problem("bucket %s: its entry is too short", name)
		return
	}
	root, sequence := native.Uint64(entry), native.Uint64(entry[8:])
	if of, ok := strings.CutPrefix(name, counterPrefix); ok {
		c.kept[of] = unpackCounter(sequence)
	} else {
		c.names[name] = true
	}
	switch inline := entry[16:]; {
	case root != 0:
		c.tree(root, name, nil, nil, 0)
	case len(inline) < pageHeader:
		c.problem("bucket %s: its entry is too short", name)
	default:
		c.page(parsePage(inline), name, nil, nil, 0)
	}
}

func prefix(name string) string {
	if name == "" {
		return ""
	}
	return "bucket " + name + ": "
}
