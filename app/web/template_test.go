package web

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"opsmon/assets"
)

const examplePieces = `{{define "who"}}<b>{{.Name}}</b>{{end}} between {{define "none"}}{{end}}`

func fillText(t *testing.T, page string, v view) (string, error) {
	t.Helper()
	from := fstest.MapFS{"layout.html": {Data: []byte(examplePieces)}, "page.html": {Data: []byte(page)}}
	read, err := readTemplate(from, "layout.html", "page.html")
	if err != nil {
		return "", err
	}
	out, err := read.fill(v)
	return string(out), err
}

func TestTemplates(t *testing.T) {
	v := view{"Name": `<Ann> & "Bo's"`, "Yes": true, "No": false, "None": []view{}, "List": []view{{"At": "1"}, {"At": "2"}}}
	for page, want := range map[string]string{
		"":                             "",
		"no tag } {":                   "no tag } {",
		"a {{.Name}} b":                "a &lt;Ann&gt; &amp; &#34;Bo&#39;s&#34; b",
		`{{template "who" .}}`:         "<b>&lt;Ann&gt; &amp; &#34;Bo&#39;s&#34;</b>",
		`[{{template "none" .}}]`:      "[]",
		"{{if .Yes}}y{{else}}n{{end}}": "y",
		"{{if .No}}y{{else}}n{{end}}.": "n.",
		"{{if .No}}{{.Gone}}{{end}}":   "",
		"{{if .Yes}}{{if .No}}a{{else}}b{{end}}c{{else}}d{{end}}e": "bce",
		"{{range .List}}<{{.At}}>{{end}}":                          "<1><2>",
		"{{range .None}}x{{end}}":                                  "",
	} {
		if got, err := fillText(t, page, v); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", page, got, err, want)
		}
	}
}

func TestWrongTemplates(t *testing.T) {
	v := view{"Name": "n", "Yes": true, "List": []view{{"At": "1"}}}
	for page, want := range map[string]string{
		"{{":                                 "page.html line 1: {{ without }}",
		"a\nb {{.Name":                       "page.html line 2: {{ without }}",
		"{{.Name | js}}":                     "{{.Name | js}} is no tag",
		"{{.}}":                              "{{.}} is no tag",
		"{{}}":                               "{{}} is no tag",
		"{{ .Name }}":                        "is no tag",
		"{{.Name.Other}}":                    "is no tag",
		"{{$.Name}}":                         "is no tag",
		"{{- if .Yes}}{{end}}":               "is no tag",
		"{{with .List}}{{end}}":              "is no tag",
		`{{template "gone" .}}`:              "is no tag",
		`{{if eq .Name "n"}}{{end}}`:         "is no tag",
		"{{if .Yes}}a":                       "{{if .Yes}} is not closed by {{end}}",
		"{{range .List}}a{{else}}":           "{{range .List}} is not closed by {{end}}",
		"{{if .Yes}}{{else}}{{else}}{{end}}": "{{if .Yes}} is not closed by {{end}}",
		"a{{end}}":                           "{{end}} closes nothing",
		"a{{else}}":                          "{{else}} closes nothing",
		"{{.Gone}}":                          "page.html: {{.}}: .Gone is missing, or of another kind",
		"{{.Yes}}":                           ".Yes is missing, or of another kind",
		"{{.List}}":                          ".List is missing, or of another kind",
		"{{if .Name}}a{{end}}":               ".Name is missing, or of another kind",
		"{{if .Gone}}a{{end}}":               ".Gone is missing, or of another kind",
		"{{range .Yes}}a{{end}}":             ".Yes is missing, or of another kind",
		"{{range .Gone}}a{{end}}":            ".Gone is missing, or of another kind",
		"{{range .List}}{{.Name}}{{end}}":    ".Name is missing, or of another kind",
	} {
		if got, err := fillText(t, page, v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want an error with %q", page, got, err, want)
		}
	}
	if _, err := readTemplate(fstest.MapFS{"layout.html": {}}, "layout.html", "page.html"); err == nil {
		t.Error("a page that is not there is no error")
	}
}

// Values never change the elements and attributes of a page, and are shown unchanged. Every placeholder must therefore
// be where escaped text is only text: not in a script, a comment, a tag name or an unquoted attribute.
func TestValuesAreOnlyText(t *testing.T) {
	const hostile = "a b=c > \"'`<i>/--></title></script></style><script>alert(1)</script>&lt;{{.Name}}"
	for _, name := range embeddedFiles(t) {
		if path.Ext(name) != ".html" || name == layoutFile {
			continue
		}
		for _, is := range []bool{true, false} {
			plain, count := shapeOf(t, name, is, "harmless")
			got, shown := shapeOf(t, name, is, hostile)
			if diff := cmp.Diff(plain, got); diff != "" {
				t.Errorf("%s, conditions %v, with hostile values (-plain +hostile):\n%s", name, is, diff)
			}
			if count == 0 || shown != count {
				t.Errorf("%s, conditions %v: %d values stand in it, %d when they are hostile", name, is, count, shown)
			}
		}
	}
}

// shapeOf fills a page with one text everywhere and returns its elements with their attributes, and how often the text
// occurs.
func shapeOf(t *testing.T, name string, is bool, text string) (shape []string, count int) {
	t.Helper()
	page, err := readTemplate(fs.FS(assets.FS), layoutFile, name)
	if err != nil {
		t.Fatal(err)
	}
	all, err := readCatalogues(assets.FS)
	if err != nil {
		t.Fatal(err)
	}
	v := viewOf(page, page.parts, all.of(name), is, text)
	v["Words"], v["Catalogue"] = all.of(name), markup("")
	content, err := page.fill(v)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		switch n.Type {
		case html.ElementNode:
			one := n.Data
			for _, a := range n.Attr {
				one += " " + a.Key
				count += strings.Count(a.Val, text)
			}
			shape = append(shape, one)
		case html.TextNode:
			if !slices.Contains([]string{"script", "style", "noscript"}, n.Parent.Data) {
				count += strings.Count(n.Data, text)
			}
		default:
			shape = append(shape, n.Data)
		}
	}
	return shape, count
}

// viewOf returns a value for every placeholder of a page, and for the arguments of its texts.
func viewOf(page *template, parts []part, texts words, is bool, text string) view {
	v := view{}
	for _, p := range parts {
		switch p.verb {
		case ".":
			v[p.name] = text
		case "words":
			for _, name := range argument.FindAllStringSubmatch(texts[p.name], -1) {
				v[name[1]] = text
			}
		case "if":
			v[p.name] = is
			for _, branch := range [][]part{p.then, p.not} {
				for name, value := range viewOf(page, branch, texts, is, text) {
					v[name] = value
				}
			}
		case "range":
			one := viewOf(page, p.then, texts, is, text)
			v[p.name] = []view{one, one}
		case "template":
			for name, value := range viewOf(page, page.pieces[p.name], texts, is, text) {
				v[name] = value
			}
		}
	}
	return v
}
