package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filippo.io/age"

	"opsmon/kv"
)

// maxWorkFactor is age's own work factor. A backup never uses more; a file with a larger one would exhaust the memory.
const maxWorkFactor = 18

// opened is a backup whose manifest has been read.
type opened struct {
	from     io.ReaderAt
	dir      string // of the file and its shared parts
	raw      []byte // the header as it is stored
	manifest Manifest
	table    table
	locked   bool                // the passphrase is missing: the manifest only has a header
	key      *age.X25519Identity // of the parts; nil when they are not encrypted
	plain    []string            // SHA-256 of each part before encryption
	misfit   error               // the parts do not fill the file: some bytes are missing or too many
}

// open reads the header, the table and, when it can be read, the manifest of a file of so many bytes. A missing
// passphrase is no failure. Errors: ErrDamaged, ErrNewer, ErrPassphrase.
func open(r io.ReaderAt, size int64, dir, passphrase string) (*opened, error) {
	h, raw, err := readHeader(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, err
	}
	o := &opened{from: r, dir: dir, raw: raw, manifest: Manifest{Header: h}}
	var start int64
	if o.table, start, err = readTable(r, size, raw); err != nil {
		return nil, err
	}
	at := int64(len(raw))
	for _, p := range o.table.Parts {
		if !p.Beside {
			at += p.Size
		}
	}
	if at != start {
		o.misfit = damaged(partEnd, "it is at byte %d where %d is expected", start, at)
	}
	c := o.table.Manifest
	if (c == nil) != h.Encrypted {
		return nil, damaged(partManifest, "the header does not say whether it is encrypted")
	}
	if h.Encrypted {
		if passphrase == "" {
			o.locked = true
			return o, nil
		}
		if c, err = o.unlock(passphrase); err != nil {
			return nil, err
		}
	}
	if err := c.check(len(o.table.Parts)); err != nil {
		return nil, err
	}
	o.manifest.Entries, o.manifest.Omitted = c.Entries, c.Omitted
	return o, nil
}

// unlock decrypts the manifest.
func (o *opened) unlock(passphrase string) (*contents, error) {
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, err
	}
	identity.SetMaxWorkFactor(maxWorkFactor)
	r, err := age.Decrypt(bytes.NewReader(o.table.Sealed), identity)
	if errors.Is(err, age.ErrIncorrectIdentity) {
		return nil, &Error{Kind: ErrPassphrase}
	}
	var c contents
	if err == nil {
		var text []byte
		if text, err = io.ReadAll(r); err == nil {
			err = decodeTable(text, &c)
		}
	}
	if err == nil {
		o.key, err = age.ParseX25519Identity(c.Key)
	}
	switch {
	case err != nil:
		return nil, damaged(partManifest, "%w", err)
	case c.Header == nil || *c.Header != o.manifest.Header:
		return nil, damaged(partHeader, "it is not the one that was encrypted with the manifest")
	case len(c.Plain) != len(o.table.Parts):
		return nil, damaged(partManifest, "it describes %d parts where there are %d", len(c.Plain), len(o.table.Parts))
	}
	o.plain = c.Plain
	return &c, nil
}

// A sink takes the content of one entry.
type sink interface {
	Add(content []byte) error // of one part; it must not be used later
	Finish(e Entry, m Manifest) error
	Close() error // always called, also after Finish and after a failure
}

// piece is one part on its way.
type piece struct {
	index           int
	stored, content []byte
}

// read reads all parts in order and compares every checksum. to returns the sink for an entry's content; step is called
// with the number of bytes of each piece. Without the passphrase it only compares the checksums of the stored bytes and
// does not call to. Errors: ErrDamaged; to's; the disk's.
func (o *opened) read(ctx context.Context, to func(Entry) (sink, error), step func(n int)) error {
	codec, err := newCodec(packedNot)
	if err != nil {
		return err
	}
	turns, bufs := newTurns(), &buffers{}
	loader := o.newLoader(bufs)
	next := func() (p piece, err error) {
		if p.index = loader.index; p.index < len(o.table.Parts) {
			p.stored, err = loader.next()
			return p, err
		}
		return p, io.EOF
	}
	unpack := func(p piece) (piece, error) {
		turns.take()
		defer turns.give()
		var err error
		p.content, err = o.unpack(p, codec, bufs)
		return p, failed(o.nameOf(p.index), err)
	}
	w := &entryWriter{o: o, to: to}
	defer w.close()
	err = pipeline(ctx, next, unpack, func(p piece) error {
		if o.locked {
			return nil
		}
		step(len(p.content))
		turns.take()
		defer turns.give()
		err := w.part(p)
		bufs.put(p.content)
		return err
	})
	if err != nil {
		return err
	}
	return o.misfit
}

