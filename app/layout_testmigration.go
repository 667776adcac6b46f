//go:build testmigration

package app

import (
	"errors"
	"os"
	"slices"

	"opsmon/kv"
)

// This file makes a newer program for tests of upgrades: one with a migration more. It is in no program that people run.

// testMigration says how it goes, and is set with -ldflags "-X opsmon/app.testMigration=…": "" well; "fails"; and only in
// a service, not in a check before: "fails-serving"; "hangs-serving", so that it never gets ready; "unready-serving" after
// the migration itself is done.
var testMigration string

func init() {
	migrations = append(migrations, kv.Migration{Name: "of a test", Run: func(tx *kv.Tx) error {
		serving := slices.Contains(os.Args, "serve")
		switch {
		case testMigration == "fails":
			return errors.New("this migration always fails")
		case testMigration == "fails-serving" && serving:
			return errors.New("this migration fails in a service")
		case testMigration == "hangs-serving" && serving:
			select {}
		}
		return nil
	}}, kv.Migration{Name: "of a test, after it", Run: func(*kv.Tx) error {
		if testMigration == "unready-serving" && slices.Contains(os.Args, "serve") {
			select {}
		}
		return nil
	}})
}
