package backup

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"filippo.io/age"
	"github.com/klauspost/compress/s2"
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

// turns limits the goroutines of a backup to fewer than the processors, so that writers find one free. With one for
// each processor a backup would be no faster while many clients write: it yields after each short step, and would wait
// more often.
type turns chan struct{}

func newTurns() turns { return make(turns, max(1, runtime.GOMAXPROCS(0)-1)) }

func (t turns) take() {
	t <- struct{}{}
	step()
}

func (t turns) give() { <-t }

// stepSize is how many bytes are worked on in one step: about 0.1 ms to compress or to hash.
const stepSize = 128 << 10

// step ends a step of work and lets waiting goroutines run. Without it the goroutines of a backup would wake each other
// on the same processor, and keep writers waiting for tens of milliseconds.
func step() { runtime.Gosched() }

// buffers are reused, because a backup needs many large ones for a short time. They are kept until it ends: a sync.Pool
// would drop them at every garbage collection, and new ones would cause the next one.
type buffers struct {
	mu   sync.Mutex
	free [][]byte
}

// bufferSize is enough for all parts and their content, except those with a value of several megabytes, in bytes.
// Growing costs a copy; unused bytes take no memory.
const bufferSize = 5 << 20

// get returns an empty buffer.
func (b *buffers) get() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.free) - 1
	if n < 0 {
		return make([]byte, 0, bufferSize)
	}
	buf := b.free[n]
	b.free = b.free[:n]
	return buf[:0]
}

// sized returns a buffer of a length, with any content.
func (b *buffers) sized(n int) []byte {
	buf := b.get()
	if cap(buf) < n {
		return make([]byte, n)
	}
	return buf[:n]
}

func (b *buffers) put(buf []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = append(b.free, buf)
}

// How the content of a part is packed: its first byte.
const (
	packedNot  byte = 0
	packedS2   byte = 1 // fast, for work that must not take long
	packedZstd byte = 2 // smaller, for long storage
)

// codec packs and unpacks parts. It may be used by many goroutines at once.
type codec struct {
	way     byte
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

// newCodec makes one that packs in one of the ways above, and unpacks whatever it meets.
func newCodec(way byte) (c *codec, err error) {
	c = &codec{way: way}
	if c.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false)); err != nil {
		return nil, err
	}
	c.decoder, err = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxContent))
	return c, err
}

// pack returns the stored form of a part before encryption: the content itself, or its packed form in the buffer to. It
// also returns the other one of the two, which is free.
func (c *codec) pack(to, plain []byte) (blob, spare []byte) {
	var packed []byte
	switch content := plain[1:]; c.way {
	case packedS2:
		packed = packS2(to, content)
	case packedZstd:
		packed = c.encoder.EncodeAll(content, append(to, packedZstd))
	}
	if packed == nil || len(packed) >= len(plain) {
		return plain, to
	}
	return packed, plain
}

// blockSize is how many bytes S2 packs at once: a larger one would save next to nothing, and its table be in no fast
// cache.
const blockSize = 64 << 10

// worthPacking reports whether S2 saves enough bytes. Packing and unpacking takes longer than everything else that a
// backup does, so content that shrinks by less than a third is written faster unpacked.
func worthPacking(packed, content int) bool { return packed <= content/3*2 }

// packS2 packs in steps. The result is one block of S2, as if packed at once. It returns nil if packing is not worth
// it, which it decides from the beginning.
func packS2(to, content []byte) []byte {
	to = binary.AppendUvarint(append(to, packedS2), uint64(len(content)))
	first, most := len(to), s2.MaxEncodedLen(blockSize)
	for left := content; len(left) > 0; {
		n := min(len(left), blockSize)
		to = appendBlock(slices.Grow(to, most), left[:n])
		if len(left) == len(content) && !worthPacking(len(to)-first, n) {
			return nil
		}
		left = left[n:]
		step()
	}
	return to
}

// appendBlock appends a block without its length: the length overwrites the end of the existing bytes, which are then
// restored.
func appendBlock(to, content []byte) []byte {
	var length, over [binary.MaxVarintLen32]byte
	n := binary.PutUvarint(length[:], uint64(len(content)))
	from := len(to) - n
	copy(over[:], to[from:])
	block := s2.Encode(to[from:from+s2.MaxEncodedLen(len(content))], content)
	copy(block, over[:n])
	return to[:from+len(block)]
}

// unpack returns the content of a part, in the buffer or as it is in the part, and the other of the two, which is not
// needed any more.
func (c *codec) unpack(to, blob []byte) (content, spare []byte, err error) {
	if len(blob) == 0 {
		return nil, nil, errors.New("it is empty")
	}
	way, packed := blob[0], blob[1:]
	switch way {
	case packedNot:
		return packed, to, nil
	case packedS2:
		n, err := s2.DecodedLen(packed)
		if err != nil {
			return nil, nil, err
		}
		if n > maxContent {
			return nil, nil, fmt.Errorf("it unpacks to %d bytes, more than the %d that it may", n, maxContent)
		}
		content, err = s2.Decode(to[:cap(to)], packed)
		return content, blob, err
	case packedZstd:
		content, err = c.decoder.DecodeAll(packed, to)
		return content, blob, err
	}
	return nil, nil, fmt.Errorf("it is packed in an unknown way, %d", way)
}

// seal encrypts a part.
func seal(to []byte, key *age.X25519Identity, blob []byte) ([]byte, error) {
	out := bytes.NewBuffer(to)
	w, err := age.Encrypt(out, key.Recipient())
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(blob); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// unseal decrypts a part.
func unseal(to []byte, key *age.X25519Identity, stored []byte) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(stored), key)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(to)
	_, err = out.ReadFrom(r)
	return out.Bytes(), err
}
