// Package mqtt is the second way in for signals (monitoring.md section 2): a broker for devices that speak MQTT 3.1.1 or 5,
// and a client of the plant's own broker.
//
// The broker is a funnel and not a switchboard. A device publishes signals of its own stations; nobody may subscribe, nothing
// is retained, no session outlives its connection, and wills are left out. A message is read, decoded and judged on its
// connection's own goroutine, then waits in the intake, which gathers what all connections sent and stores it with one sync;
// only then is it acknowledged, in the order in which it came. A connection that has too much under way is not read from, so
// that memory is bounded and a flood waits in the network.
//
// The protocol itself is github.com/mochi-mqtt/server's. What bounds it is here: who may connect, how long anything may
// take, how large and how many.
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

// Devices is what the broker must know of who may connect. *auth.Service is one.
type Devices interface {
	AuthenticateDevice(token string) (auth.Principal, error)
	WrongCredential(address string) (allowed bool, retryAfter time.Duration)
	OnDeviceRevoked(fn func(id string))
}

// Config is what New needs.
type Config struct {
	Devices Devices
	Signals *signal.Log
	// Stations tells which stations an account has. Error: it takes no signals now.
	Stations func(account string) (known func(code string) bool, err error)
	// Linked is told when the first connection of a device begins, and when its last one has ended and none has come since: a
	// live one is a sign of life of its stations. source is the device as signals name it, at in ms. It must not wait. nil =
	// nobody is told.
	Linked func(account, source string, stations []string, at int64, up bool)
	// Known is called with the connection of each device that has signed in; nil = nobody is told.
	Known  func(net.Conn)
	Topics []Topic // the first that fits counts; none = UsualTopic alone
	Limits Limits
	Clock  func() time.Time // nil = time.Now
	Log    *slog.Logger
}

// Limits bound what devices can ask of the broker. Zero values stand for the usual ones.
type Limits struct {
	Connections int // at once, in all
	PerDevice   int // connections of one device at once
	Packet      int // bytes of a packet; a signal takes some hundred
	InFlight    int // messages of one connection that are not acknowledged yet

	Connect   time.Duration // from the connection to the end of the sign-in
	Write     time.Duration // for the network to take what is sent to a device
	Keepalive time.Duration // the longest silence that a device may ask for, in MQTT 5
}

// The usual limits.
const (
	DefaultConnections = 4096
	DefaultPerDevice   = 16
	defaultPacket      = 16 << 10
	defaultInFlight    = 256

	defaultConnect   = 10 * time.Second
	defaultWrite     = 10 * time.Second
	defaultKeepalive = 10 * time.Minute

	// budget is how many bytes of messages wait in the intake, of all connections together. Decoded they take some twenty
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

// Refusal says why a connection was refused or ended, for metrics.
type Refusal string

// The reasons why connections are refused or ended.
const (
	RefusedCredentials Refusal = "credentials" // unknown user or wrong password
	RefusedThrottled   Refusal = "throttled"   // likewise, after too many of them from one address
	RefusedLimit       Refusal = "limit"       // too many connections, in all or of the device
	RefusedProtocol    Refusal = "protocol"    // no MQTT, an older version, or no sign-in in time
	EndedForeign       Refusal = "foreign"     // a topic that the device was not given, in MQTT 3.1.1
	EndedPace          Refusal = "pace"        // too many messages
	EndedRevoked       Refusal = "revoked"     // the device was revoked
	EndedStore         Refusal = "store"       // its signals could not be stored
	EndedSlow          Refusal = "slow"        // it does not read what it is sent
	EndedProtocol      Refusal = "malformed"   // it broke the protocol, or sent too large a packet
)

var refusals = []Refusal{RefusedCredentials, RefusedThrottled, RefusedLimit, RefusedProtocol, EndedForeign, EndedPace, EndedRevoked, EndedStore, EndedSlow, EndedProtocol}

// Stats are how the broker does, for metrics.
type Stats struct {
	Connections int
	Opened      uint64 // connections that signed in
	Refused     map[Refusal]uint64
	Messages    uint64 // signals that came, good and bad
	BytesIn     uint64
	BytesOut    uint64
}

// Broker serves devices. All methods may be called at any time from any goroutine.
type Broker struct {
	cfg    Config
	server *server.Server
	in     *intake
	budget *semaphore.Weighted
	links  links

	mu       sync.Mutex
	closing  bool
	conns    map[*conn]struct{}
	byDevice map[string]map[*conn]struct{} // by id; signed in, or about to be
	serving  sync.WaitGroup

	opened, messages, bytesIn, bytesOut atomic.Uint64
	refused                             map[Refusal]*atomic.Uint64
}

// New makes a broker. The caller closes it before it closes the store.
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
		Logger: slog.New(slog.DiscardHandler), // it logs what clients send
		Capabilities: &server.Capabilities{
			MaximumClients: int64(cfg.Limits.Connections), MaximumClientWritesPending: 1, MaximumPacketSize: uint32(cfg.Limits.Packet),
			ReceiveMaximum: uint16(cfg.Limits.InFlight), MaximumInflight: 1, MinimumProtocolVersion: 4, MaximumQos: 2,
			Compatibilities: server.Compatibilities{NoInheritedPropertiesOnAck: true},
		},
		ClientNetReadBufferSize: 4 << 10,
	})
	if err := b.server.AddHook(&hook{b: b}, nil); err != nil {
		panic(err) // the hook's Init gives none
	}
	b.in = newIntake(cfg.Signals.TakeAll, cfg.Stations, cfg.Log)
	cfg.Devices.OnDeviceRevoked(b.revoked)
	return b
}

