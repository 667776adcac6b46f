package powercut

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// replay applies the recorded system calls to a disk.
type replay struct {
	dir      string
	disk     *disk
	fds      map[int]*open
	begun    map[string]string  // by thread: the start of a call that another thread's call interrupted in the record
	barriers map[string]barrier // by thread: a sync that has begun
	said     []byte             // bytes written to standard output, a socket or the like
	before   func(what string, sync bool) bool
	stopped  bool // before returned false
}

// open is an open file.
type open struct { // nil: outside of the directory, or a socket in it
	n      *node // nil: not in the directory, or a socket in it
	path   string
	offset int64
	append bool
}

// line is one call with its arguments in strace's format.
type line struct {
	pid, name string
	args      []string
	result    int64
	text      string
}

// run replays the whole record. It calls before ahead of each change of the disk, until that returns false.
func (r *replay) run(log []byte) error {
	for text := range strings.Lines(string(log)) {
		if err := r.line(strings.TrimSuffix(text, "\n")); err != nil {
			return fmt.Errorf("%.200s: %w", text, err)
		}
		if r.stopped {
			return nil
		}
	}
	return nil
}

func (r *replay) line(text string) error {
	pid, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	half, unfinished := strings.CutSuffix(rest, "<unfinished ...>")
	switch {
	case strings.HasPrefix(rest, "+++"), strings.HasPrefix(rest, "---"):
		return nil
	case unfinished:
		r.begun[pid] = half
		l, err := parse(pid, half+") = 0")
		if err == nil {
			r.begin(l)
		}
		return err
	case strings.HasPrefix(rest, "<... "):
		_, tail, _ := strings.Cut(rest, "resumed>")
		l, err := parse(pid, r.begun[pid]+tail)
		if err != nil {
			return err
		}
		return r.end(l)
	}
	l, err := parse(pid, rest)
	if err != nil {
		return err
	}
	r.begin(l)
	return r.end(l)
}

// parse parses a line such as: write(1, "\x6f\x6b", 2) = 2.
func parse(pid, text string) (line, error) {
	name, rest, ok := strings.Cut(text, "(")
	i := strings.LastIndex(rest, ") ")
	if !ok || i < 0 {
		return line{}, fmt.Errorf("%.200s is not a call", text)
	}
	l := line{pid: pid, name: name, text: text, result: -1}
	for arg := range strings.SplitSeq(rest[:i], ", ") {
		l.args = append(l.args, strings.TrimSpace(arg))
	}
	_, result, _ := strings.Cut(rest[i:], "= ")
	result, _, _ = strings.Cut(result, " ")
	if n, err := strconv.ParseInt(result, 0, 64); err == nil { // "?" for a call that the end of the process interrupted
		l.result = n
	}
	return l, nil
}

// begin records what matters at the start of a call: output may be read at once, and a sync covers only earlier
// changes.
func (r *replay) begin(l line) {
	switch l.name {
	case "write", "writev":
		if r.fds[l.fd(0)] == nil {
			if data, err := l.data(1); err == nil {
				r.said = append(r.said, data...)
			}
		}
	case "fsync", "fdatasync":
		if f := r.fds[l.fd(0)]; f != nil && f.n != nil {
			r.barriers[l.pid] = r.disk.begin(f.n)
		}
	}
}

// do applies a change to the disk.
func (r *replay) do(what string, fn func()) {
	if r.before(what, false) {
		fn()
	} else {
		r.stopped = true
	}
}

// end replays a call that has returned.
func (r *replay) end(l line) error {
	if l.result < 0 {
		return nil // a failed call changes nothing
	}
	switch l.name {
	case "close":
		delete(r.fds, l.fd(0))
		return nil
	case "openat":
		return r.open(l)
	case "lseek":
		if f := r.fds[l.fd(0)]; f != nil {
			f.offset = l.result
		}
		return nil
	case "fsync", "fdatasync":
		if f := r.fds[l.fd(0)]; f != nil && f.n != nil {
			if r.stopped = !r.before(l.name+" "+f.path, true); !r.stopped {
				r.disk.end(r.barriers[l.pid])
			}
		}
		return nil
	case "write", "pwrite64", "ftruncate":
		return r.change(l)
	case "writev":
		if f := r.fds[l.fd(0)]; f == nil || f.n == nil {
			return nil
		}
	case "mkdirat", "unlinkat", "linkat", "renameat", "renameat2":
		return r.rename(l)
	case "copy_file_range", "sendfile", "splice":
		to := map[string]int{"copy_file_range": 2, "sendfile": 0, "splice": 2}[l.name]
		if f := r.fds[l.fd(to)]; f == nil || f.n == nil {
			return nil
		}
	case "fallocate", "pwritev", "pwritev2":
		if f := r.fds[l.fd(0)]; f == nil || f.n == nil {
			return nil
		}
	default: // other calls with a path
		if path, err := l.data(0); err == nil {
			if _, inside := r.inside(string(path)); !inside {
				return nil
			}
		}
	}
	return errors.New("this call has no model")
}

