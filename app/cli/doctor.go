package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"opsmon/app"
	"opsmon/app/host/config"
	"opsmon/app/host/control"
	"opsmon/app/host/doctor"
)

func (e *env) doctor() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Diagnose problems of the service on this machine", Args: cobra.NoArgs,
		Long: `Examines the service, its settings, its port and the firewall, the clock and the time zone, space and rights on the disk,
the store, the certificate, names on the network, backups, and the memory limit. It changes nothing, and shows for each
problem how to fix it. The exit status is 1 if there is a problem.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			subject, err := e.subject()
			if err != nil {
				return err
			}
			found := doctor.Examine(cmd.Context(), doctor.Local(), *subject)
			wrong := 0
			for _, f := range found {
				if !f.OK {
					wrong++
				}
			}
			if err := e.print(found, func(w io.Writer) { printFindings(w, found) }); err != nil || wrong == 0 {
				return err
			}
			fmt.Fprintf(e.stderr, "app: %s wrong\n", count(wrong, "thing is", "things are"))
			return errReported
		},
	}
}

func printFindings(w io.Writer, found []doctor.Finding) {
	for _, f := range found {
		if f.OK {
			fmt.Fprintf(w, "ok     %-12s %s\n", f.Check, f.Note)
			continue
		}
		fmt.Fprintf(w, "WRONG  %-12s %s\n%20s-> %s\n", f.Check, f.Problem, "", f.Fix)
	}
}

// subject collects the doctor's input: the settings, and the state of the running service.
func (e *env) subject() (*doctor.Subject, error) {
	s := &doctor.Subject{DataDir: e.dataDir, Command: "app" + e.dirFlag()}
	if dir, err := filepath.Abs(s.DataDir); err == nil {
		s.DataDir = dir
	}
	cfg := e.settings(s)
	h, err := control.Client(e.dataDir)
	switch {
	case err == nil:
		c := &client{http: h}
		defer h.CloseIdleConnections()
		if err := c.subject(s); err != nil {
			return nil, err
		}
		if s.Backup != nil {
			s.Backup.Dir = cfg.BackupDir()
			if dir, err := filepath.Abs(s.Backup.Dir); err == nil {
				s.Backup.Dir = dir
			}
		}
		return s, nil
	case !errors.Is(err, control.ErrNotRunning):
		return nil, err
	case s.Settings != nil:
		return s, nil
	}
	found, err := e.certificate()
	switch {
	case errors.Is(err, app.ErrNoAuthority):
		s.Certificate = &doctor.Certificate{Own: true}
	case err != nil && !errors.Is(err, errTLSOff):
		s.Certificate = &doctor.Certificate{Problems: []string{err.Error()}}
	case err == nil:
		s.Certificate = found.examined()
	}
	return s, nil
}

// settings adds the settings.
func (e *env) settings(s *doctor.Subject) config.Settings {
	cfg, err := config.Load(e.dataDir, e.getenv)
	if err == nil {
		err = cfg.Check()
	}
	if s.Settings = err; err == nil {
		s.Listen, s.ClearListen = cfg.Listen, cfg.ClearListen
		s.More = mqttPorts(cfg.MQTT.Listen, cfg.MQTT.InsecureListen())
		s.Hosts = cfg.Hosts()
		for _, file := range cfg.Missing() {
			if file.Setting != "tls" && file.Setting != "backup.passphraseFile" { // their own checks report them
				s.Missing = append(s.Missing, file.Err)
			}
		}
		if err := cfg.PassphraseProblem(); err != nil {
			s.Missing = append(s.Missing, err)
		}
	}
	s.Name, s.MDNS, s.StoreVersion = cfg.Name, cfg.MDNS, app.StoreVersion()
	return cfg
}

// mqttPorts returns the MQTT ports with the names of their settings.
func mqttPorts(secure, clear string) []doctor.Port {
	return []doctor.Port{{Setting: "mqtt.listen", Listen: secure}, {Setting: "mqtt.insecure.listen", Listen: clear}}
}

// subject adds the state of the running service.
func (c *client) subject(s *doctor.Subject) error {
	var status struct {
		Listen      string       `json:"listen"`
		ClearListen string       `json:"clearListen"`
		MQTT        string       `json:"mqttListen"`
		MQTTClear   string       `json:"mqttInsecureListen"`
		Ready       bool         `json:"ready"`
		Reason      string       `json:"reason"`
		Mend        string       `json:"mend"`
		Certificate *certificate `json:"certificate"`
		Store       *struct {
			Bytes int64 `json:"bytes"`
			Free  int64 `json:"free"`
			Full  bool  `json:"full"`
		} `json:"store"`
		Memory doctor.Memory `json:"memory"`
		Backup *struct {
			LastAt  *time.Time `json:"lastAt"`
			Overdue bool       `json:"overdue"`
			Problem string     `json:"problem"`
		} `json:"backup"`
	}
	if err := c.call(http.MethodGet, "/local/status", nil, nil, &status); err != nil {
		return err
	}
	s.Running, s.Listen, s.ClearListen = true, status.Listen, status.ClearListen
	s.More = mqttPorts(status.MQTT, status.MQTTClear)
	if !status.Ready {
		s.Ready, s.Mend = errors.New(status.Reason), status.Mend
	}
	if status.Certificate != nil {
		s.Certificate = status.Certificate.examined()
	}
	if status.Store != nil {
		s.Store = &doctor.Store{Bytes: status.Store.Bytes, Free: status.Store.Free, Full: status.Store.Full}
	}
	s.Memory = &status.Memory
	if b := status.Backup; b != nil {
		s.Backup = &doctor.Backup{Overdue: b.Overdue, Problem: b.Problem}
		if b.LastAt != nil {
			s.Backup.Last = *b.LastAt
		}
	}
	if status.Ready {
		s.Zones = c.zones()
	}
	return nil
}

// zones returns the distinct time zones of all plants. Unreadable ones are left out and reported elsewhere.
func (c *client) zones() []string {
	var accounts []accountLine
	if c.call(http.MethodGet, "/local/account", nil, nil, &accounts) != nil {
		return nil
	}
	var zones []string
	for _, line := range accounts {
		var account struct {
			Manifest struct {
				Account struct {
					Plants []struct {
						Timezone string `json:"timezone"`
					} `json:"plants"`
				} `json:"account"`
			} `json:"manifest"`
		}
		if (&client{http: c.http, account: line.ID}).call(http.MethodGet, "/account", nil, nil, &account) != nil {
			continue
		}
		for _, plant := range account.Manifest.Account.Plants {
			if plant.Timezone != "" && !slices.Contains(zones, plant.Timezone) {
				zones = append(zones, plant.Timezone)
			}
		}
	}
	return zones
}

// examined converts a certificate for the doctor.
func (c *certificate) examined() *doctor.Certificate {
	return doctor.CertificateOf(c.EndsAt, c.Hosts, c.Problems, c.Authority != nil)
}
