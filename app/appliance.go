package app

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"opsmon/app/host/config"
	"opsmon/app/host/doctor"
	"opsmon/app/httpapi/appliance"
	"opsmon/app/instant"
	"opsmon/kv/file"
)

// appliance tells administrators how the appliance is.
func (a *App) appliance() appliance.Overview {
	st := statusOf(a.cfg, a)
	if a.host != nil {
		st = a.host.status()
	}
	build, now := BuildInfo(), a.cfg.Clock()
	out := appliance.Overview{
		Version: st.Version, Commit: build.Commit, Platform: build.OS + "/" + build.Arch, StartedAt: st.StartedAt, DataDir: st.DataDir,
		URL: st.URL, URLs: st.URLs, Listen: listenPoints(st), TLS: a.cfg.TLSMode(), Store: st.Store, Backup: a.backupView(),
		Retention: appliance.Retention{SignalDays: a.cfg.Signals.Days, WindowDays: a.cfg.Windows.Days, AuditDays: a.cfg.AuditDays},
		Clock:     appliance.ClockStatus{Now: instant.Format(now), Zone: now.In(time.Local).Format("MST -07:00"), Believed: a.clockDoubt() == 0, DevicesAhead: a.services.Signals.Counts().Skewed},
	}
	out.HostName, _ = os.Hostname() // one that has none shows none
	if a.host != nil && a.host.secure.names != nil {
		out.Name = new(a.cfg.Name + ".local")
	}
	if c := st.Certificate; c != nil {
		out.Certificate = &appliance.CertificateOverview{CertificateStatus: *c}
		if end, err := time.Parse(time.RFC3339, c.EndsAt); err == nil {
			out.Certificate.DaysLeft = int(math.Floor(end.Sub(now).Hours() / 24))
		}
	}
	if d, err := file.SpaceOf(a.cfg.DataDir); err == nil {
		out.Disk = &appliance.DiskStatus{Free: d.Free, Total: d.Total}
	}
	out.Warnings = a.warnings(st)
	return out
}

func listenPoints(st appliance.Status) []appliance.ListenPoint {
	list := []appliance.ListenPoint{}
	for _, p := range []appliance.ListenPoint{
		{Setting: "listen", Address: st.Listen, TLS: st.Certificate != nil}, {Setting: "clearListen", Address: st.ClearListen},
		{Setting: "mqtt.listen", Address: st.MQTTListen, TLS: true}, {Setting: "mqtt.insecure.listen", Address: st.MQTTInsecureListen},
	} {
		if p.Address != "" {
			list = append(list, p)
		}
	}
	return list
}

// backupView returns how scheduled backups are made and how they are doing.
func (a *App) backupView() appliance.ScheduledBackups {
	b := *a.backup.Load()
	out := appliance.ScheduledBackups{
		Settings: appliance.BackupSettings{At: b.At, Every: b.Every, KeepDaily: b.KeepDaily, KeepWeekly: b.KeepWeekly, KeepMonthly: b.KeepMonthly, MaxBytes: b.MaxBytes},
		Fixed:    map[string]string{}, Folder: a.cfg.BackupDir(), Encrypted: b.PassphraseFile != "",
	}
	for _, name := range config.Names() {
		setting, isBackup := strings.CutPrefix(name, "backup.")
		if origin := a.cfg.FixedBy(name); isBackup && origin != "" {
			out.Fixed[setting] = origin
		}
	}
	if b.Every == 0 {
		a.keeper.Refresh()
	}
	s := a.keeper.Status()
	if s.Newest.Name != "" {
		out.LastAt, out.LastName, out.LastBytes = new(instant.Format(s.Newest.MadeAt)), s.Newest.Name, s.Newest.Bytes
	}
	if b.Every > 0 {
		out.Running, out.Overdue, out.Problem = s.Running, s.Overdue, a.backupProblem(s)
		out.NextAt = new(instant.Format(s.Next))
		if s.Next.IsZero() { // due at once
			out.NextAt = new(instant.Format(a.cfg.Clock()))
		}
	}
	return out
}

