package signal

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"

	"opsmon/app/column"
	"opsmon/kv"
)

// run is an immutable set of ids ordered by hash, in blocks that each cover an equal part of all hashes.
type run struct {
	number   uint64
	level    int   // number of merges, at most topLevel
	from, to int64 // arrival of the first and the last id, ms
	count    int
	blocks   uint64
	filter   filter
}

// The average content of a block; an id takes sixteen bytes: its hash and its arrival, in ms after the run's from.
const (
	idsInBlock = 200
	idBytes    = len(hash{}) + 4
)

// longestRun is the maximum time span of a run, ms: 49 days.
const longestRun = 1<<32 - 1

type blockKey = kv.Pair[uint64, uint64] // a run and one of its blocks

var (
	blocks     = kv.NewBucket("signalId", kv.PairOf(kv.Uint64, kv.Uint64), kv.Raw)
	storedRuns = kv.NewBucket("signalIdRun", kv.Uint64, kv.Raw)
)

func blockOf(run, block uint64) blockKey { return blockKey{A: run, B: block} }

// part returns which of n equal parts of all hashes contains h.
func (h *hash) part(n uint64) uint64 {
	hi, _ := bits.Mul64(binary.BigEndian.Uint64(h[:8]), n)
	return hi
}

// filter is a Bloom filter of a run's ids in lines of 512 bits; all bits of an id are in one line.
type filter struct {
	words  []uint64
	probes int // number of bits per id
}

const (
	filterBits = 10 // per id, below the maximum size
	maxProbes  = 6
	lineWords  = 8
)

// The maximum size of a filter, in bytes: of a run of the current day, and of a run whose day is over.
const (
	maxFilter       = 768 << 10
	maxFilterClosed = 4 << 20
)

// newFilter returns a filter for a number of ids, of at most most bytes.
func newFilter(ids, most int) filter {
	lines := max(1, min((ids*filterBits+511)/512, most/(lineWords*8)))
	probes := float64(lines*512) / float64(max(1, ids)) * math.Ln2 // the optimum number
	return filter{make([]uint64, lineWords*lines), max(1, min(int(probes+0.5), maxProbes))}
}

// place returns the line of an id and a number that determines its bits there.
func (f *filter) place(h *hash) (line []uint64, choice uint64) {
	at := h.part(uint64(len(f.words)/lineWords)) * lineWords
	return f.words[at : at+lineWords], binary.BigEndian.Uint64(h[4:]) * 0x9E3779B97F4A7C15
}

func (f *filter) add(h *hash) {
	line, choice := f.place(h)
	for range f.probes {
		line[choice>>61] |= 1 << (choice >> 55 & 63)
		choice <<= 9
	}
}

func (f *filter) may(h *hash) bool {
	line, choice := f.place(h)
	for range f.probes {
		if line[choice>>61]&(1<<(choice>>55&63)) == 0 {
			return false
		}
		choice <<= 9
	}
	return true
}

// lookUp returns the last arrival of an id, ms, if one of the runs has it.
func lookUp(tx *kv.Tx, runs []*run, h hash) (at int64, found bool, err error) {
	for _, r := range runs {
		if !r.filter.may(&h) {
			continue
		}
		b, err := blocks.Get(tx, blockOf(r.number, h.part(r.blocks)))
		if errors.Is(err, kv.ErrNotFound) {
			continue
		}
		if err != nil {
			return 0, false, err
		}
		n := len(b) / idBytes
		one := func(i int) []byte { return b[i*idBytes:][:idBytes] }
		for i := sort.Search(n, func(i int) bool { return bytes.Compare(one(i)[:len(h)], h[:]) >= 0 }); i < n && bytes.Equal(one(i)[:len(h)], h[:]); i++ {
			at, found = max(at, r.from+int64(binary.BigEndian.Uint32(one(i)[len(h):]))), true
		}
	}
	return at, found, nil
}

// runWriter makes the blocks of a run from ids ordered by hash.
type runWriter struct {
	*run
	made  []block // complete blocks that are not stored yet
	begun block
}

type block struct {
	number uint64
	packed []byte
}

// newRun begins a run of at most most ids, which arrived in [from, to].
func newRun(level int, from, to int64, most, filterBytes int) *runWriter {
	return &runWriter{run: &run{level: level, from: from, to: to, blocks: uint64(max(1, most/idsInBlock)), filter: newFilter(most, filterBytes)}}
}

