package app

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"opsmon/app/test/apptest"
	"opsmon/kv"
	"opsmon/schema/schematest"
)

// startGoal is how long a start with the largest manifest may take on the reference machine until requests are
// answered, and readyGoal until all is, what goes on at the stations too. Other machines are slower, and busy ones
// slower still: the test fails only when a start also takes more of the floors of the same run than it should (4.8 and
// 64 times, measured on two busy cores).
const (
	startGoal = 150 * time.Millisecond
	readyGoal = 2 * time.Second

	startFloors = 10
	readyFloors = 100
)

// TestStart measures the time from the start of the process until GET /auth/profile answers 200, and GET /ready, with
// 10,000 stations in the store, against two floors of the same run: the same binary printing its version, and the
// store's bytes read.
func TestStart(t *testing.T) {
	apptest.Long(t)
	dir := t.TempDir()
	manifest := filepath.Join(dir, "large.json")
	if err := os.WriteFile(manifest, schematest.Large(10_000, 30_000), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	key := apptest.Initialise(t, data, "--domain", "large.example", "--manifest", manifest)

	version := func() time.Duration { return median(t, func() { apptest.Command(t, "version") }) }
	read := func() time.Duration {
		return median(t, func() {
			s, err := kv.Open(kv.Config{Path: filepath.Join(data, StoreFile), Migrations: migrations})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.ReadFile(filepath.Join(data, StoreFile)); err != nil {
				t.Fatal(err)
			}
		})
	}
	before := version() + read()
	var services []*apptest.Process
	until := func(path string) time.Duration {
		return median(t, func() {
			p := apptest.StartService(t, data)
			for p.Status(http.MethodGet, path, key, "") != http.StatusOK {
				time.Sleep(time.Millisecond)
			}
			services = append(services, p)
		}, func() { services[len(services)-1].Kill() })
	}
	serves, ready := until("/auth/profile"), until("/ready")
	floors := max(before, version()+read()) // the machine may have become busy meanwhile
	t.Logf("serves after %v, ready after %v (medians of 5); floors %v; %.1f and %.1f times these",
		serves, ready, floors, float64(serves)/float64(floors), float64(ready)/float64(floors))
	if serves > startGoal && serves > startFloors*floors {
		t.Errorf("it serves after %v, far more than %v", serves, startGoal)
	}
	if ready > readyGoal && ready > readyFloors*floors {
		t.Errorf("it is ready after %v, far more than %v", ready, readyGoal)
	}
}

// median returns the median time of five runs of fn; after runs after each and is not counted.
func median(t *testing.T, fn func(), after ...func()) time.Duration {
	t.Helper()
	times := make([]time.Duration, 5)
	for i := range times {
		start := time.Now()
		fn()
		times[i] = time.Since(start)
		for _, f := range after {
			f()
		}
	}
	slices.Sort(times)
	return times[2]
}

// TestPortZero: the address that is printed is one that can be opened.
func TestPortZero(t *testing.T) {
	apptest.Long(t)
	p := apptest.StartService(t, t.TempDir())
	_, port, err := net.SplitHostPort(p.URL[len("http://"):])
	if err != nil || port == "0" {
		t.Errorf("it serves on %s, %v", p.URL, err)
	}
	if status := p.Status(http.MethodGet, "/ready", "", ""); status != http.StatusOK {
		t.Errorf("an empty store that waits for its set-up is not ready: %d", status)
	}
}
