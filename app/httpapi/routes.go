package httpapi

import (
	"net/http"
	"slices"

	"opsmon/app/auth"
)

// access says what a route asks of the caller.
type access uint8

const (
	keyed access = iota // an API key or a session; the zero value, so that a forgotten field locks and does not open
	open                // nothing
)

// route is one operation, with its text. The table of routes is all there is: the router, the tests and the OpenAPI
// document are made from it.
type route struct {
	method, path string
	access       access
	role         auth.Role // the least role; the domain checks what depends on more than the role
	handle       func(*call) (reply, error)
	text         operation // what the document says of it
	query        []string  // parameters that it takes
	body         bool      // its handler reports problems with the query together with those of the body: decode, act
	limit        int64     // of the body, in bytes; 0 = bodyLimit, or strangerLimit where no credential is needed
	noHead       bool      // GET that changes something
	once         bool      // takes an idempotency key: a write of the floor, which is kept when it is refused, unless it is desk
	desk         bool      // no write of the floor: who sends it sees the answer, and nobody else is told when it is refused
	bearer       bool      // takes the key as a bearer token too
	devices      bool      // devices may use it too
	anyAccount   bool      // a local operation that is about no account
	archived     bool      // a local operation that is about an archived account
	storeless    bool      // answered also when there is no store

	tally *tally
}

// prepare fills in what a route leaves to its defaults.
func (rt *route) prepare(m *meters) {
	if rt.limit == 0 {
		rt.limit = bodyLimit
		if rt.access == open {
			rt.limit = strangerLimit
		}
	}
	if rt.role == "" {
		rt.role = auth.Readonly
	}
	rt.tally = m.of(rt.method, rt.path)
}

// crossSite reports whether a browser could be made to send the request from another site to some effect.
func (rt *route) crossSite() bool { return rt.method != http.MethodGet || rt.noHead }

// routes is the table of what the network may use: http-api.md section 4 and decisions.md sections 3 to 6. Each
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

// localRoutes are for the command line on the machine itself and are never served to the network.
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
