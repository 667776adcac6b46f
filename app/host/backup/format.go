package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
)

// format is the version of the file's form that this program writes, and the newest that it reads.
const format = 1

// magic starts every backup. Its line ends notice a copy that was taken for text.
const magic = "opsmon backup\r\n\x00"

// The parts of a file that are no entries, as errors name them.
const (
	partHeader   = "the header"
	partManifest = "the manifest"
	partEnd      = "the end"
)

// Limits of the format, in bytes.
const (
	maxContent  = 256 << 20          // of a part before it is packed
	maxPart     = maxContent + 1<<20 // of a stored part: encryption makes unpacked content a little larger
	maxHeader   = 64 << 10           // of the header's JSON
	maxTable    = 64 << 20           // of the table's JSON
	lengthSize  = 4
	digestSize  = sha256.Size
	headerStart = len(magic) + lengthSize
	tailSize    = lengthSize + digestSize + len(endMark) // what follows the table's JSON
)

// endMark ends every backup.
const endMark = "end\n"

// Header is the part of a backup that can be read without a passphrase.
type Header struct {
	Format    int       `json:"format"`
	App       string    `json:"app"`    // version of the program that made it
	Store     int       `json:"store"`  // version of the store: how many migrations have run on it
	MadeAt    time.Time `json:"madeAt"` // in UTC
	Encrypted bool      `json:"encrypted"`

	UnusableSettings bool `json:"unusableSettings,omitempty"` // app.yaml could not be used when it was made; why is not told in the clear
}

// Manifest lists the content of a backup.
type Manifest struct {
	Header
	Entries []Entry  `json:"entries"`           // in the file's order; the store is first
	Omitted []string `json:"omitted,omitempty"` // left out, secrets and what was not there, by name: a file, with the reason in brackets where it could not be read, or a setting as app.yaml:smtp.password
}

// table is the stored list of parts, and the manifest.
type table struct {
	Parts    []part    `json:"parts"`
	Manifest *contents `json:"manifest,omitempty"`
	Sealed   []byte    `json:"sealed,omitempty"` // of an encrypted one: contents, as an age file
}

// part is a piece of an entry as it is stored.
type part struct {
	Size   int64  `json:"size"`             // in bytes
	SHA256 string `json:"sha256"`           // of the file from its start to the part's end; of a part in its own file, of that file
	Beside bool   `json:"beside,omitempty"` // it has a file of its own
}

// contents is the manifest as it stands in a file.
type contents struct {
	Entries []Entry  `json:"entries"`
	Omitted []string `json:"omitted,omitempty"`

	// Of an encrypted backup.
	Header *Header  `json:"header,omitempty"` // as it stands in the clear
	Key    string   `json:"key,omitempty"`    // age's, of the parts
	Plain  []string `json:"plain,omitempty"`  // SHA-256 of each part before encryption
}

// Kind is the kind of an entry.
type Kind string

// The kinds of entries.
const (
	KindStore    Kind = "store"
	KindSettings Kind = "settings" // app.yaml
	KindRedacted Kind = "redacted" // app.yaml without the secrets that it had, and without comments
	KindFile     Kind = "file"     // any other file of the data directory
)

// Entry is one file in a backup.
type Entry struct {
	Name   string         `json:"name"` // path in the data directory, with slashes
	Kind   Kind           `json:"kind"`
	Size   int64          `json:"size"`             // of its content in bytes; a store's file takes a little more
	SHA256 string         `json:"sha256"`           // of its bytes; of a store, of its parts' checksums. In hexadecimal
	Parts  int            `json:"parts"`            // how many parts it is in
	Counts map[string]int `json:"counts,omitempty"` // of a store: keys by bucket

	Sequences map[string]uint64 `json:"sequences,omitempty"` // of a store: the last number of each bucket that has numbers
}

// The names of the store and the settings in the data directory.
const (
	storeName    = "app.db"
	settingsName = "app.yaml"
)

// encodeHeader makes the header's bytes.
func encodeHeader(h Header) ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	b := binary.BigEndian.AppendUint32([]byte(magic), uint32(len(text)))
	b = append(b, text...)
	sum := sha256.Sum256(b)
	return append(b, sum[:]...), nil
}

