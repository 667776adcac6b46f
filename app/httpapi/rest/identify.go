package rest

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"opsmon/app/account"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/origin"
)

// identify sets the principal of the request and checks that it may use the route.
func (a *API) identify(c *Call) error {
	if c.Request.Context().Value(localKey{}) != nil {
		if c.route.Storeless {
			c.Principal = auth.Local("")
			return nil
		}
		return a.identifyLocal(c)
	}
	if c.route.Access == Open {
		if len(c.Request.Header["X-Api-Key"]) == 0 {
			return c.sameOrigin()
		}
		return nil
	}
	if err := c.authenticate(); err != nil {
		return err
	}
	if c.Principal.Type == auth.TypeSession {
		if err := c.sameOrigin(); err != nil {
			return err
		}
	}
	if err := c.meant(); err != nil {
		return err
	}
	if c.Principal.Type == auth.TypeDevice {
		if c.route.Devices {
			return nil
		}
		return errdefs.New(errdefs.Forbidden, "a device may send signals and nothing else")
	}
	if !c.Principal.Role.AtLeast(c.route.Role) {
		return errdefs.New(errdefs.Forbidden, "this needs the role %s; yours is %s", c.route.Role, c.Principal.Role)
	}
	return nil
}

// SessionCookie is the cookie of a signed-in browser (decisions.md section 4).
const SessionCookie = "session"

// authenticate finds the principal by the credential of the request.
func (c *Call) authenticate() (err error) {
	known := c.api.cfg.Auth
	if key := c.Request.Header["X-Api-Key"]; len(key) > 0 {
		c.Key = key[0]
		c.Principal, err = known.AuthenticateSender(c.Key)
	} else if token, ok := bearer(c.Request); ok && c.route.Bearer {
		c.Key = token
		c.Principal, err = known.AuthenticateKey(token)
	} else {
		cookie, missing := c.Request.Cookie(SessionCookie)
		if missing != nil || cookie.Value == "" {
			// a missing credential is not a wrong one: it is not throttled
			return errdefs.New(errdefs.Unauthorized, "no credential")
		}
		c.Principal, err = known.AuthenticateSession(cookie.Value)
	}
	if err != nil {
		return c.WrongCredential(err, errdefs.Unauthorized)
	}
	if conn, ok := c.Request.Context().Value(connKey{}).(net.Conn); ok && c.api.cfg.Known != nil {
		c.api.cfg.Known(conn)
	}
	return nil
}

// forHeader has the intended user of a request as ACCOUNT/EMAIL, percent-encoded; in an answer that refuses it, the
// actual one.
const forHeader = "X-For"

// meant refuses a request intended for another user. On a tablet shared by several people, another one may have signed
// in since the page read its user, and actions of one must not be recorded for the other.
func (c *Call) meant() error {
	is := c.Principal.AccountID + "/" + c.Principal.Email
	for _, value := range c.Request.Header[forHeader] {
		whom, err := url.PathUnescape(value)
		if account, email, _ := strings.Cut(whom, "/"); err != nil || account == "" || email == "" {
			return errdefs.InvalidField(forHeader, "must be an accountId and an email with a slash between them, percent-encoded; it is %s", errdefs.Shorten(value))
		}
		if whom != is {
			c.other = true
			return errdefs.New(errdefs.Conflict, "this request is meant for %s, and %s is signed in; nothing was done", errdefs.Shorten(value), is)
		}
	}
	return nil
}

// identifyLocal sets the local administrator as the principal, for the named account or the only possible one.
func (a *API) identifyLocal(c *Call) error {
	id := c.Request.Header.Get(accountHeader)
	if id != "" {
		if _, err := a.cfg.Accounts.Get(id); err != nil {
			return err
		}
		c.Principal = auth.Local(id)
		return nil
	}
	accounts := a.meant(c.route)
	switch needed := c.route.Access != Open && !c.route.AnyAccount; {
	case len(accounts) == 1:
		id = accounts[0].ID
	case len(accounts) == 0 && needed:
		return errdefs.New(errdefs.Conflict, "there is no account on this appliance yet; make the first with: app init --domain DOMAIN --email EMAIL")
	case needed:
		names := make([]string, len(accounts))
		for i := range accounts {
			names[i] = accounts[i].ID
		}
		return errdefs.New(errdefs.Invalid, "this appliance holds several accounts; name one with --account: %s", strings.Join(names, ", "))
	}
	c.Principal = auth.Local(id)
	return nil
}

// meant returns the possible accounts for a request of the local command line without a name: the active ones, or the
// archived ones if the route is for those or there are no others.
func (a *API) meant(rt *Route) []*account.Account {
	all := a.cfg.Accounts.List(true)
	archived := func(x *account.Account) bool { return x.ArchivedAt != nil }
	active := slices.DeleteFunc(slices.Clone(all), archived)
	if rt.Archived && len(active) < len(all) {
		return slices.DeleteFunc(all, func(x *account.Account) bool { return !archived(x) })
	}
	if len(active) == 0 {
		return all
	}
	return active
}

// WrongCredential counts a credential refused with an error of a kind, by the client's address. Above the limit
// (decisions.md section 5) it returns TooMany; otherwise, and for other errors, it returns err.
func (c *Call) WrongCredential(err error, kind errdefs.Kind) error {
	if errdefs.KindOf(err) != kind {
		return err
	}
	if allowed, wait := c.api.cfg.Auth.WrongCredential(Address(c.Request)); !allowed {
		return &errdefs.Error{Kind: errdefs.TooMany, Message: "too many wrong credentials came from your address; wait before you try again", RetryAfter: wait}
	}
	return err
}

// sameOrigin refuses a request that a page of another site made the browser send, if it would have an effect.
func (c *Call) sameOrigin() error {
	switch {
	case !c.route.crossSite():
		return nil
	case origin.Foreign(c.Request, c.api.cfg.Secure, c.api.cfg.PublicURL):
		return errdefs.New(errdefs.Forbidden, "this request comes from another site; open the page of the appliance itself")
	// the only safe method with an effect is the callback
	case safe(c.Request.Method) && strings.Contains(c.Request.Header.Get("Accept"), "text/html"):
		// Browsers send the origin only with HTTPS. Otherwise a page of another site could sign somebody in here with
		// its own link, and they would continue under that name. Requests from a page are therefore refused.
		return errdefs.New(errdefs.Forbidden, "this is for the page of the one-time link; open the link itself")
	}
	return nil
}

// SessionCookie returns the cookie of a signed-in browser.
func (c *Call) SessionCookie(value string) *http.Cookie {
	return c.Cookie(SessionCookie, value, auth.SessionLifetime)
}

// bearer returns the token of Authorization: Bearer.
func bearer(r *http.Request) (string, bool) {
	const scheme = "Bearer "
	h := r.Header.Get("Authorization")
	if len(h) > len(scheme) && strings.EqualFold(h[:len(scheme)], scheme) {
		return h[len(scheme):], true
	}
	return "", false
}

// IsLocal reports whether a request comes from this computer.
func (c *Call) IsLocal() bool {
	ap, err := netip.ParseAddrPort(c.Request.RemoteAddr)
	return err != nil || ap.Addr().Unmap().IsLoopback()
}

// Cookie returns a cookie of the API; one without a value deletes it.
func (c *Call) Cookie(name, value string, life time.Duration) *http.Cookie {
	cookie := &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: int(life / time.Second), HttpOnly: true, Secure: c.api.cfg.Secure, SameSite: http.SameSiteLaxMode}
	if value == "" {
		cookie.MaxAge = -1
	}
	return cookie
}
