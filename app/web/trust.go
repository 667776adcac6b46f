package web

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"

	"rsc.io/qr"

	"opsmon/assets"
)

// TrustConfig has the dependencies and settings of a Trust.
type TrustConfig struct {
	Web *Web // serves the static files
	CA  *CA  // nil if the plant has its own certificate: there is no page then
	// URL is the configured address of the service: https://, a host, and a port unless it is 443. "": the host of the
	// request, with Port.
	URL string
	// Port returns the TLS port of the service, and ClearPort that of Clear, or 0 if there is none. They are called for
	// each request, because ports may be chosen late.
	Port, ClearPort func() int
	// Hosts returns the names and addresses of this computer in the network, the best first. It is called for each
	// page.
	Hosts func() []string
}

// CA is the certificate of the appliance's own authority in the formats for devices.
type CA struct {
	Name        string // the name in the devices' lists
	Fingerprint string // SHA-256, pairs of hexadecimal digits separated by colons
	DER         []byte
	PEM         []byte
	Profile     []byte // an Apple configuration profile
}

// Trust serves the page with instructions and downloads to make a device trust the appliance, and the port without TLS.
// It is safe for concurrent use.
type Trust struct {
	cfg  TrustConfig
	page *template // nil with Config.Dir of the Web: it is read for each request
}

const (
	trustPath = "/trust"
	trustFile = "trust/index.html"
	openCode  = "/trust/open.svg"   // QR code of the page over HTTP
	httpsCode = "/trust/secure.svg" // QR code of the page over HTTPS
)

// NewTrust reads the page. It returns an error if the template is invalid.
func NewTrust(cfg TrustConfig) (*Trust, error) {
	t := &Trust{cfg: cfg}
	if cfg.CA == nil {
		return t, nil
	}
	page, err := t.template()
	if err != nil {
		return nil, fmt.Errorf("read the trust page: %w", err)
	}
	if cfg.Web.cfg.Dir == "" {
		t.page = page
	}
	return t, nil
}

func (t *Trust) template() (*template, error) {
	if t.page != nil {
		return t.page, nil
	}
	from := fs.FS(assets.FS)
	if dir := t.cfg.Web.cfg.Dir; dir != "" {
		from = os.DirFS(dir)
	}
	return readTemplate(from, layoutFile, trustFile)
}

// Handles reports whether a path belongs to the page.
func (t *Trust) Handles(path string) bool {
	switch path {
	case trustPath, "/trust/ca.crt", "/trust/ca.pem", "/trust/ca.mobileconfig", openCode, httpsCode:
		return t.cfg.CA != nil
	}
	return false
}

// ServeHTTP serves GET and HEAD for the paths of Handles, with and without TLS.
func (t *Trust) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	t.guard(rw.Header(), r)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		rw.Header().Set("Allow", "GET, HEAD")
		refuse(rw, r, http.StatusMethodNotAllowed, "methodNotAllowed", "this path takes the methods GET, HEAD")
		return
	}
	f, err := t.file(r)
	if err != nil {
		refuse(rw, r, http.StatusInternalServerError, "internalServerError", "the page could not be made: "+err.Error())
		return
	}
	// Not cached: after the authority was created again, a device must get the new one.
	rw.Header().Set("Cache-Control", never)
	f.serve(rw, r)
}

func (t *Trust) file(r *http.Request) (*file, error) {
	switch r.URL.Path {
	case "/trust/ca.crt":
		return newFile("application/x-x509-ca-cert", t.cfg.CA.DER, false), nil
	case "/trust/ca.pem":
		return newFile("application/x-pem-file", t.cfg.CA.PEM, false), nil
	case "/trust/ca.mobileconfig":
		return newFile("application/x-apple-aspen-config", t.cfg.CA.Profile, false), nil
	case openCode:
		return code(t.clear(t.others(r)) + trustPath)
	case httpsCode:
		return code(t.secure(t.others(r)) + trustPath)
	}
	return t.render(r)
}

func (t *Trust) render(r *http.Request) (*file, error) {
	page, err := t.template()
	if err != nil {
		return nil, err
	}
	hash := development
	if s := t.cfg.Web.site; s != nil {
		hash = s.hash
	}
	host := t.others(r)
	var codes, addresses, fingerprint []view
	if t.cfg.ClearPort() != 0 {
		codes = append(codes, view{"Secure": false, "URL": t.clear(host) + trustPath, "Image": openCode})
	}
	codes = append(codes, view{"Secure": true, "URL": t.secure(host) + trustPath, "Image": httpsCode})
	if t.cfg.URL == "" {
		for _, one := range t.cfg.Hosts() {
			addresses = append(addresses, view{"URL": t.secure(one)})
		}
	}
	for i, one := range inParts(t.cfg.CA.Fingerprint) {
		fingerprint = append(fingerprint, view{"Gap": " "[:min(i, 1)], "Part": one})
	}
	content, err := page.fill(view{
		"Assets": assetsPath + hash, "Preloads": []view{}, "Catalogue": markup(""), "Version": t.cfg.Web.cfg.Version, "Name": t.cfg.CA.Name, "Secure": r.TLS != nil, // over TLS
		"Fingerprint": fingerprint, "Codes": codes, "HasAddresses": len(addresses) > 0, "Addresses": addresses,
	})
	if err != nil {
		return nil, err
	}
	return newFile(htmlType, content, false), nil
}

