package kill_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"opsmon/app/test/apptest"
)

// TestBinarySize: the whole product has at most 25 MiB.
func TestBinarySize(t *testing.T) {
	info, err := os.Stat(apptest.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f MiB", float64(info.Size())/(1<<20))
	if info.Size() > 25<<20 {
		t.Errorf("the binary has %d bytes, more than 25 MiB", info.Size())
	}
}

// TestNothingCallsMethodsByName: if a program may call methods by names known only at run time, the linker keeps every
// exported method of every type, about 4 MB. The templates of the standard library do so.
func TestNothingCallsMethodsByName(t *testing.T) {
	program, err := os.ReadFile(apptest.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(program, []byte("reflect.Value.Field")) {
		t.Fatal("the binary does not hold the names of its functions")
	}
	for _, name := range []string{"reflect.Value.MethodByName", "text/template.(*state)"} {
		if bytes.Contains(program, []byte(name)) {
			t.Errorf("%s is in the binary; see what leads to it: go build -ldflags=-dumpdep", name)
		}
	}
}

// TestSecondProcess: a directory has one service. A second one gets an error, and commands use the first.
func TestSecondProcess(t *testing.T) {
	dir := t.TempDir()
	apptest.Initialise(t, dir, "--domain", "northgate.example")
	p := apptest.StartService(t, dir)
	start := time.Now()
	_, stderr, status := apptest.Command(t, "serve", "--data-dir", dir, "--listen", "127.0.0.1:0")
	if status != 1 || !strings.Contains(stderr, "locked by another process") || !strings.Contains(stderr, "--data-dir") {
		t.Errorf("a second service: status %d, %s", status, stderr)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v to say so", took)
	}
	if out, stderr, status := apptest.Command(t, "user", "list", "--data-dir", dir); status != 0 || !strings.Contains(out, "it@northgate.example") {
		t.Errorf("a command: status %d, %s", status, stderr)
	}

	// A killed service leaves its socket behind, which blocks nothing.
	p.Kill()
	if _, err := os.Stat(filepath.Join(dir, "control.sock")); err != nil {
		t.Errorf("no socket was left over, so this test shows nothing: %v", err)
	}
	if _, stderr, status := apptest.Command(t, "user", "list", "--data-dir", dir); status != 0 {
		t.Errorf("a command after a kill: status %d, %s", status, stderr)
	}
	p = apptest.StartService(t, dir)
	host := strings.TrimPrefix(p.URL, "http://")
	other := t.TempDir()
	_, stderr, status = apptest.Command(t, "serve", "--data-dir", other, "--listen", host)
	if status != 1 || !strings.Contains(stderr, "address already in use") || !strings.Contains(stderr, "choose another port with --listen") {
		t.Errorf("a port in use: status %d, %s", status, stderr)
	}
}

// TestTermination: requests in progress are completed, the store is closed, and the exit status is 0.
func TestTermination(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			key := apptest.Initialise(t, dir, "--domain", "northgate.example")
			p := apptest.StartService(t, dir)
			c, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			body := `{"enableTasks":"on"}`
			fmt.Fprintf(c, "POST /account HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", key, len(body))
			in := bufio.NewReader(c)
			if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
				t.Fatalf("%q, %v", line, err)
			}
			if _, err := in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			answered := make(chan string, 1)
			go func() {
				apptest.Eventually(t, "the end of listening", func() bool { return p.Status(http.MethodGet, "/health", "", "") == 0 })
				io.WriteString(c, body)
				line, err := in.ReadString('\n')
				answered <- fmt.Sprint(line, err)
			}()
			if status := p.End(t, signal); status != 0 {
				t.Errorf("exit status %d: %s", status, p.Stderr)
			}
			if line := <-answered; !strings.HasPrefix(line, "HTTP/1.1 200 OK") {
				t.Errorf("the request that ran got %q", line)
			}
			if out, _, status := apptest.Command(t, "account", "show", "--json", "--data-dir", dir); status != 0 || !strings.Contains(out, `"enableTasks":"on"`) {
				t.Errorf("its change is not there: %s", out)
			}
			if _, err := os.Stat(filepath.Join(dir, "control.sock")); !os.IsNotExist(err) {
				t.Errorf("the control socket is still there: %v", err)
			}
		})
	}
}

