package cli

import (
	"bytes"
	"testing"
)

func TestPrintable(t *testing.T) {
	var b bytes.Buffer
	in := "name\t\x1b]0;x\x07\x1b[2J\r\u009bm\nüñ€"
	n, err := printable{&b}.Write([]byte(in))
	if want := "name\t\ufffd]0;x\ufffd\ufffd[2J\ufffd\ufffdm\nüñ€"; err != nil || n != len(in) || b.String() != want {
		t.Errorf("%q, %d, %v; want %q", b.String(), n, err, want)
	}
}
