package app

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"opsmon/app/host/backup"
	"opsmon/app/host/namedfile"
)

// NamedDir is the folder in the data directory where a restore puts files that settings name.
const NamedDir = "files"

// namedFile is a file that a setting names.
type namedFile struct{ setting, kept, path string }

// nameableFile is a file that settings can name. path gives "" where they name none.
type nameableFile struct {
	setting, kept string
	path          func(c Config) string
}

// nameable are the files that settings can name. kept is what one is called in backups and where a restore puts it, whatever
// its path was.
var nameable = []nameableFile{
	{"tls", NamedDir + "/tls.crt", func(c Config) string { cert, _, _ := c.certificate(); return cert }}, // Check tells what is wrong with it
	{"tls", NamedDir + "/tls.key", func(c Config) string { _, key, _ := c.certificate(); return key }},
	{passphraseSetting, NamedDir + "/backup.passphrase", func(c Config) string { return c.Backup.PassphraseFile }},
	{"plantBroker.ca", NamedDir + "/plantBroker.ca", func(c Config) string { return c.PlantBroker.CA }},
	{"plantBroker.passwordFile", NamedDir + "/plantBroker.password", func(c Config) string { return c.PlantBroker.PasswordFile }},
}

// named gives the files that the settings name.
func (c Config) named() (list []namedFile) {
	for _, f := range nameable {
		if path := f.path(c); path != "" {
			list = append(list, namedFile{f.setting, f.kept, path})
		}
	}
	return list
}

// isNamed tells whether an entry of a backup is a file that settings name.
func isNamed(e backup.Entry) bool {
	for _, f := range nameable {
		if f.kept == e.Name {
			return e.Kind == backup.KindFile
		}
	}
	return false
}

// passphraseSetting is the setting that names the file with the passphrase of scheduled backups.
const passphraseSetting = "backup.passphraseFile"

// MissingFile is a file that a setting names and that cannot be read.
type MissingFile struct {
	Setting, Path string
	Err           error // *SettingError
}

// Missing gives the files that the settings name and that cannot be read.
func (c Config) Missing() (list []MissingFile) {
	for _, f := range c.named() {
		if _, err := namedfile.Read(f.path); err != nil {
			list = append(list, MissingFile{f.setting, f.path, c.wrong(f.setting, "names a file that cannot be read: %w", err)})
		}
	}
	return list
}

// namedFiles are the files that app.yaml names now, or named when it could be read last, for an encrypted backup; others, which
// a flag or the environment names, would mean nothing to the settings that are in it. Those of the certificate authority's
// folder are in it as the service's own.
func (a *App) namedFiles(own []backup.File) (files []backup.File) {
	cfg, err := ReadConfig(a.cfg.DataDir, func(string) string { return "" })
	if err != nil {
		cfg = a.cfg // as it was when the service read it
	}
	for _, f := range cfg.named() {
		if err != nil && cfg.fixed(f.setting) != "" {
			continue
		}
		if !slices.ContainsFunc(own, func(o backup.File) bool { return filepath.Join(cfg.DataDir, filepath.FromSlash(o.Name)) == f.path }) {
			files = append(files, backup.File{Name: f.kept, From: f.path, Secret: true, Opens: f.setting == passphraseSetting})
		}
	}
	return files
}

// unnamed gives the files of the backup whose settings cannot be read: all that take the place of nothing here.
func (r *restore) unnamed() (files []namedFile) {
	for _, f := range nameable {
		if slices.ContainsFunc(r.prepared.Manifest.Entries, func(e backup.Entry) bool { return e.Name == f.kept }) && !r.taken(f.setting) {
			files = append(files, namedFile{f.setting, f.kept, ""})
		}
	}
	return files
}

// taken tells whether a file lies already where one that a setting names would be put: the settings that are here may name it.
func (r *restore) taken(setting string) bool {
	return slices.ContainsFunc(nameable, func(f nameableFile) bool {
		_, err := os.Lstat(r.at(f.kept))
		return f.setting == setting && !errors.Is(err, os.ErrNotExist)
	})
}

// bring has those files of a backup put in place that its settings name and that cannot be read here, below the data
// directory, and has its settings name them there. Where a file goes is never said by the backup. The others are left.
func (r *restore) bring() error {
	text, err := r.prepared.Settings()
	if err != nil {
		return err
	}
	wanted, values := r.wanted(text)
	for _, e := range slices.Clone(r.prepared.Manifest.Entries) {
		if path.Dir(e.Name) == NamedDir && !slices.ContainsFunc(wanted, func(f namedFile) bool { return f.kept == e.Name }) {
			r.prepared.Leave(e.Name)
		}
	}
	r.result.Brought = []BroughtFile{}
	for _, f := range wanted {
		r.result.Brought = append(r.result.Brought, BroughtFile{Setting: f.setting, Path: r.at(f.kept), Instead: f.path})
	}
	if len(values) == 0 {
		return nil
	}
	after, err := editText(filepath.Join(r.cfg.DataDir, ConfigFile), text, values)
	if err != nil {
		return nil // the settings are written in a way that only people can change; the result tells that a file is missing
	}
	return r.prepared.ChangeSettings(after)
}

// wanted gives the files of the backup that are to be put in place, and what the settings then say. A certificate and its
// key belong together, so both come when one of them is missing.
func (r *restore) wanted(text []byte) (files []namedFile, values map[string]string) {
	cfg, err := parseConfig(r.cfg.DataDir, text, os.Getenv)
	if err != nil { // it may be the environment that is wrong, which is no fault of the backup
		cfg, err = parseConfig(r.cfg.DataDir, text, func(string) string { return "" })
	}
	if err != nil {
		return r.unnamed(), nil // the result tells what is wrong
	}
	entries := r.prepared.Manifest.Entries
	missing := slices.DeleteFunc(cfg.Missing(), func(m MissingFile) bool { // what comes with the authority's folder does not
		return slices.ContainsFunc(entries, func(e backup.Entry) bool { return path.Dir(e.Name) == CertificateDir && r.at(e.Name) == m.Path })
	})
	parts, moved := map[string][]string{}, map[string]bool{}
	for _, f := range cfg.named() {
		at := f.path
		if cfg.fixed(f.setting) == "" && (r.prepared.Unusable == nil || !r.taken(f.setting)) && slices.ContainsFunc(missing, func(m MissingFile) bool { return m.Setting == f.setting }) &&
			slices.ContainsFunc(entries, func(e backup.Entry) bool { return e.Name == f.kept }) {
			files, at = append(files, f), f.kept
			moved[f.setting] = moved[f.setting] || r.at(f.kept) != f.path
		}
		parts[f.setting] = append(parts[f.setting], at)
	}
	values = map[string]string{}
	for setting, is := range moved {
		if is {
			values[setting] = strings.Join(parts[setting], ",")
		}
	}
	return files, values
}

// at gives the path of a file that the restore puts in place.
func (r *restore) at(name string) string {
	return filepath.Join(r.cfg.DataDir, filepath.FromSlash(name))
}
