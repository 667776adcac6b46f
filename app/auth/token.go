package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"hash/crc32"
	"strings"
)

// A token is a prefix for its purpose, 168 random bits and a CRC-32C over both, in lower-case base32: 44 characters
// that are safe in a path. The checksum distinguishes a mistyped or incomplete token from an unknown one without
// reading the store, and lets scanners of source code find keys that were committed by mistake.
const (
	prefixKey     = "opk_" // an API key
	prefixSession = "ops_" // a session, in its cookie
	prefixLink    = "opl_" // a one-time link
	prefixDevice  = "opd_" // a device that sends signals
	prefixWait    = "opw_" // a browser that waits to be signed in, in its cookie

	prefixLen  = 4
	randomLen  = 21
	sumLen     = 4
	tokenLen   = prefixLen + (randomLen+sumLen)*8/5
	publicLen  = 12 // characters of a public id, 60 bits
	publicSeed = "id:"
)

// secret is the stored part of a token.
type secret struct {
	hash [32]byte
	id   string // public: identifies the token in lists, audit records and logs
}

// newToken returns a new token. The raw text must be shown once and never stored.
func newToken(prefix string) (raw string, s secret) {
	var data [randomLen + sumLen]byte
	rand.Read(data[:randomLen])
	binary.BigEndian.PutUint32(data[randomLen:], checksum(prefix, data[:randomLen]))
	raw = prefix + encode(data[:])
	hash := sha256.Sum256([]byte(raw))
	return raw, secret{hash: hash, id: publicID(hash)}
}

func encode(data []byte) string {
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(data))
}

// decode is the inverse of encode. encoding/base32 is not used, because it allocates and accepts line ends.
func decode(text [tokenLen - prefixLen]byte) (data [randomLen + sumLen]byte, ok bool) {
	var bits uint64
	for i, c := range text {
		switch {
		case 'a' <= c && c <= 'z':
			c -= 'a'
		case '2' <= c && c <= '7':
			c -= '2' - 26
		default:
			return data, false
		}
		bits = bits<<5 | uint64(c)
		if i%8 == 7 { // eight letters are five bytes
			n := i / 8 * 5
			data[n], data[n+1], data[n+2], data[n+3], data[n+4] =
				byte(bits>>32), byte(bits>>24), byte(bits>>16), byte(bits>>8), byte(bits)
			bits = 0
		}
	}
	return data, true
}

// checksum returns the CRC-32C of the prefix and the random bytes. crc32.Update lets its argument escape, which would
// be the only allocation of a request's authentication.
func checksum(prefix string, random []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := ^uint32(0)
	for i := range len(prefix) {
		sum = table[byte(sum)^prefix[i]] ^ sum>>8
	}
	for _, c := range random {
		sum = table[byte(sum)^c] ^ sum>>8
	}
	return ^sum
}

// parseToken returns the hash of a token, and false if raw is not a token. It allocates nothing.
func parseToken(prefix, raw string) (hash [32]byte, ok bool) {
	if len(raw) != tokenLen || raw[:prefixLen] != prefix {
		return hash, false
	}
	var text [tokenLen]byte
	copy(text[:], raw)
	data, ok := decode([tokenLen - prefixLen]byte(text[prefixLen:]))
	if !ok {
		return hash, false
	}
	if binary.BigEndian.Uint32(data[randomLen:]) != checksum(prefix, data[:randomLen]) {
		return hash, false
	}
	return sha256.Sum256(text[:]), true
}

// publicID derives a public id from a token's hash, which allows finding a record with the raw token too. As a hash
// of a hash it reveals nothing about the token.
func publicID(hash [32]byte) string {
	sum := sha256.Sum256(append([]byte(publicSeed), hash[:]...))
	return encode(sum[:])[:publicLen]
}

// newID returns a random public id for a record without a token.
func newID() string {
	var data [8]byte
	rand.Read(data[:])
	return encode(data[:])[:publicLen]
}
