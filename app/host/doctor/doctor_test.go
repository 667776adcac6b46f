package doctor

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"opsmon/app/host/service"
	"opsmon/kv"
	"opsmon/kv/file"
)

// today is the time that tests are made at.
var today = time.Date(2026, time.November, 20, 8, 15, 0, 0, time.UTC)

// tools are what programs print, by their command line. "!" before it is an exit status other than 0.
type tools map[string]string

func (o tools) run(_ context.Context, name string, args ...string) (string, error) {
	out, is := o[strings.Join(append([]string{name}, args...), " ")]
	if !is {
		return "", exec.ErrNotFound
	}
	if rest, failed := strings.CutPrefix(out, "!"); failed {
		return rest, &exec.ExitError{}
	}
	return out, nil
}

// patient is an appliance on a machine that a test makes ill.
type patient struct {
	Machine
	Subject
	tools tools
	state service.State
	files []File
}

// healthy is an appliance on Linux with nothing wrong.
func healthy() *patient {
	own := netip.MustParseAddr("192.168.7.20")
	p := &patient{
		tools: tools{"timedatectl show -p NTPSynchronized --value": "yes\n"},
		state: service.State{Installed: true, Enabled: true, Running: true, Since: today.Add(-time.Hour), DataDir: "/var/lib/app"},
		files: []File{
			{Path: "/var/lib/app", Dir: true, Owner: "app", Modified: today},
			{Path: "/var/lib/app/app.db", Owner: "app", Secret: true, Modified: today.Add(-time.Minute)},
			{Path: "/var/lib/app/app.yaml", Secret: true, Modified: today},
			{Path: "/var/lib/app/tls/ca.crt", Owner: "app", Others: true, Modified: today},
			{Path: "/var/lib/app/tls/ca.key", Owner: "app", Secret: true, Modified: today},
		},
	}
	p.Machine = Machine{
		OS: "linux", Clock: func() time.Time { return today }, Zone: time.UTC, Tool: func(ctx context.Context, name string, args ...string) (string, error) {
			return p.tools.run(ctx, name, args...)
		},
		Dial:     func(context.Context, string) error { return nil },
		Bind:     func(string) error { return nil },
		Hostname: func() (string, error) { return "plantpc", nil },
		Lookup:   func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{own}, nil },
		Ask:      func(context.Context, string) (netip.Addr, error) { return own, nil },
		Addrs:    func() ([]netip.Addr, error) { return []netip.Addr{own}, nil },
		Disk:     func(string) (file.Space, error) { return file.Space{Free: 200 << 30, Total: 500 << 30}, nil },
		Store:    func(string) (int, error) { return 3, nil },
		Files:    func(string) ([]File, error) { return p.files, nil },
		Service:  func() (service.State, error) { return p.state, nil },
	}
	p.Subject = Subject{
		DataDir: "/var/lib/app", Command: "app", Listen: "[::]:8443", ClearListen: ":8080", Name: "opsmon", MDNS: true,
		Hosts: []string{"192.168.7.20", "opsmon.local"}, Running: true, Zones: []string{"Europe/London", "Europe/Berlin"},
		Memory: &Memory{Used: 100 << 20, Limit: 512 << 20, Machine: 2 << 30},
		Store:  &Store{Bytes: 12 << 20, Free: 1 << 20}, StoreVersion: 3,
		Certificate: &Certificate{Expires: today.AddDate(1, 0, 0), Names: []string{"opsmon.local", "plantpc"}, Addrs: []netip.Addr{own}, Own: true},
		Backup:      &Backup{Last: today.Add(-20 * time.Hour), Dir: "/var/lib/app/backups"},
	}
	return p
}

// windows makes it a Windows machine.
func (p *patient) windows() {
	p.OS = "windows"
	p.tools = tools{
		"w32tm /query /status": "Sprungindikator: 0(keine Warnung)\r\nStratum: 4\r\n",
		"netsh advfirewall firewall show rule name=" + service.FirewallRule: "Lokaler Port: 8443,8080\r\nLokaler Port: 5353\r\n",
	}
}

