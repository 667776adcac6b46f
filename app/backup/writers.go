package backup

import (
	"context"
	"hash"
	"io"
)

// progress adds up what was done.
type progress struct {
	report      func(done, total int64)
	done, total int64
}

func (p *progress) add(n int) {
	p.done += int64(n)
	p.total = max(p.total, p.done) // the store has grown
	p.report(p.done, p.total)
}

// watched is a writer that ends with a context and counts.
type watched struct {
	ctx  context.Context
	w    io.Writer
	step func(n int)
}

// Write implements io.Writer.
func (w *watched) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.w.Write(p)
	w.step(n)
	return n, err
}

// redirected is a writer whose target changes.
type redirected struct{ w io.Writer }

// Write implements io.Writer.
func (r *redirected) Write(p []byte) (int, error) { return r.w.Write(p) }

// measured is a writer that counts, adds up a checksum, and sees that a disk keeps some room.
type measured struct {
	w       io.Writer
	sum     hash.Hash
	bytes   int64
	dir     string
	percent int // of the disk of dir that must stay free
	checked int64
}

// roomEvery is after how many bytes the room is looked at again.
const roomEvery = 4 << 20

// Write implements io.Writer.
func (m *measured) Write(p []byte) (int, error) {
	if m.percent > 0 && m.bytes+int64(len(p)) > m.checked {
		if err := needRoom(m.dir, roomEvery, m.percent); err != nil {
			return 0, err
		}
		m.checked = m.bytes + roomEvery
	}
	n, err := m.w.Write(p)
	m.sum.Write(p[:n])
	m.bytes += int64(n)
	return n, err
}

// discard takes an entry's content and keeps none.
type discard struct{}

// Write implements io.Writer.
func (discard) Write(p []byte) (int, error) { return len(p), nil }

// Close implements io.Closer.
func (discard) Close() error { return nil }
