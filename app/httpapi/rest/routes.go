package rest

import (
	"net/http"

	"opsmon/app/auth"
	"opsmon/app/httpapi/openapi"
)

// Access is what a route requires of the caller.
type Access uint8

const (
	keyed Access = iota // an API key or a session; the zero value, so a forgotten field denies access
	Open                // nothing
)

// Route is one operation with its text. The router, the tests and the OpenAPI document are made from the table of
// routes.
type Route struct {
	Method, Path string
	Access       Access
	Role         auth.Role // the lowest role; the domain checks anything beyond the role
	Handle       func(*Call) (Reply, error)
	Operation    openapi.Operation // its text in the document
	Query        []string          // names of its query parameters
	Body         bool              // its handler reports problems of the query together with those of the body: Decode, FloorWrite
	Limit        int64             // of the body, bytes; 0: BodyLimit, or anonymousLimit without a credential
	NoHead       bool              // GET with an effect
	// accepts an idempotency key: a floor write, which is recorded if it is refused, unless Desk is set
	Once       bool
	Desk       bool // not a floor write: its sender sees the answer, and a refusal is not recorded
	Bearer     bool // accepts the key as a bearer token, too
	Devices    bool // allowed for devices
	AnyAccount bool // a local operation without an account
	Archived   bool // a local operation on an archived account
	Storeless  bool // served even without a store

	counter *opCounter
}

// prepare fills in the defaults of a route.
func (rt *Route) prepare(m *requestMetrics) {
	if rt.Limit == 0 {
		rt.Limit = BodyLimit
		if rt.Access == Open {
			rt.Limit = anonymousLimit
		}
	}
	if rt.Role == "" {
		rt.Role = auth.Readonly
	}
	rt.counter = m.of(rt.Method, rt.Path)
}

// crossSite reports whether the request would have an effect if a page of another site made a browser send it.
func (rt *Route) crossSite() bool { return rt.Method != http.MethodGet || rt.NoHead }
