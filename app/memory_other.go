//go:build !linux && !windows

package app

// machineMemory returns the machine's bytes of memory; 0 because that is not known here.
func machineMemory() uint64 { return 0 }
