package auth

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxTracked is the maximum number of tracked keys of each kind.
const maxTracked = 10_000

// tracked stores a value for each of up to maxTracked keys and evicts the least recently used, which bounds the
// memory for a flood of addresses.
type tracked[V any] struct {
	mu     sync.Mutex
	byKey  map[string]*list.Element // of *entry[V]
	recent *list.List               // front: last used
}

type entry[V any] struct {
	key   string
	value V
}

func newTracked[V any]() *tracked[V] {
	return &tracked[V]{byKey: map[string]*list.Element{}, recent: list.New()}
}

// seen returns the entry of a key, and creates it if missing. t.mu must be held.
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

// throttle limits how often an event may occur for each of many keys.
type throttle struct {
	every time.Duration // interval at which one more event is allowed
	burst int           // maximum number at once
	keys  *tracked[*rate.Limiter]
}

func newThrottle(burst int, every time.Duration) *throttle {
	return &throttle{every: every, burst: burst, keys: newTracked[*rate.Limiter]()}
}

// take counts an event. If there were too many, it does not count the event and returns the time until one is allowed
// again.
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

// AddressKey returns the key for counting an address: the address itself, or the /64 network of an IPv6 address,
// which usually has a single owner. It drops a port.
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
// (decisions.md section 5). Beyond that it returns false and when to retry. Only wrong credentials may be counted: a
// valid one from the same address continues to work.
func (s *Service) WrongCredential(address string) (allowed bool, retryAfter time.Duration) {
	return s.wrong.take(AddressKey(address), s.clock())
}
