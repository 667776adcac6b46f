package appliance

import (
	"net/http"
	"strconv"

	"opsmon/app/auth"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/schema"
)

// applianceRoutes are the operations on the appliance.
func (api *API) applianceRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/appliance", Handle: api.getAppliance, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "getAppliance", Tag: "Admin", Summary: "Read the appliance's state",
				About: "Version, uptime and address, the certificate, the store and its disk, backups, retention, " +
					"the clock, and what needs attention. `warnings` has the codes `backup`, `noSchedule`, " +
					"`settings`, `certificate`, `clock`, `clockDoubted`, `timeZone`, `deviceClocks`, `disk`, " +
					"`storeFull`, `plantBroker` and `address`; more may be added. Users, tablets and devices are " +
					"those of the caller's account.",
				Answer: "The appliance's state.", Form: openapi.FormResult, Gives: "Appliance", Sample: applianceSample,
			},
		},
		{
			Method: http.MethodPut, Path: "/appliance/backup-settings", Handle: api.putBackupSettings, Body: true,
			Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "changeBackups", Tag: "Admin", Summary: "Change the backup settings",
				About: "Absent fields stay as they are. The change takes effect at once and is written to " +
					"`app.yaml`, whose comments and order stay. A backup that is due by the new settings is made " +
					"soon.\n\n409: a flag or an environment variable sets the value and overrides `app.yaml`, or " +
					"that file cannot be changed, or the account is archived.",
				Answer: "The backup settings.", Body: schema.BackupSettings, Form: openapi.FormResult,
				Gives: "ApplianceBackup", Also: []int{409},
				Sample: `{"settings":{"at":"02:15","every":1,"keepDaily":14,"keepWeekly":4,"keepMonthly":6,"maxBytes":0},
					"fixed":{},"folder":"/var/lib/app/backups","encrypted":false,"running":false,
					"lastAt":"2026-11-20T01:30:00.000Z","lastName":"app-20261120T013000Z.backup","lastBytes":1846211,
					"nextAt":"2026-11-21T02:15:00.000Z","overdue":false,"problem":""}`,
			},
		},
	}
}

// Overview is the appliance's state.
//
//openapi:schema Appliance
type Overview struct {
	Version   string  `json:"version"`
	Commit    string  `json:"commit"`                        // empty when not known
	Platform  string  `json:"platform"`                      // operating system and architecture
	StartedAt *string `json:"startedAt" schema:"ref=Moment"` // when the service started
	HostName  string  `json:"hostName"`                      // the machine's own name
	// Name of the appliance on the network (mDNS); null where that is off.
	Name    *string       `json:"name"`
	DataDir string        `json:"dataDir"`
	URL     string        `json:"url"`    // base address of one-time links
	URLs    []string      `json:"urls"`   // addresses of the appliance for people, best first
	Listen  []ListenPoint `json:"listen"` // the listeners
	// auto: a certificate of the appliance's own authority; files: the plant's certificate; proxy: a proxy terminates
	// TLS.
	TLS         string               `json:"tls" schema:"enum=off|auto|files|proxy"`
	Certificate *CertificateOverview `json:"certificate"` // null without TLS
	Store       *StoreStatus         `json:"store"`       // the store's file
	// The store's disk, in bytes; null when it cannot be read.
	Disk      *DiskStatus      `json:"disk"`
	Backup    ScheduledBackups `json:"backup"`
	Retention Retention        `json:"retention"` // retention, in days
	Clock     ClockStatus      `json:"clock"`
	Counts    ApplianceCounts  `json:"counts"`
	Warnings  []Warning        `json:"warnings"` // what needs attention
}

// ListenPoint is an address and port that is listened on.
type ListenPoint struct {
	Setting string `json:"setting"` // name of the setting, such as listen or mqtt.listen
	Address string `json:"address"`
	TLS     bool   `json:"tls"`
}

// CertificateOverview is the certificate that the service shows, and how long it is good for.
type CertificateOverview struct {
	CertificateStatus
	DaysLeft int `json:"daysLeft"` // whole days until it expires; negative when it has expired
}

// DiskStatus is the room on a disk, in bytes.
type DiskStatus struct {
	Free  int64 `json:"free" schema:"min=0"`
	Total int64 `json:"total" schema:"min=0"`
}

// ScheduledBackups is the settings and state of scheduled backups.
//
//openapi:schema ApplianceBackup
type ScheduledBackups struct {
	Settings BackupSettings `json:"settings"`
	// Settings that cannot be changed here, with the flag or environment variable that sets each.
	Fixed     map[string]string `json:"fixed"`
	Folder    string            `json:"folder"`
	Encrypted bool              `json:"encrypted"`
	Running   bool              `json:"running"` // a backup is being made
	// Time of the newest backup in the folder, which was verified when it was made; null if there is no backup.
	LastAt    *string `json:"lastAt" schema:"ref=Moment"`
	LastName  string  `json:"lastName"`
	LastBytes int64   `json:"lastBytes" schema:"min=0"`
	NextAt    *string `json:"nextAt" schema:"ref=Moment"` // time of the next backup; null if none is scheduled
	Overdue   bool    `json:"overdue"`
	Problem   string  `json:"problem"` // why the last attempt failed; empty when it succeeded
}

