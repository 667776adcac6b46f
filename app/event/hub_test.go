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
	list, missed, more := h.Since("acme", 1001)
	if got := sequences(list); len(got) != 2 || got[0] != 1003 || got[1] != 1005 || missed {
		t.Errorf("after 1001 there were %v, missed %v; want 1003 and 1005, none missed", got, missed)
	}
	select {
	case <-more:
		t.Error("more is told before there is more")
	default:
	}
	h.Publish("other", Event{})
	select {
	case <-more:
		t.Error("an event of another account is told")
	default:
	}
	h.Publish("acme", Event{})
	<-more
	if got := h.Last(); got != 1008 {
		t.Errorf("the last event is %d, want 1008", got)
	}
}

func TestAWatcherIsToldWhatItMissed(t *testing.T) {
	h := NewHub(1000)
	if _, missed, _ := h.Since("acme", 999); !missed {
		t.Error("a number of an earlier hub is not found to be one")
	}
	if _, missed, _ := h.Since("acme", 1000); missed {
		t.Error("who has seen all is told that something was missed")
	}
	for range keep + 2 {
		h.Publish("acme", Event{})
	}
	for after, want := range map[uint64]bool{1001: true, 1002: false, 1003: false} {
		list, missed, _ := h.Since("acme", after)
		if missed != want {
			t.Errorf("after %d: missed is %v", after, missed)
		}
		if n := min(keep, int(1000+keep+2-after)); len(list) != n || list[n-1].Sequence != 1000+keep+2 {
			t.Errorf("after %d there are %d events up to %d, want %d", after, len(list), list[len(list)-1].Sequence, n)
		}
	}
}
