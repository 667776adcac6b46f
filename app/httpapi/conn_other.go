//go:build !linux && !windows

package httpapi

import "time"

// limitUnacknowledged does nothing: the system's own limit holds.
func limitUnacknowledged(uintptr, time.Duration) {}
