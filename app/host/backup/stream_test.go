package backup

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/s2"
)

// noise gives so many bytes that cannot be packed.
func noise(n int) []byte {
	out, random := make([]byte, n), rand.NewChaCha8([32]byte{7})
	random.Read(out)
	return out
}

// TestPack packs what gets smaller, keeps what does not, and gives back what went in. Buffers come back too, and never
// the same one twice.
func TestPack(t *testing.T) {
	texts := bytes.Repeat([]byte("the press stopped; "), 1<<15)
	for name, c := range map[string]struct {
		content  []byte
		s2, zstd byte // how it is to be packed
	}{
		"nothing":           {nil, packedNot, packedNot},
		"one byte":          {[]byte{1}, packedNot, packedNot},
		"a sentence":        {[]byte("the press stopped; the press stopped; the press stopped"), packedS2, packedZstd},
		"texts":             {texts, packedS2, packedZstd},
		"a whole block":     {texts[:blockSize], packedS2, packedZstd},
		"a byte more":       {texts[:blockSize+1], packedS2, packedZstd},
		"noise":             {noise(5 * blockSize), packedNot, packedNot},
		"a quarter smaller": {append(noise(blockSize*3/4), make([]byte, blockSize/4)...), packedNot, packedZstd},
		"half as large":     {append(noise(blockSize/2), make([]byte, blockSize/2)...), packedS2, packedZstd},
		"noise after texts": {append(bytes.Clone(texts[:blockSize]), noise(blockSize)...), packedS2, packedZstd},
		"blocks of noise":   {append(bytes.Clone(texts[:blockSize]), noise(20*blockSize)...), packedS2, packedZstd},
		"texts after noise": {append(noise(blockSize), texts...), packedNot, packedZstd},
	} {
		for way, want := range map[byte]byte{packedS2: c.s2, packedZstd: c.zstd} {
			codec, err := newCodec(way)
			if err != nil {
				t.Fatal(err)
			}
			plain, to := append([]byte{packedNot}, c.content...), make([]byte, 0, 2<<20)
			blob, spare := codec.pack(to, plain)
			if blob[0] != want || len(blob) > len(plain) {
				t.Errorf("%s, %d: packed in the way %d, %d bytes of %d; want %d", name, way, blob[0], len(blob), len(plain), want)
			}
			if same(blob, spare) || !same(spare, plain) && !same(spare, to) {
				t.Errorf("%s, %d: the spare buffer is not the other one", name, way)
			}
			into := make([]byte, 0, 1<<20)
			content, spare, err := codec.unpack(into, blob)
			if err != nil || !bytes.Equal(content, c.content) {
				t.Errorf("%s, %d: unpacked, it is something else: %v", name, way, err)
			}
			if same(content, spare) || len(content) > 0 && same(content, blob[1:]) == same(spare, blob) {
				t.Errorf("%s, %d: the spare buffer is not the other one when it is unpacked", name, way)
			}
		}
	}
}

// same reports whether two slices begin at the same byte.
func same(a, b []byte) bool { return cap(a) > 0 && cap(b) > 0 && &a[:1][0] == &b[:1][0] }

// TestPackS2IsOneBlock: what is packed in steps is a block that S2 alone makes sense of.
func TestPackS2IsOneBlock(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789 a line of a log \n"), 20_000)
	for i := range content {
		if i%7 == 0 {
			content[i] = byte('a' + i/1000%20)
		}
	}
	for _, n := range []int{1000, blockSize - 1, blockSize, blockSize + 1, 2 * blockSize, len(content)} {
		packed := packS2(nil, content[:n])
		got, err := s2.Decode(nil, packed[1:])
		if err != nil || !bytes.Equal(got, content[:n]) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
