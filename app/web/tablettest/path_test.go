package tablettest_test

import (
	"testing"

	"opsmon/app/web"
	"opsmon/app/web/webtest"
)

// No page stands where the API has an operation.
func TestPagesHideNoOperation(t *testing.T) {
	s := serve(t, nil)
	pages, err := web.New(web.Config{})
	if err != nil {
		t.Fatal(err)
	}
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	tab.Visit("/signin")
	paths := webtest.Eval[[]string](tab, `fetch("/openapi.json").then((a) => a.json()).then((doc) => Object.keys(doc.paths))`)
	if len(paths) < 50 {
		t.Fatalf("%d paths", len(paths))
	}
	for _, path := range paths {
		if pages.Handles(path) {
			t.Errorf("%s is a page and an operation", path)
		}
	}
}
