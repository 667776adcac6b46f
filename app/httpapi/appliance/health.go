// Package appliance serves the appliance itself: its health, its backups, its log and what the command line asks of it.
package appliance

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	hostlog "opsmon/app/host/log"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
)

// API has the services of these operations.
type API struct {
	Accounts *account.Service
	Auth     *auth.Service
	Log      *slog.Logger

	// Closed and Gate are those of the whole API.
	Closed func() error
	Gate   rest.Gate
	// Ready returns nil if requests can be served, else the reason.
	Ready func() error
	// Status returns the status of the service.
	Status func() Status
	// Appliance returns the status of the appliance, without its counts.
	Appliance func() Overview
	// ChangeBackups changes settings of scheduled backups by name.
	ChangeBackups func(values map[string]string, by audit.Actor) error
	// Lines returns lines of the service's log; nil: no running service.
	Lines func(hostlog.Query) []hostlog.Line
	// SetupCode returns the one-time code for the set-up of an empty store; "": the store is not empty.
	SetupCode func() string
	// Check checks the whole store and reports each problem.
	Check func(report func(problem string)) error
	// Compact compacts the store while the service runs. It is called without the gate. nil: no running service.
	Compact func(context.Context) (Compacted, error)
	// AcceptClock lets a service that waits for a correct clock continue, because a person confirmed the time now. nil:
	// no running service.
	AcceptClock func(now time.Time, by audit.Actor) error
	// Backups has the dependencies of operations on backups.
	Backups Backups
	// Restorer restores backups; nil: no running service.
	Restorer Restorer

	heavy sync.Mutex // held by a long operation on backups
}

// Routes returns the operations on the network.
func (api *API) Routes() []rest.Route {
	return slices.Concat(api.applianceRoutes(), api.logRoutes(), api.backupRoutes(), api.serviceRoutes())
}

// LocalRoutes returns the operations for the local command line.
func (api *API) LocalRoutes() []rest.Route {
	const get, post = http.MethodGet, http.MethodPost
	return []rest.Route{
		{Method: get, Path: "/local/status", Handle: api.localStatus, Storeless: true},
		{Method: post, Path: "/local/compact", Handle: api.localCompact, AnyAccount: true, Storeless: true},
		{Method: post, Path: "/local/clock/accept", Handle: api.localAcceptClock, AnyAccount: true, Storeless: true},
		{Method: get, Path: "/local/contents", Handle: api.localContents, AnyAccount: true},
		{Method: post, Path: "/local/backup", Handle: api.localBackup, AnyAccount: true},
		{Method: post, Path: "/local/backup/keep", Handle: api.localKeepBackup, AnyAccount: true},
		{Method: post, Path: "/local/backup/upgrade", Handle: api.localUpgradeBackup, AnyAccount: true},
		{Method: post, Path: "/local/restore", Handle: api.localRestore, Storeless: true, Query: []string{"withoutsettings"}},
		{Method: get, Path: "/local/check", Handle: api.localCheck, AnyAccount: true},
	}
}

// serviceRoutes returns the operations for load balancers and monitoring.
func (api *API) serviceRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/health", Handle: getHealth, Access: rest.Open, Storeless: true,
			Operation: openapi.Operation{
				ID: "getHealth", Tag: "Health Check", Summary: "Check that the process is alive",
				Answer: "The process is alive.", Form: openapi.FormDone,
			},
		},
		{
			Method: http.MethodGet, Path: "/ready", Handle: api.getReady, Access: rest.Open, Storeless: true,
			Operation: openapi.Operation{
				ID: "getReady", Tag: "Health Check", Summary: "Check that requests can be served",
				About: "503 while the service cannot serve requests. Admins, and callers on the machine itself, " +
					"also get the reason, or `result` with what else needs attention.",
				Answer: "Requests can be served.", Form: openapi.FormBare, Gives: "Ready", Security: `[{},{"ApiKeyAuth":[]}]`,
				Sample: `{"isSuccess":true,"result":{"store":{"bytes":1048576,"free":65536,"version":12,"full":false},
					"backup":null,"certificate":{"endsAt":"2027-12-22T08:15:30.000Z",
					"fingerprint":"3F:8A:01:5C:77:E2:90:4B:1D:66:AF:23:C8:59:04:BE:92:7D:E1:30:5A:F4:88:6C:0B:D7:19:A3:42:FE:65:9C",
					"problems":[]}}}`,
			},
		},
		{
			Method: http.MethodGet, Path: "/metrics", Handle: getMetrics, Bearer: true,
			Operation: openapi.Operation{
				ID: "getMetrics", Tag: "Health Check", Summary: "Read metrics",
				About:  "Metrics in Prometheus's text format. The API key may also be sent as a bearer token.",
				Answer: "The metrics.", Form: openapi.FormText,
				Sample: "app_http_requests_total{method=\"GET\",route=\"/account\",status=\"2xx\"} 1024\n",
			},
		},
	}
}

// getHealth handles GET /health: the process is alive.
func getHealth(*rest.Call) (rest.Reply, error) { return rest.Done() }

// getReady handles GET /ready: 503 while requests cannot be served. Reasons and warnings are only for administrators
// and local callers. Everybody may see that the appliance is empty and that links are sent by mail, because pages
// depend on it.
func (api *API) getReady(c *rest.Call) (rest.Reply, error) {
	ready := api.Ready
	if api.Closed != nil {
		ready = api.Closed
	}
	err := ready()
	if err == nil {
		start := Start{NeedsSetUp: api.SetupCode() != "", Mail: api.Auth.Mails()}
		switch {
		case api.mayKnow(c) && api.Status != nil:
			r := readiness(api.Status())
			r.Start = start
			return rest.OK(r)
		case start != Start{}:
			return rest.OK(start)
		}
		return rest.Done()
	}
	if api.mayKnow(c) {
		return rest.Reply{}, errdefs.New(errdefs.Unavailable, "not ready: %v", err)
	}
	return rest.Reply{}, errdefs.New(errdefs.Unavailable, "not ready")
}

// mayKnow reports whether the caller of an open route is local or an administrator.
func (api *API) mayKnow(c *rest.Call) bool {
	if c.IsLocal() {
		return true
	}
	if api.Closed != nil {
		return false
	}
	if gate := api.Gate; gate != nil {
		if !gate.TryRLock() {
			return false
		}
		defer gate.RUnlock()
	}
	if p, err := api.Auth.AuthenticateKey(c.Request.Header.Get("X-API-KEY")); err == nil {
		return p.Role == auth.Admin
	}
	cookie, err := c.Request.Cookie(rest.SessionCookie)
	if err != nil {
		return false
	}
	p, err := api.Auth.AuthenticateSession(cookie.Value)
	return err == nil && p.Role == auth.Admin
}

// getMetrics handles GET /metrics in the Prometheus text format.
func getMetrics(c *rest.Call) (rest.Reply, error) {
	return rest.Reply{Body: c.Metrics(), Kind: rest.MetricsType}, nil
}
