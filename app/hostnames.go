package app

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"opsmon/app/host/certs"
	"opsmon/app/host/config"
)

// hostNames knows by which names and addresses the service may be asked for. A page of another site whose name was made to
// lead here (DNS rebinding) would otherwise be one of the service's own pages to the browser that shows it.
type hostNames struct {
	set     []string                        // by settings: names, addresses, and names such as *.plant.example
	cert    func() []string                 // names in the certificate
	machine func() ([]string, []netip.Addr) // what the machine is called now

	mu    sync.Mutex
	at    time.Time // when the machine was looked at
	names []string
	addrs []netip.Addr
}

// lookAgain is how old what is known of the machine may be when a request asks for something else: addresses change (DHCP).
const lookAgain = time.Second

// newHostNames returns what a configuration lets the service be asked for.
func newHostNames(c config.Settings, cert func() []string) *hostNames {
	h := &hostNames{cert: cert, machine: func() ([]string, []netip.Addr) { return certs.Machine(c.Name) }}
	if u, err := url.Parse(c.URL); err == nil {
		h.set = append(h.set, config.TidyHost(u.Host))
	}
	for _, address := range []string{c.Listen, c.ClearListen} {
		if host, _, err := net.SplitHostPort(address); err == nil && !config.Everywhere(host) {
			h.set = append(h.set, config.TidyHost(host))
		}
	}
	h.set = append(h.set, c.HostNameList()...)
	return h
}

// has reports whether the service may be asked for by the host of a request. One without a host is none of a browser's.
func (h *hostNames) has(r *http.Request) bool {
	host := config.TidyHost(r.Host)
	if host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") || covered(h.set, host) {
		return true
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return h.hasAddress(r, addr.Unmap().WithZone(""))
	}
	if covered(h.cert(), host) {
		return true
	}
	names, _ := h.known(func() bool { return slices.Contains(h.names, host) })
	return slices.Contains(names, host)
}

// hasAddress reports whether an address is this machine's, or the one that the connection came to.
func (h *hostNames) hasAddress(r *http.Request, addr netip.Addr) bool {
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); addr.IsLoopback() || ok && at.AddrPort().Addr().Unmap().WithZone("") == addr {
		return true
	}
	_, addrs := h.known(func() bool { return slices.Contains(h.addrs, addr) })
	return slices.Contains(addrs, addr)
}

// known returns what the machine is called. It looks again where that is not enough, but not all the time.
func (h *hostNames) known(enough func() bool) ([]string, []netip.Addr) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !enough() && time.Since(h.at) > lookAgain {
		h.names, h.addrs = h.machine()
		h.at = time.Now()
	}
	return h.names, h.addrs
}

// covered reports whether a list has a host, or a wildcard for its first label.
func covered(list []string, host string) bool {
	_, parent, found := strings.Cut(host, ".")
	return slices.ContainsFunc(list, func(one string) bool {
		one = strings.ToLower(one)
		return one == host || found && one == "*."+parent
	})
}

// onlyForHere refuses requests that ask for another host. Whether the service lives anybody may ask by any name: load balancers
// do, and nothing of the plant is in the answer.
func (h *Host) onlyForHere(next http.Handler) http.Handler {
	names := newHostNames(h.cfg, func() []string {
		if h.secure.keeper == nil {
			return nil
		}
		list, _ := h.secure.keeper.Hosts()
		return list
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" && !names.has(r) {
			h.current().RefuseHost(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
