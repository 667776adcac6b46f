package app

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatus = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// machineMemory returns the machine's bytes of memory; 0 where that is not known.
func machineMemory() uint64 {
	status := struct {
		length, load                                       uint32
		total, free, pages, freePages, space, freeSpace, _ uint64
	}{}
	status.length = uint32(unsafe.Sizeof(status))
	if ok, _, _ := globalMemoryStatus.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return 0
	}
	return status.total
}

// mappedMemory returns 0 where the system takes pages of files back by itself.
func mappedMemory() int64 { return 0 }
