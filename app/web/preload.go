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

// preloads lists the modules that a page needs before it can show anything, by their addresses: what its script imports, and so on. A
// browser that is told asks for all of them at once, and not for one layer after the other.
func preloads(contents map[string][]byte, page, assets string) (modules []view) {
	script := pageScript.FindSubmatch(contents[page])
	if script == nil {
		return nil
	}
	for _, of := range imports(contents, string(script[1])) {
		modules = append(modules, view{"Path": assets + "/" + of})
	}
	return modules
}

// imports lists what a module imports, and what that imports, and so on.
func imports(contents map[string][]byte, module string) (all []string) {
	known := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		for _, m := range imported.FindAllSubmatch(contents[name], -1) {
			of := path.Join(path.Dir(name), string(m[1]))
			if known[of] || contents[of] == nil {
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
