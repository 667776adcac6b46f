// Package config is the settings of the service: app.yaml in the data directory, the environment and flags over it, their
// checks, and changes of the file.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"opsmon/app/host/certs"
	"opsmon/app/host/namedfile"
	"opsmon/app/ingest/mqtt"
	"opsmon/app/ingest/signal"
)

// Settings is the service's configuration. Each setting comes from a flag, else the environment, else app.yaml in
// the data directory, else the default (decisions.md section 7).
type Settings struct {
	Listen         string      `yaml:"listen"`         // address and port
	URL            string      `yaml:"url"`            // how people reach the service; "" = made from Listen
	TLS            string      `yaml:"tls"`            // off; auto: certificates of the appliance's own; or CERT,KEY: two files
	ClearListen    string      `yaml:"clearListen"`    // address and port of unencrypted HTTP, for the trust page and redirects; "" = none
	InsecureHTTP   bool        `yaml:"insecureHttp"`   // listen beyond loopback without TLS
	Name           string      `yaml:"name"`           // the appliance is <Name>.local
	MDNS           bool        `yaml:"mdns"`           // answer to <Name>.local on the network
	LogLevel       string      `yaml:"logLevel"`       // debug, info, warn or error
	HostNames      string      `yaml:"hostNames"`      // further names that the service may be asked for by, with commas between
	MaxConnections int         `yaml:"maxConnections"` // at once, in all; a quarter of it from one address
	AuditDays      int         `yaml:"auditDays"`      // retention of audit records
	SMTP           SMTP        `yaml:"smtp"`
	Backup         Backup      `yaml:"backup"`
	Signals        Signals     `yaml:"signals"`
	MQTT           MQTT        `yaml:"mqtt"`
	PlantBroker    PlantBroker `yaml:"plantBroker"`
	Windows        Windows     `yaml:"windows"`
	Memory         Memory      `yaml:"memory"`

	DataDir string           `yaml:"-"`
	Assets  string           `yaml:"-"` // serve pages from this directory instead of the embedded ones, for development
	Demo    *Demo            `yaml:"-"` // the demonstration on the sign-in page; nil = none
	Clock   func() time.Time `yaml:"-"` // nil = time.Now

	WorkFactor int `yaml:"-"` // of the keys that backups' passphrases are made into (backup.Config); 0 = the usual one

	origins map[string]string // where a setting was given, by its name: "/var/lib/app/app.yaml line 3"
}

// Demo describes a demonstration on the sign-in page.
type Demo struct {
	Account  string   // its id
	Email    string   // of its administrator
	Plants   []string // their names
	Groups   int
	Stations int
	SKUs     int
	APIKey   string // raw; the demo's data is temporary, and so is the key
	BaseURL  string // without a slash at the end
}

// SMTP is the mail server. Without a host no mail is sent.
type SMTP struct {
	Host     string `yaml:"host"`
	Port     int    `yaml:"port"`
	Username string `yaml:"username"`
	Password string `yaml:"password"`
	From     string `yaml:"from"`
	TLS      string `yaml:"tls"` // starttls, tls or none
}

// Backup is the schedule, folder and retention of the backups that the service makes automatically.
type Backup struct {
	Dir            string `yaml:"dir"`            // folder that is there, also on a mounted share; "" = backups in the data directory, which is made
	At             string `yaml:"at"`             // time of day on the machine's own clock, such as 01:30
	Every          int    `yaml:"every"`          // days between two backups; 0 = off
	KeepDaily      int    `yaml:"keepDaily"`      // of the newest so many days the newest one each
	KeepWeekly     int    `yaml:"keepWeekly"`     // of weeks likewise
	KeepMonthly    int    `yaml:"keepMonthly"`    // of months likewise
	MaxBytes       int    `yaml:"maxBytes"`       // of all scheduled ones together; 0 = no limit
	PassphraseFile string `yaml:"passphraseFile"` // encrypts them; its first line is the passphrase
}

// Memory limits the memory of the service.
type Memory struct {
	Limit int `yaml:"limit"` // MiB; 0 = made from the machine's
}

