package web

import (
	"bytes"
	"io/fs"
	"net/http"
	"path"
	"testing"

	"opsmon/assets"
)

// Vendored modules are served in both encodings, cached permanently, and served from the binary during work on the
// pages.
func TestVendoredModules(t *testing.T) {
	z, err := assets.Vendor()
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) < 30 {
		t.Fatalf("%d modules", len(z.File))
	}
	w := newWeb(t, Config{})
	for _, f := range z.File {
		want, err := fs.ReadFile(z, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		at := path.Join("/assets", w.site.hash, "vendor", f.Name)
		plain, packed := ask(w, "GET", at), ask(w, "GET", at, "Accept-Encoding", "gzip")
		if plain.Code != http.StatusOK || plain.Header().Get("Content-Type") != types[path.Ext(f.Name)] || !bytes.Equal(plain.Body.Bytes(), want) {
			t.Errorf("%s: %d %v, %d bytes", at, plain.Code, plain.Header(), plain.Body.Len())
		}
		if plain.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %v", at, plain.Header())
		}
		if packed.Header().Get("Content-Encoding") == "gzip" && !bytes.Equal(unpack(t, packed.Body.Bytes()), want) || packed.Header().Get("ETag") == plain.Header().Get("ETag") && len(want) > 1000 {
			t.Errorf("%s is something else when it is unpacked: %v", at, packed.Header())
		}
	}
	if got := ask(newWeb(t, Config{Dir: "../../assets"}), "GET", "/assets/dev/vendor/lit-html/lit-html.js"); got.Code != http.StatusOK || got.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("with a folder of pages: %d %v", got.Code, got.Header())
	}
}

func TestTheHashIsOfVendoredModulesToo(t *testing.T) {
	vendored := map[string]*file{"vendor/x.js": newFile(types[".js"], []byte("1"), false)}
	before, err := newSite(Config{}, assets.FS, vendored)
	if err != nil {
		t.Fatal(err)
	}
	vendored["vendor/x.js"] = newFile(types[".js"], []byte("2"), false)
	after, err := newSite(Config{}, assets.FS, vendored)
	if err != nil || before.hash == after.hash {
		t.Errorf("another module, the same hash: %v", err)
	}
}
