package app

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"opsmon/app/host/backup"
	"opsmon/app/host/config"
	"opsmon/app/test/apptest"
)

// namingAll is an app.yaml that names a file with each setting that can, below a directory.
const namingAll = `# ours
tls: "DIR/plant.crt,DIR/plant.key" # by the plant's own authority
backup:
  # of nobody but us
  passphraseFile: "DIR/secret.txt"
plantBroker:
  url: mqtts://broker.plant.example
  topics: line/+
  ca: "DIR/broker-ca.pem" # from plant IT
  passwordFile: "DIR/broker.password"
`

// namedText is what the files that namingAll names hold, by their names.
var namedText = map[string]string{
	"plant.crt": "a certificate", "plant.key": "its key", "secret.txt": "correct horse\n", "broker-ca.pem": "an authority", "broker.password": "a password\n",
}

// naming returns an App whose app.yaml names a file with each setting that can, in the directory etc.
func naming(t *testing.T) (a *App, cfg config.Settings, etc string) {
	t.Helper()
	cfg, etc = testConfig(t), filepath.ToSlash(t.TempDir())
	for name, text := range namedText {
		apptest.WriteIn(t, etc, name, text)
	}
	apptest.WriteIn(t, cfg.DataDir, config.File, strings.ReplaceAll(namingAll, "DIR", etc))
	a, _ = opened(t, cfg)
	return a, cfg, etc
}

