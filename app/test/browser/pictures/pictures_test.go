//go:build rig

package pictures_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"opsmon/app/demo"
	"opsmon/app/test/browser/webtest"
)

var update = flag.Bool("update", false, "write the pictures to .github/pictures")

func TestMain(m *testing.M) { webtest.Main(m) }

// maxBytes limits the size of a picture, which is loaded with the README.
const maxBytes = 250 << 10

// TestPictures opens the pages of the README's screenshots on the example plant. With -update it writes them; otherwise
// it checks that the committed pictures have the size of the pages.
func TestPictures(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Manifest: alwaysOn(t), Simulated: true})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, "supervisor")
	tab.Visit("/floor")
	tab.Until(`document.querySelector("[data-station]")`)
	time.Sleep(time.Second) // charts are drawn step by step
	take(t, tab, "floor")

	to := time.Now().UTC().Truncate(time.Hour).Add(-time.Hour)
	from := to.Add(-8 * time.Hour)
	tab.Eval(fmt.Sprintf(`(async () => {
		const shell = document.querySelector("script[type=module]").src;
		const { explain } = await import(shell.replace("floor/main.js", "shared/explain.js"));
		explain({ figure: "oee", profile: "default", query: { stationcodes: %q, from: %q, to: %q } });
	})()`, "PRESS-1", from.Format(time.RFC3339), to.Format(time.RFC3339)))
	tab.Until(`document.querySelector(".explain[aria-busy=false] .adds")`)
	take(t, tab, "oee")
	tab.Clean()
}

// take writes or checks one picture.
func take(t *testing.T, tab *webtest.Tab, name string) {
	t.Helper()
	now, err := chromedp.Run(tab.Context(), chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "..", "..", ".github", "pictures", name+".png")
	if *update {
		if err := os.WriteFile(file, now, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; write it with: go test -tags rig ./app/test/browser/pictures -update", err)
	}
	if len(committed) > maxBytes {
		t.Errorf("%s has %d bytes, more than %d", name, len(committed), maxBytes)
	}
	want, err := png.DecodeConfig(bytes.NewReader(now))
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.DecodeConfig(bytes.NewReader(committed))
	if err != nil || got.Width != want.Width || got.Height == 0 {
		t.Errorf("%s: %v, %d pixels wide, want %d", name, err, got.Width, want.Width)
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "README.md"))
	if err != nil || !strings.Contains(string(readme), ".github/pictures/"+name+".png") {
		t.Errorf("the README does not show %s: %v", name, err)
	}
}

// alwaysOn returns the manifest of the example plant without shift patterns: its stations produce at any time.
func alwaysOn(t *testing.T) []byte {
	t.Helper()
	var doc any
	if err := json.Unmarshal(demo.Manifest(), &doc); err != nil {
		t.Fatal(err)
	}
	remove(doc, "shiftPatternCode")
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// remove deletes a property everywhere in a document.
func remove(v any, property string) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, property)
		for _, below := range v {
			remove(below, property)
		}
	case []any:
		for _, below := range v {
			remove(below, property)
		}
	}
}
