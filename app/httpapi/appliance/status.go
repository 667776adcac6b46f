package appliance

import "opsmon/app/httpapi/rest"

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
	Bytes   int64 `json:"bytes" schema:"min=0"`   // size of the file
	Free    int64 `json:"free" schema:"min=0"`    // free space within the file
	Version int   `json:"version" schema:"min=0"` // number of migrations that have run
	Full    bool  `json:"full"`                   // the last write failed because the disk was full
}

// MemoryStatus is the memory of the process that answers, in bytes.
type MemoryStatus struct {
	Used    int64 `json:"used"`    // by the runtime; pages of the store's file come on top, which the system takes back when it needs them
	Limit   int64 `json:"limit"`   // that the runtime keeps to; 0 = none
	Machine int64 `json:"machine"` // that there is; 0 = not known
}

// BackupStatus is the last scheduled backup.
type BackupStatus struct {
	// Time of the newest verified backup; null if there is none.
	LastAt  *string `json:"lastAt" schema:"ref=Moment"`
	File    string  `json:"file"`
	Bytes   int64   `json:"bytes" schema:"min=0"`
	Overdue bool    `json:"overdue"`
	Problem string  `json:"problem"` // why the last attempt failed; empty when it succeeded
}

// CertificateStatus is the certificate that the service shows.
type CertificateStatus struct {
	EndsAt string `json:"endsAt" schema:"ref=Moment"`
	// SHA-256 to compare: of the authority, or of the plant's certificate.
	Fingerprint string           `json:"fingerprint"`
	Problems    []string         `json:"problems"`  // what is wrong and what to do; empty when all is well
	Hosts       []string         `json:"hosts"`     // names and addresses that the certificate is valid for
	Authority   *AuthorityStatus `json:"authority"` // the appliance's own authority; null for the plant's certificate
}

// AuthorityStatus is the appliance's own certificate authority.
type AuthorityStatus struct {
	Name   string   `json:"name"` // its name in the devices' lists of authorities
	EndsAt string   `json:"endsAt" schema:"ref=Moment"`
	PEM    string   `json:"pem"`   // the authority's certificate, PEM
	Pages  []string `json:"pages"` // pages that explain how to trust it
}

// Readiness is the state of a service that is ready, for administrators and for callers on the machine itself.
//
//openapi:schema Readiness
type Readiness struct {
	Store       *StoreStatus      `json:"store"`       // the store's file; null while it does not exist
	Backup      *BackupStatus     `json:"backup"`      // the last scheduled backup; null if none is scheduled
	Certificate *ReadyCertificate `json:"certificate"` // the service's certificate; null without TLS
	Start
}

// Start is what everybody may see, so that pages know where to send people.
//
//openapi:schema Start
type Start struct {
	// The appliance is empty and waits for POST /setup. Everybody may see this; absent otherwise.
	NeedsSetUp bool `json:"needsSetUp,omitempty" schema:"const=true"`
	// One-time links are mailed. Everybody may see this; absent where administrators hand them over.
	Mail bool `json:"mail,omitempty" schema:"const=true"`
}

// ReadyCertificate is the part of CertificateStatus that administrators watch.
type ReadyCertificate struct {
	EndsAt string `json:"endsAt" schema:"ref=Moment"`
	// SHA-256 of the appliance's own authority, or of the plant's certificate.
	Fingerprint string   `json:"fingerprint"`
	Problems    []string `json:"problems"` // what is wrong and what to do; empty when all is well
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
func (api *API) localStatus(c *rest.Call) (rest.Reply, error) { return rest.OK(api.Status()) }
