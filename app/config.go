package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"opsmon/app/web"
)

// Config is the service's configuration. Each setting comes from a flag, else the environment, else app.yaml in
// the data directory, else the default (decisions.md section 7).
type Config struct {
	Listen         string `yaml:"listen"`         // address and port
	URL            string `yaml:"url"`            // how people reach the service; "" = made from Listen
	TLS            string `yaml:"tls"`            // off, or CERT,KEY: two files
	InsecureHTTP   bool   `yaml:"insecureHttp"`   // listen beyond loopback without TLS
	LogLevel       string `yaml:"logLevel"`       // debug, info, warn or error
	MaxConnections int    `yaml:"maxConnections"` // at once, in all; a quarter of it from one address
	SMTP           SMTP   `yaml:"smtp"`

	DataDir string        `yaml:"-"`
	Assets  string        `yaml:"-"` // serve pages from this directory instead of the embedded ones, for development
	Demo    *web.DemoInfo `yaml:"-"` // what the home page tells of a demonstration
}

// SMTP says how mail is sent. Without a host none is.
type SMTP struct {
	Host     string `yaml:"host"`
	Port     int    `yaml:"port"`
	Username string `yaml:"username"`
	Password string `yaml:"password"`
	From     string `yaml:"from"`
	TLS      string `yaml:"tls"` // starttls, tls or none
}

// ConfigFile is the name of the configuration file in the data directory.
const ConfigFile = "app.yaml"

// DefaultConfig gives the configuration of a service that is told nothing.
func DefaultConfig() Config {
	return Config{Listen: "127.0.0.1:8080", TLS: "off", LogLevel: "info", MaxConnections: 1024, SMTP: SMTP{Port: 587, TLS: "starttls"}}
}

// ReadConfig reads app.yaml in the data directory, if it is there, and the environment over it. An unknown key
// in the file, or a value of the wrong kind, is an error that names the line.
func ReadConfig(dataDir string, getenv func(string) string) (Config, error) {
	cfg := DefaultConfig()
	cfg.DataDir = dataDir
	path := filepath.Join(dataDir, ConfigFile)
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return cfg, fmt.Errorf("read configuration: %w", err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	if err := dec.Decode(&cfg); err != nil && !errors.Is(err, io.EOF) {
		text := strings.NewReplacer("yaml: unmarshal errors:\n  ", "", "yaml: ", "", " in type app.Config", "", " in type app.SMTP", " of smtp", "\n  ", "; ").Replace(err.Error())
		return cfg, fmt.Errorf("%s: %s", path, strings.ReplaceAll(text, "field ", "unknown key "))
	}
	if err := fromEnvironment(reflect.ValueOf(&cfg).Elem(), "APP", getenv); err != nil {
		return cfg, err
	}
	return cfg, nil
}

// fromEnvironment sets the fields for which there is a variable: listen is APP_LISTEN, smtp.host APP_SMTP_HOST.
func fromEnvironment(v reflect.Value, prefix string, getenv func(string) string) error {
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("yaml")
		if name == "-" {
			continue
		}
		variable := prefix + "_" + screaming(name)
		field := v.Field(i)
		if field.Kind() == reflect.Struct {
			if err := fromEnvironment(field, variable, getenv); err != nil {
				return err
			}
			continue
		}
		text := getenv(variable)
		if text == "" {
			continue
		}
		switch field.Kind() {
		case reflect.String:
			field.SetString(text)
		case reflect.Int:
			n, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("%s must be a whole number; it is %q", variable, text)
			}
			field.SetInt(int64(n))
		case reflect.Bool:
			b, err := strconv.ParseBool(text)
			if err != nil {
				return fmt.Errorf("%s must be true or false; it is %q", variable, text)
			}
			field.SetBool(b)
		}
	}
	return nil
}

// screaming turns insecureHttp into INSECURE_HTTP.
func screaming(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// Level gives the log level.
func (c Config) Level() (slog.Level, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return 0, fmt.Errorf("logLevel must be debug, info, warn or error; it is %q", c.LogLevel)
	}
	return l, nil
}

// certificate gives the files of the certificate and its key, "" and "" for TLS off.
func (c Config) certificate() (cert, key string, err error) {
	if c.TLS == "off" || c.TLS == "" {
		return "", "", nil
	}
	cert, key, found := strings.Cut(c.TLS, ",")
	if !found || cert == "" || key == "" {
		return "", "", fmt.Errorf("tls must be off, or CERT,KEY: the files of a certificate and its key with a comma between; it is %q", c.TLS)
	}
	return cert, key, nil
}

// Check finds what is wrong with a configuration before anything is opened.
func (c Config) Check() error {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("listen must be an address and a port, such as 127.0.0.1:8080; it is %q", c.Listen)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("listen must end in a port from 0 to 65535; it is %q", c.Listen)
	}
	cert, _, err := c.certificate()
	if err != nil {
		return err
	}
	if cert == "" && !c.InsecureHTTP && !loopback(host) {
		return fmt.Errorf("listening on %s without TLS would show every key and session to the network: give --tls CERT,KEY, or listen on 127.0.0.1, or say --insecure-http if you accept that", c.Listen)
	}
	if c.MaxConnections < 8 {
		return fmt.Errorf("maxConnections must be at least 8; it is %d", c.MaxConnections)
	}
	if c.SMTP.Host != "" && c.SMTP.From == "" {
		return errors.New("smtp.from is required where smtp.host is set: the address that mail comes from")
	}
	switch c.SMTP.TLS {
	case "starttls", "tls", "none":
	default:
		return fmt.Errorf("smtp.tls must be starttls, tls or none; it is %q", c.SMTP.TLS)
	}
	_, err = c.Level()
	return err
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
