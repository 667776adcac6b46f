package history

import "opsmon/app/column"

// most is how long a stored value may be before it is compressed, bytes: a damaged one must not fill the memory.
const most = 32 << 20

var compression = column.NewCompression(most)

// writer packs one value, whose strings stand before everything else.
type writer struct{ column.Writer }

// reader reads what a writer packed.
type reader struct{ column.Reader }

func newReader(payload []byte) *reader {
	r := &reader{}
	r.Open(payload)
	r.Dictionary(nil)
	return r
}
