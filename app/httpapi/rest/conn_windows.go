package rest

import (
	"time"

	"golang.org/x/sys/windows"
)

// maxRT is TCP_MAXRT of ws2ipdef.h: the seconds for which data is retransmitted.
const maxRT = 5

// limitUnacknowledged limits how long data sent on a socket may stay unacknowledged.
func limitUnacknowledged(fd uintptr, after time.Duration) {
	_ = windows.SetsockoptInt(windows.Handle(fd), windows.IPPROTO_TCP, maxRT, int(after/time.Second))
}
