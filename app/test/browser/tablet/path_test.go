//go:build rig

package tablet_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"opsmon/app/test/browser/webtest"
	"opsmon/app/web"
)

// Pages do not hide API operations: /tablet is a page for people and a list for programs.
func TestPagesHideNoOperation(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	pages, err := web.New(web.Config{})
	if err != nil {
		t.Fatal(err)
	}
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	tab.Visit("/signin")
	operations := webtest.Eval[[]string](tab, `fetch("/openapi.json").then((a) => a.json()).then((doc) => Object.entries(doc.paths).flatMap(([path, all]) => Object.keys(all).map((method) => method.toUpperCase() + " " + path)))`)
	if len(operations) < 50 {
		t.Fatalf("%d operations", len(operations))
	}
	for _, operation := range operations {
		method, path, _ := strings.Cut(operation, " ")
		r := httptest.NewRequest(method, strings.NewReplacer("{", "", "}", "").Replace(path), nil)
		r.Header.Set("Accept", "*/*")
		if pages.Handles(r) {
			t.Errorf("%s is a page", operation)
		}
	}
}