// Signals is the retention of signals, the rate of one device, how long a station may be silent, and over how long the units of
// one signal are spread.
type Signals struct {
	Days          int `yaml:"days"`          // retention of signals
	PerSecond     int `yaml:"perSecond"`     // signals that one device may send; twice as many at once
	AliveMinutes  int `yaml:"aliveMinutes"`  // without a sign of life after which a station is disconnected
	SpreadMinutes int `yaml:"spreadMinutes"` // since the count signal before, within which a signal's units are spread to find stops
}

// Windows is the retention of computed results.
type Windows struct {
	Days int `yaml:"days"`
}

// Error is a setting with a wrong value.
type Error struct {
	Origin string // where it was given: a flag, a variable, or the line of a file; "" for a default
	Err    error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Origin == "" {
		return e.Err.Error()
	}
	return e.Origin + ": " + e.Err.Error()
}

// lineSaid matches the line that an error of the YAML parser starts with.
var lineSaid = regexp.MustCompile(`^line \d+`)

// Where returns where the setting was given, without its value, which may be a secret in a wrong place.
func (e *Error) Where() string {
	if line := lineSaid.FindString(e.Err.Error()); line != "" {
		return strings.TrimSpace(e.Origin + " " + line)
	}
	return e.Origin
}

// Where returns Where of the *Error in err, and "" when there is none.
func Where(err error) string {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Where()
	}
	return ""
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// File is the name of the configuration file in the data directory.
const File = "app.yaml"

// Defaults returns the default configuration.
func Defaults() Settings {
	return Settings{
		Listen: "127.0.0.1:8080", TLS: "off", Name: certs.DefaultName, MDNS: true,
		LogLevel: "info", MaxConnections: 1024, AuditDays: 400, SMTP: SMTP{Port: 587, TLS: "starttls"},
		Backup:  Backup{At: "01:30", Every: 1, KeepDaily: 7, KeepWeekly: 4, KeepMonthly: 6},
		Signals: Signals{Days: 400, PerSecond: signal.DefaultRate, AliveMinutes: 5, SpreadMinutes: 5},
		Windows: Windows{Days: 3653},
		MQTT:    MQTT{MaxConnections: mqtt.DefaultConnections, MaxPerDevice: mqtt.DefaultPerDevice},
		origins: map[string]string{},
	}
}

// Load reads app.yaml in the data directory, if it is there, and the environment over it. An unknown key in
// the file, or a value of the wrong kind, is a *Error that names the file and the line.
func Load(dataDir string, getenv func(string) string) (Settings, error) {
	b, err := namedfile.Read(filepath.Join(dataDir, File)) // a FIFO there would hold root up
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		cfg := Defaults()
		cfg.DataDir = dataDir
		return cfg, fmt.Errorf("read configuration: %w; let the user that runs app read it, or choose another directory with --data-dir", err)
	}
	return Parse(dataDir, b, getenv)
}

// Parse is Load for an app.yaml of a text.
func Parse(dataDir string, text []byte, getenv func(string) string) (Settings, error) {
	cfg := Defaults()
	cfg.DataDir = dataDir
	path := filepath.Join(dataDir, File)
	if err := cfg.fromFile(path, text); err != nil {
		return cfg, err
	}
	cfg.TLS = besideFile(cfg.TLS, path)
	for _, name := range []*string{&cfg.Backup.Dir, &cfg.Backup.PassphraseFile, &cfg.PlantBroker.CA, &cfg.PlantBroker.PasswordFile} {
		*name = beside(*name, path)
	}
	return cfg, cfg.fromEnvironment(getenv)
}

// besideFile makes the relative paths of CERT,KEY in a configuration file relative to that file's directory: a service
// has no working directory that its administrator would know.
func besideFile(value, file string) string {
	cert, key, found := strings.Cut(value, ",")
	if !found {
		return value
	}
	return beside(cert, file) + "," + beside(key, file)
}

// beside returns a relative path relative to a file's directory.
func beside(name, file string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(file), name)
}

// Set sets a setting by its name in the file, such as smtp.host, from a text. origin is where it was given.
func (c *Settings) Set(name, text, origin string) error {
	field, ok := c.settings()[name]
	if !ok {
		return &Error{origin, fmt.Errorf("there is no setting %s", name)}
	}
	c.origins[name] = origin
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return c.Wrong(name, "must be a whole number; it is %q", text)
		}
		field.SetInt(int64(n))
	case reflect.Bool:
		if text != "true" && text != "false" {
			return c.Wrong(name, "must be true or false; it is %q", text)
		}
		field.SetBool(text == "true")
	}
	return nil
}