func TestHealthy(t *testing.T) {
	for _, system := range []string{"linux", "windows"} {
		p := healthy()
		if system == "windows" {
			p.windows()
		}
		found := Examine(t.Context(), p.Machine, p.Subject)
		if len(found) != 13 {
			t.Errorf("%s: %d checks; this test and the one below are to know all", system, len(found))
		}
		for _, f := range found {
			if !f.OK || f.Problem != "" || f.Fix != "" || strings.HasPrefix(f.Note, "not looked at") || f.Note == "" {
				t.Errorf("%s: %+v", system, f)
			}
		}
	}
}

// TestIll: each thing that can be wrong is found by its check alone, and told with what mends it.
func TestIll(t *testing.T) {
	const yes = "yes\n"
	unopened := func(err error) func(string) (int, error) { return func(string) (int, error) { return 0, err } }
	stopped := func(p *patient) { p.Running, p.state.Running = false, false }
	for _, tt := range []struct {
		name string
		harm func(*patient)
		// what is found: the check, and parts of the problem and the fix
		check, problem, fix string
		also                string // another check that is rightly unhappy as well
	}{
		{"not installed", func(p *patient) { p.state = service.State{}; p.Running = false }, "service", "not installed", "app install", ""},
		{"in the foreground", func(p *patient) { p.state = service.State{} }, "service", "in the foreground alone", "app install", ""},
		{"not enabled", func(p *patient) { p.state.Enabled = false }, "service", "does not start with the machine", "systemctl enable app", ""},
		{"not enabled on Windows", func(p *patient) { p.windows(); p.state.Enabled = false }, "service", "does not start with the machine", "sc.exe config app start= delayed-auto", ""},
		{"stopped", stopped, "service", "does not run", "app start", ""},
		{"failed", func(p *patient) { stopped(p); p.state.Failed = true }, "service", "ended with an error", "journalctl -u app", ""},
		{"failed on Windows", func(p *patient) { p.windows(); stopped(p); p.state.Failed = true }, "service", "ended with an error", "wevtutil qe Application", ""},
		{"mute", func(p *patient) { p.Running = false }, "service", "does not answer the command line", "app restart", ""},
		{"another directory", func(p *patient) { p.state.DataDir = "/srv/my app" }, "service", "another data directory, /srv/my app", "app --data-dir '/srv/my app' doctor", ""},
		{"more memory than there is", func(p *patient) { p.Memory.Limit = 2 << 30 }, "memory", "may use 2048 MiB and the machine has 2048 MiB", "memory.limit in app.yaml to 1536", ""},
		{"short of memory", func(p *patient) { p.Memory.Used = 500 << 20 }, "memory", "uses 500 MiB of the 512 MiB", "memory.limit", ""},
		{"not ready", func(p *patient) { p.Ready = errors.New("the store is damaged") }, "service", "not ready: the store is damaged", "journalctl", ""},
		{"not ready, and no service manager", func(p *patient) {
			p.Service = func() (service.State, error) { return service.State{}, service.ErrUnsupported }
			p.Ready = errors.New("the store is damaged")
		}, "service", "not ready: the store is damaged", "journalctl", ""},
		{"damaged, and the service knows the way", func(p *patient) {
			p.Ready, p.Mend = errors.New("the store is damaged"), "app restore /mnt/nas/app.backup --data-dir /var/lib/app"
		}, "service", "not ready: the store is damaged", "app restore /mnt/nas/app.backup --data-dir /var/lib/app", ""},

		{"a damaged store", func(p *patient) { stopped(p); p.Machine.Store = unopened(kv.ErrDamaged) }, "store", "damaged", "app check", "service"},
		{"a store in use", func(p *patient) { stopped(p); p.Machine.Store = unopened(kv.ErrLocked) }, "store", "another process has /var/lib/app/app.db open", "end that process", "service"},
		{"a failing disk", func(p *patient) { stopped(p); p.Machine.Store = unopened(syscall.EIO) }, "store", "input/output error", "disk", "service"},
		{"a newer store", func(p *patient) { stopped(p); p.StoreVersion = 2 }, "store", "it has version 3", "app rollback", "service"},
		{"a full disk", func(p *patient) { p.Subject.Store.Full = true }, "store", "found the disk full", "free some room", ""},

		{"a file of the settings", func(p *patient) {
			p.Missing = []error{errors.New("app.yaml line 5: plantBroker.ca names broker-ca.pem, which cannot be read")}
		}, "settings", "broker-ca.pem", "bring that file", ""},
		{"settings", func(p *patient) { p.Settings = errors.New("app.yaml line 3: listen must be"); p.Listen = "" }, "settings", "app.yaml line 3", "/var/lib/app/app.yaml", ""},

		{"nobody can connect", func(p *patient) { p.Dial = func(context.Context, string) error { return syscall.ECONNREFUSED } }, "port", "nothing can connect to it at 127.0.0.1:8443", "app restart", ""},
		{"not from the network", func(p *patient) {
			p.Dial = func(_ context.Context, at string) error {
				if strings.HasPrefix(at, "192.168.7.20:") {
					return os.ErrDeadlineExceeded
				}
				return nil
			}
		}, "port", "at 192.168.7.20:8443", "app restart", ""},
		{"MQTT not from the network", func(p *patient) {
			p.More = []Port{{"mqtt.listen", "[::]:8883"}, {"mqtt.insecure.listen", ""}}
			p.Dial = func(_ context.Context, at string) error {
				if at == "192.168.7.20:8883" {
					return os.ErrDeadlineExceeded
				}
				return nil
			}
		}, "port", "at 192.168.7.20:8883", "app restart", ""},
		{"MQTT behind the firewall", func(p *patient) {
			p.More = []Port{{"mqtt.listen", ":8883"}, {"mqtt.insecure.listen", "127.0.0.1:1883"}}
			p.tools["ufw status"] = "Status: active\n\nTo   Action  From\n8443/tcp  ALLOW  Anywhere\n8080/tcp ALLOW Anywhere\n5353/udp ALLOW Anywhere\n"
		}, "firewall", "ufw is active and lets nobody in to port 8883/tcp", "ufw allow 8883/tcp", ""},
		{"no network", func(p *patient) { p.Hosts = []string{"opsmon.local"} }, "port", "no address on a network", "ip -br address", ""},
		{"no network on Windows", func(p *patient) { p.windows(); p.Hosts = nil }, "port", "no address on a network", "ipconfig", ""},
		{"port in use", func(p *patient) {
			p.state = service.State{Installed: true, Enabled: true, Running: true}
			p.Running = false
			p.Bind = func(at string) error {
				if at == ":8080" {
					return &os.SyscallError{Syscall: "bind", Err: syscall.EADDRINUSE}
				}
				return nil
			}
			p.tools["ss -Hltnp sport = :8080"] = `LISTEN 0 511 *:8080 *:* users:(("nginx",pid=4711,fd=6))`
		}, "port", "clearListen is :8080, and another program has that port: nginx, process 4711", "ss -ltnp 'sport = :8080'", "service"},
		{"port in use on Windows", func(p *patient) {
			p.windows()
			p.Running = false
			p.Bind = func(string) error { return wsaAddrInUse }
		}, "port", "another program has that port", "netstat -ano | findstr :8443", "service"},
		{"low port", func(p *patient) {
			p.Running, p.Listen = false, ":443"
			p.Bind = func(string) error { return syscall.EACCES }
		}, "port", "may not use", "choose another in app.yaml: listen", "service"},
		{"foreign address", func(p *patient) { p.Running = false; p.Bind = func(string) error { return syscall.EADDRNOTAVAIL } }, "port", "cannot be listened on", "choose another", "service"},

		{"ufw", func(p *patient) {
			p.tools["ufw status"] = "Status: active\n\nTo   Action  From\n22/tcp ALLOW Anywhere\n8443/tcp  ALLOW  Anywhere\n"
		}, "firewall", "ufw is active and lets nobody in to port 8080/tcp", "ufw allow 8080/tcp", ""},
		{"firewalld", func(p *patient) {
			p.tools["firewall-cmd --state"], p.tools["firewall-cmd --query-port=8443/tcp"] = "running\n", yes
			p.tools["firewall-cmd --query-port=8080/tcp"], p.tools["firewall-cmd --query-service=mdns"] = "!no\n", yes
		}, "firewall", "firewalld is active and lets nobody in to port 8080/tcp", "firewall-cmd --permanent --add-port=8080/tcp && firewall-cmd --reload", ""},
		{"firewalld and names", func(p *patient) {
			p.tools["firewall-cmd --state"], p.tools["firewall-cmd --query-port=8443/tcp"] = "running\n", yes
			p.tools["firewall-cmd --query-port=8080/tcp"], p.tools["firewall-cmd --query-service=mdns"] = yes, "!no\n"
		}, "firewall", "port 5353/udp", "--add-service=mdns", ""},
		{"nftables", func(p *patient) {
			p.tools["nft list ruleset"] = "table inet filter {\n chain input {\n  type filter hook input priority filter; policy drop;\n  tcp dport { 22, 8000-8100 } accept\n  udp dport 5353 accept\n }\n}\n"
		}, "firewall", "no rule names port 8443/tcp", "nft add rule TABLE input tcp dport 8443 accept", ""},
		{"Windows' firewall", func(p *patient) {
			p.windows()
			p.tools["netsh advfirewall firewall show rule name="+service.FirewallRule] = "Port: 8080\r\n"
		}, "firewall", "lets clients in to port 8443", `add rule name="app, manufacturing operations monitoring" dir=in action=allow protocol=TCP localport=8443`, ""},

		{"for devices alone", func(p *patient) {
			p.Listen, p.ClearListen, p.Certificate.Addrs, p.More = "127.0.0.1:8080", "", nil, []Port{{"mqtt.listen", ":8883"}}
			p.tools["ufw status"] = "Status: active\n22/tcp ALLOW Anywhere\n"
		}, "firewall", "ufw is active and lets nobody in to port 8883/tcp", "ufw allow 8883/tcp", ""},
		{"empty battery", func(p *patient) {
			p.Clock = func() time.Time { return today.AddDate(-5, 0, 0) }
			for i := range p.files {
				p.files[i].Modified = today.AddDate(-5, 0, 0)
			}
		}, "clock", "before this program was written", "timedatectl set-time", ""},
		{"clock set back", func(p *patient) { p.files[1].Modified = today.Add(time.Hour) }, "clock", "last written at 2026-11-20 09:15 UTC", "timedatectl set-time", ""},
		{"clock adrift", func(p *patient) { p.tools["timedatectl show -p NTPSynchronized --value"] = "no\n" }, "clock", "no time server", "timedatectl set-ntp true", ""},
		{"clock adrift on Windows", func(p *patient) {
			p.windows()
			p.tools["w32tm /query /status"] = "Leap Indicator: 3(not synchronized)\r\n"
		}, "clock", "no time server", "w32tm /resync", ""},
		{"no time service on Windows", func(p *patient) { p.windows(); p.tools["w32tm /query /status"] = "!0x80070426\r\n" }, "clock", "no time server", "net start w32time", ""},

		{"zone", func(p *patient) { p.Zone = time.FixedZone("X", 3*3600) }, "time zone", "shows 11:15 and that of its plant Europe/London (08:15), Europe/Berlin (09:15)", "timedatectl set-timezone Europe/London", ""},
		{"zone on Windows", func(p *patient) { p.windows(); p.Zone = time.FixedZone("X", 3*3600) }, "time zone", "shows 11:15", "tzutil /s", ""},

		{"little room", func(p *patient) {
			p.Disk = func(string) (file.Space, error) { return file.Space{Free: 900 << 20, Total: 5 << 30}, nil }
		}, "disk space", "900 MiB free of 5.0 GiB", "make room", ""},
		{"less than a tenth", func(p *patient) {
			p.Disk = func(string) (file.Space, error) { return file.Space{Free: 40 << 30, Total: 500 << 30}, nil }
		}, "disk space", "40 GiB free of 500 GiB", "make room", ""},
		{"share away", func(p *patient) {
			p.Backup.Dir = "/var/lib/app-backups"
			p.Disk = func(dir string) (file.Space, error) {
				if dir == "/var/lib/app-backups" {
					return file.Space{}, os.ErrNotExist
				}
				return file.Space{Free: 1 << 40, Total: 2 << 40}, nil
			}
		}, "disk space", "the disk of /var/lib/app-backups cannot be read", "mounted", ""},

		{"no directory", func(p *patient) { p.Files = func(string) ([]File, error) { return nil, os.ErrNotExist } }, "rights", "/var/lib/app cannot be read", "app install", ""},
		{"open to all", func(p *patient) { p.files[0].Others, p.files[4].Others = true, true }, "rights", "every user of this machine can read /var/lib/app/tls/ca.key", "chmod o= /var/lib/app/tls/ca.key", ""},
		{"open to all on Windows", func(p *patient) { p.windows(); p.files[1].Others = true }, "rights", "can read /var/lib/app/app.db", `icacls /var/lib/app/app.db /inheritance:r`, ""},
		{"root's", func(p *patient) { p.files[1].Owner = "root" }, "rights", "app.db belongs to another user than the data directory does (app)", "chown -R app: /var/lib/app", ""},

		{"no TLS", func(p *patient) { p.Certificate = nil }, "certificate", "TLS is off", "tls: auto", ""},
		{"certificate's problem", func(p *patient) { p.Certificate.Problems = []string{"the certificate authority ends on 2027-01-01"} }, "certificate", "authority ends", "app restart", ""},
		{"certificate's end", func(p *patient) { p.Certificate.Own = false; p.Certificate.Expires = today.AddDate(0, 0, 7) }, "certificate", "ends on 2026-11-27", "in place of the files", ""},
		{"not for the address", func(p *patient) { p.Certificate.Addrs = nil }, "certificate", "not for 192.168.7.20", "app restart", ""},
		{"the plant's is for others", func(p *patient) {
			p.Certificate.Own, p.Certificate.Addrs, p.Certificate.Names = false, nil, []string{"erp.works.example"}
		}, "certificate", "is for erp.works.example, and this machine goes by 192.168.7.20, opsmon.local", "url: https://NAME:PORT", ""},
		{"key gone", func(p *patient) { p.files = p.files[:4] }, "certificate", "/var/lib/app/tls/ca.key is gone", "bring it back", ""},

		{"unknown to itself", func(p *patient) {
			p.Lookup = func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("no such host") }
		}, "names", "plantpc cannot be resolved", ">>/etc/hosts", ""},
		{"another of its name", func(p *patient) {
			p.Lookup = func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
			}
		}, "names", "leads to [192.0.2.1], which is another machine", "/etc/hosts", ""},
		{"nobody answers", func(p *patient) {
			p.Ask = func(context.Context, string) (netip.Addr, error) { return netip.Addr{}, nil }
		}, "names", "nothing answers to opsmon.local", "UDP port 5353", ""},
		{"another answers", func(p *patient) {
			p.Ask = func(context.Context, string) (netip.Addr, error) { return netip.MustParseAddr("192.168.7.99"), nil }
		}, "names", "another device, 192.168.7.99, answers to opsmon.local", "name: LABEL", ""},
		{"the machine's own name", func(p *patient) { p.Hostname = func() (string, error) { return "OPSMON.works.example", nil } }, "names", "this machine's own", "name: LABEL", ""},

		{"backup failed", func(p *patient) { p.Backup.Problem = "no room" }, "backup", "the last backup failed: no room", "app backup", ""},
		{"no backup", func(p *patient) { p.Backup.Last, p.Backup.Overdue = time.Time{}, true }, "backup", "no verified backup, and one is overdue", "app backup", ""},
		{"old backup", func(p *patient) { p.Backup.Last = today.AddDate(0, 0, -3); p.Backup.Overdue = true }, "backup", "is of 2026-11-17", "app backup", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := healthy()
			tt.harm(p)
			hit := false
			for _, f := range Examine(t.Context(), p.Machine, p.Subject) {
				switch {
				case f.Check == tt.check && strings.Contains(f.Problem, tt.problem) && strings.Contains(f.Fix, tt.fix) && !f.OK:
					hit = true
				case !f.OK && f.Check != tt.also && f.Check != tt.check:
					t.Errorf("also %s: %s", f.Check, f.Problem)
				case !f.OK && (f.Problem == "" || f.Fix == ""):
					t.Errorf("%+v says too little", f)
				}
				if f.Check == tt.check && f.OK {
					t.Errorf("%s is well: %s", f.Check, f.Note)
				}
			}
			if !hit {
				t.Errorf("not found: %s: %s -> %s; but %+v", tt.check, tt.problem, tt.fix, Examine(t.Context(), p.Machine, p.Subject))
			}
		})
	}
}

