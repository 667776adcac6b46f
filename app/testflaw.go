//go:build testflaw

package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// This file makes a newer program for tests of upgrades: one that gets ready and does not last. It is in no program that people run.

// testFlaw says what goes wrong in a service, and is set with -ldflags "-X opsmon/app.testFlaw=…": "deletes", the store before
// it is opened; "dies-4s", the process after a time.
var testFlaw string

func init() {
	if !slices.Contains(os.Args, "serve") {
		return
	}
	dir := "/var/lib/app"
	if i := slices.Index(os.Args, "--data-dir"); i >= 0 && i+1 < len(os.Args) {
		dir = os.Args[i+1]
	}
	if testFlaw == "deletes" {
		os.Remove(filepath.Join(dir, StoreFile))
	}
	if after, err := time.ParseDuration(strings.TrimPrefix(testFlaw, "dies-")); err == nil {
		time.AfterFunc(after, func() { os.Exit(3) })
	}
}
