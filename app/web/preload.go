package web

import (
	"path"
	"regexp"
)

var (
	pageScript = regexp.MustCompile(`<script type="module" src="\{\{\.Assets\}\}/([^"]+)">`)
	imported   = regexp.MustCompile(`(?m)^(?:import|export)\b[^;"]*"(\.[^"]+)";`)
)

// sources are the served files and the templates by path. The imports of a module are parsed once.
type sources struct {
	contents map[string][]byte
	vendored map[string]*file
	imports  map[string][]string // by module: its direct imports
}

// preloads returns the addresses of the modules that a page needs before it can show anything: what its script imports,
// and what those import. The browser then requests all of them at once instead of one layer after the other.
func (s sources) preloads(page, assets string) (modules []view) {
	script := pageScript.FindSubmatch(s.contents[page])
	if script == nil {
		return nil
	}
	for _, of := range s.importsOf(string(script[1])) {
		modules = append(modules, view{"Path": assets + "/" + of})
	}
	return modules
}

// importsOf returns a module's direct and indirect imports.
func (s sources) importsOf(module string) (all []string) {
	known := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		for _, of := range s.direct(name) {
			if known[of] {
				continue
			}
			known[of] = true
			all = append(all, of)
			follow(of)
		}
	}
	follow(module)
	return all
}

// direct returns a module's direct imports.
func (s sources) direct(module string) []string {
	list, known := s.imports[module]
	if !known {
		content := s.contents[module]
		if f := s.vendored[module]; f != nil {
			content = f.whole() // its contents may be compressed
		}
		for _, m := range imported.FindAllSubmatch(content, -1) {
			if of := path.Join(path.Dir(module), string(m[1])); s.contents[of] != nil {
				list = append(list, of)
			}
		}
		s.imports[module] = list
	}
	return list
}
