package httpapi

import (
	"context"

	"opsmon/app/audit"
	"opsmon/app/host/backup"
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

// RestoreState tells of a restore that goes on in the background, or has ended.
type RestoreState struct {
	Name      string         `json:"name"`  // of the backup
	State     string         `json:"state"` // running, done or failed
	StartedAt audit.Time     `json:"startedAt"`
	EndedAt   *audit.Time    `json:"endedAt"`
	Error     string         `json:"error"`  // why it failed; what was there before is in its place
	Result    *RestoreResult `json:"result"` // what it has changed
}

// RestoreInput says which backup is to be restored.
type RestoreInput struct {
	Path       string      // of the backup
	Name       string      // as people know it
	Passphrase string      // of an encrypted one
	By         audit.Actor // who asks for it
	Progress   func(done, total int64)
}

// RestoreResult says what a restore has changed.
type RestoreResult struct {
	MadeAt              audit.Time      `json:"madeAt"`              // when the backup was made
	App                 string          `json:"app"`                 // version of the program that made it
	Previous            string          `json:"previous"`            // path of the store that was there before; "" when there was none
	Settings            backup.Settings `json:"settings"`            // what became of app.yaml
	SettingsProblem     string          `json:"settingsProblem"`     // what keeps the backup's from being used, with line and name; "" = nothing does
	SettingsFile        string          `json:"settingsFile"`        // path of the backup's that cannot be used; "" = they can
	SettingsChanged     bool            `json:"settingsChanged"`     // they are others than before: they hold from the next start
	CertificatesChanged bool            `json:"certificatesChanged"` // those of the certificate authority came with the backup
	NewAuthority        bool            `json:"newAuthority"`        // its keys were left out and there are none: a new one is made
	Omitted             []string        `json:"omitted"`             // what was left out of the backup: secrets, and what could not be read
	Brought             []BroughtFile   `json:"brought"`             // files that the settings name, which came with the backup
	Missing             []string        `json:"missing"`             // paths of files that the settings name, which did not and cannot be read here
}

// BroughtFile is a file that came with a backup, because its settings name one that cannot be read here.
type BroughtFile struct {
	Setting string `json:"setting"`
	Path    string `json:"path"`    // where it is, in the data directory
	Instead string `json:"instead"` // that the backup's settings name; "" when they cannot be read
}
