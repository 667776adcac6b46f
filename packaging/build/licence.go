package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is a Go module that is linked into a binary, or an npm package with files in it.
type module struct {
	NPM     bool
	Path    string // for npm, the package name
	Version string
	Sum     string   // from go.sum
	Dir     string   // directory of its source
	Uses    []string // paths of the modules that its linked-in packages import, sorted
	Licence string   // SPDX
}

// standard is the path of Go's standard library among the modules.
const standard = "std"

// findModules finds the modules in the binary, and their dependencies from the packages.
func (p *product) findModules(ctx context.Context) error {
	info, err := buildinfo.ReadFile(p.binary)
	if err != nil {
		return err
	}
	p.modules = []module{{Path: standard, Version: strings.TrimPrefix(info.GoVersion, "go")}}
	for _, dep := range info.Deps {
		p.modules = append(p.modules, module{Path: dep.Path, Version: dep.Version, Sum: dep.Sum})
	}
	text, err := output(ctx, p.root, p.goVariables(), "go", "list", "-mod=readonly", "-deps", "-json=ImportPath,Standard,Imports,Module", ".")
	if err != nil {
		return err
	}
	if err := p.useModules(text); err != nil {
		return err
	}
	return p.findVendored()
}

// findVendored adds the npm packages that the pages use.
func (p *product) findVendored() error {
	root := filepath.Join(p.root, "assets", "vendor")
	var found []module
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "package.json" {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var about struct {
			Name, Version string
			Dependencies  map[string]string
		}
		if err := json.Unmarshal(text, &about); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		found = append(found, module{NPM: true, Path: about.Name, Version: about.Version, Dir: filepath.Dir(file), Uses: slices.Sorted(maps.Keys(about.Dependencies))})
		p.modules[0].Uses = append(p.modules[0].Uses, about.Name)
		return nil
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s holds no package", root)
	}
	p.modules = append(p.modules, found...)
	return err
}

// useModules reads the directories and dependencies of modules from the output of go list.
func (p *product) useModules(text string) error {
	type pkg struct {
		ImportPath string
		Standard   bool
		Imports    []string
		Module     *struct {
			Path string
			Dir  string
		}
	}
	home, dirs := map[string]string{}, map[string]string{} // module by package, directory by module
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(text)); ; {
		var one pkg
		if err := dec.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		home[one.ImportPath] = standard
		if !one.Standard && one.Module != nil {
			home[one.ImportPath] = one.Module.Path
			dirs[one.Module.Path] = one.Module.Dir
		}
		all = append(all, one)
	}
	uses := map[string]map[string]bool{}
	for _, one := range all {
		from := home[one.ImportPath]
		if uses[from] == nil {
			uses[from] = map[string]bool{}
		}
		for _, imported := range one.Imports {
			if to := home[imported]; to != "" && to != from {
				uses[from][to] = true
			}
		}
	}
	own := module{Path: ownModule, Version: p.Version, Dir: p.root}
	p.modules = append([]module{own}, p.modules...)
	for i := range p.modules {
		m := &p.modules[i]
		m.Dir = dirs[m.Path]
		for path := range uses[m.Path] {
			m.Uses = append(m.Uses, path)
		}
		slices.Sort(m.Uses)
	}
	return nil
}

// ownModule is the path of app's module, the first of a product's modules.
const ownModule = "opsmon"

// licenceFile matches the names of files with licence terms.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|copyright|unlicense|edl|epl)([-_.].*)?$`)

// collectLicences reads the licences of all linked modules. A module without a licence, or with an unknown one, must
// not be distributed before somebody has reviewed it.
func (p *product) collectLicences(ctx context.Context) error {
	goroot, err := output(ctx, p.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "app %s and what is linked into it (%s), each under its own licence.\n", p.Version, p.target)
	for i := range p.modules {
		m := &p.modules[i]
		dir, title := m.Dir, m.Path+" "+m.Version
		switch m.Path {
		case standard:
			dir, title = strings.TrimSpace(goroot), "Go "+m.Version+", standard library and time zone data"
		case ownModule:
			dir, title = p.root, "app "+m.Version
		}
		texts, err := licenceTexts(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", title, err)
		}
		if m.Licence = recognise(texts); m.Licence == "" {
			return fmt.Errorf("%s: no licence file in %s has known terms; review them and add them to packaging/build/licence.go", title, dir)
		}
		fmt.Fprintf(&b, "\n%s\n%s (%s)\n", strings.Repeat("=", 78), title, m.Licence)
		for _, text := range texts {
			fmt.Fprintf(&b, "%s\n\n%s\n", strings.Repeat("-", 78), strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))
		}
	}
	p.licences = b.Bytes()
	return nil
}

func licenceTexts(dir string) ([]string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, f := range files {
		if f.IsDir() || !licenceFile.MatchString(f.Name()) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(b))
	}
	return texts, nil
}

// phrases identify licences by their text: all words of a list must occur. The first match counts.
var phrases = []struct {
	spdx  string
	words []string
}{
	{"Apache-2.0", []string{"apache license", "version 2.0"}},
	{"MPL-2.0", []string{"mozilla public license", "2.0"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "neither the name"}},
	{"BSD-3-Clause", []string{"redistribution and use of this software in source and binary forms", "neither the name"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	{"MIT", []string{"permission is hereby granted, free of charge", "the above copyright notice and this permission notice"}},
	// dual-licensed with the Eclipse Distribution License, which is BSD-3-Clause: the distributor may choose
	{"EPL-2.0", []string{"eclipse public license", "v 2.0"}},
	{"Zlib", []string{"the origin of this software must not be misrepresented"}},
	{"ISC", []string{"permission to use, copy, modify, and/or distribute this software for any purpose"}},
	{"ISC", []string{"permission to use, copy, modify, and distribute this software for any purpose"}},
}

// recognise returns the SPDX expression of the licences in some texts, "" if none is known. Several licences in one
// text, such as that of a partial copy, are joined with AND.
func recognise(texts []string) string {
	var found []string
	for _, text := range texts {
		running := strings.ToLower(strings.Join(strings.Fields(text), " "))
		bsd := false
		for _, known := range phrases {
			if slices.ContainsFunc(known.words, func(w string) bool { return !strings.Contains(running, w) }) || strings.HasPrefix(known.spdx, "BSD") && bsd {
				continue
			}
			bsd = bsd || strings.HasPrefix(known.spdx, "BSD")
			if !slices.Contains(found, known.spdx) {
				found = append(found, known.spdx)
			}
		}
	}
	slices.Sort(found)
	if slices.Equal(found, []string{"BSD-3-Clause", "EPL-2.0"}) {
		return "BSD-3-Clause" // dual-licensed; app is distributed under this one
	}
	return strings.Join(found, " AND ")
}
