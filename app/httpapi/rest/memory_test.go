package rest

import (
	"context"
	"testing"
	"time"
)

// TestMemoryIsGivenBack: the memory of a long read is returned to the system soon after it.
func TestMemoryIsGivenBack(t *testing.T) {
	var g giveBack
	g.begin()
	g.begin()
	before := heapBytes()
	size := 2 * giveBackBytes
	garbage := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		garbage[i] = 1
	}
	garbage = nil
	g.end()
	if heapBytes() < before+giveBackBytes {
		t.Error("memory is given back while another long read goes on")
	}
	g.end()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for heapBytes() > before+giveBackBytes/2 {
		if ctx.Err() != nil {
			t.Fatalf("%d bytes are held, %d before", heapBytes(), before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
