package floor

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// TestOnceWaitsForWhatIsBeingTold: a transaction for which not all has been told is tried again after a pause, and the third
// time it must; without the pause all three would come before anything is told.
func TestOnceWaitsForWhatIsBeingTold(t *testing.T) {
	failed := errors.New("the disk is full")
	for _, tt := range []struct {
		name      string
		toldAfter int // pauses
		fails     error
		want      string
	}{
		{"all was told", 0, nil, "try;"},
		{"told in the first pause", 1, nil, "try; pause 2ms; try;"},
		{"told in the second", 2, nil, "try; pause 2ms; try; pause 2ms; must;"},
		{"never", 9, nil, "try; pause 2ms; try; pause 2ms; must;"},
		{"another error is not waited for", 9, failed, "try;"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wk := newWorker(&Floor{cfg: Config{Store: kvtest.New(t, nil)}}, "works")
			got, pauses := "", 0
			wk.pause = func(d time.Duration) {
				got += fmt.Sprintf("pause %v; ", d)
				pauses++
			}
			err := wk.once(func(_ *kv.Tx, must bool) error {
				switch {
				case tt.fails != nil:
					got += "try; "
					return tt.fails
				case must:
					got += "must; "
				case pauses < tt.toldAfter:
					got += "try; "
					return errNotNow
				default:
					got += "try; "
				}
				return nil
			})
			if !errors.Is(err, tt.fails) || got != tt.want+" " {
				t.Errorf("%s(%v), want %s", got, err, tt.want)
			}
		})
	}
}
