//go:build !linux && !windows

package httpapi

import "time"

// limitUnacknowledged does nothing: the system's own limit applies.
func limitUnacknowledged(uintptr, time.Duration) {}
