package httpapi

import (
	"time"

	"golang.org/x/sys/unix"
)

// limitUnacknowledged bounds for how long what was sent on a socket may stay unacknowledged. A socket that is not TCP has no
// such bound.
func limitUnacknowledged(fd uintptr, after time.Duration) {
	_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(after.Milliseconds()))
}
