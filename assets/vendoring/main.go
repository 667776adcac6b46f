// Command vendoring packs the vendored packages for the binary: the modules and style sheets of all of them in one ZIP file, with what
// they import from each other by package name turned into relative paths, since browsers know no packages.
//
//	go run ./assets/vendoring
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	modules, err := readModules(os.DirFS("assets/vendor"))
	if err == nil {
		var packed []byte
		if packed, err = pack(modules); err == nil {
			err = os.WriteFile("assets/vendor.zip", packed, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "vendoring:", err)
		os.Exit(1)
	}
}

const packageFile = "package.json"

const styleExt = ".css"

// readModules returns the modules of the packages in a folder by path, with their imports resolved, and their style sheets.
// Each package stands in a folder of its npm name.
func readModules(from fs.FS) (map[string][]byte, error) {
	entries := map[string]string{} // path of the module that a package's name stands for
	modules := map[string][]byte{}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(from, name)
		switch {
		case err != nil:
			return err
		case path.Ext(name) == ".js" || path.Ext(name) == ".mjs" || path.Ext(name) == styleExt:
			modules[name] = content
		case path.Base(name) == packageFile:
			called, entry, err := entryOf(content)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			entries[called] = path.Join(path.Dir(name), entry)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	resolved := make(map[string][]byte, len(modules))
	for name, content := range modules {
		if path.Ext(name) == styleExt {
			resolved[name] = content
			continue
		}
		if resolved[name], err = resolve(name, content, entries, modules); err != nil {
			return nil, err
		}
	}
	return resolved, nil
}

// entryOf reads from a package.json the package's name and the module that it stands for.
func entryOf(content []byte) (name, entry string, err error) {
	var about struct {
		Name, Module, Main string
		Exports            json.RawMessage
	}
	if err := json.Unmarshal(content, &about); err != nil {
		return "", "", err
	}
	var exports struct {
		Import string
		Root   json.RawMessage `json:"."`
	}
	var root string
	if json.Unmarshal(about.Exports, &exports) != nil || json.Unmarshal(exports.Root, &root) != nil {
		root = "" // it is of another form: the package says it in another place
	}
	for _, entry := range []string{about.Module, exports.Import, about.Main, root} {
		if entry != "" {
			return about.Name, entry, nil
		}
	}
	return "", "", fmt.Errorf("%q names no module", about.Name)
}

// specifier finds what a module imports from, or exports from. It stands at the start of a line or after a semicolon,
// so that a sentence of a comment is none.
var specifier = regexp.MustCompile(`(?m)((?:^|;)[ \t]*(?:import|export)\s*(?:[\w$*{}\s,]+from\s*)?["'])([^"'\n]+)(["'])`)

// resolve makes relative paths of the names of packages in the module that is called name.
func resolve(name string, content []byte, entries map[string]string, modules map[string][]byte) ([]byte, error) {
	var failed error
	out := specifier.ReplaceAllFunc(content, func(statement []byte) []byte {
		parts := specifier.FindSubmatch(statement)
		wanted := string(parts[2])
		target := entries[wanted]
		own := strings.HasPrefix(wanted, "./") || strings.HasPrefix(wanted, "../")
		if own {
			target = path.Join(path.Dir(name), wanted)
		}
		if _, found := modules[target]; !found {
			failed = fmt.Errorf("%s imports %q, which is not among the vendored packages", name, wanted)
		}
		if own || failed != nil {
			return statement
		}
		return slices.Concat(parts[1], []byte(relative(path.Dir(name), target)), parts[3])
	})
	return out, failed
}

// relative returns the path from a folder to a file as a module names it.
func relative(dir, file string) string {
	to, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(file))
	if err != nil {
		panic("vendoring: " + err.Error()) // both are below the same folder
	}
	if to = filepath.ToSlash(to); !strings.HasPrefix(to, "../") {
		to = "./" + to
	}
	return to
}

// pack makes a ZIP file, the same from the same files.
func pack(files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
