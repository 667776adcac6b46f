package simulate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"opsmon/app/engine/calendar"
)

// Plant is the part of a manifest about stations that the simulation needs. An account with several plants is one Plant
// here: each station has its own calendar.
type Plant struct {
	Account  string // ID
	Stations []*Station
}

// Station is one station of a Plant.
type Station struct {
	Code     string
	calendar *calendar.Calendar
	shifts   bool       // it has a shift pattern
	parts    []*Station // of a meter: the stations that it measures

	meterOnly, schedulingOnly, alwaysConnected                           bool
	manualProduction, reject, quick, cutShort, manualDowntime, tasks     bool
	autoEnd                                                              bool
	productive, downtime                                                 string  // modes, with defaults filled in
	stoppedKw, stoppedSpeed, speedScale, speedOffset, speedRatio, target float64 // target: line speed; 0: none
	nominalKw                                                            float64
	// ms; threshold: of stops by utilisation and by speed
	threshold, holdOn, minimumCycle int64
	rate                            rateDocument
	skus                            []sku
	causes                          []string // reason codes for stops
	breaks, changeovers             []string // reason codes for non-production schedules
	byHand                          []string // Task lists started by people
}

// sku is a product at one station.
type sku struct {
	code         string
	perMinute    float64 // units; 0: no rate
	perCycle     float64 // units a cycle
	speed        float64 // line speed target; 0: none
	gap          int64   // ms without a unit after which detection by production finds a stop
	minimumCycle int64   // ms
	quick        bool    // quick schedules are allowed
}

// ReadPlant decodes an accepted manifest, as returned by GET /account/manifest.
func ReadPlant(manifest []byte) (*Plant, error) {
	var doc document
	if err := json.Unmarshal(manifest, &doc); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	a := &doc.Account
	p := &Plant{Account: a.ID}
	for i := range a.Plants {
		if err := p.addPlant(&doc, &a.Plants[i]); err != nil {
			return nil, fmt.Errorf("read the manifest: %w", err)
		}
	}
	if len(p.Stations) == 0 {
		return nil, errors.New("read the manifest: it has no stations")
	}
	return p, nil
}

func (p *Plant) addPlant(doc *document, from *plantDocument) error {
	zone, err := time.LoadLocation(from.Timezone)
	if err != nil {
		return err
	}
	first := len(p.Stations)
	for i := range from.Groups {
		g := &from.Groups[i]
		start := len(p.Stations)
		for j := range g.Stations {
			levels := []*levelDocument{&doc.Account.levelDocument, &from.levelDocument, &g.levelDocument, &g.Stations[j].levelDocument}
			s, err := readStation(doc, from, g, &g.Stations[j], levels, zone)
			if err != nil {
				return fmt.Errorf("station %s: %w", g.Stations[j].Code, err)
			}
			p.Stations = append(p.Stations, s)
		}
		for _, s := range p.Stations[start:] {
			s.measure(p.Stations[start:])
		}
	}
	for _, s := range p.Stations[first:] {
		if slices.Contains(from.TotalEnergyStationCodes, s.Code) || len(s.parts) == 0 {
			s.measure(p.Stations[first:])
		}
	}
	return nil
}

// measure sets the stations measured by a meter: those in among that are not meters.
func (s *Station) measure(among []*Station) {
	if !s.meterOnly {
		return
	}
	s.parts = nil
	for _, other := range among {
		if !other.meterOnly {
			s.parts = append(s.parts, other)
		}
	}
}

func readStation(doc *document, p *plantDocument, g *groupDocument, from *stationDocument, levels []*levelDocument, zone *time.Location) (*Station, error) {
	s := &Station{
		Code: from.Code, productive: from.ProductiveStatusMode, downtime: from.DowntimeDetectionMode,
		stoppedKw: from.ElectricalUsageStoppedThreshold, stoppedSpeed: from.LineSpeedStoppedThreshold,
		speedScale: from.SpeedScale, speedOffset: from.SpeedOffset, speedRatio: from.SpeedToProductionRatio,
		target: from.LineSpeedTarget, nominalKw: from.ElectricalPowerNominalKw, threshold: hour,
		holdOn: int64(from.ProductiveHoldOnTime), minimumCycle: int64(from.MinimumCycleTime),
	}
	if s.productive == "" {
		s.productive = "productive_signal"
	}
	if s.downtime == "" {
		s.downtime = "utilisation"
	}
	if s.speedScale == 0 {
		s.speedScale = 1
	}
	if v := from.UtilisationDowntimeThreshold; v != nil {
		s.threshold = int64(*v)
	}
	for flag, get := range map[*bool]func(*levelDocument) string{
		&s.meterOnly:        func(l *levelDocument) string { return l.EnableMeterOnly },
		&s.schedulingOnly:   func(l *levelDocument) string { return l.EnableSchedulingOnly },
		&s.alwaysConnected:  func(l *levelDocument) string { return l.EnableAlwaysConnected },
		&s.manualProduction: func(l *levelDocument) string { return l.EnableManualProduction },
		&s.reject:           func(l *levelDocument) string { return l.EnableRejectProduction },
		&s.quick:            func(l *levelDocument) string { return l.EnableQuickScheduleStart },
		&s.cutShort:         func(l *levelDocument) string { return l.EnableScheduleCutShort },
		&s.manualDowntime:   func(l *levelDocument) string { return l.EnableManualDowntime },
		&s.tasks:            func(l *levelDocument) string { return l.EnableTasks },
		&s.autoEnd:          func(l *levelDocument) string { return l.EnableAutoEndOnQuantityComplete },
	} {
		for _, l := range levels { // the last level with a decision wins
			if v := get(l); v == "on" || v == "off" {
				*flag = v == "on"
			}
		}
	}
	if err := s.readCalendar(doc, p, cmp.Or(from.ShiftPatternCode, g.ShiftPatternCode), zone); err != nil {
		return nil, err
	}
	s.readReasons(doc.Account.Reasons, levels)
	s.readTaskLists(doc, levels)
	s.rate = from.rateDocument
	for _, k := range doc.Account.SKUs {
		anywhere := len(k.StationCodes) == 0 && len(k.StationGroupCodes) == 0
		if anywhere || slices.Contains(k.StationCodes, s.Code) || slices.Contains(k.StationGroupCodes, g.Code) {
			s.skus = append(s.skus, s.readSKU(k))
		}
	}
	return s, nil
}