// change replays a write to a file, or a change of its size.
func (r *replay) change(l line) error {
	f := r.fds[l.fd(0)]
	if f == nil || f.n == nil {
		return nil
	}
	n := f.n
	if l.name == "ftruncate" {
		size, err := strconv.ParseInt(l.args[1], 10, 64)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("truncate %s to %d", f.path, size)
		r.do(what, func() { r.disk.truncate(n, size) })
		return nil
	}
	data, err := l.data(1)
	if err != nil {
		return err
	}
	data = data[:l.result]
	at := f.offset
	switch {
	case l.name == "pwrite64":
		if at, err = strconv.ParseInt(l.args[3], 10, 64); err != nil {
			return err
		}
	case f.append:
		at = int64(len(n.content))
		f.offset = at + l.result
	default:
		f.offset += l.result
	}
	what := fmt.Sprintf("write %s at %d, %d bytes", f.path, at, len(data))
	r.do(what, func() { r.disk.write(n, at, data) })
	return nil
}

// open replays an openat.
func (r *replay) open(l line) error {
	f := &open{append: strings.Contains(l.args[2], "O_APPEND")}
	r.fds[int(l.result)] = f
	path, inside, err := r.path(l, 0)
	if err != nil || !inside {
		return err
	}
	f.path = path
	if path == "" {
		f.n = r.disk.root
		return nil
	}
	dir, name, n, err := r.disk.find(path)
	if err != nil {
		return err
	}
	switch {
	case n == nil && strings.Contains(l.args[2], "O_CREAT"):
		n = &node{}
		r.do("make "+path, func() { r.disk.link(dir, name, n) })
	case n == nil:
		// A socket or the like, which is not on the disk: what is written to it does not matter.
	case strings.Contains(l.args[2], "O_TRUNC") && !n.isDir && len(n.content) > 0:
		r.do("empty "+path, func() { r.disk.truncate(n, 0) })
	}
	f.n = n
	return nil
}

// rename replays a call that changes names.
func (r *replay) rename(l line) error {
	path, inside, err := r.path(l, 0)
	if err != nil {
		return err
	}
	if l.name == "mkdirat" || l.name == "unlinkat" {
		if !inside {
			return nil
		}
		dir, name, n, err := r.disk.find(path)
		switch {
		case err != nil:
			return err
		case l.name == "mkdirat":
			made := newDir()
			r.do("make directory "+path, func() { r.disk.link(dir, name, made) })
		case n != nil: // a socket has no node
			r.do("remove "+path, func() { r.disk.unlink(dir, name) })
		}
		return nil
	}
	to, there, err := r.path(l, 2)
	if err != nil || !inside && !there {
		return err
	}
	if inside != there {
		return errors.New("a name is moved from or to another directory")
	}
	if l.name == "renameat2" && l.args[4] != "0" && l.args[4] != "RENAME_NOREPLACE" {
		return errors.New("these flags have no model")
	}
	from, name, n, err := r.disk.find(path)
	if err != nil {
		return err
	}
	into, as, _, err := r.disk.find(to)
	switch {
	case err != nil:
		return err
	case n == nil:
		return fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	case l.name == "linkat":
		r.do("link "+to, func() { r.disk.link(into, as, n) })
	default:
		what := "rename " + path + " to " + to
		r.do(what, func() { r.disk.rename(from, name, into, as, n) })
	}
	return nil
}

// path returns the path, relative to the directory, that the arguments from i on name; "" is the directory itself.
func (r *replay) path(l line, i int) (path string, inside bool, err error) {
	name, err := l.data(i + 1)
	if err != nil {
		return "", false, err
	}
	full := string(name)
	if !filepath.IsAbs(full) {
		if l.args[i] == "AT_FDCWD" {
			return "", false, nil // relative to the test's working directory
		}
		f := r.fds[l.fd(i)]
		if f == nil || f.n == nil {
			return "", false, nil
		}
		full = filepath.Join(r.dir, f.path, full)
	}
	path, inside = r.inside(full)
	return path, inside, nil
}

func (r *replay) inside(path string) (string, bool) {
	path = filepath.Clean(path)
	if path == r.dir {
		return "", true
	}
	return strings.CutPrefix(path, r.dir+"/")
}

// fd returns argument i as a file descriptor, or -1 if it is not a number.
func (l line) fd(i int) int {
	if i < len(l.args) {
		if n, err := strconv.Atoi(l.args[i]); err == nil {
			return n
		}
	}
	return -1
}

// data returns the bytes of argument i; for writev, those of all buffers.
func (l line) data(i int) ([]byte, error) {
	if i >= len(l.args) {
		return nil, fmt.Errorf("%.200s has no argument %d", l.text, i)
	}
	if l.name == "writev" {
		var all []byte
		for _, part := range strings.Split(l.text, "iov_base=")[1:] {
			quoted, _, _ := strings.Cut(part, ",")
			b, err := unquote(quoted)
			if err != nil {
				return nil, err
			}
			all = append(all, b...)
		}
		return all, nil
	}
	return unquote(l.args[i])
}

// unquote decodes a string such as "\x6f\x6b".
func unquote(s string) ([]byte, error) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return nil, fmt.Errorf("%.60s is not a string", s)
	}
	return hex.DecodeString(strings.ReplaceAll(s[1:len(s)-1], `\x`, ""))
}
