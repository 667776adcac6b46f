package kv

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// Keys encodes keys of type K as bytes that sort like the keys, and decodes them. No encoding is a prefix of another,
// so encodings can be concatenated in a composite key. Use String, Uint64, Time, Bytes32 and PairOf.
type Keys[K any] struct {
	put   func(dst []byte, k K) []byte
	first func(dst []byte, k K) []byte // only the first part of a pair; nil for other keys
	take  func(src []byte) (k K, rest []byte, err error)
	show  func(k K) string
}

func (c Keys[K]) encode(k K) []byte { return c.put(make([]byte, 0, 48), k) }

func (c Keys[K]) decode(src []byte) (K, error) {
	k, rest, err := c.take(src)
	if err == nil && len(rest) > 0 {
		err = errKeyLength
	}
	return k, err
}

var errKeyLength = errors.New("the key has a wrong length")

// String encodes any string, in byte order, including the empty one and those with zero bytes. A zero byte takes two
// bytes, and so does the end.
var String = Keys[string]{
	put: func(dst []byte, k string) []byte {
		for i := range len(k) {
			dst = append(dst, k[i])
			if k[i] == 0 {
				dst = append(dst, 0xFF)
			}
		}
		return append(dst, 0, 1)
	},
	take: func(src []byte) (string, []byte, error) {
		var unescaped []byte
		for {
			i := bytes.IndexByte(src, 0)
			if i < 0 || i+1 == len(src) {
				return "", nil, errors.New("the string key has no end")
			}
			unescaped = append(unescaped, src[:i]...)
			mark := src[i+1]
			src = src[i+2:]
			switch mark {
			case 1:
				return string(unescaped), src, nil
			case 0xFF:
				unescaped = append(unescaped, 0)
			default:
				return "", nil, errors.New("the string key has an invalid escape")
			}
		}
	},
	show: func(k string) string { return fmt.Sprintf("%q", k) },
}

// Uint64 encodes an unsigned number as 8 bytes, big-endian.
var Uint64 = Keys[uint64]{
	put: binary.BigEndian.AppendUint64,
	take: func(src []byte) (uint64, []byte, error) {
		if len(src) < 8 {
			return 0, nil, errKeyLength
		}
		return binary.BigEndian.Uint64(src), src[8:], nil
	},
	show: func(k uint64) string { return fmt.Sprint(k) },
}

// Time encodes a moment as 8 bytes, truncated to milliseconds. It decodes to UTC. Years 1 to 9999 are valid,
// including the zero time.
var Time = Keys[time.Time]{
	put: func(dst []byte, k time.Time) []byte {
		return binary.BigEndian.AppendUint64(dst, uint64(k.UnixMilli())^signBit)
	},
	take: func(src []byte) (time.Time, []byte, error) {
		if len(src) < 8 {
			return time.Time{}, nil, errKeyLength
		}
		return time.UnixMilli(int64(binary.BigEndian.Uint64(src) ^ signBit)).UTC(), src[8:], nil
	},
	show: func(k time.Time) string { return k.UTC().Format("2006-01-02T15:04:05.000Z07:00") },
}

// signBit, inverted, makes unsigned order equal to the order of two's complement numbers.
const signBit = 1 << 63

// Bytes32 encodes 32 bytes, such as a SHA-256, as they are.
var Bytes32 = Keys[[32]byte]{
	put: func(dst []byte, k [32]byte) []byte { return append(dst, k[:]...) },
	take: func(src []byte) ([32]byte, []byte, error) {
		if len(src) < 32 {
			return [32]byte{}, nil, errKeyLength
		}
		return [32]byte(src), src[32:], nil
	},
	show: func(k [32]byte) string { return hex.EncodeToString(k[:]) },
}

// Pair is a composite key: ordered by A, then by B. It nests: Pair[A, Pair[B, C]] is a triple.
type Pair[A, B any] struct {
	A A
	B B
}

// PairOf encodes a pair as the encodings of its two parts, one after the other.
func PairOf[A, B any](a Keys[A], b Keys[B]) Keys[Pair[A, B]] {
	return Keys[Pair[A, B]]{
		put:   func(dst []byte, k Pair[A, B]) []byte { return b.put(a.put(dst, k.A), k.B) },
		first: func(dst []byte, k Pair[A, B]) []byte { return a.put(dst, k.A) },
		take: func(src []byte) (k Pair[A, B], rest []byte, err error) {
			if k.A, rest, err = a.take(src); err != nil {
				return k, nil, err
			}
			k.B, rest, err = b.take(rest)
			return k, rest, err
		},
		show: func(k Pair[A, B]) string { return a.show(k.A) + "/" + b.show(k.B) },
	}
}
