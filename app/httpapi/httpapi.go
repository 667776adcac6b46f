// Package httpapi serves the API: the operations of http-api.md and the additions of decisions.md. Each group of
// operations has its room; rest runs them.
package httpapi

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/correction"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/report"
	"opsmon/app/engine/station"
	hostlog "opsmon/app/host/log"
	"opsmon/app/httpapi/access"
	"opsmon/app/httpapi/appliance"
	"opsmon/app/httpapi/configuration"
	"opsmon/app/httpapi/figures"
	"opsmon/app/httpapi/rest"
	"opsmon/app/httpapi/signals"
	"opsmon/app/httpapi/work"
	"opsmon/app/idempotency"
	"opsmon/app/ingest/signal"
	"opsmon/app/work/issue"
	"opsmon/app/work/message"
	"opsmon/app/work/schedule"
	"opsmon/app/work/task"
)

// Config has the dependencies and settings of an API.
type Config struct {
	Accounts    *account.Service
	Auth        *auth.Service
	Signals     *signal.Log
	Events      *event.Hub // nil: discard
	Floor       *floor.Floor
	Reports     *report.Service
	Schedules   *schedule.Service
	Notes       *station.Notes
	Issues      *issue.Service
	Tasks       *task.Service
	Messages    *message.Service
	Corrections *correction.Service
	Requests    *idempotency.Service
	// Connections returns the number of open MQTT connections of a device by its ID; nil: no MQTT.
	Connections func(deviceID string) int
	Log         *slog.Logger

	// MaxConnections is the server's limit of connections. Event streams use at most half of them. 0: event streams are
	// only limited by their own maximum.
	MaxConnections int

	// Known is called with the connection of each request with a valid credential; nil: no call.
	Known func(net.Conn)

	// Closed, if set, returns why there is no store. Only operations that need none are then answered, and of the other
	// fields only Log, Restorer, Backups.Scratch, Secure and Status are used.
	Closed func() error
	// Gate is locked for reading by each operation that needs the store. TryRLock fails while the store is being
	// closed. nil: always open.
	Gate rest.Gate
	// Ready returns nil if requests can be served, else the reason.
	Ready func() error
	// Status returns the status of the service.
	Status func() appliance.Status
	// Appliance returns the status of the appliance, without its counts.
	Appliance func() appliance.Overview
	// ChangeBackups changes settings of scheduled backups by name.
	ChangeBackups func(values map[string]string, by audit.Actor) error
	// Lines returns lines of the service's log; nil: no running service.
	Lines func(hostlog.Query) []hostlog.Line
	// Audit returns audit records of an account, newest first, in pages.
	Audit func(accountID string, q audit.Query) (audit.Page, error)
	// Bootstrap creates an account, its first administrator and a key in one transaction.
	Bootstrap func(configuration.BootstrapInput) (*configuration.BootstrapResult, error)
	// SetupCode returns the one-time code for the set-up of an empty store; "": the store is not empty.
	SetupCode func() string
	// Check checks the whole store and reports each problem.
	Check func(report func(problem string)) error

	// Compact compacts the store while the service runs. It is called without the gate. nil: no running service.
	Compact func(context.Context) (appliance.Compacted, error)
	// AcceptClock lets a service that waits for a correct clock continue, because a person confirmed the time now. nil:
	// no running service.
	AcceptClock func(now time.Time, by audit.Actor) error
	// Gauges returns the appliance's current measurements for /metrics; nil: none.
	Gauges func() []rest.Gauge
	// Backups has the dependencies of operations on backups.
	Backups appliance.Backups
	// Restorer restores backups; nil: no running service.
	Restorer appliance.Restorer

	// BaseURL returns the address of the service for people, without a trailing slash. It never comes from a request,
	// because a forged Host header would redirect one-time links.
	BaseURL func() string
	// Secure is whether clients use TLS.
	Secure bool
	// PublicURL is the configured address of the service; "": not set.
	PublicURL string
}

// API serves the operations.
type API struct {
	rest          *rest.API
	events        *eventsAPI
	signals       *signals.API
	public, local http.Handler
	table         []rest.Route
}

