package upgrade

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"opsmon/kv/file"
)

// Limits of what is read, in bytes.
const (
	maxFile      = 1 << 30
	maxProgram   = 512 << 20
	maxSignature = 4 << 10
	maxEntries   = 10_000
)

// PackageError says that a file is a package of the operating system, or that the program belongs to one.
type PackageError struct {
	File    string
	Kind    string // dpkg, rpm or msi
	Command string // that upgrades it
}

// Error implements error.
func (e *PackageError) Error() string {
	return fmt.Sprintf("%s is for the system's own package manager; upgrade with: %s", e.File, e.Command)
}

// PackageCommand is how a package of a kind (dpkg, rpm, msi) is installed.
func PackageCommand(kind, file string) string {
	if !filepath.IsAbs(file) && filepath.Dir(file) == "." {
		file = "." + string(filepath.Separator) + filepath.Base(file) // apt takes it for a name otherwise
	}
	switch kind {
	case "dpkg":
		return "apt install " + file
	case "rpm":
		return "dnf install " + file
	}
	return "msiexec /i " + file
}

// staged is the file of an upgrade and the program in it, in a private directory.
type staged struct {
	dir     string
	program string // path
	signed  bool   // by the key that is built in
}

// stagePattern is the name of the private directory, next to the installed program.
const stagePattern = ".app-upgrade-*"

// stage copies a file into a private directory next to the installed program, checks its signatures, and extracts the
// program from one of our packages. The directory must be removed if it has a name, also after an error. Errors:
// *PackageError; ErrSignature; ErrUnsigned unless unsigned is true.
func stage(path, binary, key string, unsigned bool) (s staged, err error) {
	old, err := filepath.Glob(filepath.Join(filepath.Dir(binary), stagePattern))
	if err != nil {
		return s, err
	}
	for _, dir := range old { // of killed ones: there is one at a time
		if err := file.RemoveTree(dir); err != nil {
			return s, err
		}
	}
	if s.dir, err = os.MkdirTemp(filepath.Dir(binary), stagePattern); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w; run this as root or as an administrator", err)
		}
		return s, err
	}
	whole := filepath.Join(s.dir, "file")
	if runtime.GOOS == "windows" {
		whole += ".exe" // nothing else is run there
	}
	if err := copyFile(path, whole, maxFile); err != nil {
		return s, err
	}
	signature, err := readSignature(path + SignatureSuffix)
	if err != nil {
		return s, err
	}
	if s.program, err = s.unpack(path, whole); err != nil {
		return s, err
	}
	if err := os.Chmod(s.program, 0o755); err != nil {
		return s, err
	}
	if key != "" {
		if err := s.verify(key, whole, signature); err != nil {
			return s, fmt.Errorf("%s: %w", path, err)
		}
	}
	if !s.signed && !unsigned {
		why := fmt.Sprintf("there is no %s beside it or in it", filepath.Base(path)+SignatureSuffix)
		if key == "" {
			why = "this build has no key to check signatures with"
		}
		return s, fmt.Errorf("%s is %w (%s); nobody can tell who made it. If you trust it, say --unsigned", path, ErrUnsigned, why)
	}
	return s, nil
}

// verify checks all signatures: of the whole file, and of the program in a package.
func (s *staged) verify(key, whole string, signature []byte) error {
	inner, err := readSignature(s.program + SignatureSuffix)
	if err != nil {
		return err
	}
	for _, check := range []struct {
		path      string
		signature []byte
	}{{whole, signature}, {s.program, inner}} {
		if check.signature == nil {
			continue
		}
		f, err := os.Open(check.path)
		if err != nil {
			return err
		}
		err = Verify(key, f, check.signature)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		s.signed = true
	}
	return nil
}

// readSignature reads a signature; nil if there is none.
func readSignature(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path, maxSignature)
}

func readAll(r io.Reader, name string, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return b, err
}

// unpack finds the program: the file itself, or one called app, or app.exe, in an archive.
func (s *staged) unpack(file, whole string) (program string, err error) {
	f, err := os.Open(whole)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, 8)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	is := func(magic string) bool { return bytes.HasPrefix(head[:n], []byte(magic)) }
	switch {
	case is("\x7fELF"), is("MZ"):
		return whole, nil
	case is("\x1f\x8b"):
		err = s.untar(f)
	case is("PK\x03\x04"):
		err = s.unzip(f)
	case is("!<arch>\n"):
		err = &PackageError{file, "dpkg", PackageCommand("dpkg", file)}
	case is("\xed\xab\xee\xdb"):
		err = &PackageError{file, "rpm", PackageCommand("rpm", file)}
	case is("\xd0\xcf\x11\xe0"):
		err = &PackageError{file, "msi", PackageCommand("msi", file)}
	default:
		err = errors.New("it is neither a program nor a package of one")
	}
	if system := (*PackageError)(nil); err == nil || errors.As(err, &system) {
		return s.program, err
	}
	return "", fmt.Errorf("%s: %w", file, err)
}

// take extracts an entry of an archive if it is the program or its signature.
func (s *staged) take(name string, r io.Reader) error {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	plain := strings.TrimSuffix(base, SignatureSuffix)
	if plain != "app" && plain != "app.exe" {
		return nil
	}
	to, limit := filepath.Join(s.dir, base), int64(maxProgram)
	if base != plain {
		limit = maxSignature
	} else {
		if s.program != "" {
			return errors.New("it holds more than one program")
		}
		s.program = to
	}
	return write(to, r, name, limit)
}

func (s *staged) untar(f io.Reader) error {
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return err
	}
	in := tar.NewReader(z)
	for range maxEntries {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			return s.found()
		}
		if err != nil {
			return err
		}
		if head.Typeflag == tar.TypeReg {
			if err := s.take(head.Name, in); err != nil {
				return err
			}
		}
	}
	return errors.New("it holds too many files")
}

func (s *staged) unzip(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	in, err := zip.NewReader(f, info.Size())
	if err != nil {
		return err
	}
	for _, entry := range in.File {
		if !entry.Mode().IsRegular() {
			continue
		}
		r, err := entry.Open()
		if err != nil {
			return err
		}
		err = s.take(entry.Name, r)
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return s.found()
}

func (s *staged) found() error {
	if s.program == "" {
		return errors.New("it holds no file called app or app.exe")
	}
	return nil
}

// copyFile makes a synced copy of a file, readable only by its owner.
func copyFile(from, to string, limit int64) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return write(to, f, from, limit)
}

// write makes a new file, synced, of what r gives. Nothing is left of it when that fails.
func write(to string, r io.Reader, name string, limit int64) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(to)
	}
	return err
}
