// Package httpapi serves the API: the operations of http-api.md and the additions of decisions.md.
//
// A request goes one way: routes (one table) find the operation; serve gives it an id, a principal and the
// checks that all operations share; the handler decodes, makes one call into the domain and gives back a
// reply or an error; write sends it. Handlers never write, and errors become statuses in one place.
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
	"sync"
	"sync/atomic"
	"time"

	"github.com/julienschmidt/httprouter"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/correction"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/report"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/host/logbook"
	"opsmon/app/idempotency"
	"opsmon/app/ingest/signal"
	"opsmon/app/work/issue"
	"opsmon/app/work/message"
	"opsmon/app/work/schedule"
	"opsmon/app/work/task"
)

// Config is what New needs.
type Config struct {
	Accounts    *account.Service
	Auth        *auth.Service
	Signals     *signal.Log
	Events      *event.Hub // nil = nothing happens
	Floor       *floor.Floor
	Reports     *report.Service
	Schedules   *schedule.Service
	Notes       *station.Notes
	Issues      *issue.Service
	Tasks       *task.Service
	Messages    *message.Service
	Corrections *correction.Service
	Requests    *idempotency.Service
	// Connections tells how many connections of a device, by its id, are open over MQTT; nil where there are none.
	Connections func(deviceID string) int
	Log         *slog.Logger
	Version     string

	// MaxConnections is how many connections there may be, of which streams of events leave half for everything else; 0: they
	// have a limit of their own alone.
	MaxConnections int

	// Known is called with the connection of each request whose credential was right; nil = nobody is told.
	Known func(net.Conn)

	// Closed, when set, says why there is no store: then only operations that need none are answered, and all else
	// here but Log, Version, Restorer, Backups.Scratch, Secure and Status is not used.
	Closed func() error
	// Gate is passed by each operation that needs the store. A closed one means that the store is being closed. nil =
	// always open.
	Gate Gate
	// Ready gives nil when requests can be served, else why not.
	Ready func() error
	// Status tells how the service is.
	Status func() Status
	// Appliance tells how the appliance is, its counts aside.
	Appliance func() Appliance
	// ChangeBackups changes settings of scheduled backups, by their names.
	ChangeBackups func(values map[string]string, by audit.Actor) error
	// Lines gives lines of the service's log; nil where no service runs.
	Lines func(logbook.Query) []logbook.Line
	// Audit lists audit records of an account, newest first, a piece at a time.
	Audit func(accountID string, q audit.Query) (audit.Page, error)
	// Bootstrap makes an account, its first administrator and a key in one transaction.
	Bootstrap func(BootstrapInput) (*BootstrapResult, error)
	// SetupCode gives the one-time code that guards the set-up of an empty store, "" when there is nothing to
	// set up.
	SetupCode func() string
	// Check looks the whole store over and reports each problem.
	Check func(report func(problem string)) error

	// Compact makes the store smaller while the service runs. It is called without the gate. nil = there is no service.
	Compact func(context.Context) (Compacted, error)
	// AcceptClock lets a service that waits for the clock continue: somebody saw it show now and says that it is right.
	// nil = there is no service.
	AcceptClock func(now time.Time, by audit.Actor) error
	// Gauges gives what /metrics tells of the appliance, measured now. nil = nothing.
	Gauges func() []Gauge
	// Backups is what operations on backups need.
	Backups Backups
	// Restorer puts backups in the place of the store; nil where no service runs.
	Restorer Restorer

	// BaseURL gives the address that people reach the service at, without a slash at the end. It is never taken
	// from a request: a forged Host header would send one-time links elsewhere.
	BaseURL func() string
	// Secure says that clients reach the service over TLS.
	Secure bool
	// PublicURL is what the service is set to be opened by; "" = nothing is set.
	PublicURL string
}

// Gate is what sync.RWMutex has for readers: TryRLock tells whether the caller may pass, and who passed calls RUnlock.
type Gate interface {
	TryRLock() bool
	RUnlock()
}

// API serves the operations.
type API struct {
	cfg       Config
	log       *slog.Logger
	public    *httprouter.Router
	local     *httprouter.Router // the public operations and those of the machine's own administrator
	meters    *meters
	strangers strangers
	cutting   context.Context // ends with CutChunked
	cut       context.CancelFunc
	boot      string // first part of request ids
	count     atomic.Uint64
	heavy     sync.Mutex // held by a long operation on backups
	missing   *route     // stands for paths and methods that no route has
	load      *load
	streams   *streams
}

