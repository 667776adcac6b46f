// Package mdns answers to <name>.local on the plant's network, so that tablets and PCs find the appliance where
// nobody runs a name server (RFC 6762). It tells addresses alone: no services are advertised.
//
// Each network is told the addresses that the machine has on it. When interfaces or addresses change, which is looked
// at every 30 seconds, it begins anew; so it may be started before there is any network. It shares port 5353 with
// what the operating system has there.
package mdns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pion/logging"
	"github.com/pion/mdns/v2"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// Config configures Start.
type Config struct {
	// Name is answered to as <Name>.local: a label of lower-case letters, digits and hyphens. It must not be the
	// machine's own name, to which its operating system may answer.
	Name string
	// Interfaces returns the interfaces to answer on. nil = all that are up and can multicast, except loopback and
	// point-to-point ones (VPNs).
	Interfaces func() ([]net.Interface, error)
	// Address is the one that the service listens on: others of the machine lead nowhere, so only the network that it
	// is on is answered. The zero address = every one.
	Address netip.Addr
	Log     *slog.Logger // nil = none
}

const (
	poll  = 30 * time.Second // between two looks at the interfaces
	probe = time.Second      // time for others to claim the name; RFC 6762 section 8.1: 750 ms
)

// Responder answers until it is closed.
type Responder struct {
	cfg  Config
	name string // with .local
	poll time.Duration
	stop context.CancelFunc
	done chan struct{}

	// Of the watch alone:
	conn   *mdns.Conn // nil if not answering
	on     string     // the interfaces and addresses that it answers for
	rival  netip.Addr // the other device with the name, if logged
	failed string     // the last failure that the log has
}

// Start starts to answer, now or as soon as there is a network. It never fails: problems are logged. While another
// device on the network answers to the name, this one does not, and checks again every 30 seconds.
func Start(cfg Config) *Responder { return start(cfg, poll) }