// readSKU returns a product with the station's settings (monitoring.md section 3: units, rate).
func (s *Station) readSKU(k skuDocument) sku {
	out := sku{code: k.Code, perCycle: max(k.PartsPerCycle, 1), speed: k.LineSpeedTarget, minimumCycle: int64(k.MinimumCycleTime), quick: k.AllowUseInQuickSchedule}
	if out.perMinute = perMinute(k.rateDocument, out.perCycle); out.perMinute == 0 {
		out.perMinute = perMinute(s.rate, out.perCycle)
	}
	if out.speed == 0 {
		out.speed = s.target
	}
	if out.minimumCycle == 0 {
		out.minimumCycle = s.minimumCycle
	}
	multiplier := k.Multiplier
	if multiplier == 0 {
		multiplier = 1.5
	}
	if out.perMinute > 0 {
		out.gap = int64(multiplier * float64(minute) * out.perCycle / out.perMinute)
	}
	return out
}

// perMinute returns units per minute by the first rate that is set.
func perMinute(r rateDocument, perCycle float64) float64 {
	switch {
	case r.CycleTime > 0:
		return float64(minute) * perCycle / r.CycleTime
	case r.UnitsPerMinute > 0:
		return r.UnitsPerMinute
	}
	return r.UnitsPerHour / 60
}

func (s *Station) readCalendar(doc *document, p *plantDocument, pattern string, zone *time.Location) error {
	c := calendar.CalendarConfig{Zone: zone, DayStartHour: int(p.DayStartHour), WeekStartDay: int(p.WeekStartDay)}
	for _, known := range doc.Account.ShiftPatterns {
		if known.Code != pattern || pattern == "" {
			continue
		}
		for _, shift := range known.Shifts {
			weekday, err := strconv.Atoi(shift.WeekDay)
			if err != nil {
				return fmt.Errorf("shift pattern %s: %w", pattern, err)
			}
			c.Shifts = append(c.Shifts, calendar.Shift{
				Name: shift.Name, Weekday: weekday, Start: calendar.Hours(shift.StartHour), Length: calendar.Hours(shift.Duration),
			})
		}
	}
	s.calendar, s.shifts = calendar.NewCalendar(c), len(c.Shifts) > 0
	return nil
}

// readReasons sets the selectable reasons of the station: those without children (decisions.md section 3).
func (s *Station) readReasons(reasons []reasonDocument, levels []*levelDocument) {
	var walk func(list []reasonDocument, above []string)
	walk = func(list []reasonDocument, above []string) {
		for _, r := range list {
			codes := append(slices.Clip(above), r.Code)
			walk(r.Reasons, codes)
			if len(r.Reasons) > 0 || !available(codes, levels) {
				continue
			}
			if len(r.Type) == 0 || slices.Contains(r.Type, "downtime") {
				s.causes = append(s.causes, r.Code)
			}
			if len(r.Type) > 0 && !slices.Contains(r.Type, "non_production") {
				continue
			}
			if r.Role == "setup" || r.Role == "changeover" {
				s.changeovers = append(s.changeovers, r.Code)
			} else {
				s.breaks = append(s.breaks, r.Code)
			}
		}
	}
	walk(reasons, nil)
}

// available reports whether a reason remains after the inclusions and exclusions of each level. codes has the reason's
// own code and those of its ancestors, because a code applies to its whole subtree.
func available(codes []string, levels []*levelDocument) bool {
	named := func(list []string) bool {
		return slices.ContainsFunc(codes, func(code string) bool { return slices.Contains(list, code) })
	}
	for _, l := range levels {
		if l.IncludeReasonCodes != nil && !named(l.IncludeReasonCodes) || named(l.ExcludeReasonCodes) {
			return false
		}
	}
	return true
}

// readTaskLists sets the Task lists that people start at the station.
func (s *Station) readTaskLists(doc *document, levels []*levelDocument) {
	for _, list := range doc.Account.TaskLists {
		included, excluded := false, false
		for _, l := range levels {
			if l.IncludeTaskListCodes != nil {
				included = slices.Contains(l.IncludeTaskListCodes, list.Code)
			}
			excluded = excluded || slices.Contains(l.ExcludeTaskListCodes, list.Code)
		}
		if s.tasks && included && !excluded && list.Trigger.Type == "on_demand" {
			s.byHand = append(s.byHand, list.Code)
		}
	}
}
