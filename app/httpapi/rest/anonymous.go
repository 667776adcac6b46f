package rest

import (
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"opsmon/app/auth"
)

// anonymousRequests counts requests that were refused before their credential was accepted. A network scan causes
// thousands of them, so only the first is logged, and then their number once a minute.
type anonymousRequests struct {
	mu       sync.Mutex
	counts   map[int]uint64 // by status, since the start
	unlogged uint64         // since the last log line
	logged   time.Time
}

// refused counts a refusal. n is the number to log now; 0: nothing.
func (s *anonymousRequests) refused(status int, now time.Time) (n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[int]uint64{}
	}
	s.counts[status]++
	s.unlogged++
	if since := now.Sub(s.logged); since >= 0 && since < time.Minute {
		return 0
	}
	n, s.unlogged, s.logged = s.unlogged, 0, now
	return n
}

// gauges returns the counts as metrics.
func (s *anonymousRequests) gauges() []Gauge {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Gauge, 0, len(s.counts))
	for status, n := range s.counts {
		list = append(list, Gauge{
			Name: "app_http_strangers_refused_total", Help: "Requests refused before it was known whose they are, by status.",
			Value: float64(n), Total: true, Label: [2]string{"status", strconv.Itoa(status)},
		})
	}
	slices.SortFunc(list, func(a, b Gauge) int { return strings.Compare(a.Label[1], b.Label[1]) })
	return list
}

// countAnonymous reports whether a request was refused before its credential was accepted, and counts it.
func (a *API) countAnonymous(c *Call, status int) bool {
	if status < 400 || status >= 500 || c.Principal.AccountID != "" || c.Principal.Type == auth.TypeLocal {
		return false
	}
	if n := a.anonymous.refused(status, time.Now()); n > 0 {
		a.log.LogAttrs(c.Request.Context(), slog.LevelInfo, "requests without a valid credential were refused",
			slog.Uint64("requests", n), slog.Int("lastStatus", status), slog.String("lastRoute", c.route.Path), slog.String("lastFrom", Address(c.Request)))
	}
	return true
}
