package httpapi

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/engine/report"
	"opsmon/app/host/backup"
	hostlog "opsmon/app/host/log"
	"opsmon/app/httpapi/appliance"
	"opsmon/app/httpapi/configuration"
	"opsmon/app/httpapi/rest"
	"opsmon/app/services"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// acme is the manifest of the tests' first account: every kind of thing of http-api.md 2.3, small.
const acme = `{"version":"v1","account":{"id":"acme","domain":"acme.example","currency":"EUR","electricalPricePerKwh":0.25,
"dashboardConfig":{"home":"floor"},"durationFormat":"hours","enableTasks":"on","enableCycleTimeAnalysis":"on","enableManualDowntime":"on","enableLostProductionCost":"on",
"includeTaskListCodes":["start-up","clean"],
"shiftPatterns":[{"code":"two","title":"Two shifts","shifts":[{"name":"Early","startHour":6,"duration":8,"weekDay":"1"},{"name":"Late","startHour":14.5,"duration":7.5,"weekDay":"1"}]}],
"reasons":[{"code":"BRK","name":"Breakdown","reasons":[{"code":"BRK-E","name":"Electrical"}]},{"code":"CHG","name":"Changeover"}],
"tasks":[{"code":"oil","title":"Check the oil","requireNotes":true,"taskListCodes":[{"code":"start-up","order":1.5}]},{"code":"wipe","title":"Wipe","taskListCodes":[{"code":"clean","order":1}]}],
"taskLists":[{"code":"start-up","name":"Start-up","trigger":{"type":"schedule"}},{"code":"clean","name":"Cleaning","trigger":{"type":"on_demand"}}],
"skus":[{"code":"A1","name":"Biscuit","cycleTime":1200,"stationCodes":["PACK-1"]},{"code":"B2","name":"Wafer","unitsPerHour":90,"allowUseInQuickSchedule":true}],
"plants":[{"code":"north","name":"North","timezone":"Europe/Berlin","dayStartHour":6,"weekStartDay":0,"stationGroups":[
{"code":"packing","name":"Packing","shiftPatternCode":"two","enableQuickScheduleStart":"on","enableManualProduction":"on","excludeReasonCodes":["CHG"],"stations":[{"code":"PACK-1","name":"Packer 1","enableManualDowntime":"off"},{"code":"PACK-2","name":"Packer 2"}]},
{"code":"meters","name":"Meters","enableMeterOnly":"on","stations":[{"code":"KWH-1","name":"Main meter"}]}]}]}}`

var roles = []auth.Role{auth.Admin, auth.Member, auth.Supervisor, auth.Operator, auth.Readonly}

// mailOf is the address of the tests' user of a role; it is on no account's domain.
func mailOf(role auth.Role) string { return string(role) + "@people.example" }

// clock is the real time, moved by as much as a test wants.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// book collects text that many goroutines write.
type book struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *book) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *book) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// server is the real thing behind a real net/http server on loopback: the accounts acme, with one user of each role
// and all its log at debug level, and bolt. When the test ends no secret may stand in the log, in a header, in an
// error or in what /metrics and /audit show.
type server struct {
	*services.Services
	t      testing.TB
	clock  clock
	store  *kv.Store
	api    *API
	http   *httptest.Server
	client *http.Client
	logged book
	shown  book // what secrets must not be in

	folder    backup.Folder
	restorer  *restorer
	ready     func() error
	setupCode string
	changed   map[string]string // settings of backups
	from      atomic.Int64
	routes    []*rest.Route

	mu      sync.Mutex
	secrets map[string]bool
}

// options say how a test's server differs from the usual one.
type options struct {
	empty  bool // no account: waits for its set-up
	live   bool // GET /account shows the floor, which then changes its entity tag
	secure bool // as under TLS
	public string
	http2  bool // under TLS indeed
	mailer func(*slog.Logger) *auth.Mailer
	serve  func(*http.Server)
	rate   int          // signals a second of one device; 0: the usual
	log    *slog.Logger // nil: a book of everything
	gate   rest.Gate
	more   []rest.Route // operations of the test
	most   int          // results of a figure; 0: the usual
	wrap   func(http.Handler) http.Handler
}

