package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pathInText is a path of the repository in backquotes.
var pathInText = regexp.MustCompile("`((?:app|kv|schema|assets|packaging)(?:/[^`]*)?)`")

// TestTheArchitecturePageNamesWhatIsThere: a file that moves takes its mention along, and a room that is new has one.
func TestTheArchitecturePageNamesWhatIsThere(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	named := pathInText.FindAllStringSubmatch(string(text), -1)
	if len(named) < 60 {
		t.Errorf("the page names %d paths; are they found?", len(named))
	}
	for _, m := range named {
		path := filepath.Join("..", m[1])
		if strings.ContainsAny(m[1], "*…") {
			path = filepath.Dir(path)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("the page names %s: %v", m[1], err)
		}
	}
	for _, pattern := range []string{"*", "engine/*", "ingest/*", "work/*", "deliver/*"} {
		rooms, err := filepath.Glob(pattern + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range rooms {
			if room := filepath.ToSlash(filepath.Dir(file)); !strings.Contains(string(text), "`app/"+room+"`") {
				t.Errorf("the page does not name app/%s", room)
			}
		}
	}
}

// linkInText is a link to a file of the repository, perhaps to a heading in it, or a picture.
var linkInText = regexp.MustCompile(`\]\(([^):#]+)(?:#([^)]*))?\)`)

// TestLinksLeadSomewhere: each link in a document leads to a file, and to a heading that it has.
func TestLinksLeadSomewhere(t *testing.T) {
	out, err := exec.Command("git", "-C", "..", "ls-files", "*.md").Output()
	if err != nil {
		t.Skip("the repository's files are listed by git: ", err)
	}
	checked := 0
	for _, name := range strings.Fields(string(out)) {
		if strings.Contains(name, "vendor") || strings.Contains(name, "testdata") {
			continue // others wrote it
		}
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range linkInText.FindAllStringSubmatch(string(text), -1) {
			checked++
			target, err := os.ReadFile(filepath.Join("..", filepath.Dir(name), m[1]))
			if err != nil {
				t.Errorf("%s: the link to %s: %v", name, m[1], err)
			} else if m[2] != "" && !slices.Contains(anchors(string(target)), m[2]) {
				t.Errorf("%s: %s has no heading #%s", name, m[1], m[2])
			}
		}
	}
	if checked < 20 {
		t.Errorf("%d links are checked; are they found?", checked)
	}
}

// anchors returns the names by which links reach the headings of a document.
func anchors(text string) (names []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}
