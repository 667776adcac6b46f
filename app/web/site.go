package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/sync/errgroup"

	"opsmon/app/negotiate"
)

// pageFiles has the file of each page by path.
var pageFiles = map[string]string{
	consolePath: "console/index.html",
	"/docs":     "docs/index.html",
	floorPath:   "floor/index.html",
	"/help":     "docs/help/index.html",

	"/help/console": "docs/help/console.html",
	"/help/floor":   "docs/help/floor.html",
	"/help/tablet":  "docs/help/tablet.html",

	"/link":    "link/index.html",
	signInPath: "signin/index.html",
	tabletPath: "tablet/index.html",
	"/welcome": "welcome/index.html",
}

// helpPages returns the menu of the help on the page at a path.
func helpPages(at string) []view {
	var menu []view
	for _, p := range [][2]string{{"/help", "Help"}, {"/help/tablet", "Tablet"}, {"/help/floor", "Floor"}, {"/help/console", "Console"}} {
		menu = append(menu, view{"Path": p[0], "Label": p[1], "Here": p[0] == at})
	}
	return menu
}

const (
	signInPath  = "/signin"
	consolePath = "/console" // it also serves all paths below, which the page itself resolves
	floorPath   = "/floor"
)

// pageAt returns the path of the page that serves a path; "": none.
func pageAt(at string) string {
	for _, whole := range []string{consolePath, floorPath, tabletPath} {
		if strings.HasPrefix(at, whole+"/") {
			return whole
		}
	}
	if pageFiles[at] == "" {
		return ""
	}
	return at
}

const layoutFile = "shared/layout.html"

// types has the content types by extension. Other files are not served.
var types = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".mjs": "text/javascript; charset=utf-8",
	".png": "image/png",
	".svg": "image/svg+xml",

	".webmanifest": "application/manifest+json",
}

const htmlType = "text/html; charset=utf-8"

// Values of Cache-Control.
const (
	forever    = "public, max-age=31536000, immutable" // the address changes with the content
	revalidate = "no-cache"
	never      = "no-store"
)

// site has everything that is served, prepared.
type site struct {
	hash   string
	static map[string]*file // by path below /assets/<hash>/
	pages  map[string]*file // by path
	demo   *file            // the sign-in page of the demo for this computer
	work   *file            // the service worker of the tablet's page
}

// file is one answer.
type file struct {
	kind            string
	plain           []byte // nil if there is a compressed form: almost all clients accept gzip
	compressed      []byte // gzip; nil where it would not be smaller
	tag, compactTag string // entity tags, quoted
}

// readPages reads the served files of a folder, the templates and the catalogues, by path.
func readPages(from fs.FS) (map[string][]byte, error) {
	contents := map[string][]byte{}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == vendorDir && d.IsDir() {
			return fs.SkipDir // vendored files are served from the binary, because nobody edits them
		}
		catalogue := path.Dir(name) == wordsDir
		if d.IsDir() || types[path.Ext(name)] == "" && path.Ext(name) != ".html" && !catalogue {
			return nil
		}
		contents[name], err = fs.ReadFile(from, name)
		return err
	})
	return contents, err
}

