package upgrade

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"opsmon/kv/file"
)

// trialPrefix begins the names of the directories that a store is unpacked into: for a new version to check, and to be put
// back. They are in the data directory, where there is room for a store, and where the next upgrade or start of the service finds what was left.
const trialPrefix = "upgrade-trial-"

// trial makes such a directory, and gives the path to use, which may be none that people know it by. Whatever an earlier
// upgrade left is removed: the caller holds the lock.
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
		file.RemoveTree(path) // what cannot be removed now is removed by the next one
	}, nil
}

// SweepTrials removes from a data directory the copies of the store, older than an age, that killed upgrades left.
func SweepTrials(dataDir string, age time.Duration, now time.Time) {
	entries, _ := os.ReadDir(dataDir) // what cannot be read is tried again the next time
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), trialPrefix) && now.Sub(info.ModTime()) >= age {
			file.RemoveTree(filepath.Join(dataDir, e.Name()))
		}
	}
}
