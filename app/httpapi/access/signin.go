// Package access serves sign-in, users, keys and tablets.
package access

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"opsmon/app/account"
	"opsmon/app/account/manifest"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/schema"
)

// API has the services of these operations.
type API struct {
	Accounts *account.Service
	Auth     *auth.Service
	// BaseURL returns the address of the service for people, without a trailing slash. It never comes from a request,
	// because a forged Host header would redirect one-time links.
	BaseURL func() string
}

// Routes returns the operations on the network.
func (api *API) Routes() []rest.Route {
	return slices.Concat(api.signInRoutes(), api.peopleRoutes())
}

// LocalRoutes returns the operations for the local command line.
func (api *API) LocalRoutes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodPost, Path: "/local/key", Handle: api.localCreateKey},
		{Method: http.MethodPost, Path: "/local/login-link", Handle: api.localLoginLink},
		{Method: http.MethodPost, Path: "/local/reset-admin", Handle: api.localResetAdmin},
	}
}

// signInRoutes returns the operations on signing in and sessions.
func (api *API) signInRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/auth/profile", Handle: api.getProfile,
			Operation: openapi.Operation{
				ID: "getProfile", Tag: "Authenticate", Summary: "Read your own profile",
				About:  "The caller's identity, account and role, and the other accounts of the same person.",
				Answer: "The profile.", Form: openapi.FormResult, Gives: "Profile", Also: []int{400, 409},
				Sample: profileSample,
			},
		},
		{
			Method: http.MethodGet, Path: "/auth/callback", Handle: api.getCallback, Access: rest.Open,
			Query: []string{"token"}, NoHead: true,
			Operation: openapi.Operation{
				ID: "callback", Tag: "Authenticate", Summary: "Use a one-time link",
				About: "Uses up the token and signs the calling browser in by the cookie `session`. As it changes " +
					"something, although it is a `GET`, `HEAD` is 405, and calls from other sites are " +
					"refused.\n\n403: the link is unknown or has expired. 409: it was used before.",
				Answer: "Signed in.", Form: openapi.FormDone, Also: []int{400, 403, 409, 429},
				Params: openapi.Params{
					"token": {
						About:    "Token of the one-time link.",
						Required: true, Schema: `{"type": "string", "minLength": 1}`, Example: "opl_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2",
					},
				},
			},
		},
		{
			Method: http.MethodPost, Path: "/auth/login", Handle: api.postLogin, Body: true, Access: rest.Open,
			Operation: openapi.Operation{
				ID: "login", Tag: "Authenticate", Summary: "Request a one-time link",
				About: "The link is mailed to the address or, without mail, handed over by an administrator. The " +
					"answer's `code` has five digits to compare with those in the message. The cookie `login` " +
					"allows this browser to be signed in later.\n\n403: the address is no user of an account " +
					"here, nor on the domain of one. 429: within 15 minutes more than 20 requests came from one " +
					"network address, or more than 5 of these for one person; or more than 30 for one person " +
					"came from network addresses from which that person had not signed in for 30 days. Nobody " +
					"can thus lock a person out of the network addresses that they use.",
				Answer: "The link is on its way.", Body: schema.Login, Form: openapi.FormBare, Gives: "LoginAnswer",
				Also: []int{403, 409, 429},
				Sample: `{"code":"04817","success":true,"result":{"email":"planner@acme.example",
					"exp":"2026-11-20T08:30:30.123Z","userRole":"customer","accountId":"acme","role":"readonly",
					"featureFlags":[],"type":"login"}}`,
			},
		},
		{
			Method: http.MethodPost, Path: "/auth/logout", Handle: api.postLogout,
			Operation: openapi.Operation{
				ID: "logout", Tag: "Authenticate", Summary: "Sign out",
				About: "Ends the calling session and clears its cookie. With an API key this succeeds and revokes " +
					"nothing.",
				Answer: "Signed out.", Form: openapi.FormDone, Also: []int{409},
			},
		},
		{
			Method: http.MethodPost, Path: "/auth/approve", Handle: api.postApprove, Body: true, Access: rest.Open,
			Operation: openapi.Operation{
				ID: "approve", Tag: "Authenticate", Summary: "Approve the waiting browser",
				About: "For a link that was opened in another browser than the one that requested it. The token is " +
					"used up, and the browser that shows the five digits may call `POST /auth/claim`. The link " +
					"ends after five wrong codes.\n\n403: the link is unknown or has expired, or the code is " +
					"wrong. 409: it was used before, or no browser waits.",
				Answer: "The waiting browser is approved.", Body: schema.Approve, Form: openapi.FormDone,
				Also:    []int{403, 409, 429},
				Example: `{"token":"opl_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2","code":"04817"}`,
			},
		},
		{
			Method: http.MethodPost, Path: "/auth/claim", Handle: api.postClaim, Access: rest.Open,
			Operation: openapi.Operation{
				ID: "claim", Tag: "Authenticate", Summary: "Sign in after approval",
				About: "For the browser that requested the link, identified by its cookie `login`. Once approved, " +
					"it gets its session, one time.\n\n403: the browser requested no link, or the request has " +
					"expired. 409: it is not approved yet.",
				Answer: "Signed in.", Form: openapi.FormDone, Also: []int{400, 403, 409, 429},
				Security: `[{"LoginCookie":[]}]`,
			},
		},
		{
			Method: http.MethodPost, Path: "/auth/account", Handle: api.postAuthAccount, Body: true,
			Operation: openapi.Operation{
				ID: "switchAccount", Tag: "Authenticate", Summary: "Switch account",
				About: "For a session of a person with several accounts: later requests use the account that is " +
					"named, and so does the next sign-in.\n\n403: the person is not a member of the account, or " +
					"the caller is not a session.",
				Answer: "The session uses that account now.", Body: schema.AccountSwitch, Form: openapi.FormDone,
				Security: `[{"SessionCookie":[]}]`,
			},
		},
		{
			Method: http.MethodGet, Path: "/session", Handle: api.getSessions,
			Operation: openapi.Operation{
				ID: "listSessions", Tag: "Authenticate", Summary: "List your sessions",
				About: "Browsers with a session, last used first. A session from an administrator's link for one " +
					"account, and an API key, see only those of that account.",
				Answer: "The sessions.", Form: openapi.FormList, Gives: "SignedIn",
				Sample: `{"id":"t5r9y3h5j2k7","current":true,"accountId":"acme","address":"192.0.2.17",
					"createdAt":"2026-11-18T07:02:11.480Z","lastUsedAt":"2026-11-20T08:00:00.000Z",
					"expiresAt":"2026-12-20T08:00:00.000Z"}`,
			},
		},
		{
			Method: http.MethodDelete, Path: "/session", Handle: api.deleteSessions, Query: []string{"keepthis"},
			Operation: openapi.Operation{
				ID: "endSessions", Tag: "Authenticate", Summary: "Sign out everywhere",
				About: "Ends the sessions that `GET /session` lists; with `keepthis=true` all but the calling one. " +
					"API keys stay.",
				Answer: "The number of ended sessions.", Form: openapi.FormResult, Gives: "EndedSessions",
				Sample: `{"ended":2}`,
				Params: openapi.Params{
					"keepthis": {
						About:  "Keep the calling session.",
						Schema: `{"type": "boolean", "default": false}`, Example: true,
					},
				},
			},
		},
		{
			Method: http.MethodDelete, Path: "/user/:email/session", Handle: api.deleteUserSessions, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "endUserSessions", Tag: "User", Summary: "Sign a user out everywhere",
				About: "Ends the user's sessions in the caller's account. API keys stay, and the user may sign in " +
					"again.",
				Answer: "The number of ended sessions.", Form: openapi.FormResult, Gives: "EndedSessions", Also: []int{404, 409},
				Sample: `{"ended":2}`,
			},
		},
		{
			Method: http.MethodGet, Path: "/login-request", Handle: api.getLoginRequests, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "listLoginRequests", Tag: "Authenticate", Summary: "List pending sign-ins",
				About:  "Sign-in requests of people of this account whose link was not used yet.",
				Answer: "The requests, newest first.", Form: openapi.FormList, Gives: "LoginRequest",
				Sample: `{"code":"04817","email":"planner@acme.example","role":"member","accountId":"acme",
					"address":"192.0.2.17","createdAt":"2026-11-20T08:15:30.123Z",
					"expiresAt":"2026-11-20T08:30:30.123Z"}`,
			},
		},
		{
			Method: http.MethodPost, Path: "/login-request/:code/link", Handle: api.postLoginLink, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "createLoginLink", Tag: "Authenticate", Summary: "Create the link of a pending sign-in",
				About: "For plants without mail: a link to hand over. It replaces an earlier link of the same " +
					"request, and opens only this account.\n\n409: the account is archived.",
				Answer: "The link.", Form: openapi.FormResult, Gives: "Link", Also: []int{404, 409}, Sample: linkSample,
				Params: openapi.Params{
					"code": {
						About:  "The five digits of the request.",
						Schema: `{"type": "string", "pattern": "^[0-9]{5}$"}`, Example: "04817",
					},
				},
			},
		},
	}
}

