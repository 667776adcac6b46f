package app

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"opsmon/app/test/apptest"
)

// How many tablets there are, each following its own station, which sends a signal a second; how many devices send
// them; and how many streams one credential has.
const (
	tabletCount   = 300
	tabletDevices = 10
	tabletsOfAKey = 30
	// eventSize is about what a station's status takes on the wire, for the floor beside which the service is measured.
	eventSize = 1600
)

// BenchmarkTablets checks what 300 connected tablets with an update a second each cost the service, a process of its
// own, over TLS: percent of a core (goal: 25) and resident MiB (goal: 100), and how many times that is of the least
// that net/http needs to send as many bytes to as many clients. -benchtime 10x measures ten seconds.
func BenchmarkTablets(b *testing.B) {
	apptest.Binary(b) // which takes its time
	protocols := []string{"http/1.1", "h2"}
	if testing.Short() {
		protocols = protocols[1:] // what browsers speak over TLS
	}
	for _, protocol := range protocols {
		b.Run(protocol, func(b *testing.B) {
			seconds := max(b.N, 10)
			if testing.Short() {
				seconds = 3
			}
			floorCPU, floorMemory := followed(b, bareService(b), protocol, seconds, func(int) (string, string) { return "/", "" }, nil)
			plant := tabletPlant(b)
			key := func(i int) (path, key string) {
				return fmt.Sprintf("/events?stationcodes=S%d", i), plant.keys[i/tabletsOfAKey]
			}
			cpu, memory := followed(b, plant.Process, protocol, seconds, key, plant.send)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(cpu, "%core")
			b.ReportMetric(memory, "MiB")
			b.ReportMetric(cpu/floorCPU, "x-cpu")
			b.ReportMetric(memory/floorMemory, "x-memory")
		})
	}
}

// plantOfTablets is a service with a plant of as many stations as there are tablets, a schedule running at each.
type plantOfTablets struct {
	*apptest.Process
	keys    []string // of tablets
	devices []string
	client  *http.Client
}

func tabletPlant(b *testing.B) *plantOfTablets {
	b.Helper()
	dir := b.TempDir()
	var stations strings.Builder
	for i := range tabletCount {
		fmt.Fprintf(&stations, `,{"code":"S%d","name":"Station %d","utilisationDowntimeThreshold":120000}`, i, i)
	}
	manifest := filepath.Join(dir, "plant.json")
	document := `{"version":"v1","account":{"id":"works","domain":"works.example","enableQuickScheduleStart":"on","skus":[{"code":"BOWL","name":"Bowl","unitsPerMinute":60,"allowUseInQuickSchedule":true}],` +
		`"plants":[{"code":"main","name":"Main works","timezone":"UTC","dayStartHour":6,"weekStartDay":0,"stationGroups":[{"code":"shaping","name":"Shaping","stations":[` + stations.String()[1:] + `]}]}]}}`
	if err := os.WriteFile(manifest, []byte(document), 0o600); err != nil {
		b.Fatal(err)
	}
	x := &plantOfTablets{client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}} // loopback
	admin := apptest.Initialise(b, dir, "--domain", "works.example", "--manifest", manifest)
	x.Process = apptest.StartService(b, dir, "--tls", "auto", "--clear-listen", "")
	b.Cleanup(x.client.CloseIdleConnections)
	for i := range tabletCount / tabletsOfAKey {
		x.keys = append(x.keys, x.ask(b, admin, "/key", `{"role":"readonly","name":"tablets `+strconv.Itoa(i)+`"}`).Key)
	}
	for d := range tabletDevices {
		var codes []string
		for i := d; i < tabletCount; i += tabletDevices {
			codes = append(codes, fmt.Sprintf(`"S%d"`, i))
		}
		x.devices = append(x.devices, x.ask(b, admin, "/device", fmt.Sprintf(`{"name":"gateway-%d","stationCodes":[%s]}`, d, strings.Join(codes, ","))).Token)
	}
	for i := range tabletCount {
		x.ask(b, admin, "/quick-schedule", fmt.Sprintf(`{"stationCode":"S%d","skuCode":"BOWL","initials":"ANN"}`, i))
	}
	return x
}

