//go:build !linux && !windows

package rest

import "time"

// limitUnacknowledged does nothing: the system's own limit applies.
func limitUnacknowledged(uintptr, time.Duration) {}
