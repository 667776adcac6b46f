package rest

import (
	"time"

	"golang.org/x/sys/unix"
)

// limitUnacknowledged limits how long data sent on a socket may stay unacknowledged. It has no effect on other sockets
// than TCP.
func limitUnacknowledged(fd uintptr, after time.Duration) {
	_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(after.Milliseconds()))
}
