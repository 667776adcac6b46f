package httpapi

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
func (a *restAPI) identify(c *call) error {
	if c.r.Context().Value(localKey{}) != nil {
		if c.route.storeless {
			c.p = auth.Local("")
			return nil
		}
		return a.identifyLocal(c)
	}
	if c.route.access == open {
		if len(c.r.Header["X-Api-Key"]) == 0 {
			return c.sameOrigin()
		}
		return nil
	}
	if err := c.authenticate(); err != nil {
		return err
	}
	if c.p.Type == auth.TypeSession {
		if err := c.sameOrigin(); err != nil {
			return err
		}
	}
	if err := c.meant(); err != nil {
		return err
	}
	if c.p.Type == auth.TypeDevice {
		if c.route.devices {
			return nil
		}
		return errdefs.New(errdefs.Forbidden, "a device may send signals and nothing else")
	}
	if !c.p.Role.AtLeast(c.route.role) {
		return errdefs.New(errdefs.Forbidden, "this needs the role %s; yours is %s", c.route.role, c.p.Role)
	}
	return nil
}

// sessionCookie is the cookie of a signed-in browser (decisions.md section 4).
const sessionCookie = "session"

// authenticate finds the principal by the credential of the request.
func (c *call) authenticate() (err error) {
	known := c.api.cfg.Auth
	if key := c.r.Header["X-Api-Key"]; len(key) > 0 {
		c.key = key[0]
		c.p, err = known.AuthenticateSender(c.key)
	} else if token, ok := bearer(c.r); ok && c.route.bearer {
		c.key = token
		c.p, err = known.AuthenticateKey(token)
	} else {
		cookie, missing := c.r.Cookie(sessionCookie)
		if missing != nil || cookie.Value == "" {
			// a missing credential is not a wrong one: it is not throttled
			return errdefs.New(errdefs.Unauthorized, "no credential")
		}
		c.p, err = known.AuthenticateSession(cookie.Value)
	}
	if err != nil {
		return c.wrong(err, errdefs.Unauthorized)
	}
	if conn, ok := c.r.Context().Value(connKey{}).(net.Conn); ok && c.api.cfg.Known != nil {
		c.api.cfg.Known(conn)
	}
	return nil
}

// forHeader has the intended user of a request as ACCOUNT/EMAIL, percent-encoded; in an answer that refuses it, the
// actual one.
const forHeader = "X-For"

// meant refuses a request intended for another user. On a tablet shared by several people, another one may have signed
// in since the page read its user, and actions of one must not be recorded for the other.
func (c *call) meant() error {
	is := c.p.AccountID + "/" + c.p.Email
	for _, value := range c.r.Header[forHeader] {
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
func (a *restAPI) identifyLocal(c *call) error {
	id := c.r.Header.Get(accountHeader)
	if id != "" {
		if _, err := a.cfg.Accounts.Get(id); err != nil {
			return err
		}
		c.p = auth.Local(id)
		return nil
	}
	accounts := a.meant(c.route)
	switch needed := c.route.access != open && !c.route.anyAccount; {
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
	c.p = auth.Local(id)
	return nil
}

// meant returns the possible accounts for a request of the local command line without a name: the active ones, or the
// archived ones if the route is for those or there are no others.
func (a *restAPI) meant(rt *route) []*account.Account {
	all := a.cfg.Accounts.List(true)
	archived := func(x *account.Account) bool { return x.ArchivedAt != nil }
	active := slices.DeleteFunc(slices.Clone(all), archived)
	if rt.archived && len(active) < len(all) {
		return slices.DeleteFunc(all, func(x *account.Account) bool { return !archived(x) })
	}
	if len(active) == 0 {
		return all
	}
	return active
}

// wrong counts a credential refused with an error of a kind, by the client's address. Above the limit (decisions.md
// section 5) it returns TooMany; otherwise, and for other errors, it returns err.
func (c *call) wrong(err error, kind errdefs.Kind) error {
	if errdefs.KindOf(err) != kind {
		return err
	}
	if allowed, wait := c.api.cfg.Auth.WrongCredential(address(c.r)); !allowed {
		return &errdefs.Error{Kind: errdefs.TooMany, Message: "too many wrong credentials came from your address; wait before you try again", RetryAfter: wait}
	}
	return err
}

// sameOrigin refuses a request that a page of another site made the browser send, if it would have an effect.
func (c *call) sameOrigin() error {
	switch {
	case !c.route.crossSite():
		return nil
	case origin.Foreign(c.r, c.api.cfg.Secure, c.api.cfg.PublicURL):
		return errdefs.New(errdefs.Forbidden, "this request comes from another site; open the page of the appliance itself")
	// the only safe method with an effect is the callback
	case safe(c.r.Method) && strings.Contains(c.r.Header.Get("Accept"), "text/html"):
		// Browsers send the origin only with HTTPS. Otherwise a page of another site could sign somebody in here with
		// its own link, and they would continue under that name. Requests from a page are therefore refused.
		return errdefs.New(errdefs.Forbidden, "this is for the page of the one-time link; open the link itself")
	}
	return nil
}

// sessionCookie returns the cookie of a signed-in browser.
func (c *call) sessionCookie(value string) *http.Cookie {
	return c.cookie(sessionCookie, value, auth.SessionLifetime)
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

// here reports whether a request comes from this computer.
func (c *call) here() bool {
	ap, err := netip.ParseAddrPort(c.r.RemoteAddr)
	return err != nil || ap.Addr().Unmap().IsLoopback()
}

// cookie returns a cookie of the API; one without a value deletes it.
func (c *call) cookie(name, value string, life time.Duration) *http.Cookie {
	cookie := &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: int(life / time.Second), HttpOnly: true, Secure: c.api.cfg.Secure, SameSite: http.SameSiteLaxMode}
	if value == "" {
		cookie.MaxAge = -1
	}
	return cookie
}
