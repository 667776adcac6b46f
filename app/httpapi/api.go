// Package httpapi serves the API: the operations of http-api.md and the additions of decisions.md.
//
// A request takes one path. The routes (one table) find the operation. serve sets its ID, its principal and makes the
// checks common to all operations. The handler decodes, makes one call into the domain and returns a reply or an error.
// write sends it. Handlers never write, and errors are mapped to statuses in one place.
package httpapi

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

// restConfig has what every operation needs.
type restConfig struct {
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

// restAPI runs operations.
type restAPI struct {
	cfg       restConfig
	log       *slog.Logger
	metrics   *requestMetrics
	strangers strangers
	cutting   context.Context // ends with CutChunked
	cut       context.CancelFunc
	boot      string // first part of request IDs
	count     atomic.Uint64
	missing   *route // for unknown paths and methods
	load      *load
}

// newRest returns an API without operations.
func newRest(cfg restConfig) *restAPI {
	a := &restAPI{cfg: cfg, log: cfg.Log, boot: strconv.FormatInt(time.Now().UnixMilli(), 36) + "-", load: newLoad()}
	a.cutting, a.cut = context.WithCancel(context.Background())
	a.metrics = &requestMetrics{gauges: cfg.Gauges, strangers: &a.strangers}
	a.missing = &route{method: "any", path: "none"}
	a.missing.prepare(a.metrics)
	return a
}

// handler serves operations to clients on the network. It panics if two routes conflict.
func (a *restAPI) handler(routes []route) http.Handler {
	router := a.router(routes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { dispatch(router, w, r) })
}

// localHandler serves operations to the local command line: every request has its principal. It must never be
// reachable from the network.
func (a *restAPI) localHandler(routes []route) http.Handler {
	router := a.router(routes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dispatch(router, w, r.WithContext(context.WithValue(r.Context(), localKey{}, true)))
	})
}

