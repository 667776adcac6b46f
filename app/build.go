package app

import (
	"runtime"
	"runtime/debug"

	"opsmon/app/engine/history"
)

// Build says how the binary was built.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // "" when not known
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Store   int    `json:"store"`   // version of the store that it works with: how many migrations it knows
	History int    `json:"history"` // format of the days that it computes; those of another one are computed again
}

// version and commit are set by release builds, with -ldflags "-X opsmon/app.version=… -X opsmon/app.commit=…".
var version, commit string

// BuildInfo returns how the binary was built; a plain build knows its commit from git.
func BuildInfo() Build {
	b := Build{Version: version, Commit: commit, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Store: len(migrations), History: history.Format}
	if b.Version == "" {
		b.Version = "devel"
	}
	if info, ok := debug.ReadBuildInfo(); ok && b.Commit == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = s.Value
			}
		}
	}
	return b
}