// TestNotLookedAt: what is not there to be looked at, or not to be read, is not wrong, and is told.
func TestNotLookedAt(t *testing.T) {
	for _, tt := range []struct {
		name  string
		harm  func(*patient)
		check string
		note  string
	}{
		{"another service manager", func(p *patient) {
			p.Service = func() (service.State, error) { return service.State{}, service.ErrUnsupported }
		}, "service", "not looked at"},
		{"for this machine alone", func(p *patient) { p.Listen, p.ClearListen = "127.0.0.1:8080", "" }, "firewall", "this machine alone"},
		{"wrong settings", func(p *patient) { p.Running, p.Settings, p.Listen, p.Certificate = false, errors.New("x"), "", nil }, "certificate", "the settings are wrong"},
		{"wrong settings, and a firewall", func(p *patient) { p.Running, p.Settings, p.Listen, p.Certificate = false, errors.New("x"), "", nil }, "firewall", "the settings are wrong"},
		{"for this machine alone, without TLS", func(p *patient) { p.Listen, p.ClearListen, p.Certificate = "127.0.0.1:8080", "", nil }, "certificate", "TLS is off"},
		{"no rights to ask", func(p *patient) { p.tools["nft list ruleset"] = "!Operation not permitted (you must be root)\n" }, "firewall", "answers the administrator alone"},
		{"ufw lets in", func(p *patient) {
			p.tools["ufw status"] = "Status: active\n8443 ALLOW Anywhere\n8080/tcp on eth0 ALLOW Anywhere\n"
		}, "firewall", "ufw lets clients in"},
		{"ufw is off", func(p *patient) { p.tools["ufw status"] = "Status: inactive\n" }, "firewall", "none that is known"},
		{"nft lets in", func(p *patient) { p.tools["nft list ruleset"] = "hook input priority 0; policy accept;" }, "firewall", "none that is known"},
		{"no time tool", func(p *patient) { p.tools = nil }, "clock", "not known"},
		{"before the first start", func(p *patient) { p.Running = false; p.Certificate = &Certificate{Own: true} }, "certificate", "made when the service starts"},
		{"the plant's certificate for one name", func(p *patient) { p.Certificate.Own = false; p.Certificate.Addrs = nil }, "certificate", "valid until"},
		{"a wildcard", func(p *patient) {
			p.Certificate.Own, p.Certificate.Names, p.Hosts = false, []string{"*.works.example"}, []string{"192.168.7.20", "opsmon.works.example"}
		}, "certificate", "valid until"},
		{"mDNS off", func(p *patient) { p.MDNS = false }, "names", "plantpc leads here"},
		{"the first day", func(p *patient) { p.Backup.Last = time.Time{} }, "backup", "none yet"},
		{"no service has the store", func(p *patient) { p.Running, p.Subject.Store = false, nil }, "store", "can be opened"},
		{"no store yet", func(p *patient) {
			p.Running, p.Machine.Store = false, func(string) (int, error) { return 0, fs.ErrNotExist }
		}, "store", "none yet"},
		{"somebody else's store", func(p *patient) {
			p.Running, p.Machine.Store = false, func(string) (int, error) { return 0, fs.ErrPermission }
		}, "store", "not looked at"},
		{"a service without its store", func(p *patient) { p.Subject.Store = nil }, "store", "not looked at"},
		{"no backups known", func(p *patient) { p.Backup = nil }, "backup", "not looked at"},
		{"the administrator's settings", func(p *patient) { p.files[2].Others, p.files[2].Owner = true, "" }, "rights", "/var/lib/app"},
	} {
		p := healthy()
		tt.harm(p)
		for _, f := range Examine(t.Context(), p.Machine, p.Subject) {
			if f.Check == tt.check && (!f.OK || !strings.Contains(f.Note, tt.note)) {
				t.Errorf("%s: %+v", tt.name, f)
			}
		}
	}
}

