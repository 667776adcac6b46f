package web

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tablet's page opens without a network if all of its files are stored, and browsers detect a new version by the
// worker's bytes.
func TestTheWorkerKeepsAllOfTheTablet(t *testing.T) {
	w := newWeb(t, Config{})
	worker := ask(w, "GET", workerPath)
	if worker.Code != http.StatusOK || worker.Header().Get("Service-Worker-Allowed") != tabletPath || worker.Header().Get("Cache-Control") != "no-cache" || worker.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Fatalf("%d %v", worker.Code, worker.Header())
	}
	head, code, _ := strings.Cut(worker.Body.String(), "\n")
	if !strings.Contains(head, `"`+w.site.hash+`"`) || !strings.Contains(code, "addEventListener(\"fetch\"") {
		t.Errorf("it begins with %s", head)
	}
	page := ask(w, "GET", tabletPath).Body.String()
	needed := []string{tabletPath, webAppPath}
	for _, part := range strings.Split(page, `href="`)[1:] {
		if at, _, _ := strings.Cut(part, `"`); strings.HasPrefix(at, assetsPath) {
			needed = append(needed, at)
		}
	}
	err := filepath.WalkDir("../../assets/tablet", func(at string, _ fs.DirEntry, err error) error {
		if e := filepath.Ext(at); (e == ".js" || e == ".css") && filepath.Base(at) != "worker.js" {
			needed = append(needed, assetsPath+w.site.hash+"/"+strings.TrimPrefix(filepath.ToSlash(at), "../../assets/"))
			needed = append(needed, importsOf(t, w.site.hash, at)...)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(needed) < 20 {
		t.Fatalf("the page asks for %q alone", needed)
	}
	for _, at := range needed {
		if !strings.Contains(head, `"`+at+`"`) {
			t.Errorf("%s is not kept", at)
		}
		if got := ask(w, "GET", at); got.Code != http.StatusOK {
			t.Errorf("%s: %d", at, got.Code)
		}
	}
	dev := newWeb(t, Config{Dir: "../../assets"})
	if head, _, _ := strings.Cut(ask(dev, "GET", workerPath).Body.String(), "\n"); !strings.HasSuffix(head, "files = [];") {
		t.Errorf("where files change all the time, it keeps %s", head)
	}
}

// importsOf returns the addresses of a module's relative imports.
func importsOf(t *testing.T, hash, file string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^import .*from "(\.[^"]+)";$`).FindAllSubmatch(text, -1) {
		at, err := filepath.Rel("../../assets", filepath.Join(filepath.Dir(file), string(m[1])))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, assetsPath+hash+"/"+filepath.ToSlash(at))
	}
	return found
}
