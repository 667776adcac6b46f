package httpapi

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// giveBackBytes is by how much the heap has to grow during long reads for its memory to be given back: that takes a
// collection of everything.
const giveBackBytes = 64 << 20

// giveBack returns memory to the system when the last of several long reads has ended. The runtime would keep it for
// minutes, while the plant's PC may need it.
type giveBack struct {
	mu     sync.Mutex
	open   int
	before uint64 // bytes of the heap when the first of them began
}

func (g *giveBack) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open++; g.open == 1 {
		g.before = heapBytes()
	}
}

// end is called when a read has ended. It does not wait.
func (g *giveBack) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open--; g.open == 0 && heapBytes() > g.before+giveBackBytes {
		go debug.FreeOSMemory()
	}
}

// heapBytes returns how many bytes of the system's memory the heap has.
func heapBytes() uint64 {
	list := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(list)
	return list[0].Value.Uint64() + list[1].Value.Uint64() + list[2].Value.Uint64()
}
