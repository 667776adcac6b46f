package httpapi

import (
	"net/http"

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
	operation    openapi.Operation // its text in the document
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