// removed removes files from a directory.
func removed(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRestoreBrings: the files that settings name come with an encrypted backup to a machine that lacks them, in a
// folder of the data directory that the settings name then. What somebody wrote into app.yaml stays. The next backup
// has them, too.
func TestRestoreBrings(t *testing.T) {
	apptest.Long(t)
	a, cfg, etc := naming(t)
	sealed := backedUp(t, a, "correct horse")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(sealed)
	if err != nil || bytes.Contains(b, []byte("its key")) {
		t.Errorf("the key can be read: %v", err)
	}
	text := apptest.ReadIn(t, cfg.DataDir, config.File)
	for name := range namedText {
		removed(t, etc, name)
	}
	there := testConfig(t)
	in := func(name string) string { return filepath.Join(there.DataDir, "files", name) }
	for range 2 { // the second time they are where the settings of the backup do not have them, and come again
		got, err := Restore(t.Context(), there, RestoreInput{Path: sealed, Name: "x", Passphrase: "correct horse"})
		at := func(name string) string { return filepath.FromSlash(etc) + string(filepath.Separator) + name }
		want := []BroughtFile{
			{Setting: "tls", Path: in("tls.crt"), Instead: at("plant.crt")}, {Setting: "tls", Path: in("tls.key"), Instead: at("plant.key")},
			{Setting: "backup.passphraseFile", Path: in("backup.passphrase"), Instead: at("secret.txt")},
			{Setting: "plantBroker.ca", Path: in("plantBroker.ca"), Instead: at("broker-ca.pem")},
			{Setting: "plantBroker.passwordFile", Path: in("plantBroker.password"), Instead: at("broker.password")},
		}
		for i, f := range got.Brought {
			got.Brought[i].Instead = filepath.Clean(f.Instead)
		}
		if err != nil || !slices.Equal(got.Brought, want) || len(got.Missing) != 0 || len(got.Omitted) != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	}
	for name, from := range map[string]string{"tls.crt": "plant.crt", "tls.key": "plant.key", "backup.passphrase": "secret.txt", "plantBroker.ca": "broker-ca.pem", "plantBroker.password": "broker.password"} {
		if info, err := os.Stat(in(name)); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 || apptest.ReadIn(t, there.DataDir, "files/"+name) != namedText[from] {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	now := apptest.ReadIn(t, there.DataDir, config.File)
	replaced := strings.NewReplacer(etc+"/plant.crt,"+etc+"/plant.key", "files/tls.crt,files/tls.key", etc+"/secret.txt", "files/backup.passphrase",
		etc+"/broker-ca.pem", "files/plantBroker.ca", etc+"/broker.password", "files/plantBroker.password")
	if want := replaced.Replace(text); now != want {
		t.Errorf("app.yaml is\n%s\nwant\n%s", now, want)
	}
	if names := strings.Join(namesIn(filepath.Join(there.DataDir, "files")), " "); strings.Count(names, ".before-restore-") != 5 || strings.Contains(names, "failed") {
		t.Errorf("the folder has %s", names)
	}
	here, err := config.Load(there.DataDir, os.Getenv)
	if err != nil || len(here.Missing()) != 0 {
		t.Errorf("%v are missing, %v", here.Missing(), err)
	}
	a, _ = opened(t, here)
	again, err := a.backupConfig()
	if err := errors.Join(err, a.Close()); err != nil || again.Passphrase != "correct horse" || len(again.Files) != 5 || again.Files[1].From != in("tls.key") {
		t.Errorf("the next backup has %+v, %v", again.Files, err)
	}
}

// TestRestoreWrongEnvironment: an environment that cannot be used brings no files that can be read here, and those that
// cannot are named by the settings as ever.
func TestRestoreWrongEnvironment(t *testing.T) {
	apptest.Long(t)
	a, _, etc := naming(t)
	in := RestoreInput{Path: backedUp(t, a, "correct horse"), Name: "x", Passphrase: "correct horse"}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("APP_AUDIT_DAYS", "many")
	there := testConfig(t)
	if got, err := Restore(t.Context(), there, in); err != nil || len(got.Brought) != 0 || slices.Contains(namesIn(there.DataDir), config.FilesDir) {
		t.Errorf("with all of them there: %+v, %v", got, err)
	}
	removed(t, etc, "broker-ca.pem")
	got, err := Restore(t.Context(), there, in)
	if err != nil || len(got.Brought) != 1 || got.Brought[0].Instead == "" || !strings.Contains(apptest.ReadIn(t, there.DataDir, config.File), "files/plantBroker.ca") {
		t.Errorf("without one: %+v, %v", got, err)
	}
}

// TestRestoreLeaves: what is there already is left as it is and named as before; a certificate and its key stay
// together. What the environment gives is not a matter of app.yaml.
func TestRestoreLeaves(t *testing.T) {
	apptest.Long(t)
	a, _, etc := naming(t)
	sealed, other := backedUp(t, a, "correct horse"), backedUp(t, a, "another passphrase")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	apptest.WriteIn(t, etc, "broker-ca.pem", "a newer authority")
	all := RestoreInput{Path: sealed, Name: "x", Passphrase: "correct horse"}
	there := testConfig(t)
	got, err := Restore(t.Context(), there, all)
	if err != nil || len(got.Brought) != 0 || len(got.Missing) != 0 || apptest.ReadIn(t, there.DataDir, config.File) != strings.ReplaceAll(namingAll, "DIR", etc) {
		t.Errorf("with all of them there: %+v, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(there.DataDir, config.FilesDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a folder: %v", err)
	}
	removed(t, etc, "plant.key", "broker.password")
	there = testConfig(t)
	got, err = Restore(t.Context(), there, all)
	if err != nil || fmt.Sprint(namesIn(filepath.Join(there.DataDir, config.FilesDir))) != "[plantBroker.password tls.crt tls.key]" || len(got.Missing) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if cfg, err := config.Load(there.DataDir, os.Getenv); err != nil || cfg.PlantBroker.CA != etc+"/broker-ca.pem" || apptest.ReadIn(t, etc, "broker-ca.pem") != "a newer authority" || apptest.ReadIn(t, etc, "plant.crt") != "a certificate" {
		t.Errorf("%+v, %v", cfg.PlantBroker, err)
	}
	// The passphrase of all backups is not in one that another passphrase opens.
	removed(t, etc, "secret.txt")
	secret := filepath.Join(filepath.FromSlash(etc), "secret.txt")
	there = testConfig(t)
	got, err = Restore(t.Context(), there, RestoreInput{Path: other, Name: "x", Passphrase: "another passphrase"})
	if err != nil || len(got.Brought) != 3 || len(got.Missing) != 1 || filepath.Clean(got.Missing[0]) != secret || len(got.Omitted) != 1 || !strings.Contains(got.Omitted[0], "opens other backups") {
		t.Errorf("%+v, %v", got, err)
	}
	t.Setenv("APP_PLANT_BROKER_PASSWORD_FILE", filepath.Join(etc, "elsewhere"))
	there = testConfig(t)
	got, err = Restore(t.Context(), there, all)
	if err != nil || slices.Contains(namesIn(filepath.Join(there.DataDir, config.FilesDir)), "plantBroker.password") || len(got.Missing) != 1 || filepath.Base(got.Missing[0]) != "elsewhere" {
		t.Errorf("with the environment: %+v, %v", got, err)
	}
}

// TestRestoreHostile: a backup does not say where a file goes, and its settings do not make a restore read a device.
func TestRestoreHostile(t *testing.T) {
	cfg := testConfig(t)
	device := map[bool]string{true: `\\.\NUL`, false: "/dev/zero"}[runtime.GOOS == "windows"]
	apptest.WriteIn(t, cfg.DataDir, config.File, "plantBroker:\n  url: mqtts://broker.plant.example\n  topics: line/+\n  ca: '"+device+"'\n  passwordFile: /nowhere/at/all\n")
	a, _ := opened(t, cfg)
	evil := func(name string) string {
		t.Helper()
		apptest.WriteIn(t, cfg.DataDir, name, "evil")
		file := filepath.Join(t.TempDir(), "x.backup")
		_, err := backup.Create(t.Context(), backup.Config{Store: a.store, Version: "x", Files: []backup.File{{Name: name}}}, file)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, name := range []string{"files/other", "files/sub/tls.key", "files/TLS.KEY", "control.sock.d", "upgrade.json"} {
		there := testConfig(t)
		if _, err := Restore(t.Context(), there, RestoreInput{Path: evil(name), Name: "x"}); err == nil || !strings.Contains(err.Error(), "holds "+name) {
			t.Errorf("%s: %v", name, err)
		}
		if names := namesIn(there.DataDir); slices.Contains(names, config.FilesDir) || slices.Contains(names, StoreFile) {
			t.Errorf("%s: there are %v", name, names)
		}
	}
	// One that no setting names is left out; one of a setting goes into the folder, wherever the setting has it.
	there := testConfig(t)
	got, err := Restore(t.Context(), there, RestoreInput{Path: evil("files/tls.key"), Name: "x"})
	if err != nil || len(got.Brought) != 0 || slices.Contains(namesIn(there.DataDir), config.FilesDir) {
		t.Errorf("%+v, %v", got, err)
	}
	there = testConfig(t)
	got, err = Restore(t.Context(), there, RestoreInput{Path: evil("files/plantBroker.password"), Name: "x"})
	if err != nil || len(got.Brought) != 1 || fmt.Sprint(got.Missing) != "["+device+"]" || apptest.ReadIn(t, there.DataDir, "files/plantBroker.password") != "evil" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Stat("/nowhere"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it wrote elsewhere: %v", err)
	}
	// A folder that leads elsewhere is refused.
	there = testConfig(t)
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(there.DataDir, config.FilesDir)); err != nil {
		t.Skip(err)
	}
	if _, err := Restore(t.Context(), there, RestoreInput{Path: evil("files/plantBroker.password"), Name: "x"}); err == nil || len(namesIn(elsewhere)) != 0 {
		t.Errorf("through a link: %v, %v", err, namesIn(elsewhere))
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRestoreBringsUnnamed: a file comes also where app.yaml is written so that only a person can change it, and is
// told.
func TestRestoreBringsUnnamed(t *testing.T) {
	apptest.Long(t)
	cfg := testConfig(t)
	const text = "smtp:\n  username: &same broker-ca.pem\nplantBroker:\n  url: mqtts://broker.plant.example\n  topics: line/+\n  ca: *same\n"
	apptest.WriteIn(t, cfg.DataDir, config.File, text)
	apptest.WriteIn(t, cfg.DataDir, "broker-ca.pem", "an authority")
	a, _ := opened(t, cfg)
	sealed := backedUp(t, a, "correct horse")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	there := testConfig(t)
	in := func(name string) string { return filepath.Join(there.DataDir, filepath.FromSlash(name)) }
	got, err := Restore(t.Context(), there, RestoreInput{Path: sealed, Name: "x", Passphrase: "correct horse"})
	want := []BroughtFile{{Setting: "plantBroker.ca", Path: in("files/plantBroker.ca"), Instead: in("broker-ca.pem")}}
	if err != nil || !slices.Equal(got.Brought, want) || !slices.Equal(got.Missing, []string{in("broker-ca.pem")}) || apptest.ReadIn(t, there.DataDir, config.File) != text {
		t.Errorf("%+v, %v", got, err)
	}
	if apptest.ReadIn(t, there.DataDir, "files/plantBroker.ca") != "an authority" {
		t.Error("it is not there")
	}
}

// TestNamedAtBackup: of the files that app.yaml names, those in the authority's folder are the service's own already,
// and an app.yaml that cannot be read keeps no backup from being made.
func TestNamedAtBackup(t *testing.T) {
	apptest.Long(t)
	cfg := testConfig(t)
	apptest.WriteIn(t, cfg.DataDir, "tls/plant.crt", "a certificate")
	apptest.WriteIn(t, cfg.DataDir, config.File, "tls: tls/plant.crt,plant.key\n")
	a, _ := opened(t, cfg)
	defer a.Close()
	m, err := backup.Inspect(backedUp(t, a, "correct horse"), "correct horse")
	if err != nil || len(m.Entries) != 3 || m.Entries[2].Name != "tls/plant.crt" || !slices.ContainsFunc(m.Omitted, func(name string) bool {
		return strings.HasPrefix(name, filepath.Join(cfg.DataDir, "plant.key")+" (")
	}) {
		t.Errorf("%+v, %v, %v", m.Entries, m.Omitted, err)
	}
	var log bytes.Buffer
	a.log = slog.New(slog.NewTextHandler(&log, nil))
	apptest.WriteIn(t, cfg.DataDir, config.File, "nmae: plant\n")
	m, err = backup.Inspect(backedUp(t, a, "correct horse"), "correct horse")
	if err != nil || len(m.Entries) != 3 || !strings.Contains(log.String(), "app.yaml line 1") || strings.Contains(log.String(), "nmae") {
		t.Errorf("%+v, %v; %s", m.Entries, err, log.String())
	}
}

// TestRestoreBringsKilled kills a restore that brings a certificate and its key at each of the steps of the exchange.
// The next start has the old settings with the old store, or the restored ones with the restored store and the files
// that they name.
func TestRestoreBringsKilled(t *testing.T) {
	apptest.Long(t)
	t.Parallel()
	program, err := killable()
	if err != nil {
		t.Fatal(err)
	}
	from, work := t.TempDir(), t.TempDir()
	apptest.Initialise(t, from, "--domain", "northgate.example")
	cert, key, _ := apptest.Certificate(t)
	apptest.WriteIn(t, from, config.File, "tls: '"+cert+","+key+"'\n")
	plant, secret := filepath.Join(work, "plant.backup"), filepath.Join(work, "secret.txt")
	apptest.WriteIn(t, work, "secret.txt", "correct horse\n")
	for _, args := range [][]string{{"backup", plant, "--passphrase-file", secret}, {"user", "add", "late@northgate.example", "--role", "member"}} {
		if out, stderr, status := apptest.Command(t, append(args, "--data-dir", from)...); status != 0 {
			t.Fatalf("%v: %s%s", args, out, stderr)
		}
	}
	apptest.WriteIn(t, from, config.File, "logLevel: warn\n")
	removed(t, "", cert, key)
	restored := map[bool]int{}
	for _, step := range []string{"settings changed", "journal written", "journal", "moved app.db", "moved app.yaml", "moved files/tls.crt", "moved", "the end"} {
		t.Run(step, func(t *testing.T) {
			dir := t.TempDir()
			apptest.CopyTree(t, from, dir)
			cmd := exec.Command(program, "restore", plant, "--yes", "--passphrase-file", secret, "--data-dir", dir)
			cmd.Env = append(os.Environ(), "APP_FAILPOINT="+step)
			if out, err := cmd.CombinedOutput(); (err == nil) != (step == "the end") {
				t.Fatalf("%v: %s", err, out)
			}
			p := apptest.StartService(t, dir)
			list, stderr, _ := apptest.Command(t, "user", "list", "--data-dir", dir)
			isNew := strings.HasPrefix(p.URL, "https://")
			if !strings.Contains(list, "it@northgate.example") || strings.Contains(list, "late@") == isNew {
				t.Errorf("%s serves %s%s", p.URL, list, stderr)
			}
			restored[isNew]++
			if text := apptest.ReadIn(t, dir, config.File); text != map[bool]string{false: "logLevel: warn\n", true: "tls: 'files/tls.crt,files/tls.key'\n"}[isNew] {
				t.Errorf("%s serves with %s", p.URL, text)
			}
			if names := namesIn(dir); slices.Contains(names, "restore.new") || slices.Contains(names, "restore.json") {
				t.Errorf("left behind: %v", names)
			}
		})
	}
	if restored[false] < 2 || restored[true] < 6 {
		t.Errorf("the old one was left and the restored one put in place: %v", restored)
	}
}
