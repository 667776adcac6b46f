package web

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"path"

	"opsmon/assets"
)

// vendorDir is the folder of the vendored packages in the static files.
const vendorDir = "vendor"

// readVendored returns the modules of the vendored packages by path below /assets/<hash>/. The binary has them in
// compressed form, and they are served so, which makes the start fast.
func readVendored() (map[string]*file, error) {
	z, err := assets.Vendor()
	if err != nil {
		return nil, err
	}
	files := make(map[string]*file, len(z.File))
	for _, packed := range z.File {
		f, err := newPacked(packed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", packed.Name, err)
		}
		files[path.Join(vendorDir, packed.Name)] = f
	}
	return files, nil
}

// newPacked returns the answer for a file compressed by Deflate, the content of gzip (RFC 1952).
func newPacked(packed *zip.File) (*file, error) {
	kind := types[path.Ext(packed.Name)]
	if kind == "" || packed.Method != zip.Deflate {
		return nil, fmt.Errorf("it is of a kind that is not served, or not compressed")
	}
	raw, err := packed.OpenRaw()
	if err != nil {
		return nil, err
	}
	compressed := append(make([]byte, 0, packed.CompressedSize64+18), 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255)
	deflated, err := io.ReadAll(raw)
	if err != nil {
		return nil, err
	}
	compressed = append(compressed, deflated...)
	compressed = binary.LittleEndian.AppendUint32(compressed, packed.CRC32)
	compressed = binary.LittleEndian.AppendUint32(compressed, uint32(packed.UncompressedSize64))
	sum := sha256.Sum256(compressed)
	f := &file{kind: kind, tag: `"` + hex.EncodeToString(sum[:10]) + `"`}
	f.compressWith(compressed)
	if uint64(len(compressed)) >= packed.UncompressedSize64 {
		f.plain, f.compressed = f.whole(), nil
	}
	return f, nil
}
