package app

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
)

// The limit is the setting, else GOMEMLIMIT, else a share of the machine's memory within bounds.
func TestMemoryLimit(t *testing.T) {
	const mib = 1 << 20
	is := debug.SetMemoryLimit(-1)
	for _, test := range []struct {
		set     int
		runtime string
		machine uint64
		want    int64
	}{
		{0, "", 8192 * mib, 2048 * mib}, {0, "", 2048 * mib, 512 * mib}, {0, "", 512 * mib, 256 * mib}, {0, "", 65536 * mib, 2048 * mib},
		{0, "", 0, 2048 * mib}, {300, "", 8192 * mib, 300 * mib}, {300, "1GiB", 8192 * mib, 300 * mib}, {0, "1GiB", 8192 * mib, is},
	} {
		if got := (Config{Memory: Memory{Limit: test.set}}).memoryLimit(test.runtime, test.machine); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
	if machine := machineMemory(); machine < 64*mib {
		t.Errorf("this machine has %d bytes of memory", machine)
	}
}

// A running service has its limit, and status tells it.
func TestServiceLimitsItsMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	cfg := testConfig(t)
	cfg.Memory.Limit = 777
	h := serve(t, cfg).host
	if got := debug.SetMemoryLimit(-1); got != 777<<20 {
		t.Errorf("the limit is %d bytes", got)
	}
	if m := h.status().Memory; m.Limit != 777<<20 || m.Used < 1<<20 || m.Used > 4<<30 || m.Machine < m.Used {
		t.Errorf("status tells %+v", m)
	}
}

// The limits of all control groups above a process count, of both versions.
func TestGroupMemory(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("system.slice/memory.max", "1000000")
	write("system.slice/app.service/memory.max", "max")
	write("memory/memory.limit_in_bytes", fmt.Sprint(uint64(1)<<63-4096))
	write("memory/docker/x/memory.limit_in_bytes", "3000000")
	for groups, want := range map[string]uint64{
		"0::/system.slice/app.service\n": 1000000, "0::/user.slice\n": 0, "0::/\n": 0, "": 0, "nonsense": 0,
		"5:cpu:/docker/x\n4:memory:/docker/x\n0::/\n": 3000000, "4:cpuset,memory:/gone\n0::/system.slice\n": 1000000,
	} {
		if got := groupMemory(root, groups); got != want {
			t.Errorf("%q: %d, want %d", groups, got, want)
		}
	}
}

// Little garbage may lie about while little is made; a load that would have to be collected all the time may make as much as is alive.
func TestGCPercent(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct {
		alive, perSecond uint64
		want             int
	}{
		{0, 0, 100}, {10 * mib, 0, 100}, {16 * mib, 0, 100}, {64 * mib, 0, 25}, {100 * mib, 1 * mib, 16}, {100 * mib, 8 * mib, 20},
		{100 * mib, 20 * mib, 50}, {100 * mib, 500 * mib, 100}, {1000 * mib, 0, 1},
	} {
		if got := gcPercent(test.alive, test.perSecond); got != test.want {
			t.Errorf("%d MiB alive, %d a second: %d %%, want %d", test.alive/mib, test.perSecond/mib, got, test.want)
		}
	}
}

// A load lets garbage grow at once, and rest takes it back.
func TestCollectorFollowsTheLoad(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	alive := make([]byte, 64<<20)
	runtime.GC()
	c := collector{percent: 100}
	c.look() // all that was ever made counts as that of this second
	for range 60 {
		c.look()
	}
	if c.percent > 50 || debug.SetGCPercent(c.percent) != c.percent {
		t.Errorf("at rest garbage may be %d %%", c.percent)
	}
	garbage := 0
	for range 16 {
		for range 64 {
			garbage += len(make([]byte, 1<<20+garbage%2))
		}
		c.look()
	}
	if c.percent < 90 {
		t.Errorf("under a load of %d bytes garbage may be %d %%", garbage, c.percent)
	}
	runtime.KeepAlive(alive)
}