func start(cfg Config, poll time.Duration) *Responder {
	if cfg.Interfaces == nil {
		cfg.Interfaces = lan
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &Responder{cfg: cfg, name: cfg.Name + ".local", poll: poll, stop: stop, done: make(chan struct{})}
	go r.watch(ctx)
	return r
}

// Close stops answering. Others forget the addresses within two minutes.
func (r *Responder) Close() {
	r.stop()
	<-r.done
}

func (r *Responder) watch(ctx context.Context) {
	defer close(r.done)
	defer r.silence()
	tick := time.NewTicker(r.poll)
	defer tick.Stop()
	for {
		if err := r.look(ctx); err != nil && ctx.Err() == nil && err.Error() != r.failed {
			r.failed = err.Error()
			r.cfg.Log.Warn("the appliance's name cannot be answered for on the network", slog.String("name", r.name), slog.Any("error", err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// look restarts if interfaces or addresses have changed.
func (r *Responder) look(ctx context.Context) error {
	interfaces, on, err := r.usable()
	if err != nil {
		return err
	}
	if r.conn != nil && on == r.on {
		return nil
	}
	r.silence()
	if len(interfaces) == 0 {
		return errors.New("there is no network to answer on")
	}
	rival, err := r.probe(ctx, interfaces)
	if err != nil {
		return err
	}
	if rival.IsValid() {
		if rival != r.rival {
			r.rival = rival
			r.cfg.Log.Warn("another device answers to the appliance's name: give one of the two another name", slog.String("name", r.name), slog.String("device", rival.String()))
		}
		return nil
	}
	if r.conn, err = listen(interfaces, mdns.WithLocalNames(r.name)); err != nil {
		return err
	}
	r.on, r.rival, r.failed = on, netip.Addr{}, ""
	r.cfg.Log.Info("answering to the appliance's name", slog.String("name", r.name), slog.String("on", on))
	return nil
}

// silence stops answering until look restarts.
func (r *Responder) silence() {
	if r.conn != nil {
		_ = r.conn.Close() // it is not used again either way
		r.conn = nil
	}
}

// usable returns the interfaces that have an address, and a text that changes when one of them or its addresses do.
func (r *Responder) usable() (interfaces []net.Interface, on string, err error) {
	all, err := r.cfg.Interfaces()
	if err != nil {
		return nil, "", fmt.Errorf("list the network interfaces: %w", err)
	}
	var text []string
	for _, one := range all {
		found, err := one.Addrs()
		if err != nil || len(found) == 0 {
			continue // one that has just gone, or is not set up yet
		}
		var addrs []string
		listened := !r.cfg.Address.IsValid()
		for _, addr := range found {
			addrs = append(addrs, addr.String())
			listened = listened || is(addr, r.cfg.Address)
		}
		if !listened {
			continue
		}
		interfaces = append(interfaces, one)
		slices.Sort(addrs)
		text = append(text, one.Name+" "+strings.Join(addrs, " "))
	}
	return interfaces, strings.Join(text, "; "), nil
}

// probe asks whether another device has the name, and for one of its addresses.
func (r *Responder) probe(ctx context.Context, interfaces []net.Interface) (rival netip.Addr, err error) {
	conn, err := listen(interfaces, mdns.WithQueryInterval(probe/4))
	if err != nil {
		return netip.Addr{}, err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, probe)
	defer cancel()
	_, addr, err := conn.QueryAddr(ctx, r.name)
	if err != nil || own(addr) { // nobody answered, or another program on this machine
		return netip.Addr{}, ctxError(ctx)
	}
	return addr, nil
}

// Ask asks the machine's networks for an address of <name>.local. It returns the zero address if nobody has the name or
// there is no network.
func Ask(ctx context.Context, name string) (netip.Addr, error) {
	interfaces, _, err := (&Responder{cfg: Config{Interfaces: lan}}).usable()
	if err != nil || len(interfaces) == 0 {
		return netip.Addr{}, err
	}
	conn, err := listen(interfaces, mdns.WithQueryInterval(probe/4))
	if err != nil {
		return netip.Addr{}, err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*probe)
	defer cancel()
	_, addr, err := conn.QueryAddr(ctx, name+".local")
	if err != nil { // nobody answered
		return netip.Addr{}, ctxError(ctx)
	}
	return addr.Unmap().WithZone(""), nil
}

// ctxError returns why a context ended early; nil if its time was over.
func ctxError(ctx context.Context) error {
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// own reports whether an address is this machine's.
func own(addr netip.Addr) bool {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(found, func(one net.Addr) bool { return is(one, addr) })
}

// is reports whether an interface's address is a given one.
func is(one net.Addr, addr netip.Addr) bool {
	p, err := netip.ParsePrefix(one.String())
	return err == nil && p.Addr().Unmap() == addr.Unmap().WithZone("")
}

// listen opens the port on IPv4 and IPv6, or on the one that the machine has.
func listen(interfaces []net.Interface, options ...mdns.ServerOption) (*mdns.Conn, error) {
	l4, err4 := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(mdns.DefaultAddressIPv4)))
	l6, err6 := net.ListenUDP("udp6", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("[ff02::]:5353")))
	if err4 != nil && err6 != nil {
		return nil, fmt.Errorf("listen on port 5353: %w", err4)
	}
	var p4 *ipv4.PacketConn
	var p6 *ipv6.PacketConn
	if err4 == nil {
		p4 = ipv4.NewPacketConn(l4)
	}
	if err6 == nil {
		p6 = ipv6.NewPacketConn(l6)
	}
	// The library warns of every packet that it does not understand, and networks are full of them.
	quiet := mdns.WithLoggerFactory(&logging.DefaultLoggerFactory{Writer: io.Discard, DefaultLogLevel: logging.LogLevelDisabled})
	conn, err := mdns.NewServer(p4, p6, append(options, quiet, mdns.WithCacheRefresh(false), mdns.WithInterfaces(interfaces...))...)
	if err != nil {
		if err4 == nil {
			l4.Close()
		}
		if err6 == nil {
			l6.Close()
		}
		return nil, fmt.Errorf("join the multicast group: %w", err)
	}
	return conn, nil
}

// lan returns the interfaces of the networks that the machine is on.
func lan() ([]net.Interface, error) {
	all, err := net.Interfaces()
	return slices.DeleteFunc(all, func(one net.Interface) bool { return !suits(one.Flags) }), err
}

func suits(f net.Flags) bool {
	return f&net.FlagUp != 0 && f&net.FlagRunning != 0 && f&net.FlagMulticast != 0 && f&(net.FlagLoopback|net.FlagPointToPoint) == 0
}
