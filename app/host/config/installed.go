package config

import (
	_ "embed"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

//go:embed installed.yaml
var installedSettings []byte

// InstalledText is the text of app.yaml that a new installation gets.
func InstalledText() []byte { return installedSettings }

// LoadInstalled returns the configuration of the service installed on a data directory: from its app.yaml, or from
// InstalledText if there is none. The caller's environment is ignored. Errors: *Error; the file cannot be read.
func LoadInstalled(dataDir string) (Settings, error) {
	path := filepath.Join(dataDir, File)
	var cfg Settings
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		cfg = Defaults()
		cfg.DataDir = dataDir
		if err := cfg.fromFile(path, installedSettings); err != nil {
			return cfg, err
		}
	} else if cfg, err = Load(dataDir, func(string) string { return "" }); err != nil {
		return cfg, err
	}
	return cfg, cfg.Check()
}

// Ports returns the TCP ports on which the service is reachable over the network, none if it only listens on this
// machine.
func (c Settings) Ports() []int {
	var ports []int
	for _, address := range []string{c.Listen, c.ClearListen, c.MQTT.Listen, c.MQTT.InsecureListen()} {
		host, port, err := net.SplitHostPort(address)
		if n, e := strconv.Atoi(port); err == nil && e == nil && !Loopback(host) {
			ports = append(ports, n)
		}
	}
	return ports
}
