package httpapi

// Status is what GET /local/status tells the command line of the process that answers. Times are RFC 3339 in UTC.
type Status struct {
	Version            string             `json:"version"`
	PID                int                `json:"pid"`
	StartedAt          *string            `json:"startedAt"` // of the service; null when none runs
	DataDir            string             `json:"dataDir"`
	URL                string             `json:"url"`                 // as people use it
	URLs               []string           `json:"urls"`                // all that the LAN can open
	Listen             string             `json:"listen"`              // address and port that is listened on; "" when no service runs
	ClearListen        string             `json:"clearListen"`         // of the port in the clear; "" where there is none
	MQTTListen         string             `json:"mqttListen"`          // for MQTT over TLS; "" where there is none
	MQTTInsecureListen string             `json:"mqttInsecureListen"`  // for MQTT in the clear; likewise
	Ready              bool               `json:"ready"`               // requests are served
	Reason             string             `json:"reason"`              // why not; "" when they are
	Mend               string             `json:"mend"`                // what mends that: a command, or what to do; "" when nothing is to be done
	Starting           bool               `json:"starting"`            // the store is being opened, or the stations are being read; it becomes ready by itself
	SetupCode          string             `json:"setupCode,omitempty"` // of an appliance that is not set up yet
	Store              *StoreStatus       `json:"store"`               // null while there is none
	Memory             MemoryStatus       `json:"memory"`
	Backup             *BackupStatus      `json:"backup"`      // null when there is no schedule
	Certificate        *CertificateStatus `json:"certificate"` // null without TLS
}

// StoreStatus is the store's file.
type StoreStatus struct {
	Bytes   int64 `json:"bytes" schema:"min=0"`   // of the file
	Free    int64 `json:"free" schema:"min=0"`    // of these: room for later writes
	Version int   `json:"version" schema:"min=0"` // how many migrations have run on it
	Full    bool  `json:"full"`                   // the last write found the disk full
}

// MemoryStatus is the memory of the process that answers, in bytes.
type MemoryStatus struct {
	Used    int64 `json:"used"`    // by the runtime; pages of the store's file come on top, which the system takes back when it needs them
	Limit   int64 `json:"limit"`   // that the runtime keeps to; 0 = none
	Machine int64 `json:"machine"` // that there is; 0 = not known
}

// BackupStatus is the last scheduled backup.
type BackupStatus struct {
	// Of the newest one that was verified; null when there is none.
	LastAt  *string `json:"lastAt" schema:"ref=Moment"`
	File    string  `json:"file"`
	Bytes   int64   `json:"bytes" schema:"min=0"`
	Overdue bool    `json:"overdue"`
	Problem string  `json:"problem"` // of the last attempt; empty when it went well
}

// CertificateStatus is the certificate that the service shows.
type CertificateStatus struct {
	EndsAt string `json:"endsAt" schema:"ref=Moment"`
	// SHA-256 that people compare: of the authority, or of a certificate from elsewhere.
	Fingerprint string           `json:"fingerprint"`
	Problems    []string         `json:"problems"`  // sentences that say what to do
	Hosts       []string         `json:"hosts"`     // names and addresses that it is for
	Authority   *AuthorityStatus `json:"authority"` // the appliance's own; null for a certificate from elsewhere
}

// AuthorityStatus is the appliance's own certificate authority.
type AuthorityStatus struct {
	Name   string   `json:"name"` // that devices list it under
	EndsAt string   `json:"endsAt" schema:"ref=Moment"`
	PEM    string   `json:"pem"`   // its certificate
	Pages  []string `json:"pages"` // where it is told how to trust it
}

// Readiness is what administrators and the machine itself are told of a service that is ready.
//
//openapi:schema Readiness
type Readiness struct {
	Store       *StoreStatus      `json:"store"`       // the store's file; null while there is none
	Backup      *BackupStatus     `json:"backup"`      // the last scheduled backup; null where none is scheduled
	Certificate *ReadyCertificate `json:"certificate"` // what the service answers with over TLS; null without TLS
	Start
}

// Start is what everybody is told, for pages to know where people go on.
//
//openapi:schema Start
type Start struct {
	// The appliance is empty and waits for POST /setup, which everybody is told; left out otherwise.
	NeedsSetUp bool `json:"needsSetUp,omitempty" schema:"const=true"`
	// One-time links are mailed, which everybody is told; left out where they wait for an administrator.
	Mail bool `json:"mail,omitempty" schema:"const=true"`
}

// ReadyCertificate is the part of CertificateStatus that administrators watch.
type ReadyCertificate struct {
	EndsAt string `json:"endsAt" schema:"ref=Moment"`
	// SHA-256 of the appliance's own authority, or of a certificate that the plant has brought.
	Fingerprint string   `json:"fingerprint"`
	Problems    []string `json:"problems"` // sentences that say what to do; none when all is well
}

// readiness takes from a status what administrators watch.
func readiness(s Status) Readiness {
	r := Readiness{Store: s.Store, Backup: s.Backup}
	if c := s.Certificate; c != nil {
		r.Certificate = &ReadyCertificate{c.EndsAt, c.Fingerprint, c.Problems}
	}
	return r
}

// localStatus returns how the service is, whether it has a store or not.
func localStatus(c *call) (reply, error) { return ok(c.api.cfg.Status()) }
