// Package station says what an account's manifest, revision by revision, means for each station: the engine's
// configuration, its calendar, what OEE and energy need, flags with the level that decided, and the reasons, SKUs and Task
// lists that can be chosen (http-api.md section 2, decisions.md section 3).
//
// A Plan is one revision resolved for a whole account. A Timeline holds all of an account's plans over time, and tells at
// which moments a station's configuration really changed.
//
// # What a change is
//
// A revision is in force from the moment it was stored until the next one is. Most revisions change most stations not at
// all: a description, a dashboard's settings, another station's threshold. Timeline.Changes leaves those out, comparing
// each revision with the one before by what figures are made of (Station.Same); so the engine goes on undisturbed, and an
// edited description gives the same bytes as before. monitor.Config.Revision therefore is the number of the revision that
// last changed something for this station. The revision in force at a moment, which a window shows as manifestRevision,
// is another thing and follows from the moment alone: Timeline.Revision.
//
// Nothing here depends on which revisions were looked at before. A change is a matter of two neighbouring revisions, and
// the configuration that a Revision names can be made from that revision alone (Timeline.Config).
package station

import (
	"math"
	"time"

	"opsmon/app/account"
	"opsmon/app/calendar"
	"opsmon/app/energy"
	"opsmon/app/errdefs"
	"opsmon/app/monitor"
	"opsmon/app/oee"
)

// Station is one station as one revision of the manifest resolves it. It must not be changed, nor anything that it
// leads to: stations share what is equal.
type Station struct {
	Code, Name string
	Plant      Plant
	Group      Group
	Zone       *time.Location
	Calendar   *calendar.Calendar
	Pattern    string // code of the shift pattern; "" is none, all time is shift time
	Revision   int64  // of the manifest

	Monitor *monitor.Config // Revision is that of this station
	OEE     oee.Config
	Tariff  energy.Tariff // From is when the revision came into force

	Flags     map[string]account.Decision // every flag, by its name
	Reasons   map[string]Reason           // those that can be chosen here, by code
	Headings  []account.ReasonView        // the same as a tree, with the headings above them
	SKUs      map[string]*account.SKU     // those that can be scheduled here, by code
	TaskLists []account.TaskListView
	Archived  bool             // it has left the manifest; the rest is as it last was
	Settings  *account.Station // as the manifest has it, defaults filled in

	parts parts
}

// Plant names a plant.
type Plant struct{ Code, Name string }

// Group names a station group; its code is unique within its plant.
type Group struct{ Code, Name string }

// Reason is one that can be chosen at a station.
type Reason struct {
	Code, Name    string // Name is the code where the manifest has none
	Downtime      bool   // it may be the cause of a stop
	NonProduction bool   // it may be that of a non-production schedule
	Role          oee.Role
}

// Flag tells whether a flag is on at the station and which level decided so. A flag that does not exist is off.
func (s *Station) Flag(name string) (on bool, from account.Level) {
	d := s.Flags[name]
	return d.Value == "on", d.From
}

// Refuse gives errdefs.Forbidden when a flag is off at the station, naming the flag and the level that decided; nil when it is on.
func (s *Station) Refuse(flag string) error {
	on, from := s.Flag(flag)
	switch {
	case on:
		return nil
	case from == account.LevelDefault:
		return errdefs.New(errdefs.Forbidden, "%s is off at station %s: no level sets it, and off is its default", flag, s.Code)
	}
	return errdefs.New(errdefs.Forbidden, "%s is off at station %s: the %s decides so", flag, s.Code, from)
}

// Rate gives the rate at which units of a SKU are due at the station, and where it comes from: "schedule" for the
// override, "sku", "station", or "" with 0 when there is none (monitoring.md section 3).
func (s *Station) Rate(sku string, override monitor.Rate) (unitsPerMinute float64, from string) {
	return s.RateOf(&monitor.Schedule{SKU: sku, Rate: override})
}

// RateOf is Rate for a schedule, whose own parts per cycle count where enableEditPartsPerCycle is on.
func (s *Station) RateOf(d *monitor.Schedule) (unitsPerMinute float64, from string) {
	parts := s.PartsPerCycle(d)
	k, _ := s.Monitor.SKU(d.SKU, latest)
	switch {
	case d.Rate.Given():
		return d.Rate.PerMinute(parts), "schedule"
	case k.Rate.Given():
		return k.Rate.PerMinute(parts), "sku"
	case s.Monitor.Rate.Given():
		return s.Monitor.Rate.PerMinute(parts), "station"
	}
	return 0, ""
}

// latest asks for what holds of a SKU as far as is known.
const latest = math.MaxInt64 - 1

// PartsPerCycle gives the units of a cycle under a schedule: its own where enableEditPartsPerCycle is on, else its SKU's,
// else 1.
func (s *Station) PartsPerCycle(d *monitor.Schedule) float64 {
	if s.Monitor.EditPartsPerCycle && d.PartsPerCycle > 0 {
		return d.PartsPerCycle
	}
	if k, _ := s.Monitor.SKU(d.SKU, latest); k.PartsPerCycle > 0 {
		return k.PartsPerCycle
	}
	return 1
}
