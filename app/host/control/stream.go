package control

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// A long operation answers with a stream of frames, so that its progress, its bytes and its end come in one answer, and
// a failure in the middle is told: the kind (1 byte), a length (4 bytes, big-endian), and so many bytes. The last frame
// is a result or a failure; a stream without it broke off.
const (
	frameProgress = 'p' // JSON: [done, total]
	frameData     = 'd' // bytes of what was asked for
	frameResult   = 'r' // JSON
	frameFailure  = 'e' // JSON: the API's error envelope

	maxFrame      = 1 << 20
	progressEvery = 100 * time.Millisecond
)

// StreamType is the content type of a stream.
const StreamType = "application/vnd.app.stream"

// Stream writes the answer of a long operation. Its methods may be called by several goroutines.
type Stream struct {
	flush func() error

	mu   sync.Mutex
	w    io.Writer
	last time.Time // of the newest progress
	err  error     // the first failure to write
}

// NewStream writes to w; flush sends what was written on its way.
func NewStream(w io.Writer, flush func() error) *Stream { return &Stream{w: w, flush: flush} }

func (s *Stream) frame(kind byte, payload []byte) error {
	if s.err == nil {
		head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(payload)))
		if _, s.err = s.w.Write(append(head, payload...)); s.err == nil && kind != frameData {
			s.err = s.flush()
		}
	}
	return s.err
}

// Progress returns how far the operation is. It may be called often: most calls write nothing.
func (s *Stream) Progress(done, total int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.last) >= progressEvery {
		s.last = now
		_ = s.frame(frameProgress, fmt.Appendf(nil, "[%d,%d]", done, total)) // the next Write tells
	}
}

// Write implements io.Writer for the bytes that were asked for.
func (s *Stream) Write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(p) > 0 {
		part := p[:min(len(p), maxFrame)]
		if err := s.frame(frameData, part); err != nil {
			return n, err
		}
		n, p = n+len(part), p[len(part):]
	}
	return n, nil
}

// End ends the stream with a result, or with a failure when failed is set; both are JSON.
func (s *Stream) End(result []byte, failed bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := byte(frameResult)
	if failed {
		kind = frameFailure
	}
	return s.frame(kind, result)
}

// ErrBrokenOff says that a stream ended before its operation did.
var ErrBrokenOff = errors.New("the service's answer broke off: it was stopped, or the connection was lost")

// ReadStream reads a stream: progress is told to progress, bytes go to data. It gives what the stream ended with, and
// whether that is a failure. Errors: ErrBrokenOff; data's own.
func ReadStream(r io.Reader, progress func(done, total int64), data io.Writer) (end []byte, failed bool, err error) {
	var head [5]byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return nil, false, broken(err)
		}
		size := binary.BigEndian.Uint32(head[1:])
		if size > maxFrame {
			return nil, false, errors.New("the service's answer cannot be read: a frame is too long")
		}
		payload := make([]byte, size)
		if _, err := io.ReadFull(r, payload); err != nil {
			return nil, false, broken(err)
		}
		switch head[0] {
		case frameProgress:
			var done [2]int64
			if err := json.Unmarshal(payload, &done); err != nil {
				return nil, false, fmt.Errorf("read the service's answer: %w", err)
			}
			progress(done[0], done[1])
		case frameData:
			if _, err := data.Write(payload); err != nil {
				return nil, false, err
			}
		case frameResult, frameFailure:
			return payload, head[0] == frameFailure, nil
		default:
			return nil, false, fmt.Errorf("the service's answer cannot be read: it has a frame of the unknown kind %q", head[0])
		}
	}
}

func broken(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return ErrBrokenOff
	}
	return fmt.Errorf("%w (%w)", ErrBrokenOff, err)
}
