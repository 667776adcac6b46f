// Package origin tells requests of the appliance's own pages from those that another site made a browser send
// (decisions.md section 1).
package origin

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Foreign reports whether a browser sent the request for another origin: when Sec-Fetch-Site says so, or Origin does by its
// scheme, host or port. A request without either is no browser's, or that of a very old one. secure says that clients
// reach the service over TLS, its own or that of a proxy. public is the URL that the service is set to be opened by, "" for none:
// a proxy may ask for another host than its clients do.
func Foreign(r *http.Request, secure bool, public string) bool {
	for _, site := range r.Header["Sec-Fetch-Site"] {
		if site != "same-origin" && site != "none" {
			return true
		}
	}
	for _, from := range r.Header["Origin"] {
		if !own(from, r, secure) && !at(public, from) {
			return true
		}
	}
	return false
}

// own reports whether an Origin is that of the request itself.
func own(from string, r *http.Request, secure bool) bool {
	u, err := url.Parse(from)
	if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != from {
		return false // "null" for one
	}
	schemes := "http"
	switch {
	case r.TLS != nil:
		schemes = "https"
	case secure && loopback(r.Host):
		schemes = "https http" // past the proxy, on the machine itself
	case secure:
		schemes = "https"
	}
	return strings.Contains(" "+schemes+" ", " "+u.Scheme+" ") && strings.EqualFold(withPort(u.Host, u.Scheme), withPort(r.Host, u.Scheme))
}

// at reports whether an origin is that of a URL.
func at(public, origin string) bool {
	u, err := url.Parse(public)
	o, wrong := url.Parse(origin)
	return err == nil && wrong == nil && o.Host != "" && o.Scheme+"://"+o.Host == origin && u.Scheme == o.Scheme &&
		strings.EqualFold(withPort(u.Host, u.Scheme), withPort(o.Host, o.Scheme))
}

// withPort adds the port that a scheme has by default.
func withPort(host, scheme string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	if scheme == "https" {
		return host + ":443"
	}
	return host + ":80"
}

// loopback reports whether a Host header names the machine that the browser runs on.
func loopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return strings.EqualFold(name, "localhost") || err == nil && ip.IsLoopback()
}