// Serve serves one connection until it ends. It closes c.
func (b *Broker) Serve(c net.Conn) {
	k := newConn(b, c)
	defer k.Conn.Close()
	if !b.enter(k) {
		b.refused[RefusedLimit].Add(1)
		return
	}
	defer b.leave(k)
	defer func() {
		if v := recover(); v != nil { // a defect of the library must not become ours
			b.cfg.Log.Error("a connection over MQTT failed", slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
		}
	}()
	go k.acknowledge()
	k.within(b.cfg.Limits.Connect)
	err := b.server.EstablishConnection("tcp", k)
	if k.client.Load() == nil && !k.judged {
		b.refused[RefusedProtocol].Add(1)
	}
	b.broken(k, err)
	b.cfg.Log.Debug("a connection over MQTT ended", slog.String("from", k.address), slog.String("device", k.device()), slog.Any("why", err))
}

// broken disconnects a device that has broken the protocol, or sent too large a packet, and logs it.
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
		_, _ = k.Write(out.Bytes()) // it ends in any case
	}
}

// enter counts a connection in; false when there are too many, or the broker closes.
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

// claim notes that a connection is a device's, before its credential is looked at for good; false when it has too many.
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

// signIn decides about a connection: nil lets it in. It answers the others.
func (b *Broker) signIn(cl *server.Client, pk packets.Packet) error {
	k, _ := cl.Net.Conn.(*conn)
	k.judged = true
	refuse := func(why Refusal, five, three packets.Code) error {
		b.refused[why].Add(1)
		code := five
		if cl.Properties.ProtocolVersion < 5 {
			code = three
		}
		b.cfg.Log.Debug("a connection over MQTT was refused", slog.String("from", k.address), slog.String("why", string(why)))
		_ = b.server.SendConnack(cl, code, false, nil) // it is closed in any case
		return errRefused
	}
	user, token := string(pk.Connect.Username), string(pk.Connect.Password)
	p, err := b.cfg.Devices.AuthenticateDevice(token)
	if err != nil || !strings.EqualFold(user, p.DeviceID) {
		if token != "" {
			if allowed, _ := b.cfg.Devices.WrongCredential(k.address); !allowed {
				b.refused[RefusedThrottled].Add(1)
				return errRefused // not even an answer
			}
		}
		return refuse(RefusedCredentials, packets.ErrBadUsernameOrPassword, packets.ErrBadUsernameOrPassword)
	}
	if !b.claim(k, p) {
		return refuse(RefusedLimit, packets.ErrQuotaExceeded, packets.ErrServerUnavailable)
	}
	// From here on a revocation finds the connection; one that came before is seen now.
	if _, err := b.cfg.Devices.AuthenticateDevice(token); err != nil {
		return refuse(RefusedCredentials, packets.ErrBadUsernameOrPassword, packets.ErrBadUsernameOrPassword)
	}
	cl.ID = p.DeviceID + " " + cl.ID // whoever uses another device's client id ends none of its connections
	b.keepalive(cl)
	k.client.Store(cl)
	if k.ended() { // revoked meanwhile
		return errRefused
	}
	return nil
}

// keepalive bounds how long a device may be silent. In MQTT 3.1.1 it says itself; a dead network is found by TCP.
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

// established logs that a device has connected.
func (b *Broker) established(k *conn) {
	b.opened.Add(1)
	k.linked = true
	if b.cfg.Known != nil {
		b.cfg.Known(k.Conn)
	}
	b.links.begin(k.sender, b.cfg.Clock().UnixMilli())
	b.cfg.Log.Debug("a device is connected over MQTT", slog.String("device", k.sender.device), slog.String("from", k.address))
}

// revoked ends the connections of a device. It is called with locks of the devices held.
func (b *Broker) revoked(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k := range b.byDevice[id] {
		b.endSoon(k, EndedRevoked, packets.ErrNotAuthorized)
	}
}

// endSoon takes nothing more from a connection from now on, and ends it without waiting for it.
func (b *Broker) endSoon(k *conn, why Refusal, code packets.Code) {
	if k.refuseMore() {
		b.refused[why].Add(1)
		go b.disconnect(k, code)
	}
}

// farewell is how long a connection that is ended has to take the reason.
const farewell = time.Second

// disconnect ends a connection; MQTT 5 is told why.
func (b *Broker) disconnect(k *conn, code packets.Code) {
	cut := time.AfterFunc(farewell, k.cut)
	defer cut.Stop()
	if cl := k.client.Load(); cl != nil && cl.Properties.ProtocolVersion >= 5 {
		_ = b.server.DisconnectClient(cl, code)
	}
	k.end()
}

// Connections returns how many connections of a device are open.
func (b *Broker) Connections(device string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.byDevice[device])
}

// Stats returns how the broker does.
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

// Close ends all connections and returns when nothing of them is left. What was not acknowledged, devices send again.
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
