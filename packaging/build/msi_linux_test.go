package main

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// exported gives the rows of a table of an installer by their first cell, as another reader sees them.
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

// windows is a Windows of Wine's.
type windows struct {
	dir, wine, server string
	env               []string
}

func newWindows(t *testing.T) *windows {
	t.Helper()
	tools := needs(t, []string{"msibuild"}, []string{"wine64", "/usr/lib/wine/wine64", "wine"}, []string{"wineserver", "/usr/lib/wine/wineserver64", "/usr/lib/wine/wineserver"},
		[]string{"wineboot"}, []string{"x86_64-w64-mingw32-as"}, []string{"x86_64-w64-mingw32-ld"})
	w := &windows{dir: t.TempDir(), wine: tools[1], server: tools[2]}
	w.env = append(os.Environ(), "WINEPREFIX="+filepath.Join(w.dir, "w"), "WINEARCH=win64", "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=", "DISPLAY=")
	// Wine finds its server by the number of the prefix's directory, which the next test's may get: it is waited for.
	end := func() { _ = w.run(t, w.server, "-k"); _ = w.run(t, w.server, "-w") }
	t.Cleanup(end)
	run := func(args ...string) {
		t.Helper()
		if err := w.run(t, args...); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
	}
	for try := 1; ; try++ {
		err := w.run(t, tools[3], "-i")
		if err == nil {
			break
		}
		end()
		if err2 := os.RemoveAll(filepath.Join(w.dir, "w")); err2 != nil || try == 3 {
			t.Fatal(err, err2)
		}
		t.Logf("once more: %v", err) // another program's server of that number was about to end
	}
	run(w.wine, "winecfg", "-v", "win10")
	// Go takes its random bytes from a library that Wine 8 lacks; another one that it has gives the same.
	for name, text := range map[string]string{"b.def": "LIBRARY bcryptprimitives.dll\nEXPORTS\nProcessPrng = advapi32.SystemFunction036\n", "e.s": ".text\n"} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(tools[4], "e.s", "-o", "e.o")
	if library := w.path("windows/system32/bcryptprimitives.dll"); !exists(library) {
		run(tools[5], "-shared", "-e", "0", "-o", library, "e.o", "b.def")
	}
	return w
}

// path gives the place of a file of drive C.
func (w *windows) path(name string) string {
	return filepath.Join(w.dir, "w", "drive_c", filepath.FromSlash(name))
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// run runs a program on the machine's files. Its output goes to no pipe: Wine's server would hold that open.
func (w *windows) run(t *testing.T, args ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = w.dir, w.env
	return cmd.Run()
}

// calls gives what the probes were called with since the last time.
func (w *windows) calls(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile(w.path("calls.txt"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	_ = os.Remove(w.path("calls.txt"))
	return strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })
}

// probe makes the installer of a version whose program only notes how it is called.
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

// TestInstallerUnderWine installs, upgrades, refuses, undoes and removes with the Windows Installer of Wine, and looks
// at what it runs in which order. What app install does then is tried in the room app/service.
func TestInstallerUnderWine(t *testing.T) {
	if testing.Short() {
		t.Skip("making a Windows machine takes some seconds")
	}
	w := newWindows(t)
	one, two := probe(t, "1.0.0"), probe(t, "1.1.0-rc.1")
	exe, log := w.path("Program Files/app/app.exe"), filepath.Join(w.dir, "log.txt")
	step := func(what string, done bool, installed bool, calls []string, args ...string) {
		t.Helper()
		err := w.run(t, append(append([]string{w.wine, "msiexec"}, args...), "/qn", "/l*v", log)...)
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
	fail := w.path("fail-install")
	if err := os.WriteFile(fail, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// Wine takes the files away before it undoes the rest, so what would undo app install is not run there.
	step("an installation that fails", false, false, []string{"1.0.0 install"}, "/i", one)
	if err := os.Remove(fail); err != nil {
		t.Fatal(err)
	}
	step("an installation", true, true, []string{"1.0.0 install"}, "/i", one)
	if !exists(filepath.Join(filepath.Dir(exe), "LICENSES.txt")) {
		t.Error("the licences are not installed")
	}
	// Wine does not tell the old version that it makes room for another one, as Windows does; here it is told by hand.
	step("an upgrade", true, true, []string{"1.0.0 uninstall", "1.1.0-rc.1 install"}, "/i", two)
	step("an older version", false, true, []string{}, "/i", one)
	refuses := w.path("fail-backup")
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
