package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"sync"
)

// progress counts what was done. It may be used concurrently.
type progress struct {
	mu          sync.Mutex
	report      func(done, total int64)
	done, total int64
}

func (p *progress) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += int64(n)
	p.total = max(p.total, p.done) // the store has grown
	p.report(p.done, p.total)
}

// finish reports that everything is done.
func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total = p.done
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

// measured is a writer that counts bytes and checks that the disk keeps some free space.
type measured struct {
	w       io.Writer
	bytes   int64
	dir     string
	percent int   // of the disk of dir that must stay free
	reserve int64 // bytes of it that must
	checked int64
}

// roomEvery is the number of bytes after which the free space is checked again.
const roomEvery = 4 << 20

// Write implements io.Writer.
func (m *measured) Write(p []byte) (int, error) {
	if (m.percent > 0 || m.reserve > 0) && m.bytes+int64(len(p)) > m.checked {
		if err := needRoom(m.dir, roomEvery+m.reserve, m.percent); err != nil {
			return 0, err
		}
		m.checked = m.bytes + roomEvery
	}
	n, err := m.w.Write(p)
	m.bytes += int64(n)
	return n, err
}

// summed is a writer that counts and adds up a checksum.
type summed struct {
	w     io.Writer
	sum   hash.Hash
	bytes int64
}

func newSummed(w io.Writer) *summed { return &summed{w: w, sum: sha256.New()} }

// Write implements io.Writer.
func (s *summed) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.sum.Write(p[:n])
	s.bytes += int64(n)
	return n, err
}

func (s *summed) hex() string { return hex.EncodeToString(s.sum.Sum(nil)) }