// nameOf returns the name of a part in errors.
func (o *opened) nameOf(index int) string {
	if p := o.table.Parts[index]; p.Beside {
		return partsDir + "/" + p.SHA256
	}
	for _, e := range o.manifest.Entries {
		if index -= e.Parts; index < 0 {
			return e.Name
		}
	}
	return fmt.Sprintf("part %d", index+1)
}

// loader reads parts as they are stored, in order, and compares their checksums.
type loader struct {
	o     *opened
	bufs  *buffers
	index int
	at    int64
	sum   hash.Hash // of the file so far
}

func (o *opened) newLoader(bufs *buffers) *loader {
	l := &loader{o: o, bufs: bufs, at: int64(len(o.raw)), sum: sha256.New()}
	l.sum.Write(o.raw)
	return l
}

func (l *loader) next() ([]byte, error) {
	p := l.o.table.Parts[l.index]
	stored, err := l.o.load(p, l.at, l.bufs)
	if err != nil {
		return nil, failed(l.o.nameOf(l.index), err)
	}
	sum := ""
	if p.Beside {
		sum = sum256hex(stored)
	} else {
		l.at += p.Size
		l.sum.Write(stored)
		sum = hex.EncodeToString(l.sum.Sum(nil))
	}
	if sum != p.SHA256 {
		return nil, damaged(l.o.nameOf(l.index), "the checksum does not match")
	}
	l.index++
	return stored, nil
}

// load reads a part as it is stored.
func (o *opened) load(p part, at int64, bufs *buffers) ([]byte, error) {
	from := o.from
	if p.Beside {
		f, err := kv.OpenRegular(partPath(o.dir, p.SHA256))
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = errors.New("the file is missing: a backup of a folder needs the files beside it")
			}
			return nil, err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if info.Size() != p.Size {
			return nil, fmt.Errorf("it has %d bytes where %d are expected", info.Size(), p.Size)
		}
		from, at = f, 0
	} else if o.misfit != nil {
		// The table may name any number of bytes: allocate only for those that exist.
		if _, err := from.ReadAt(make([]byte, 1), at+max(p.Size, 1)-1); err != nil {
			return nil, noEOF(err)
		}
	}
	stored := bufs.sized(int(p.Size))
	_, err := from.ReadAt(stored, at)
	return stored, noEOF(err)
}

func noEOF(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file ends too early")
	}
	return err
}

// unpack returns the content of a part, and returns unused buffers; without the passphrase it returns nothing.
func (o *opened) unpack(p piece, codec *codec, bufs *buffers) (content []byte, err error) {
	if o.locked {
		bufs.put(p.stored)
		return nil, nil
	}
	blob := p.stored
	if o.key != nil {
		blob, err = unseal(bufs.get(), o.key, p.stored)
		bufs.put(p.stored)
		if err != nil {
			return nil, err
		}
		if sum256hex(blob) != o.plain[p.index] {
			return nil, errors.New("it is not the part that the manifest describes")
		}
	}
	content, spare, err := codec.unpack(bufs.get(), blob)
	bufs.put(spare)
	return content, err
}

// entryWriter passes parts to the sinks of their entries.
type entryWriter struct {
	o       *opened
	to      func(Entry) (sink, error)
	current sink
	entry   int
	parts   int // of the entry so far
	size    int64
	digests hash.Hash // of a store, of its parts' SHA-256; of a file, of its content
}

func (w *entryWriter) part(p piece) (err error) {
	e := w.o.manifest.Entries[w.entry]
	if w.current == nil {
		if w.current, err = w.to(e); err != nil {
			return err
		}
		w.parts, w.size, w.digests = 0, 0, sha256.New()
	}
	if w.size += int64(len(p.content)); w.size > e.Size {
		return damaged(e.Name, "it is longer than the manifest says")
	}
	switch {
	case e.Kind != KindStore:
		w.digests.Write(p.content)
	case w.o.key != nil:
		io.WriteString(w.digests, w.o.plain[p.index])
	default:
		io.WriteString(w.digests, w.o.table.Parts[p.index].SHA256)
	}
	if err := w.current.Add(p.content); err != nil {
		return failed(e.Name, err)
	}
	if w.parts++; w.parts < e.Parts {
		return nil
	}
	if w.size < e.Size {
		return damaged(e.Name, "it is shorter than the manifest says")
	}
	if got := hex.EncodeToString(w.digests.Sum(nil)); got != e.SHA256 {
		return damaged(e.Name, "its SHA-256 is %s where the manifest says %s", got, e.SHA256)
	}
	err = w.current.Finish(e, w.o.manifest)
	if closed := w.close(); err == nil {
		err = closed
	}
	w.entry++
	return failed(e.Name, err)
}