func (a *restAPI) router(routes []route) *httprouter.Router {
	r := httprouter.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath, r.HandleOPTIONS = false, false, false
	for i := range routes {
		rt := &routes[i]
		rt.prepare(a.metrics)
		handle := func(w http.ResponseWriter, req *http.Request, params httprouter.Params) { a.serve(w, req, rt, params) }
		r.Handle(rt.method, rt.path, handle)
		if rt.method == http.MethodGet && !rt.noHead {
			r.Handle(http.MethodHead, rt.path, handle)
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
func (a *restAPI) serve(w http.ResponseWriter, r *http.Request, rt *route, params httprouter.Params) {
	start := time.Now()
	id := a.identity(w)
	if slashEncoded(r) {
		for i := range params {
			params[i].Value, _ = url.PathUnescape(params[i].Value) // net/url has decoded it successfully before
		}
	}
	c := call{api: a, w: w, r: r, route: rt, params: params}
	out, err := a.run(&c)
	if err != nil {
		out = failed(err)
	}
	if c.other {
		out.header = append(out.header, [2]string{forHeader, url.PathEscape(c.p.AccountID + "/" + c.p.Email)})
	}
	if c.p.RenewCookie && out.status != http.StatusUnauthorized {
		if cookie, err := r.Cookie(sessionCookie); err == nil {
			out.cookies = append(out.cookies, c.sessionCookie(cookie.Value))
		}
	}
	status := a.write(w, r, out)
	if status == http.StatusRequestEntityTooLarge && r.Header.Get("Expect") == "" {
		most := int64(drainBytes)
		if rt.access == open {
			most = drainStranger
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
	drainBytes    = 64 << 20
	drainStranger = 1 << 20
	drainTime     = 10 * time.Second
)

func drain(w http.ResponseWriter, r *http.Request, most int64) {
	rc := http.NewResponseController(w)
	if rc.Flush() != nil || rc.SetReadDeadline(time.Now().Add(drainTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, r.Body, most) // errors do not matter, the answer has been sent
}

// identity sets a request's ID, which is in its answer and its log line.
func (a *restAPI) identity(w http.ResponseWriter) string {
	var text [32]byte
	value := []string{string(strconv.AppendUint(append(text[:0], a.boot...), a.count.Add(1), 36))}
	w.Header()["X-Request-Id"] = value
	return value[0]
}

// run authenticates the caller and calls the handler. A panic only fails its own request.
func (a *restAPI) run(c *call) (out reply, err error) {
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if !c.route.storeless {
		if a.cfg.Closed != nil {
			return reply{}, c.closed(a.cfg.Closed())
		}
		if gate := a.cfg.Gate; gate != nil {
			if !gate.TryRLock() {
				return reply{}, c.closed(errClosing)
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
func (a *restAPI) handle(c *call) (out reply, err error) {
	if err := a.identify(c); err != nil {
		return reply{}, err
	}
	if !safe(c.r.Method) {
		if c.p.Type != auth.TypeLocal {
			c.p.Address = address(c.r)
		}
		if err := c.checkQuery(); err != nil {
			return reply{}, err
		}
	}
	defer func() { out.whenMade(err, c.letGo) }()
	out, err = c.route.handle(c)
	return out, ended(c.r.Context(), err)
}

var errClosing = errors.New("the store is being closed")

// closed returns the error of an operation that needs a store while there is none. Only local callers get the reason.
func (c *call) closed(why error) error {
	if c.here() {
		return errdefs.New(errdefs.Unavailable, "not now: %v", why)
	}
	return errdefs.New(errdefs.Unavailable, "the service cannot use its store now; try again in a moment, and ask the administrator when it stays so")
}

// refuse answers a request without a route: an unknown path or, if the router has set the allowed methods of the path,
// an unknown method.
func (a *restAPI) refuse(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	id := a.identity(w)
	out := failed(errdefs.New(errdefs.NotFound, "there is nothing at this path; the operations are listed at /openapi.json"))
	if allow := w.Header().Get("Allow"); allow != "" {
		// added by the router, but not served
		methods := slices.DeleteFunc(strings.Split(allow, ", "), func(m string) bool { return m == http.MethodOptions })
		allow = strings.Join(methods, ", ")
		w.Header().Set("Allow", allow)
		body, err := marshal(failure{ErrorCode: "methodNotAllowed", ErrorMessage: "this path takes the methods " + allow})
		if err != nil {
			out = failed(err)
		} else {
			out = reply{status: http.StatusMethodNotAllowed, body: body}
		}
	}
	status := a.write(w, r, out)
	took := time.Since(start)
	a.observe(a.missing, status, took)
	a.record(&call{api: a, r: r, route: a.missing}, id, status, took, nil)
}

// RefuseHost answers a request for a host name that the service does not have.
func (a *restAPI) RefuseHost(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	id := a.identity(w)
	out := reply{status: http.StatusMisdirectedRequest}
	body, err := marshal(failure{ErrorCode: "misdirectedRequest", ErrorMessage: fmt.Sprintf(
		"this service does not go by the name %s; open it by one of its own names or addresses, or have its administrator add the name to hostNames in app.yaml", errdefs.Shorten(r.Host))})
	if out.body = body; err != nil {
		out = failed(err)
	}
	status := a.write(w, r, out)
	took := time.Since(start)
	a.observe(a.missing, status, took)
	a.record(&call{api: a, r: r, route: a.missing}, id, status, took, nil)
}

// record logs a request. Paths may contain keys, so the line has the route's pattern instead of the path. Successful
// reads are logged at debug level only.
func (a *restAPI) record(c *call, id string, status int, took time.Duration, err error) {
	level := slog.LevelDebug
	switch {
	case errors.Is(err, errGone): // nobody waits for the answer
	case a.stranger(c, status):
	case status == http.StatusServiceUnavailable:
		level = slog.LevelWarn
	case status >= 500:
		level = slog.LevelError
	case status >= 400 || !safe(c.r.Method):
		level = slog.LevelInfo
	}
	ctx := c.r.Context()
	if !a.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("id", id), slog.String("method", c.r.Method), slog.String("route", c.route.path),
		slog.Int("status", status), slog.Duration("took", took), slog.String("from", address(c.r)),
	}
	if c.p.AccountID != "" {
		attrs = append(attrs, slog.String("account", c.p.AccountID), slog.String("credential", c.p.Actor().Credential))
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
