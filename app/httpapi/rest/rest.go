// Package rest is what all operations of the API share: it finds the operation of a request and who asks, limits
// bodies, rates and concurrent work, and sends the answer. It knows no resource.
//
// A request takes one path. The table of routes has the operation. serve sets the ID and the principal and makes the
// checks that all operations have in common. The handler decodes, makes one call into the domain and returns a Reply or
// an error. write sends it. Handlers never write, and errors are mapped to statuses in one place.
package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/julienschmidt/httprouter"

	"opsmon/app/account"
	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/errdefs"
	"opsmon/app/idempotency"
)

// Config has what every operation needs.
type Config struct {
	Accounts *account.Service
	Auth     *auth.Service
	Floor    *floor.Floor
	Requests *idempotency.Service
	Log      *slog.Logger

	// Known is called with the connection of each request with a valid credential; nil: no call.
	Known func(net.Conn)
	// Closed, if set, returns why there is no store. Only operations that need none are then answered, and of the other
	// fields only Log and Secure are used.
	Closed func() error
	// Gate is locked for reading by each operation that needs the store. TryRLock fails while the store is being
	// closed. nil: always open.
	Gate Gate
	// Gauges returns measurements for /metrics; nil: none.
	Gauges func() []Gauge
	// Secure is whether clients use TLS.
	Secure bool
	// PublicURL is the configured address of the service; "": not set.
	PublicURL string
}

// Gate is the reader's part of sync.RWMutex: after a successful TryRLock the caller must call RUnlock.
type Gate interface {
	TryRLock() bool
	RUnlock()
}

// API runs operations.
type API struct {
	cfg       Config
	log       *slog.Logger
	metrics   *requestMetrics
	anonymous anonymousRequests
	cutting   context.Context // ends with CutChunked
	cut       context.CancelFunc
	boot      string // first part of request IDs
	count     atomic.Uint64
	missing   *Route // for unknown paths and methods
	load      *load
}

// New returns an API without operations.
func New(cfg Config) *API {
	a := &API{cfg: cfg, log: cfg.Log, boot: strconv.FormatInt(time.Now().UnixMilli(), 36) + "-", load: newLoad()}
	a.cutting, a.cut = context.WithCancel(context.Background())
	a.metrics = &requestMetrics{gauges: cfg.Gauges, anonymous: &a.anonymous}
	a.missing = &Route{Method: "any", Path: "none"}
	a.missing.prepare(a.metrics)
	return a
}

// Handler serves operations to clients on the network. It panics if two routes conflict.
func (a *API) Handler(routes []Route) http.Handler {
	router := a.router(routes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { dispatch(router, w, r) })
}

// LocalHandler serves operations to the local command line: every request has its principal. It must never be
// reachable from the network.
func (a *API) LocalHandler(routes []Route) http.Handler {
	router := a.router(routes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dispatch(router, w, r.WithContext(context.WithValue(r.Context(), localKey{}, true)))
	})
}

func (a *API) router(routes []Route) *httprouter.Router {
	r := httprouter.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath, r.HandleOPTIONS = false, false, false
	for i := range routes {
		rt := &routes[i]
		rt.prepare(a.metrics)
		handle := func(w http.ResponseWriter, req *http.Request, params httprouter.Params) { a.serve(w, req, rt, params) }
		r.Handle(rt.Method, rt.Path, handle)
		if rt.Method == http.MethodGet && !rt.NoHead {
			r.Handle(http.MethodHead, rt.Path, handle)
		}
	}
	r.NotFound, r.MethodNotAllowed = http.HandlerFunc(a.refuse), http.HandlerFunc(a.refuse)
	return r
}

// dispatch finds the route of a request. A slash that the client encoded is part of a value, for example of an e-mail
// address, and not a separator. Such a path is matched in its encoded form, and serve decodes its values.
func dispatch(router *httprouter.Router, w http.ResponseWriter, r *http.Request) {
	if slashEncoded(r) {
		sent, as := *r.URL, *r
		sent.Path, as.URL = r.URL.RawPath, &sent
		r = &as
	}
	router.ServeHTTP(w, r)
}

func slashEncoded(r *http.Request) bool {
	return r.URL.RawPath != "" && strings.Contains(strings.ToUpper(r.URL.RawPath), "%2F")
}

type localKey struct{}

// accountHeader has the account of a request by the local command line.
const accountHeader = "X-Account"

// serve processes the steps common to all operations.
func (a *API) serve(w http.ResponseWriter, r *http.Request, rt *Route, params httprouter.Params) {
	start := time.Now()
	id := a.identity(w)
	if slashEncoded(r) {
		for i := range params {
			params[i].Value, _ = url.PathUnescape(params[i].Value) // net/url has decoded it successfully before
		}
	}
	c := Call{api: a, Writer: w, Request: r, route: rt, Params: params}
	out, err := a.run(&c)
	if err != nil {
		out = failed(err)
	}
	if c.other {
		out.Header = append(out.Header, [2]string{forHeader, url.PathEscape(c.Principal.AccountID + "/" + c.Principal.Email)})
	}
	if c.Principal.RenewCookie && out.Status != http.StatusUnauthorized {
		if cookie, err := r.Cookie(SessionCookie); err == nil {
			out.Cookies = append(out.Cookies, c.SessionCookie(cookie.Value))
		}
	}
	status := a.write(w, r, out)
	if status == http.StatusRequestEntityTooLarge && r.Header.Get("Expect") == "" {
		most := int64(drainBytes)
		if rt.Access == Open {
			most = drainAnonymous
		}
		drain(w, r, most)
	}
	took := time.Since(start)
	a.observe(rt, status, took)
	a.record(&c, id, status, took, err)
}

