package kv

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"sync/atomic"
)

// Values encodes values of type V as bytes and decodes them. Use JSON or Raw.
type Values[V any] struct {
	format byte
	encode func(V) ([]byte, error)
	decode func([]byte) (V, error) // may retain the bytes
}

// The format bytes are stored: never change their meaning.
const (
	formatJSON byte = 1
	formatRaw  byte = 2
)

// JSON stores a value as a JSON document. Changing a field of V needs a migration, unless old documents keep their
// meaning.
func JSON[V any]() Values[V] {
	return Values[V]{
		format: formatJSON,
		encode: func(v V) ([]byte, error) { return json.Marshal(v) },
		decode: func(data []byte) (v V, err error) {
			err = json.Unmarshal(data, &v)
			return v, err
		},
	}
}

// cacheSize is the number of values that Cached caches per bucket.
const cacheSize = 256

// Cached caches decoded values with their documents: a document that is read repeatedly is compared with the
// cached one instead of decoded. Get returns a copy, made by the function copy, which must not share memory that
// anybody changes. Decoding must return the value that was encoded.
func Cached[V any](of Values[V], copy func(V) V) Values[V] {
	type memo struct {
		document []byte
		value    V
	}
	var memos [cacheSize]atomic.Pointer[memo] // by the document's checksum
	at := func(document []byte) *atomic.Pointer[memo] {
		return &memos[crc32.Checksum(document, castagnoli)%cacheSize]
	}
	encode, decode := of.encode, of.decode
	of.encode = func(v V) ([]byte, error) {
		document, err := encode(v)
		if err == nil {
			at(document).Store(&memo{document, copy(v)})
		}
		return document, err
	}
	of.decode = func(document []byte) (V, error) {
		if m := at(document).Load(); m != nil && bytes.Equal(m.document, document) {
			return copy(m.value), nil
		}
		v, err := decode(document)
		if err == nil {
			at(document).Store(&memo{document, copy(v)})
		}
		return v, err
	}
	return of
}

// Raw stores bytes unchanged. Neither Put nor Get shares memory with the caller. A nil slice is read back as an empty
// one.
var Raw = Values[[]byte]{
	format: formatRaw,
	encode: func(v []byte) ([]byte, error) { return v, nil },
	decode: func(data []byte) ([]byte, error) { return data, nil },
}

// A stored value is a format byte, a checksum of four bytes (CRC-32C, big-endian), and the document. The checksum
// covers the bucket's name, the key, the format and the document, because a flipped bit in a key, or a misplaced
// page, is as harmful as one in a value, and bbolt has no checksums of its own.
const sealSize = 5

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errChecksum = errors.New("the checksum does not match")
	errShort    = errors.New("the value is too short")
)

func sealSum(name string, key []byte, format byte, document []byte) uint32 {
	return sealSumIn(nameSum(name), key, format, document)
}

// nameSum returns the checksum of a bucket's name, with which the checksums of its values begin. It works byte by
// byte, because crc32.Update would need a copy of the name.
func nameSum(name string) uint32 {
	sum := uint32(0)
	for i := range len(name) {
		sum = addByte(sum, name[i])
	}
	return sum
}

// sealSumIn is sealSum for many values of one bucket.
func sealSumIn(nameSum uint32, key []byte, format byte, document []byte) uint32 {
	sum := crc32.Update(nameSum, castagnoli, key)
	return crc32.Update(addByte(sum, format), castagnoli, document)
}

// addByte is crc32.Update with one byte.
func addByte(sum uint32, b byte) uint32 {
	sum = ^sum
	return ^(castagnoli[byte(sum)^b] ^ sum>>8)
}

// seal returns the stored form of a document.
func seal(name string, key []byte, format byte, document []byte) []byte {
	stored := make([]byte, sealSize+len(document))
	stored[0] = format
	binary.BigEndian.PutUint32(stored[1:], sealSum(name, key, format, document))
	copy(stored[sealSize:], document)
	return stored
}

// unseal verifies a stored value and returns the document in it, without a copy.
func unseal(name string, key, stored []byte) (format byte, document []byte, err error) {
	return unsealIn(nameSum(name), key, stored)
}

// unsealIn is unseal for many values of one bucket.
func unsealIn(nameSum uint32, key, stored []byte) (format byte, document []byte, err error) {
	if len(stored) < sealSize {
		return 0, nil, errShort
	}
	format, document = stored[0], stored[sealSize:]
	if binary.BigEndian.Uint32(stored[1:]) != sealSumIn(nameSum, key, format, document) {
		return 0, nil, errChecksum
	}
	return format, document, nil
}

// open decodes a document of the given format.
func (c Values[V]) open(format byte, document []byte) (V, error) {
	if format != c.format {
		var none V
		return none, fmt.Errorf("the value has format %d, want %d", format, c.format)
	}
	return c.decode(document)
}
