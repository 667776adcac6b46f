//go:build rig

package console_test

import (
	_ "embed"
	"testing"

	"opsmon/app/test/browser/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

//go:embed testdata/document.js
var documentTests string

// Differences and merges of documents: concurrent changes are never lost silently.
func TestDocuments(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{Empty: true})
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	tab.Visit("/docs")
	for _, wrong := range webtest.Eval[[]string](tab, `(`+documentTests+`)(document.querySelector('link[rel="stylesheet"]').href.replace("app.css", "document.js"))`) {
		t.Error(wrong)
	}
	tab.Clean()
}
