package app

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"opsmon/app/host/config"
	"opsmon/app/httpapi/appliance"
)

// The limits of a machine that is told nothing: a share of what it has, within bounds. What the plant needs is far
// less; the rest is room for large answers.
const (
	memoryShare = 4       // the service may use one part in so many
	memoryLeast = 256     // MiB
	memoryMost  = 2 << 10 // MiB
)

// memoryLimit returns the bytes that the runtime may use: the setting, else GOMEMLIMIT, which the runtime has read,
// else a share of the memory that there is.
func memoryLimit(setting config.Memory, goMemLimit string, machine uint64) int64 {
	switch {
	case setting.Limit > 0:
		return int64(setting.Limit) << 20
	case goMemLimit != "":
		return debug.SetMemoryLimit(-1)
	case machine == 0:
		return memoryMost << 20
	}
	return min(max(int64(machine/memoryShare), memoryLeast<<20), memoryMost<<20)
}

// limitMemory sets the limit of this process. It is a soft one: near it memory is collected more often, and nothing
// fails.
func limitMemory(setting config.Memory) {
	debug.SetMemoryLimit(memoryLimit(setting, os.Getenv("GOMEMLIMIT"), machineMemory()))
}

// How the heap is kept small. The runtime lets garbage grow to what is alive: with large documents that is a hundred
// megabytes, which a plant at rest never fills but in minutes, and never gives back. So garbage may grow only as far as
// collecting it takes a few percent of a processor; of a large heap it may only be a part, whatever that takes.
const (
	garbageLeast = 16 << 20 // bytes of garbage that may always be there, but at most half of what is alive
	garbageMost  = 48 << 20 // bytes of garbage that there may be, and an eighth of what is alive beyond as many
	percentMost  = 400
	// collectAt is how many bytes that are alive the runtime looks at in the time that may be spent on them each
	// second.
	collectAt     = 40 << 20
	collectPauses = 10       // seconds of rest after which memory is given back
	giveBackFrom  = 64 << 20 // bytes more than the heap needs that are worth it: a collection of everything
)

// When the service starts, the heap grows with what it reads of what went on, and who waits pays for each collection:
// it is looked at more often, and a heap beyond garbageLeast is taken to be under load.
const (
	startLooks     = 60
	startLookEvery = 50 * time.Millisecond
)

// gcPercent returns how much garbage there may be, in percent of what is alive, bytes, where so many bytes a second are
// made.
func gcPercent(alive, perSecond uint64) int {
	if alive == 0 { // nothing was collected yet
		return 100
	}
	most := uint64(garbageMost)
	if alive > garbageMost {
		most += (alive - garbageMost) / 8
	}
	garbage := min(max(uint64(float64(perSecond)/collectAt*float64(alive)), min(alive/2, garbageLeast)), most)
	return int(max(1, min(percentMost, garbage*100/alive)))
}

// collector keeps the heap of this process small while little goes on.
type collector struct {
	made    uint64 // bytes that were ever allocated
	rate    uint64 // a second, about, in the last ten
	percent int
	rests   int // seconds in which little was made
}

// keepMemorySmall does so until ctx ends, once a second. An administrator who sets GOGC is left alone.
func keepMemorySmall(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(100)
	defer debug.SetGCPercent(usual)
	c := collector{percent: 100}
	tick := time.NewTicker(startLookEvery)
	defer tick.Stop()
	for looks := 0; ; looks++ {
		if looks < startLooks {
			c.start()
		} else {
			tick.Reset(time.Second)
			c.look()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// start sets how much garbage there may be while the service starts.
func (c *collector) start() {
	list := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(list)
	c.made = list[0].Value.Uint64()
	alive, perSecond := list[1].Value.Uint64(), uint64(0)
	if alive > garbageLeast {
		perSecond = unbounded
	}
	c.set(gcPercent(alive, perSecond))
}

func (c *collector) set(percent int) {
	if percent != c.percent {
		c.percent = percent
		debug.SetGCPercent(percent)
	}
}

// unbounded is more than can be made a second.
const unbounded = 1 << 40

// look sets how much garbage there may be for the next second, and gives memory back after some rest.
func (c *collector) look() {
	list := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(list)
	alive := list[1].Value.Uint64()
	c.set(c.follow(list[0].Value.Uint64(), alive))
	if c.rests++; c.percent == gcPercent(alive, unbounded) && alive > garbageLeast {
		c.rests = 0
	}
	has := list[2].Value.Uint64() + list[3].Value.Uint64() + list[4].Value.Uint64()
	if c.rests >= collectPauses && has > alive+alive*uint64(c.percent)/100+giveBackFrom {
		c.rests = 0
		debug.FreeOSMemory()
	}
}

// follow returns the percentage for the next second: made is the bytes that were ever allocated.
func (c *collector) follow(made, alive uint64) int {
	c.rate = c.rate - c.rate/8 + (made-c.made)/8 // a burst, such as the minute's, is no load
	c.made = made
	return gcPercent(alive, c.rate)
}

// Pages of the store that were read are let go once a minute, and when files have more than so many bytes of memory.
const (
	unmapEvery = 60 // seconds
	unmapFrom  = 48 << 20
)

// unmap lets them go until ctx ends: what was read once would count as this process's memory for as long as the store
// is open.
func (a *App) unmap(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for seconds := 1; ; seconds++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if seconds%unmapEvery != 0 && mappedMemory() < unmapFrom {
			continue
		}
		if err := a.store.Unmap(); err != nil && ctx.Err() == nil {
			a.log.Debug("pages of the store that were read stay in memory", slog.Any("error", err))
		}
	}
}

// memoryStatus returns how much memory the service uses and may use.
func memoryStatus() appliance.MemoryStatus {
	list := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(list)
	s := appliance.MemoryStatus{Used: int64(list[0].Value.Uint64() - list[1].Value.Uint64()), Machine: int64(machineMemory())}
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		s.Limit = limit
	}
	return s
}

// groupMemory returns the least memory limit of a process's control groups, of both versions, and 0 where none limits
// it. root is where control groups are mounted, groups the content of /proc/self/cgroup.
func groupMemory(root, groups string) (least uint64) {
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		base, file := root, "memory.max"
		if controllers := "," + parts[1] + ","; parts[1] != "" {
			if !strings.Contains(controllers, ",memory,") {
				continue
			}
			base, file = filepath.Join(root, "memory"), "memory.limit_in_bytes"
		}
		// Within a container the path may be the host's: then the file at the root is the container's own.
		for dir := filepath.Clean("/" + parts[2]); ; dir = filepath.Dir(dir) {
			if b, err := os.ReadFile(filepath.Join(base, dir, file)); err == nil {
				// "max" is no number; version 1 says "no limit" with one near 2^63
				if n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64); err == nil && n < 1<<60 {
					least = min(n, cmp.Or(least, n))
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}
