// Package station says what an account's manifest, revision by revision, means for each station: the engine's
// configuration, its calendar, what OEE and energy need, flags with the level that decided, and the reasons, SKUs and Task
// lists that can be chosen (http-api.md section 2, decisions.md section 3).
//
// A Plan is one revision resolved for a whole account. A Timeline knows the plan in force, and what held at each moment of
// the past.
//
// # What a change costs
//
// What a revision changed for monitoring is worked out once, when it is applied, and stored in its transaction (EffectOf):
//
//	revisionEffect (account, revision) -> when it was stored, and what kind of change it was
//	ruleChange     (account, (station, revision)) -> digest of the station's rules from then on
//	skuChange      (account, (SKU, revision)) -> what figures need of the SKU from then on
//	tariffChange   (account, ("", revision)) -> the electricity tariff from then on
//	ruleParts      digest -> rules, and what rules share: calendars, reasons
//
// So a name or a text changes nothing here, a price changes the tariff, a SKU's rate the stations that run the SKU
// (monitor.Products), and a setting the rules of the stations that it decides for. The engine goes on undisturbed at all
// others, and reads the past without the documents of that time. monitor.Config.Revision is the number of the revision that
// last changed a station's rules. The revision in force at a moment, which a window shows as manifestRevision, is another
// thing and follows from the moment alone: Timeline.Revision.
//
// Names, flags and what can be chosen are those of the plan in force; for a moment of the past they are read from the
// document of its time (Timeline.StationAt).
package station

import (
	"math"
	"time"

	"opsmon/app/account"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/errdefs"
)

// Station is one station as one revision of the manifest resolves it. It must not be changed, nor anything that it
// leads to: stations share what is equal.
type Station struct {
	*Rules
	Code, Name string
	Plant      Plant
	Group      Group
	Zone       *time.Location
	Pattern    string // code of the shift pattern; "" is none, all time is shift time

	Flags     map[string]account.Decision // every flag, by its name
	Reasons   map[string]Reason           // those that can be chosen here, by code
	Headings  []account.ReasonView        // the same as a tree, with the headings above them
	SKUs      map[string]*account.SKU     // those that can be scheduled here, by code
	TaskLists []account.TaskListView
	Archived  bool             // it has left the manifest; the rest is as it last was
	Settings  *account.Station // as the manifest has it, defaults filled in
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

// Flag reports whether a flag is on at the station and which level decided so. A flag that does not exist is off.
func (s *Station) Flag(name string) (on bool, from account.Level) {
	d := s.Flags[name]
	return d.Value == "on", d.From
}

// Refuse returns errdefs.Forbidden when a flag is off at the station, naming the flag and the level that decided; nil when it is on.
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

// Rate returns the rate at which units of a SKU are due at the station, and where it comes from: "schedule" for the
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

// PartsPerCycle returns the units of a cycle under a schedule: its own where enableEditPartsPerCycle is on, else its SKU's,
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
