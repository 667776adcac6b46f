//go:build rig

package install_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"opsmon/app/host/service/boottest"
	"opsmon/app/test/apptest"
)

// plantPC is a booted Linux with the binary in /root, where a person would have put it. Its Machine is nil if none can
// be booted.
type plantPC struct{ *boottest.Machine }

func newPlantPC(t *testing.T) plantPC {
	t.Helper()
	program, err := os.ReadFile(apptest.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	m := boottest.Boot(t)
	if m != nil {
		m.Put(t, "/root/app", program, 0o755)
	}
	return plantPC{m}
}

// show returns a property of the unit.
func (m plantPC) show(t *testing.T, property string) string {
	t.Helper()
	return strings.TrimSpace(m.Must(t, "systemctl", "show", "--property="+property, "--value", "app.service"))
}

// fails runs a command that must exit with status 1 and print all of what. It returns its standard error.
func (m plantPC) fails(t *testing.T, args []string, what ...string) string {
	t.Helper()
	stdout, stderr, status := m.Run(t.Context(), nil, args...)
	if status != 1 {
		t.Fatalf("%v: status %d, want 1: %s%s", args, status, stdout, stderr)
	}
	for _, w := range what {
		if !strings.Contains(stderr, w) {
			t.Errorf("%v does not say %q: %s", args, w, stderr)
		}
	}
	return stderr
}

// changed waits until the service runs as a process other than pid and is ready.
func (m plantPC) changed(t *testing.T, pid string) {
	t.Helper()
	apptest.Eventually(t, "the service's next process", func() bool {
		now := m.show(t, "MainPID")
		return now != "0" && now != pid && m.show(t, "ActiveState") == "active"
	})
}

// rights returns a file's owner, group and mode.
func (m plantPC) rights(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(m.Must(t, "stat", "--format=%U %G %a", name))
}

// TestInstalled installs the service on a booted Linux as plant IT would, and checks it for a while.
func TestInstalled(t *testing.T) {
	if testing.Short() {
		t.Skip("booting a machine takes some seconds")
	}
	t.Parallel() // it mostly waits
	m := newPlantPC(t)
	if m.Machine == nil {
		return
	}
	for _, step := range []struct {
		name string
		run  func(t *testing.T, m plantPC)
	}{
		{"status before", statusBefore},
		{"dry run", dryRun},
		{"a directory of somebody else's", foreignDirectory},
		{"a network", onNetwork},
		{"install", freshInstall},
		{"install again", installAgain},
		{"doctor", examined},
		{"another program", installAnother},
		{"kill", killed},
		{"a mapping", mapped},
		{"a request that runs at the stop", drained},
		{"status for others", statusForOthers},
		{"wrong settings", wrongSettings},
		{"a damaged store", damagedStore},
		{"uninstall", uninstalled},
		{"a directory of another name", unusualDirectory},
		{"a service that hangs", hangs},
		{"a full disk", fullDisk},
		{"purge", purged},
	} {
		if !t.Run(step.name, func(t *testing.T) { step.run(t, m) }) {
			t.Logf("%s", m.Must(t, "journalctl", "--no-pager", "--unit=app", "--lines=40", "--output=short-precise"))
			return // the next ones depend on it
		}
	}
}

func statusBefore(t *testing.T, m plantPC) {
	if out := m.Must(t, "/root/app", "status"); !strings.Contains(out, "no; install the service with: app install") {
		t.Errorf("status: %s", out)
	}
	for _, command := range []string{"start", "stop", "restart", "uninstall"} {
		m.fails(t, []string{"/root/app", command}, "not installed", "app install")
	}
}

func dryRun(t *testing.T, m plantPC) {
	if out := m.Must(t, "/root/app", "install", "--dry-run"); !strings.Contains(out, "- make the system user app\n") || !strings.Contains(out, "- start the service\n") {
		t.Errorf("it says %s", out)
	}
	for _, path := range []string{"/usr/local/bin/app", "/var/lib/app", "/etc/systemd/system/app.service"} {
		if _, _, status := m.Run(t.Context(), nil, "test", "-e", path); status == 0 {
			t.Errorf("%s was made", path)
		}
	}
	if passwd := m.Must(t, "cat", "/etc/passwd"); strings.Contains(passwd, "\napp:") {
		t.Error("the user was made")
	}
}

func foreignDirectory(t *testing.T, m plantPC) {
	m.Must(t, "install", "-d", "-m", "751", "/srv/plant")
	m.fails(t, []string{"/root/app", "install", "--data-dir", "/srv/plant"}, "belongs to another user", "chown -R app:app '/srv/plant'", "--data-dir")
	if rights := m.rights(t, "/srv/plant"); rights != "root root 751" {
		t.Errorf("its rights are now %s", rights)
	}
	m.fails(t, []string{"/root/app", "install", "--data-dir", "/tmp/plant"}, "must not be below /tmp")
}

func freshInstall(t *testing.T, m plantPC) {
	out := m.Must(t, "/root/app", "install")
	for _, want := range []string{"The service runs, and starts with this machine.", "https://", ":8443", "app init --domain", "one-time code", "app trust", "/var/lib/app/app.yaml"} {
		if !strings.Contains(out, want) {
			t.Errorf("install does not say %q: %s", want, out)
		}
	}
	// The machine's own name in .local is not answered: the service answers only for the appliance's name.
	for _, text := range []string{out, m.Must(t, "app", "status"), m.Must(t, "app", "trust")} {
		for _, found := range regexp.MustCompile(`//([^/:]+\.local)\b`).FindAllStringSubmatch(text, -1) {
			if found[1] != "opsmon.local" {
				t.Errorf("%s is printed, and nobody answers to it: %s", found[1], text)
			}
		}
	}
	for path, want := range map[string]string{
		"/var/lib/app": "app app 700", "/var/lib/app/app.yaml": "app app 600", "/var/lib/app/app.db": "app app 600",
		"/usr/local/bin/app": "root root 755", "/etc/systemd/system/app.service": "root root 644",
	} {
		if got := m.rights(t, path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if enabled := strings.TrimSpace(m.Must(t, "systemctl", "is-enabled", "app")); enabled != "enabled" {
		t.Errorf("at the next boot: %s", enabled)
	}
	if text := m.show(t, "StatusText"); !strings.HasPrefix(text, "Serving on https://") {
		t.Errorf("systemd is told %q", text)
	}
	if out := m.Must(t, "journalctl", "--unit=app", "--priority=6", "--output=cat"); !strings.Contains(out, "msg=listening") || strings.Contains(out, "<6>") {
		t.Errorf("the journal has %s", out)
	}
	if out := m.Must(t, "journalctl", "--unit=app", "--priority=4", "--output=cat"); strings.Contains(out, "msg=listening") {
		t.Errorf("the journal takes news for warnings: %s", out)
	}
	var report struct {
		Installed, Enabled, Running bool
		Program                     string
		Service                     struct {
			Version   string
			Ready     bool
			SetupCode string
		}
		Unread []string
	}
	status := m.Must(t, "app", "status", "--json")
	if err := json.Unmarshal([]byte(status), &report); err != nil || !report.Installed || !report.Enabled || !report.Running || !report.Service.Ready ||
		report.Program != "/usr/local/bin/app" || report.Service.Version == "" || !strings.Contains(m.Must(t, "app", "version"), report.Service.Version) || len(report.Unread) != 0 {
		t.Errorf("status %v: %s", err, status)
	}
	if code := report.Service.SetupCode; code == "" || strings.Contains(m.Must(t, "journalctl", "--unit=app", "--output=cat"), code) {
		t.Errorf("the one-time code %q is in the journal, or there is none", code)
	}
	score := m.Must(t, "systemd-analyze", "security", "--no-pager", "app.service")
	t.Log(score[strings.LastIndex(score, "→"):])
}

func installAgain(t *testing.T, m plantPC) {
	pid := m.show(t, "MainPID")
	m.Must(t, "sh", "-c", "echo '# mine' >> /var/lib/app/app.yaml")
	out := m.Must(t, "/root/app", "install")
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "- ") && strings.Contains(line, "start the service") && !strings.Contains(line, "is so already") {
			t.Errorf("it does %s", line)
		}
	}
	if now := m.show(t, "MainPID"); now != pid {
		t.Error("the service was started again for nothing")
	}
	if text := m.Must(t, "tail", "-n", "1", "/var/lib/app/app.yaml"); text != "# mine\n" {
		t.Errorf("app.yaml now ends with %q", text)
	}
}

func installAnother(t *testing.T, m plantPC) {
	pid := m.show(t, "MainPID")
	m.Must(t, "sh", "-c", "echo >> /root/app") // still a program, with another hash
	m.Must(t, "/root/app", "install")
	if m.show(t, "MainPID") == pid {
		t.Error("the old program runs still")
	}
	m.Must(t, "cmp", "/root/app", "/usr/local/bin/app")
	if left := m.Must(t, "ls", "-A", "/usr/local/bin"); strings.Contains(left, ".new") {
		t.Errorf("left over: %s", left)
	}
}

func killed(t *testing.T, m plantPC) {
	pid := m.show(t, "MainPID")
	start := time.Now()
	m.Must(t, "kill", "-9", pid)
	m.changed(t, pid)
	m.Must(t, "app", "start") // waits until it is ready
	took := time.Since(start)
	t.Logf("killed, and ready again after %v", took)
	if took > 20*time.Second { // the pause is 2 s, and a slow machine starts slowly
		t.Errorf("ready after %v, more than 20 s", took)
	}
}

// mapped checks that the worker process for mappings works in the service's sandbox.
func mapped(t *testing.T, m plantPC) {
	var frames []byte
	for _, document := range []string{`{"expression":"{\"a\": b * 2}","memory":268435456,"timeout":2000000000,"output":1000}`, `{"input":{"b":7}}`} {
		n := len(document)
		frames = append(append(frames, byte(n>>24), byte(n>>16), byte(n>>8), byte(n)), document...)
	}
	m.Put(t, "/var/lib/app/frames", frames, 0o644)
	m.Must(t, "chown", "app:app", "/var/lib/app/frames")
	m.dropIn(t, "ExecStartPre=/bin/sh -c '/usr/local/bin/app transform-worker </var/lib/app/frames >/var/lib/app/answer'\n")
	m.Must(t, "app", "restart")
	if answer := m.Must(t, "cat", "/var/lib/app/answer"); !strings.Contains(answer, `{"value":{"a":14}}`) {
		t.Errorf("the worker says %q", answer)
	}
	m.Must(t, "sh", "-c", "rm /etc/systemd/system/app.service.d/90-test.conf /var/lib/app/frames /var/lib/app/answer && systemctl daemon-reload && app restart")
}

func drained(t *testing.T, m plantPC) {
	m.Must(t, "app", "stop")
	m.Must(t, "sh", "-c", "cp -p /var/lib/app/app.yaml /root/app.yaml; printf 'listen: 127.0.0.1:8080\\n' > /var/lib/app/app.yaml")
	m.Must(t, "app", "start")
	var made struct{ APIKey string }
	out := m.Must(t, "app", "init", "--json", "--domain", "northgate.example", "--email", "it@northgate.example")
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c, err := m.Dial("127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := `{"enableTasks":"on"}`
	fmt.Fprintf(c, "POST /account HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", made.APIKey, len(body))
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan string, 1)
	go func() {
		out, stderr, status := m.Run(context.WithoutCancel(t.Context()), nil, "app", "stop")
		stopped <- fmt.Sprint(status, out, stderr)
	}()
	apptest.Eventually(t, "the stop", func() bool { return m.show(t, "ActiveState") == "deactivating" })
	io.WriteString(c, body)
	if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 200 OK") {
		t.Errorf("the request that ran got %q, %v", line, err)
	}
	if said := <-stopped; !strings.HasPrefix(said, "0") {
		t.Errorf("app stop: %s", said)
	}
	if result := m.show(t, "Result"); result != "success" {
		t.Errorf("it stopped with %s", result)
	}
	m.Must(t, "sh", "-c", "cp -p /root/app.yaml /var/lib/app/app.yaml")
	m.Must(t, "app", "start")
	if out := m.Must(t, "app", "account", "show", "--json"); !strings.Contains(out, `"enableTasks":"on"`) {
		t.Errorf("the request's change is not there: %s", out)
	}
}

