package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
)

// entry is a file of an archive.
type entry struct {
	name    string
	mode    int64
	content []byte
}

// entries returns the files of an archive: the binary with its signature, the documentation, and the licences.
func (p *product) entries() ([]entry, error) {
	binary, err := os.ReadFile(p.binary)
	if err != nil {
		return nil, err
	}
	all := []entry{{p.exe(), 0o755, binary}}
	if p.sig != nil {
		all = append(all, entry{p.exe() + ".minisig", 0o644, p.sig})
	}
	readme, err := plantReadme(p.root)
	if err != nil {
		return nil, err
	}
	changes, err := os.ReadFile(filepath.Join(p.root, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	return append(all, entry{"README.md", 0o644, readme}, entry{"CHANGELOG.md", 0o644, changes}, entry{"LICENSES.txt", 0o644, p.licences}), nil
}

// plantPage is the documentation for administrators of a plant.
const plantPage = "packaging/plant-it/README.md"

// plantPages are the pages for a plant, in their order in the README of an installation.
var plantPages = []string{"README.md", "signals.md", "pages.md", "security.md", "reference.md"}

// plantReadme returns the README of an installation: all pages for a plant in one. Links between pages become links
// within it.
func plantReadme(root string) ([]byte, error) {
	var all bytes.Buffer
	for _, name := range plantPages {
		page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path.Dir(plantPage)), name))
		if err != nil {
			return nil, err
		}
		all.Write(page)
		all.WriteByte('\n')
	}
	return pageLink.ReplaceAll(all.Bytes(), []byte("](#$2)")), nil
}

// pageLink is a link from one page for a plant to a heading of another.
var pageLink = regexp.MustCompile(`\]\(([a-z]+|README)\.md#([a-z-]+)\)`)

// tarball makes the archive for Linux. Its entries belong to root and have the time of the source.
func tarball(_ context.Context, p *product) error {
	entries, err := p.entries()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, e := range entries {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: int64(len(e.content)), ModTime: p.Time, Uname: "root", Gname: "root", Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		if _, err := t.Write(e.content); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(p.file("app_"+p.Version+"_"+p.OS+"_"+p.Arch+".tar.gz"), b.Bytes(), 0o644)
}

// zipArchive makes the archive for Windows.
func zipArchive(_ context.Context, p *product) error {
	entries, err := p.entries()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: p.Time}
		h.SetMode(os.FileMode(e.mode))
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := w.Write(e.content); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(p.file("app_"+p.Version+"_"+p.OS+"_"+p.Arch+".zip"), b.Bytes(), 0o644)
}
