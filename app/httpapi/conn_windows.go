package httpapi

import (
	"time"

	"golang.org/x/sys/windows"
)

// maxRT is TCP_MAXRT of ws2ipdef.h: seconds for which what was sent is sent again.
const maxRT = 5

// limitUnacknowledged bounds for how long what was sent on a socket may stay unacknowledged.
func limitUnacknowledged(fd uintptr, after time.Duration) {
	_ = windows.SetsockoptInt(windows.Handle(fd), windows.IPPROTO_TCP, maxRT, int(after/time.Second))
}
