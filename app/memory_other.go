//go:build !linux && !windows

package app

// machineMemory returns the machine's bytes of memory; 0 because that is not known here.
func machineMemory() uint64 { return 0 }

// mappedMemory returns 0 where the system takes pages of files back by itself.
func mappedMemory() int64 { return 0 }
