package app

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"

	"opsmon/app/httpapi"
)

// Memory says how much memory the service may use.
type Memory struct {
	Limit int `yaml:"limit"` // MiB; 0 = made from the machine's
}

// The limits of a machine that is told nothing: a share of what it has, within bounds. What the plant needs is far less;
// the rest is room for large answers.
const (
	memoryShare = 4       // the service may use one part in so many
	memoryLeast = 256     // MiB
	memoryMost  = 2 << 10 // MiB
)

// memoryLimit returns the bytes that the runtime may use: the setting, else GOMEMLIMIT, which the runtime has read, else a
// share of the memory that there is.
func (c Config) memoryLimit(goMemLimit string, machine uint64) int64 {
	switch {
	case c.Memory.Limit > 0:
		return int64(c.Memory.Limit) << 20
	case goMemLimit != "":
		return debug.SetMemoryLimit(-1)
	case machine == 0:
		return memoryMost << 20
	}
	return min(max(int64(machine/memoryShare), memoryLeast<<20), memoryMost<<20)
}

// limitMemory sets the limit of this process. It is a soft one: near it memory is collected more often, and nothing fails.
func (c Config) limitMemory() {
	debug.SetMemoryLimit(c.memoryLimit(os.Getenv("GOMEMLIMIT"), machineMemory()))
}

// memoryStatus tells how much memory the service uses and may use.
func memoryStatus() httpapi.MemoryStatus {
	list := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(list)
	s := httpapi.MemoryStatus{Used: int64(list[0].Value.Uint64() - list[1].Value.Uint64()), Machine: int64(machineMemory())}
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		s.Limit = limit
	}
	return s
}

// groupMemory returns the least memory limit of a process's control groups, of both versions, and 0 where none limits it.
// root is where control groups are mounted, groups the content of /proc/self/cgroup.
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
