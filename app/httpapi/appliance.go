package httpapi

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"opsmon/app/account"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/schema"
	"opsmon/schema/strictjson"
)

// serviceRoutes returns the operations for the first set-up, load balancers and monitoring.
func serviceRoutes() []route {
	return []route{
		{
			method: http.MethodPost, path: "/setup", handle: postSetup, body: true, access: open,
			query: []string{"dryrun"}, limit: bodyLimit,
			text: openapi.Operation{
				ID: "setUp", Tag: "Admin", Summary: "Create the first account",
				About: "Works only on an empty appliance, where `GET /ready` has `result.needsSetUp`. The one-time " +
					"code is shown on the machine that runs the service. With `plant` the configuration starts " +
					"with a plant of that name and that many groups and stations, to be renamed. With `signIn` " +
					"the answer sets the cookie `session`, and no API key is made. With `dryrun=true` everything " +
					"is checked, including the code, and nothing is stored.\n\n403: the code is wrong. 409: the " +
					"appliance is already set up.",
				Answer: "The account, its first admin and an API key.", Body: schema.Setup, Form: openapi.FormResult,
				Gives: "SetupResult", Also: []int{403, 409, 429},
				Sample: `{"accountId":"acme","email":"planner@acme.example","apiKey":"opk_9m4q6w3p5z8c2b7n4t6r9y3h5j2k7x"}`,
			},
		},
		{
			method: http.MethodGet, path: "/health", handle: getHealth, access: open, storeless: true,
			text: openapi.Operation{
				ID: "getHealth", Tag: "Health Check", Summary: "Check that the process is alive",
				Answer: "The process is alive.", Form: openapi.FormDone,
			},
		},
		{
			method: http.MethodGet, path: "/ready", handle: getReady, access: open, storeless: true,
			text: openapi.Operation{
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
			method: http.MethodGet, path: "/metrics", handle: getMetrics, bearer: true,
			text: openapi.Operation{
				ID: "getMetrics", Tag: "Health Check", Summary: "Read metrics",
				About:  "Metrics in Prometheus's text format. The API key may also be sent as a bearer token.",
				Answer: "The metrics.", Form: openapi.FormText,
				Sample: "app_http_requests_total{method=\"GET\",route=\"/account\",status=\"2xx\"} 1024\n",
			},
		},
	}
}

// BootstrapInput is a request to create the first account of an appliance, or another one.
type BootstrapInput struct {
	ID       string
	Domain   string
	Email    string // of the first administrator; "": none yet
	Manifest []byte // nil: a starter manifest
	Plant    *account.StarterPlant
	First    bool // fail if there is already an account
	SignIn   bool // with a session instead of an API key
	DryRun   bool // validate only
	By       auth.Principal
}

// BootstrapResult is the first account. The key is shown once.
//
//openapi:schema SetupResult
type BootstrapResult struct {
	AccountID string `json:"accountId"`
	Email     string `json:"email"` // the first admin
	// An admin's API key; empty if signIn requested a session, which is in the cookie.
	APIKey   string           `json:"apiKey"`
	Session  string           `json:"-"` // raw, for the cookie
	Warnings []errdefs.Detail `json:"-"`
}

// Credential sets the credential of the first administrator.
func (r *BootstrapResult) Credential(raw string, signIn bool) {
	r.APIKey, r.Session = raw, ""
	if signIn {
		r.APIKey, r.Session = "", raw
	}
}

// getHealth handles GET /health: the process is alive.
func getHealth(*call) (reply, error) { return done() }

// getReady handles GET /ready: 503 while requests cannot be served. Reasons and warnings are only for administrators
// and local callers. Everybody may see that the appliance is empty and that links are sent by mail, because pages
// depend on it.
func getReady(c *call) (reply, error) {
	ready := c.api.cfg.Ready
	if c.api.cfg.Closed != nil {
		ready = c.api.cfg.Closed
	}
	err := ready()
	if err == nil {
		start := Start{NeedsSetUp: c.api.cfg.SetupCode() != "", Mail: c.api.cfg.Auth.Mails()}
		switch {
		case c.mayKnow() && c.api.cfg.Status != nil:
			r := readiness(c.api.cfg.Status())
			r.Start = start
			return ok(r)
		case start != Start{}:
			return ok(start)
		}
		return done()
	}
	if c.mayKnow() {
		return reply{}, errdefs.New(errdefs.Unavailable, "not ready: %v", err)
	}
	return reply{}, errdefs.New(errdefs.Unavailable, "not ready")
}

// mayKnow reports whether the caller of an open route is local or an administrator.
func (c *call) mayKnow() bool {
	if c.here() {
		return true
	}
	if c.api.cfg.Closed != nil {
		return false
	}
	if gate := c.api.cfg.Gate; gate != nil {
		if !gate.TryRLock() {
			return false
		}
		defer gate.RUnlock()
	}
	if p, err := c.api.cfg.Auth.AuthenticateKey(c.r.Header.Get("X-API-KEY")); err == nil {
		return p.Role == auth.Admin
	}
	cookie, err := c.r.Cookie(sessionCookie)
	if err != nil {
		return false
	}
	p, err := c.api.cfg.Auth.AuthenticateSession(cookie.Value)
	return err == nil && p.Role == auth.Admin
}

// getMetrics handles GET /metrics in the Prometheus text format.
func getMetrics(c *call) (reply, error) {
	return reply{body: c.api.metrics.text(), kind: metricsType}, nil
}

// postSetup handles POST /setup: the first account of an empty appliance, protected by a one-time code that is only
// shown on the computer itself.
func postSetup(c *call) (reply, error) {
	code := c.api.cfg.SetupCode()
	if code == "" {
		if err := c.unclear(); err != nil {
			return reply{}, err
		}
		return reply{}, errdefs.New(errdefs.Conflict, "this appliance is set up already")
	}
	in, err := c.newAccount(schema.Setup)
	if err != nil {
		return reply{}, err
	}
	if subtle.ConstantTimeCompare([]byte(typed(in.Code)), []byte(typed(code))) != 1 {
		return reply{}, c.wrong(errdefs.New(errdefs.Forbidden, "this is not the set-up code; it is shown on the machine that runs the service"), errdefs.Forbidden)
	}
	dry, err := c.dryRun()
	if err != nil {
		return reply{}, err
	}
	by := auth.Principal{Type: auth.TypeSetup, Email: in.Email, Role: auth.Admin, UserRole: auth.UserRoleCustomer, Address: address(c.r)}
	result, err := c.api.cfg.Bootstrap(BootstrapInput{ID: in.ID, Domain: in.Domain, Email: in.Email, Manifest: in.Manifest, Plant: in.Plant.starter(), First: true, SignIn: in.SignIn, DryRun: dry, By: by})
	if err != nil {
		return reply{}, err
	}
	out, err := ok(result)
	if in.SignIn && !dry {
		out.cookies = []*http.Cookie{c.api.sessionCookie(result.Session)}
	}
	return out, err
}

// typed normalizes a set-up code, which people copy by hand from another screen.
func typed(code string) string {
	return strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(code))
}