// ask does a write.
func (x *plantOfTablets) ask(b *testing.B, key, path, body string) (result struct{ Key, Token string }) {
	b.Helper()
	req, err := http.NewRequest(http.MethodPost, x.URL+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("X-API-KEY", key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := x.client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		b.Fatalf("%s: %s %s %v", path, resp.Status, text, err)
	}
	if err := json.Unmarshal(text, &struct{ Result any }{&result}); err != nil {
		b.Fatal(err)
	}
	return result
}

// send sends a second's signals, spread over it.
func (x *plantOfTablets) send(b *testing.B, second int) {
	for d, token := range x.devices {
		var signals []string
		for i := d; i < tabletCount; i += tabletDevices {
			signals = append(signals, fmt.Sprintf(`{"stationCode":"S%d","productive":true,"productionCompleteGood":1,"lineSpeed":%d}`, i, 50+second%5))
		}
		x.ask(b, token, "/signal", `{"signals":[`+strings.Join(signals, ",")+`]}`)
		time.Sleep(time.Second / tabletDevices / 2)
	}
}

// followed measures a service while tablets follow it for some seconds: percent of a core, and resident MiB.
func followed(b *testing.B, p *apptest.Process, protocol string, seconds int, ask func(i int) (path, key string), send func(b *testing.B, second int)) (core, mebibytes float64) {
	b.Helper()
	defer p.Kill()
	var got atomic.Int64
	for i := range tabletCount {
		path, key := ask(i)
		follow(b, p.URL+path, key, protocol, i, &got)
	}
	during := func(seconds int) {
		for second := range seconds {
			next := time.After(time.Second)
			if send != nil {
				send(b, second)
			}
			<-next
		}
	}
	during(5)
	got.Store(0)
	used, began := processTime(b, p), time.Now()
	during(seconds)
	core = 100 * (processTime(b, p) - used).Seconds() / time.Since(began).Seconds()
	if n := got.Load(); n < int64(tabletCount*seconds)*8/10 {
		b.Fatalf("%d updates came, of %d", n, tabletCount*seconds)
	}
	return core, float64(p.ResidentKiB(b)) / 1024
}

// follow is a tablet: a connection of its own, from one of several addresses, on which it counts events.
func follow(b *testing.B, url, key, protocol string, i int, got *atomic.Int64) {
	b.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i/100))}}
	transport := &http.Transport{DialContext: dialer.DialContext, ForceAttemptHTTP2: protocol == "h2", TLSClientConfig: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}} // loopback
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("X-API-KEY", key)
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		b.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || (resp.ProtoMajor == 2) != (protocol == "h2") {
		b.Fatalf("%s: %s %s", url, resp.Proto, resp.Status)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer transport.CloseIdleConnections()
		defer resp.Body.Close()
		for in := bufio.NewReader(resp.Body); ; {
			line, err := in.ReadSlice('\n')
			if err != nil && err != bufio.ErrBufferFull {
				return
			}
			if strings.HasPrefix(string(line), "event: station") {
				got.Add(1)
			}
		}
	}()
	b.Cleanup(func() { <-ended })
}

// processTime is what a process has used of processors.
func processTime(b *testing.B, p *apptest.Process) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ") // after the name, which may have blanks
	fields := strings.Fields(rest)
	ticks := 0
	for _, f := range fields[11:13] { // user and system time, in hundredths of a second
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// bareService runs TestBareService in a process of its own.
func bareService(b *testing.B) *apptest.Process {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestBareService$", "-test.timeout=0")
	cmd.Env = append(os.Environ(), "OPSMON_BARE=1")
	return apptest.StartCommand(b, "Serving on ", cmd)
}

// TestBareService is no test but the floor of BenchmarkTablets, in a process of its own: the least that sends each
// client of TLS so many bytes a second.
func TestBareService(t *testing.T) {
	if os.Getenv("OPSMON_BARE") == "" {
		return
	}
	event := []byte("event: station\ndata: " + strings.Repeat("x", eventSize) + "\n\n")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for rc := http.NewResponseController(w); ; {
			if _, err := w.Write(event); err != nil || rc.Flush() != nil {
				return
			}
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	fmt.Println("Serving on " + server.URL)
	select {} // until it is killed
}