// readHeader reads the header and also returns its bytes. Errors: ErrDamaged; ErrNewer.
func readHeader(r io.Reader) (h Header, raw []byte, err error) {
	raw = make([]byte, headerStart)
	if n, err := io.ReadFull(r, raw); err != nil {
		return h, nil, failed(partHeader, short(err, n))
	}
	if !strings.HasPrefix(string(raw), magic) {
		return h, nil, damaged(partHeader, "the file does not start as a backup does")
	}
	size := int(binary.BigEndian.Uint32(raw[len(magic):]))
	if size > maxHeader {
		return h, nil, damaged(partHeader, "its length makes no sense")
	}
	raw = append(raw, make([]byte, size+digestSize)...)
	if n, err := io.ReadFull(r, raw[headerStart:]); err != nil {
		return h, nil, failed(partHeader, short(err, headerStart+n))
	}
	sum := sha256.Sum256(raw[:headerStart+size])
	if !bytes.Equal(sum[:], raw[headerStart+size:]) {
		return h, nil, damaged(partHeader, "the checksum does not match")
	}
	if err := json.Unmarshal(raw[headerStart:headerStart+size], &h); err != nil {
		return h, nil, damaged(partHeader, "%w", err)
	}
	if h.Format > format {
		return h, nil, &Error{Part: partHeader, Kind: ErrNewer,
			Err: fmt.Errorf("it has format %d and this program reads formats up to %d; install version %s or a later one", h.Format, format, h.App)}
	}
	return h, raw, nil
}

// short says in words that a file ends too early.
func short(err error, at int) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file ends after %d bytes", at)
	}
	return err
}

// encodeTable makes everything that follows the parts.
func encodeTable(header []byte, t table) ([]byte, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	if len(text) > maxTable {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that it may", partManifest, len(text), maxTable)
	}
	text = binary.BigEndian.AppendUint32(text, uint32(len(text)))
	sum := sha256.New()
	sum.Write(header)
	sum.Write(text)
	return append(sum.Sum(text), endMark...), nil
}

// readTable reads the table of a file of this size, and returns where it starts. Errors: ErrDamaged.
func readTable(r io.ReaderAt, size int64, header []byte) (t table, start int64, err error) {
	tail := make([]byte, tailSize)
	if size < int64(len(header)+tailSize) {
		return t, 0, damaged(partEnd, "the file ends after %d bytes", size)
	}
	if _, err := r.ReadAt(tail, size-int64(tailSize)); err != nil {
		return t, 0, failed(partEnd, err)
	}
	if string(tail[lengthSize+digestSize:]) != endMark {
		return t, 0, damaged(partEnd, "it is not where it should be: the file was cut, or something follows it")
	}
	length := int64(binary.BigEndian.Uint32(tail))
	start = size - int64(tailSize) - length
	if length > maxTable || start < int64(len(header)) {
		return t, 0, damaged(partEnd, "the length before it makes no sense")
	}
	text := make([]byte, length+lengthSize)
	if _, err := r.ReadAt(text, start); err != nil {
		return t, 0, failed(partManifest, err)
	}
	sum := sha256.New()
	sum.Write(header)
	sum.Write(text)
	if !bytes.Equal(sum.Sum(nil), tail[lengthSize:][:digestSize]) {
		return t, 0, damaged(partManifest, "the checksum does not match")
	}
	if err := decodeTable(text[:length], &t); err != nil {
		return t, 0, damaged(partManifest, "%w", err)
	}
	for i, p := range t.Parts {
		if raw, err := hex.DecodeString(p.SHA256); err != nil || len(raw) != digestSize || p.Size < 0 || p.Size > maxPart {
			return t, 0, damaged(partManifest, "part %d makes no sense", i)
		}
	}
	return t, start, nil
}

// decodeTable decodes the JSON of a table or of contents. Nearly all of either are SHA-256 in hexadecimal: one that
// holds much else is refused before it takes many times its own size in memory.
func decodeTable(text []byte, v any) error {
	if n := bytes.Count(text, []byte{','}); n > 1024+len(text)/24 {
		return fmt.Errorf("%d items in %d bytes make no sense", n, len(text))
	}
	return json.Unmarshal(text, v)
}

// check refuses contents that would lead outside the directory, or do not fit the parts.
func (c contents) check(parts int) error {
	if len(c.Entries) == 0 || c.Entries[0].Kind != KindStore || c.Entries[0].Name != storeName {
		return damaged(partManifest, "it does not start with the store")
	}
	seen := map[string]bool{}
	for _, e := range c.Entries {
		// Compared without case, as some file systems do.
		if !plainName(e.Name) || seen[strings.ToLower(e.Name)] || e.Size < 0 || e.Parts < 1 || e.Parts > parts {
			return damaged(partManifest, "the entry %q makes no sense", e.Name)
		}
		parts -= e.Parts
		seen[strings.ToLower(e.Name)] = true
		if (e.Kind == KindStore) != (e.Name == storeName) || (e.Kind == KindSettings || e.Kind == KindRedacted) != (e.Name == settingsName) {
			return damaged(partManifest, "the entry %q is of kind %q", e.Name, e.Kind)
		}
	}
	if parts != 0 {
		return damaged(partManifest, "%d parts belong to no entry", parts)
	}
	return nil
}

// plainName reports whether a name is a path below a directory, on every system alike.
func plainName(name string) bool {
	return name != "" && name != "." && !strings.ContainsAny(name, `\:`) && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) &&
		filepath.IsLocal(filepath.FromSlash(name)) && filepath.ToSlash(filepath.Clean(name)) == name
}
