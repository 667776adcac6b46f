package httpapi

import (
	"context"
	"net"
	"syscall"
	"time"
)

type connKey struct{}

// WithConn is for http.Server.ConnContext: a request can then do what concerns its connection.
func WithConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// giveUp has the connection of a request end when its other side has acknowledged nothing of what was sent for so long. The
// system itself would try for a quarter of an hour, and writes succeed meanwhile for as long as they are small.
func giveUp(ctx context.Context, after time.Duration) {
	c, _ := ctx.Value(connKey{}).(net.Conn)
	for {
		inner, ok := c.(interface{ NetConn() net.Conn }) // TLS
		if !ok {
			break
		}
		c = inner.NetConn()
	}
	tcp, ok := c.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return // the connection has ended
	}
	_ = raw.Control(func(fd uintptr) { limitUnacknowledged(fd, after) })
}
