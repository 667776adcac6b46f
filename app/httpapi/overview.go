package httpapi

import (
	"strconv"

	"opsmon/app/auth"
	"opsmon/schema"
)

// Appliance is how the appliance is.
//
//openapi:schema Appliance
type Appliance struct {
	Version   string  `json:"version"`
	Commit    string  `json:"commit"`                        // empty when not known
	Platform  string  `json:"platform"`                      // operating system and architecture
	StartedAt *string `json:"startedAt" schema:"ref=Moment"` // of the service
	HostName  string  `json:"hostName"`                      // the machine's own name
	// The name by which the network finds the appliance; null where it answers to none.
	Name    *string       `json:"name"`
	DataDir string        `json:"dataDir"`
	URL     string        `json:"url"`    // what one-time links start with
	URLs    []string      `json:"urls"`   // by which people reach the appliance, the best first
	Listen  []ListenPoint `json:"listen"` // what is listened on
	// By the appliance's own authority (auto), by the plant's certificate (files), or TLS ends before the service (proxy).
	TLS         string                `json:"tls" schema:"enum=off|auto|files|proxy"`
	Certificate *ApplianceCertificate `json:"certificate"` // null without TLS
	Store       *StoreStatus          `json:"store"`       // the store's file
	// That the store is on, in bytes; null when it cannot be read.
	Disk      *DiskStatus     `json:"disk"`
	Backup    ApplianceBackup `json:"backup"`
	Retention Retention       `json:"retention"` // how many days things are kept
	Clock     ClockStatus     `json:"clock"`
	Counts    ApplianceCounts `json:"counts"`
	Warnings  []Warning       `json:"warnings"` // what needs a person
}

// ListenPoint is an address and port that is listened on.
type ListenPoint struct {
	Setting string `json:"setting"` // the name of its setting, such as listen or mqtt.listen
	Address string `json:"address"`
	TLS     bool   `json:"tls"`
}

// ApplianceCertificate is the certificate that the service shows, and how long it is good for.
type ApplianceCertificate struct {
	CertificateStatus
	DaysLeft int `json:"daysLeft"` // whole days; negative when it has ended
}

// DiskStatus is the room on a disk, in bytes.
type DiskStatus struct {
	Free  int64 `json:"free" schema:"min=0"`
	Total int64 `json:"total" schema:"min=0"`
}

// ApplianceBackup is how scheduled backups are made, and how they are doing.
//
//openapi:schema ApplianceBackup
type ApplianceBackup struct {
	Settings BackupSettings `json:"settings"`
	// Settings that cannot be changed here, and the flag or the variable that gives each.
	Fixed     map[string]string `json:"fixed"`
	Folder    string            `json:"folder"`
	Encrypted bool              `json:"encrypted"`
	Running   bool              `json:"running"` // one is being made
	// Of the newest in the folder, which was verified when it was made; null: none.
	LastAt    *string `json:"lastAt" schema:"ref=Moment"`
	LastName  string  `json:"lastName"`
	LastBytes int64   `json:"lastBytes" schema:"min=0"`
	NextAt    *string `json:"nextAt" schema:"ref=Moment"` // null: none is scheduled
	Overdue   bool    `json:"overdue"`
	Problem   string  `json:"problem"` // of the last attempt; empty when it went well
}

// BackupSettings is when scheduled backups are made, and how many are kept.
//
//openapi:schema BackupSettingsNow
type BackupSettings struct {
	At          string `json:"at"`                   // time of day on the machine's clock
	Every       int    `json:"every" schema:"min=0"` // days from one to the next; 0: none are made
	KeepDaily   int    `json:"keepDaily"`
	KeepWeekly  int    `json:"keepWeekly"`
	KeepMonthly int    `json:"keepMonthly"`
	MaxBytes    int    `json:"maxBytes" schema:"min=0"` // of all scheduled ones together; 0: no limit
}

// Retention is how many days things are kept.
type Retention struct {
	SignalDays int `json:"signalDays"`
	WindowDays int `json:"windowDays"`
	AuditDays  int `json:"auditDays"`
}

// ClockStatus is the machine's clock.
type ClockStatus struct {
	Now      string `json:"now" schema:"ref=Moment"`
	Zone     string `json:"zone"`     // of the machine
	Believed bool   `json:"believed"` // it has run evenly, so that what has had its time is removed
	// Devices whose clock was more than two minutes ahead when they last sent.
	DevicesAhead int `json:"devicesAhead" schema:"min=0"`
}

// ApplianceCounts counts what there is: accounts of the appliance, and of the caller's account the rest.
type ApplianceCounts struct {
	Accounts int `json:"accounts"` // of the appliance, archived ones aside
	Users    int `json:"users"`
	Tablets  int `json:"tablets"`
	Devices  int `json:"devices"`
}

// Severity says how bad a Warning is.
type Severity string

// The severities.
const (
	SeverityWarning Severity = "warning" // somebody should look into it
	SeverityProblem Severity = "problem" // something does not work, or soon will not
)

// Warning is something that needs a person.
type Warning struct {
	Code     string   `json:"code"` // for programs, such as backup or certificate
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Action   string   `json:"action"` // what to do
}

// getAppliance answers GET /appliance.
func getAppliance(c *call) (reply, error) {
	out := c.api.cfg.Appliance()
	out.Counts.Accounts = len(c.api.cfg.Accounts.List(false))
	for _, kind := range []struct {
		n     *int
		count func() (int, error)
	}{
		{&out.Counts.Users, counted(c.p, c.api.cfg.Auth.ListUsers)},
		{&out.Counts.Tablets, counted(c.p, c.api.cfg.Auth.ListTablets)},
		{&out.Counts.Devices, counted(c.p, c.api.cfg.Auth.ListDevices)},
	} {
		var err error
		if *kind.n, err = kind.count(); err != nil {
			return reply{}, err
		}
	}
	return ok(out)
}

// putBackupSettings answers PUT /appliance/backup-settings.
func putBackupSettings(c *call) (reply, error) {
	var in map[string]any
	if err := c.decode(schema.BackupSettings, false, &in); err != nil {
		return reply{}, err
	}
	if err := c.writable(); err != nil {
		return reply{}, err
	}
	values := make(map[string]string, len(in))
	for name, v := range in {
		if n, isNumber := v.(float64); isNumber {
			values[name] = strconv.FormatInt(int64(n), 10)
			continue
		}
		values[name], _ = v.(string) // which the schema says it is
	}
	if err := c.api.cfg.ChangeBackups(values, c.p.Actor()); err != nil {
		return reply{}, err
	}
	return ok(c.api.cfg.Appliance().Backup)
}

// counted counts what a list for a caller has.
func counted[T any](p auth.Principal, list func(auth.Principal) ([]T, error)) func() (int, error) {
	return func() (int, error) {
		all, err := list(p)
		return len(all), err
	}
}
