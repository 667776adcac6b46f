// Package mqtt receives signals over MQTT (monitoring.md section 2). It has a broker for devices that use MQTT 3.1.1
// or 5, and a client of the plant's own broker.
//
// The broker only collects signals. A device publishes signals of its own stations; it cannot subscribe, nothing is
// retained, no session outlives its connection, and wills are ignored. A message is read, decoded and validated in
// the goroutine of its connection and then queued in the intake, which stores the messages of all connections with
// one sync. After that it is acknowledged, in the order of arrival. The broker stops reading from a connection with
// too many unacknowledged messages, which bounds memory and leaves a flood in the network.
//
// The protocol is implemented by github.com/mochi-mqtt/server. This package implements the limits: who may connect,
// timeouts, sizes and numbers.
package mqtt

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	server "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
	"golang.org/x/sync/semaphore"

	"opsmon/app/auth"
	"opsmon/app/ingest/signal"
)

// Devices authenticates devices; *auth.Service implements it.
type Devices interface {
	AuthenticateDevice(token string) (auth.Principal, error)
	WrongCredential(address string) (allowed bool, retryAfter time.Duration)
	OnDeviceRevoked(fn func(id string))
}

// Config configures a Broker.
type Config struct {
	Devices Devices
	Signals *signal.Log
	// Stations returns a function that reports whether a code is a station of an account. Error: the account accepts
	// no signals now.
	Stations func(account string) (known func(code string) bool, err error)
	// Linked is called when the first connection of a device begins, and some time after its last one has ended,
	// because a connected device shows that its stations are alive. source is the device as in its signals, at is in
	// ms. It must not block. May be nil.
	Linked func(account, source string, stations []string, at int64, up bool)
	// Known is called with the connection of each authenticated device; may be nil
	Known  func(net.Conn)
	Topics []Topic // the first match counts; empty = only UsualTopic
	Limits Limits
	Clock  func() time.Time // nil = time.Now
	Log    *slog.Logger
}

// Limits limit devices. A zero value selects the default.
type Limits struct { // total at the same time
	Connections int // connections of one device at the same time
	PerDevice   int // connections of one device at once
	Packet      int // maximum packet size, in bytes; a signal takes some hundred
	InFlight    int // unacknowledged messages per connection

	Connect   time.Duration // from the connection to the end of the authentication
	Write     time.Duration // for sending data to a device
	Keepalive time.Duration // maximum keepalive interval in MQTT 5
}

// The default limits.
const (
	DefaultConnections = 4096
	DefaultPerDevice   = 16
	defaultPacket      = 16 << 10
	defaultInFlight    = 256

	defaultConnect   = 10 * time.Second
	defaultWrite     = 10 * time.Second
	defaultKeepalive = 10 * time.Minute

	// budget is the maximum size, in bytes, of queued messages of all connections. Decoded they take about twenty
	// times as much.
	budget = 4 << 20
)

func (l *Limits) complete() {
	for limit, usual := range map[*int]int{&l.Connections: DefaultConnections, &l.PerDevice: DefaultPerDevice, &l.Packet: defaultPacket, &l.InFlight: defaultInFlight} {
		if *limit == 0 {
			*limit = usual
		}
	}
	for limit, usual := range map[*time.Duration]time.Duration{&l.Connect: defaultConnect, &l.Write: defaultWrite, &l.Keepalive: defaultKeepalive} {
		if *limit == 0 {
			*limit = usual
		}
	}
}

// Refusal is the reason why a connection was refused or closed, for metrics.
type Refusal string

// The reasons why connections are refused or closed.
const (
	RefusedCredentials Refusal = "credentials" // unknown user or wrong password
	RefusedThrottled   Refusal = "throttled"   // the same, after too many attempts from one address
	RefusedLimit       Refusal = "limit"       // too many connections, in total or of the device
	RefusedProtocol    Refusal = "protocol"    // not MQTT, an unsupported version, or no timely authentication
	EndedForeign       Refusal = "foreign"     // a topic that the device may not use, in MQTT 3.1.1
	EndedPace          Refusal = "pace"        // too many messages
	EndedRevoked       Refusal = "revoked"     // the device was revoked
	EndedStore         Refusal = "store"       // its signals could not be stored
	EndedSlow          Refusal = "slow"        // the device does not read
	EndedProtocol      Refusal = "malformed"   // a protocol violation or an oversized packet
)

var refusals = []Refusal{RefusedCredentials, RefusedThrottled, RefusedLimit, RefusedProtocol, EndedForeign, EndedPace, EndedRevoked, EndedStore, EndedSlow, EndedProtocol}

// Stats are statistics of the broker, for metrics.
type Stats struct {
	Connections int
	Opened      uint64 // authenticated connections
	Refused     map[Refusal]uint64
	Messages    uint64 // received signals, valid and invalid
	BytesIn     uint64
	BytesOut    uint64
}

