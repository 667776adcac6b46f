package config

import (
	"opsmon/app/host/backup"
	"opsmon/app/host/namedfile"
)

// FilesDir is the folder in the data directory where a restore puts files that settings name.
const FilesDir = "files"

// NamedFile is a file that a setting names.
type NamedFile struct{ Setting, Kept, Path string }

// NameableFile is a file that a setting can name. path returns "" if it names none.
type NameableFile struct {
	Setting, Kept string
	path          func(c Settings) string
}

// Nameable are the files that settings can name. kept is the name of the file in backups, and where a restore puts it,
// whatever its path was.
var Nameable = []NameableFile{
	{"tls", FilesDir + "/tls.crt", func(c Settings) string { cert, _, _ := c.CertificateFiles(); return cert }}, // Check returns what is wrong with it
	{"tls", FilesDir + "/tls.key", func(c Settings) string { _, key, _ := c.CertificateFiles(); return key }},
	{PassphraseSetting, FilesDir + "/backup.passphrase", func(c Settings) string { return c.Backup.PassphraseFile }},
	{"plantBroker.ca", FilesDir + "/plantBroker.ca", func(c Settings) string { return c.PlantBroker.CA }},
	{"plantBroker.passwordFile", FilesDir + "/plantBroker.password", func(c Settings) string { return c.PlantBroker.PasswordFile }},
}

// Named returns the files that the settings name.
func (c Settings) Named() (list []NamedFile) {
	for _, f := range Nameable {
		if path := f.path(c); path != "" {
			list = append(list, NamedFile{f.Setting, f.Kept, path})
		}
	}
	return list
}

// IsNamed reports whether an entry of a backup is a file that settings name.
func IsNamed(e backup.Entry) bool {
	for _, f := range Nameable {
		if f.Kept == e.Name {
			return e.Kind == backup.KindFile
		}
	}
	return false
}

// PassphraseSetting is the setting that names the file with the passphrase of scheduled backups.
const PassphraseSetting = "backup.passphraseFile"

// MissingFile is a file that a setting names and that cannot be read.
type MissingFile struct {
	Setting, Path string
	Err           error // *Error
}

// Missing returns the files that the settings name and that cannot be read.
func (c Settings) Missing() (list []MissingFile) {
	for _, f := range c.Named() {
		if _, err := namedfile.Read(f.Path); err != nil {
			list = append(list, MissingFile{f.Setting, f.Path, c.Wrong(f.Setting, "names a file that cannot be read: %w", err)})
		}
	}
	return list
}
