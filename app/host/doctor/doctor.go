// Package doctor looks for what keeps the service from working on the machine that it is on: the port and the
// firewall before it, the clock and the time zone, room and rights on the disk, the store, the certificate, names,
// backups, and the operating system's service. Each finding says what is wrong and the command that mends it. It
// changes nothing.
package doctor

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"time"

	"opsmon/app/host/service"
	"opsmon/kv/file"
)

// Finding is the result of a check. A check has one finding if all is well, and one for each problem.
type Finding struct {
	Check   string `json:"check"`   // port, firewall, …
	OK      bool   `json:"ok"`      // nothing is wrong, or the check was not possible; Note says why
	Problem string `json:"problem"` // what is wrong, for people; "" when OK
	Fix     string `json:"fix"`     // a command or an instruction; "" when OK
	Note    string `json:"note"`    // details
}

// Port is the address and port of a setting.
type Port struct {
	Setting, Listen string
}

// Subject is the appliance under examination: its settings, and its status if it runs.
type Subject struct {
	DataDir  string
	Command  string  // how to call app, with --data-dir: "app --data-dir /srv/app"
	Settings error   // the problem of the settings; nil = none
	Missing  []error // problems of the files that they name

	Listen      string // address and port; "" = not known
	ClearListen string // of the unencrypted port; "" = none
	More        []Port // further ports that are listened on
	Name        string // the appliance is <Name>.local
	MDNS        bool   // and answers to that
	Hosts       []string

	Running bool   // a service answers on the data directory
	Ready   error  // why it is not ready; nil = it is, or it does not run
	Mend    string // the fix that the service reports; "" = none

	Store        *Store       // as the running service reports it; nil = it does not run, or has not opened it
	StoreVersion int          // the newest that this program reads
	Memory       *Memory      // of the running service; nil = it does not run
	Certificate  *Certificate // nil = TLS is off
	Backup       *Backup      // nil = none is scheduled, or unknown
	Zones        []string     // IANA names of the plants' time zones
}

// Store is the store of a running service.
type Store struct {
	Bytes int64 // of its file
	Free  int64 // of these: room for later writes
	Full  bool  // the last write found the disk full
}

// Memory is the memory of a running service, in bytes.
type Memory struct {
	Used    int64 // by the runtime
	Limit   int64 // memory limit; 0 = none
	Machine int64 // of the machine; 0 = unknown
}

// Certificate is what the service answers with on the network.
type Certificate struct {
	Expires  time.Time    // zero = not known before the service runs
	Problems []string     // sentences that say what to do
	Names    []string     // that it is for
	Addrs    []netip.Addr // that it is for
	Own      bool         // from the appliance's own authority
}

// CertificateOf returns a certificate from the service's status: endsAt is RFC 3339, or another text if it is unknown;
// hosts are names and addresses.
func CertificateOf(endsAt string, hosts, problems []string, own bool) *Certificate {
	c := &Certificate{Problems: problems, Own: own}
	c.Expires, _ = time.Parse(time.RFC3339, endsAt) // zero if it fails
	for _, host := range hosts {
		if addr, err := netip.ParseAddr(host); err == nil {
			c.Addrs = append(c.Addrs, addr)
		} else {
			c.Names = append(c.Names, host)
		}
	}
	return c
}

// Backup is what is known of the scheduled backups.
type Backup struct {
	Last    time.Time // of the last one that was verified; zero = none yet
	Overdue bool
	Problem string // of the last attempt; "" = it went well
	Dir     string // their folder; "" = unknown
}

// Machine is what is asked of the machine. Local gives the real one.
type Machine struct {
	OS    string // as in runtime.GOOS
	Clock func() time.Time
	Zone  *time.Location // of the machine
	// Tool runs a program and returns its output. Errors: exec.ErrNotFound; *exec.ExitError.
	Tool func(ctx context.Context, name string, args ...string) (string, error)
	// Dial returns an error if no TCP connection to an address and port can be made.
	Dial func(ctx context.Context, address string) error
	// Bind returns an error if an address and port cannot be listened on.
	Bind     func(address string) error
	Hostname func() (string, error)
	Lookup   func(ctx context.Context, host string) ([]netip.Addr, error)
	// Ask returns the address of <name>.local on the network; the zero address if nobody has the name.
	Ask   func(ctx context.Context, name string) (netip.Addr, error)
	Addrs func() ([]netip.Addr, error) // of all interfaces
	Disk  func(dir string) (file.Space, error)
	// Store opens a store read-only and returns its version. Errors: fs.ErrNotExist; kv.ErrLocked; kv.ErrDamaged.
	Store   func(path string) (version int, err error)
	Files   func(dir string) ([]File, error) // the directory itself first, then its files
	Service func() (service.State, error)
}

// File is a file or directory as the rights to it go.
type File struct {
	Path     string
	Dir      bool
	Owner    string // name of its user; "" if it does not matter
	Others   bool   // every user of the machine can read it
	Secret   bool   // and must not
	Modified time.Time
}

// limit is how long one check may take.
const limit = 10 * time.Second

// check is one of the doctor's.
type check struct {
	name string
	run  func(context.Context) []Finding
}

// Examine makes all checks.
func Examine(ctx context.Context, m Machine, s Subject) []Finding {
	e := &exam{m, s}
	return examine(ctx, []check{
		{"service", e.service}, {"settings", e.settings}, {"port", e.port}, {"firewall", e.firewall}, {"clock", e.clock},
		{"time zone", e.zone}, {"disk space", e.space}, {"rights", e.rights}, {"store", e.store}, {"certificate", e.certificate},
		{"names", e.names}, {"backup", e.backup}, {"memory", e.memory},
	})
}

// Watch makes the checks that a running service can make of itself in a moment: settings, the clock, the time zone,
// disk space, the certificate, and backups.
func Watch(ctx context.Context, m Machine, s Subject) []Finding {
	e := &exam{m, s}
	return examine(ctx, []check{{"settings", e.settings}, {"clock", e.clock}, {"time zone", e.zone}, {"disk space", e.space}, {"certificate", e.certificate}, {"backup", e.backup}})
}

func examine(ctx context.Context, checks []check) []Finding {
	var all []Finding
	for _, check := range checks {
		within, cancel := context.WithTimeout(ctx, limit)
		found := check.run(within)
		cancel()
		for i := range found {
			found[i].Check = check.name
		}
		all = append(all, found...)
	}
	return all
}

// exam is one look at a machine and its appliance.
type exam struct {
	Machine
	Subject
}

// wrong returns the finding of a problem and its fix.
func wrong(problem, fix string) Finding { return Finding{Problem: problem, Fix: fix} }

// well returns the finding that nothing is wrong, or that a check was not possible.
func well(note string) []Finding { return []Finding{{OK: true, Note: note}} }

// orWell returns the findings, or that nothing is wrong.
func orWell(found []Finding, note string) []Finding {
	if len(found) > 0 {
		return found
	}
	return well(note)
}

// beyond reports whether other machines are to reach an address that is listened on.
func beyond(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil || host == "localhost" {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err != nil || !ip.Unmap().IsLoopback()
}

// port returns the port of an address, 0 for none.
func port(listen string) int {
	_, text, err := net.SplitHostPort(listen)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
