package event

import (
	"testing"
)

func sequences(list []Event) (s []uint64) {
	for _, e := range list {
		s = append(s, e.Sequence)
	}
	return s
}

func TestAWatcherGoesOnWhereItWas(t *testing.T) {
	h := NewHub(1000)
	for range 3 {
		h.Publish("acme", Event{Type: Station})
		h.Publish("other", Event{Type: Station})
	}
	list, missed := h.Since("acme", 1001)
	if got := sequences(list); len(got) != 2 || got[0] != 1003 || got[1] != 1005 || missed {
		t.Errorf("after 1001 there were %v, missed %v; want 1003 and 1005, none missed", got, missed)
	}
	if got := h.Last(); got != 1006 {
		t.Errorf("the last event is %d, want 1006", got)
	}
}

func TestAWatcherIsToldWhatItMissed(t *testing.T) {
	h := NewHub(1000)
	if _, missed := h.Since("acme", 999); !missed {
		t.Error("a number of an earlier hub is not detected")
	}
	if _, missed := h.Since("acme", 1000); missed {
		t.Error("missed is true although nothing was missed")
	}
	for range keep + 2 {
		h.Publish("acme", Event{})
	}
	for after, want := range map[uint64]bool{1001: true, 1002: false, 1003: false} {
		list, missed := h.Since("acme", after)
		if missed != want {
			t.Errorf("after %d: missed is %v", after, missed)
		}
		if n := min(keep, int(1000+keep+2-after)); len(list) != n || list[n-1].Sequence != 1000+keep+2 {
			t.Errorf("after %d there are %d events up to %d, want %d", after, len(list), list[len(list)-1].Sequence, n)
		}
	}
}

// TestAFollowerSleepsOn checks that a follower of some stations is notified of those and of configurations, but not
// of other accounts.
func TestAFollowerSleepsOn(t *testing.T) {
	h := NewHub(0)
	one, all := h.Follow("acme", []string{"PACK-1"}), h.Follow("acme", nil)
	woken := func(f *Follower) bool {
		select {
		case <-f.News():
			return true
		default:
			return false
		}
	}
	for _, tt := range []struct {
		account    string
		e          Event
		first, any bool
	}{
		{"acme", Event{Type: Station, Station: "PACK-1"}, true, true},
		{"acme", Event{Type: Station, Station: "PACK-2"}, false, true},
		{"acme", Event{Type: Schedule}, false, true},
		{"acme", Event{Type: Account}, true, true},
		{"other", Event{Type: Station, Station: "PACK-1"}, false, false},
	} {
		h.Publish(tt.account, tt.e)
		h.Publish(tt.account, tt.e) // one notification for both events
		if got, any := woken(one), woken(all); got != tt.first || any != tt.any || woken(one) || woken(all) {
			t.Errorf("%s %+v: woken %v, who follows all %v; want %v and %v", tt.account, tt.e, got, any, tt.first, tt.any)
		}
	}
	h.Unfollow("acme", one)
	h.Publish("acme", Event{Type: Account})
	if woken(one) {
		t.Error("a follower is notified after Unfollow")
	}
}