func (w *runWriter) add(id arrivedID) {
	if n := id.part(w.blocks); n != w.begun.number {
		w.flush()
		w.begun.number = n
	}
	w.count++
	w.filter.add(&id.hash)
	w.begun.packed = binary.BigEndian.AppendUint32(append(w.begun.packed, id.hash[:]...), uint32(min(id.at-w.from, longestRun)))
}

// flush completes the current block.
func (w *runWriter) flush() {
	if len(w.begun.packed) > 0 {
		w.made = append(w.made, w.begun)
		w.begun.packed = nil
	}
}

// put stores the complete blocks.
func (w *runWriter) put(tx *kv.Tx) error {
	for _, b := range w.made {
		if err := blocks.Put(tx, blockOf(w.number, b.number), b.packed); err != nil {
			return err
		}
	}
	return nil
}

// putAll stores all blocks, and then registers the run.
func (w *runWriter) putAll(tx *kv.Tx) error {
	if err := w.put(tx); err != nil {
		return err
	}
	return storedRuns.Put(tx, w.number, w.run.pack())
}

// putRun stores a run under a new number; nil does nothing.
func putRun(tx *kv.Tx, w *runWriter) (err error) {
	if w == nil {
		return nil
	}
	if w.number, err = blocks.Next(tx); err != nil {
		return err
	}
	return w.putAll(tx)
}

const runFormat = 1

// pack returns the stored form of a run without its blocks: numbers, and the filter.
func (r *run) pack() []byte {
	b := append(make([]byte, 0, 64+8*len(r.filter.words)), runFormat)
	for _, n := range [...]uint64{uint64(r.level), uint64(r.from), uint64(r.to), uint64(r.count), r.blocks, uint64(r.filter.probes)} {
		b = binary.AppendUvarint(b, n)
	}
	for _, word := range r.filter.words {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}

func openRun(number uint64, stored []byte) (*run, error) {
	broken := &kv.Error{Op: "read", Bucket: storedRuns.Name(), Key: fmt.Sprint(number), Kind: kv.ErrDamaged, Err: column.ErrBroken}
	if len(stored) == 0 || stored[0] != runFormat {
		return nil, broken
	}
	var c column.Reader
	c.Open(stored[1:])
	r := &run{number: number, level: int(c.Uvarint()), from: int64(c.Uvarint()), to: int64(c.Uvarint()), count: int(c.Uvarint()), blocks: c.Uvarint()}
	r.filter.probes = int(c.Uvarint())
	lines := c.Left()
	if c.Failed() || r.blocks == 0 || r.filter.probes > maxProbes || len(lines) == 0 || len(lines)%(lineWords*8) != 0 {
		return nil, broken
	}
	r.filter.words = make([]uint64, len(lines)/8)
	for i := range r.filter.words {
		r.filter.words[i] = binary.LittleEndian.Uint64(lines[8*i:])
	}
	return r, nil
}

// runOf returns a run of the lowest level for ids ordered by hash; nil for none.
func runOf(ids []arrivedID) *runWriter {
	if len(ids) == 0 {
		return nil
	}
	byTime := func(a, b arrivedID) int { return cmp.Compare(a.at, b.at) }
	w := newRun(0, slices.MinFunc(ids, byTime).at, slices.MaxFunc(ids, byTime).at, len(ids), maxFilter)
	for i := range ids {
		w.add(ids[i])
	}
	w.flush()
	return w
}

// runReader reads the ids of a run ordered by hash.
type runReader struct {
	*run
	next uint64      // block
	ids  []arrivedID // of the current block
}

// fill reads blocks until there is a next id; false at the end.
func (r *runReader) fill(tx *kv.Tx) (bool, error) {
	for len(r.ids) == 0 {
		if r.next == r.blocks {
			return false, nil
		}
		b, err := blocks.Get(tx, blockOf(r.number, r.next))
		r.next++
		if errors.Is(err, kv.ErrNotFound) {
			continue
		}
		if err == nil {
			r.ids, err = r.open(b)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// open decodes a block.
func (r *run) open(b []byte) ([]arrivedID, error) {
	if len(b)%idBytes != 0 {
		return nil, &kv.Error{Op: "read", Bucket: blocks.Name(), Key: fmt.Sprint(r.number), Kind: kv.ErrDamaged, Err: column.ErrBroken}
	}
	ids := make([]arrivedID, 0, len(b)/idBytes)
	for ; len(b) > 0; b = b[idBytes:] {
		ids = append(ids, arrivedID{hash(b[:len(hash{})]), r.from + int64(binary.BigEndian.Uint32(b[len(hash{}):]))})
	}
	return ids, nil
}
