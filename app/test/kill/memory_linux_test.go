//go:build soak

package kill_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"opsmon/app/test/apptest"
)

// TestMemoryAfterLargeDocuments: the memory of many changes and reads of a document of 10 MB is returned to the system
// soon after.
func TestMemoryAfterLargeDocuments(t *testing.T) {
	dir := t.TempDir()
	apptest.WriteIn(t, dir, "works.json", largeWorks(largeStations, "Station"))
	key := apptest.Initialise(t, dir, "--domain", "northgate.example", "--manifest", dir+"/works.json")
	p := apptest.StartService(t, dir)
	for !ready(p) {
		time.Sleep(50 * time.Millisecond)
	}
	peak := 0
	do := func(method, path, body string) {
		t.Helper()
		if status := p.Status(method, path, key, body); status != http.StatusOK {
			t.Fatalf("%s %s: %d", method, path, status)
		}
		peak = max(peak, p.ResidentKiB(t))
	}
	for n := range 5 {
		body := largeWorks(largeStations, fmt.Sprint("Renamed ", n))
		if n == 0 {
			t.Logf("a document of %.1f MB", float64(len(body))/1e6)
		}
		do(http.MethodPut, "/account/manifest", body)
		for range 3 {
			for _, path := range []string{"/account", "/account/manifest", "/station"} {
				do(http.MethodGet, path, "")
			}
		}
	}
	kib := 0
	for idle := time.Now(); time.Since(idle) < idleAfter; time.Sleep(5 * time.Second) {
		kib = p.ResidentKiB(t)
		t.Logf("%3.0f s: %d MiB, %d of them anonymous", time.Since(idle).Seconds(), kib>>10, p.MemoryKiB(t, "RssAnon")>>10)
	}
	t.Logf("%d MiB at most, %d MiB at rest", peak>>10, kib>>10)
	if kib > 200<<10 {
		t.Errorf("%d MiB are in memory at rest, want 200", kib>>10)
	}
}

func ready(p *apptest.Process) bool {
	return p.Status(http.MethodGet, "/ready", "", "") == http.StatusOK
}

// largeWorks returns a manifest with about a kilobyte for each station.
func largeWorks(stations int, name string) string {
	filler := fmt.Sprintf("%0780d", 0)
	b := []byte(`{"version":"v1","account":{"id":"northgate","domain":"northgate.example","enableQuickScheduleStart":"on","skus":[{"code":"RUN","name":"Part","cycleTime":6000}],
		"plants":[{"code":"leeds","name":"Leeds","timezone":"Europe/London","dayStartHour":6,"weekStartDay":0,"stationGroups":[`)
	for s := range stations {
		switch {
		case s == 0:
			b = append(b, `{"code":"g0","name":"Line 0","stations":[`...)
		case s%50 == 0:
			b = fmt.Appendf(b, `]},{"code":"g%d","name":"Line %d","stations":[`, s/50, s/50)
		default:
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"code":"ST-%d","name":"%s %d","description":"%s","downtimeDetectionMode":"production","utilisationDowntimeThreshold":%d}`, s, name, s, filler, 60_000*(1+s%5))
	}
	return string(append(b, `]}]}]}}`...))
}