func newServer(t testing.TB, o options) *server {
	t.Helper()
	s := &server{t: t, secrets: map[string]bool{}, ready: func() error { return nil }, setupCode: "abcd-efgh-ijkl"}
	s.store = kvtest.New(t, func(c *kv.Config) {
		c.Clock = s.clock.now
		c.Buckets = services.Buckets()
	})
	log := slog.New(slog.NewTextHandler(&s.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.log != nil {
		log = o.log
	}
	lines := hostlog.New(time.Now)
	log = slog.New(hostlog.NewHandler(lines, slog.LevelDebug, log.Handler()))
	cfg := services.Config{Store: s.store, Clock: s.clock.now, Log: log, SignalRate: o.rate, FirstEvent: 1000}
	if !o.live {
		cfg.Live = func(string) *account.Live { return nil }
	}
	if o.mailer != nil {
		cfg.Mailer = o.mailer(log)
	}
	var err error
	s.Services, err = services.Open(cfg)
	s.must(nil, err)
	s.folder, s.restorer = backup.Folder(t.TempDir()), &restorer{}
	source := func() (backup.Config, error) {
		return backup.Config{Store: s.store, Version: "test", WorkFactor: 10}, nil
	}
	from, _ := source()
	if o.most > 0 {
		s.Reports = report.New(report.Config{Floor: s.Floor, Signals: s.Signals, MostResults: o.most})
	}
	s.api = newAPI(Config{
		Gate:     o.gate,
		Restorer: s.restorer,
		Backups: appliance.Backups{
			Folder: s.folder, Scheduled: func() bool { return true }, Scratch: t.TempDir(), Source: source, Prepare: func() error { return nil }, Clock: s.clock.now, Note: s.note,
			Keeper:   backup.NewKeeper(backup.KeeperConfig{Folder: string(s.folder), Backup: from, Log: log}),
			HandOver: func(string) error { return nil },
		},
		Signals: s.Signals, Events: s.Events, Floor: s.Floor, Reports: s.Reports, Schedules: s.Schedules, Issues: s.Issues, Tasks: s.Tasks,
		Messages: s.Messages, Notes: s.Notes, Accounts: s.Accounts, Auth: s.Auth, Log: log, PublicURL: o.public, Secure: o.secure,
		Requests: s.Requests, Corrections: s.Corrections,
		Ready: func() error { return s.ready() }, Audit: s.listAudit, Bootstrap: s.bootstrap,
		SetupCode:     func() string { return s.setupCode },
		Check:         func(report func(string)) error { return s.store.Check(report) },
		Gauges:        func() []rest.Gauge { return []rest.Gauge{{Name: "app_store_bytes", Help: "Size.", Value: 4096}} },
		BaseURL:       func() string { return "https://plant.example" },
		Lines:         lines.Lines,
		ChangeBackups: func(values map[string]string, _ audit.Actor) error { s.changed = values; return nil },
		Appliance: func() appliance.Overview {
			return appliance.Overview{
				Version: "test", URLs: []string{"https://plant.example"}, Listen: []appliance.ListenPoint{{Setting: "listen", Address: ":8443", TLS: true}}, TLS: "auto", StartedAt: new("2026-11-20T08:15:30.000Z"),
				Clock:       appliance.ClockStatus{Now: "2026-11-20T08:15:30.000Z", Zone: "UTC +00:00", Believed: true},
				Certificate: &appliance.CertificateOverview{CertificateStatus: appliance.CertificateStatus{EndsAt: "2027-12-22T08:15:30.000Z", Problems: []string{}, Hosts: []string{}, Authority: &appliance.AuthorityStatus{EndsAt: "2036-11-20T08:15:30.000Z", Pages: []string{}}}, DaysLeft: 397},
				Store:       &appliance.StoreStatus{Bytes: 4096}, Disk: &appliance.DiskStatus{Free: 1, Total: 2}, Backup: appliance.ScheduledBackups{Settings: appliance.BackupSettings{At: "01:30", Every: 1, KeepDaily: 7}, Fixed: map[string]string{}},
				Warnings: []appliance.Warning{{Code: "disk", Severity: appliance.SeverityProblem, Message: "It is nearly full.", Action: "Make room."}},
			}
		},
		Status: func() appliance.Status {
			return appliance.Status{
				Store: &appliance.StoreStatus{Bytes: 4096, Version: 12}, Backup: &appliance.BackupStatus{LastAt: new("2026-11-20T01:30:00.000Z")},
				Certificate: &appliance.CertificateStatus{EndsAt: "2027-12-22T08:15:30.000Z", Fingerprint: "3F:8A", Problems: []string{"it ends soon"}},
			}
		},
	}, o.more...)
	s.api.events.streams.times.life = 20 * time.Millisecond // of streams that a test waits for the end of
	for i := range s.api.table {
		s.routes = append(s.routes, &s.api.table[i])
	}
	if !o.empty {
		s.setupCode = ""
		s.makeAccount("acme.example", mailOf(auth.Admin), []byte(acme))
		s.makeAccount("bolt.example", "admin@bolt.example", nil)
		for _, role := range roles[1:] {
			s.must(s.Auth.AddUser(auth.Local("acme"), mailOf(role), role))
		}
	}
	var handler http.Handler = s.api
	if o.wrap != nil {
		handler = o.wrap(handler)
	}
	s.http = httptest.NewUnstartedServer(s.fromWhere(handler))
	s.http.Config.ConnContext = rest.WithConn
	s.http.Config.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	if o.serve != nil {
		o.serve(s.http.Config)
	}
	transport := &http.Transport{}
	if s.http.EnableHTTP2 = o.http2; o.http2 {
		s.http.StartTLS()
		transport = s.http.Client().Transport.(*http.Transport)
	} else {
		s.http.Start()
	}
	transport.DisableCompression, transport.MaxIdleConnsPerHost = true, 64
	s.client = &http.Client{Transport: transport, Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.http.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		s.findSecrets()
	})
	return s
}

// fromHeader tells the test's server from which address a request shall come; without it that is loopback.
const fromHeader = "X-Test-From"

func (s *server) fromWhere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from := r.Header.Get(fromHeader); from != "" {
			r.RemoteAddr = net.JoinHostPort(from, "4321")
		}
		next.ServeHTTP(w, r)
	})
}