// setupPlant is the plant in a set-up request.
type setupPlant struct {
	Name     string `json:"name"`
	Timezone string `json:"timezone"`
	Groups   int    `json:"groups"`
	Stations int    `json:"stationsPerGroup"`
}

func (p *setupPlant) starter() *account.StarterPlant {
	if p == nil {
		return nil
	}
	return &account.StarterPlant{Name: p.Name, Timezone: p.Timezone, Groups: p.Groups, Stations: p.Stations}
}

// newAccount is a request to create an account. Its manifest keeps the bytes that were sent.
type newAccount struct {
	Code     string          `json:"code"` // only POST /setup
	ID       string          `json:"id"`
	Domain   string          `json:"domain"`
	Email    string          `json:"email"`
	Manifest json.RawMessage `json:"manifest"`
	Plant    *setupPlant     `json:"plant"`  // only POST /setup
	SignIn   bool            `json:"signIn"` // only POST /setup
}

// newAccount decodes and validates a request to create an account. It does not compare the set-up code, and its errors
// do not depend on whether the code is right, so codes cannot be tried without being counted.
func (c *call) newAccount(name schema.Name) (*newAccount, error) {
	b, err := c.bytes()
	v, problems, err := c.shapeOf(name, b, err)
	if err != nil {
		return nil, err
	}
	var in newAccount
	var sent struct {
		Manifest json.RawMessage `json:"manifest"`
	}
	err = strictjson.Fill(v, &in)
	if err == nil {
		err = json.Unmarshal(b, &sent)
	}
	if err != nil && len(problems) == 0 {
		return nil, fmt.Errorf("decode %s: %w", name, err)
	}
	in.Manifest = nil
	if body, _ := v.(map[string]any); body["manifest"] != nil {
		in.Manifest = sent.Manifest
	}
	if err := c.takeSlot(); err != nil {
		return nil, err
	}
	return &in, c.judged(problems, func() error { return auth.CheckEmail("email", in.Email) }, func() error {
		_, err := c.api.cfg.Accounts.Draft(in.input())
		return err
	})
}

func (in *newAccount) input() account.CreateInput {
	return account.CreateInput{ID: in.ID, Domain: in.Domain, Manifest: in.Manifest, Plant: in.Plant.starter()}
}
