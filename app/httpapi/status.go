package httpapi

// Status is what GET /local/status tells the command line of the process that answers. Times are RFC 3339 in UTC.
type Status struct {
	Version     string             `json:"version"`
	PID         int                `json:"pid"`
	StartedAt   *string            `json:"startedAt"` // of the service; null when none runs
	DataDir     string             `json:"dataDir"`
	URL         string             `json:"url"`                 // as people use it
	URLs        []string           `json:"urls"`                // all that the LAN can open
	Ready       bool               `json:"ready"`               // requests are served
	Reason      string             `json:"reason"`              // why not; "" when they are
	SetupCode   string             `json:"setupCode,omitempty"` // of an appliance that is not set up yet
	Store       *StoreStatus       `json:"store"`               // null while there is none
	Backup      *BackupStatus      `json:"backup"`              // null when there is no schedule
	Certificate *CertificateStatus `json:"certificate"`         // null without TLS
}

// StoreStatus is the store's file.
type StoreStatus struct {
	Bytes int64 `json:"bytes"` // of the file
	Free  int64 `json:"free"`  // of these: room for later writes, which app compact gives back
}

// BackupStatus is the last scheduled backup.
type BackupStatus struct {
	LastAt  *string `json:"lastAt"` // of the newest one that was verified; null when there is none
	File    string  `json:"file"`
	Bytes   int64   `json:"bytes"`
	Overdue bool    `json:"overdue"`
	Problem string  `json:"problem"` // of the last attempt; "" when it went well
}

// CertificateStatus is the certificate that the service shows.
type CertificateStatus struct {
	EndsAt      string `json:"endsAt"`
	Fingerprint string `json:"fingerprint"` // SHA-256 of the plant's own authority; "" for a certificate from elsewhere
	Problem     string `json:"problem"`     // why it could not be renewed; "" when all is well
}

// localStatus tells how the service is, whether it has a store or not.
func localStatus(c *call) (reply, error) { return ok(c.api.cfg.Status()) }
