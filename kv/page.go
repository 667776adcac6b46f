package kv

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"syscall"
	"time"
)

// This file reads bbolt's file format without bbolt, which panics on damage, partly in its own goroutines, where no
// caller can recover. Numbers are in native byte order.
//
//	page       id u64, flags u16, count u16, overflow u32 (number of further pages of this one), elements
//	meta       in pages 0 and 1, alternately: magic u32, version u32, page size u32, flags u32, root bucket
//	           (page u64, sequence u64), free list's page u64, pages in use u64, transaction u64, FNV-1a u64
//	branch     pos u32 (from the element's start), key size u32, page u64
//	leaf       flags u32 (1: a bucket), pos u32, key size u32, value size u32
//	free list  page ids, u64 each; when count is 0xFFFF the first of them is the count
//	bucket     root page u64 (0: a leaf page follows here), sequence u64
const (
	pageHeader  = 16
	elementSize = 16
	metaSize    = 64

	flagBranch = 0x01
	flagLeaf   = 0x02
	flagMeta   = 0x04
	flagFree   = 0x10

	metaMagic   = 0xED0CDAED
	metaVersion = 2
)

var native = binary.NativeEndian

// page is one page with its overflow pages.
type page struct {
	id       uint64
	flags    uint16
	count    int
	overflow uint64
	data     []byte // with the header
}

// parsePage parses a page's header.
func parsePage(data []byte) page {
	return page{
		id:       native.Uint64(data),
		flags:    native.Uint16(data[8:]),
		count:    int(native.Uint16(data[10:])),
		overflow: uint64(native.Uint32(data[12:])),
		data:     data,
	}
}

// element is one entry of a branch or leaf page. Key and value point into the page.
type element struct {
	key    []byte
	value  []byte // only in a leaf
	bucket bool   // only in a leaf: the value is a bucket
	page   uint64 // only in a branch
}

var errOutside = errors.New("an element is outside of its page")

// element parses entry i of a branch or leaf page.
func (p page) element(i int) (e element, err error) {
	start := uint64(pageHeader + i*elementSize)
	end := uint64(len(p.data))
	if start+elementSize > end {
		return e, errOutside
	}
	head := p.data[start:]
	var pos, keySize, valueSize uint64
	if p.flags == flagBranch {
		pos, keySize = uint64(native.Uint32(head)), uint64(native.Uint32(head[4:]))
		e.page = native.Uint64(head[8:])
	} else {
		e.bucket = native.Uint32(head)&1 != 0
		pos, keySize, valueSize = uint64(native.Uint32(head[4:])), uint64(native.Uint32(head[8:])), uint64(native.Uint32(head[12:]))
	}
	if pos < uint64(p.count-i)*elementSize || start+pos+keySize+valueSize > end {
		return e, errOutside
	}
	body := p.data[start+pos:]
	e.key, e.value = body[:keySize:keySize], body[keySize:keySize+valueSize]
	return e, nil
}

// freeIDs parses a free list page.
func (p page) freeIDs() ([]uint64, error) {
	count, data := uint64(p.count), p.data[pageHeader:]
	if count == 0xFFFF {
		count, data = native.Uint64(data), data[8:]
	}
	if count > uint64(len(data))/8 {
		return nil, errors.New("the free list is longer than its page")
	}
	ids := make([]uint64, count)
	for i := range ids {
		ids[i] = native.Uint64(data[8*i:])
	}
	return ids, nil
}

// meta is the content of a meta page.
type meta struct {
	pageSize uint64
	root     uint64 // page of the root bucket
	freelist uint64 // page of the free list
	pages    uint64 // number of pages, including free ones
	tx       uint64 // number of the transaction that wrote it
}

// parseMeta parses and verifies the meta page at the start of data.
func parseMeta(data []byte) (m meta, err error) {
	body := data[pageHeader : pageHeader+metaSize]
	hash := fnv.New64a()
	hash.Write(body[:metaSize-8])
	switch {
	case native.Uint32(body) != metaMagic:
		return m, errors.New("the file is not a store")
	case native.Uint32(body[4:]) != metaVersion:
		return m, fmt.Errorf("the file has format version %d, want %d", native.Uint32(body[4:]), metaVersion)
	case native.Uint64(body[metaSize-8:]) != hash.Sum64():
		return m, errors.New("a meta page's checksum does not match")
	}
	m = meta{
		pageSize: uint64(native.Uint32(body[8:])),
		root:     native.Uint64(body[16:]),
		freelist: native.Uint64(body[32:]),
		pages:    native.Uint64(body[40:]),
		tx:       native.Uint64(body[48:]),
	}
	if m.pageSize < 1024 || m.pageSize > 1<<16 || m.pageSize&(m.pageSize-1) != 0 || m.pages < 4 || m.pages > 1<<47 {
		return m, errors.New("a meta page has invalid values")
	}
	return m, nil
}

