package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"
	"github.com/google/go-cmp/cmp"

	"opsmon/app/host/config"
)

// TestReproducible checks that the same source produces the same bytes in any directory and environment: all files,
// including signatures.
func TestReproducible(t *testing.T) {
	first := releaseOf(t, "1.0.0")
	root := filepath.Join(t.TempDir(), "another pläce")
	list, err := output(t.Context(), moduleOf(t), nil, "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		b, err := os.ReadFile(filepath.Join(moduleOf(t), name))
		if err != nil {
			continue // deleted but not committed
		}
		to := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	repository, err := output(t.Context(), moduleOf(t), nil, "git", "rev-parse", "--absolute-git-dir")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ".git"), []byte("gitdir: "+repository), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"TZ": "Asia/Kathmandu", "GOFLAGS": "-tags=other", "GOARM64": "v8.1", "CGO_ENABLED": "1", "LC_ALL": "de_DE.UTF-8"} {
		t.Setenv(name, value)
	}
	if soak {
		t.Setenv("GOCACHE", t.TempDir()) // compile everything again
	}
	out := t.TempDir()
	if _, err := build(t, root, "--version", "1.0.0", "--out", out, "--targets", "linux/amd64,windows/amd64", "--sign-key", secretKey()); err != nil {
		t.Fatal(err)
	}
	again := files(t, out)
	for name, b := range files(t, first.dir) {
		if !bytes.Equal(b, again[name]) {
			t.Errorf("%s differs: %d and %d bytes", name, len(b), len(again[name]))
		}
		delete(again, name)
	}
	if len(again) > 0 {
		t.Errorf("made only the second time: %v", slices.Collect(maps.Keys(again)))
	}
}

// moduleOf returns the root of the tested source.
func moduleOf(t *testing.T) string {
	t.Helper()
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// TestArchives checks the content of the archives, the version in the binary, and that every file is listed and
// signed.
func TestArchives(t *testing.T) {
	d := releaseOf(t, "1.0.0")
	src, err := describe(t.Context(), moduleOf(t), "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	for end, exe := range map[string]string{"linux_amd64.tar.gz": "app", "windows_amd64.zip": "app.exe"} {
		held := unpack(t, d.file(t, end), src.Time)
		want := []string{"CHANGELOG.md", "LICENSES.txt", "README.md", exe, exe + ".minisig"}
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(held))); diff != "" {
			t.Errorf("%s holds other files: %s", end, diff)
		}
		if !verify(d.key, held[exe], held[exe+".minisig"]) {
			t.Errorf("%s: the signature of the program is not that of the key", end)
		}
		if !bytes.Contains(held[exe], []byte(d.key.String())) {
			t.Errorf("%s: the program does not know the key that upgrades are signed with", end)
		}
	}
	program := filepath.Join(t.TempDir(), "app")
	if err := os.WriteFile(program, unpack(t, d.file(t, "linux_amd64.tar.gz"), src.Time)["app"], 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "version", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Version, Commit string }
	if err := json.Unmarshal(out, &said); err != nil || said.Version != "1.0.0" || said.Commit != src.Commit {
		t.Errorf("app version says %s, %v; want 1.0.0 and %s", out, err, src.Commit)
	}

	all := files(t, d.dir)
	sums := map[string]string{}
	for line := range strings.Lines(string(all["app_1.0.0_SHA256SUMS"])) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		sums[name] = sum
	}
	for name, b := range all {
		if strings.HasSuffix(name, ".minisig") {
			continue
		}
		if !verify(d.key, b, all[name+".minisig"]) {
			t.Errorf("%s has no signature of the key", name)
		}
		if verify(d.key, append(slices.Clone(b), 0), all[name+".minisig"]) {
			t.Errorf("%s is signed with a byte more, too", name)
		}
		if sum := sha256.Sum256(b); name != "app_1.0.0_SHA256SUMS" && sums[name] != hex.EncodeToString(sum[:]) {
			t.Errorf("%s is listed with the checksum %q", name, sums[name])
		}
	}
}