// New returns an API. It panics if two routes conflict, which a test of the table detects.
func New(cfg Config) *API { return newAPI(cfg) }

// newAPI is New with more operations, for tests.
func newAPI(cfg Config, more ...rest.Route) *API {
	a := &API{events: newEvents(cfg.Accounts, cfg.Auth, cfg.Events, cfg.MaxConnections)}
	a.rest = rest.New(rest.Config{
		Accounts: cfg.Accounts, Auth: cfg.Auth, Floor: cfg.Floor, Requests: cfg.Requests, Log: cfg.Log, Known: cfg.Known,
		Closed: cfg.Closed, Gate: cfg.Gate, Secure: cfg.Secure, PublicURL: cfg.PublicURL,
		Gauges: func() []rest.Gauge {
			list := []rest.Gauge{{Name: "app_event_streams", Help: "Streams of events that are open.", Value: a.events.Open()}}
			if cfg.Gauges != nil {
				list = append(list, cfg.Gauges()...)
			}
			return list
		},
	})
	configuration := &configuration.API{
		Accounts: cfg.Accounts, Floor: cfg.Floor, Audit: cfg.Audit, Bootstrap: cfg.Bootstrap, SetupCode: cfg.SetupCode,
	}
	access := &access.API{Accounts: cfg.Accounts, Auth: cfg.Auth, BaseURL: cfg.BaseURL}
	figures := &figures.API{
		Accounts: cfg.Accounts, Floor: cfg.Floor, Reports: cfg.Reports, Corrections: cfg.Corrections,
		Schedules: cfg.Schedules, Issues: cfg.Issues, Tasks: cfg.Tasks,
	}
	work := &work.API{
		Floor: cfg.Floor, Schedules: cfg.Schedules, Issues: cfg.Issues, Tasks: cfg.Tasks, Messages: cfg.Messages,
		Notes: cfg.Notes, Requests: cfg.Requests,
	}
	a.signals = &signals.API{
		Accounts: cfg.Accounts, Auth: cfg.Auth, Signals: cfg.Signals, Connections: cfg.Connections, Log: cfg.Log,
	}
	appliance := &appliance.API{
		Accounts: cfg.Accounts, Auth: cfg.Auth, Log: cfg.Log, Closed: cfg.Closed, Gate: cfg.Gate, Ready: cfg.Ready,
		Status: cfg.Status, Appliance: cfg.Appliance, ChangeBackups: cfg.ChangeBackups, Lines: cfg.Lines,
		SetupCode: cfg.SetupCode, Check: cfg.Check, Compact: cfg.Compact, AcceptClock: cfg.AcceptClock,
		Backups: cfg.Backups, Restorer: cfg.Restorer,
	}
	// http-api.md section 4 and decisions.md sections 3 to 6
	a.table = slices.Concat(
		configuration.Routes(), access.Routes(), figures.Routes(), work.Routes(), a.signals.Routes(), a.events.Routes(),
		appliance.Routes(), a.openAPIRoutes(),
	)
	a.public = a.rest.Handler(slices.Concat(a.table, more))
	a.local = a.rest.LocalHandler(slices.Concat(
		a.table, configuration.LocalRoutes(), access.LocalRoutes(), appliance.LocalRoutes(),
	))
	return a
}

// ServeHTTP serves clients on the network.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.public.ServeHTTP(w, r) }

// Local serves the local command line: every request has its principal. It must never be reachable from the network.
func (a *API) Local() http.Handler { return a.local }

// RefuseHost answers a request for a host name that the service does not have.
func (a *API) RefuseHost(w http.ResponseWriter, r *http.Request) { a.rest.RefuseHost(w, r) }

// EndStreams ends all event streams and refuses new ones. It returns at once; a client that does not read delays its
// stream by a second. It may be called again.
func (a *API) EndStreams() { a.events.EndStreams() }

// CutChunked aborts the long answers in progress. It returns at once.
func (a *API) CutChunked() { a.rest.CutChunked() }