const (
	loginCookie = "login" // a browser that waits for its sign-in
)

// session is the caller as in the profile and the login operation (http-api.md 2.4).
type session struct {
	Email string `json:"email"` // the person's address, or a tablet's identity
	// When the session or key expires; 9999-12-31T23:59:59.000Z for a key that does not.
	Exp string `json:"exp" schema:"ref=Moment"`
	// The appliance's own operator is system; everybody else is customer.
	UserRole     string    `json:"userRole" schema:"enum=customer|system"`
	AccountID    string    `json:"accountId"`    // the account that the request works on
	Role         auth.Role `json:"role"`         // the role in that account
	FeatureFlags []string  `json:"featureFlags"` // names of the account's flags that are on
	// Kind of credential.
	Type auth.Type `json:"type" schema:"enum=session|apiKey|login|device"`
}

func sessionOf(p auth.Principal, flags []string) session {
	return session{
		Email: p.Email, Exp: ends(p.Expires), UserRole: p.UserRole, AccountID: p.AccountID, Role: p.Role,
		FeatureFlags: flags, Type: p.Type,
	}
}

// loginSession is a person who has requested to sign in and is not authenticated yet.
//
//openapi:schema Session
type loginSession struct {
	Email     string `json:"email"`                   // address of the person
	Exp       string `json:"exp" schema:"ref=Moment"` // when the link expires
	UserRole  string `json:"userRole" schema:"const=customer"`
	AccountID string `json:"accountId"` // account to sign in to
	// Always the lowest role; the profile has the real one.
	Role auth.Role `json:"role" schema:"const=readonly"`
	// Always empty; the profile has the real ones.
	FeatureFlags []string  `json:"featureFlags" schema:"maxItems=0"`
	Type         auth.Type `json:"type" schema:"const=login"`
}

