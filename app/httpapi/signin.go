package httpapi

import (
	"net/http"
	"time"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/schema"
)

// The cookies (decisions.md section 4).
const (
	sessionCookie = "session" // a signed-in browser
	loginCookie   = "login"   // a browser that asked to sign in and waits to be let in
)

func (a *API) cookie(name, value string, life time.Duration) *http.Cookie {
	c := &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: int(life / time.Second), HttpOnly: true, Secure: a.cfg.Secure, SameSite: http.SameSiteLaxMode}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

func (a *API) sessionCookie(value string) *http.Cookie {
	return a.cookie(sessionCookie, value, auth.SessionLifetime)
}

// session is what the profile and the login operation tell of a caller (http-api.md 2.4).
type session struct {
	Email string `json:"email"` // the person's address, or a tablet's identity
	// When the session or the key ends; 9999-12-31T23:59:59.000Z for a key without an end.
	Exp string `json:"exp" schema:"ref=Moment"`
	// The appliance's own operator is system; everybody else is customer.
	UserRole     string    `json:"userRole" schema:"enum=customer|system"`
	AccountID    string    `json:"accountId"`    // the account that the request works on
	Role         auth.Role `json:"role"`         // the role in that account
	FeatureFlags []string  `json:"featureFlags"` // names of the account's flags that are on
	// How the caller proved who it is.
	Type auth.Type `json:"type" schema:"enum=session|apiKey|login|device"`
}

func sessionOf(p auth.Principal, flags []string) session {
	return session{
		Email: p.Email, Exp: ends(p.Expires), UserRole: p.UserRole, AccountID: p.AccountID, Role: p.Role,
		FeatureFlags: flags, Type: p.Type,
	}
}

// loginSession is a person who asked to sign in and has proven nothing yet.
//
//openapi:schema Session
type loginSession struct {
	Email     string `json:"email"`                   // the address that the link is for
	Exp       string `json:"exp" schema:"ref=Moment"` // when the link expires
	UserRole  string `json:"userRole" schema:"const=customer"`
	AccountID string `json:"accountId"` // the account to be entered
	// Always the lowest: the real one comes with the profile.
	Role auth.Role `json:"role" schema:"const=readonly"`
	// Always empty: the real ones come with the profile.
	FeatureFlags []string  `json:"featureFlags" schema:"maxItems=0"`
	Type         auth.Type `json:"type" schema:"const=login"`
}

// loginAnswer is the answer to a request to sign in.
//
//openapi:schema LoginAnswer
type loginAnswer struct {
	// Five digits, to be compared with those in the message.
	Code    string       `json:"code" schema:"pattern=^[0-9]{5}$"`
	Success bool         `json:"success" schema:"const=true"`
	Result  loginSession `json:"result"`
}

// postLogin answers POST /auth/login (http-api.md section 4, row 6; decisions.md section 4).
func postLogin(c *call) (reply, error) {
	var in struct {
		Destination string `json:"destination"`
	}
	if err := c.decode(schema.Login, false, &in, func() error { return auth.CheckEmail("destination", in.Destination) }); err != nil {
		return reply{}, err
	}
	login, err := c.api.cfg.Auth.Login(auth.LoginRequest{Destination: in.Destination, Address: address(c.r), BaseURL: c.api.cfg.BaseURL()})
	if err != nil {
		return reply{}, err
	}
	out, err := encode(loginAnswer{login.Code, true, loginSession(sessionOf(login.Session, []string{}))})
	out.cookies = []*http.Cookie{c.api.cookie(loginCookie, login.LoginToken, auth.LinkLifetime)}
	return out, err
}

// signedIn answers {isSuccess: true} and gives the browser its session.
func (c *call) signedIn(raw string, p auth.Principal) (reply, error) {
	c.p = p // for the log
	out, err := done()
	out.cookies = []*http.Cookie{c.api.sessionCookie(raw), c.api.cookie(loginCookie, "", 0)}
	return out, err
}

// getCallback answers GET /auth/callback (row 4): it uses the token up and signs the caller in.
func getCallback(c *call) (reply, error) {
	grant, err := c.api.cfg.Auth.Callback(c.query("token"), address(c.r))
	if err != nil {
		return reply{}, c.wrong(err, errdefs.Forbidden)
	}
	return c.signedIn(grant.Session, grant.Principal)
}

// postApprove answers POST /auth/approve: the holder of the link lets the browser in that asked.
func postApprove(c *call) (reply, error) {
	var in struct {
		Token string `json:"token"`
		Code  string `json:"code"`
	}
	if err := c.decode(schema.Approve, false, &in); err != nil {
		return reply{}, err
	}
	if err := c.api.cfg.Auth.Approve(in.Token, in.Code, address(c.r)); err != nil {
		return reply{}, c.wrong(err, errdefs.Forbidden)
	}
	return done()
}

