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
	// Closing the client must not wait for an unresponsive broker.
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

// mostPacket is the maximum packet size that the library gets: a payload that is one byte too large, and its topic.
const mostPacket = plantPayload + 1 + 2 + 65535 + 2

// bounded is a connection to a broker that may send packets of up to 256 MiB, which the library would read into
// memory as a whole. It truncates packets that are too large and drops the rest: they are then refused like other
// invalid messages without blocking the connection.
type bounded struct {
	net.Conn
	head []byte // start of a packet for the library
	body int    // remaining bytes of the packet for the library
	drop int    // bytes after them to drop
	raw  []byte // read but not processed
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

// fill reads more bytes.
func (b *bounded) fill() error {
	left := copy(b.buf[:], b.raw) // at most a part of a packet's header
	n, err := b.Conn.Read(b.buf[left:])
	b.raw = b.buf[:left+n]
	if n > 0 {
		return nil
	}
	return err
}

// next parses the header of a packet: its type, and its length in one to four bytes. It returns false if more bytes
// are needed.
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