// TestReadmeHasSettings checks that the README of an installation documents every setting, because app.yaml refers to
// it.
func TestReadmeHasSettings(t *testing.T) {
	readme, err := plantReadme(moduleOf(t))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(readme)) {
		if strings.HasPrefix(line, "| `") && strings.Contains(line, "`APP_") {
			rows++
		}
	}
	if rows < 20 {
		t.Errorf("it has %d rows of settings", rows)
	}
	for _, found := range regexp.MustCompile(`(?m)^(?:# )?( *)([a-zA-Z]+):(.*)$`).FindAllStringSubmatch(string(config.InstalledText()), -1) {
		name, group := found[2], strings.TrimSpace(found[3]) == ""
		if strings.HasPrefix(found[3], " certificates of") {
			continue // "auto:" in a sentence
		}
		if !group && !regexp.MustCompile("`([a-zA-Z.]*\\.)?"+name+"`").Match(readme) || group && !bytes.Contains(readme, []byte("`"+name+".")) && !bytes.Contains(readme, []byte("."+name+".")) {
			t.Errorf("it does not document %s", name)
		}
	}
}

func verify(key minisign.PublicKey, content, signature []byte) bool {
	r := minisign.NewReader(bytes.NewReader(content))
	if _, err := bytes.NewBuffer(nil).ReadFrom(r); err != nil {
		return false
	}
	return r.Verify(key, signature)
}

