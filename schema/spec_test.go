package schema

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	// citation matches a document and its sections: DOC section 2.3; DOC, sections 1, 3 and 7; DOC 4.1.
	citation = regexp.MustCompile(`\b([a-z][a-z-]*\.md)(?:,? sections?)? (\d+(?:\.\d+)*(?:(?:, | and | to )\d+(?:\.\d+)*)*)`)
	// broken matches a line break within a comment or a paragraph.
	broken  = regexp.MustCompile(`\s*\n[\s/*#>-]*`)
	heading = regexp.MustCompile(`(?m)^#+ (\d+(?:\.\d+)*)\.? `)
)

// sections returns the numbers of the sections of each document in schema/spec.
func sections(t *testing.T) map[string][]string {
	t.Helper()
	names, err := filepath.Glob("spec/*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("no documents in schema/spec: %v", err)
	}
	documents := map[string][]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		numbers := []string{}
		for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
			numbers = append(numbers, m[1])
		}
		documents[filepath.Base(name)] = numbers
	}
	return documents
}

// uncited returns the citations in a text that do not resolve, and the number of all citations.
func uncited(documents map[string][]string, text string) (lost []string, all int) {
	for _, m := range citation.FindAllStringSubmatch(broken.ReplaceAllString(text, " "), -1) {
		all++
		numbers, exists := documents[m[1]]
		if !exists {
			lost = append(lost, m[0]+": no such document")
			continue
		}
		for _, number := range cited(m[2]) {
			if !slices.Contains(numbers, number) {
				lost = append(lost, m[0]+": no section "+number)
			}
		}
	}
	return lost, all
}

// cited returns the sections in a list: "1, 3 and 5 to 7" are 1, 3, 5, 6 and 7.
func cited(list string) (numbers []string) {
	for _, part := range strings.Split(strings.ReplaceAll(list, " and ", ", "), ", ") {
		from, to, isRange := strings.Cut(part, " to ")
		first, err := strconv.Atoi(from)
		last, errLast := strconv.Atoi(to)
		if !isRange || err != nil || errLast != nil {
			numbers = append(numbers, strings.Split(part, " to ")...)
			continue
		}
		for n := first; n <= last; n++ {
			numbers = append(numbers, strconv.Itoa(n))
		}
	}
	return numbers
}

// TestCitations fails where the repository cites a document or a section that schema/spec does not have.
func TestCitations(t *testing.T) {
	documents, total := sections(t), 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", "node_modules", "vendor"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".js", ".mjs", ".css", ".html", ".md", ".sh"}, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.Contains(string(text), ".md") {
			return nil
		}
		lost, all := uncited(documents, string(text))
		total += all
		for _, c := range lost {
			t.Errorf("%s cites %s", filepath.ToSlash(path), c)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if total < 100 {
		t.Errorf("found only %d citations", total)
	}
}

// TestUncited checks that invalid citations are found. They are assembled at run time, because TestCitations reads
// this file too.
func TestUncited(t *testing.T) {
	documents := map[string][]string{"http-api.md": {"2", "2.1", "3", "4"}}
	for _, tt := range []struct {
		text string
		lost int
	}{
		{"DOC section 2.1", 0},
		{"DOC 2.1", 0},
		{"DOC, section 2", 0},
		{"DOC sections 2.1, 3 and 4", 0},
		{"DOC sections 2 to 4", 0},
		{"(DOC\n\t// section 3). 9 of them", 0},
		{"DOC section 4, row 6", 0},
		{"DOC section 42", 1},
		{"DOC 2.9", 1},
		{"DOC\n// sections 2 and 9", 1},
		{"DOC sections 3 to 6", 2},
		{"missing" + ".md section 2", 1},
	} {
		if lost, all := uncited(documents, strings.ReplaceAll(tt.text, "DOC", "http-api"+".md")); all != 1 || len(lost) != tt.lost {
			t.Errorf("%q: %d citations, lost %q; want 1 with %d lost", tt.text, all, lost, tt.lost)
		}
	}
}

// TestSpecificationIsNotEmbedded checks that the binary contains only the schemas.
func TestSpecificationIsNotEmbedded(t *testing.T) {
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".schema.json") {
			t.Errorf("%s is embedded", e.Name())
		}
	}
}
