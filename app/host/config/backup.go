package config

import (
	"fmt"
	"maps"
	"slices"

	"opsmon/app/errdefs"
	"opsmon/app/host/backup"
)

// BackupPassphrase reads the passphrase of scheduled backups, "" when they are not encrypted. Error: *Error.
func (c Settings) BackupPassphrase() (string, error) {
	if c.Backup.PassphraseFile == "" {
		return "", nil
	}
	passphrase, err := backup.ReadPassphrase(c.Backup.PassphraseFile)
	if err != nil {
		return "", c.Wrong("backup.passphraseFile", "cannot be used: %w", err)
	}
	return passphrase, nil
}

// PassphraseProblem returns what is wrong with the passphrase of scheduled backups: it cannot be read, and none are made; or it is
// shorter than a new one may be. With such a one, from before that was a rule, they are still encrypted: a backup that is easier
// to open is better than none. Error: *Error.
func (c Settings) PassphraseProblem() error {
	passphrase, err := c.BackupPassphrase()
	if err != nil || passphrase == "" {
		return err
	}
	if err := backup.CheckNewPassphrase(passphrase); err != nil {
		return c.Wrong("backup.passphraseFile", "is weak: the first line of %s %w. Backups are still encrypted with it: "+
			"put a longer one there, and keep this one for those that it opens", c.Backup.PassphraseFile, err)
	}
	return nil
}

// BackupChange is a checked change of how scheduled backups are made.
type BackupChange struct {
	Backup   Backup            // after the change
	Settings map[string]string // that change, by their names in the file; empty when nothing does
	Detail   map[string]string // their values before and after, for the audit record
}

// ChangeBackup returns the change of was to new values, by the names of settings within backup. Errors: Invalid (the name of
// a setting), Conflict for one that app.yaml cannot change.
func (c Settings) ChangeBackup(was Backup, values map[string]string) (BackupChange, error) {
	change := BackupChange{Settings: map[string]string{}, Detail: map[string]string{}}
	cfg := c
	cfg.Backup, cfg.origins = was, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		before := fmt.Sprint(cfg.settings()["backup."+name])
		if before == values[name] {
			continue
		}
		if origin := c.FixedBy("backup." + name); origin != "" {
			return change, errdefs.New(errdefs.Conflict, "backup.%s is given by %s, which counts before app.yaml: change it there, or take it away there first", name, origin)
		}
		if err := cfg.Set("backup."+name, values[name], ""); err != nil {
			return change, errdefs.InvalidField(name, "%v", err)
		}
		change.Settings["backup."+name], change.Detail[name] = values[name], before+" -> "+values[name]
	}
	if len(change.Settings) == 0 {
		return change, nil
	}
	if err := cfg.checkBackup(); err != nil {
		return change, &errdefs.Error{Kind: errdefs.Invalid, Message: err.Error(), Err: err}
	}
	change.Backup = cfg.Backup
	return change, nil
}
