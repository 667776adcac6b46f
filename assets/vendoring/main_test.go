package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const (
	vendorDir = "../vendor"
	sumsFile  = "SHA256SUMS"
)

// readTree reads all files below a folder.
func readTree(t *testing.T, from fs.FS) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(from, name)
		files[name] = string(content)
		return err
	})
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

// Nobody edits what others wrote: each file is the one of its package's tarball.
func TestVendoredFilesAreUnmodified(t *testing.T) {
	files := readTree(t, os.DirFS(vendorDir))
	want, got := map[string]string{}, map[string]string{}
	for line := range strings.Lines(files[sumsFile]) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		want[name] = sum
	}
	delete(files, sumsFile)
	for name, content := range files {
		sum := sha256.Sum256([]byte(content))
		got[name] = hex.EncodeToString(sum[:])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s and the files differ:\n%s", sumsFile, diff)
	}
}

func TestVendoredPackagesSayWhatTheyAre(t *testing.T) {
	files := readTree(t, os.DirFS(vendorDir))
	delete(files, sumsFile)
	dirs := map[string]bool{}
	for name := range files {
		parts := strings.SplitN(name, "/", 3)
		depth := 1
		if strings.HasPrefix(name, "@") {
			depth = 2
		}
		dirs[path.Join(parts[:depth]...)] = true
	}
	for _, want := range []string{"lit-html", "@codemirror/view", "@codemirror/merge", "@lezer/json", "intl-messageformat", "uplot", "uqr"} {
		if !dirs[want] {
			t.Errorf("%s is not there", want)
		}
	}
	for dir := range dirs {
		var about struct{ Name, Version, License string }
		if err := json.Unmarshal([]byte(files[dir+"/package.json"]), &about); err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		if about.Name != dir || about.Version == "" || about.License == "" || len(files[dir+"/LICENSE"]+files[dir+"/LICENSE.md"]) < 500 {
			t.Errorf("%s has no licence, or is not what it says: %+v", dir, about)
		}
	}
}

func TestTheBinaryHasTheVendoredModules(t *testing.T) {
	modules, err := readModules(os.DirFS(vendorDir))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for name, content := range modules {
		want[name] = string(content)
	}
	packed, err := os.ReadFile("../vendor.zip")
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	if got := readTree(t, z); !cmp.Equal(want, got) {
		t.Error("assets/vendor.zip is not made from assets/vendor: go run ./assets/vendoring")
	}
}

// tree is what packages a and @b/c would be; a imports in many ways.
func tree(imports string) fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"a/package.json":       file(`{"name":"a","main":"dist/i.js","exports":{".":{"default":"./i.js"}}}`),
		"a/dist/i.js":          file(imports),
		"a/dist/more.mjs":      file(""),
		"@b/c/package.json":    file(`{"name":"@b/c","main":"no.cjs","module":"no.js","exports":{"import":"./no.js"}}`),
		"e/package.json":       file(`{"name":"e","exports":{".":"./i.js","./more.js":"./more.js"}}`),
		"e/i.js":               file(""),
		"@b/c/no.js":           file(`import {a} from "a"` + "\n" + `export * from '@b/d';` + "\n" + `import "e";`),
		"@b/d/package.json":    file(`{"name":"@b/d","exports":{"import":"./src/i.js","require":"./no.cjs"}}`),
		"@b/d/src/i.js":        file(""),
		"@b/d/LICENSE":         file("import 'nothing'"),
		"@b/d/src/ignored.cjs": file("require('nothing')"),
	}
}

func TestImportsByNameBecomePaths(t *testing.T) {
	got, err := readModules(tree(`/* x */
import { a,
  $b as c } from '@b/c'; import "@b/d";
import*as d from"@b/d";import{e}from"./more.mjs";export{f}from"@b/c"
export default "nothing"; // import x from "nothing"
const g = 'from "nothing"';
`))
	if err != nil {
		t.Fatal(err)
	}
	want := `/* x */
import { a,
  $b as c } from '../../@b/c/no.js'; import "../../@b/d/src/i.js";
import*as d from"../../@b/d/src/i.js";import{e}from"./more.mjs";export{f}from"../../@b/c/no.js"
export default "nothing"; // import x from "nothing"
const g = 'from "nothing"';
`
	if diff := cmp.Diff(want, string(got["a/dist/i.js"])); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(`import {a} from "../../a/dist/i.js"`+"\n"+`export * from '../d/src/i.js';`+"\n"+`import "../../e/i.js";`, string(got["@b/c/no.js"])); diff != "" {
		t.Error(diff)
	}
	if len(got) != 5 {
		t.Errorf("%d modules", len(got))
	}
}

func TestAnImportThatLeadsNowhereFails(t *testing.T) {
	for _, imports := range []string{`import "none"`, `import x from "@b/none"`, `export * from './none.js'`, `import "a/dist/i.js"`, `import "@b/c"; import "none"; import "@b/d"`} {
		if _, err := readModules(tree(imports)); err == nil || !strings.Contains(err.Error(), "a/dist/i.js imports") {
			t.Errorf("%s: %v", imports, err)
		}
	}
	from := tree("")
	from["a/package.json"].Data = []byte(`{"name":"a"}`)
	if _, err := readModules(from); err == nil || !strings.Contains(err.Error(), `a/package.json: "a" names no module`) {
		t.Errorf("a package without a module: %v", err)
	}
}
