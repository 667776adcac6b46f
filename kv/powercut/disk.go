package powercut

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sector is what a disk writes whole, in bytes.
const sector = 512

// node is a file or a directory, whatever its names are.
type node struct {
	isDir bool
	// Of a directory: its entries as programs see them, and as they are on the disk.
	names, stable map[string]*node
	// Of a file: its content as programs see it, and as it is on the disk.
	content, kept []byte
}

func newDir() *node { return &node{isDir: true, names: map[string]*node{}, stable: map[string]*node{}} }

// clone copies a directory that is all on the disk.
func (n *node) clone() *node {
	if !n.isDir {
		return &node{content: n.content, kept: n.kept}
	}
	c := newDir()
	for name, below := range n.names {
		made := below.clone()
		c.names[name], c.stable[name] = made, made
	}
	return c
}

// change is one that is not on the disk yet.
type change struct {
	// Of a file's content: bytes at an offset, or a new size when data is nil.
	file *node
	at   int64
	data []byte

	// Of names: done to a directory's entries; dirs are those that it touches.
	dirs  []*node
	apply func(entries func(dir *node) map[string]*node)
}

// disk is what programs see of a directory and what of that is safe.
type disk struct {
	root    *node
	content []*change // in order
	names   []*change // in order
}

// scan reads a directory that is all on the disk. Sockets and the like are left out.
func scan(dir string) (*node, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	d := newDir()
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		var n *node
		switch {
		case entry.IsDir():
			n, err = scan(path)
		case entry.Type().IsRegular():
			n = &node{}
			n.content, err = os.ReadFile(path)
			n.kept = n.content
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		d.names[entry.Name()], d.stable[entry.Name()] = n, n
	}
	return d, nil
}

// find follows a path below root; name is its last part, which need not be there.
func (d *disk) find(path string) (dir *node, name string, n *node, err error) {
	dir = d.root
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part == "" || part == "." || part == ".." {
			return nil, "", nil, fmt.Errorf("the path %q has no model", path)
		}
		if i == len(parts)-1 {
			return dir, part, dir.names[part], nil
		}
		if dir = dir.names[part]; dir == nil || !dir.isDir {
			return nil, "", nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
	}
	return nil, "", nil, errors.New("an empty path")
}

// change notes a change of names, which programs see at once.
func (d *disk) change(apply func(entries func(*node) map[string]*node), dirs ...*node) {
	apply(func(dir *node) map[string]*node { return dir.names })
	d.names = append(d.names, &change{dirs: dirs, apply: apply})
}

func (d *disk) link(dir *node, name string, n *node) {
	d.change(func(entries func(*node) map[string]*node) { entries(dir)[name] = n }, dir)
}

func (d *disk) unlink(dir *node, name string) {
	d.change(func(entries func(*node) map[string]*node) { delete(entries(dir), name) }, dir)
}

func (d *disk) rename(from *node, name string, to *node, as string, n *node) {
	d.change(func(entries func(*node) map[string]*node) {
		delete(entries(from), name)
		entries(to)[as] = n
	}, from, to)
}

func (d *disk) write(file *node, at int64, data []byte) {
	file.content = put(file.content, at, data)
	d.content = append(d.content, &change{file: file, at: at, data: data})
}

func (d *disk) truncate(file *node, size int64) {
	file.content = resize(file.content, size)
	d.content = append(d.content, &change{file: file, at: size})
}

// put returns a copy of content with data at an offset.
func put(content []byte, at int64, data []byte) []byte {
	out := make([]byte, max(int64(len(content)), at+int64(len(data))))
	copy(out, content)
	copy(out[at:], data)
	return out
}

func resize(content []byte, size int64) []byte {
	out := make([]byte, size)
	copy(out, content)
	return out
}

// barrier is a sync that has begun: what it will have put on the disk when it returns.
type barrier struct {
	content, names []*change
}

// begin notes what a sync of n covers.
func (d *disk) begin(n *node) barrier {
	var b barrier
	if !n.isDir {
		for _, c := range d.content {
			if c.file == n {
				b.content = append(b.content, c)
			}
		}
		return b
	}
	// From the last to the first, because a change of two directories takes along what was done to the other before.
	touched := []*node{n}
	for _, c := range slices.Backward(d.names) {
		if slices.ContainsFunc(c.dirs, func(dir *node) bool { return slices.Contains(touched, dir) }) {
			touched = append(touched, c.dirs...)
			b.names = append(b.names, c)
		}
	}
	slices.Reverse(b.names)
	return b
}

// end makes safe what a sync covers.
func (d *disk) end(b barrier) {
	for _, c := range b.content {
		if i := slices.Index(d.content, c); i >= 0 {
			c.file.kept = c.onto(c.file.kept)
			d.content = slices.Delete(d.content, i, i+1)
		}
	}
	for _, c := range b.names {
		if i := slices.Index(d.names, c); i >= 0 {
			c.apply(func(dir *node) map[string]*node { return dir.stable })
			d.names = slices.Delete(d.names, i, i+1)
		}
	}
}

// onto makes a change of content.
func (c *change) onto(content []byte) []byte {
	if c.data == nil {
		return resize(content, c.at)
	}
	return put(content, c.at, c.data)
}

// fate is what becomes of a change of content that was not synced.
type fate func(c *change) (pieces []*change)

func whole(c *change) []*change { return []*change{c} }
func lost(*change) []*change    { return nil }

// leave writes to dir what the disk has after a power cut: what is safe, the first so many changes of names, and of
// each change of content what fate gives.
func (d *disk) leave(dir string, names int, of func(i int) fate) error {
	content := map[*node][]byte{}
	for i, c := range d.content {
		now, ok := content[c.file]
		if !ok {
			now = c.file.kept
		}
		for _, piece := range of(i)(c) {
			now = piece.onto(now)
		}
		content[c.file] = now
	}
	entries := map[*node]map[string]*node{}
	get := func(dir *node) map[string]*node {
		if entries[dir] == nil {
			entries[dir] = maps.Clone(dir.stable)
		}
		return entries[dir]
	}
	for _, c := range d.names[:names] {
		c.apply(get)
	}
	var put func(n *node, path string) error
	put = func(n *node, path string) error {
		if !n.isDir {
			b, ok := content[n]
			if !ok {
				b = n.kept
			}
			return os.WriteFile(path, b, 0o600)
		}
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
		for name, below := range get(n) {
			if err := put(below, filepath.Join(path, name)); err != nil {
				return err
			}
		}
		return nil
	}
	return put(d.root, dir)
}

// differs returns what programs see otherwise than it is in a directory; "" when nothing.
func (d *disk) differs(dir string) (string, error) {
	real, err := scan(dir)
	if err != nil {
		return "", err
	}
	return compare("", d.root, real), nil
}

func compare(path string, model, real *node) string {
	if model.isDir != real.isDir {
		return path + " is of another kind"
	}
	if !model.isDir {
		if !bytes.Equal(model.content, real.content) {
			return fmt.Sprintf("%s has %d bytes and other content than the %d bytes of the record", path, len(real.content), len(model.content))
		}
		return ""
	}
	for name := range model.names {
		if real.names[name] == nil {
			return filepath.Join(path, name) + " is not there"
		}
	}
	for name, n := range real.names {
		if model.names[name] == nil {
			return filepath.Join(path, name) + " is not in the record"
		}
		if problem := compare(filepath.Join(path, name), model.names[name], n); problem != "" {
			return problem
		}
	}
	return ""
}
