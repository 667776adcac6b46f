//go:build rig

package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/host/service/winetest"
)

// exported returns the rows of an installer's table by their first cell, read with another program.
func exported(t *testing.T, msi, table string) map[string][]string {
	t.Helper()
	out, err := output(t.Context(), "", nil, "msiinfo", "export", msi, table)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for i, line := range strings.Split(strings.TrimRight(strings.TrimLeft(out, "\r\n"), "\r\n\x00"), "\r\n") {
		if cells := strings.Split(line, "\t"); i > 2 {
			rows[cells[0]] = cells
		}
	}
	return rows
}

// TestInstallerTables reads the installer's tables and files back.
func TestInstallerTables(t *testing.T) {
	needs(t, []string{"msibuild"}, []string{"msiinfo"}, []string{"msiextract"})
	d, next := releaseOf(t, "1.0.0"), releaseOf(t, "1.1.0")
	msi := d.file(t, "_x64.msi")

	property := exported(t, msi, "Property")
	for name, want := range map[string]string{"ProductVersion": "1.0.0", "UpgradeCode": upgradeCode, "ALLUSERS": "1"} {
		if property[name] == nil || property[name][1] != want {
			t.Errorf("%s is %v, want %s", name, property[name], want)
		}
	}
	for of, codes := range map[string][2]string{
		"product": {property["ProductCode"][1], exported(t, next.file(t, "_x64.msi"), "Property")["ProductCode"][1]},
		"package": {exported(t, msi, "_SummaryInformation")["9"][1], exported(t, next.file(t, "_x64.msi"), "_SummaryInformation")["9"][1]},
	} {
		if len(codes[0]) != 38 || codes[0] != strings.ToUpper(codes[0]) || codes[0] == codes[1] {
			t.Errorf("the codes of two versions' %s: %v", of, codes)
		}
	}

	at := map[string]int{}
	for name, cells := range exported(t, msi, "InstallExecuteSequence") {
		n, err := strconv.Atoi(cells[2])
		if err != nil {
			t.Fatal(err)
		}
		at[name] = n
	}
	for _, order := range [][]string{
		{"InstallValidate", "InstallInitialize", "RemoveExistingProducts", "ProcessComponents", "InstallFinalize"},
		{"InstallInitialize", "BackUp", "StopServices", "UninstallService", "RemoveFiles", "InstallFiles", "UndoInstallService", "InstallService", "InstallFinalize"},
	} {
		for i, name := range order[1:] {
			if before := order[i]; at[before] == 0 || at[before] >= at[name] {
				t.Errorf("%s is at %d, %s at %d", before, at[before], name, at[name])
			}
		}
	}
	for name, cells := range exported(t, msi, "CustomAction") {
		kind, err := strconv.Atoi(cells[1])
		if err != nil || kind&runInstalled != runInstalled || cells[2] != "f.app.exe" || at[name] == 0 {
			t.Errorf("the custom action %v at %d", cells, at[name])
		}
	}
	if stop := exported(t, msi, "ServiceControl")["StopApp"]; stop == nil || stop[1] != "app" || stop[2] != "34" {
		t.Errorf("the service is stopped by %v", stop)
	}

	dir := t.TempDir()
	if _, err := output(t.Context(), dir, nil, "msiextract", msi); err != nil {
		t.Fatal(err)
	}
	src, err := describe(t.Context(), moduleOf(t), "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if want, got := unpack(t, d.file(t, ".zip"), src.Time), files(t, filepath.Join(dir, "app")); !maps.EqualFunc(want, got, bytes.Equal) {
		t.Errorf("the installer holds other files than the archive: %v and %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	if out, err := output(t.Context(), "", nil, "msiinfo", "suminfo", msi); err != nil || !strings.Contains(out, "x64;1033") || !strings.Contains(out, src.Time.Format("Jan _2 15:04:05 2006")) {
		t.Errorf("the summary, %v:\n%s", err, out)
	}
}

// windows is a Windows machine with Wine's Windows Installer.
type windows struct{ *winetest.Machine }

func newWindows(t *testing.T) *windows {
	t.Helper()
	needs(t, []string{"msibuild"})
	w := &windows{winetest.New(t)}
	if err := w.Run(w.Wine, "winecfg", "-v", "win10"); err != nil {
		t.Fatal(err)
	}
	return w
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// calls returns the calls of the probes since the last time.
func (w *windows) calls(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile(w.Path("calls.txt"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	_ = os.Remove(w.Path("calls.txt"))
	return strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })
}

// probe makes the installer of a version whose program only records its calls.
func probe(t *testing.T, version string) string {
	t.Helper()
	p := &product{source: source{Version: version, Commit: "c", Time: time.Unix(1e9, 0).UTC()}, target: target{"windows", "amd64"}, root: moduleOf(t), dir: t.TempDir(), out: t.TempDir()}
	p.binary = filepath.Join(p.dir, "app.exe")
	if _, err := output(t.Context(), p.root, p.goVariables(), "go", "build", "-ldflags", "-X main.version="+version, "-o", p.binary, "./packaging/build/testdata/probe"); err != nil {
		t.Fatal(err)
	}
	if err := installer(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(p.out, p.made[0])
}

// TestInstallerUnderWine installs, upgrades, refuses, rolls back and removes with Wine's Windows Installer, and
// checks the order of the custom actions. The tests of app/host/service cover app install itself.
func TestInstallerUnderWine(t *testing.T) {
	if testing.Short() {
		t.Skip("making a Windows machine takes some seconds")
	}
	w := newWindows(t)
	one, two := probe(t, "1.0.0"), probe(t, "1.1.0-rc.1")
	exe, log := w.Path("Program Files/app/app.exe"), filepath.Join(w.Dir, "log.txt")
	step := func(what string, done bool, installed bool, calls []string, args ...string) {
		t.Helper()
		err := w.Run(w.Wine, append(append([]string{"msiexec"}, args...), "/qn", "/l*v", log)...)
		said, _ := os.ReadFile(log)
		said = bytes.ReplaceAll(said, []byte{0}, nil)
		if (err == nil) != done {
			t.Fatalf("%s: %v\n%s", what, err, said)
		}
		if exists(exe) != installed {
			t.Errorf("%s: the program is there: %v\n%s", what, exists(exe), said)
		}
		if diff := cmp.Diff(calls, w.calls(t)); diff != "" {
			t.Errorf("%s: it ran other programs than it should (-want): %s", what, diff)
		}
	}
	fail := w.Path("fail-install")
	if err := os.WriteFile(fail, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// Wine removes the files before it rolls back, so the rollback of app install does not run there.
	step("an installation that fails", false, false, []string{"1.0.0 install"}, "/i", one)
	if err := os.Remove(fail); err != nil {
		t.Fatal(err)
	}
	step("an installation", true, true, []string{"1.0.0 install"}, "/i", one)
	if !exists(filepath.Join(filepath.Dir(exe), "LICENSES.txt")) {
		t.Error("the licences are not installed")
	}
	// Unlike Windows, Wine does not inform the old version of the upgrade; the test does.
	step("an upgrade", true, true, []string{"1.0.0 uninstall", "1.1.0-rc.1 install"}, "/i", two)
	step("an older version", false, true, []string{}, "/i", one)
	refuses := w.Path("fail-backup")
	if err := os.WriteFile(refuses, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	step("a removal for an upgrade, without a backup", false, true, []string{"1.1.0-rc.1 backup"}, "/x", two, "UPGRADINGPRODUCTCODE={0}")
	if err := os.Remove(refuses); err != nil {
		t.Fatal(err)
	}
	step("a removal for an upgrade", true, false, []string{"1.1.0-rc.1 backup"}, "/x", two, "UPGRADINGPRODUCTCODE={0}")
	step("an installation", true, true, []string{"1.1.0-rc.1 install"}, "/i", two)
	step("a removal", true, false, []string{"1.1.0-rc.1 uninstall"}, "/x", two)
}
