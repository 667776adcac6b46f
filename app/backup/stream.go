package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime"

	"github.com/klauspost/compress/zstd"
)

// pipeline takes what next gives until io.EOF, has several goroutines work on it, and hands the results to use in the
// order that they were taken. next and use are called by one goroutine each, never two at once, and next is not called
// after pipeline has returned.
func pipeline[In, Out any](ctx context.Context, next func() (In, error), work func(In) (Out, error), use func(Out) error) error {
	type result struct {
		out Out
		err error
	}
	queue := make(chan chan result, runtime.GOMAXPROCS(0))
	stop := make(chan struct{})
	go func() {
		defer close(queue)
		for {
			in, err := next()
			if err == io.EOF {
				return
			}
			one := make(chan result, 1)
			if err != nil {
				one <- result{err: err}
			}
			select {
			case queue <- one:
			case <-stop:
				return
			}
			if err != nil {
				return
			}
			go func() {
				out, err := work(in)
				one <- result{out, err}
			}()
		}
	}()
	var failed error
	for one := range queue {
		if failed != nil {
			continue // until next is not called any more
		}
		r := <-one
		if failed = r.err; failed == nil {
			failed = use(r.out)
		}
		if failed == nil {
			failed = ctx.Err()
		}
		if failed != nil {
			close(stop)
		}
	}
	return failed
}

// packer writes sections.
type packer struct {
	w       io.Writer
	chain   hash.Hash // of everything from the file's start, before encryption
	encoder *zstd.Encoder
}

func newPacker(w io.Writer, header []byte) (*packer, error) {
	p := &packer{w: w, chain: sha256.New()}
	p.chain.Write(header)
	var err error
	p.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false), zstd.WithWindowSize(blockSize))
	return p, err
}

func (p *packer) write(b []byte) error {
	p.chain.Write(b)
	_, err := p.w.Write(b)
	return err
}

func (p *packer) block(b []byte) error {
	if err := p.write(binary.BigEndian.AppendUint32(nil, uint32(len(b)))); err != nil {
		return err
	}
	return p.write(b)
}

// end closes a section.
func (p *packer) end() error {
	if err := p.write(make([]byte, lengthSize)); err != nil {
		return err
	}
	return p.write(p.chain.Sum(nil))
}

// entry writes a section with the content of r. step is called with the number of bytes of each piece.
func (p *packer) entry(ctx context.Context, r io.Reader, step func(n int)) error {
	next := func() ([]byte, error) {
		b := make([]byte, blockSize)
		n, err := io.ReadFull(r, b)
		if err == io.ErrUnexpectedEOF {
			err = nil // the last piece; EOF comes next
		}
		step(n)
		return b[:n], err
	}
	pack := func(b []byte) ([]byte, error) {
		return p.encoder.EncodeAll(b, make([]byte, 0, len(b)/2)), nil
	}
	if err := pipeline(ctx, next, pack, p.block); err != nil {
		return err
	}
	return p.end()
}

// unpacker reads sections.
type unpacker struct {
	r       io.Reader
	chain   hash.Hash
	decoder *zstd.Decoder
}

func newUnpacker(r io.Reader, header []byte) (*unpacker, error) {
	u := &unpacker{r: r, chain: sha256.New()}
	u.chain.Write(header)
	var err error
	u.decoder, err = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(blockSize), zstd.WithDecoderMaxWindow(blockSize))
	return u, err
}

func (u *unpacker) read(b []byte) error {
	if _, err := io.ReadFull(u.r, b); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = errors.New("the file ends too early")
		}
		return err
	}
	u.chain.Write(b)
	return nil
}

// block reads a block; io.EOF at the section's end.
func (u *unpacker) block() ([]byte, error) {
	head := make([]byte, lengthSize)
	if err := u.read(head); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head)
	switch {
	case size == 0:
		return nil, io.EOF
	case size > maxBlock:
		return nil, errors.New("the length of a block makes no sense")
	}
	b := make([]byte, size)
	return b, u.read(b)
}

// end checks the checksum that closes a section.
func (u *unpacker) end() error {
	want := u.chain.Sum(nil)
	got := make([]byte, digestSize)
	if err := u.read(got); err != nil {
		return err
	}
	if !bytes.Equal(want, got) {
		return errors.New("the checksum does not match")
	}
	return nil
}

// manifest reads the section that is one block.
func (u *unpacker) manifest() ([]byte, error) {
	var text []byte
	for {
		b, err := u.block()
		if err == io.EOF {
			return text, u.end()
		}
		if err != nil {
			return nil, err
		}
		if text != nil {
			return nil, errors.New("it has a second block")
		}
		text = b
	}
}

// entry reads an entry's section, writes its content to w and compares it with what the manifest says. step is called
// with the number of bytes of each piece.
func (u *unpacker) entry(ctx context.Context, e Entry, w io.Writer, step func(n int)) error {
	sum := sha256.New()
	left := e.Size
	unpack := func(b []byte) ([]byte, error) { return u.decoder.DecodeAll(b, nil) }
	use := func(b []byte) error {
		if left -= int64(len(b)); left < 0 {
			return errors.New("it is longer than the manifest says")
		}
		sum.Write(b)
		_, err := w.Write(b)
		step(len(b))
		return err
	}
	if err := pipeline(ctx, u.block, unpack, use); err != nil {
		return err
	}
	if err := u.end(); err != nil {
		return err
	}
	if left > 0 {
		return errors.New("it is shorter than the manifest says")
	}
	if got := fmt.Sprintf("%x", sum.Sum(nil)); got != e.SHA256 {
		return fmt.Errorf("its SHA-256 is %s where the manifest says %s", got, e.SHA256)
	}
	return nil
}

// finish reads the end and that nothing follows.
func (u *unpacker) finish() error {
	if _, err := u.block(); err != io.EOF {
		if err == nil {
			err = errors.New("the end is not where it should be")
		}
		return err
	}
	if err := u.end(); err != nil {
		return err
	}
	switch _, err := io.ReadFull(u.r, make([]byte, 1)); err {
	case io.EOF:
		return nil
	case nil:
		return errors.New("something follows it")
	default:
		return err
	}
}