// TestDamagedStore: an unreadable store is not changed, and the error has instructions. The service does not exit,
// because the system would restart it endlessly.
func TestDamagedStore(t *testing.T) {
	dir := t.TempDir()
	apptest.Initialise(t, dir, "--domain", "northgate.example")
	whole, err := os.ReadFile(filepath.Join(dir, "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"cut short": whole[:5*os.Getpagesize()], "empty": {}, "rubbish": bytes.Repeat([]byte("rubbish "), len(whole)/8), "a few bytes": whole[:100],
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "app.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			refused := func() {
				for _, args := range [][]string{{"check"}, {"init", "--domain", "northgate.example", "--email", "it@northgate.example"}} {
					out, stderr, status := apptest.Command(t, append(args, "--data-dir", dir)...)
					if status != 1 || out != "" && args[0] != "check" || !strings.Contains(stderr, "damaged") || !strings.Contains(stderr, "backup") || strings.Contains(stderr, "goroutine") {
						t.Errorf("%s: status %d, %s%s", args[0], status, out, stderr)
					}
				}
			}
			refused()
			p := apptest.StartService(t, dir)
			for path, want := range map[string]int{"/health": 200, "/ready": 503, "/account": 503} {
				if status := p.Status(http.MethodGet, path, "opk_x", ""); status != want {
					t.Errorf("%s: %d, want %d", path, status, want)
				}
			}
			refused()
			if status := p.End(t, os.Interrupt); status != 0 {
				t.Errorf("exit status %d: %s", status, p.Stderr)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
				t.Errorf("the damaged file was changed, %v", err)
			}
		})
	}
}

// TestReadOnlyDirectory: a directory without write permission is reported at the start.
func TestReadOnlyDirectory(t *testing.T) {
	dir := apptest.Mount(t, "size=16m")
	apptest.Initialise(t, dir, "--domain", "northgate.example")
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"user", "list"}} {
		out, stderr, status := apptest.Command(t, append(args, "--data-dir", dir)...)
		if status != 1 || out != "" || !strings.Contains(stderr, "cannot be written") {
			t.Errorf("%s: status %d, %s%s", args[0], status, out, stderr)
		}
	}
	_, stderr, status := apptest.Command(t, "init", "--domain", "northgate.example", "--email", "it@northgate.example", "--data-dir", filepath.Join(dir, "new"))
	if status != 1 || !strings.Contains(stderr, "choose another with --data-dir") {
		t.Errorf("init in a new directory: status %d, %s", status, stderr)
	}
}

