package app

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"opsmon/app/host/backup"
	"opsmon/app/host/config"
)

// namedFiles are the files that app.yaml names now, or named when it could be read last, for an encrypted backup;
// others, which a flag or the environment names, would mean nothing to the settings that are in it. Those of the
// certificate authority's folder are in it as the service's own.
func (a *App) namedFiles(own []backup.File) (files []backup.File) {
	cfg, err := config.Load(a.cfg.DataDir, func(string) string { return "" })
	if err != nil {
		cfg = a.cfg // as it was when the service read it
	}
	for _, f := range cfg.Named() {
		if err != nil && cfg.FixedBy(f.Setting) != "" {
			continue
		}
		if !slices.ContainsFunc(own, func(o backup.File) bool { return filepath.Join(cfg.DataDir, filepath.FromSlash(o.Name)) == f.Path }) {
			files = append(files, backup.File{Name: f.Kept, From: f.Path, Secret: true, Opens: f.Setting == config.PassphraseSetting})
		}
	}
	return files
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
		if path.Dir(e.Name) == config.FilesDir && !slices.ContainsFunc(wanted, func(f config.NamedFile) bool { return f.Kept == e.Name }) {
			r.prepared.Leave(e.Name)
		}
	}
	r.result.Brought = []BroughtFile{}
	for _, f := range wanted {
		r.result.Brought = append(r.result.Brought, BroughtFile{Setting: f.Setting, Path: r.at(f.Kept), Instead: f.Path})
	}
	if len(values) == 0 {
		return nil
	}
	after, err := config.EditText(filepath.Join(r.cfg.DataDir, config.File), text, values)
	if err != nil {
		return nil // the settings are written in a way that only people can change; the result tells that a file is missing
	}
	return r.prepared.ChangeSettings(after)
}

// wanted returns the files of the backup that are to be put in place, and what the settings then say. A certificate and
// its key belong together, so both come when one of them is missing.
func (r *restore) wanted(text []byte) (files []config.NamedFile, values map[string]string) {
	cfg, err := config.Parse(r.cfg.DataDir, text, os.Getenv)
	if err != nil { // it may be the environment that is wrong, which is no fault of the backup
		cfg, err = config.Parse(r.cfg.DataDir, text, func(string) string { return "" })
	}
	if err != nil {
		return nil, nil // it was refused before
	}
	entries := r.prepared.Manifest.Entries
	missing := slices.DeleteFunc(cfg.Missing(), func(m config.MissingFile) bool { // what comes with the authority's folder does not
		return slices.ContainsFunc(entries, func(e backup.Entry) bool { return path.Dir(e.Name) == CertificateDir && r.at(e.Name) == m.Path })
	})
	parts, moved := map[string][]string{}, map[string]bool{}
	for _, f := range cfg.Named() {
		at := f.Path
		if cfg.FixedBy(f.Setting) == "" && slices.ContainsFunc(missing, func(m config.MissingFile) bool { return m.Setting == f.Setting }) &&
			slices.ContainsFunc(entries, func(e backup.Entry) bool { return e.Name == f.Kept }) {
			files, at = append(files, f), f.Kept
			moved[f.Setting] = moved[f.Setting] || r.at(f.Kept) != f.Path
		}
		parts[f.Setting] = append(parts[f.Setting], at)
	}
	values = map[string]string{}
	for setting, is := range moved {
		if is {
			values[setting] = strings.Join(parts[setting], ",")
		}
	}
	return files, values
}

// at returns the path of a file that the restore puts in place.
func (r *restore) at(name string) string {
	return filepath.Join(r.cfg.DataDir, filepath.FromSlash(name))
}
