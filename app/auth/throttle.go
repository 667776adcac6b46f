package auth

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxTracked is how many keys are remembered of each kind.
const maxTracked = 10_000

// tracked remembers something of each of maxTracked keys and forgets the one that was seen the longest ago, so that a flood of
// addresses costs no more memory than that.
type tracked[V any] struct {
	mu     sync.Mutex
	byKey  map[string]*list.Element // of *entry[V]
	recent *list.List               // front: seen last
}

type entry[V any] struct {
	key   string
	value V
}

func newTracked[V any]() *tracked[V] {
	return &tracked[V]{byKey: map[string]*list.Element{}, recent: list.New()}
}

// seen returns the entry of a key, which is made where there is none. t.mu must be held.
func (t *tracked[V]) seen(key string, make func() V) *entry[V] {
	element := t.byKey[key]
	if element == nil {
		if len(t.byKey) >= maxTracked {
			oldest := t.recent.Remove(t.recent.Back()).(*entry[V])
			delete(t.byKey, oldest.key)
		}
		element = t.recent.PushFront(&entry[V]{key, make()})
		t.byKey[key] = element
	}
	t.recent.MoveToFront(element)
	return element.Value.(*entry[V])
}

func (t *tracked[V]) put(key string, v V) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen(key, func() V { return v }).value = v
}

func (t *tracked[V]) get(key string) (v V, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if element := t.byKey[key]; element != nil {
		return element.Value.(*entry[V]).value, true
	}
	return v, false
}

// throttle limits how often something happens for each of many keys.
type throttle struct {
	every time.Duration // one more is allowed
	burst int           // at once
	keys  *tracked[*rate.Limiter]
}

func newThrottle(burst int, every time.Duration) *throttle {
	return &throttle{every: every, burst: burst, keys: newTracked[*rate.Limiter]()}
}

// take counts one event. When there were too many it is not counted, and retryAfter is how long until one is
// allowed again.
func (t *throttle) take(key string, now time.Time) (allowed bool, retryAfter time.Duration) {
	t.keys.mu.Lock()
	defer t.keys.mu.Unlock()
	limiter := t.keys.seen(key, func() *rate.Limiter { return rate.NewLimiter(rate.Every(t.every), t.burst) }).value
	reservation := limiter.ReserveN(now, 1)
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
// (decisions.md section 5). Past that it is false and returns when to try again. Call it for wrong credentials only:
// a right one from the same address goes on working.
func (s *Service) WrongCredential(address string) (allowed bool, retryAfter time.Duration) {
	return s.wrong.take(AddressKey(address), s.clock())
}
