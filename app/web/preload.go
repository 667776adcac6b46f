package web

import (
	"path"
	"regexp"
	"strings"
)

var (
	pageScript = regexp.MustCompile(`<script type="module" src="\{\{\.Assets\}\}/([^"]+)">`)
	imported   = regexp.MustCompile(`(?m)^(?:import|export)\b[^;"]*"(\.[^"]+)";`)
)

// sources are the files that are served, and the templates, by path. What a module imports is looked for once.
type sources struct {
	contents map[string][]byte
	imports  map[string][]string // by module: what it imports itself
}

// preloads lists the modules that a page needs before it can show anything, by their addresses: what its script imports, and so on. A
// browser that is told asks for all of them at once, and not for one layer after the other.
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

// importsOf lists what a module imports, and what that imports, and so on.
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
			if !strings.HasPrefix(of, vendorDir+"/") { // those are compressed here, and ask for few
				follow(of)
			}
		}
	}
	follow(module)
	return all
}

// direct lists what a module imports itself.
func (s sources) direct(module string) []string {
	list, known := s.imports[module]
	if !known {
		for _, m := range imported.FindAllSubmatch(s.contents[module], -1) {
			if of := path.Join(path.Dir(module), string(m[1])); s.contents[of] != nil {
				list = append(list, of)
			}
		}
		s.imports[module] = list
	}
	return list
}
