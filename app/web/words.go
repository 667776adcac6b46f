package web

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"
)

// wordsDir holds the catalogues of the source language: the pages' texts by key, in ICU MessageFormat. A catalogue is a
// file with the name of a page's folder; shared.json is every page's.
const wordsDir = "words/en"

const catalogueExt = ".json"

// words are texts by key.
type words map[string]string

// catalogues are the words by the name of their file, without its extension.
type catalogues map[string]words

// readCatalogues reads the catalogues of the pages' texts. Each key must be in one catalogue only.
func readCatalogues(from fs.FS) (catalogues, error) {
	names, err := fs.Glob(from, wordsDir+"/*"+catalogueExt)
	if err != nil {
		return nil, err
	}
	all, known := catalogues{}, map[string]string{}
	for _, name := range names {
		content, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, err
		}
		var texts words
		if err := json.Unmarshal(content, &texts); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for key := range texts {
			if other := known[key]; other != "" {
				return nil, fmt.Errorf("%s and %s both have the text %q", other, name, key)
			}
			known[key] = name
		}
		all[strings.TrimSuffix(path.Base(name), catalogueExt)] = texts
	}
	return all, nil
}

// of returns the words that a page needs: those that all share, and its own.
func (c catalogues) of(page string) words {
	folder, _, _ := strings.Cut(page, "/")
	all := words{}
	maps.Copy(all, c["shared"])
	maps.Copy(all, c[folder])
	return all
}

// inline returns the texts as JSON for the page's script (assets/shared/words.js). They are part of the page, so that
// they are there before anything is shown, and also on a tablet without the network. The content security policy
// allows the element, because browsers do not run JSON.
func (w words) inline() (markup, error) {
	content, err := json.Marshal(w) // it escapes <, so that no text ends the element
	if err != nil {
		return "", err
	}
	return markup(`<script type="application/json" id="words">` + string(content) + `</script>`), nil
}
