package config

import (
	"errors"
	"opsmon/app/test/apptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// read loads a file's text and an environment.
func read(t *testing.T, file string, environment map[string]string) (Settings, error) {
	t.Helper()
	dir := t.TempDir()
	if file != "" {
		if err := os.WriteFile(filepath.Join(dir, File), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(dir, func(name string) string { return environment[name] })
}

// TestConfigOrder: flag, then environment, then file, then default (decisions.md section 7).
func TestConfigOrder(t *testing.T) {
	file := "listen: 127.0.0.1:1\ntls: off\nlogLevel: warn # less\nmaxConnections: 16\nsmtp:\n  host: mail\n  port: 25\n  password: 12345\ninsecureHttp: ~\n"
	cfg, err := read(t, file, map[string]string{"APP_LISTEN": "127.0.0.1:2", "APP_SMTP_PORT": "26", "APP_INSECURE_HTTP": "true", "APP_LOG_LEVEL": ""})
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.Set("listen", "127.0.0.1:3", "--listen"); err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.DataDir, want.origins = cfg.DataDir, cfg.origins
	want.Listen, want.LogLevel, want.MaxConnections, want.InsecureHTTP = "127.0.0.1:3", "warn", 16, true
	want.SMTP.Host, want.SMTP.Port, want.SMTP.Password = "mail", 26, "12345"
	for name, field := range want.settings() {
		if got := cfg.settings()[name].Interface(); got != field.Interface() {
			t.Errorf("%s is %v, want %v", name, got, field)
		}
	}
	if len(want.settings()) != 46 {
		t.Errorf("%d settings; tell the README and this test of new ones", len(want.settings()))
	}
	for _, empty := range []string{"", "# nothing\n", "---\n", "smtp:\n", "listen: &a 127.0.0.1:8080\nurl: \n"} {
		if cfg, err := read(t, empty, nil); err != nil || cfg.Listen != Defaults().Listen || cfg.SMTP != Defaults().SMTP {
			t.Errorf("%q: %+v, %v", empty, cfg, err)
		}
	}
}

// TestConfigRelativeFiles: in the file, paths are relative to it, for a service is started anywhere; elsewhere they
// are relative to the working directory, as its user expects.
func TestConfigRelativeFiles(t *testing.T) {
	absolute := filepath.Join(t.TempDir(), "b.key")
	cfg, err := read(t, "tls: a.crt,"+absolute+"\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(cfg.DataDir, "a.crt") + "," + absolute; cfg.TLS != want {
		t.Errorf("tls is %q, want %q", cfg.TLS, want)
	}
	if cfg, err := read(t, "tls: a.crt,a.key\n", map[string]string{"APP_TLS": "b.crt,b.key"}); err != nil || cfg.TLS != "b.crt,b.key" {
		t.Errorf("from the environment tls is %q, %v", cfg.TLS, err)
	}
	if cfg, err := read(t, "backup:\n  dir: kept\n  passphraseFile: secret.txt\n", nil); err != nil || cfg.BackupDir() != filepath.Join(cfg.DataDir, "kept") || cfg.Backup.PassphraseFile != filepath.Join(cfg.DataDir, "secret.txt") {
		t.Errorf("backup: %+v, %v", cfg.Backup, err)
	}
	if cfg, err := read(t, "", map[string]string{"APP_BACKUP_DIR": "kept"}); err != nil || cfg.BackupDir() != "kept" {
		t.Errorf("backup from the environment: %+v, %v", cfg.Backup, err)
	}
	for _, other := range []string{"off", "auto", ","} {
		if cfg, err := read(t, "tls: "+strconv.Quote(other)+"\n", nil); err != nil || cfg.TLS != other {
			t.Errorf("tls: %s is read as %q, %v", other, cfg.TLS, err)
		}
	}
}

// TestConfigWrong: what is wrong is told with the file and the line, the variable or the flag.
func TestConfigWrong(t *testing.T) {
	for _, test := range []struct {
		file        string
		environment map[string]string
		want        string // {} stands for the file
	}{
		{file: "a: 1", want: "{} line 1: unknown key a; the keys are auditDays, backup.at, backup.dir, "},
		{file: "\nListen: x", want: "{} line 2: unknown key Listen"},
		{file: "smtp:\n  user: x", want: "{} line 2: unknown key smtp.user"},
		{file: "smtp.host: x\n", want: "{} line 1: smtp.from is required"}, // written as in the messages
		{file: "smtp: mail", want: "{} line 1: must hold settings of the form name: value"},
		{file: "- listen", want: "{} line 1: must hold settings of the form name: value"},
		{file: "listen: [a, b]", want: "{} line 1: listen must be a single value"},
		{file: "listen: a\nlisten: b", want: "{} line 2: listen is given twice; the first is at {} line 1"},
		{file: "maxConnections: 1e9", want: "{} line 1: maxConnections must be a whole number"},
		{file: "insecureHttp: yes", want: `{} line 1: insecureHttp must be true or false; it is "yes"`},
		{file: "listen: a\n---\nlisten: b", want: "{}: it holds a second document after ---"},
		{file: "listen: 'a", want: "{}: "},
		{file: "\xff\xfel\x00", want: "{} line 1: must hold settings"}, // as old shells of Windows write files
		{environment: map[string]string{"APP_MAX_CONNECTIONS": "x"}, want: `APP_MAX_CONNECTIONS: maxConnections must be a whole number; it is "x"`},
		{environment: map[string]string{"APP_SMTP_PORT": "x"}, want: `APP_SMTP_PORT: smtp.port must be`},
		{file: "listen: 8080", want: `{} line 1: listen must be an address and a port, such as 127.0.0.1:8080; it is "8080"`},
		{file: "listen: 127.0.0.1:99999", want: "{} line 1: listen must end in a port"},
		{file: "listen: 192.0.2.1:80", want: "{} line 1: listen is 192.0.2.1:80: without TLS"},
		{file: "tls: on", want: "{} line 1: tls must be off, auto, or CERT,KEY"},
		{file: "tls: plant.crt", want: "{} line 1: tls must be off, auto, or CERT,KEY"},
		{file: "clearListen: :80", want: "{} line 1: clearListen leads people to the address with TLS, and there is none"},
		{file: "tls: auto\nclearListen: 80", want: "{} line 2: clearListen must be an address and a port"},
		{file: "tls: auto\nclearListen: ':80000'", want: "{} line 2: clearListen must end in a port"},
		{file: "tls: auto\nlisten: :8443\nclearListen: :8443", want: "{} line 3: clearListen is the address that listen is"},
		{file: "name: Ops", want: "{} line 1: name must be 1 to 63 lower-case letters"},
		{file: "name: opsmon.local", want: "{} line 1: name must be"},
		{file: "logLevel: loud", want: "{} line 1: logLevel must be debug, info, warn or error"},
		{file: "logLevel: info+2", want: "{} line 1: logLevel must be"},
		{file: "plantBroker:\n  topics: a", want: "plantBroker.url must be given"},
		{file: "plantBroker:\n  url: http://x", want: "{} line 2: plantBroker.url must be mqtts:// or mqtt:// and a host"},
		{file: "plantBroker:\n  url: mqtts://x", want: "plantBroker.topics must be 1 to 20 topic filters"},
		{file: "plantBroker:\n  url: mqtts://x\n  topics: a/#/b", want: "{} line 3: plantBroker.topics must have + only as a whole level"},
		{file: "plantBroker:\n  url: mqtts://x\n  topics: a/#\n  template: a/b", want: "{} line 4: plantBroker.template must have the level {station} once"},
		{file: "plantBroker:\n  url: mqtts://x\n  topics: a/#\n  mapping: a.", want: "{} line 4: plantBroker.mapping must be a JSONata expression"},
		{file: "mqtt:\n  listen: :8883", want: "{} line 2: mqtt.listen is for TLS, and tls is off"},
		{file: "tls: auto\nlisten: :8443\nmqtt:\n  listen: :8443", want: "{} line 4: mqtt.listen is the address that listen is"},
		{file: "mqtt:\n  insecure:\n    listen: :1883", want: "{} line 3: mqtt.insecure.listen lets devices connect in the clear: say from where"},
		{file: "mqtt:\n  insecure:\n    networks: 10.0.0.0/8, plc", want: "{} line 3: mqtt.insecure.networks must be networks such as 10.1.7.0/24 with commas between; one is \"plc\""},
		{file: "mqtt:\n  topics: a/{station}, b", want: "{} line 2: mqtt.topics must have the level {station} once"},
		{file: "mqtt:\n  maxPerDevice: 0", want: "{} line 2: mqtt.maxPerDevice must be from 1 to mqtt.maxConnections, which is 4096; it is 0"},
		{file: "signals:\n  days: 7", want: "{} line 2: signals.days must be from 8 to 36500; it is 7"},
		{file: "signals:\n  perSecond: 9", want: "{} line 2: signals.perSecond must be from 10 to 10000000; it is 9"},
		{file: "memory:\n  limit: 127", want: "{} line 2: memory.limit must be 128 (MiB) or more, or 0 for a share of the machine's memory; it is 127"},
		{environment: map[string]string{"APP_MEMORY_LIMIT": "-1"}, want: "APP_MEMORY_LIMIT: memory.limit must be 128 (MiB) or more, or 0 for a share of the machine's memory; it is -1"},
		{file: "signals:\n  aliveMinutes: 0", want: "{} line 2: signals.aliveMinutes must be from 1 to 60; it is 0"},
		{file: "signals:\n  spreadMinutes: 0", want: "{} line 2: signals.spreadMinutes must be from 1 to 60; it is 0"},
		{environment: map[string]string{"APP_SIGNALS_SPREAD_MINUTES": "61"}, want: "APP_SIGNALS_SPREAD_MINUTES: signals.spreadMinutes must be from 1 to 60; it is 61"},
		{environment: map[string]string{"APP_SIGNALS_ALIVE_MINUTES": "61"}, want: "APP_SIGNALS_ALIVE_MINUTES: signals.aliveMinutes must be from 1 to 60; it is 61"},
		{file: "windows:\n  days: 399", want: "{} line 2: windows.days must be as many as signals.days or more, which is 400; it is 399"},
		{file: "auditDays: 29", want: "{} line 1: auditDays must be from 30 to 36500; it is 29"},
		{environment: map[string]string{"APP_AUDIT_DAYS": "36501"}, want: "APP_AUDIT_DAYS: auditDays must be from 30 to 36500; it is 36501"},
		{file: "maxConnections: 0", want: "{} line 1: maxConnections must be at least 8"},
		{file: "url: opsmon.plant.example", want: "{} line 1: url must be http:// or https://"},
		{file: "url: https://plant.example/opsmon", want: "{} line 1: url must be"},
		{file: "smtp:\n  host: mail", want: "{} line 2: smtp.from is required where smtp.host is set"},
		{file: "smtp:\n  tls: maybe", want: "{} line 2: smtp.tls must be starttls, tls or none"},
		{file: "smtp:\n  port: 0", want: "{} line 2: smtp.port must be from 1 to 65535"},
		{file: "backup:\n  at: 25:00", want: `{} line 2: backup.at must be a time of day from 00:00 to 23:59, such as 01:30; it is "25:00"`},
		{file: "backup:\n  every: -1", want: "{} line 2: backup.every must be from 0 to 31; it is -1"},
		{file: "backup:\n  keepDaily: 0", want: "{} line 2: backup.keepDaily must be from 1 to 3660; it is 0"},
		{file: "backup:\n  maxBytes: -5", want: "{} line 2: backup.maxBytes must be 0 or more; it is -5"},
		{environment: map[string]string{"APP_BACKUP_KEEP_MONTHLY": "121"}, want: "APP_BACKUP_KEEP_MONTHLY: backup.keepMonthly must be from 0 to 120; it is 121"},
	} {
		cfg, err := read(t, test.file, test.environment)
		if err == nil {
			err = cfg.Check()
		}
		want := strings.ReplaceAll(test.want, "{}", filepath.Join(cfg.DataDir, File))
		if setting := (*Error)(nil); !errors.As(err, &setting) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", test.file, err, want)
		}
	}
}

// TestLoopbackOnly: beyond loopback the service listens with TLS only, unless told otherwise.
func TestLoopbackOnly(t *testing.T) {
	for listen, alone := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "localhost:1": true, "[::ffff:127.0.0.1]:1": true,
		":1": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "plant.example:1": false, "[fe80::1%eth0]:1": false, "127.0.0.1.example:1": false,
	} {
		cfg := Defaults()
		cfg.Listen = listen
		if err := cfg.Check(); (err == nil) != alone {
			t.Errorf("%s: %v", listen, err)
		}
		for _, cfg.TLS = range []string{"a,b", "auto"} {
			if err := cfg.Check(); err != nil {
				t.Errorf("%s with TLS: %v", listen, err)
			}
		}
		cfg.TLS, cfg.InsecureHTTP = "off", true
		if err := cfg.Check(); err != nil {
			t.Errorf("%s and --insecure-http: %v", listen, err)
		}
	}
}

// TestBaseURL: one-time links start with the address that people use, also while no service listens.
func TestBaseURL(t *testing.T) {
	for _, test := range []struct{ url, tls, listen, hosts, want string }{
		{"", "off", "127.0.0.1:8080", "10.1.2.3", "http://127.0.0.1:8080"},
		{"", "a,b", "10.1.2.3:8443", "10.9.9.9", "https://10.1.2.3:8443"},
		{"", "auto", "10.1.2.3:8443", "10.9.9.9", "https://10.1.2.3:8443"},
		{"", "off", ":80", "", "http://127.0.0.1:80"},
		{"", "off", "[::]:80", "10.1.2.3", "http://10.1.2.3:80"},
		{"", "auto", ":8443", "10.1.2.3 opsmon.local", "https://10.1.2.3:8443"},
		{"", "auto", "0.0.0.0:8443", "opsmon.local", "https://opsmon.local:8443"},
		{"", "auto", ":8443", "fd00::5", "https://[fd00::5]:8443"},
		{"https://opsmon.plant.example/", "auto", ":8443", "10.1.2.3", "https://opsmon.plant.example"},
	} {
		cfg := Settings{URL: test.url, TLS: test.tls}
		if got := cfg.BaseURLAt(test.listen, func() []string { return strings.Fields(test.hosts) }); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
	cert, key, _ := apptest.Certificate(t)
	for name, test := range map[string]struct {
		cfg     Settings
		without string // what is not among the hosts
	}{
		"the plant's own certificate": {Settings{TLS: cert + "," + key, Name: "opsmon", MDNS: true}, "opsmon.local"},
		"nobody answers to the name":  {Settings{TLS: "auto", Name: "opsmon"}, "opsmon.local"},
	} {
		if hosts := test.cfg.Hosts(); slices.Contains(hosts, test.without) {
			t.Errorf("%s: %v", name, hosts)
		}
	}
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	own, _, _ := strings.Cut(strings.ToLower(machine), ".")
	for _, test := range []struct {
		name        string
		mdns        bool
		hosts, want string
	}{
		{"opsmon", true, "10.1.2.3 opsmon.local plantpc", "10.1.2.3 opsmon.local plantpc"},
		{"opsmon", false, "10.1.2.3 opsmon.local plantpc", "10.1.2.3 plantpc"},
		{own, true, "10.1.2.3 " + own + ".local plantpc", "10.1.2.3 plantpc"}, // the operating system answers, or nobody
		{"opsmon", true, "opsmon.local plantpc", ""},                          // on no network
	} {
		if got := (Settings{Listen: ":8443", Name: test.name, MDNS: test.mdns}).Reachable(strings.Fields(test.hosts)); strings.Join(got, " ") != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
	if !(Settings{URL: "https://a.example", TLS: "off"}).Secure() || (Settings{URL: "http://a.example", TLS: "off"}).Secure() || !(Settings{TLS: "a,b"}).Secure() {
		t.Error("secure is what people's connections are")
	}
}