// BackupSettings is the schedule and retention of backups.
//
//openapi:schema BackupSettingsNow
type BackupSettings struct {
	At          string `json:"at"`                   // time of day on the machine's clock
	Every       int    `json:"every" schema:"min=0"` // days between backups; 0 turns scheduled backups off
	KeepDaily   int    `json:"keepDaily"`
	KeepWeekly  int    `json:"keepWeekly"`
	KeepMonthly int    `json:"keepMonthly"`
	MaxBytes    int    `json:"maxBytes" schema:"min=0"` // maximum size of all scheduled backups together; 0 for no limit
}

// Retention is how long data is retained, in days.
type Retention struct {
	SignalDays int `json:"signalDays"`
	WindowDays int `json:"windowDays"`
	AuditDays  int `json:"auditDays"`
}

// ClockStatus is the machine's clock.
type ClockStatus struct {
	Now      string `json:"now" schema:"ref=Moment"`
	Zone     string `json:"zone"`     // time zone of the machine
	Believed bool   `json:"believed"` // the clock is trusted, so retention cleanup runs
	// Number of devices whose clock was more than two minutes ahead at their last signal.
	DevicesAhead int `json:"devicesAhead" schema:"min=0"`
}

// ApplianceCounts counts what there is: accounts of the appliance, and of the caller's account the rest.
type ApplianceCounts struct {
	Accounts int `json:"accounts"` // accounts on the appliance, without archived ones
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
	Code     string   `json:"code"` // code for programs, such as backup or certificate
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Action   string   `json:"action"` // what to do
}

// getAppliance answers GET /appliance.
func (api *API) getAppliance(c *rest.Call) (rest.Reply, error) {
	out := api.Appliance()
	out.Counts.Accounts = len(api.Accounts.List(false))
	for _, kind := range []struct {
		n     *int
		count func() (int, error)
	}{
		{&out.Counts.Users, counted(c.Principal, api.Auth.ListUsers)},
		{&out.Counts.Tablets, counted(c.Principal, api.Auth.ListTablets)},
		{&out.Counts.Devices, counted(c.Principal, api.Auth.ListDevices)},
	} {
		var err error
		if *kind.n, err = kind.count(); err != nil {
			return rest.Reply{}, err
		}
	}
	return rest.OK(out)
}

// putBackupSettings answers PUT /appliance/backup-settings.
func (api *API) putBackupSettings(c *rest.Call) (rest.Reply, error) {
	var in map[string]any
	if err := c.Decode(schema.BackupSettings, false, &in); err != nil {
		return rest.Reply{}, err
	}
	if err := c.Writable(); err != nil {
		return rest.Reply{}, err
	}
	values := make(map[string]string, len(in))
	for name, v := range in {
		if n, isNumber := v.(float64); isNumber {
			values[name] = strconv.FormatInt(int64(n), 10)
			continue
		}
		values[name], _ = v.(string) // which the schema says it is
	}
	if err := api.ChangeBackups(values, c.Principal.Actor()); err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(api.Appliance().Backup)
}

// counted counts what a list for a caller has.
func counted[T any](p auth.Principal, list func(auth.Principal) ([]T, error)) func() (int, error) {
	return func() (int, error) {
		all, err := list(p)
		return len(all), err
	}
}

// applianceSample is an example of an answer.
const applianceSample = `{"version":"1.0.0","commit":"4b17c2a9d0e5f3861b7a9c2d4e6f80a1b3c5d7e9",
	"platform":"linux/amd64","startedAt":"2026-11-20T06:00:01.250Z","hostName":"plantpc","name":"opsmon.local",
	"dataDir":"/var/lib/app","url":"https://opsmon.local:8443",
	"urls":["https://opsmon.local:8443","https://192.0.2.20:8443"],
	"listen":[{"setting":"listen","address":"[::]:8443","tls":true},
	{"setting":"clearListen","address":"[::]:8080","tls":false}],"tls":"auto",
	"certificate":{"endsAt":"2027-12-22T08:15:30.000Z",
	"fingerprint":"3F:8A:01:5C:77:E2:90:4B:1D:66:AF:23:C8:59:04:BE:92:7D:E1:30:5A:F4:88:6C:0B:D7:19:A3:42:FE:65:9C",
	"problems":[],"hosts":["opsmon.local","192.0.2.20"],"authority":{"name":"opsmon CA 3F8A",
	"endsAt":"2036-11-17T08:15:30.000Z","pem":"-----BEGIN CERTIFICATE-----\n",
	"pages":["http://opsmon.local:8080/trust"]},"daysLeft":397},
	"store":{"bytes":1048576,"free":65536,"version":12,"full":false},"disk":{"free":9663676416,"total":120034123776},
	"backup":{"settings":{"at":"01:30","every":1,"keepDaily":7,"keepWeekly":4,"keepMonthly":6,"maxBytes":0},
	"fixed":{"at":"APP_BACKUP_AT"},"folder":"/var/lib/app/backups","encrypted":false,"running":false,
	"lastAt":"2026-11-20T01:30:00.000Z","lastName":"app-20261120T013000Z.backup","lastBytes":1846211,
	"nextAt":"2026-11-21T01:30:00.000Z","overdue":false,"problem":""},
	"retention":{"signalDays":400,"windowDays":3653,"auditDays":400},
	"clock":{"now":"2026-11-20T08:15:30.123Z","zone":"GMT +00:00","believed":true,"devicesAhead":0},
	"counts":{"accounts":1,"users":9,"tablets":4,"devices":12},"warnings":[{"code":"disk","severity":"problem",
	"message":"the disk of /var/lib/app has 9.0 GiB free of 111 GiB: below 10 % no scheduled backup is made",
	"action":"On the machine: make room: du -xh --max-depth=2 / | sort -h | tail"}]}`