// loginAnswer is the answer to a request to sign in.
//
//openapi:schema LoginAnswer
type loginAnswer struct {
	// Five digits to compare with those in the message.
	Code    string       `json:"code" schema:"pattern=^[0-9]{5}$"`
	Success bool         `json:"success" schema:"const=true"`
	Result  loginSession `json:"result"`
}

// postLogin handles POST /auth/login (http-api.md section 4, row 6; decisions.md section 4).
func (api *API) postLogin(c *rest.Call) (rest.Reply, error) {
	var in struct {
		Destination string `json:"destination"`
	}
	if err := c.Decode(schema.Login, false, &in, func() error { return auth.CheckEmail("destination", in.Destination) }); err != nil {
		return rest.Reply{}, err
	}
	login, err := api.Auth.Login(auth.LoginRequest{Destination: in.Destination, Address: rest.Address(c.Request), BaseURL: api.BaseURL()})
	if err != nil {
		return rest.Reply{}, err
	}
	out, err := rest.Encode(loginAnswer{login.Code, true, loginSession(sessionOf(login.Session, []string{}))})
	out.Cookies = []*http.Cookie{c.Cookie(loginCookie, login.LoginToken, auth.LinkLifetime)}
	return out, err
}

// signedIn replies {isSuccess: true} and sets the browser's session cookie.
func signedIn(c *rest.Call, raw string, p auth.Principal) (rest.Reply, error) {
	c.Principal = p // for the log
	out, err := rest.Done()
	out.Cookies = []*http.Cookie{c.SessionCookie(raw), c.Cookie(loginCookie, "", 0)}
	return out, err
}

