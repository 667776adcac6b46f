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

// TrustConfig is what NewTrust needs.
type TrustConfig struct {
	Web *Web // gives the static files
	CA  *CA  // nil where the plant brings its own certificate: there is no page then
	// URL is where people reach the service, when somebody said so: https://, a host, and a port where it is not
	// 443. "" = the host that a request asks for, with Port.
	URL string
	// Port gives the port of the service over TLS, and ClearPort that of Clear; ClearPort gives 0 where there is
	// none. They are asked for each request, since ports may be chosen late.
	Port, ClearPort func() int
	// Hosts gives the names and addresses by which other machines reach this one, the best first. It is asked for
	// each page.
	Hosts func() []string
}

// CA is the certificate of the appliance's own authority, in the forms that devices take.
type CA struct {
	Name        string // what devices list it under
	Fingerprint string // SHA-256, pairs of hexadecimal digits with colons between
	DER         []byte
	PEM         []byte
	Profile     []byte // a configuration profile of Apple's
}

// Trust is the page that tells people how to make a device trust the appliance, with its downloads, and the handler of
// the port without TLS. It may be used by many goroutines at once.
type Trust struct {
	cfg  TrustConfig
	page *template // nil with Config.Dir of the Web: it is read for each request
}

const (
	trustPath = "/trust"
	trustFile = "trust/index.html"
	openCode  = "/trust/open.svg"   // QR code of the page in the clear
	httpsCode = "/trust/secure.svg" // of the page over HTTPS
)

// NewTrust reads the page. It fails when the template is wrong.
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

// Handles reports whether a path is one of the page's own.
func (t *Trust) Handles(path string) bool {
	switch path {
	case trustPath, "/trust/ca.crt", "/trust/ca.pem", "/trust/ca.mobileconfig", openCode, httpsCode:
		return t.cfg.CA != nil
	}
	return false
}

// ServeHTTP answers GET and HEAD for the paths that Handles, over TLS and in the clear alike.
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
	// No form of it is kept: a device that comes back after the authority was made anew must get the new one.
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
		codes = append(codes, view{"Title": "This page, for a device that does not trust the appliance yet", "URL": t.clear(host) + trustPath, "Image": openCode})
	}
	codes = append(codes, view{"Title": "Over HTTPS: opens without a warning once the device trusts it", "URL": t.secure(host) + trustPath, "Image": httpsCode})
	if t.cfg.URL == "" {
		for _, one := range t.cfg.Hosts() {
			addresses = append(addresses, view{"URL": t.secure(one)})
		}
	}
	for i, one := range inParts(t.cfg.CA.Fingerprint) {
		fingerprint = append(fingerprint, view{"Gap": " "[:min(i, 1)], "Part": one})
	}
	content, err := page.fill(view{
		"Assets": assetsPath + hash, "Preloads": []view{}, "Version": t.cfg.Web.cfg.Version, "Name": t.cfg.CA.Name, "Secure": r.TLS != nil, // over TLS
		"Fingerprint": fingerprint, "Codes": codes, "HasAddresses": len(addresses) > 0, "Addresses": addresses,
	})
	if err != nil {
		return nil, err
	}
	return newFile(htmlType, content, false), nil
}

// inParts cuts a fingerprint into parts of four pairs, which eyes can hold.
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

// guard sets the headers that keep other sites out. In the clear browsers ignore one of them, and complain.
func (t *Trust) guard(h http.Header, r *http.Request) {
	t.cfg.Web.guard(h, r)
	if r.TLS == nil && !isLoopback(r.Host) {
		h.Del("Cross-Origin-Opener-Policy")
	}
}

// asked returns the host that a request asks for, without the port; "" when it is none.
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

// others returns the host by which another device reaches the appliance: the one that was asked for, except names that
// mean this machine alone.
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

// secure returns the address of the service over TLS for a host, without a slash at the end.
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

// Clear serves the port without TLS: the trust page and the static files that it needs, and redirects to HTTPS for
// all else. What would carry a secret is refused with the API's 403 (http-api.md section 7) rather than redirected, so
// that a client set up with the wrong address does not go on sending its key in the clear and work: methods other than
// GET and HEAD, requests with a credential, and paths that hold keys and tokens. Nothing of the request but its path
// and query is repeated, and those only in redirects.
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

// secret reports whether a request carries what only its user may know.
func secret(r *http.Request) bool {
	return r.Header.Get("X-API-KEY") != "" || r.Header.Get("Authorization") != "" ||
		strings.HasPrefix(r.URL.Path, "/key/") || strings.HasPrefix(r.URL.Path, "/auth/")
}

// redirect sends a browser to the same place over HTTPS. It is not for ever: the service may move, or lose TLS.
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

// StrictTransport makes browsers use nothing but HTTPS for this host for thirty days after each visit (RFC 6797). It
// is for certificates that the plant brings itself: with those of the appliance's own authority, a device that does
// not trust it yet could not go on past the warning, nor reach the trust page, since browsers then take HTTPS for
// every port of the host. For that reason too, it stays short and leaves other hosts alone.
func StrictTransport(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.TLS != nil {
			rw.Header().Set("Strict-Transport-Security", "max-age=2592000")
		}
		next.ServeHTTP(rw, r)
	})
}
