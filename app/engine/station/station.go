// Package station resolves an account's manifest, revision by revision, for each station: the engine's configuration,
// the calendar, the configuration of OEE and energy, flags with the level that decided, and the reasons, SKUs and Task
// lists that can be selected (http-api.md section 2, decisions.md section 3).
//
// A Plan is one revision resolved for a whole account. A Timeline has the plan in force and the configuration at each
// moment of the past.
//
// # The cost of a change
//
// The changes of a revision that matter to monitoring are calculated when it is applied, and stored in its transaction
// (EffectOf):
//
//	revisionEffect (account, revision) -> when it was stored, and the kind of change
//	ruleChange     (account, (station, revision)) -> digest of the station's rules from then on
//	skuChange      (account, (SKU, revision)) -> the SKU's fields for figures from then on
//	tariffChange   (account, ("", revision)) -> the electricity tariff from then on
//	ruleParts      digest -> rules, and parts shared by rules: calendars, reasons
//
// A change of a name or a text therefore has no effect here. A price changes the tariff, a SKU's rate affects the
// stations that run the SKU (monitor.Products), and a setting changes the rules of the stations that it applies to. The
// engine is not interrupted at other stations, and reads the past without old documents. monitor.Config.Revision is the
// revision that last changed a station's rules. The revision in force at a moment, which a window shows as
// manifestRevision, depends only on the moment: Timeline.Revision.
//
// Names, flags and selectable values are those of the plan in force. For a moment in the past they are read from the
// document of that time (Timeline.StationAt).
package station

import (
	"math"
	"time"

	"opsmon/app/account/manifest"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/errdefs"
)

// Station is one station resolved from one manifest revision. It and everything it refers to must not be changed,
// because stations share equal values.
type Station struct {
	*Rules
	Code, Name string
	Plant      Plant
	Group      Group
	Zone       *time.Location
	Pattern    string // code of the shift pattern; "": none, all time is shift time

	Flags     map[string]manifest.Decision // every flag by name
	Reasons   map[string]Reason            // the selectable ones by code
	Headings  []manifest.ReasonView        // the same as a tree with headings
	SKUs      map[string]*manifest.SKU     // the ones that can be scheduled, by code
	TaskLists []manifest.TaskListView
	Archived  bool              // removed from the manifest; all other fields are as they last were
	Settings  *manifest.Station // the manifest's settings with defaults filled in
}

// Plant identifies a plant.
type Plant struct{ Code, Name string }

// Group identifies a station group; its code is unique within its plant.
type Group struct{ Code, Name string }

// Reason is a reason that can be selected at a station.
type Reason struct {
	Code, Name    string // Name is the code if the manifest has no name
	Downtime      bool   // allowed as cause of a stop
	NonProduction bool   // allowed as reason of a non-production schedule
	Role          oee.Role
}

// Flag reports whether a flag is on at the station, and the level that decided. An unknown flag is off.
func (s *Station) Flag(name string) (on bool, from manifest.Level) {
	d := s.Flags[name]
	return d.Value == "on", d.From
}

// Refuse returns errdefs.Forbidden with the flag and the level that decided if a flag is off at the station, else nil.
func (s *Station) Refuse(flag string) error {
	on, from := s.Flag(flag)
	switch {
	case on:
		return nil
	case from == manifest.LevelDefault:
		return errdefs.New(errdefs.Forbidden, "%s is off at station %s: no level sets it, and off is its default", flag, s.Code)
	}
	return errdefs.New(errdefs.Forbidden, "%s is off at station %s: the %s decides so", flag, s.Code, from)
}

// Rate returns the rate at which units of a SKU are due at the station, and its source: "schedule" for the override,
// "sku", "station", or "" with rate 0 if there is none (monitoring.md section 3).
func (s *Station) Rate(sku string, override monitor.Rate) (unitsPerMinute float64, from string) {
	return s.RateOf(&monitor.Schedule{SKU: sku, Rate: override})
}

// RateOf is Rate for a schedule, whose own parts per cycle apply if enableEditPartsPerCycle is on.
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

// latest is the moment to look up the newest SKU with.
const latest = math.MaxInt64 - 1

// PartsPerCycle returns the units of a cycle in a schedule: its own if enableEditPartsPerCycle is on, else its SKU's,
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