// TestFullDisk: on a full disk, writes are answered 503 with Retry-After and store nothing, reads work, and writes
// succeed automatically when there is space again.
func TestFullDisk(t *testing.T) {
	dir := apptest.Mount(t, "size=8m")
	key := apptest.Initialise(t, dir, "--domain", "northgate.example")
	p := apptest.StartService(t, dir)
	filler := filepath.Join(dir, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, apptest.Endless{}); err == nil {
		t.Fatal("the disk does not get full")
	}
	f.Close()
	made, refused := 0, 0
	for range 4000 { // until the free pages in the file are used up
		resp, err := p.Do(http.MethodPost, "/key", key, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == http.StatusOK {
			made++
			continue
		}
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
			t.Fatalf("a write on a full disk: %s, Retry-After %q", resp.Status, resp.Header.Get("Retry-After"))
		}
		if refused++; refused == 5 {
			break
		}
	}
	if refused == 0 {
		t.Fatal("no write was refused, so this test shows nothing")
	}
	if status := p.Status(http.MethodGet, "/account", key, ""); status != http.StatusOK {
		t.Errorf("a read on a full disk: %d", status)
	}
	// A small change may still find free pages in the file.
	for i := 0; ; i++ {
		_, stderr, status := apptest.Command(t, "user", "add", fmt.Sprintf("new%d@northgate.example", i), "--role", "member", "--data-dir", dir)
		if status == 0 && i < 20 {
			continue
		}
		if status != 1 || !strings.Contains(stderr, "full") {
			t.Errorf("a command on a full disk: status %d, %s", status, stderr)
		}
		break
	}
	told := func(full bool) {
		t.Helper()
		out, stderr, status := apptest.Command(t, "status", "--data-dir", dir)
		if status != 0 || !strings.Contains(out, "Ready      yes") || strings.Contains(out, "full: nothing can be saved, reads continue. Free space on the disk of "+dir) != full {
			t.Errorf("full: %v: status %d, %s%s", full, status, out, stderr)
		}
	}
	told(true)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if status := p.Status(http.MethodPost, "/key", key, ""); status != http.StatusOK {
		t.Errorf("a write when there is room again: %d", status)
	}
	told(false)
	agree(t, p, key)
	var keys struct {
		Results []any `json:"results"`
	}
	if _, err := p.Do(http.MethodGet, "/key", key, "", &keys); err != nil || len(keys.Results) != made+2 {
		t.Errorf("%d keys, want %d, %v", len(keys.Results), made+2, err)
	}
	if out, stderr, status := apptest.Command(t, "check", "--data-dir", dir); status != 0 {
		t.Errorf("check: %s%s", out, stderr)
	}
	if status := p.End(t, syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d: %s", status, p.Stderr)
	}
}

// TestFullDiskUnderLoad fills and frees the disk while many clients write. Meanwhile the service is ready and answers
// reads. Afterwards writes succeed automatically, and every answered one is present, also after a kill on the full
// disk, on which the service starts again.
func TestFullDiskUnderLoad(t *testing.T) {
	dir := apptest.Mount(t, "size=6m")
	admin := apptest.Initialise(t, dir, "--domain", "northgate.example")
	other := secondAccount(t, dir)
	l := newLedger(admin, other)
	l.refused = map[string]int{}
	refusals := func() (n int) {
		l.note(func() {
			for _, of := range l.refused {
				n += of
			}
		})
		return n
	}
	answered := func() (n int) {
		l.note(func() { n = len(l.made) + len(l.revoked) + len(l.revisions) })
		return n
	}
	full := func(p *apptest.Process) bool {
		var out struct {
			Result struct {
				Store struct{ Full bool }
			}
		}
		if resp, err := p.Do(http.MethodGet, "/ready", "", "", &out); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("/ready on a full disk: %v, %v", resp, err)
		}
		return out.Result.Store.Full
	}
	p := apptest.StartService(t, dir)
	for round := range fullDiskRounds {
		end := load(t, p, l, admin, other, round*10_000)
		before := answered()
		apptest.Eventually(t, "an answered write", func() bool { return answered() > before })
		before = refusals()
		free := apptest.Fill(t, dir)
		apptest.Eventually(t, "a refused write", func() bool { return refusals() > before+16 })
		apptest.Eventually(t, "a full disk in /ready", func() bool { return full(p) })
		for path, key := range map[string]string{"/account": admin, "/account/manifest": other, "/audit": admin, "/health": ""} {
			if status := p.Status(http.MethodGet, path, key, ""); status != http.StatusOK {
				t.Errorf("%s on a full disk: %d", path, status)
			}
		}
		if round%2 == 1 {
			p.Kill()
			end()
			p = apptest.StartService(t, dir) // without space
			verify(t, p, l, admin, other)
			end = load(t, p, l, admin, other, round*10_000+5000)
			before = refusals()
			apptest.Eventually(t, "a refused write after the start", func() bool { return refusals() > before })
		}
		free()
		before = answered()
		apptest.Eventually(t, "writes by themselves", func() bool { return answered() > before+16 })
		apptest.Eventually(t, "no full disk in /ready", func() bool { return !full(p) })
		end()
	}
	n := verify(t, p, l, admin, other)
	t.Logf("%d answered writes, %v refused", n, l.refused)
	if out, stderr, status := apptest.Command(t, "check", "--data-dir", dir); status != 0 {
		t.Errorf("check: %s%s", out, stderr)
	}
	if status := p.End(t, syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d: %s", status, p.Stderr)
	}
}

