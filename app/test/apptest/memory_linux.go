package apptest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// ResidentKiB returns the resident memory of a process, KiB.
func (p *Process) ResidentKiB(t testing.TB) int { return p.MemoryKiB(t, "VmRSS") }

// MemoryKiB returns a figure of a process's memory by its kernel name: RssAnon is memory that only the process can
// release, RssFile is mapped from files and can be reclaimed by the kernel.
func (p *Process) MemoryKiB(t testing.TB, name string) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kib
		}
	}
	t.Fatal("no " + name)
	return 0
}
