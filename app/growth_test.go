package app

import (
	"fmt"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/httpapi/configuration"
	"opsmon/app/test/apptest"
	"opsmon/kv/powercut"
)

// TestGrowth lives through months of sign-ins, keys and changes of users, day by day. Once every kind has had its time, the
// store takes no more room than before. The ends of keys are kept for 400 days, so those are among it in the long form
// alone. (Revisions of the configuration are kept for ever and are not among it.)
func TestGrowth(t *testing.T) {
	apptest.Long(t)
	h := newHousehold(t)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h.cfg.DataDir = powercut.Scratch(t) // it is about room, not about syncs
	h.open()
	if _, err := h.bootstrap(configuration.BootstrapInput{Domain: "northgate.example", Email: "it@northgate.example", First: true, By: auth.Local("")}); err != nil {
		t.Fatal(err)
	}
	local := auth.Local("northgate")
	written := 0
	perDay := 4 + 2 // audit records
	if growthKeys {
		perDay += 4 * 4
	}
	day := func() {
		for range 4 {
			if growthKeys {
				h.signIn()
			}
			if _, err := h.services.Auth.Login(auth.LoginRequest{Destination: "it@northgate.example", Address: "10.0.0.9"}); err != nil {
				t.Fatal(err)
			}
		}
		person := fmt.Sprintf("temp%d@elsewhere.example", written)
		if _, err := h.services.Auth.AddUser(local, person, auth.Member); err != nil {
			t.Fatal(err)
		}
		if err := h.services.Auth.RemoveUser(local, person); err != nil {
			t.Fatal(err)
		}
		written += perDay
		h.now = h.now.Add(23 * time.Hour)
		h.hours(1)
	}
	var sizes []int64
	for month := range 2 * growthMonths {
		for range 30 {
			day()
		}
		sizes = append(sizes, h.store.Size())
		if kept := h.audited(); month > 1 && kept > 31*perDay {
			t.Errorf("month %d: %d audit records are kept", month, kept)
		}
	}
	u, err := h.store.Usage()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d changes; KiB by month: %v; the file has %d KiB, %d of them free", written, kib(sizes), u.Bytes>>10, u.Free>>10)
	before, after := sizes[growthMonths-1], sizes[2*growthMonths-1]
	if after > before+before/10 {
		t.Errorf("the store grew from %d KiB to %d KiB in %d months", before>>10, after>>10, growthMonths)
	}
}

func kib(sizes []int64) (out []int64) {
	for _, size := range sizes {
		out = append(out, size>>10)
	}
	return out
}
