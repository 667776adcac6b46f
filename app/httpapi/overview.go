package httpapi

import (
	"strconv"

	"opsmon/app/auth"
	"opsmon/schema"
)

// Appliance is how the appliance is, as GET /appliance tells administrators. Times are RFC 3339 in UTC.
type Appliance struct {
	Version     string                `json:"version"`
	Commit      string                `json:"commit"`    // "" when not known
	Platform    string                `json:"platform"`  // operating system and architecture
	StartedAt   *string               `json:"startedAt"` // of the service
	HostName    string                `json:"hostName"`  // the machine's own
	Name        *string               `json:"name"`      // that the network finds the appliance by; null where it does not answer to one
	DataDir     string                `json:"dataDir"`
	URL         string                `json:"url"`    // that links start with
	URLs        []string              `json:"urls"`   // by which people reach it, the best first
	Listen      []ListenPoint         `json:"listen"` // what is listened on
	TLS         string                `json:"tls"`    // off; auto: of its own authority; files: the plant's certificate; proxy: before the service
	Certificate *ApplianceCertificate `json:"certificate"`
	Store       *StoreStatus          `json:"store"`
	Disk        *DiskStatus           `json:"disk"` // that the store is on; null when it cannot be read
	Backup      ApplianceBackup       `json:"backup"`
	Retention   Retention             `json:"retention"`
	Clock       ClockStatus           `json:"clock"`
	Counts      ApplianceCounts       `json:"counts"`
	Warnings    []Warning             `json:"warnings"` // what needs a person; none when all is well
}

// ListenPoint is an address and port that is listened on.
type ListenPoint struct {
	Setting string `json:"setting"` // listen, clearListen, mqtt.listen or mqtt.insecure.listen
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
	Free  int64 `json:"free"`
	Total int64 `json:"total"`
}

// ApplianceBackup is how scheduled backups are made and how they are doing.
type ApplianceBackup struct {
	Settings  BackupSettings    `json:"settings"`
	Fixed     map[string]string `json:"fixed"` // settings that cannot be changed here, and where each is given: a flag or a variable
	Folder    string            `json:"folder"`
	Encrypted bool              `json:"encrypted"`
	Running   bool              `json:"running"`
	LastAt    *string           `json:"lastAt"` // of the newest in the folder, which was verified when it was made; null = none
	LastName  string            `json:"lastName"`
	LastBytes int64             `json:"lastBytes"`
	NextAt    *string           `json:"nextAt"` // null = none is scheduled
	Overdue   bool              `json:"overdue"`
	Problem   string            `json:"problem"` // of the last attempt; "" = it went well
}

// BackupSettings say when scheduled backups are made, and how many are kept.
type BackupSettings struct {
	At          string `json:"at"`    // time of day on the machine's clock
	Every       int    `json:"every"` // days from one to the next; 0 = none are made
	KeepDaily   int    `json:"keepDaily"`
	KeepWeekly  int    `json:"keepWeekly"`
	KeepMonthly int    `json:"keepMonthly"`
	MaxBytes    int    `json:"maxBytes"` // of all together; 0 = no limit
}

// Retention is how many days things are kept.
type Retention struct {
	SignalDays int `json:"signalDays"`
	WindowDays int `json:"windowDays"`
	AuditDays  int `json:"auditDays"`
}

// ClockStatus is the machine's clock.
type ClockStatus struct {
	Now          string `json:"now"`
	Zone         string `json:"zone"`         // of the machine: name and offset
	Believed     bool   `json:"believed"`     // it has run evenly, so that what has had its time is removed
	DevicesAhead int    `json:"devicesAhead"` // devices whose clock was more than two minutes ahead when they last sent
}

// ApplianceCounts counts what there is: accounts of the appliance, and of the caller's account the rest.
type ApplianceCounts struct {
	Accounts int `json:"accounts"`
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
	Code     string   `json:"code"` // for programs: backup, certificate, clock, …
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
