package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"opsmon/app/host/certs"
	"opsmon/app/host/service"
)

// service checks whether the operating system starts the service and keeps it running.
func (e *exam) service(context.Context) []Finding {
	state, err := e.Service()
	if err == nil && !state.Installed {
		err = service.ErrNotInstalled
	}
	switch {
	case errors.Is(err, service.ErrUnsupported):
		return orWell(e.unready(nil), "not looked at: "+err.Error())
	case errors.Is(err, service.ErrNotInstalled) && e.Running:
		return e.unready([]Finding{wrong("the service runs in the foreground alone: it ends with its terminal and does not start with the machine", e.Command+" install")})
	case errors.Is(err, service.ErrNotInstalled):
		return []Finding{wrong("the service is not installed, so nothing runs", e.Command+" install")}
	case err != nil:
		return well("not looked at: " + err.Error())
	}
	var found []Finding
	if dir := state.DataDir; dir != "" && filepath.Clean(dir) != filepath.Clean(e.DataDir) {
		found = append(found, wrong("the installed service uses another data directory, "+dir+": what was looked at is not what runs", "app --data-dir "+quote(e.OS, dir)+" doctor"))
	}
	if !state.Enabled {
		fix := "systemctl enable app"
		if e.OS == "windows" {
			fix = "sc.exe config app start= delayed-auto"
		}
		found = append(found, wrong("the service does not start with the machine", fix))
	}
	switch {
	case !state.Running && state.Failed:
		found = append(found, wrong("the service ended with an error and is not started again", "see why: "+e.logs()+"; then: app start"))
	case !state.Running:
		found = append(found, wrong("the service does not run", "app start"))
	case !e.Running:
		found = append(found, wrong("the service's process runs, and does not answer the command line", "see why: "+e.logs()+"; then: app restart"))
	}
	return orWell(e.unready(found), fmt.Sprintf("runs since %s", state.Since.Local().Format("2006-01-02 15:04")))
}

// unready adds that the service says itself that it is not ready.
func (e *exam) unready(found []Finding) []Finding {
	if e.Ready == nil {
		return found
	}
	fix := e.Mend
	if fix == "" {
		fix = "see what it logged: " + e.logs()
	}
	return append(found, wrong("the service is not ready: "+e.Ready.Error(), fix))
}

// settings looks whether app.yaml and the environment can be used, and whether the files are there that they name.
func (e *exam) settings(context.Context) []Finding {
	var found []Finding
	at := filepath.Join(e.DataDir, "app.yaml")
	if e.Settings != nil {
		return append(found, wrong(e.Settings.Error(), "mend that setting in "+at+", then: app restart"))
	}
	for _, err := range e.Missing {
		found = append(found, wrong(err.Error(), "bring that file, or name another in "+at+"; then: app restart"))
	}
	return orWell(found, at+" and the environment")
}

// soon is how long before a certificate's end that end counts as a problem. Those of the appliance's own authority are
// renewed long before.
const soon = 14 * 24 * time.Hour

// certificate checks whether devices can accept the certificate: its validity, its issuer, and its names.
func (e *exam) certificate(context.Context) []Finding {
	c := e.Certificate
	if c == nil {
		if e.Listen == "" {
			return well(settingsWrong)
		}
		if beyond(e.Listen) {
			return []Finding{wrong("TLS is off, and the service listens beyond this machine: everybody on the network can read keys and sessions", "set in app.yaml: tls: auto, then: app restart")}
		}
		return well("TLS is off")
	}
	mend := "see the sentence, then: app restart"
	if !c.Own {
		mend = "put a new certificate and key in place of the files that the setting tls names; the service takes them by itself"
	}
	var found []Finding
	for _, problem := range c.Problems {
		found = append(found, wrong(problem, mend))
	}
	if c.Expires.IsZero() {
		return orWell(found, "it is made when the service starts")
	}
	if left := c.Expires.Sub(e.Clock()); left < soon && len(c.Problems) == 0 {
		found = append(found, wrong("the certificate ends on "+stamp(c.Expires), mend))
	}
	found = append(found, e.kept(c)...)
	return orWell(append(found, e.covers(c)...), "valid until "+stamp(c.Expires))
}

// kept checks whether the authority that devices trust still exists for the next start.
func (e *exam) kept(c *Certificate) []Finding {
	if !c.Own || !e.Running {
		return nil
	}
	files, err := e.Files(e.DataDir)
	if err != nil {
		return nil // the check of rights reports it
	}
	for _, name := range []string{certs.CAFile, certs.CAKeyFile} {
		path := filepath.Join(e.DataDir, "tls", name)
		if !slices.ContainsFunc(files, func(f File) bool { return f.Path == path }) {
			return []Finding{wrong("the authority's file "+path+" is gone: devices that trust the appliance will not after its next start", "bring it back from an encrypted backup before that")}
		}
	}
	return nil
}

// covers checks whether the certificate names the addresses that people open. The plant chooses the names of its own
// certificate, so one of the machine's is enough.
func (e *exam) covers(c *Certificate) []Finding {
	if !beyond(e.Listen) {
		return nil
	}
	var missing []string
	for _, host := range e.Hosts {
		addr, err := netip.ParseAddr(host)
		if err != nil && !c.isFor(host) || err == nil && !slices.Contains(c.Addrs, addr) {
			missing = append(missing, host)
		}
	}
	switch {
	case len(missing) == 0:
		return nil
	case c.Own:
		return []Finding{wrong("the certificate is not for "+strings.Join(missing, ", ")+", by which other machines reach this one", "app restart")}
	case len(missing) == len(e.Hosts):
		return []Finding{wrong("the certificate is for "+strings.Join(c.Names, ", ")+", and this machine goes by "+strings.Join(e.Hosts, ", ")+": browsers refuse it unless a name server leads one of its names here",
			"say in app.yaml how people reach the service: url: https://NAME:PORT; or use: tls: auto")}
	}
	return nil
}

// isFor reports whether the certificate is for a name (RFC 9525 section 6.3).
func (c *Certificate) isFor(name string) bool {
	_, parent, _ := strings.Cut(name, ".")
	return slices.ContainsFunc(c.Names, func(one string) bool {
		return strings.EqualFold(one, name) || parent != "" && strings.EqualFold(one, "*."+parent)
	})
}

// backup looks whether there is a backup that is young enough.
func (e *exam) backup(context.Context) []Finding {
	b := e.Backup
	if b == nil {
		return well("not looked at: none is scheduled, or the service does not run")
	}
	fix := e.Command + " backup"
	switch {
	case b.Problem != "":
		return []Finding{wrong("the last backup failed: "+b.Problem, fix)}
	case b.Overdue && b.Last.IsZero():
		return []Finding{wrong("there is no verified backup, and one is overdue", fix)}
	case b.Overdue:
		return []Finding{wrong("the last verified backup is of "+stamp(b.Last), fix)}
	case b.Last.IsZero():
		return well("none yet; the first is not due")
	}
	return well("the last one was verified at " + stamp(b.Last))
}
