package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"opsmon/app/host/config"
	"opsmon/app/test/apptest"
)

// plantNetwork is a service in a network of its own, which no packet leaves.
type plantNetwork struct {
	t   *testing.T
	p   *apptest.Process
	dir string
}

// startOnNetwork starts the binary in a new network with the address 10.77.0.2.
func startOnNetwork(t *testing.T, dir string, args ...string) *plantNetwork {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root makes network namespaces")
	}
	script := `ip link set lo up && ip link add lan0 type veth peer name lan1 && ip link set lan1 up && ip link set lan0 up &&
		ip addr add 10.77.0.2/24 dev lan0 && ip route add default via 10.77.0.1 && exec "$0" "$@"`
	cmd := exec.Command("sh", append([]string{"-c", script, apptest.Binary(t), "serve", "--data-dir", dir}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	p := &apptest.Process{Cmd: cmd, Stderr: new(bytes.Buffer)}
	cmd.Stderr = p.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("NOT RUN: this machine does not let a test make a network: %v", err)
	}
	t.Cleanup(func() { p.Kill() })
	p.Lines = bufio.NewReader(out)
	line, err := p.Lines.ReadString('\n')
	if err != nil {
		cmd.Wait()
		t.Fatalf("it did not start: %s", p.Stderr)
	}
	p.URL = strings.TrimSpace(strings.TrimPrefix(line, "Serving on "))
	return &plantNetwork{t, p, dir}
}

// run runs a program in the network and gives what it prints, and its exit status.
func (n *plantNetwork) run(name string, args ...string) (string, int) {
	n.t.Helper()
	cmd := exec.Command("nsenter", append([]string{"-t", strconv.Itoa(n.p.Cmd.Process.Pid), "-n", name}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, io.Discard
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		n.t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// dial connects within the network.
func (n *plantNetwork) dial(_ context.Context, _, address string) (c net.Conn, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine, and nobody else gets it
		ns, e := os.Open(fmt.Sprintf("/proc/%d/ns/net", n.p.Cmd.Process.Pid))
		if err = e; err != nil {
			return
		}
		defer ns.Close()
		if err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err == nil {
			c, err = net.DialTimeout("tcp", address, 10*time.Second)
		}
	}()
	<-done
	return c, err
}

// get asks as a device on the network does that trusts an authority. What is not answered gives an error.
func (n *plantNetwork) get(client *http.Client, url string) (status int, body, to string, err error) {
	resp, err := client.Get(url)
	if err != nil {
		return 0, "", "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), resp.Header.Get("Location"), err
}

// TestOnTheNetwork: as it is installed, the service is reached over TLS by its address and its name, tells how to
// trust it, and follows the machine to another address while it runs.
func TestOnTheNetwork(t *testing.T) {
	apptest.Long(t)
	dir := filepath.Join(t.TempDir(), "Wärme 1")
	key := apptest.Initialise(t, dir, "--domain", "northgate.example")
	if err := os.WriteFile(filepath.Join(dir, config.File), []byte("listen: :8443\ntls: auto\nclearListen: :8080\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := startOnNetwork(t, dir)
	if n.p.URL != "https://10.77.0.2:8443" {
		t.Errorf("it serves on %s", n.p.URL)
	}
	out, _ := n.run(apptest.Binary(t), "trust", "--json", "--data-dir", dir)
	var trust struct {
		Fingerprint string `json:"fingerprint"`
		Authority   struct {
			Pages []string `json:"pages"`
			PEM   string   `json:"pem"`
		} `json:"authority"`
	}
	if err := json.Unmarshal([]byte(out), &trust); err != nil || len(trust.Authority.Pages) == 0 || trust.Authority.Pages[0] != "http://10.77.0.2:8080/trust" {
		t.Fatalf("app trust: %s %v", out, err)
	}
	device := apptest.Browser(t, trust.Authority.PEM)
	device.Transport.(*http.Transport).DialContext = n.dial
	for url, want := range map[string]int{
		"https://10.77.0.2:8443/health": 200, "http://10.77.0.2:8080/trust": 200, "https://10.77.0.2:8443/trust": 200, "http://10.77.0.2:8080/docs": 307,
	} {
		status, body, to, err := n.get(device, url)
		if err != nil || status != want || status == 307 && to != "https://10.77.0.2:8443/docs" || strings.HasSuffix(url, "/trust") && !strings.Contains(body, trust.Fingerprint[:11]) {
			t.Errorf("%s: %d to %q, %v; %.300s", url, status, to, err, body)
		}
	}
	link, _ := n.run(apptest.Binary(t), "login-link", "it@northgate.example", "--data-dir", dir, "--json")
	if !strings.Contains(link, `"link":"https://10.77.0.2:8443/link#`) {
		t.Errorf("a one-time link: %s", link)
	}
	type finding struct {
		Check, Problem string
		OK             bool
		Note           string
	}
	examine := func() map[string]finding {
		out, _ := n.run(apptest.Binary(t), "doctor", "--json", "--data-dir", dir)
		var list []finding
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatalf("app doctor: %s, %v", out, err)
		}
		found := map[string]finding{}
		for _, f := range list {
			if !found[f.Check].OK && found[f.Check].Check != "" {
				continue
			}
			found[f.Check] = f
		}
		return found
	}
	apptest.Eventually(t, "the appliance's name", func() bool { return strings.Contains(examine()["names"].Note, "opsmon.local leads here") })
	for _, check := range []string{"port", "certificate", "names", "settings", "rights"} {
		if f := examine()[check]; !f.OK {
			t.Errorf("app doctor: %+v", f)
		}
	}

	// The machine moves.
	for _, args := range [][]string{{"addr", "del", "10.77.0.2/24", "dev", "lan0"}, {"addr", "add", "10.77.0.3/24", "dev", "lan0"}} {
		if out, status := n.run("ip", args...); status != 0 {
			t.Fatalf("ip %v: %s", args, out)
		}
	}
	if status, _, _, err := n.get(device, "https://10.77.0.3:8443/health"); status != 200 {
		t.Errorf("at its new address: %d, %v", status, err)
	}
	if f := examine()["certificate"]; !f.OK {
		t.Errorf("app doctor at the new address: %+v", f)
	}
	if _, _, to, err := n.get(device, "http://10.77.0.3:8080/docs"); to != "https://10.77.0.3:8443/docs" {
		t.Errorf("redirect at the new address: %q, %v", to, err)
	}
	if status := n.p.End(t, syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d: %s", status, n.p.Stderr)
	}
	if strings.Contains(n.p.Stderr.String(), key) {
		t.Error("the log has the key")
	}
}
