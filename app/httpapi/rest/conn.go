package rest

import (
	"context"
	"net"
	"syscall"
	"time"
)

type connKey struct{}

// WithConn is for http.Server.ConnContext and makes a request's connection available to handlers.
func WithConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// GiveUp closes the connection of a request if its peer acknowledges nothing for the given time. The system itself
// would retry for a quarter of an hour, and small writes succeed meanwhile.
func GiveUp(ctx context.Context, after time.Duration) {
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
		return // the connection is closed
	}
	_ = raw.Control(func(fd uintptr) { limitUnacknowledged(fd, after) })
}
