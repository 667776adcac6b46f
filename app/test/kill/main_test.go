package kill_test

import (
	"testing"

	"opsmon/app/test/apptest"
)

// TestMain: no test of this room leaves a goroutine behind.
func TestMain(m *testing.M) { apptest.Main(m) }