// getCallback handles GET /auth/callback (row 4): it consumes the token and signs the caller in.
func (api *API) getCallback(c *rest.Call) (rest.Reply, error) {
	grant, err := api.Auth.Callback(c.Query("token"), rest.Address(c.Request))
	if err != nil {
		return rest.Reply{}, c.WrongCredential(err, errdefs.Forbidden)
	}
	return signedIn(c, grant.Session, grant.Principal)
}

// postApprove handles POST /auth/approve: the holder of the link approves the browser that asked.
func (api *API) postApprove(c *rest.Call) (rest.Reply, error) {
	var in struct {
		Token string `json:"token"`
		Code  string `json:"code"`
	}
	if err := c.Decode(schema.Approve, false, &in); err != nil {
		return rest.Reply{}, err
	}
	if err := api.Auth.Approve(in.Token, in.Code, rest.Address(c.Request)); err != nil {
		return rest.Reply{}, c.WrongCredential(err, errdefs.Forbidden)
	}
	return rest.Done()
}

// postClaim handles POST /auth/claim: the browser that asked gets its session, once.
func (api *API) postClaim(c *rest.Call) (rest.Reply, error) {
	cookie, err := c.Request.Cookie(loginCookie)
	if err != nil {
		return rest.Reply{}, errdefs.New(errdefs.Forbidden, "this browser did not ask to sign in, or its request is too old; ask again")
	}
	grant, err := api.Auth.Claim(cookie.Value, rest.Address(c.Request))
	if err != nil {
		return rest.Reply{}, c.WrongCredential(err, errdefs.Forbidden)
	}
	return signedIn(c, grant.Session, grant.Principal)
}

// postLogout handles POST /auth/logout (row 5).
func (api *API) postLogout(c *rest.Call) (rest.Reply, error) {
	if err := api.Auth.Logout(c.Principal); err != nil {
		return rest.Reply{}, err
	}
	c.Principal.RenewCookie = false
	out, err := rest.Done()
	if c.Principal.Type == auth.TypeSession {
		out.Cookies = []*http.Cookie{c.Cookie(rest.SessionCookie, "", 0)}
	}
	return out, err
}

// getSessions handles GET /session: the caller's sessions.
func (api *API) getSessions(c *rest.Call) (rest.Reply, error) {
	sessions, err := api.Auth.Sessions(c.Principal)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.List(sessions, -1)
}

// endedSessions is the result of signing out everywhere.
//
//openapi:schema EndedSessions
type endedSessions struct {
	Ended int `json:"ended" schema:"min=0"` // number of ended sessions
}

// deleteSessions handles DELETE /session: it ends all of the caller's sessions, or all others.
func (api *API) deleteSessions(c *rest.Call) (rest.Reply, error) {
	keep := c.On("keepthis") // validated by checkQuery
	n, err := api.Auth.EndSessions(c.Principal, keep)
	if err != nil {
		return rest.Reply{}, err
	}
	out, err := rest.OK(endedSessions{n})
	if c.Principal.Type == auth.TypeSession && !keep {
		c.Principal.RenewCookie = false
		out.Cookies = []*http.Cookie{c.Cookie(rest.SessionCookie, "", 0)}
	}
	return out, err
}

// deleteUserSessions handles DELETE /user/{email}/session: an administrator ends all sessions of a user.
func (api *API) deleteUserSessions(c *rest.Call) (rest.Reply, error) {
	email, err := email(c)
	if err != nil {
		return rest.Reply{}, err
	}
	n, err := api.Auth.EndSessionsOf(c.Principal, email)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(endedSessions{n})
}

// postAuthAccount handles POST /auth/account: a member of several accounts switches to another one.
func (api *API) postAuthAccount(c *rest.Call) (rest.Reply, error) {
	var in struct {
		AccountID string `json:"accountId"`
	}
	if err := c.Decode(schema.AccountSwitch, false, &in); err != nil {
		return rest.Reply{}, err
	}
	p, err := api.Auth.SwitchAccount(c.Principal, in.AccountID)
	if err != nil {
		return rest.Reply{}, err
	}
	c.Principal.AccountID = p.AccountID // for the log
	return rest.Done()
}

// getLoginRequests handles GET /login-request: pending sign-ins.
func (api *API) getLoginRequests(c *rest.Call) (rest.Reply, error) {
	pending, err := api.Auth.PendingLogins(c.Principal)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.List(pending, -1)
}