// warnings returns what needs a person: what the doctor sees, and what the service alone knows.
func (a *App) warnings(st appliance.Status) []appliance.Warning {
	list := []appliance.Warning{}
	add := func(code string, severity appliance.Severity, message, action string) {
		list = append(list, appliance.Warning{Code: code, Severity: severity, Message: message, Action: action})
	}
	for _, f := range a.examine(st) {
		if w, known := watched[f.Check]; known && !f.OK {
			add(w.code, w.severity, f.Problem, "On the machine: "+f.Fix)
		}
	}
	if st.Store != nil && st.Store.Full {
		add("storeFull", appliance.SeverityProblem, "The disk is full: nothing can be saved until there is room.", "Free space on the disk of "+a.cfg.DataDir+"; the service then accepts writes again automatically.")
	}
	if hours := a.clockDoubt(); hours > 0 {
		add("clockDoubted", appliance.SeverityWarning, fmt.Sprintf("The clock went ahead by more than a day, or the service was off for so long: nothing is removed for its age for the next %d hours.", hours), "See that the machine's clock is right.")
	}
	if n := a.services.Signals.Counts().Skewed; n > 0 {
		add("deviceClocks", appliance.SeverityWarning, fmt.Sprintf("The clock of %d sending devices is more than two minutes ahead; the time of arrival was taken instead.", n), "Set those devices' clocks; the list of devices names them.")
	}
	if !a.scheduled() {
		add("noSchedule", appliance.SeverityWarning, "No backups are scheduled.", "Set the number of days from one backup to the next.")
	}
	if a.plant.client != nil && !a.plant.client.Stats().Connected {
		add("plantBroker", appliance.SeverityProblem, "The plant's own MQTT broker is not connected, so nothing comes from it.", "See the log for why, and whether the broker runs.")
	}
	if a.host != nil && a.host.linksStayHere() {
		add("address", appliance.SeverityWarning, "One-time links open on this machine alone, since it is on no network.", "Connect the machine to the plant's network, or set url in app.yaml to the address that people use.")
	}
	return list
}

// examine lets the doctor look at the appliance without leaving the process: no other is started for a page.
func (a *App) examine(st appliance.Status) []doctor.Finding {
	machine := doctor.Local()
	machine.Clock = a.cfg.Clock
	machine.Tool = func(context.Context, string, ...string) (string, error) { return "", exec.ErrNotFound }
	return doctor.Watch(context.Background(), machine, a.patient(st))
}

// watched are the doctor's checks that a page shows, with their codes.
var watched = map[string]struct {
	code     string
	severity appliance.Severity
}{
	"clock": {"clock", appliance.SeverityProblem}, "time zone": {"timeZone", appliance.SeverityWarning}, "disk space": {"disk", appliance.SeverityProblem},
	"certificate": {"certificate", appliance.SeverityProblem}, "settings": {"settings", appliance.SeverityProblem}, "backup": {"backup", appliance.SeverityProblem},
}

// patient is the appliance as the doctor takes it.
func (a *App) patient(st appliance.Status) doctor.Subject {
	s := doctor.Subject{DataDir: a.cfg.DataDir, Command: "app", Running: true, Listen: st.Listen, Certificate: shownCertificate(st.Certificate), Zones: a.zones()}
	if text, err := os.ReadFile(filepath.Join(a.cfg.DataDir, config.File)); err == nil { // as the next start would read it
		s.Settings = a.cfg.Unusable(text)
	}
	if a.host != nil {
		s.Hosts = a.host.hosts()
	}
	if b := st.Backup; b != nil {
		s.Backup = &doctor.Backup{Overdue: b.Overdue, Problem: b.Problem, Dir: a.cfg.BackupDir()}
		if b.LastAt != nil {
			s.Backup.Last, _ = time.Parse(time.RFC3339, *b.LastAt) // it was made of a time
		}
	}
	return s
}

func shownCertificate(c *appliance.CertificateStatus) *doctor.Certificate {
	if c == nil {
		return nil
	}
	return doctor.CertificateOf(c.EndsAt, c.Hosts, c.Problems, c.Authority != nil)
}

// zones returns the time zones of all plants, each once.
func (a *App) zones() (zones []string) {
	seen := map[string]bool{}
	for _, account := range a.services.Accounts.List(false) {
		snap, err := a.services.Accounts.Get(account.ID)
		if err != nil {
			continue // it has just gone
		}
		m, err := snap.Manifest()
		if err != nil {
			continue // reading it tells
		}
		for i := range m.Plants {
			if zone := strings.TrimSpace(m.Plants[i].Timezone); zone != "" && !seen[zone] {
				seen[zone] = true
				zones = append(zones, zone)
			}
		}
	}
	return zones
}
