package app

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"opsmon/app/host/config"
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
		if got := memoryLimit(config.Memory{Limit: test.set}, test.runtime, test.machine); got != test.want {
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

// Little garbage may lie about while little is made; a load that would have to be collected all the time may make
// more, within bounds.
func TestGCPercent(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct {
		alive, perSecond uint64
		want             int
	}{
		{0, 0, 100}, {10 * mib, 0, 50}, {10 * mib, 40 * mib, 100}, {10 * mib, 80 * mib, 200},
		{10 * mib, 500 * mib, 400}, {16 * mib, 0, 50}, {64 * mib, 0, 25}, {100 * mib, 1 * mib, 16}, {100 * mib, 8 * mib, 20},
		{100 * mib, 20 * mib, 50}, {48 * mib, 500 * mib, 100}, {100 * mib, 500 * mib, 54}, {1000 * mib, 9000 * mib, 16}, {1000 * mib, 0, 1}, {2000 * mib, 0, 1},
	} {
		if got := gcPercent(test.alive, test.perSecond); got != test.want {
			t.Errorf("%d MiB alive, %d a second: %d %%, want %d", test.alive/mib, test.perSecond/mib, got, test.want)
		}
	}
}

// A load lets garbage grow within seconds, rest takes it back, and one burst does neither.
func TestCollectorFollowsTheLoad(t *testing.T) {
	const mib, alive = 1 << 20, 40 << 20
	c, made, percent := collector{}, uint64(0), 0
	pass := func(seconds int, perSecond uint64) {
		for range seconds {
			made += perSecond
			percent = c.follow(made, alive)
		}
	}
	rest := gcPercent(alive, 0)
	for _, step := range []struct {
		seconds   int
		perSecond uint64
		from, to  int
	}{
		{60, 1 * mib, rest, rest}, {1, 100 * mib, rest, rest + 5}, {5, 1 * mib, rest, rest}, {16, 64 * mib, 2 * rest, 3 * rest}, {30, 1 * mib, rest, rest},
	} {
		if pass(step.seconds, step.perSecond); percent < step.from || percent > step.to {
			t.Errorf("after %d s of %d MiB garbage may be %d %%, want %d to %d", step.seconds, step.perSecond/mib, percent, step.from, step.to)
		}
	}
}

// What the runtime says becomes its setting.
func TestCollectorSetsTheRuntime(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	alive := make([]byte, 64<<20)
	runtime.GC()
	c := collector{percent: 100}
	for range 60 {
		c.look()
	}
	if got := debug.SetGCPercent(c.percent); got != c.percent || got < 1 || got > 25 {
		t.Errorf("with 64 MiB alive garbage may be %d %%, the runtime keeps to %d %%", c.percent, got)
	}
	runtime.KeepAlive(alive)
}
