package history

import "opsmon/app/column"

// most is the largest uncompressed size of a stored value, bytes: a damaged value must not exhaust memory.
const most = 32 << 20

var compression = column.NewCompression(most)

// writer encodes one value, beginning with its strings.
type writer struct{ column.Writer }

// reader decodes the result of a writer.
type reader struct{ column.Reader }

func newReader(payload []byte) *reader {
	r := &reader{}
	r.Open(payload)
	r.Dictionary(nil)
	return r
}
