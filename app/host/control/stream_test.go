package control

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestStream(t *testing.T) {
	var wire bytes.Buffer
	flushed := 0
	s := NewStream(&wire, func() error { flushed++; return nil })
	long := bytes.Repeat([]byte("0123456789"), maxFrame/5)
	s.Progress(1, 10)
	s.Progress(2, 10) // too soon
	if n, err := s.Write(long); n != len(long) || err != nil {
		t.Fatal(n, err)
	}
	if err := s.End([]byte(`{"a":1}`), false); err != nil || flushed != 2 {
		t.Fatal(err, flushed)
	}
	whole := wire.Bytes()
	read := func(b []byte) (end string, failed bool, data int, told []int64, err error) {
		var got bytes.Buffer
		out, failed, err := ReadStream(bytes.NewReader(b), func(done, total int64) { told = append(told, done, total) }, &got)
		if !bytes.HasPrefix(long, got.Bytes()) {
			t.Error("other bytes came")
		}
		return string(out), failed, got.Len(), told, err
	}
	if end, failed, n, told, err := read(whole); end != `{"a":1}` || failed || n != len(long) || len(told) != 2 || told[1] != 10 || err != nil {
		t.Error(end, failed, n, told, err)
	}
	for cut := range 40 {
		if _, _, _, _, err := read(whole[:len(whole)-1-cut]); !errors.Is(err, ErrBrokenOff) {
			t.Errorf("cut by %d: %v", cut+1, err)
		}
	}
	for text, want := range map[string]string{"x\x00\x00\x00\x01y": "unknown kind", "d\xff\xff\xff\xff": "too long", "p\x00\x00\x00\x01x": "invalid"} {
		if _, _, _, _, err := read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	wire.Reset()
	s = NewStream(&wire, func() error { return nil })
	if err := s.End([]byte(`{}`), true); err != nil {
		t.Fatal(err)
	}
	if _, failed, _, _, err := read(wire.Bytes()); !failed || err != nil {
		t.Error(failed, err)
	}
}