func newSite(cfg Config, from fs.FS, vendored map[string]*file) (*site, error) {
	contents, err := readPages(from)
	if err != nil {
		return nil, err
	}
	s := &site{hash: development, static: maps.Clone(vendored), pages: map[string]*file{}}
	if cfg.Dir == "" {
		for name, f := range vendored {
			contents[name] = slices.Concat(f.plain, f.compressed) // one of them is empty
		}
		s.hash = hashOf(contents)
	}
	s.addStatic(contents, vendored, cfg.Dir == "")
	if s.static[iconFile] == nil {
		return nil, fmt.Errorf("%s: %w", iconFile, fs.ErrNotExist)
	}
	all := sources{contents, vendored, map[string][]string{}}
	if s.work, err = s.worker(all, cfg.Dir == ""); err != nil {
		return nil, err
	}
	texts, err := readCatalogues(from)
	if err != nil {
		return nil, err
	}
	for at, name := range pageFiles {
		v := view{
			"Assets": assetsPath + s.hash, "Version": cfg.Version,
			"OnDocs": at == "/docs", "OnHelp": strings.HasPrefix(at, "/help"), "HelpPages": helpPages(at), "Demo": false,
			"Preloads": all.preloads(name, assetsPath+s.hash), "Words": texts.of(name), "Catalogue": markup(""),
		}
		if pageScript.Match(contents[name]) {
			if v["Catalogue"], err = texts.of(name).inline(); err != nil {
				return nil, err
			}
		}
		if s.pages[at], err = render(from, name, v, cfg.Dir == ""); err != nil {
			return nil, err
		}
		if at == signInPath && cfg.Demo != nil {
			cfg.Demo.show(v)
			if s.demo, err = render(from, name, v, false); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// addStatic adds the files that are served unchanged, except the vendored ones. It compresses several at a time,
// because that takes most of the start's time here.
func (s *site) addStatic(contents map[string][]byte, vendored map[string]*file, pack bool) {
	var mu sync.Mutex
	var each errgroup.Group
	each.SetLimit(runtime.GOMAXPROCS(0))
	for name, content := range contents {
		kind := types[path.Ext(name)]
		if kind == "" || vendored[name] != nil {
			continue
		}
		each.Go(func() error {
			f := newFile(kind, content, pack)
			mu.Lock()
			s.static[name] = f
			mu.Unlock()
			return nil
		})
	}
	each.Wait() // cannot fail
}

func render(from fs.FS, name string, v view, pack bool) (*file, error) {
	t, err := readTemplate(from, layoutFile, name)
	if err != nil {
		return nil, err
	}
	content, err := t.fill(v)
	if err != nil {
		return nil, err
	}
	return newFile(htmlType, content, pack), nil
}

func newFile(kind string, content []byte, pack bool) *file {
	sum := sha256.Sum256(content)
	f := &file{kind: kind, plain: content, tag: `"` + hex.EncodeToString(sum[:10]) + `"`}
	if !pack {
		return f
	}
	var b bytes.Buffer
	z := compressors.Get().(*gzip.Writer)
	defer compressors.Put(z)
	z.Reset(&b)
	z.Write(content) // cannot fail for a bytes.Buffer
	z.Close()
	if b.Len() < len(content) {
		f.plain = nil
		f.compressWith(bytes.Clone(b.Bytes()))
	}
	return f
}

// compressors are reused because each has 800 KB of memory.
var compressors = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestCompression)
	if err != nil {
		panic("web: " + err.Error()) // the level is valid
	}
	return z
}}

func (f *file) compressWith(compressed []byte) {
	f.compressed, f.compactTag = compressed, strings.TrimSuffix(f.tag, `"`)+`-gzip"`
}

// whole returns the uncompressed answer.
func (f *file) whole() []byte {
	if f.compressed == nil {
		return f.plain
	}
	z, err := gzip.NewReader(bytes.NewReader(f.compressed))
	if err != nil {
		panic("web: " + err.Error()) // it was compressed here or when the program was built
	}
	content, err := io.ReadAll(z)
	if err != nil {
		panic("web: " + err.Error())
	}
	return content
}

// find returns the answer to a request and its Cache-Control; nil: none.
func (s *site) find(r *http.Request, demo bool) (*file, string) {
	at := r.URL.Path
	cache := revalidate
	if s.hash == development {
		cache = never
	}
	switch {
	case at == workerPath:
		return s.work, cache
	case at == signInPath && demo:
		if ofThisMachine(r) {
			return s.demo, never
		}
		return s.pages[at], never
	case fixed[at] != "":
		return s.static[fixed[at]], cache
	case pageAt(at) != "":
		return s.pages[pageAt(at)], cache
	}
	rest, found := strings.CutPrefix(at, assetsPath+s.hash+"/")
	if !found {
		return nil, ""
	}
	if s.hash != development {
		cache = forever
	}
	return s.static[rest], cache
}

func (f *file) serve(rw http.ResponseWriter, r *http.Request) {
	h := rw.Header()
	tag := f.tag
	if f.compressed != nil {
		h.Add("Vary", "Accept-Encoding")
		if negotiate.Gzip(r.Header["Accept-Encoding"]) {
			tag = f.compactTag
		}
	}
	h.Set("Etag", tag)
	if negotiate.Matches(r.Header["If-None-Match"], tag) {
		rw.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.compressed
	if tag == f.tag {
		body = f.whole()
	} else {
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	rw.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = rw.Write(body) // a client that has disconnected is not an error
	}
}

// ofThisMachine reports whether a request is made on this computer and to it, because the demo's key is only for the
// person who started it. The host name is checked, too: a page elsewhere whose name resolves to this computer must not
// read it.
func ofThisMachine(r *http.Request) bool { return isLoopback(r.Host) && fromLoopback(r.RemoteAddr) }

// isLoopback reports whether a Host header is a loopback name or address.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback()
}

// fromLoopback reports whether a connection comes from this computer.
func fromLoopback(remote string) bool {
	at, err := netip.ParseAddrPort(remote)
	return err == nil && at.Addr().Unmap().IsLoopback()
}
