package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
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
	blockSize   = 1 << 20            // of content in a block of an entry
	maxBlock    = blockSize + 64<<10 // of a block as stored: what zstd cannot make smaller gets a little larger
	maxHeader   = 64 << 10           // of the header's JSON
	lengthSize  = 4
	digestSize  = sha256.Size
	headerStart = len(magic) + lengthSize
)

// Header is what a backup says of itself without a passphrase.
type Header struct {
	Format    int       `json:"format"`
	App       string    `json:"app"`    // version of the program that made it
	Store     int       `json:"store"`  // version of the store: how many migrations have run on it
	MadeAt    time.Time `json:"madeAt"` // in UTC
	Encrypted bool      `json:"encrypted"`
}

// storedHeader is the header as it stands in a file.
type storedHeader struct {
	Header
	Age []byte `json:"age,omitempty"` // of an encrypted one: age's header and nonce
}

// Manifest says what is in a backup.
type Manifest struct {
	Header
	Entries []Entry  `json:"entries"`           // in the file's order; the store is first
	Omitted []string `json:"omitted,omitempty"` // secrets left out, by name: a file, or a setting as app.yaml:smtp.password
}

// contents is the manifest as it stands in a file.
type contents struct {
	Entries []Entry  `json:"entries"`
	Omitted []string `json:"omitted,omitempty"`
}

// Kind says what an entry is.
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
	Size   int64          `json:"size"`             // in bytes
	SHA256 string         `json:"sha256"`           // of its bytes, in hexadecimal
	Counts map[string]int `json:"counts,omitempty"` // of a store: keys by bucket
}

// The names of the store and the settings in the data directory.
const (
	storeName    = "app.db"
	settingsName = "app.yaml"
)

// encodeHeader makes the header's bytes.
func encodeHeader(h storedHeader) ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	b := binary.BigEndian.AppendUint32([]byte(magic), uint32(len(text)))
	b = append(b, text...)
	sum := sha256.Sum256(b)
	return append(b, sum[:]...), nil
}

// readHeader reads the header and gives its bytes too. Errors: ErrDamaged; ErrNewer.
func readHeader(r io.Reader) (h storedHeader, raw []byte, err error) {
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

// decodeManifest reads the manifest's JSON and refuses one that would lead outside the directory.
func decodeManifest(text []byte, h Header) (m Manifest, err error) {
	var c contents
	if err := json.Unmarshal(text, &c); err != nil {
		return m, damaged(partManifest, "%w", err)
	}
	m = Manifest{h, c.Entries, c.Omitted}
	if len(m.Entries) == 0 || m.Entries[0].Kind != KindStore || m.Entries[0].Name != storeName {
		return m, damaged(partManifest, "it does not start with the store")
	}
	seen := map[string]bool{}
	for _, e := range m.Entries {
		// Compared without case, as some file systems do.
		if !plainName(e.Name) || seen[strings.ToLower(e.Name)] || e.Size < 0 {
			return m, damaged(partManifest, "the entry %q makes no sense", e.Name)
		}
		seen[strings.ToLower(e.Name)] = true
		if (e.Kind == KindStore) != (e.Name == storeName) {
			return m, damaged(partManifest, "the entry %q is of kind %q", e.Name, e.Kind)
		}
	}
	return m, nil
}

// plainName tells whether a name is a path below a directory, on every system alike.
func plainName(name string) bool {
	return name != "" && name != "." && !strings.ContainsAny(name, `\:`) && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) &&
		filepath.IsLocal(filepath.FromSlash(name)) && filepath.ToSlash(filepath.Clean(name)) == name
}
