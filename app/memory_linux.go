package app

import (
	"cmp"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// machineMemory returns the bytes of memory that this process could have: the machine's, or less where a control group
// limits it; 0 where that is not known.
func machineMemory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	all := uint64(info.Totalram) * uint64(info.Unit)
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return all
	}
	return min(all, cmp.Or(groupMemory("/sys/fs/cgroup", string(groups)), all))
}

// mappedMemory returns the bytes of this process's memory that are of files: its own, and the store.
func mappedMemory() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident, shared int64 // pages
	if _, err := fmt.Sscan(string(b), &size, &resident, &shared); err != nil {
		return 0
	}
	return shared * int64(os.Getpagesize())
}
