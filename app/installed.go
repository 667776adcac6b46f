package app

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

// InstalledSettings is the text of app.yaml that a new installation gets.
func InstalledSettings() []byte { return installedSettings }

// InstalledConfig gives the configuration that a service installed on a data directory has: that of its app.yaml, or
// of InstalledSettings when there is none. The environment of who asks does not count. Errors: *SettingError, and that
// the file cannot be read.
func InstalledConfig(dataDir string) (Config, error) {
	path := filepath.Join(dataDir, ConfigFile)
	var cfg Config
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		cfg = DefaultConfig()
		cfg.DataDir = dataDir
		if err := cfg.fromFile(path, installedSettings); err != nil {
			return cfg, err
		}
	} else if cfg, err = ReadConfig(dataDir, func(string) string { return "" }); err != nil {
		return cfg, err
	}
	return cfg, cfg.Check()
}

// Ports gives the TCP ports that the service is reached at over the network, none when it keeps to this machine.
func (c Config) Ports() []int {
	var ports []int
	for _, address := range []string{c.Listen, c.ClearListen, c.MQTT.Listen, c.MQTT.InsecureListen()} {
		host, port, err := net.SplitHostPort(address)
		if n, e := strconv.Atoi(port); err == nil && e == nil && !loopback(host) {
			ports = append(ports, n)
		}
	}
	return ports
}