// unreadable returns the error for pages that are invalid or cannot be read.
func unreadable(op string, err error) error {
	if errors.As(err, new(syscall.Errno)) {
		return &Error{Op: op, Kind: ErrNoRead, Err: err} // the disk failed; the data may be intact
	}
	return &Error{Op: op, Kind: ErrDamaged, Err: err}
}

// readMetas reads both meta pages, the older first. Both must be valid: they are written one at a time, and each fits
// in one sector, so no crash leaves an invalid one. If one is lost, it may have been the newer, and using the other
// would silently undo the last commit.
func readMetas(f io.ReaderAt) (metas [2]meta, err error) {
	head := make([]byte, pageHeader+metaSize)
	at := int64(0)
	for i := range metas {
		if _, err := f.ReadAt(head, at); err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the file is too short for a store")
			}
			return metas, err
		}
		if metas[i], err = parseMeta(head); err != nil {
			return metas, err
		}
		if p := parsePage(head); p.id != uint64(i) || p.flags != flagMeta || metas[i].tx%2 != uint64(i) {
			return metas, errors.New("a meta page is in the wrong place")
		}
		at = int64(metas[0].pageSize)
	}
	if metas[0].tx > metas[1].tx {
		metas[0], metas[1] = metas[1], metas[0]
	}
	if metas[0].tx+1 != metas[1].tx || metas[0].pageSize != metas[1].pageSize {
		return metas, errors.New("the meta pages are not of consecutive transactions")
	}
	return metas, nil
}

// readPage reads a page with its overflow pages.
func readPage(f io.ReaderAt, m meta, id uint64) (page, error) {
	if id < 2 || id >= m.pages {
		return page{}, fmt.Errorf("page %d does not exist", id)
	}
	data := make([]byte, m.pageSize)
	if _, err := f.ReadAt(data, int64(id*m.pageSize)); err != nil {
		return page{}, fmt.Errorf("page %d cannot be read: %w", id, err)
	}
	p := parsePage(data)
	if p.id != id {
		return page{}, fmt.Errorf("page %d has the number %d", id, p.id)
	}
	if p.overflow >= m.pages-id {
		return page{}, fmt.Errorf("page %d extends beyond the end of the file", id)
	}
	if p.overflow > 0 {
		p.data = make([]byte, (p.overflow+1)*m.pageSize)
		if _, err := f.ReadAt(p.data, int64(id*m.pageSize)); err != nil {
			return page{}, fmt.Errorf("page %d cannot be read: %w", id, err)
		}
	}
	return p, nil
}

// readHeaders reads the header of every page, in one pass over the file.
func readHeaders(f io.ReaderAt, m meta) ([]byte, error) {
	headers := make([]byte, 0, m.pages*pageHeader)
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, int64(m.pages*m.pageSize)), 1<<20)
	data := make([]byte, m.pageSize)
	for range m.pages {
		if _, err := io.ReadFull(in, data); err != nil {
			return nil, err
		}
		headers = append(headers, data[:pageHeader]...)
	}
	return headers, nil
}

// readFree reads the free list of a meta page: the numbers of unused pages, ascending.
func readFree(f io.ReaderAt, m meta) (page, []uint64, error) {
	p, err := readPage(f, m, m.freelist)
	if err != nil {
		return p, nil, fmt.Errorf("free list: %w", err)
	}
	if p.flags != flagFree {
		return p, nil, fmt.Errorf("free list: page %d is not a free list", p.id)
	}
	ids, err := p.freeIDs()
	if err != nil {
		return p, nil, err
	}
	for i, id := range ids {
		if id < 2 || id >= m.pages || i > 0 && id <= ids[i-1] {
			return p, nil, fmt.Errorf("free list: entry %d is out of order", i)
		}
	}
	return p, ids, nil
}

// probe verifies a store file before bbolt opens it: bbolt makes a new store of an empty file, silently uses the
// older commit if the newest meta page is invalid, and panics on a truncated file. probe holds no lock, so a
// concurrent commit can make an intact file look invalid for a moment. It therefore retries before it reports damage.
func probe(path string) error {
	f, err := OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for try := 0; ; try++ {
		err := probeFile(f)
		if err == nil || try == probeRetries {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// probeRetries is the number of retries. A commit makes a file look invalid for a fraction of a millisecond.
const probeRetries = 10

func probeFile(f *os.File) error {
	damaged := func(err error) error { return unreadable("open", err) }
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return damaged(errors.New("the file is empty"))
	}
	metas, err := readMetas(f)
	if err != nil {
		return damaged(err)
	}
	m := metas[1]
	if uint64(info.Size()) < m.pages*m.pageSize {
		return damaged(fmt.Errorf("the file has %d bytes, want %d", info.Size(), m.pages*m.pageSize))
	}
	if _, _, err := readFree(f, m); err != nil {
		return damaged(err)
	}
	if root, err := readPage(f, m, m.root); err != nil {
		return damaged(err)
	} else if root.flags != flagBranch && root.flags != flagLeaf {
		return damaged(fmt.Errorf("page %d is not the root of the store", m.root))
	}
	return nil
}
