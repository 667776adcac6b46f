package app

import (
	"crypto/rand"
	"strings"
	"sync"
	"sync/atomic"

	"opsmon/app/host/config"
)

// setupCode guards the set-up of an empty appliance: it is shown on the machine alone and dies with the set-up.
type setupCode struct {
	mu   sync.Mutex
	code string
}

func (s *setupCode) make() {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.ToLower(rand.Text()) // 26 characters of base 32; 12 of them are 60 bits
	s.code = text[:4] + "-" + text[4:8] + "-" + text[8:12]
}

func (s *setupCode) get() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.code
}

func (s *setupCode) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code = ""
}

// baseURL is the address that people reach the service at. Its port may be known only when the service listens, and
// its host changes with those of the machine.
type baseURL struct {
	cfg     config.Settings
	hosts   func() []string // see Config.baseURL
	address atomic.Pointer[string]
}

// newBaseURL returns the address as far as it is known before the service listens.
func newBaseURL(cfg config.Settings) *baseURL {
	b := &baseURL{cfg: cfg, hosts: cfg.Hosts}
	b.set(cfg.Listen)
	return b
}

// set notes the address and port that is listened on.
func (b *baseURL) set(address string) { b.address.Store(&address) }
func (b *baseURL) get() string        { return b.cfg.BaseURLAt(*b.address.Load(), b.hosts) }