// postClaim answers POST /auth/claim: the browser that asked gets its session, once.
func postClaim(c *call) (reply, error) {
	cookie, err := c.r.Cookie(loginCookie)
	if err != nil {
		return reply{}, errdefs.New(errdefs.Forbidden, "this browser did not ask to sign in, or its request is too old; ask again")
	}
	grant, err := c.api.cfg.Auth.Claim(cookie.Value, address(c.r))
	if err != nil {
		return reply{}, c.wrong(err, errdefs.Forbidden)
	}
	return c.signedIn(grant.Session, grant.Principal)
}

// postLogout answers POST /auth/logout (row 5).
func postLogout(c *call) (reply, error) {
	if err := c.api.cfg.Auth.Logout(c.p); err != nil {
		return reply{}, err
	}
	c.p.RenewCookie = false
	out, err := done()
	if c.p.Type == auth.TypeSession {
		out.cookies = []*http.Cookie{c.api.cookie(sessionCookie, "", 0)}
	}
	return out, err
}

// getSessions answers GET /session: where the caller is signed in.
func getSessions(c *call) (reply, error) {
	sessions, err := c.api.cfg.Auth.Sessions(c.p)
	if err != nil {
		return reply{}, err
	}
	return list(sessions, -1)
}

// endedSessions is what signing out everywhere did.
//
//openapi:schema EndedSessions
type endedSessions struct {
	Ended int `json:"ended" schema:"min=0"` // how many sessions have ended
}

// deleteSessions answers DELETE /session: the caller is signed out everywhere, or everywhere else.
func deleteSessions(c *call) (reply, error) {
	keep := c.on("keepthis") // checkQuery has judged it
	n, err := c.api.cfg.Auth.EndSessions(c.p, keep)
	if err != nil {
		return reply{}, err
	}
	out, err := ok(endedSessions{n})
	if c.p.Type == auth.TypeSession && !keep {
		c.p.RenewCookie = false
		out.cookies = []*http.Cookie{c.api.cookie(sessionCookie, "", 0)}
	}
	return out, err
}

// deleteUserSessions answers DELETE /user/{email}/session: an administrator signs a user out everywhere.
func deleteUserSessions(c *call) (reply, error) {
	email, err := c.email()
	if err != nil {
		return reply{}, err
	}
	n, err := c.api.cfg.Auth.EndSessionsOf(c.p, email)
	if err != nil {
		return reply{}, err
	}
	return ok(endedSessions{n})
}

// postAuthAccount answers POST /auth/account: a person of several accounts enters another one.
func postAuthAccount(c *call) (reply, error) {
	var in struct {
		AccountID string `json:"accountId"`
	}
	if err := c.decode(schema.AccountSwitch, false, &in); err != nil {
		return reply{}, err
	}
	p, err := c.api.cfg.Auth.SwitchAccount(c.p, in.AccountID)
	if err != nil {
		return reply{}, err
	}
	c.p.AccountID = p.AccountID // for the log
	return done()
}

// getLoginRequests answers GET /login-request: who waits to be let in.
func getLoginRequests(c *call) (reply, error) {
	pending, err := c.api.cfg.Auth.PendingLogins(c.p)
	if err != nil {
		return reply{}, err
	}
	return list(pending, -1)
}

// postLoginLink answers POST /login-request/{code}/link: a link to hand over, minted anew.
func postLoginLink(c *call) (reply, error) {
	return c.link(c.api.cfg.Auth.LinkFor(c.p, c.params.ByName("code")))
}

// linkView is a one-time link to hand over.
//
//openapi:schema Link
type linkView struct {
	// The address to open. It is shown once.
	Link      string    `json:"link"`
	Code      string    `json:"code" schema:"pattern=^[0-9]{5}$"` // the five digits that the waiting browser shows
	ExpiresAt string    `json:"expiresAt" schema:"ref=Moment"`
	Email     string    `json:"email"` // who is let in
	Role      auth.Role `json:"role"`
	Account   string    `json:"account"` // identifier of the account
	// The network address asked from; empty for the local command line.
	From string `json:"from"`
}

// link shows a one-time link to whoever hands it over.
func (c *call) link(l auth.Link, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	return ok(linkView{auth.LinkURL(c.api.cfg.BaseURL(), l.Token), l.Code, audit.Timestamp(l.ExpiresAt), l.Email, l.Role, l.Account, l.From})
}
