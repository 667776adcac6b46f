package auth

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWrongCredential(t *testing.T) {
	f := newFixture(t)
	synctest.Test(t, func(t *testing.T) {
		s := &Service{clock: time.Now, wrong: f.wrong}
		wrong := func(address string, want bool, wantAfter time.Duration) {
			t.Helper()
			if ok, after := s.WrongCredential(address); ok != want || after != wantAfter {
				t.Errorf("%s: %v, %v, want %v, %v", address, ok, after, want, wantAfter)
			}
		}
		for range 20 {
			wrong("10.0.0.1", true, 0)
		}
		wrong("10.0.0.1", false, 6*time.Second)
		wrong("10.0.0.1:5555", false, 6*time.Second)
		wrong("::ffff:10.0.0.1", false, 6*time.Second)
		wrong("10.0.0.2", true, 0)
		time.Sleep(4 * time.Second)
		wrong("10.0.0.1", false, 2*time.Second) // a refused one is not counted
		time.Sleep(2 * time.Second)
		wrong("10.0.0.1", true, 0)
		wrong("10.0.0.1", false, 6*time.Second)
		time.Sleep(time.Minute)
		for range 10 {
			wrong("10.0.0.1", true, 0)
		}
		wrong("10.0.0.1", false, 6*time.Second)
		time.Sleep(time.Hour)
		for range 20 { // no more, after any time without events
			wrong("10.0.0.1", true, 0)
		}
		wrong("10.0.0.1", false, 6*time.Second)
	})
	// A valid key from that address continues to work: authentication does not use the throttle.
	_, raw, err := f.CreateKey(f.admin, KeyInput{})
	f.want(err, none)
	f.key(raw)
}

func TestThrottleIsBounded(t *testing.T) {
	th := newThrottle(1, time.Hour)
	now := time.Now()
	take := func(key string) bool { ok, _ := th.take(key, now); return ok }
	take("kept")
	for i := range 3 * maxTracked {
		take(fmt.Sprint(i))
		if take("kept") {
			t.Fatal("an address that goes on trying was forgotten")
		}
	}
	if len(th.keys.byKey) != maxTracked || th.keys.recent.Len() != maxTracked {
		t.Errorf("%d and %d are tracked", len(th.keys.byKey), th.keys.recent.Len())
	}
	if !take("0") {
		t.Error("the oldest was not forgotten")
	}
}

func TestAddressKey(t *testing.T) {
	for _, c := range []struct{ address, want string }{
		{"10.1.2.3", "10.1.2.3"},
		{"10.1.2.3:80", "10.1.2.3"},
		{"::ffff:10.1.2.3", "10.1.2.3"},
		{"2001:db8:1:2:3::4", "2001:db8:1:2::/64"},
		{"[2001:db8:1:2::9]:443", "2001:db8:1:2::/64"},
		{"fe80::1%eth0", "fe80::/64"},
		{"", ""},
		{"pipe", "pipe"},
	} {
		if got := AddressKey(c.address); got != c.want {
			t.Errorf("%q: %q, want %q", c.address, got, c.want)
		}
	}
}

// TestBackground checks that the background work writes the last use within a minute and ends with Close.
func TestBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.signIn(plantA, boss)
		uses := func() int { return f.counts()["uses"] }
		if n := uses(); n != 0 {
			t.Errorf("%d uses before the first minute", n)
		}
		time.Sleep(time.Minute + time.Millisecond)
		synctest.Wait()
		if n := uses(); n != 1 {
			t.Errorf("%d uses after a minute", n)
		}
		if strings.Contains(f.logged.String(), "ERROR") {
			t.Errorf("something failed: %s", f.logged)
		}
	})
}
