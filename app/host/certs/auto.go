package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config configures Open.
type Config struct {
	Dir  string // with ca.crt and ca.key; created if missing
	Name string // the appliance is <Name>.local: a label of lower-case letters, digits and hyphens. "" = DefaultName
	// Hosts gives the names and addresses that people reach the machine by. nil = the machine's own names and the
	// addresses of all its interfaces. It is asked every 30 seconds.
	Hosts func() ([]string, []netip.Addr)
	Clock func() time.Time // nil = time.Now
	Log   *slog.Logger     // nil = none
}

// DefaultName is the default label of the appliance. It differs from the machine's own name, to which its operating
// system answers.
const DefaultName = "opsmon"

// pollHosts is how often the machine's names, addresses and clock are checked.
const pollHosts = 30 * time.Second

// Auto answers with certificates from an authority of the appliance's own. It may be used by many goroutines at once.
type Auto struct {
	cfg     Config
	ca      *authority
	disk    disk
	current atomic.Pointer[leaf]
	stop    context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex // one certificate is made at a time
	omitted []string   // names and addresses that the authority's constraints exclude
	told    time.Time  // when the end of the authority was last logged
}

// Open loads or creates the authority in the directory, loads its certificate if it is still right or issues a new one,
// and keeps it right until Close. It writes the authority's two files once, and ServerFile with each new certificate.
// Errors: a wrong Name; a directory or file that cannot be read or written; files that are damaged, do not belong
// together or are incomplete. The error says what to do.
func Open(cfg Config) (*Auto, error) {
	return open(cfg, disk{dir: cfg.Dir})
}

func open(cfg Config, d disk) (*Auto, error) {
	if cfg.Name == "" {
		cfg.Name = DefaultName
	}
	if !IsLabel(cfg.Name) {
		return nil, fmt.Errorf("the appliance's name must be 1 to 63 lower-case letters, digits and hyphens; it is %q", cfg.Name)
	}
	if cfg.Hosts == nil {
		cfg.Hosts = machine()
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the certificates: %w", err)
	}
	a := &Auto{cfg: cfg, disk: d, done: make(chan struct{})}
	names, addrs := a.hosts()
	var err error
	if a.ca, err = openAuthority(d, cfg.Clock(), cfg.Name, names, addrs, cfg.Log); err != nil {
		return nil, err
	}
	a.begin()
	if a.current.Load() == nil {
		return nil, errors.New("the first certificate could not be made; the log says why")
	}
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	go a.watch(ctx)
	return a, nil
}

// Close ends the watch over addresses and clock. The certificate in use stays as it is.
func (a *Auto) Close() {
	a.stop()
	<-a.done
}

// TLS returns a listener's configuration: TLS 1.2 or later with forward secrecy, HTTP/2, and the certificate that is in
// use when a client connects.
func (a *Auto) TLS() *tls.Config { return configuration(a.get) }

// CA returns the authority's certificate.
func (a *Auto) CA() *CA { return &a.ca.CA }

// Fingerprint returns the authority's, as CA.Fingerprint does.
func (a *Auto) Fingerprint() string { return a.ca.Fingerprint() }

// Problems returns the current problems, as sentences for people that say what to do; none if all is well: the
// authority ends within a year, the clock shows a time before it was made, or its constraints exclude names or
// addresses of the machine. They are logged as well.
func (a *Auto) Problems() []string {
	a.refresh() // a problem that it solves is not reported
	list := a.ca.Problems(a.cfg.Clock(), a.cfg.Dir)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.omitted) > 0 {
		list = append(list, a.omission())
	}
	return list
}

// omission returns the problem of names and addresses that the certificates leave out.
func (a *Auto) omission() string {
	return fmt.Sprintf("the certificate leaves out %s, since the authority was made before the machine had these and may not vouch for them: use other names or addresses, or %s", strings.Join(a.omitted, ", "), anew(a.cfg.Dir))
}

// Expires returns the end of the time of the certificate in use. It is renewed long before.
func (a *Auto) Expires() time.Time { return a.current.Load().tls.Leaf.NotAfter }

