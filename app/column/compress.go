package column

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Compression compresses by zstd. It may be used by any goroutine.
type Compression struct {
	encoders, decoders sync.Pool
}

// NewCompression returns a Compression that refuses to decompress to more than most bytes, because damaged data must
// not fill the memory.
func NewCompression(most uint64) *Compression {
	must := func(err error) {
		if err != nil {
			panic("column: zstd options: " + err.Error())
		}
	}
	return &Compression{
		encoders: sync.Pool{New: func() any {
			enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
			must(err)
			return enc
		}},
		decoders: sync.Pool{New: func() any {
			dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(most))
			must(err)
			return dec
		}},
	}
}

// Compress appends the compressed form of b to dst.
func (c *Compression) Compress(dst, b []byte) []byte {
	enc := c.encoders.Get().(*zstd.Encoder)
	defer c.encoders.Put(enc)
	return enc.EncodeAll(b, dst)
}

// Decompress returns the original bytes, or ErrBroken.
func (c *Compression) Decompress(b []byte) ([]byte, error) {
	dec := c.decoders.Get().(*zstd.Decoder)
	defer c.decoders.Put(dec)
	out, err := dec.DecodeAll(b, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return out, nil
}
