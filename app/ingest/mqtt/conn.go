package mqtt

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	server "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// conn is a device's connection, which the library reads and writes. It sets its own deadlines.
type conn struct {
	net.Conn
	b       *Broker
	address string

	ctx        context.Context // ends with the connection
	cancel     context.CancelFunc
	closing    atomic.Bool // accepts no more messages
	reasonSent atomic.Bool // the reason for closing was sent
	client     atomic.Pointer[server.Client]
	sender     *sender // nil until authenticated; set with Broker.mu held
	linked     bool    // used only by the serving goroutine; so is judged
	judged     bool    // the authentication was decided
	inFlight   chan struct{}
	answered   atomic.Int64 // time of the last acknowledgement, in ns

	writing sync.Mutex
	corked  bool
	out     []byte // data written while corked

	answers sync.Mutex
	ready   []ack
	wake    chan struct{}
}

// ack is a pending acknowledgement.
type ack struct {
	id   uint16
	qos  byte
	code packets.Code
	why  string // reason, for MQTT 5
}

func newConn(b *Broker, c net.Conn) *conn {
	k := &conn{Conn: c, b: b, address: c.RemoteAddr().String(), inFlight: make(chan struct{}, b.cfg.Limits.InFlight), wake: make(chan struct{}, 1)}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	return k
}

// device returns the id of the connection's device, "" before authentication.
func (k *conn) device() string {
	if k.sender == nil {
		return ""
	}
	return k.sender.device
}

// within sets the deadline of the authentication; afterwards the library sets its own.
func (k *conn) within(d time.Duration) { _ = k.Conn.SetReadDeadline(time.Now().Add(d)) }

// SetDeadline is called by the library before it reads a packet. Writes have a separate deadline.
func (k *conn) SetDeadline(t time.Time) error { return k.Conn.SetReadDeadline(t) }

// Read counts the bytes read.
func (k *conn) Read(p []byte) (int, error) {
	n, err := k.Conn.Read(p)
	k.b.bytesIn.Add(uint64(n))
	return n, err
}

// Write has a deadline, so a device that never reads cannot block others for longer.
func (k *conn) Write(p []byte) (int, error) {
	if len(p) > 0 && p[0]>>4 == packets.Disconnect {
		if cl := k.client.Load(); k.reasonSent.Swap(true) || cl != nil && cl.Properties.ProtocolVersion < 5 {
			return len(p), nil // send it only once; in MQTT 3.1.1 a broker does not send it
		}
	}
	k.writing.Lock()
	defer k.writing.Unlock()
	if k.corked {
		k.out = append(k.out, p...)
		return len(p), nil
	}
	return k.send(p)
}

func (k *conn) send(p []byte) (int, error) {
	_ = k.Conn.SetWriteDeadline(time.Now().Add(k.b.cfg.Limits.Write)) // Write reports a closed connection
	n, err := k.Conn.Write(p)
	k.b.bytesOut.Add(uint64(n))
	return n, err
}

// cork buffers written data until uncork sends it in one write.
func (k *conn) cork() {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.corked = true
}

func (k *conn) uncork() error {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.corked = false
	if len(k.out) == 0 {
		return nil
	}
	_, err := k.send(k.out)
	if k.out = k.out[:0]; cap(k.out) > 16<<10 {
		k.out = nil
	}
	return err
}

// Close ends reads for the library, which calls it before it sends the reason. Serve closes the connection.
func (k *conn) Close() error {
	k.cancel()
	return k.Conn.SetReadDeadline(time.Unix(1, 0))
}

// cut closes the connection.
func (k *conn) cut() {
	k.cancel()
	_ = k.Conn.Close() // may be closed already
}

// end closes the connection and releases goroutines that wait for it.
func (k *conn) end() {
	k.closing.Store(true)
	if cl := k.client.Load(); cl != nil {
		cl.Stop(errRefused)
	}
	k.cut()
}

func (k *conn) ended() bool { return k.closing.Load() }

// refuseMore stops accepting messages; false if it was called before.
func (k *conn) refuseMore() bool { return k.closing.CompareAndSwap(false, true) }

// answer queues an acknowledgement without blocking: there are at most as many as messages in flight.
func (k *conn) answer(a ack) {
	k.answers.Lock()
	k.ready = append(k.ready, a)
	k.answers.Unlock()
	select {
	case k.wake <- struct{}{}:
	default: // already notified
	}
}

// acknowledge sends acknowledgements until the connection ends, all pending ones in one write.
func (k *conn) acknowledge() {
	var list []ack
	for {
		select {
		case <-k.ctx.Done():
			return
		case <-k.wake:
		}
		k.answers.Lock()
		list, k.ready = k.ready, list[:0]
		k.answers.Unlock()
		cl := k.client.Load()
		k.cork()
		var err error
		for _, a := range list {
			if e := k.write(cl, a); e != nil {
				err = e
			}
		}
		if e := k.uncork(); e != nil {
			err = e
		}
		k.answered.Store(time.Now().UnixNano())
		for range list {
			<-k.inFlight
		}
		if err != nil {
			k.b.endSoon(k, EndedSlow, packets.ErrUnspecifiedError)
			return
		}
	}
}

// write writes one acknowledgement; QoS 0 has none.
func (k *conn) write(cl *server.Client, a ack) error {
	if a.qos == 0 {
		return nil
	}
	pk := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Puback}, PacketID: a.id, ReasonCode: a.code.Code, Created: time.Now().Unix()}
	if a.qos == 2 {
		pk.FixedHeader.Type = packets.Pubrec
		if a.code.Code < packets.ErrUnspecifiedError.Code || cl.Properties.ProtocolVersion < 5 {
			cl.State.Inflight.Set(pk) // until it is released
		}
	}
	if most := cl.Properties.Props.MaximumPacketSize; a.why != "" && (most == 0 || most > 1024) {
		pk.Properties.ReasonString = a.why
	}
	return cl.WritePacket(pk)
}