// A client may send its whole body before it reads the answer, and would lose the answer if the connection were closed
// before. Oversized bodies are therefore read and discarded, up to a limit.
const (
	drainBytes     = 64 << 20
	drainAnonymous = 1 << 20
	drainTime      = 10 * time.Second
)

func drain(w http.ResponseWriter, r *http.Request, most int64) {
	rc := http.NewResponseController(w)
	if rc.Flush() != nil || rc.SetReadDeadline(time.Now().Add(drainTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, r.Body, most) // errors do not matter, the answer has been sent
}

// identity sets a request's ID, which is in its answer and its log line.
func (a *API) identity(w http.ResponseWriter) string {
	var text [32]byte
	value := []string{string(strconv.AppendUint(append(text[:0], a.boot...), a.count.Add(1), 36))}
	w.Header()["X-Request-Id"] = value
	return value[0]
}

// run authenticates the caller and calls the handler. A panic only fails its own request.
func (a *API) run(c *Call) (out Reply, err error) {
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if !c.route.Storeless {
		if a.cfg.Closed != nil {
			return Reply{}, c.closed(a.cfg.Closed())
		}
		if gate := a.cfg.Gate; gate != nil {
			if !gate.TryRLock() {
				return Reply{}, c.closed(errClosing)
			}
			defer func() { out.whenMade(err, gate.RUnlock) }()
		}
	}
	if out, err = a.handle(c); err != nil {
		c.keepRefused(err)
	}
	return out, err
}

// handle identifies the caller and calls the handler.
func (a *API) handle(c *Call) (out Reply, err error) {
	if err := a.identify(c); err != nil {
		return Reply{}, err
	}
	if !safe(c.Request.Method) {
		if c.Principal.Type != auth.TypeLocal {
			c.Principal.Address = Address(c.Request)
		}
		if err := c.checkQuery(); err != nil {
			return Reply{}, err
		}
	}
	defer func() { out.whenMade(err, c.letGo) }()
	out, err = c.route.Handle(c)
	return out, ended(c.Request.Context(), err)
}

var errClosing = errors.New("the store is being closed")

// closed returns the error of an operation that needs a store while there is none. Only local callers get the reason.
func (c *Call) closed(why error) error {
	if c.IsLocal() {
		return errdefs.New(errdefs.Unavailable, "not now: %v", why)
	}
	return errdefs.New(errdefs.Unavailable, "the service cannot use its store now; try again in a moment, and ask the administrator when it stays so")
}

// refuse answers a request without a route: an unknown path or, if the router has set the allowed methods of the path,
// an unknown method.
func (a *API) refuse(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	id := a.identity(w)
	out := failed(errdefs.New(errdefs.NotFound, "there is nothing at this path; the operations are listed at /openapi.json"))
	if allow := w.Header().Get("Allow"); allow != "" {
		// added by the router, but not served
		methods := slices.DeleteFunc(strings.Split(allow, ", "), func(m string) bool { return m == http.MethodOptions })
		allow = strings.Join(methods, ", ")
		w.Header().Set("Allow", allow)
		body, err := Marshal(failure{ErrorCode: "methodNotAllowed", ErrorMessage: "this path takes the methods " + allow})
		if err != nil {
			out = failed(err)
		} else {
			out = Reply{Status: http.StatusMethodNotAllowed, Body: body}
		}
	}
	status := a.write(w, r, out)
	took := time.Since(start)
	a.observe(a.missing, status, took)
	a.record(&Call{api: a, Request: r, route: a.missing}, id, status, took, nil)
}

// RefuseHost answers a request for a host name that the service does not have.
func (a *API) RefuseHost(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	id := a.identity(w)
	out := Reply{Status: http.StatusMisdirectedRequest}
	body, err := Marshal(failure{ErrorCode: "misdirectedRequest", ErrorMessage: fmt.Sprintf(
		"this service does not go by the name %s; open it by one of its own names or addresses, or have its administrator add the name to hostNames in app.yaml", errdefs.Shorten(r.Host))})
	if out.Body = body; err != nil {
		out = failed(err)
	}
	status := a.write(w, r, out)
	took := time.Since(start)
	a.observe(a.missing, status, took)
	a.record(&Call{api: a, Request: r, route: a.missing}, id, status, took, nil)
}

// record logs a request. Paths may contain keys, so the line has the route's pattern instead of the path. Successful
// reads are logged at debug level only.
func (a *API) record(c *Call, id string, status int, took time.Duration, err error) {
	level := slog.LevelDebug
	switch {
	case errors.Is(err, errGone): // nobody waits for the answer
	case a.countAnonymous(c, status):
	case status == http.StatusServiceUnavailable:
		level = slog.LevelWarn
	case status >= 500:
		level = slog.LevelError
	case status >= 400 || !safe(c.Request.Method):
		level = slog.LevelInfo
	}
	ctx := c.Request.Context()
	if !a.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("id", id), slog.String("method", c.Request.Method), slog.String("route", c.route.Path),
		slog.Int("status", status), slog.Duration("took", took), slog.String("from", Address(c.Request)),
	}
	if c.Principal.AccountID != "" {
		attrs = append(attrs, slog.String("account", c.Principal.AccountID), slog.String("credential", c.Principal.Actor().Credential))
	}
	var known *errdefs.Error
	switch {
	case err == nil:
	// the same for all requests, and logged when it began
	case a.cfg.Closed != nil && status == http.StatusServiceUnavailable:
	case status >= 500:
		attrs = append(attrs, slog.String("error", err.Error()))
	case errors.As(err, &known) && status != 400: // the problems of a body may quote it
		attrs = append(attrs, slog.String("error", known.Message))
	}
	a.log.LogAttrs(ctx, level, "request", attrs...)
}
