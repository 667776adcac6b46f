package upgrade

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"opsmon/kv/file"
)

// trialPrefix begins the names of the directories that a store is unpacked into, to be checked by a new version or to
// be restored. They are in the data directory, which has space for a store, and where the next upgrade or start of the
// service finds leftovers.
const trialPrefix = "upgrade-trial-"

// trial makes such a directory and returns the path to use, which may differ from its usual one. It removes leftovers
// of earlier upgrades: the caller holds the lock.
func (cfg *Config) trial() (dir string, end func(), err error) {
	SweepTrials(cfg.DataDir, 0, cfg.Clock())
	path, err := os.MkdirTemp(cfg.DataDir, trialPrefix+"*")
	if err != nil {
		return "", nil, err
	}
	dir, release, err := pin(path)
	if err != nil {
		return "", nil, errors.Join(err, file.RemoveTree(path))
	}
	return dir, func() {
		release()
		file.RemoveTree(path) // what cannot be removed now, the next one removes
	}, nil
}

// SweepTrials removes from a data directory the copies of the store, older than an age, that killed upgrades left.
func SweepTrials(dataDir string, age time.Duration, now time.Time) {
	entries, _ := os.ReadDir(dataDir) // what cannot be read is retried the next time
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), trialPrefix) && now.Sub(info.ModTime()) >= age {
			file.RemoveTree(filepath.Join(dataDir, e.Name()))
		}
	}
}
