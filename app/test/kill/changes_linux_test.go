package kill_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"opsmon/app/test/apptest"
)

// TestConfigurationChanges applies many changes with concurrent signals and reads, and logs the slowest read, the delay
// of the figures, the memory, and the times to stop and to start.
func TestConfigurationChanges(t *testing.T) {
	for _, c := range changed {
		for kind := range kindsOfChange {
			t.Run(fmt.Sprintf("%d stations, %d times %s", c.stations, c.changes, kind), func(t *testing.T) {
				changeOften(t, c.stations, c.changes, kindsOfChange[kind])
			})
		}
	}
}

// kindsOfChange are requests with a change, each different by its number.
var kindsOfChange = map[string]func(stations, n int) (method, path, body string){
	"a price": func(_, n int) (string, string, string) {
		return http.MethodPost, "/account", fmt.Sprintf(`{"electricalPricePerKwh":%d.%02d}`, n/100%900, n%100)
	},
	"a name": func(stations, n int) (string, string, string) {
		return http.MethodPut, "/account/manifest", changedWorks(stations, fmt.Sprintf("Renamed %d", n), 6000)
	},
	"a rate": func(stations, n int) (string, string, string) {
		return http.MethodPut, "/account/manifest", changedWorks(stations, "Station", 6000+n)
	},
}

// changedWorks returns a manifest of stations in groups of fifty that may all run the SKU RUN. The first is called
// name.
func changedWorks(stations int, name string, cycle int) string {
	var groups strings.Builder
	for s := range stations {
		switch {
		case s == 0:
			groups.WriteString(`{"code":"g0","name":"Line 0","stations":[`)
		case s%50 == 0:
			fmt.Fprintf(&groups, `]},{"code":"g%d","name":"Line %d","stations":[`, s/50, s/50)
		default:
			groups.WriteByte(',')
		}
		fmt.Fprintf(&groups, `{"code":"ST-%d","name":%q,"description":"one of many","downtimeDetectionMode":"production","utilisationDowntimeThreshold":%d}`, s, name, 60_000*(1+s%5))
		name = fmt.Sprint("Station ", s+1)
	}
	groups.WriteString("]}")
	return fmt.Sprintf(`{"version":"v1","account":{"id":"northgate","domain":"northgate.example","enableQuickScheduleStart":"on",
		"skus":[{"code":"RUN","name":"Part","cycleTime":%d,"allowUseInQuickSchedule":true}],
		"plants":[{"code":"leeds","name":"Leeds","timezone":"Europe/London","dayStartHour":6,"weekStartDay":0,"stationGroups":[%s]}]}}`, cycle, &groups)
}

func changeOften(t *testing.T, stations, changes int, change func(stations, n int) (method, path, body string)) {
	dir := t.TempDir()
	manifest := filepath.Join(dir, "works.json")
	if err := os.WriteFile(manifest, []byte(changedWorks(stations, "Station", 6000)), 0o600); err != nil {
		t.Fatal(err)
	}
	key := apptest.Initialise(t, dir, "--domain", "northgate.example", "--manifest", manifest)
	p := apptest.StartService(t, dir)
	for s := range stations {
		if status := p.Status(http.MethodPost, "/quick-schedule", key, fmt.Sprintf(`{"stationCode":"ST-%d","skuCode":"RUN"}`, s)); status != http.StatusOK {
			t.Fatalf("a schedule at station %d: %d", s, status)
		}
	}
	began := time.Now()
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { sendEverySecond(t, p, key, stations, stop) })
	var slowest atomic.Int64
	all.Go(func() { readOn(t, p, key, &slowest, stop) })
	for n := range changes {
		method, path, body := change(stations, n+1)
		if status := p.Status(method, path, key, body); status != http.StatusOK {
			t.Errorf("change %d: %d", n, status)
			break
		}
	}
	last := time.Now()
	took := last.Sub(began)
	for behind(t, p, key, last) && time.Since(last) < time.Minute {
		time.Sleep(50 * time.Millisecond)
	}
	caughtUp := time.Since(last)
	time.Sleep(settleChanges)
	close(stop)
	all.Wait()
	kib := p.ResidentKiB(t)
	stopping := time.Now()
	if status := p.End(t, syscall.SIGTERM); status != 0 {
		t.Errorf("the service ended with %d: %s", status, p.Stderr)
	}
	ended := time.Since(stopping)
	starting := time.Now()
	p = apptest.StartService(t, dir)
	for p.Status(http.MethodGet, "/ready", "", "") != http.StatusOK {
		if time.Since(starting) > time.Minute {
			t.Fatal("the service is not ready a minute after the start")
		}
		time.Sleep(10 * time.Millisecond)
	}
	asked := time.Now()
	if status := p.Status(http.MethodGet, "/station", key, ""); status != http.StatusOK || time.Since(asked) > slowestRead {
		t.Errorf("GET /station right after the service was ready: %d after %v", status, time.Since(asked))
	}
	serves := time.Since(starting)
	p.Kill()
	t.Logf("changes %v, slowest read %v, caught up %v, resident %d MiB, ended in %v, serves again in %v",
		took.Round(time.Millisecond), time.Duration(slowest.Load()).Round(time.Millisecond), caughtUp.Round(time.Millisecond), kib>>10, ended.Round(time.Millisecond), serves.Round(time.Millisecond))
	for what, x := range map[string][2]time.Duration{
		"the slowest read took": {time.Duration(slowest.Load()), slowestRead}, "figures followed after": {caughtUp, followsIn},
		"the service ended after": {ended, endsIn}, "the service served again after": {serves, servesIn},
	} {
		if x[0] > x[1] {
			t.Errorf("%s %v, more than %v", what, x[0], x[1])
		}
	}
	if kib > mostResident {
		t.Errorf("%d KiB are resident, more than %d", kib, mostResident)
	}
}