// TestDemo: the command printed by the demo works when it is pasted, and nothing is left behind.
func TestDemo(t *testing.T) {
	apptest.Binary(t) // it is built in the shared temporary directory
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		temporary := t.TempDir()
		t.Setenv("TMPDIR", temporary)
		p := apptest.Start(t, "URL", "demo", "--listen", "127.0.0.1:0")
		curl := ""
		for !strings.HasPrefix(curl, "curl ") {
			line, err := p.Lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			curl = strings.TrimSpace(line)
		}
		if _, err := exec.LookPath("curl"); err == nil {
			out, err := exec.Command("sh", "-c", curl).Output()
			if err != nil || !strings.Contains(string(out), `"isSuccess":true`) {
				t.Errorf("%s: %v, %.200s", curl, err, out)
			}
		}
		key, _, _ := strings.Cut(strings.TrimPrefix(curl, `curl -H "X-API-KEY: `), `"`)
		if !strings.HasSuffix(curl, p.URL+"/account") || p.Status(http.MethodGet, "/account", key, "") != http.StatusOK {
			t.Errorf("the line to paste is %s", curl)
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) != 1 {
			t.Errorf("the demo's directory is not there, so this test shows nothing: %v, %v", left, err)
		}
		if status := p.End(t, signal); status != 0 {
			t.Errorf("%v: exit status %d: %s", signal, status, p.Stderr)
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
			t.Errorf("%v left %v, %v", signal, left, err)
		}
	}
}

// TestMemory: at rest, after some requests with a plant of about 40 KB, at most 40 MiB are resident. The time of
// garbage collection varies it by 5 MiB: the smallest of three services counts, and none may exceed the limit by more
// than that.
func TestMemory(t *testing.T) {
	const most, garbage = 40 << 10, 5 << 10 // KiB
	least := math.MaxInt
	for range 3 {
		kib := residentAfterRequests(t)
		t.Logf("%.1f MiB resident", float64(kib)/1024)
		if kib > most+garbage {
			t.Errorf("%d KiB are resident, far more than 40 MiB", kib)
		}
		least = min(least, kib)
	}
	if least > most {
		t.Errorf("%d KiB at least are resident, more than 40 MiB", least)
	}
}

// residentAfterRequests returns the resident memory of a new service after some requests, KiB.
func residentAfterRequests(t *testing.T) (kib int) {
	t.Helper()
	dir := t.TempDir()
	manifest := filepath.Join("..", "..", "demo", "plant.json")
	key := apptest.Initialise(t, dir, "--domain", "demo.example", "--manifest", manifest)
	p := apptest.StartService(t, dir)
	defer p.Kill()
	for _, path := range []string{"/", "/docs", "/account", "/account/manifest", "/auth/profile", "/key", "/user", "/audit", "/openapi.json", "/metrics", "/account/manifest/revisions"} {
		for range 20 {
			if status := p.Status(http.MethodGet, path, key, ""); status != http.StatusOK {
				t.Fatalf("%s: %d", path, status)
			}
		}
	}
	document, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if status := p.Status(http.MethodPut, "/account/manifest", key, string(document)); status != http.StatusOK {
			t.Fatalf("PUT /account/manifest: %d", status)
		}
	}
	return p.ResidentKiB(t)
}
