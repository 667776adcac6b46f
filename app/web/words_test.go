package web

import (
	"encoding/json"
	"html"
	"strings"
	"testing"
	"testing/fstest"
)

func TestCatalogues(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	from := fstest.MapFS{
		"words/en/shared.json": file(`{"shared.save": "Save </script>"}`),
		"words/en/floor.json":  file(`{"floor.title": "Floor"}`),
		"words/en/link.json":   file(`{"link.title": "Sign in"}`),
	}
	all, err := readCatalogues(from)
	if err != nil {
		t.Fatal(err)
	}
	element, err := all.of("floor/index.html").inline()
	if err != nil {
		t.Fatal(err)
	}
	const start, end = `<script type="application/json" id="words">`, "</script>"
	content := strings.TrimSuffix(strings.TrimPrefix(string(element), start), end)
	var got map[string]string
	if err := json.Unmarshal([]byte(content), &got); err != nil || strings.Contains(content, "<") {
		t.Fatalf("%s: %v", element, err)
	}
	if len(got) != 2 || got["shared.save"] != "Save </script>" || got["floor.title"] != "Floor" {
		t.Errorf("the floor has the texts %q", got)
	}
	for text, want := range map[string]string{
		`{`:                        "floor.json: unexpected end",
		`{"shared.save": "Again"}`: `both have the text "shared.save"`,
	} {
		from["words/en/floor.json"] = file(text)
		if _, err := readCatalogues(from); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTemplatesTakeTexts(t *testing.T) {
	v := view{"Name": "<Ann>", "Words": words{"a": "R & D", "b": "Hello {Name}.", "c": "{n, plural, other {#}}", "d": "{Gone}"}}
	for page, want := range map[string]string{
		`{{words "a"}}`: "R &amp; D",
		`{{words "b"}}`: "Hello <bdi>&lt;Ann&gt;</bdi>.",
	} {
		if got, err := fillText(t, page, v); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", page, got, err, want)
		}
	}
	for page, want := range map[string]string{
		`{{words "c"}}`: "take only arguments",
		`{{words "d"}}`: "{Gone} has no value",
		`{{words "e"}}`: "there is no such text",
	} {
		if _, err := fillText(t, page, v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", page, err, want)
		}
	}
}

// A page has the texts that it shows, and no other page's.
func TestPagesCarryTheirTexts(t *testing.T) {
	w := newWeb(t, Config{})
	link := ask(w, "GET", "/link").Body.String()
	_, rest, found := strings.Cut(link, `id="words">`)
	content, _, _ := strings.Cut(rest, "</script>")
	var texts map[string]string
	if err := json.Unmarshal([]byte(content), &texts); !found || err != nil {
		t.Fatalf("%v in %s", err, link)
	}
	if texts["link.title"] == "" || texts["shared.skip"] == "" || !strings.Contains(link, html.EscapeString(texts["link.lead"])) {
		t.Errorf("the page behind links has the texts %q", texts)
	}
	if floor := ask(w, "GET", "/floor").Body.String(); !strings.Contains(floor, `"shared.skip":`) || strings.Contains(floor, `"link.title":`) {
		t.Error("the floor's page lacks shared texts, or has those of links")
	}
}