// settings returns the fields that can be set, by the names of the settings.
func (c *Settings) settings() map[string]reflect.Value {
	all := map[string]reflect.Value{}
	var collect func(v reflect.Value, prefix string)
	collect = func(v reflect.Value, prefix string) {
		for i := range v.NumField() {
			switch name := v.Type().Field(i).Tag.Get("yaml"); {
			case name == "" || name == "-":
			case v.Field(i).Kind() == reflect.Struct:
				collect(v.Field(i), prefix+name+".")
			default:
				all[prefix+name] = v.Field(i)
			}
		}
	}
	collect(reflect.ValueOf(c).Elem(), "")
	return all
}

// Names returns the names of all settings, sorted.
func Names() []string { return slices.Sorted(maps.Keys((&Settings{}).settings())) }

func (c *Settings) fromFile(path string, b []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var doc yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil // empty, or only comments
	}
	if err == nil {
		if err = dec.Decode(new(yaml.Node)); errors.Is(err, io.EOF) {
			return c.fromMapping(path, "", doc.Content[0])
		}
		if err == nil {
			err = errors.New("it holds a second document after ---")
		}
	}
	return &Error{path, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))}
}

// fromMapping sets the settings of a mapping in the file. prefix is the name of the mapping followed by a dot.
func (c *Settings) fromMapping(path, prefix string, node *yaml.Node) error {
	at := func(n *yaml.Node) string { return fmt.Sprintf("%s line %d", path, n.Line) }
	if node.Kind != yaml.MappingNode {
		if node.Tag == "!!null" {
			return nil
		}
		return &Error{at(node), errors.New("must hold settings of the form name: value")}
	}
	names := slices.Sorted(maps.Keys(c.settings()))
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		name := prefix + key.Value
		origin := at(key)
		if was := c.origins[name]; was != "" {
			return &Error{origin, fmt.Errorf("%s is given twice; the first is at %s", name, was)}
		}
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		switch {
		case slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, name+".") }):
			c.origins[name] = origin
			if err := c.fromMapping(path, name+".", value); err != nil {
				return err
			}
		case !slices.Contains(names, name):
			return &Error{origin, fmt.Errorf("unknown key %s; the keys are %s", name, strings.Join(names, ", "))}
		case value.Kind != yaml.ScalarNode:
			return &Error{origin, fmt.Errorf("%s must be a single value", name)}
		case value.Tag == "!!null":
			c.origins[name] = origin // the default stays
		default:
			if err := c.Set(name, value.Value, origin); err != nil {
				return err
			}
		}
	}
	return nil
}

// fromEnvironment sets the settings that have environment variables: listen is APP_LISTEN, smtp.host APP_SMTP_HOST.
// Empty variables are ignored.
func (c *Settings) fromEnvironment(getenv func(string) string) error {
	for _, name := range slices.Sorted(maps.Keys(c.settings())) {
		variable := "APP_" + screaming(name)
		if text := getenv(variable); text != "" {
			if err := c.Set(name, text, variable); err != nil {
				return err
			}
		}
	}
	return nil
}

