package app

import (
	"cmp"
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
