package auth

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// throttle limits how often something happens for each of many keys. It remembers maxTracked of them and
// forgets the one that was seen longest ago, so that a flood of addresses costs no more memory than that.
type throttle struct {
	every time.Duration // one more is allowed
	burst int           // at once

	mu     sync.Mutex
	byKey  map[string]*list.Element // of tracked
	recent *list.List               // front: seen last
}

type tracked struct {
	key     string
	limiter *rate.Limiter
}

const maxTracked = 10_000

func newThrottle(burst int, every time.Duration) *throttle {
	return &throttle{every: every, burst: burst, byKey: map[string]*list.Element{}, recent: list.New()}
}

// take counts one event. When there were too many it is not counted, and retryAfter is how long until one is
// allowed again.
func (t *throttle) take(key string, now time.Time) (allowed bool, retryAfter time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	element := t.byKey[key]
	if element == nil {
		if len(t.byKey) >= maxTracked {
			oldest := t.recent.Remove(t.recent.Back()).(tracked)
			delete(t.byKey, oldest.key)
		}
		element = t.recent.PushFront(tracked{key, rate.NewLimiter(rate.Every(t.every), t.burst)})
		t.byKey[key] = element
	}
	t.recent.MoveToFront(element)
	reservation := element.Value.(tracked).limiter.ReserveN(now, 1)
	if wait := reservation.DelayFrom(now); wait > 0 {
		reservation.CancelAt(now)
		return false, wait
	}
	return true, 0
}

// AddressKey is what an address is counted under: the address itself, or the /64 network of an IPv6 one, because its
// owner has all of that. A port is left out.
func AddressKey(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		withPort, err := netip.ParseAddrPort(address)
		if err != nil {
			return address
		}
		ip = withPort.Addr()
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	network, _ := ip.Prefix(64) // 64 is never too long for IPv6
	return network.String()
}

// WrongCredential counts a wrong key, session or link from an address: 20 at once and 10 a minute are allowed
// (decisions.md section 5). Past that it is false and tells when to try again. Call it for wrong credentials only:
// a right one from the same address goes on working.
func (s *Service) WrongCredential(address string) (allowed bool, retryAfter time.Duration) {
	return s.wrong.take(AddressKey(address), s.clock())
}
