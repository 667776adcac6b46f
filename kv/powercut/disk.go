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

// sector is the unit that a disk writes atomically, in bytes.
const sector = 512

// node is a file or a directory, independent of its names.
type node struct {
	isDir bool
	// For a directory: its entries as programs see them, and as they are on the disk.
	names, stable map[string]*node
	// For a file: its content as programs see it, and as it is on the disk.
	content, kept []byte
}

func newDir() *node { return &node{isDir: true, names: map[string]*node{}, stable: map[string]*node{}} }

// clone copies a directory whose changes are all on the disk.
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

// change is a change that is not on the disk yet.
type change struct {
	// For a file's content: bytes at an offset, or a new size if data is nil.
	file *node
	at   int64
	data []byte

	// For names: apply changes directories' entries; dirs are the directories that it changes.
	dirs  []*node
	apply func(entries func(dir *node) map[string]*node)
}

// disk is a directory as programs see it, and the durable part of it.
type disk struct {
	root    *node
	content []*change // in order
	names   []*change // in order
}

// scan reads a directory whose changes are all on the disk. It skips sockets and other special files.
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

// find resolves a path below root; name is its last element, which may not exist.
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

// change records a change of names, which programs see immediately.
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

// barrier is a sync that has begun, with the changes that are on the disk when it returns.
type barrier struct {
	content, names []*change
}

// begin returns the changes that a sync of n covers.
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
	// In reverse, because a change of two directories includes the earlier changes of the other directory.
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

// end makes the changes of a sync durable.
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

// onto applies a change of content.
func (c *change) onto(content []byte) []byte {
	if c.data == nil {
		return resize(content, c.at)
	}
	return put(content, c.at, c.data)
}

// fate determines the parts of an unsynced change of content that survive.
type fate func(c *change) (pieces []*change)

func whole(c *change) []*change { return []*change{c} }
func lost(*change) []*change    { return nil }

// leave writes to dir what the disk has after a power cut: the durable content, the first changes of names (as many
// as names), and of each change of content what its fate returns.
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

// differs returns a difference between what programs see and the directory dir; "" if none.
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
