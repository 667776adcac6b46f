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

// Values turns values of type V into bytes and back. Use JSON or Raw.
type Values[V any] struct {
	format byte
	encode func(V) ([]byte, error)
	decode func([]byte) (V, error) // may keep the bytes
}

// The format bytes. They are on disk: never give one a new meaning.
const (
	formatJSON byte = 1
	formatRaw  byte = 2
)

// JSON keeps a value as its JSON document. A changed field of V needs a migration, unless old documents
// still mean the same.
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

// remembered is how many values a bucket of Remembered values keeps.
const remembered = 256

// Remembered keeps some values beside their documents, so that a document that is read again and again need not be
// decoded each time: it is compared instead. What Get gives is made by copy from the value that is kept; copy must give one
// that shares nothing with it that anybody changes. A value must be read back as it was written.
func Remembered[V any](of Values[V], copy func(V) V) Values[V] {
	type memo struct {
		document []byte
		value    V
	}
	var memos [remembered]atomic.Pointer[memo] // by the document's checksum
	at := func(document []byte) *atomic.Pointer[memo] {
		return &memos[crc32.Checksum(document, castagnoli)%remembered]
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

// Raw keeps bytes as they are. Neither Put nor Get shares memory with the caller. Nil is read back as empty.
var Raw = Values[[]byte]{
	format: formatRaw,
	encode: func(v []byte) ([]byte, error) { return v, nil },
	decode: func(data []byte) ([]byte, error) { return data, nil },
}

// A stored value is a format byte, four bytes of checksum (CRC-32C, big-endian), and the document. The checksum
// is over the bucket's name, the key, the format and the document, because a flipped bit in a key, or a page in
// another's place, would be as wrong as one in a value, and bbolt has no checksums of its own.
const sealSize = 5

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errChecksum = errors.New("the checksum does not match")
	errShort    = errors.New("the value is too short")
)

func sealSum(name string, key []byte, format byte, document []byte) uint32 {
	return sealSumIn(nameSum(name), key, format, document)
}

// nameSum is where the checksums of a bucket's values begin. It goes byte by byte, because crc32.Update would want a
// copy of the name.
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

// addByte is crc32.Update with a single byte.
func addByte(sum uint32, b byte) uint32 {
	sum = ^sum
	return ^(castagnoli[byte(sum)^b] ^ sum>>8)
}

// seal makes the stored form of a document.
func seal(name string, key []byte, format byte, document []byte) []byte {
	stored := make([]byte, sealSize+len(document))
	stored[0] = format
	binary.BigEndian.PutUint32(stored[1:], sealSum(name, key, format, document))
	copy(stored[sealSize:], document)
	return stored
}

// unseal checks the stored form and returns a view of the document in it.
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

// open reads a document of the given format.
func (c Values[V]) open(format byte, document []byte) (V, error) {
	if format != c.format {
		var none V
		return none, fmt.Errorf("the value has format %d where %d is expected", format, c.format)
	}
	return c.decode(document)
}
