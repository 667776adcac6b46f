package app

import (
	"os"
	"syscall"
	"testing"
)

// What is read of a mapped file is memory of files, until it is let go.
func TestMappedMemory(t *testing.T) {
	const size = 32 << 20
	f, err := os.Create(t.TempDir() + "/large")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	before, sum := mappedMemory(), byte(0)
	for i := 0; i < size; i += 4096 {
		sum += b[i]
	}
	read := mappedMemory()
	if err := syscall.Munmap(b); err != nil {
		t.Fatal(err)
	}
	if after := mappedMemory(); before == 0 || read < before+size/2 || after > before+size/4 {
		t.Errorf("%d bytes at first, %d when %d were read, %d at last; their sum is %d", before, read, size, after, sum)
	}
}
