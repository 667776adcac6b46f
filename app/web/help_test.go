package web

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"opsmon/assets"
)

// TestHelp checks that the help follows the pages: each button or field that it names in bold stands on a page, each link
// leads to a page and a place on it, and its contents list its sections.
func TestHelp(t *testing.T) {
	var pages strings.Builder // the texts of all pages but the help
	help := map[string]string{}
	err := fs.WalkDir(assets.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, vendorDir) {
			return err
		}
		text, err := fs.ReadFile(assets.FS, name)
		if strings.HasPrefix(name, "docs/help/") {
			help[name] = string(text)
		} else {
			pages.Write(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]map[string]bool{} // by path of the page
	for at, name := range pageFiles {
		ids[at] = map[string]bool{}
		text, err := fs.ReadFile(assets.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
			ids[at][m[1]] = true
		}
	}
	blank := regexp.MustCompile(`\s+`)
	named := 0
	for at, name := range pageFiles {
		text := blank.ReplaceAllString(help[name], " ")
		for _, m := range regexp.MustCompile(`<b>(.*?)</b>`).FindAllStringSubmatch(text, -1) {
			named++
			label := regexp.MustCompile("[>\"'`]" + regexp.QuoteMeta(m[1]) + "[<\"'`]")
			if !label.MatchString(pages.String()) {
				t.Errorf("%s names %q, which is on no page", at, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`href="([^"{]+)"`).FindAllStringSubmatch(text, -1) {
			to, place, _ := strings.Cut(m[1], "#")
			if to == "" {
				to = at
			}
			switch {
			case to == "/trust": // served while the appliance has an authority of its own
			case ids[to] == nil:
				t.Errorf("%s leads to %s, which is no page", at, m[1])
			case place != "" && to != "/docs" && !ids[to][place]:
				t.Errorf("%s leads to %s, which the page lacks", at, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`<h2 id="([^"]+)"`).FindAllStringSubmatch(text, -1) {
			if !strings.Contains(text, `<a href="#`+m[1]+`">`) {
				t.Errorf("%s does not list %s", at, m[1])
			}
		}
	}
	if len(help) != 5 || named < 50 { // four pages and their style
		t.Errorf("%d files of help name %d buttons and fields", len(help), named)
	}
}