// address is one that no request has come from yet.
func (s *server) address() string {
	n := s.from.Add(1)
	return fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)
}

func (s *server) must(_ any, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) listAudit(accountID string, q audit.Query) (page audit.Page, err error) {
	err = s.store.View(func(tx *kv.Tx) error {
		page, err = audit.List(tx, accountID, q)
		return err
	})
	return page, err
}

func (s *server) bootstrap(in configuration.BootstrapInput) (*configuration.BootstrapResult, error) {
	draft, err := s.Accounts.Draft(account.CreateInput{ID: in.ID, Domain: in.Domain, Manifest: in.Manifest, Plant: in.Plant})
	if err != nil {
		return nil, err
	}
	result := &configuration.BootstrapResult{AccountID: draft.ID(), Email: in.Email, Warnings: draft.Warnings}
	if in.DryRun {
		return result, nil
	}
	var published, known func()
	err = s.store.Update(func(tx *kv.Tx) (err error) {
		if published, err = s.Accounts.CreateTx(tx, draft, in.First, in.By); err != nil {
			return err
		}
		var raw string
		raw, known, err = s.Auth.BootstrapTx(tx, auth.First{AccountID: draft.ID(), Email: in.Email, SignIn: in.SignIn, Actor: in.By.Actor()})
		result.Credential(raw, in.SignIn)
		return err
	})
	if err != nil {
		return nil, err
	}
	published()
	known()
	s.hide(result.APIKey + result.Session)
	s.setupCode = ""
	return result, nil
}

func (s *server) makeAccount(domain, email string, manifest []byte) *configuration.BootstrapResult {
	s.t.Helper()
	result, err := s.bootstrap(configuration.BootstrapInput{Domain: domain, Email: email, Manifest: manifest, By: auth.Local("")})
	if err != nil {
		s.t.Fatal(err)
	}
	return result
}

// hide notes a secret.
func (s *server) hide(secret string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(secret) < 8 {
		s.t.Fatalf("%q is no secret", secret)
	}
	s.secrets[secret] = true
	return secret
}

func (s *server) findSecrets() {
	s.mu.Lock()
	defer s.mu.Unlock()
	logged, shown := s.logged.String(), s.shown.String()
	for secret := range s.secrets {
		if at := strings.Index(logged, secret); at >= 0 {
			s.t.Errorf("a secret is in the log: …%s", logged[max(0, at-200):at+len(secret)])
		}
		if at := strings.Index(shown, secret); at >= 0 {
			s.t.Errorf("a secret is in an answer: …%s", shown[max(0, at-200):at+len(secret)])
		}
	}
}

// key makes an API key for a user of an account, with the user's own role.
func (s *server) key(accountID, email string) string {
	s.t.Helper()
	_, raw, err := s.Auth.CreateKeyFor(auth.Local(accountID), email, auth.KeyInput{})
	s.must(nil, err)
	return s.hide(raw)
}

// roleKey makes a key for acme's user of a role.
func (s *server) roleKey(role auth.Role) string { s.t.Helper(); return s.key("acme", mailOf(role)) }

// link makes a one-time link outright and returns its token.
func (s *server) link(accountID, email string) string {
	s.t.Helper()
	link, err := s.Auth.LinkOutright(auth.Local(accountID), email)
	s.must(nil, err)
	return s.hide(link.Token)
}

// session signs a user in.
func (s *server) session(accountID, email string) string {
	s.t.Helper()
	grant, err := s.Auth.Callback(s.link(accountID, email), "10.0.0.9")
	s.must(nil, err)
	return s.hide(grant.Session)
}