// TestThisMachine: the seams of the real machine tell what is so.
func TestThisMachine(t *testing.T) {
	m := Local()
	dir := filepath.Join(t.TempDir(), "Wärme [1]")
	for _, sub := range []string{dir, filepath.Join(dir, "tls")} {
		if err := os.Mkdir(sub, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"app.db": 0o604, "app.yaml": 0o600, "control.sock": 0o600, "tls/ca.key": 0o600, "tls/ca.crt": 0o644,
		"app.db.before-restore-20261120T081500Z": 0o604, "app.yaml.failed-restore-20261120T081500Z": 0o604, "tls/ca.key.before-restore-20261120T081500Z": 0o604} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	found, err := m.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]File{}
	for _, f := range found {
		rel, err := filepath.Rel(dir, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		names[filepath.ToSlash(rel)] = f
	}
	for name, want := range map[string]bool{
		"app.db.before-restore-20261120T081500Z": true, "app.yaml.failed-restore-20261120T081500Z": true, "tls/ca.key.before-restore-20261120T081500Z": true, "tls/ca.crt": false,
	} {
		if names[name].Secret != want {
			t.Errorf("%s is secret: %v", name, !want)
		}
	}
	if len(found) != 9 || found[0].Path != dir || !names["app.db"].Secret || !names["tls/ca.key"].Secret || names["tls/ca.key"].Others || names["app.db"].Owner != found[0].Owner || time.Since(names["app.db"].Modified) > time.Minute {
		t.Errorf("%+v", found)
	}
	if m.OS != "windows" && !names["app.db"].Others {
		t.Errorf("everybody can read %+v", names["app.db"])
	}
	if _, err := m.Files(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	if err := m.Bind("127.0.0.1:0"); err != nil {
		t.Error(err)
	}
	if err := m.Dial(t.Context(), "127.0.0.1:1"); err == nil {
		t.Error("something listens on port 1, or the connection is not tried")
	}
	if _, err := m.Tool(t.Context(), "a-program-that-nobody-has"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("no program: %v", err)
	}
	if out, err := m.Tool(t.Context(), "go", "env", "GOOS"); err != nil || strings.TrimSpace(out) != m.OS {
		t.Errorf("%q, %v", out, err)
	}
	if list, err := m.Addrs(); err != nil || len(list) == 0 {
		t.Errorf("%v, %v", list, err)
	}
	for _, f := range Examine(t.Context(), m, Subject{DataDir: dir, Command: "app", Listen: "127.0.0.1:0"}) {
		if f.Check == "" || f.OK == (f.Problem != "") {
			t.Errorf("%+v", f)
		}
	}
}

func TestOpenToAll(t *testing.T) {
	for sddl, want := range map[string]bool{
		"D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;S-1-5-80-1-2-3-4-5)": false, // as the data directory is made
		"D:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)":                true,  // as what is made below ProgramData
		"D:(D;;FA;;;WD)(A;;FA;;;BA)":                                          false, "D:(A;;FR;;;WD)": true, "D:(A;;FR;;;AU)": true, "": false,
	} {
		if got := openToAll(sddl); got != want {
			t.Errorf("%s: %v", sddl, got)
		}
	}
}

// TestFilesOfARestore: what a restore has brought is secret, whatever its name.
func TestFilesOfARestore(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"files", "tls"} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, folder), 0o700), os.WriteFile(filepath.Join(dir, folder, "tls.key"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := files(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if want := f.Path == filepath.Join(dir, "files", "tls.key"); f.Secret != want {
			t.Errorf("%+v", f)
		}
	}
	if len(list) != 5 {
		t.Errorf("%+v", list)
	}
}
