// Package web serves the pages and their static files: the console, the floor, the operators' tablet, signing in, the
// first set-up, the page of one-time links (decisions.md section 4) and the API's documentation. The binary has all of
// them: no page loads anything from another host.
//
// Static files are below /assets/<hash>/, with one hash over all of them, so modules find each other by relative paths
// and may be cached permanently. Pages contain the hash and are requested again each time.
package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"opsmon/assets"
)

// Config has the settings of a Web.
type Config struct {
	// Dir is a folder to serve the files from instead of the binary, for work on the pages: it is read for each
	// request, and nothing is cached. "": the files in the binary.
	Dir string
	// Demo is shown on the sign-in page of the demo, only on this computer; nil: no demo.
	Demo *DemoInfo
	// Version is the version of the program, for people.
	Version string
	// Secure is whether clients use TLS.
	Secure bool
	// PublicURL is the configured address of the service; "": not set.
	PublicURL string
}

// DemoInfo is the demo's part of the sign-in page (decisions.md section 7, `app demo`).
type DemoInfo struct {
	Account  string   // ID
	Email    string   // of its administrator
	Plants   []string // their names
	Groups   int
	Stations int
	SKUs     int
	APIKey   string // the demo's data is temporary, and so is the key
	BaseURL  string // without a trailing slash

	// Enter returns a one-time token that signs in as the administrator. It is only called for this computer (see
	// enter).
	Enter func() (token string, err error)
}

// show adds the demo to the view of the sign-in page.
func (d *DemoInfo) show(v view) {
	v["Demo"], v["Plants"] = true, strings.Join(d.Plants, ", ")
	v["APIKey"], v["Curl"] = d.APIKey, d.curl()
	v["Groups"], v["Stations"], v["SKUs"] = strconv.Itoa(d.Groups), strconv.Itoa(d.Stations), strconv.Itoa(d.SKUs)
}

// curl returns the first request to try. Double quotes work in every shell, including Windows.
func (d *DemoInfo) curl() string {
	return fmt.Sprintf(`curl -H "X-API-KEY: %s" %s/account`, d.APIKey, d.BaseURL)
}

// Web serves the pages. It is safe for concurrent use.
type Web struct {
	cfg      Config
	site     *site            // nil with Config.Dir: it is read for each request
	vendored map[string]*file // by path
}

// development replaces the hash if files change all the time.
const development = "dev"

// New reads and compresses the pages. It returns an error if a template is invalid or Dir cannot be read.
func New(cfg Config) (*Web, error) {
	files := fs.FS(assets.FS)
	if cfg.Dir != "" {
		files = os.DirFS(cfg.Dir)
	}
	vendored, err := readVendored()
	if err != nil {
		return nil, fmt.Errorf("read the vendored packages: %w", err)
	}
	s, err := newSite(cfg, files, vendored)
	if err != nil {
		return nil, fmt.Errorf("read the pages: %w", err)
	}
	w := &Web{cfg: cfg, vendored: vendored}
	if cfg.Dir == "" {
		w.site = s
	}
	return w, nil
}

const (
	rootPath   = "/"             // redirects to the floor
	enterPath  = "/signin/enter" // of the demo
	assetsPath = "/assets/"
	iconFile   = "shared/icon.svg"
)

// Handles reports whether a request is for this package; all others are for the API. /tablet is both: a request for a
// page gets the page, any other the API.
func (w *Web) Handles(r *http.Request) bool {
	path := r.URL.Path
	if pageAt(path) == tabletPath && fixed[path] == "" && path != workerPath {
		return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
	}
	return path == rootPath || pageAt(path) != "" || fixed[path] != "" || strings.HasPrefix(path, assetsPath) || path == enterPath && w.cfg.Demo != nil
}

// ServeHTTP serves GET and HEAD for the paths of Handles. For others it answers as the API does (http-api.md section 7;
// decisions.md section 1): 404 and 405 with their envelopes.
func (w *Web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.guard(rw.Header(), r)
	if r.URL.Path == enterPath {
		w.enter(rw, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		rw.Header().Set("Allow", "GET, HEAD")
		refuse(rw, r, http.StatusMethodNotAllowed, "methodNotAllowed", "this path takes the methods GET, HEAD")
		return
	}
	if r.URL.Path == rootPath {
		rw.Header().Set("Cache-Control", revalidate)
		rw.Header().Set("Location", floorPath)
		rw.WriteHeader(http.StatusFound)
		return
	}
	s := w.site
	if s == nil {
		var err error
		if s, err = newSite(w.cfg, os.DirFS(w.cfg.Dir), w.vendored); err != nil {
			refuse(rw, r, http.StatusInternalServerError, "internalServerError", "the pages could not be read: "+err.Error())
			return
		}
	}
	f, cache := s.find(r, w.cfg.Demo != nil)
	if f == nil {
		rw.Header().Set("Cache-Control", "no-cache")
		refuse(rw, r, http.StatusNotFound, "notFound", "there is nothing at this path")
		return
	}
	rw.Header().Set("Cache-Control", cache)
	if pageAt(r.URL.Path) == tabletPath {
		rw.Header().Add("Vary", "Accept")
	}
	if r.URL.Path == workerPath {
		rw.Header().Set("Service-Worker-Allowed", tabletPath) // the scope is above the worker's folder
	}
	f.serve(rw, r)
}

// policy is the content security policy of every answer: scripts and styles only come from files of this service.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// permissions turns off the browser features that no page uses. The tablet's page keeps its screen on.
const permissions = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), " +
	"microphone=(), midi=(), payment=(), publickey-credentials-get=(), screen-wake-lock=(self), serial=(), usb=()"

// guard sets the headers that isolate the pages from other sites.
func (w *Web) guard(h http.Header, r *http.Request) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", permissions)
	if w.cfg.Secure || isLoopback(r.Host) { // elsewhere browsers ignore it with a warning
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
}

// hashOf returns one hash over the names and the bytes of all files.
func hashOf(files map[string][]byte) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[name])
		fmt.Fprintf(h, "%s %x\n", name, sum)
	}
	return hex.EncodeToString(h.Sum(nil)[:10])
}

// refuse writes an error envelope. Pages recognize the service's own answers by the time in it.
func refuse(rw http.ResponseWriter, r *http.Request, status int, code, message string) {
	body, err := json.Marshal(struct {
		IsSuccess    bool   `json:"isSuccess"`
		ErrorCode    string `json:"errorCode"`
		ErrorMessage string `json:"errorMessage"`
	}{false, code, message})
	if err != nil {
		panic("web: " + err.Error()) // cannot fail for strings
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("Content-Length", strconv.Itoa(len(body)))
	rw.Header().Set("X-Time", strconv.FormatInt(time.Now().UnixMilli(), 10))
	rw.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = rw.Write(body) // a client that has disconnected is not an error
	}
}
