package mdns

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if runRole() {
		return
	}
	goleak.VerifyTestMain(m)
}
