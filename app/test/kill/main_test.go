package kill_test

import (
	"testing"

	"opsmon/app/test/apptest"
)

// TestMain checks that no test of this package leaves a goroutine.
func TestMain(m *testing.M) { apptest.Main(m) }
