package app

import "os"

// MissingFile is a file that a setting names and that cannot be read.
type MissingFile struct {
	Setting, Path string
	Err           error // *SettingError
}

// Missing gives the files that the settings name and that cannot be read. They are in no backup.
func (c Config) Missing() (list []MissingFile) {
	cert, key, _ := c.certificate() // Check tells what is wrong with it
	for _, named := range []MissingFile{
		{Setting: "tls", Path: cert}, {Setting: "tls", Path: key}, {Setting: "backup.passphraseFile", Path: c.Backup.PassphraseFile},
		{Setting: "plantBroker.ca", Path: c.PlantBroker.CA}, {Setting: "plantBroker.passwordFile", Path: c.PlantBroker.PasswordFile},
	} {
		if named.Path == "" {
			continue
		}
		if _, err := os.ReadFile(named.Path); err != nil {
			named.Err = c.wrong(named.Setting, "names a file that cannot be read: %w", err)
			list = append(list, named)
		}
	}
	return list
}