func (w *entryWriter) close() (err error) {
	if w.current != nil {
		err = w.current.Close()
		w.current = nil
	}
	return err
}

// discard is a sink that drops an entry's content.
type discard struct{}

func (discard) Add([]byte) error             { return nil }
func (discard) Finish(Entry, Manifest) error { return nil }
func (discard) Close() error                 { return nil }

// importing builds a store from its parts, or with an empty path only checks them.
type importing struct{ *kv.Import }

func importTo(path string) (sink, error) {
	im, err := kv.NewImport(path)
	return importing{im}, err
}

// Finish implements sink.
func (s importing) Finish(e Entry, m Manifest) error {
	return s.Import.Finish(kv.Contents{Version: m.Store, Counts: e.Counts, Sequences: e.Sequences})
}

// Close implements sink.
func (s importing) Close() error { return s.Abort() }

// checked returns the sink for an entry that is checked and not stored.
func checked(e Entry) (sink, error) {
	if e.Kind == KindStore {
		return importTo("")
	}
	return discard{}, nil
}

// openFile opens a backup file.
func openFile(path, passphrase string) (o *opened, f *os.File, err error) {
	if f, err = kv.OpenRegular(path); err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		o, err = open(f, info.Size(), filepath.Dir(path), passphrase)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return o, f, nil
}

// Inspect reads the description of a backup without its entries. Without the passphrase of an encrypted one it returns
// only the header, and Entries is nil. Errors: ErrDamaged; ErrNewer; ErrPassphrase if it is wrong.
func Inspect(path, passphrase string) (Manifest, error) {
	m, err := inspect(path, passphrase)
	return m, during("inspect "+path, err)
}

func inspect(path, passphrase string) (Manifest, error) {
	o, f, err := openFile(path, passphrase)
	if err != nil {
		return Manifest{}, err
	}
	defer f.Close()
	return o.manifest, o.misfit
}

// ReadSettings verifies a backup and returns the text of its app.yaml. Errors: those of Verify; it has none.
func ReadSettings(ctx context.Context, path, passphrase string) ([]byte, error) {
	var text *bytes.Buffer
	_, err := readAll(ctx, path, passphrase, func(e Entry) (sink, error) {
		if e.Name == settingsName {
			text = new(bytes.Buffer)
			return textSink{text}, nil
		}
		return discard{}, nil
	}, nil)
	if err == nil && text == nil {
		err = &Error{Part: settingsName, Err: errors.New("the backup has none")}
	}
	if err != nil {
		return nil, during("read "+path, err)
	}
	return text.Bytes(), nil
}

// textSink collects an entry's content.
type textSink struct{ *bytes.Buffer }

// Add implements sink.
func (t textSink) Add(content []byte) error { t.Write(content); return nil }

// Finish implements sink.
func (textSink) Finish(Entry, Manifest) error { return nil }

// Close implements sink.
func (textSink) Close() error { return nil }

// VerifyConfig says which backup to verify.
type VerifyConfig struct {
	Path       string
	Passphrase string                  // of an encrypted one
	Progress   func(done, total int64) // as in Config. May be nil
}

// Verify reads every byte of a backup, unpacks it, checks each value and counts each bucket of the store in it. It
// needs only the file, and the parts that it shares, and writes nothing. Errors: ErrDamaged with the part; ErrNewer;
// ErrPassphrase; the disk's; ctx's.
func Verify(ctx context.Context, cfg VerifyConfig) (Manifest, error) {
	m, err := readAll(ctx, cfg.Path, cfg.Passphrase, checked, cfg.Progress)
	return m, during("verify "+cfg.Path, err)
}

// readAll reads a backup to its end. report may be nil. Errors: also ErrPassphrase without one that is needed.
func readAll(ctx context.Context, path, passphrase string, to func(Entry) (sink, error), report func(done, total int64)) (m Manifest, err error) {
	o, f, err := openFile(path, passphrase)
	if err != nil {
		return m, err
	}
	defer f.Close()
	if o.locked {
		return m, &Error{Kind: ErrPassphrase, Err: errors.New("it is encrypted and no passphrase was given")}
	}
	p := &progress{report: report}
	if report == nil {
		p.report = func(int64, int64) {}
	}
	for _, e := range o.manifest.Entries {
		p.total += e.Size
	}
	return o.manifest, o.read(ctx, to, p.add)
}
