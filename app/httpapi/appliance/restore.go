package appliance

import (
	"context"

	"opsmon/app/audit"
	"opsmon/app/host/backup"
	"opsmon/app/instant"
)

// Restorer puts backups in the place of the store.
type Restorer interface {
	// Restore does so and waits for it. Errors: those of package backup; Conflict.
	Restore(ctx context.Context, in RestoreInput) (RestoreResult, error)
	// Begin does so in the background, and State tells how it goes. Error: Conflict when one is under way.
	Begin(in RestoreInput) (*RestoreState, error)
	// State tells of the restore that Begin began last; nil when there was none.
	State() *RestoreState
}

// RestoreState is a restore.
//
//openapi:schema Restore
type RestoreState struct {
	Name      string        `json:"name"` // name of the backup
	State     string        `json:"state" schema:"enum=running|done|failed"`
	StartedAt instant.Time  `json:"startedAt"`
	EndedAt   *instant.Time `json:"endedAt"` // end; null while it runs
	// Why it failed; the previous store is in place again. Empty if it did not fail.
	Error  string         `json:"error"`
	Result *RestoreResult `json:"result"` // result; null until it is done
}

// RestoreInput says which backup is to be restored.
type RestoreInput struct {
	Path       string      // name of the backup
	Name       string      // as people know it
	Passphrase string      // of an encrypted one
	By         audit.Actor // who asks for it
	Progress   func(done, total int64)
	// WithoutSettings leaves the settings of the backup, and the files that they name, in the backup.
	WithoutSettings bool
}

// RestoreResult is the result of a restore.
//
//openapi:schema Restored
type RestoreResult struct {
	MadeAt instant.Time `json:"madeAt"` // when the backup was made
	App    string       `json:"app"`    // version of the program that made the backup
	// Path of the previous store; empty if there was none.
	Previous string `json:"previous"`
	// Outcome for app.yaml. absent: the backup has none. restored: the backup's replaces the present one. kept: the
	// present one stays, because the backup's lacks secrets. redacted: the backup's without its secrets, because no
	// usable one is present. left: the present one stays, because the backup's was left out on request.
	Settings backup.Settings `json:"settings"`
	// The settings changed. They take effect at the next start.
	SettingsChanged     bool `json:"settingsChanged"`
	CertificatesChanged bool `json:"certificatesChanged"` // the certificate authority came with the backup
	// A new certificate authority is made, because neither the backup nor the appliance has its keys.
	NewAuthority bool `json:"newAuthority"`
	// What the backup omits: secrets, and files that could not be read, with the reason in brackets.
	Omitted []string `json:"omitted"`
	// Files that the backup's settings name and that could not be read here: the backup's are in the data directory
	// now, and the settings name those.
	Brought []BroughtFile `json:"brought"`
	// Paths of files that the settings name, that cannot be read here and were not in the backup.
	Missing []string `json:"missing"`
}

// BroughtFile is a file that came with a backup, because its settings name one that cannot be read here.
type BroughtFile struct {
	Setting string `json:"setting"`
	Path    string `json:"path"`    // path of the file now
	Instead string `json:"instead"` // path in the backup's settings
}