// New makes the API. It panics when two routes clash, which a test of the table catches.
func New(cfg Config) *API {
	a := &API{
		cfg: cfg, log: cfg.Log, streams: newStreams(cfg.Events, cfg.MaxConnections),
		boot: strconv.FormatInt(time.Now().UnixMilli(), 36) + "-", load: newLoad(),
	}
	a.cutting, a.cut = context.WithCancel(context.Background())
	a.meters = &meters{gauges: cfg.Gauges, streams: a.streams.count, strangers: &a.strangers}
	a.missing = &route{method: "any", path: "none"}
	a.missing.prepare(a.meters)
	a.public = a.router(a.routes())
	a.local = a.router(append(a.routes(), a.localRoutes()...))
	return a
}

func (a *API) router(routes []route) *httprouter.Router {
	r := httprouter.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath, r.HandleOPTIONS = false, false, false
	for i := range routes {
		rt := &routes[i]
		rt.prepare(a.meters)
		handle := func(w http.ResponseWriter, req *http.Request, params httprouter.Params) { a.serve(w, req, rt, params) }
		r.Handle(rt.method, rt.path, handle)
		if rt.method == http.MethodGet && !rt.noHead {
			r.Handle(http.MethodHead, rt.path, handle)
		}
	}
	r.NotFound, r.MethodNotAllowed = http.HandlerFunc(a.refuse), http.HandlerFunc(a.refuse)
	return r
}

// ServeHTTP serves clients on the network.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { dispatch(a.public, w, r) }

// dispatch finds the route of a request. A slash that the client encoded belongs to the value it stands in, an
// e-mail address for one, and does not part the path: the path is then matched as it was sent, and serve decodes
// the values in it.
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

// Local serves the machine's own administrator: every request that reaches it has the principal of the local
// command line. It must never be reachable from the network.
func (a *API) Local() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dispatch(a.local, w, r.WithContext(context.WithValue(r.Context(), localKey{}, true)))
	})
}

type localKey struct{}

// accountHeader names the account that a request of the local command line is for.
const accountHeader = "X-Account"

// serve takes a request through what all operations share.
func (a *API) serve(w http.ResponseWriter, r *http.Request, rt *route, params httprouter.Params) {
	start := time.Now()
	id := a.identity(w)
	if slashEncoded(r) {
		for i := range params {
			params[i].Value, _ = url.PathUnescape(params[i].Value) // net/url has decoded it before
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
			out.cookies = append(out.cookies, a.sessionCookie(cookie.Value))
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

// A client may send its whole body before it looks for an answer, and loses the answer when the connection is closed
// before. So what is too large is read and thrown away, within bounds.
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
	_, _ = io.CopyN(io.Discard, r.Body, most) // whatever it gives, the answer has been sent
}

// identity sets a request's id, which its answer and its log line carry.
func (a *API) identity(w http.ResponseWriter) string {
	var text [32]byte
	value := []string{string(strconv.AppendUint(append(text[:0], a.boot...), a.count.Add(1), 36))}
	w.Header()["X-Request-Id"] = value
	return value[0]
}

// run authenticates and calls the handler. A panic in it is that request's failure alone.
func (a *API) run(c *call) (out reply, err error) {
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

// handle finds out who asks, and calls the handler.
func (a *API) handle(c *call) (out reply, err error) {
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

// closed returns the error of an operation that needs the store, which cannot be used. Why is for the machine itself.
func (c *call) closed(why error) error {
	if c.here() {
		return errdefs.New(errdefs.Unavailable, "not now: %v", why)
	}
	return errdefs.New(errdefs.Unavailable, "the service cannot use its store now; try again in a moment, and ask the administrator when it stays so")
}

// refuse answers what no route has: an unknown path or, when the router has named the methods that a path
// takes, an unknown method.
func (a *API) refuse(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	id := a.identity(w)
	out := failed(errdefs.New(errdefs.NotFound, "there is nothing at this path; the operations are listed at /openapi.json"))
	if allow := w.Header().Get("Allow"); allow != "" {
		methods := slices.DeleteFunc(strings.Split(allow, ", "), func(m string) bool { return m == http.MethodOptions }) // which the router names and does not answer
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

// RefuseHost answers a request that asks for a host which the service does not go by.
func (a *API) RefuseHost(w http.ResponseWriter, r *http.Request) {
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

// record writes the log line of a request. Paths can hold keys, so the line has the route's pattern and never
// the path; reads that went well are for debugging only.
func (a *API) record(c *call, id string, status int, took time.Duration, err error) {
	level := slog.LevelDebug
	switch {
	case errors.Is(err, errGone): // nobody misses the answer
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
	case a.cfg.Closed != nil && status == http.StatusServiceUnavailable: // the same for all, and told when it began
	case status >= 500:
		attrs = append(attrs, slog.String("error", err.Error()))
	case errors.As(err, &known) && status != 400: // what is wrong with a body may quote it
		attrs = append(attrs, slog.String("error", known.Message))
	}
	a.log.LogAttrs(ctx, level, "request", attrs...)
}
