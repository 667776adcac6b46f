package web

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	tabletPath = "/tablet"
	workerPath = "/tablet/worker.js"
	workerFile = "tablet/worker.js"
	webAppPath = "/tablet/app.webmanifest"
	iconPath   = "/favicon.ico"
)

// fixed are files with addresses without the hash, because something that does not know the hash refers to them.
var fixed = map[string]string{
	iconPath:               iconFile,
	webAppPath:             "tablet/app.webmanifest",
	"/tablet/icon-192.png": "tablet/icon-192.png",
	"/tablet/icon-512.png": "tablet/icon-512.png",
}

var styleSheet = regexp.MustCompile(`<link rel="(?:stylesheet|icon|apple-touch-icon)" href="\{\{\.Assets\}\}/([^"]+)"`)

// worker returns the service worker of the tablet's page: assets/tablet/worker.js with the list of files to store, so
// that the page opens without a network. Its bytes change with any of the files, which is how browsers detect a new
// version.
func (s *site) worker(all sources, pack bool) (*file, error) {
	code := all.contents[workerFile]
	if code == nil {
		return nil, fmt.Errorf("%s is missing", workerFile)
	}
	keep := []string{}
	if s.hash != development { // files that change all the time are not stored
		keep = s.offlineFiles(all)
	}
	list, err := json.Marshal(keep)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("const version = %q, files = %s;\n", s.hash, list)
	return newFile(types[".js"], append([]byte(head), code...), pack), nil
}

// offlineFiles returns the addresses of the tablet's page: the page, its folder, and everything that it imports.
func (s *site) offlineFiles(all sources) []string {
	prefix := assetsPath + s.hash
	list := []string{tabletPath, webAppPath}
	add := func(name string) {
		if at := prefix + "/" + name; all.contents[name] != nil && !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	for _, of := range []string{layoutFile, pageFiles[tabletPath]} {
		for _, m := range styleSheet.FindAllSubmatch(all.contents[of], -1) {
			add(string(m[1]))
		}
	}
	var modules []string
	for name := range all.contents {
		if strings.HasPrefix(name, "tablet/") && name != workerFile && (path.Ext(name) == ".js" || path.Ext(name) == ".css") {
			modules = append(modules, name)
		}
	}
	slices.Sort(modules)
	for _, name := range modules {
		add(name)
		for _, of := range all.importsOf(name) {
			add(of)
		}
	}
	return list
}