// postLoginLink handles POST /login-request/{code}/link: a new link to hand over.
func (api *API) postLoginLink(c *rest.Call) (rest.Reply, error) {
	return api.link(api.Auth.LinkFor(c.Principal, c.Params.ByName("code")))
}

// linkView is a one-time link to hand over.
//
//openapi:schema Link
type linkView struct {
	// The address to open; shown once.
	Link      string    `json:"link"`
	Code      string    `json:"code" schema:"pattern=^[0-9]{5}$"` // the five digits that the waiting browser shows
	ExpiresAt string    `json:"expiresAt" schema:"ref=Moment"`
	Email     string    `json:"email"` // who it signs in
	Role      auth.Role `json:"role"`
	Account   string    `json:"account"` // identifier of the account
	// Network address of the request; empty for the local command line.
	From string `json:"from"`
}

// link replies with a one-time link to hand over.
func (api *API) link(l auth.Link, err error) (rest.Reply, error) {
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(linkView{auth.LinkURL(api.BaseURL(), l.Token), l.Code, instant.Format(l.ExpiresAt), l.Email, l.Role, l.Account, l.From})
}

// linkSample is an example of an answer.
const linkSample = `{"link":"https://plant.example/link#opl_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2","code":"04817",
	"expiresAt":"2026-11-20T08:30:30.123Z","email":"planner@acme.example","role":"member","account":"acme",
	"from":"192.0.2.17"}`

// profile is the caller.
//
// See http-api.md section 2.4.
//
//openapi:schema Profile
type profile struct {
	session
	Accounts []auth.Membership `json:"accounts"` // the accounts that the person belongs to
	APIKey   string            `json:"apiKey"`   // the API key that the request came with; empty for a session
	Account  profileAccount    `json:"account"`
	// Only for tablets: the tablet's name.
	TabletName string `json:"tabletName,omitempty"`
	// Only for tablets: its stations.
	StationCodes []string `json:"stationCodes,omitzero"`
}

// profileAccount is the account in brief.
//
//openapi:schema ProfileAccount
type profileAccount struct {
	ID                       string `json:"id"`
	Domain                   string `json:"domain"`
	EnableLostProductionCost bool   `json:"enableLostProductionCost"` // whether the flag is on
	// Settings of the dashboard; empty when none are set.
	DashboardConfig json.RawMessage `json:"dashboardConfig" schema:"type=object"`
}

// never is the expiry shown for a credential that does not expire.
var never = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

func ends(t time.Time) string {
	if t.IsZero() {
		t = never
	}
	return instant.Format(t)
}

// getProfile handles GET /auth/profile (row 3).
func (api *API) getProfile(c *rest.Call) (rest.Reply, error) {
	snap, err := api.Accounts.Get(c.Principal.AccountID)
	if err != nil {
		return rest.Reply{}, err
	}
	a := snap.Account
	out := profile{
		session: sessionOf(c.Principal, a.FlagsOn()), Accounts: api.Auth.Memberships(c.Principal.Email), APIKey: c.Key,
		Account: profileAccount{a.ID, a.Domain, a.FlagOn(manifest.EnableLostProductionCost), a.DashboardConfig()},
	}
	if c.Principal.Tablet() { // a tablet belongs to one account, with the role that it was paired with
		out.Accounts = []auth.Membership{{Role: c.Principal.Role, AccountID: a.ID, Domain: a.Domain}}
		name, err := api.Auth.TabletName(c.Principal)
		if err != nil {
			return rest.Reply{}, err
		}
		out.TabletName, out.StationCodes = name, append([]string{}, c.Principal.StationCodes...)
	}
	return rest.OK(out)
}

// profileSample is an example of an answer.
const profileSample = `{"email":"planner@acme.example","exp":"9999-12-31T23:59:59.000Z","userRole":"customer",
	"accountId":"acme","role":"member","featureFlags":["enableTasks"],"type":"apiKey",
	"accounts":[{"role":"member","accountId":"acme","domain":"acme.example"}],
	"apiKey":"opk_9m4q6w3p5z8c2b7n4t6r9y3h5j2k7x",
	"account":{"id":"acme","domain":"acme.example","enableLostProductionCost":false,"dashboardConfig":{}}}`