// TestSBOM checks that the SBOM is valid CycloneDX 1.6 and lists exactly the modules in the binary.
func TestSBOM(t *testing.T) {
	d := releaseOf(t, "1.0.0")
	src, err := describe(t.Context(), moduleOf(t), "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(d.file(t, "linux_amd64.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s sbom
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		t.Fatal(err)
	}
	if s.Format != "CycloneDX" || s.Spec != "1.6" || s.Version != 1 || !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`).MatchString(s.Serial) {
		t.Errorf("it begins with %s %s %d %s", s.Format, s.Spec, s.Version, s.Serial)
	}
	if at, err := time.Parse(time.RFC3339, s.Metadata.Timestamp); err != nil || !at.Equal(src.Time) {
		t.Errorf("it is of %s, %v", s.Metadata.Timestamp, err)
	}
	program := unpack(t, d.file(t, "linux_amd64.tar.gz"), src.Time)["app"]
	sum := sha256.Sum256(program)
	if diff := cmp.Diff([]hashed{{"SHA-256", hex.EncodeToString(sum[:])}}, s.Metadata.Component.Hashes); diff != "" {
		t.Errorf("it is of another program: %s", diff)
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{standard: strings.TrimPrefix(info.GoVersion, "go")}
	for _, dep := range info.Deps {
		want[dep.Path] = dep.Version
	}
	vendored, err := filepath.Glob(filepath.Join(moduleOf(t), "assets", "vendor", "*", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	scoped, err := filepath.Glob(filepath.Join(moduleOf(t), "assets", "vendor", "@*", "*", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(vendored, scoped...) {
		var about struct{ Name, Version string }
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &about)
		}
		if err != nil {
			t.Fatal(err)
		}
		want[about.Name] = about.Version
	}
	if want["lit-html"] == "" || want["@codemirror/view"] == "" {
		t.Fatalf("the vendored packages are not found: %v", want)
	}
	got, refs := map[string]string{}, map[string]bool{s.Metadata.Component.Ref: true}
	for _, c := range s.Components {
		if c.Type != "library" || c.Ref == "" || refs[c.Ref] || !regexp.MustCompile(`^pkg:(golang/|npm/(%40[a-z]+/)?[a-z0-9-]+@[0-9.]+$)`).MatchString(c.PURL) || len(c.Licences) != 1 || c.Licences[0].Expression == "" {
			t.Errorf("a component breaks the rules: %+v", c)
		}
		got[c.Name], refs[c.Ref] = c.Version, true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("it does not name what the program is made of: %s", diff)
	}
	for _, dep := range s.Dependencies {
		if !refs[dep.Ref] || slices.ContainsFunc(dep.DependsOn, func(ref string) bool { return !refs[ref] || ref == dep.Ref }) {
			t.Errorf("a dependency names what is not listed: %+v", dep)
		}
	}
	if first := s.Dependencies[0]; first.Ref != s.Metadata.Component.Ref || len(s.Dependencies) != len(s.Components)+1 || !slices.ContainsFunc(first.DependsOn, func(ref string) bool { return strings.Contains(ref, "go.etcd.io/bbolt@") }) || !slices.Contains(first.DependsOn, "pkg:npm/lit-html@"+want["lit-html"]) {
		t.Errorf("what app itself uses: %+v", first)
	}
}

// TestRefusals checks that errors are reported before anything is built, and that a failure leaves no file that looks
// complete.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	if _, err := throwAwayKey(); err != nil {
		t.Fatal(err)
	}
	none := write("none.key", []byte("no key"))
	for _, test := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--targets", "plan9/amd64"}, 2, "linux/amd64,linux/arm64,windows/amd64"},
		{[]string{"--formats", "exe"}, 2, "tar.gz, deb, rpm, zip, msi"},
		{[]string{"--version", "v1"}, 2, "1.4.0-rc.1"},
		{[]string{"now"}, 2, "now"},
		{[]string{"--sign-key", filepath.Join(dir, "absent")}, 1, "absent"},
		{[]string{"--sign-key", none}, 1, "not a minisign secret key"},
		{[]string{"--sign-key", secretKey()}, 1, "APP_SIGN_PASSWORD"},
	} {
		t.Setenv("APP_SIGN_PASSWORD", "")
		out := filepath.Join(dir, "out")
		var stderr bytes.Buffer
		if status := command(t.Context(), append([]string{"--out", out}, test.args...), os.Stderr, &stderr); status != test.status || !strings.Contains(stderr.String(), test.says) {
			t.Errorf("%v: status %d and %q, want %d and %q", test.args, status, &stderr, test.status, test.says)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%v: something was built", test.args)
		}
	}
}

// TestLicences checks that a licence is recognized by its text, and that a module with an unknown licence prevents a
// release.
func TestLicences(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n  Version 2.0, January 2004":                                                 "Apache-2.0",
		"Redistribution and use in source and\nbinary forms ... Neither the name of":                  "BSD-3-Clause",
		"Redistribution and use in source and binary forms":                                           "BSD-2-Clause",
		"Redistribution and use of this software in source and binary forms, ... Neither the name of": "BSD-3-Clause",
		"All rights reserved.": "",
	} {
		if got := recognise([]string{text}); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	p := &product{root: moduleOf(t), modules: []module{{Path: "northgate.example/x", Version: "v1", Dir: t.TempDir()}}}
	if err := p.collectLicences(t.Context()); err == nil || !strings.Contains(err.Error(), "northgate.example/x v1") {
		t.Errorf("a module without a licence: %v", err)
	}
	p.modules = []module{{Path: ownModule, Version: "1.0.0"}}
	if err := errors.Join(p.findVendored(), p.collectLicences(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nlit-html 3.", "(BSD-3-Clause)", "Copyright (c) 2017 Google LLC", "\n@codemirror/view 6.", "Copyright (C) 2018-2021 by Marijn Haverbeke", "\nuqr "} {
		if !strings.Contains(string(p.licences), want) {
			t.Errorf("the licences do not say %q", want)
		}
	}
}

// TestReadmeLinks checks that the links of an installation's README lead to its headings.
func TestReadmeLinks(t *testing.T) {
	readme, err := plantReadme(moduleOf(t))
	if err != nil {
		t.Fatal(err)
	}
	headings := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(readme), -1) {
		name := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(found[1]), "")
		headings[strings.ReplaceAll(name, " ", "-")] = true
	}
	links := regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(readme), -1)
	if len(links) == 0 {
		t.Error("it has no links")
	}
	for _, link := range links {
		if name, within := strings.CutPrefix(link[1], "#"); !within || !headings[name] {
			t.Errorf("the link %s has no target", link[1])
		}
	}
}
