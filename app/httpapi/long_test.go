package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"opsmon/app/auth"
	"opsmon/app/httpapi/rest"
)

// TestALongReadEnds: a long read ends when its client disconnects, which is no error, or when it takes too long.
func TestALongReadEnds(t *testing.T) {
	var handle func(*rest.Call) (rest.Reply, error)
	var during func(*rest.Call)
	s := newServer(t, options{more: []rest.Route{{Method: "GET", Path: "/test/long", Handle: func(c *rest.Call) (rest.Reply, error) {
		during(c)
		return handle(c)
	}}}})
	key := s.roleKey(auth.Readonly)
	s.must(nil, s.Floor.Pass("acme"))
	for _, path := range []string{
		"/oee", "/oee?by=minute&rangecode=today", "/energy", "/pareto", "/analysis/cycletime", "/issue",
		"/timeline?stationcode=PACK-1&rangecode=yesterday",
	} {
		name, query, _ := strings.Cut(path, "?")
		at := slices.IndexFunc(s.api.table, func(rt rest.Route) bool { return rt.Method == "GET" && rt.Path == name })
		handle = s.api.table[at].Handle
		for _, tt := range []struct {
			why  string
			ctx  func() (context.Context, context.CancelFunc)
			want string
		}{
			{"gone", func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) }, "the client has gone"},
			{"too long", func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), 0) }, "this takes longer than 2m0s; ask for a shorter time, or for fewer stations"},
		} {
			during = func(c *rest.Call) {
				ctx, cancel := tt.ctx()
				cancel()
				c.Request = c.Request.WithContext(ctx)
			}
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/test/long?"+query, nil)
			r.Header.Set("X-API-KEY", key)
			w := httptest.NewRecorder()
			s.api.ServeHTTP(w, r)
			if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("%s, %s: %d %s", path, tt.why, w.Code, w.Body)
			}
		}
	}
}