// Broker serves devices. All methods may be called concurrently.
type Broker struct {
	cfg    Config
	server *server.Server
	in     *intake
	budget *semaphore.Weighted
	links  links

	mu       sync.Mutex
	closing  bool
	conns    map[*conn]struct{}
	byDevice map[string]map[*conn]struct{} // by id; authenticated, or about to be
	serving  sync.WaitGroup

	opened, messages, bytesIn, bytesOut atomic.Uint64
	refused                             map[Refusal]*atomic.Uint64
}

// New returns a broker. The caller must close it before the store.
func New(cfg Config) *Broker {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	cfg.Limits.complete()
	if len(cfg.Topics) == 0 {
		cfg.Topics = []Topic{UsualTopic()}
	}
	b := &Broker{
		cfg: cfg, budget: semaphore.NewWeighted(budget), conns: map[*conn]struct{}{}, byDevice: map[string]map[*conn]struct{}{},
		refused: map[Refusal]*atomic.Uint64{}, links: links{tell: cfg.Linked, pause: linkPause, up: map[string]int{}, gone: map[string]*gone{}},
	}
	for _, why := range refusals {
		b.refused[why] = new(atomic.Uint64)
	}
	b.server = server.New(&server.Options{
		Logger: slog.New(slog.DiscardHandler), // it would log client data
		Capabilities: &server.Capabilities{
			MaximumClients: int64(cfg.Limits.Connections), MaximumClientWritesPending: 1, MaximumPacketSize: uint32(cfg.Limits.Packet),
			ReceiveMaximum: uint16(cfg.Limits.InFlight), MaximumInflight: 1, MinimumProtocolVersion: 4, MaximumQos: 2,
			Compatibilities: server.Compatibilities{NoInheritedPropertiesOnAck: true},
		},
		ClientNetReadBufferSize: 4 << 10,
	})
	if err := b.server.AddHook(&hook{b: b}, nil); err != nil {
		panic(err) // the hook's Init returns no error
	}
	b.in = newIntake(cfg.Signals.TakeAll, cfg.Stations, cfg.Log)
	cfg.Devices.OnDeviceRevoked(b.revoked)
	return b
}

// Serve serves a connection until it ends, and closes c.
func (b *Broker) Serve(c net.Conn) {
	k := newConn(b, c)
	defer k.Conn.Close()
	if !b.enter(k) {
		b.refused[RefusedLimit].Add(1)
		return
	}
	defer b.leave(k)
	defer func() {
		if v := recover(); v != nil { // a defect of the library must not end the service
			b.cfg.Log.Error("MQTT connection failed", slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
		}
	}()
	go k.acknowledge()
	k.within(b.cfg.Limits.Connect)
	err := b.server.EstablishConnection("tcp", k)
	if k.client.Load() == nil && !k.judged {
		b.refused[RefusedProtocol].Add(1)
	}
	b.broken(k, err)
	b.cfg.Log.Debug("MQTT connection ended", slog.String("from", k.address), slog.String("device", k.device()), slog.Any("why", err))
}

// broken disconnects a device after a protocol violation or an oversized packet, and logs it.
func (b *Broker) broken(k *conn, err error) {
	var code packets.Code
	cl := k.client.Load()
	if cl == nil || k.ended() || !errors.As(err, &code) || code.Code < packets.ErrUnspecifiedError.Code || code == packets.ErrSessionTakenOver {
		return
	}
	b.refused[EndedProtocol].Add(1)
	issue := "a packet was refused: " + code.Reason
	if code == packets.ErrPacketTooLarge {
		issue = fmt.Sprintf("a packet was refused: it has more than %d bytes", b.cfg.Limits.Packet)
	}
	b.cfg.Signals.NoteRefused(k.sender.signal(nil), signal.CauseMalformed, issue, 1)
	if cl.Properties.ProtocolVersion < 5 {
		return
	}
	var out bytes.Buffer
	farewell := packets.Packet{ProtocolVersion: 5, FixedHeader: packets.FixedHeader{Type: packets.Disconnect}, ReasonCode: code.Code}
	if farewell.DisconnectEncode(&out) == nil {
		_, _ = k.Write(out.Bytes()) // the connection ends in any case
	}
}

// enter registers a connection; false if there are too many, or the broker is closing.
func (b *Broker) enter(k *conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closing || len(b.conns) >= b.cfg.Limits.Connections {
		return false
	}
	b.conns[k] = struct{}{}
	b.serving.Add(1)
	return true
}

func (b *Broker) leave(k *conn) {
	k.end()
	b.mu.Lock()
	delete(b.conns, k)
	if id := k.device(); id != "" {
		delete(b.byDevice[id], k)
		if len(b.byDevice[id]) == 0 {
			delete(b.byDevice, id)
		}
	}
	b.mu.Unlock()
	if k.linked {
		b.links.down(k.sender, b.cfg.Clock().UnixMilli())
	}
	b.serving.Done()
}

// claim assigns a connection to a device before the final check of its credential; false if the device has too many.
func (b *Broker) claim(k *conn, p auth.Principal) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.byDevice[p.DeviceID]
	if len(of) >= b.cfg.Limits.PerDevice {
		return false
	}
	if of == nil {
		of = map[*conn]struct{}{}
		b.byDevice[p.DeviceID] = of
	}
	of[k] = struct{}{}
	k.sender = newSender(p)
	return true
}

