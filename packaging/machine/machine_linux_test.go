package machine_test

import (
	"strings"
	"testing"

	"opsmon/packaging/machine"
)

// TestBoot: a machine has its own first process, its own files, and no trace of them is left.
func TestBoot(t *testing.T) {
	m, ok := machine.Boot(t)
	if !ok {
		return
	}
	if out := m.Must(t, "cat", "/proc/1/comm"); strings.TrimSpace(out) != "systemd" {
		t.Errorf("the first process is %s", out)
	}
	m.Must(t, "touch", "/machine-test")
	if out, err := m.Run(t, "cat", "/no-such-file"); err == nil || !strings.Contains(out, "No such file") {
		t.Errorf("a command that fails: %v, %s", err, out)
	}
}
