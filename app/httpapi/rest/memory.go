package rest

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// giveBackBytes is the growth of the heap during long reads from which its memory is returned, because that needs a
// full garbage collection.
const giveBackBytes = 64 << 20

// giveBack returns memory to the system after the last of several concurrent long reads. The runtime would keep it for
// minutes, while other programs on the plant's PC may need it.
type giveBack struct {
	mu     sync.Mutex
	open   int
	before uint64 // bytes of the heap at the start of the first read
}

func (g *giveBack) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open++; g.open == 1 {
		g.before = heapBytes()
	}
}

// end is called at the end of a read. It does not block.
func (g *giveBack) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open--; g.open == 0 && heapBytes() > g.before+giveBackBytes {
		go debug.FreeOSMemory()
	}
}

// heapBytes returns the memory that the heap has from the system, bytes.
func heapBytes() uint64 {
	list := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(list)
	return list[0].Value.Uint64() + list[1].Value.Uint64() + list[2].Value.Uint64()
}