// inParts splits a fingerprint into groups of four pairs, which are easier to compare.
func inParts(fingerprint string) []string {
	const part = 4*3 - 1
	var parts []string
	for len(fingerprint) > part {
		parts = append(parts, fingerprint[:part])
		fingerprint = strings.TrimPrefix(fingerprint[part:], ":")
	}
	return append(parts, fingerprint)
}

// code draws a QR code: dark squares on white with the quiet zone that scanners need, four squares wide.
func code(text string) (*file, error) {
	c, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	const quiet = 4
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %[1]d" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h%[1]dv%[1]dH0z"/><path d="`, c.Size+2*quiet)
	for y := range c.Size {
		for x := 0; x < c.Size; x++ {
			first := x
			for x < c.Size && c.Black(x, y) {
				x++
			}
			if x > first {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%[3]dz", first+quiet, y+quiet, x-first)
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return newFile(types[".svg"], b.Bytes(), false), nil
}

// guard sets the headers that isolate the page from other sites. Over HTTP browsers ignore one of them with a warning.
func (t *Trust) guard(h http.Header, r *http.Request) {
	t.cfg.Web.guard(h, r)
	if r.TLS == nil && !isLoopback(r.Host) {
		h.Del("Cross-Origin-Opener-Policy")
	}
}

// asked returns the host of a request without its port; "": invalid.
func asked(r *http.Request) string {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if ip, err := netip.ParseAddr(host); err == nil && ip.Zone() == "" {
		return host
	}
	if len(host) > 253 || strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		return ""
	}
	return host
}

// others returns the host for other devices: that of the request, unless it means only this computer.
func (t *Trust) others(r *http.Request) string {
	host := asked(r)
	if host != "" && !isLoopback(host) {
		return host
	}
	if hosts := t.cfg.Hosts(); len(hosts) > 0 {
		return hosts[0]
	}
	return host
}

// secure returns the address of the service over TLS for a host, without a trailing slash.
func (t *Trust) secure(host string) string {
	if t.cfg.URL != "" {
		return strings.TrimSuffix(t.cfg.URL, "/")
	}
	return address("https", host, t.cfg.Port(), 443)
}

// clear returns the address of the port without TLS.
func (t *Trust) clear(host string) string { return address("http", host, t.cfg.ClearPort(), 80) }

func address(scheme, host string, port, usual int) string {
	if port != usual {
		return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(port))
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return scheme + "://" + host
}

// Clear serves the port without TLS: the trust page with its static files, and redirects to HTTPS for everything else.
// Requests that would carry a secret are refused with the API's 403 (http-api.md section 7) instead of redirected,
// because a client with the wrong address would otherwise work and continue to send its key unencrypted: methods other
// than GET and HEAD, requests with a credential, and paths with keys or tokens. Only the path and the query are echoed,
// and only in redirects.
func (t *Trust) Clear() http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		t.guard(rw.Header(), r)
		safe := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch at := r.URL.Path; {
		case safe && t.Handles(at):
			t.ServeHTTP(rw, r)
		case safe && t.cfg.CA != nil && (strings.HasPrefix(at, assetsPath) || at == iconPath):
			t.cfg.Web.ServeHTTP(rw, r)
		case !safe || secret(r):
			rw.Header().Set("Cache-Control", never)
			where := "HTTPS"
			if host := asked(r); host != "" || t.cfg.URL != "" {
				where = t.secure(host)
			}
			refuse(rw, r, http.StatusForbidden, "forbidden", "this port is not encrypted and takes no keys and no changes: use "+where+" instead, and replace a key that was sent here, since others on the network may have read it")
		default:
			t.redirect(rw, r)
		}
	})
}

// secret reports whether a request carries a secret.
func secret(r *http.Request) bool {
	return r.Header.Get("X-API-KEY") != "" || r.Header.Get("Authorization") != "" ||
		strings.HasPrefix(r.URL.Path, "/key/") || strings.HasPrefix(r.URL.Path, "/auth/")
}

// redirect redirects a browser to HTTPS. It is temporary, because the service may move or lose TLS.
func (t *Trust) redirect(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Cache-Control", never)
	host := asked(r)
	if host == "" && t.cfg.URL == "" {
		if hosts := t.cfg.Hosts(); len(hosts) > 0 {
			host = hosts[0]
		}
	}
	to, err := url.Parse(t.secure(host))
	if err != nil || to.Hostname() == "" {
		refuse(rw, r, http.StatusBadRequest, "invalidInput", "the request names no host, so there is nowhere to redirect it to")
		return
	}
	to.Path, to.RawPath, to.RawQuery = r.URL.Path, r.URL.RawPath, r.URL.RawQuery
	rw.Header().Set("Location", to.String())
	rw.WriteHeader(http.StatusTemporaryRedirect)
}

// StrictTransport makes browsers use only HTTPS for this host for thirty days after each visit (RFC 6797). It is for
// certificates of the plant. With the appliance's own authority, a device that does not trust it yet could not ignore
// the warning or reach the trust page, because browsers then use HTTPS for every port of the host. For the same reason
// the time is short and other hosts are not included.
func StrictTransport(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.TLS != nil {
			rw.Header().Set("Strict-Transport-Security", "max-age=2592000")
		}
		next.ServeHTTP(rw, r)
	})
}