func statusForOthers(t *testing.T, m plantPC) {
	out := m.Must(t, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "app", "status")
	for _, want := range []string{"/usr/local/bin/app; starts with this machine", "since 20", "Not read: the status from the service itself"} {
		if !strings.Contains(out, want) {
			t.Errorf("status does not say %q: %s", want, out)
		}
	}
	m.fails(t, []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "app", "install"}, "run: sudo app install")
	m.fails(t, []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "app", "stop"}, "run: sudo app stop")
}

func wrongSettings(t *testing.T, m plantPC) {
	m.Must(t, "sh", "-c", "echo 'lissten: :1' >> /var/lib/app/app.yaml")
	const sentence = "unknown key lissten; the keys are"
	m.fails(t, []string{"app", "restart"}, "Its last words", "/var/lib/app/app.yaml line", sentence)
	time.Sleep(3 * time.Second) // longer than the pause before a restart
	if state, again := m.show(t, "ActiveState"), m.show(t, "NRestarts"); state != "failed" || again != "0" {
		t.Errorf("it is %s after %s starts more, and it can never start", state, again)
	}
	if out := m.Must(t, "journalctl", "--unit=app", "--priority=3", "--output=cat"); !strings.Contains(out, sentence) {
		t.Errorf("the journal's errors are %s", out)
	}
	if out := m.Must(t, "app", "status"); !strings.Contains(out, "no, it failed") {
		t.Errorf("status: %s", out)
	}
	m.fails(t, []string{"/root/app", "install"}, sentence)
	m.Must(t, "sed", "-i", "/^lissten/d", "/var/lib/app/app.yaml")

	m.Must(t, "sh", "-c", "chown root /var/lib/app/app.db")
	m.fails(t, []string{"app", "start"}, "permission denied", "chown -R app:app '/var/lib/app'")
	m.Must(t, "sh", "-c", "app stop && chown -R app:app /var/lib/app")

	// A port in use may become free: the start is retried.
	const holder = "systemd-run --quiet --unit=holder --property=Type=exec /root/app demo --listen 127.0.0.1:9000"
	m.Must(t, "sh", "-c", holder+" && cp -p /var/lib/app/app.yaml /root/app.yaml && sed -i '/^tls\\|^clear\\|^mqtt\\|^  listen/d; s/^listen.*/listen: 127.0.0.1:9000/' /var/lib/app/app.yaml")
	apptest.Eventually(t, "the port's holder", func() bool {
		c, err := m.Dial("127.0.0.1:9000")
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	m.fails(t, []string{"app", "start"}, "127.0.0.1:9000, which cannot be listened on", "another program may be using it")
	m.Must(t, "systemctl", "stop", "holder")
	m.changed(t, "0")
	m.Must(t, "sh", "-c", "cp -p /root/app.yaml /var/lib/app/app.yaml && app restart")
}

// A damaged store: the service stays up, reports the problem, and is not restarted repeatedly.
func damagedStore(t *testing.T, m plantPC) {
	m.Must(t, "sh", "-c", "app stop && cp -p /var/lib/app/app.db /root/app.db && truncate --size=20000 /var/lib/app/app.db")
	begin := time.Now()
	m.fails(t, []string{"app", "start"}, "did not become ready", "damaged")
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it said so after %v", took)
	}
	if state, again := m.show(t, "ActiveState"), m.show(t, "NRestarts"); state != "active" || again != "0" {
		t.Errorf("it is %s after %s starts more", state, again)
	}
	if text := m.show(t, "StatusText"); !strings.Contains(text, "damaged") {
		t.Errorf("systemd is told %q", text)
	}
	if out := m.Must(t, "app", "status"); !strings.Contains(out, "Ready        no: ") || !strings.Contains(out, "damaged") {
		t.Errorf("status: %s", out)
	}
	m.Must(t, "sh", "-c", "app stop && cp -p /root/app.db /var/lib/app/app.db && app start")
}

func uninstalled(t *testing.T, m plantPC) {
	if out := m.Must(t, "app", "uninstall"); !strings.Contains(out, "Its data are kept in /var/lib/app") || !strings.Contains(out, "rm -r /var/lib/app") {
		t.Errorf("it says %s", out)
	}
	for _, path := range []string{"/usr/local/bin/app", "/etc/systemd/system/app.service", "/etc/systemd/system/multi-user.target.wants/app.service"} {
		if _, _, status := m.Run(t.Context(), nil, "test", "-e", path); status == 0 {
			t.Errorf("%s is still there", path)
		}
	}
	if out := m.Must(t, "/root/app", "account", "list"); !strings.Contains(out, "northgate") {
		t.Errorf("the data: %s", out)
	}
	if out := m.Must(t, "/root/app", "status"); !strings.Contains(out, "no; install the service with: app install") {
		t.Errorf("status: %s", out)
	}
}

// unusual is a data directory with characters that need escaping in a unit file.
const unusual = `/srv/Werk 1/Störung 100% "neu"`

func unusualDirectory(t *testing.T, m plantPC) {
	m.Must(t, "/root/app", "install", "--data-dir", unusual)
	// Another folder for backups: the next install allows it in the sandbox.
	m.Must(t, "install", "-d", "-o", "app", "/mnt/Sicherung 1")
	m.Must(t, "sh", "-c", `printf 'backup:\n  dir: /mnt/Sicherung 1\n' >> "$1/app.yaml"`, "sh", unusual)
	if _, warning, status := m.Run(t.Context(), nil, "app", "restart"); status != 0 || !strings.Contains(warning, "may not write to /mnt/Sicherung 1 yet; let it with: app install") {
		t.Errorf("app restart: %d, %s", status, warning)
	}
	m.Must(t, "/root/app", "install", "--data-dir", unusual)
	if _, warning, status := m.Run(t.Context(), nil, "app", "restart"); status != 0 || warning != "" {
		t.Errorf("app restart: %d, %s", status, warning)
	}
	// A new program keeps the data, wherever it is.
	m.Must(t, "sh", "-c", "echo >> /root/app && /root/app install")
	if out := m.Must(t, "app", "status"); !strings.Contains(out, unusual) {
		t.Errorf("after an install without --data-dir: %s", out)
	}
	// Operations on the service's files work in the sandbox, too.
	m.Must(t, "app", "--data-dir", unusual, "init", "--domain", "northgate.example", "--email", "it@northgate.example")
	m.Must(t, "app", "--data-dir", unusual, "backup", "/root/by-hand.appbackup")
	m.Must(t, "app", "--data-dir", unusual, "compact")
	m.Must(t, "app", "--data-dir", unusual, "restore", "--yes", "/root/by-hand.appbackup")
	m.Must(t, "app", "--data-dir", unusual, "check")
	if out := m.Must(t, "nsenter", "--target", m.show(t, "MainPID"), "--mount", "sh", "-c", "touch '/mnt/Sicherung 1/x' && ! touch /mnt/y 2>&1"); !strings.Contains(out, "Read-only file system") {
		t.Errorf("outside of its folders: %s", out)
	}
	if rights := m.rights(t, unusual); rights != "app app 700" {
		t.Errorf("its rights are %s", rights)
	}
	if out := m.Must(t, "app", "status"); !strings.Contains(out, unusual) || !strings.Contains(out, "Ready        yes") {
		t.Errorf("status: %s", out)
	}
}

// dropIn adds a setting to the unit for a test.
func (m plantPC) dropIn(t *testing.T, text string) {
	t.Helper()
	m.Put(t, "/etc/systemd/system/app.service.d/90-test.conf", []byte("[Service]\n"+text), 0o644)
	m.Must(t, "systemctl", "daemon-reload")
}

func hangs(t *testing.T, m plantPC) {
	m.dropIn(t, "WatchdogSec=2\nTimeoutAbortSec=1\n")
	m.Must(t, "app", "restart")
	pid := m.show(t, "MainPID")
	time.Sleep(3 * time.Second)
	if now := m.show(t, "MainPID"); now != pid {
		t.Fatal("a service that lives was ended")
	}
	start := time.Now()
	m.Must(t, "kill", "-STOP", pid)
	m.changed(t, pid)
	t.Logf("it hung, and the next one ran after %v", time.Since(start))
	if restarts, err := strconv.Atoi(m.show(t, "NRestarts")); err != nil || restarts < 1 {
		t.Errorf("%d starts more, %v", restarts, err)
	}
	if out := m.Must(t, "journalctl", "--unit=app", "--output=cat"); !strings.Contains(out, "Watchdog timeout") {
		t.Errorf("the journal does not say why: %s", out)
	}
}

func fullDisk(t *testing.T, m plantPC) {
	m.Must(t, "sh", "-c", "app uninstall && mkdir /srv/small && mount -t tmpfs -o size=20m tmpfs /srv/small && /root/app install --data-dir /srv/small/data")
	if every := m.show(t, "WatchdogUSec"); every != "2s" {
		t.Fatalf("the watchdog has %s", every)
	}
	pid := m.show(t, "MainPID")
	m.Run(t.Context(), nil, "dd", "if=/dev/zero", "of=/srv/small/filler", "bs=1M")
	if out := m.Must(t, "df", "--output=avail", "/srv/small"); !strings.Contains(out, "\n    0") {
		t.Fatalf("the disk is not full: %s", out)
	}
	time.Sleep(3 * time.Second)
	if now := m.show(t, "MainPID"); now != pid {
		t.Error("the service was ended for a full disk")
	}
	t.Logf("systemd is told: %s", m.show(t, "StatusText"))
	m.Must(t, "rm", "/srv/small/filler")
}

func purged(t *testing.T, m plantPC) {
	const dir = "/srv/small/data"
	m.fails(t, []string{"app", "uninstall", "--purge"}, dir+" holds: ", "app.db", "nothing was done", "--yes")
	m.Must(t, "app", "status")
	if out := m.Must(t, "app", "uninstall", "--purge", "--yes"); !strings.Contains(out, "The service and its data are gone.") {
		t.Errorf("it says %s", out)
	}
	if _, _, status := m.Run(t.Context(), nil, "test", "-e", dir); status == 0 {
		t.Error("the data are still there")
	}
	if passwd := m.Must(t, "cat", "/etc/passwd"); strings.Contains(passwd, "\napp:") {
		t.Error("the user is still there")
	}
	m.Must(t, "test", "-e", unusual) // of another installation, which was not selected
}