// sendEverySecond sends a thousand signals a second, spread over the stations.
func sendEverySecond(t *testing.T, p *apptest.Process, key string, stations int, stop chan struct{}) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		var b strings.Builder
		for i := range 100 {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"stationCode":"ST-%d","productionCompleteGood":1}`, n%stations)
			n++
		}
		if status := p.Status(http.MethodPost, "/signal", key, `{"signals":[`+b.String()+`]}`); status != http.StatusOK {
			t.Errorf("signals: %d", status)
			return
		}
	}
}

// readOn reads like pages do, and records the slowest answer.
func readOn(t *testing.T, p *apptest.Process, key string, slowest *atomic.Int64, stop chan struct{}) {
	for {
		for _, path := range []string{"/station", "/account", "/account/manifest", "/station/ST-1", "/station?stationcodes=ST-0"} {
			select {
			case <-stop:
				return
			default:
			}
			began := time.Now()
			if status := p.Status(http.MethodGet, path, key, ""); status != http.StatusOK {
				t.Errorf("%s: %d", path, status)
				return
			}
			slowest.Store(max(slowest.Load(), int64(time.Since(began))))
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// behind reports whether the figures lack signals from before a moment.
func behind(t *testing.T, p *apptest.Process, key string, moment time.Time) bool {
	t.Helper()
	var answer struct {
		Result struct {
			Cursors []struct {
				Type      string `json:"type"`
				Timestamp int64  `json:"timestamp"`
			} `json:"cursors"`
		} `json:"result"`
	}
	if _, err := p.Do(http.MethodGet, "/account", key, "", &answer); err != nil {
		t.Fatal(err)
	}
	for _, c := range answer.Result.Cursors {
		if at := moment.UnixMilli(); c.Type == "windows" && c.Timestamp < at-at%60_000 || c.Type != "windows" && c.Timestamp < at {
			return true
		}
	}
	return len(answer.Result.Cursors) == 0
}

// TestManyRevisions starts a service with a very large number of revisions, and logs the time until it is ready.
func TestManyRevisions(t *testing.T) {
	dir := t.TempDir()
	manifest := filepath.Join(dir, "works.json")
	if err := os.WriteFile(manifest, []byte(changedWorks(revisedStations, "Station", 6000)), 0o600); err != nil {
		t.Fatal(err)
	}
	key := apptest.Initialise(t, dir, "--domain", "northgate.example", "--manifest", manifest)
	p := apptest.StartService(t, dir)
	var next atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for n := next.Add(1); n < manyRevisions; n = next.Add(1) {
				if status := p.Status(http.MethodPost, "/account", key, fmt.Sprintf(`{"electricalPricePerKwh":%d.%03d}`, n/1000, n%1000)); status != http.StatusOK {
					t.Errorf("change %d: %d", n, status)
					return
				}
			}
		})
	}
	all.Wait()
	if status := p.End(t, syscall.SIGTERM); status != 0 {
		t.Errorf("the service ended with %d: %s", status, p.Stderr)
	}
	starting := time.Now()
	p = apptest.StartService(t, dir)
	for p.Status(http.MethodGet, "/ready", "", "") != http.StatusOK && time.Since(starting) < time.Minute {
		time.Sleep(10 * time.Millisecond)
	}
	if status := p.Status(http.MethodGet, "/station", key, ""); status != http.StatusOK {
		t.Errorf("GET /station: %d", status)
	}
	serves := time.Since(starting)
	t.Logf("%d revisions of %d stations: serves after %v, %d MiB resident", manyRevisions, revisedStations, serves.Round(time.Millisecond), p.ResidentKiB(t)>>10)
	if serves > revisedServesIn {
		t.Errorf("it serves after %v, more than %v", serves, revisedServesIn)
	}
}
