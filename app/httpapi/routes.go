package httpapi

import (
	"net/http"
	"slices"

	"opsmon/app/auth"
	"opsmon/app/httpapi/openapi"
)

// access is what a route requires of the caller.
type access uint8

const (
	keyed access = iota // an API key or a session; the zero value, so a forgotten field denies access
	open                // nothing
)

// route is one operation with its text. The router, the tests and the OpenAPI document are made from the table of
// routes.
type route struct {
	method, path string
	access       access
	role         auth.Role // the lowest role; the domain checks anything beyond the role
	handle       func(*call) (reply, error)
	text         openapi.Operation // its text in the document
	query        []string          // names of its query parameters
	body         bool              // its handler reports problems of the query together with those of the body: decode, act
	limit        int64             // of the body, bytes; 0: bodyLimit, or strangerLimit without a credential
	noHead       bool              // GET with an effect
	// accepts an idempotency key: a floor write, which is recorded if it is refused, unless desk is set
	once       bool
	desk       bool // not a floor write: its sender sees the answer, and a refusal is not recorded
	bearer     bool // accepts the key as a bearer token, too
	devices    bool // allowed for devices
	anyAccount bool // a local operation without an account
	archived   bool // a local operation on an archived account
	storeless  bool // served even without a store

	counter *opCounter
}

// prepare fills in the defaults of a route.
func (rt *route) prepare(m *requestMetrics) {
	if rt.limit == 0 {
		rt.limit = bodyLimit
		if rt.access == open {
			rt.limit = strangerLimit
		}
	}
	if rt.role == "" {
		rt.role = auth.Readonly
	}
	rt.counter = m.of(rt.method, rt.path)
}

// crossSite reports whether the request would have an effect if a page of another site made a browser send it.
func (rt *route) crossSite() bool { return rt.method != http.MethodGet || rt.noHead }

// routes returns the table of operations on the network: http-api.md section 4 and decisions.md sections 3 to 6. Each
// resource has its part in its own file.
func (a *API) routes() []route {
	return slices.Concat(
		accountRoutes(), directoryRoutes(), stationRoutes(), noteRoutes(), scheduleRoutes(), productionRoutes(),
		refusedRoutes(), windowRoutes(), timelineRoutes(), oeeRoutes(), energyRoutes(), analysisRoutes(),
		tuningRoutes(), cronRoutes(), exportRoutes(), signInRoutes(), peopleRoutes(), signalRoutes(), taskRoutes(),
		messageRoutes(), eventRoutes(), issueRoutes(), correctionRoutes(), applianceRoutes(), logRoutes(),
		auditRoutes(), backupRoutes(), serviceRoutes(), openAPIRoutes(),
	)
}

// localRoutes returns the operations for the local command line, which are never served on the network.
func (a *API) localRoutes() []route {
	const get, post = http.MethodGet, http.MethodPost
	return []route{
		{method: post, path: "/local/init", handle: localInit, anyAccount: true, limit: manifestLimit},
		{method: get, path: "/local/account", handle: localAccounts, anyAccount: true},
		{method: post, path: "/local/account", handle: localCreateAccount, anyAccount: true, limit: manifestLimit},
		{method: post, path: "/local/account/archive", handle: localArchive},
		{method: post, path: "/local/account/unarchive", handle: localUnarchive, archived: true},
		{method: post, path: "/local/account/set", handle: localSet},
		{method: post, path: "/local/key", handle: localCreateKey},
		{method: post, path: "/local/login-link", handle: localLoginLink},
		{method: post, path: "/local/reset-admin", handle: localResetAdmin},
		{method: get, path: "/local/status", handle: localStatus, storeless: true},
		{method: post, path: "/local/compact", handle: localCompact, anyAccount: true, storeless: true},
		{method: post, path: "/local/clock/accept", handle: localAcceptClock, anyAccount: true, storeless: true},
		{method: get, path: "/local/contents", handle: localContents, anyAccount: true},
		{method: post, path: "/local/backup", handle: localBackup, anyAccount: true},
		{method: post, path: "/local/backup/keep", handle: localKeepBackup, anyAccount: true},
		{method: post, path: "/local/backup/upgrade", handle: localUpgradeBackup, anyAccount: true},
		{method: post, path: "/local/restore", handle: localRestore, storeless: true},
		{method: get, path: "/local/check", handle: localCheck, anyAccount: true},
	}
}
