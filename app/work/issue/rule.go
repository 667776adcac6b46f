package issue

import (
	"opsmon/app/audit"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
)

// service is the author of automatic changes.
const service = "service"

// Due implements floor.Rule: this package does nothing at fixed times.
func (s *Service) Due(*station.Plan, int64) []string { return nil }

// Tick implements floor.Rule.
func (s *Service) Tick(*floor.Work, []string) error { return nil }

// Happened implements floor.Rule.
func (s *Service) Happened(*floor.Work, string, monitor.Event) error { return nil }

// Recorded implements floor.Rule.
func (s *Service) Recorded(*floor.Work, string, monitor.Input) error { return nil }

// Cancelled implements floor.Rule.
func (s *Service) Cancelled(*floor.Work, string, monitor.Input) error { return nil }

// Left implements floor.Rule: manual downtime in progress ends when its station leaves the manifest (monitoring.md
// section 10).
func (s *Service) Left(w *floor.Work, stationCode string) error {
	start, err := openOf(w.Tx, w.Account, stationCode)
	if err != nil || start == 0 {
		return err
	}
	w.By = audit.Actor{Credential: service}
	m := manual{w: w, who: Author{By: service, At: w.Now, Now: w.Now}, in: CreateInput{StationCode: stationCode}}
	_, err = m.end(start, max(w.Now, start+1))
	return err
}
