package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"filippo.io/age"
	"golang.org/x/sync/errgroup"

	"opsmon/kv"
)

// packing is the making of one backup file.
type packing struct {
	cfg      Config
	progress progress
	turns    turns
	buffers  buffers
	codec    *codec
	pool     *pool               // that the backup shares parts with; nil = none
	key      *age.X25519Identity // of an encrypted one

	settings []byte // the text of app.yaml; nil = there is none
	header   Header
	raw      []byte // the header as it is stored
	table    table
	contents contents
	at       int64   // length of the file so far
	offsets  []int64 // of the parts in the file; -1 of those that the pool has already
}

// newPacking begins a backup, which shares its parts when there is a pool.
func newPacking(cfg Config, with *pool) (p *packing, err error) {
	p = &packing{cfg: cfg, turns: newTurns(), pool: with}
	p.progress = progress{report: cfg.Progress, total: 2 * cfg.Store.Size()} // taken out, checked
	if p.settings, err = os.ReadFile(filepath.Join(cfg.dataDir(), settingsName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	p.header = Header{Format: format, App: cfg.Version, Store: cfg.Store.Version(), MadeAt: cfg.Clock().UTC().Truncate(time.Second), Encrypted: cfg.Passphrase != ""}
	p.header.UnusableSettings = p.settings != nil && cfg.Usable(p.settings) != nil
	way := packedS2
	if with != nil {
		way, p.key = packedZstd, with.key
	}
	if p.codec, err = newCodec(way); err != nil {
		return nil, err
	}
	if p.header.Encrypted && p.key == nil {
		if p.key, err = age.GenerateX25519Identity(); err != nil {
			return nil, err
		}
	}
	p.raw, err = encodeHeader(p.header)
	return p, err
}

func (p *packing) manifest() Manifest {
	return Manifest{p.header, p.contents.Entries, p.contents.Omitted}
}

// job is a part to be packed.
type job struct {
	plain []byte // as a part that is not packed
	entry int
}

// packed is a part to be written.
type packed struct {
	blob   []byte // as stored; nil of a part that the pool has already
	plain  string // SHA-256 before encryption; where it is needed
	entry  int
	known  part // of such a part
	crc    uint32
	offset int64
}

// syncEvery is after how many bytes what was written is synced and checked. Without, a file of gigabytes would be
// synced at once, and the store's own syncs would wait behind it.
const syncEvery = 4 << 20

// run writes the parts to f, and the end when all parts are in the file. Each is read back from the disk and unpacked,
// and what the store's parts hold is compared with what the store held. With a pool, that is left to who puts the parts
// there, and no end is written.
func (p *packing) run(ctx context.Context, f *os.File) (r Result, err error) {
	back, err := os.Open(f.Name())
	if err != nil {
		return r, err
	}
	defer back.Close()
	w := &spoolWriter{f: f, p: p, written: make(chan []packed)}
	w.room = measured{w: f, dir: filepath.Dir(f.Name()), percent: p.cfg.MinFreePercent, reserve: p.cfg.reserve}
	if err := w.write(p.raw); err != nil {
		return r, err
	}
	p.cfg.step("named")
	files, err := p.readFiles()
	if err != nil {
		return r, err
	}
	check, err := newChecker(p, back)
	if err != nil {
		return r, err
	}
	defer check.store.Abort()

	held, err := p.parts(ctx, files, w, check)
	if err != nil {
		return r, err
	}
	p.finishEntries(held)
	if p.pool != nil {
		return r, nil
	}
	if err := check.store.Finish(held); err != nil {
		return r, fmt.Errorf("the store: %w", err)
	}
	err = p.end(w, check)
	p.progress.finish()
	return Result{Bytes: p.at, SHA256: hex.EncodeToString(check.sum.Sum(nil)), Manifest: p.manifest()}, err
}

// end writes what follows the parts, and reads it back.
func (p *packing) end(w *spoolWriter, check *checker) error {
	tail, err := p.tail()
	if err != nil {
		return err
	}
	if err := w.write(tail); err != nil {
		return err
	}
	if err := w.sync(); err != nil {
		return err
	}
	return check.compare(partEnd, tail)
}

// parts takes the content of every entry out, packs it, writes it, makes it last and checks it, all at the same time.
func (p *packing) parts(ctx context.Context, files [][]byte, w *spoolWriter, check *checker) (held kv.Contents, err error) {
	jobs, lasting := make(chan job), make(chan packed, 2*syncEvery>>20)
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() (err error) {
		defer close(jobs)
		held, err = p.take(ctx, files, jobs)
		return err
	})
	work.Go(func() error {
		defer close(w.written)
		next := func() (job, error) {
			j, open := <-jobs
			if !open {
				return j, io.EOF
			}
			return j, nil
		}
		if err := pipeline(ctx, next, p.pack, func(done packed) error { return w.part(ctx, done) }); err != nil {
			return err
		}
		return w.give(ctx)
	})
	work.Go(func() error {
		defer close(lasting)
		return w.syncAll(ctx, lasting)
	})
	work.Go(func() error {
		for done := range lasting {
			if err := check.part(done); err != nil {
				return err
			}
		}
		return nil
	})
	err = work.Wait()
	return held, err
}

// take returns the content of every entry.
func (p *packing) take(ctx context.Context, files [][]byte, jobs chan<- job) (held kv.Contents, err error) {
	give := func(j job) error {
		select {
		case jobs <- j:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	busy := false
	next := func() []byte {
		buf := p.buffers.get()
		p.turns.take()
		busy = true
		return append(buf, packedNot)
	}
	use := func(plain []byte) error {
		p.turns.give()
		busy = false
		if len(plain)-1 > maxContent {
			return fmt.Errorf("a value has more than the %d bytes that a backup can hold", maxContent)
		}
		p.progress.add(len(plain) - 1)
		return give(job{plain, 0})
	}
	// Without a pool the checker compares the values' checksums.
	held, err = p.cfg.Store.Export(kv.ExportConfig{Use: use, Next: next, Trust: p.pool == nil})
	if busy {
		p.turns.give()
	}
	if err != nil {
		return held, fmt.Errorf("the store: %w", err)
	}
	p.cfg.step("copied")
	for i, data := range files {
		if err := give(job{append([]byte{packedNot}, data...), i + 1}); err != nil {
			return held, err
		}
	}
	return held, nil
}

// pack makes the stored form of a part.
func (p *packing) pack(j job) (done packed, err error) {
	p.turns.take()
	defer p.turns.give()
	blob, spare := p.codec.pack(p.buffers.get(), j.plain)
	p.buffers.put(spare)
	done = packed{blob: blob, entry: j.entry}
	if p.key != nil || p.pool != nil {
		done.plain = sum256hex(blob)
	}
	if p.pool != nil {
		if known, ok := p.pool.known[done.plain]; ok {
			p.buffers.put(blob)
			done.blob, done.known = nil, known
			return done, nil
		}
	}
	if p.key != nil {
		done.blob, err = seal(p.buffers.get(), p.key, blob)
		p.buffers.put(blob)
		if err != nil {
			return done, fmt.Errorf("encrypt: %w", err)
		}
	}
	done.crc = crc32.Checksum(done.blob, castagnoli)
	return done, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// spoolWriter writes parts, and syncs now and then.
type spoolWriter struct {
	p       *packing
	f       *os.File
	room    measured
	pending []packed
	size    int
	written chan []packed // what is to be synced
}

func (w *spoolWriter) write(b []byte) error {
	_, err := w.room.Write(b)
	w.p.at += int64(len(b))
	return err
}

func (w *spoolWriter) part(ctx context.Context, done packed) error {
	done.offset = -1
	if done.blob != nil {
		done.offset = w.p.at
		if err := w.write(done.blob); err != nil {
			return err
		}
		w.size += len(done.blob)
		done.known.Size = int64(len(done.blob))
		w.p.buffers.put(done.blob)
		done.blob = nil
	}
	if w.pending = append(w.pending, done); w.size >= syncEvery {
		return w.give(ctx)
	}
	return nil
}

// give lets what was written last be synced, and goes on meanwhile.
func (w *spoolWriter) give(ctx context.Context) error {
	select {
	case w.written <- w.pending:
		w.pending, w.size = nil, 0
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// syncAll makes what was written last, and lets it be checked.
func (w *spoolWriter) syncAll(ctx context.Context, lasting chan<- packed) error {
	for parts := range w.written {
		if err := w.sync(); err != nil {
			return err
		}
		for _, done := range parts {
			select {
			case lasting <- done:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

func (w *spoolWriter) sync() error {
	err := syncData(w.f)
	if err == nil {
		w.p.cfg.step("synced")
	}
	return err
}

// checker reads back what was written, in order.
type checker struct {
	p     *packing
	back  *os.File
	store *kv.Import
	sum   hash.Hash // of the file
}

func newChecker(p *packing, back *os.File) (*checker, error) {
	c := &checker{p: p, back: back, sum: sha256.New()}
	var err error
	if c.store, err = kv.NewImport(""); err != nil {
		return nil, err
	}
	return c, c.compare(partHeader, p.raw)
}

// compare reads back the next bytes of the file.
func (c *checker) compare(name string, want []byte) error {
	got := make([]byte, len(want))
	if _, err := c.back.ReadAt(got, c.p.at-int64(len(want))); err != nil {
		return failed(name, err)
	}
	if !bytes.Equal(got, want) {
		return errLying(name)
	}
	c.sum.Write(got)
	return nil
}

func errLying(name string) error {
	return damaged(name, "the disk gives back something else than was written to it")
}

// part reads back a part and notes it in the table.
func (c *checker) part(done packed) error {
	p := c.p
	entry := &p.contents.Entries[done.entry]
	entry.Parts++
	p.offsets = append(p.offsets, done.offset)
	if p.key != nil {
		p.contents.Plain = append(p.contents.Plain, done.plain)
	}
	if done.offset < 0 {
		p.table.Parts = append(p.table.Parts, done.known)
		return nil
	}
	p.turns.take()
	defer p.turns.give()
	sum := c.sum
	if p.pool != nil {
		sum = sha256.New() // of this part alone, which is its name
	}
	stored, crc := p.buffers.sized(int(done.known.Size)), uint32(0)
	for from := 0; from < len(stored); from += stepSize { // all that is to be done with a piece while it is in a cache
		piece := stored[from:min(from+stepSize, len(stored))]
		if _, err := c.back.ReadAt(piece, done.offset+int64(from)); err != nil {
			return failed(entry.Name, err)
		}
		crc = crc32.Update(crc, castagnoli, piece)
		sum.Write(piece)
		step()
	}
	if crc != done.crc {
		return errLying(entry.Name)
	}
	p.table.Parts = append(p.table.Parts, part{Size: done.known.Size, SHA256: hex.EncodeToString(sum.Sum(nil))})
	if p.pool != nil {
		p.buffers.put(stored)
		return nil
	}
	return c.content(entry.Name, stored, done.entry == 0)
}

// content unpacks a part that was read back, and counts what the store's hold.
func (c *checker) content(name string, stored []byte, ofStore bool) (err error) {
	p, blob := c.p, stored
	if p.key != nil {
		blob, err = unseal(p.buffers.get(), p.key, stored)
		p.buffers.put(stored)
		if err != nil {
			return damaged(name, "%w", err)
		}
	}
	step()
	content, spare, err := p.codec.unpack(p.buffers.get(), blob)
	if err != nil {
		return damaged(name, "%w", err)
	}
	p.buffers.put(spare)
	defer p.buffers.put(content)
	p.progress.add(len(content))
	if !ofStore {
		return nil
	}
	step()
	if err := c.store.Add(content); err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	return nil
}

// finishEntries completes what the manifest says of the store.
func (p *packing) finishEntries(held kv.Contents) {
	e := &p.contents.Entries[0]
	e.Size, e.Counts, e.Sequences = held.Size, held.Counts, held.Sequences
}

// storeSum is the SHA-256 of a store: of its parts' checksums, or where they are encrypted of those before.
func storeSum(parts []part, plain []string) string {
	digests := sha256.New()
	for i, p := range parts {
		if plain != nil {
			p.SHA256 = plain[i]
		}
		digests.Write([]byte(p.SHA256))
	}
	return hex.EncodeToString(digests.Sum(nil))
}

// tail makes what follows the parts.
func (p *packing) tail() ([]byte, error) {
	t := p.table
	store := &p.contents.Entries[0]
	store.SHA256 = storeSum(t.Parts[:store.Parts], p.contents.Plain)
	if p.key == nil {
		t.Manifest = &p.contents
		return encodeTable(p.raw, t)
	}
	c := p.contents
	c.Header, c.Key = &p.header, p.key.String()
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	to, err := age.NewScryptRecipient(p.cfg.Passphrase)
	if err != nil {
		return nil, err
	}
	if p.cfg.WorkFactor > 0 {
		to.SetWorkFactor(p.cfg.WorkFactor)
	}
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, to)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	_, err = w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	t.Sealed = sealed.Bytes()
	return encodeTable(p.raw, t)
}

func sum256hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
