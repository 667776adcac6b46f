package mqtt

import (
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// dial connects to the plant's broker.
func (p *Plant) dial(_ *url.URL, o paho.ClientOptions) (net.Conn, error) {
	c, err := p.open(o)
	if err != nil {
		return nil, err
	}
	// Who ends the client does not wait for a broker that says nothing.
	context.AfterFunc(p.ctx, func() { _ = c.SetReadDeadline(time.Now().Add(farewell)) })
	return &bounded{Conn: c}, nil
}

func (p *Plant) open(o paho.ClientOptions) (net.Conn, error) {
	d := &net.Dialer{Timeout: o.ConnectTimeout}
	if p.cfg.URL.Scheme != "mqtts" {
		return d.DialContext(p.ctx, "tcp", p.cfg.URL.Host)
	}
	cfg := &tls.Config{}
	if p.cfg.TLS != nil {
		cfg = p.cfg.TLS.Clone()
	}
	cfg.ServerName = p.cfg.URL.Hostname()
	return (&tls.Dialer{NetDialer: d, Config: cfg}).DialContext(p.ctx, "tcp", p.cfg.URL.Host)
}

// mostPacket is the largest packet that the library is shown: a payload that is just too large, and its topic.
const mostPacket = plantPayload + 1 + 2 + 65535 + 2

// bounded is a connection to a broker that may send packets of 256 MiB, which the library would take into memory whole. It
// shows those as if they ended where they are too large, and drops the rest: they are then refused like other bad messages,
// and hold up nobody.
type bounded struct {
	net.Conn
	head []byte // of a packet, as the library is to see it
	body int    // bytes of the packet that the library is to see
	drop int    // bytes after them that it is not to see
	raw  []byte // read and not looked at yet
	buf  [4096]byte
}

// Read implements net.Conn.
func (b *bounded) Read(p []byte) (int, error) {
	for {
		switch {
		case len(p) == 0:
			return 0, nil
		case len(b.head) > 0:
			n := copy(p, b.head)
			b.head = b.head[n:]
			return n, nil
		case b.body > 0 && len(b.raw) > 0:
			n := copy(p, b.raw[:min(b.body, len(b.raw))])
			b.raw, b.body = b.raw[n:], b.body-n
			return n, nil
		case b.body > 0:
			n, err := b.Conn.Read(p[:min(b.body, len(p))])
			b.body -= n
			return n, err
		case b.drop > 0 && len(b.raw) > 0:
			n := min(b.drop, len(b.raw))
			b.raw, b.drop = b.raw[n:], b.drop-n
			continue
		case b.next():
			continue
		}
		if err := b.fill(); err != nil {
			return 0, err
		}
	}
}

// fill reads more.
func (b *bounded) fill() error {
	left := copy(b.buf[:], b.raw) // a part of a head at most
	n, err := b.Conn.Read(b.buf[left:])
	b.raw = b.buf[:left+n]
	if n > 0 {
		return nil
	}
	return err
}

// next reads the head of a packet: its type, and its length in one to four bytes. It is false when there is too little.
func (b *bounded) next() bool {
	if b.drop > 0 {
		return false
	}
	length := 0
	for i := 1; i < len(b.raw) && i <= 4; i++ {
		length |= int(b.raw[i]&0x7f) << (7 * (i - 1))
		if b.raw[i] < 0x80 || i == 4 {
			first := b.raw[0]
			b.raw = b.raw[i+1:]
			b.body = min(length, mostPacket)
			b.drop = length - b.body
			b.head = []byte{first}
			for n := b.body; ; {
				digit := byte(n & 0x7f)
				if n >>= 7; n > 0 {
					digit |= 0x80
				}
				if b.head = append(b.head, digit); n == 0 {
					return true
				}
			}
		}
	}
	return false
}