// Hosts returns the names and addresses in the certificate in use, sorted. The caller must not change them.
func (a *Auto) Hosts() ([]string, []netip.Addr) {
	l := a.current.Load()
	return l.names, l.addrs
}

// Reachable returns the names and addresses in the certificate in use by which other machines reach this one, the best
// for people first: the address that the machine itself would use, its name on the local network, and the others.
func (a *Auto) Reachable() []string {
	names, addrs := a.Hosts()
	return reachable(names, addrs, a.cfg.Name+".local", outward())
}

// get returns the certificate for a connection. One that came to an address which is not in the certificate came to one
// that the machine has got since the last look.
func (a *Auto) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	l := a.current.Load()
	if !a.ca.timely(l, a.cfg.Clock()) || !l.has(hello.Conn) {
		a.refresh()
		l = a.current.Load()
	}
	return &l.tls, nil
}

func (a *Auto) watch(ctx context.Context) {
	defer close(a.done)
	tick := time.NewTicker(pollHosts)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			a.refresh()
		case <-ctx.Done():
			return
		}
	}
}

// hosts returns the names and addresses of the appliance: those from Hosts, its own name, and the loopback ones.
func (a *Auto) hosts() ([]string, []netip.Addr) {
	names, addrs := a.cfg.Hosts()
	names = append(slices.Clone(names), a.cfg.Name, a.cfg.Name+".local", "localhost")
	addrs = append(slices.Clone(addrs), netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback())
	return tidyNames(names), tidyAddrs(addrs)
}

// begin uses the stored certificate if it is still right.
func (a *Auto) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	l, err := a.ca.kept(a.disk)
	if err != nil {
		a.renew(err.Error())
		return
	}
	a.current.Store(l)
	a.renew("")
}

// refresh issues a new certificate if the current one is no longer right.
func (a *Auto) refresh() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.renew("")
}

// renew issues a new certificate for a reason; without one, only if the current one is no longer right. The caller
// holds the lock.
func (a *Auto) renew(reason string) {
	now := a.cfg.Clock()
	names, addrs := a.permitted(a.hosts())
	a.tellOfEnd(now)
	if reason == "" {
		if reason = a.ca.stale(a.current.Load(), now, names, addrs); reason == "" {
			return
		}
	}
	made, err := a.ca.issue(now, names, addrs)
	if err != nil {
		a.cfg.Log.Error("a certificate could not be made; the last one stays in use", slog.Any("error", err))
		return
	}
	if err := a.disk.keep(made); err != nil {
		a.cfg.Log.Warn("the new certificate could not be kept, so the next start makes another one", slog.Any("error", err))
	}
	a.current.Store(made)
	a.cfg.Log.Info("made a certificate", slog.String("because", reason), slog.Any("names", names), slog.Any("addresses", addrs), slog.Time("expires", made.tls.Leaf.NotAfter))
}

// permitted removes names and addresses that the authority's name constraints exclude: clients that check them would
// refuse the whole certificate.
func (a *Auto) permitted(names []string, addrs []netip.Addr) ([]string, []netip.Addr) {
	var out []string
	names = slices.DeleteFunc(names, func(name string) bool {
		if a.ca.permitsName(name) {
			return false
		}
		out = append(out, name)
		return true
	})
	addrs = slices.DeleteFunc(addrs, func(addr netip.Addr) bool {
		if a.ca.permitsAddr(addr) {
			return false
		}
		out = append(out, addr.String())
		return true
	})
	if !slices.Equal(out, a.omitted) {
		a.omitted = out
		if len(out) > 0 {
			a.cfg.Log.Warn(a.omission())
		}
	}
	return names, addrs
}

// tellOfEnd logs once a day that the authority is not valid, or soon no longer.
func (a *Auto) tellOfEnd(now time.Time) {
	problems := a.ca.Problems(now, a.cfg.Dir)
	if len(problems) == 0 || now.Sub(a.told).Abs() < 24*time.Hour {
		return
	}
	a.told = now
	for _, problem := range problems {
		a.cfg.Log.Warn(problem)
	}
}
