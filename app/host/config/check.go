package config

import (
	"errors"
	"math"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"opsmon/app/host/certs"
)

// Check returns the first error in a configuration, without opening anything. Error: *Error.
func (c Settings) Check() error {
	host, err := c.checkAddress("listen", c.Listen)
	if err != nil {
		return err
	}
	if _, _, err := c.CertificateFiles(); err != nil {
		return err
	}
	if !c.OwnTLS() && !c.InsecureHTTP && !Loopback(host) {
		return c.Wrong("listen", "is %s: without TLS it would show every key and session to the network; give --tls auto or --tls CERT,KEY, or listen on 127.0.0.1, or say --insecure-http if you accept that", c.Listen)
	}
	if c.ClearListen != "" {
		if _, err := c.checkAddress("clearListen", c.ClearListen); err != nil {
			return err
		}
		if !c.OwnTLS() {
			return c.Wrong("clearListen", "leads people to the address with TLS, and there is none: set tls, or leave clearListen out")
		}
	}
	if !certs.IsLabel(c.Name) {
		return c.Wrong("name", "must be 1 to 63 lower-case letters, digits and hyphens, such as opsmon, which people then open as opsmon.local; it is %q", c.Name)
	}
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.TrimSuffix(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return c.Wrong("url", "must be http:// or https:// and a host, such as https://opsmon.plant.example, with no path; it is %q", c.URL)
		}
	}
	for _, name := range c.HostNameList() {
		if net.ParseIP(name) == nil && !certs.IsHostName(strings.TrimPrefix(name, "*.")) {
			return c.Wrong("hostNames", "must be names or addresses with commas between, such as plant.example or *.plant.example; it has %q", name)
		}
	}
	if c.AuditDays < 30 || c.AuditDays > 36500 {
		return c.Wrong("auditDays", "must be from 30 to 36500; it is %d", c.AuditDays)
	}
	if err := c.checkSignals(); err != nil {
		return err
	}
	if err := c.checkMQTT(); err != nil {
		return err
	}
	if err := c.checkPlantBroker(); err != nil {
		return err
	}
	if c.MaxConnections < 8 {
		return c.Wrong("maxConnections", "must be at least 8; it is %d", c.MaxConnections)
	}
	if c.Memory.Limit != 0 && c.Memory.Limit < 128 {
		return c.Wrong("memory.limit", "must be 128 (MiB) or more, or 0 for a share of the machine's memory; it is %d", c.Memory.Limit)
	}
	if _, err := c.Level(); err != nil {
		return err
	}
	if err := c.checkMail(); err != nil {
		return err
	}
	return c.checkBackup()
}

// Unusable returns what keeps an app.yaml of a text from being used where c holds now: it does not parse, or Check refuses it,
// also with what flags and the environment give besides. Error: *Error.
func (c Settings) Unusable(text []byte) error {
	cfg, err := Parse(c.DataDir, text, func(string) string { return "" })
	if err != nil {
		return err
	}
	alone := cfg.Check()
	if alone == nil || cfg.fromEnvironment(os.Getenv) != nil {
		return alone
	}
	given := c.settings()
	for name, field := range cfg.settings() {
		if c.FixedBy(name) != "" {
			field.Set(given[name])
		}
	}
	if cfg.Check() == nil {
		return nil
	}
	return alone
}

func (c Settings) checkSignals() error {
	for _, setting := range []struct {
		name                string
		value, least, limit int
	}{
		{"signals.days", c.Signals.Days, 8, 36500}, {"signals.perSecond", c.Signals.PerSecond, 10, 10_000_000},
		{"signals.aliveMinutes", c.Signals.AliveMinutes, 1, 60}, {"signals.spreadMinutes", c.Signals.SpreadMinutes, 1, 60}, {"windows.days", c.Windows.Days, 30, 36500},
	} {
		if setting.value < setting.least || setting.value > setting.limit {
			return c.Wrong(setting.name, "must be from %d to %d; it is %d", setting.least, setting.limit, setting.value)
		}
	}
	if c.Windows.Days < c.Signals.Days {
		return c.Wrong("windows.days", "must be as many as signals.days or more, which is %d; it is %d", c.Signals.Days, c.Windows.Days)
	}
	return nil
}

func (c Settings) checkBackup() error {
	b := c.Backup
	if _, _, err := b.TimeOfDay(); err != nil {
		return c.Wrong("backup.at", "must be a time of day from 00:00 to 23:59, such as 01:30; it is %q", b.At)
	}
	for _, setting := range []struct {
		name                string
		value, least, limit int
	}{
		{"every", b.Every, 0, 31}, {"keepDaily", b.KeepDaily, 1, 3660}, {"keepWeekly", b.KeepWeekly, 0, 520}, {"keepMonthly", b.KeepMonthly, 0, 120},
		{"maxBytes", b.MaxBytes, 0, math.MaxInt},
	} {
		switch name := "backup." + setting.name; {
		case setting.value < setting.least && setting.limit == math.MaxInt:
			return c.Wrong(name, "must be %d or more; it is %d", setting.least, setting.value)
		case setting.value < setting.least || setting.value > setting.limit:
			return c.Wrong(name, "must be from %d to %d; it is %d", setting.least, setting.limit, setting.value)
		}
	}
	return nil
}

// checkAddress returns the error of a setting that is a listen address, and its host.
func (c Settings) checkAddress(name, address string) (host string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", c.Wrong(name, "must be an address and a port, such as 127.0.0.1:8080; it is %q", address)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", c.Wrong(name, "must end in a port from 0 to 65535; it is %q", address)
	}
	return host, nil
}

func (c Settings) checkMail() error {
	if c.SMTP.Host != "" && c.SMTP.From == "" {
		return &Error{c.origins["smtp.host"], errors.New("smtp.from is required where smtp.host is set: the address that mail comes from")}
	}
	if c.SMTP.Port < 1 || c.SMTP.Port > 65535 {
		return c.Wrong("smtp.port", "must be from 1 to 65535; it is %d", c.SMTP.Port)
	}
	switch c.SMTP.TLS {
	case "starttls", "tls", "none":
		return nil
	}
	return c.Wrong("smtp.tls", "must be starttls, tls or none; it is %q", c.SMTP.TLS)
}

func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
