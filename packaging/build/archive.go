package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// entry is a file of an archive.
type entry struct {
	name    string
	mode    int64
	content []byte
}

// entries gives what an archive holds: the binary with its signature, what to read, and the licences.
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

// plantPage is the page for those who run app in a plant.
const plantPage = "packaging/plant-it/README.md"

// settingsHeading is the heading of the source's README that the table of settings stands under.
const settingsHeading = "## Configuration\n"

// plantReadme returns the README of what is installed: the page for plants, and every setting, which app.yaml refers to.
func plantReadme(root string) ([]byte, error) {
	page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(plantPage)))
	if err != nil {
		return nil, err
	}
	source, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return nil, err
	}
	_, table, found := bytes.Cut(source, []byte(settingsHeading))
	if !found {
		return nil, fmt.Errorf("README.md has no heading %q, which the settings stand under", strings.TrimSpace(settingsHeading))
	}
	table, _, _ = bytes.Cut(table, []byte("\n## "))
	return slices.Concat(page, []byte("\n## Settings\n"), table, []byte("\n")), nil
}

// tarball makes the archive for Linux. The entries belong to root and have the time of the source.
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