var errRefused = errors.New("refused")

// signIn accepts a connection and returns nil, or answers with the refusal and returns errRefused.
func (b *Broker) signIn(cl *server.Client, pk packets.Packet) error {
	k, _ := cl.Net.Conn.(*conn)
	k.judged = true
	refuse := func(why Refusal, five, three packets.Code) error {
		b.refused[why].Add(1)
		code := five
		if cl.Properties.ProtocolVersion < 5 {
			code = three
		}
		b.cfg.Log.Debug("MQTT connection refused", slog.String("from", k.address), slog.String("why", string(why)))
		_ = b.server.SendConnack(cl, code, false, nil) // the connection is closed in any case
		return errRefused
	}
	user, token := string(pk.Connect.Username), string(pk.Connect.Password)
	p, err := b.cfg.Devices.AuthenticateDevice(token)
	if err != nil || !strings.EqualFold(user, p.DeviceID) {
		if token != "" {
			if allowed, _ := b.cfg.Devices.WrongCredential(k.address); !allowed {
				b.refused[RefusedThrottled].Add(1)
				return errRefused // without an answer
			}
		}
		return refuse(RefusedCredentials, packets.ErrBadUsernameOrPassword, packets.ErrBadUsernameOrPassword)
	}
	if !b.claim(k, p) {
		return refuse(RefusedLimit, packets.ErrQuotaExceeded, packets.ErrServerUnavailable)
	}
	// From here on a revocation finds the connection; this check detects an earlier one.
	if _, err := b.cfg.Devices.AuthenticateDevice(token); err != nil {
		return refuse(RefusedCredentials, packets.ErrBadUsernameOrPassword, packets.ErrBadUsernameOrPassword)
	}
	cl.ID = p.DeviceID + " " + cl.ID // a device with the same client id must not take over another's connection
	b.keepalive(cl)
	k.client.Store(cl)
	if k.ended() { // revoked in the meantime
		return errRefused
	}
	return nil
}

// keepalive limits how long a device may be silent. In MQTT 3.1.1 the device decides; TCP detects a dead network.
func (b *Broker) keepalive(cl *server.Client) {
	const longest = 40_000 // seconds; the library adds half of it, in 16 bits
	most := uint16(min(b.cfg.Limits.Keepalive/time.Second, longest))
	switch {
	case cl.Properties.ProtocolVersion >= 5 && (cl.State.Keepalive == 0 || cl.State.Keepalive > most):
		cl.State.Keepalive, cl.State.ServerKeepalive = most, true
	case cl.State.Keepalive > longest:
		cl.State.Keepalive = longest
	}
}

// established logs a new connection of a device.
func (b *Broker) established(k *conn) {
	b.opened.Add(1)
	k.linked = true
	if b.cfg.Known != nil {
		b.cfg.Known(k.Conn)
	}
	b.links.begin(k.sender, b.cfg.Clock().UnixMilli())
	b.cfg.Log.Debug("device connected over MQTT", slog.String("device", k.sender.device), slog.String("from", k.address))
}

// revoked closes the connections of a device. It is called with locks of the device service held.
func (b *Broker) revoked(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k := range b.byDevice[id] {
		b.endSoon(k, EndedRevoked, packets.ErrNotAuthorized)
	}
}

// endSoon stops accepting messages from a connection and closes it in the background.
func (b *Broker) endSoon(k *conn, why Refusal, code packets.Code) {
	if k.refuseMore() {
		b.refused[why].Add(1)
		go b.disconnect(k, code)
	}
}

// farewell is how long a closed connection may take to receive the reason.
const farewell = time.Second

// disconnect closes a connection; with MQTT 5 it sends the reason.
func (b *Broker) disconnect(k *conn, code packets.Code) {
	cut := time.AfterFunc(farewell, k.cut)
	defer cut.Stop()
	if cl := k.client.Load(); cl != nil && cl.Properties.ProtocolVersion >= 5 {
		_ = b.server.DisconnectClient(cl, code)
	}
	k.end()
}

// Connections returns the number of open connections of a device.
func (b *Broker) Connections(device string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.byDevice[device])
}

// Stats returns the broker's statistics.
func (b *Broker) Stats() Stats {
	b.mu.Lock()
	n := len(b.conns)
	b.mu.Unlock()
	s := Stats{Connections: n, Opened: b.opened.Load(), Messages: b.messages.Load(), BytesIn: b.bytesIn.Load(), BytesOut: b.bytesOut.Load(), Refused: map[Refusal]uint64{}}
	for why, n := range b.refused {
		s.Refused[why] = n.Load()
	}
	return s
}

// Close closes all connections and waits for them. Devices repeat unacknowledged messages.
func (b *Broker) Close() {
	b.mu.Lock()
	b.closing = true
	for k := range b.conns {
		k.refuseMore()
		go b.disconnect(k, packets.ErrServerShuttingDown)
	}
	b.mu.Unlock()
	b.serving.Wait()
	b.in.close()
	b.links.flush()
}