// screaming turns insecureHttp into INSECURE_HTTP and smtp.host into SMTP_HOST.
func screaming(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r == '.' || unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		if r != '.' {
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

// Wrong returns an *Error about a setting, with its origin.
func (c Settings) Wrong(name, format string, args ...any) error {
	return &Error{c.origins[name], fmt.Errorf("%s "+format, append([]any{name}, args...)...)}
}

// Level returns the log level. Error: *Error.
func (c Settings) Level() (slog.Level, error) {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	l, ok := levels[c.LogLevel]
	if !ok {
		return 0, c.Wrong("logLevel", "must be debug, info, warn or error; it is %q", c.LogLevel)
	}
	return l, nil
}

// The values of the setting tls that name no files.
const (
	tlsOff  = "off"
	tlsAuto = "auto"
)

// OwnTLS reports whether the service itself speaks TLS.
func (c Settings) OwnTLS() bool { return c.TLS != tlsOff && c.TLS != "" }

// CertificateFiles returns the files of the plant's certificate and its key, "" and "" if there are none: TLS is off,
// or the appliance makes its own.
func (c Settings) CertificateFiles() (cert, key string, err error) {
	if !c.OwnTLS() || c.TLS == tlsAuto {
		return "", "", nil
	}
	cert, key, found := strings.Cut(c.TLS, ",")
	if !found || cert == "" || key == "" {
		return "", "", c.Wrong("tls", "must be off, auto, or CERT,KEY: the files of a certificate and its key with a comma between; it is %q", c.TLS)
	}
	return cert, key, nil
}

// Secure reports whether people reach the service over TLS: its own, or that of a proxy before it.
func (c Settings) Secure() bool { return c.OwnTLS() || strings.HasPrefix(c.URL, "https://") }

// BaseURLAt returns the address that people reach the service at when it listens on an address and port. hosts returns the
// names and addresses by which other machines reach this one, the best first: where the service listens on every
// address, the first of them is taken.
func (c Settings) BaseURLAt(address string, hosts func() []string) string {
	if c.URL != "" {
		return strings.TrimSuffix(c.URL, "/")
	}
	scheme := "http"
	if c.Secure() {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return scheme + "://" + address
	}
	if Everywhere(host) {
		host = "127.0.0.1"
		if list := hosts(); len(list) > 0 {
			host = list[0]
		}
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// Everywhere reports whether a host that is listened on stands for every address of the machine.
func Everywhere(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// Hosts returns the names and addresses by which other machines reach the service, the best first, as far as they are
// known while it does not run.
func (c Settings) Hosts() []string {
	if host, _, err := net.SplitHostPort(c.Listen); err == nil && !Everywhere(host) {
		return []string{host}
	}
	if cert, _, err := c.CertificateFiles(); err == nil && cert != "" {
		return certs.NamedIn(cert)
	}
	return c.Reachable(certs.Reachable(c.Name))
}

// Reachable removes the appliance's name if the service does not answer to it, and everything if the machine is on no
// network.
func (c Settings) Reachable(hosts []string) []string {
	isAddress := func(host string) bool { return net.ParseIP(host) != nil }
	if !slices.ContainsFunc(hosts, isAddress) {
		return nil
	}
	return slices.DeleteFunc(hosts, func(host string) bool { return host == c.Name+".local" && !c.AnswersToName() })
}

// AnswersToName reports whether the service answers to the appliance's name on the network: if others can reach it and
// this is not turned off. It never answers to the machine's own name, which belongs to the operating system.
func (c Settings) AnswersToName() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	return c.MDNS && err == nil && !Loopback(host) && !c.namedAsMachine()
}

// namedAsMachine reports whether the appliance's name is the machine's own.
func (c Settings) namedAsMachine() bool {
	own, err := os.Hostname()
	label, _, _ := strings.Cut(strings.ToLower(own), ".")
	return err == nil && label == c.Name
}

// TimeOfDay returns the hour and the minute at which backups are made.
func (b Backup) TimeOfDay() (hour, minute int, err error) {
	at, err := time.Parse("15:04", b.At)
	return at.Hour(), at.Minute(), err
}

// BackupDir is the folder of the backups.
func (c Settings) BackupDir() string {
	if c.Backup.Dir != "" {
		return c.Backup.Dir
	}
	return c.LocalBackups()
}

// LocalBackups is the folder for backups that stay in the data directory.
func (c Settings) LocalBackups() string { return filepath.Join(c.DataDir, "backups") }

// TLSMode returns the source of the certificate in one word.
func (c Settings) TLSMode() string {
	switch {
	case !c.OwnTLS() && c.Secure():
		return "proxy"
	case !c.OwnTLS():
		return tlsOff
	case c.TLS == tlsAuto:
		return tlsAuto
	}
	return "files"
}

// HostNameList returns the items of the setting.
func (c Settings) HostNameList() (list []string) {
	for name := range strings.SplitSeq(c.HostNames, ",") {
		if name = TidyHost(strings.TrimSpace(name)); name != "" {
			list = append(list, name)
		}
	}
	return list
}

// TidyHost returns the host of a Host header without port and final dot, in small letters.
func TidyHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}

// FlagOf turns clearListen into clear-listen.
func FlagOf(setting string) string {
	return strings.ReplaceAll(strings.ToLower(screaming(setting)), "_", "-")
}
