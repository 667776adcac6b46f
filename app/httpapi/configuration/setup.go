package configuration

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
	"opsmon/app/httpapi/rest"
	"opsmon/schema"
	"opsmon/schema/strictjson"
)

// setupRoutes returns the operation for the first set-up.
func (api *API) setupRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodPost, Path: "/setup", Handle: api.postSetup, Body: true, Access: rest.Open,
			Query: []string{"dryrun"}, Limit: rest.BodyLimit,
			Operation: openapi.Operation{
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

// postSetup handles POST /setup: the first account of an empty appliance, protected by a one-time code that is only
// shown on the computer itself.
func (api *API) postSetup(c *rest.Call) (rest.Reply, error) {
	code := api.SetupCode()
	if code == "" {
		if err := c.QueryError(); err != nil {
			return rest.Reply{}, err
		}
		return rest.Reply{}, errdefs.New(errdefs.Conflict, "this appliance is set up already")
	}
	in, err := api.newAccount(c, schema.Setup)
	if err != nil {
		return rest.Reply{}, err
	}
	if subtle.ConstantTimeCompare([]byte(typed(in.Code)), []byte(typed(code))) != 1 {
		return rest.Reply{}, c.WrongCredential(errdefs.New(errdefs.Forbidden, "this is not the set-up code; it is shown on the machine that runs the service"), errdefs.Forbidden)
	}
	dry, err := c.DryRun()
	if err != nil {
		return rest.Reply{}, err
	}
	by := auth.Principal{Type: auth.TypeSetup, Email: in.Email, Role: auth.Admin, UserRole: auth.UserRoleCustomer, Address: rest.Address(c.Request)}
	result, err := api.Bootstrap(BootstrapInput{ID: in.ID, Domain: in.Domain, Email: in.Email, Manifest: in.Manifest, Plant: in.Plant.starter(), First: true, SignIn: in.SignIn, DryRun: dry, By: by})
	if err != nil {
		return rest.Reply{}, err
	}
	out, err := rest.OK(result)
	if in.SignIn && !dry {
		out.Cookies = []*http.Cookie{c.SessionCookie(result.Session)}
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
func (api *API) newAccount(c *rest.Call, name schema.Name) (*newAccount, error) {
	b, err := c.Bytes()
	v, problems, err := c.ParseBody(name, b, err)
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
	if err := c.WaitManifest(); err != nil {
		return nil, err
	}
	return &in, c.JoinProblems(problems, func() error { return auth.CheckEmail("email", in.Email) }, func() error {
		_, err := api.Accounts.Draft(in.input())
		return err
	})
}

func (in *newAccount) input() account.CreateInput {
	return account.CreateInput{ID: in.ID, Domain: in.Domain, Manifest: in.Manifest, Plant: in.Plant.starter()}
}
