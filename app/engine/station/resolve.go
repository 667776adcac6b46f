package station

import (
	"fmt"
	"strconv"
	"time"

	"opsmon/app/account/manifest"
	"opsmon/app/engine/calendar"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/iso"
)

// resolver resolves the stations of one manifest. It must be used by one goroutine at a time.
type resolver struct {
	*manifest.Resolver
	m        *manifest.Manifest
	revision int64
	options  Options

	plants    []place
	calendars map[string]calendarOf
	reasons   map[*manifest.ReasonView]reasonsOf
	skusOf    map[**manifest.SKU]map[string]*manifest.SKU

	skus        monitor.SKUs // all of the account's: a schedule may have one that can no longer be selected
	values      map[string]float64
	roles       map[string]oee.Role
	parts       parts // parts of the resolved rules
	rolesDigest digest
	same        *Plan // its rules are reused; nil: none
}

// place is a plant with the values shared by its stations.
type place struct {
	*manifest.Plant
	zone *time.Location
}

type calendarOf struct {
	*calendar.Calendar
	digest digest
}

type reasonsOf struct {
	chosen map[string]Reason
	causes map[string]bool
	digest digest // of causes
}

func newResolver(m *manifest.Manifest, revision int64, o Options) (*resolver, error) {
	r := &resolver{
		Resolver: manifest.NewResolver(m), m: m, revision: revision, options: o,
		calendars: map[string]calendarOf{}, reasons: map[*manifest.ReasonView]reasonsOf{}, skusOf: map[**manifest.SKU]map[string]*manifest.SKU{},
		skus: make(monitor.SKUs, len(m.SKUs)), values: map[string]float64{}, roles: map[string]oee.Role{}, parts: parts{},
	}
	for i := range m.Plants {
		zone, err := iso.Zone(m.Plants[i].Timezone)
		if err != nil {
			return nil, fmt.Errorf("plant %s: %w", m.Plants[i].Code, err)
		}
		r.plants = append(r.plants, place{&m.Plants[i], zone})
	}
	for i := range m.SKUs {
		k := productOf(&m.SKUs[i])
		r.skus[m.SKUs[i].Code] = k.SKU
		if k.HasValue {
			r.values[m.SKUs[i].Code] = k.Value
		}
	}
	r.collectRoles(m.Reasons)
	var err error
	r.rolesDigest, err = r.parts.add(r.roles)
	return r, err
}

// each resolves all stations, in the manifest's order.
func (r *resolver) each(use func(p *place, s *Station)) error {
	for i := range r.plants {
		p := &r.plants[i]
		for j := range p.Groups {
			group := &p.Groups[j]
			for k := range group.Stations {
				s, err := r.station(p, group, &group.Stations[k])
				if err != nil {
					return err
				}
				use(p, s)
			}
		}
	}
	return nil
}

// collectRoles collects the roles of all reasons: a stop keeps its cause even if that can no longer be selected.
func (r *resolver) collectRoles(reasons []manifest.Reason) {
	for i := range reasons {
		if role := roleOf(reasons[i].OEE); role != oee.RoleNone {
			r.roles[reasons[i].Code] = role
		}
		r.collectRoles(reasons[i].Reasons)
	}
}

// calendar returns the calendar of a plant with a shift pattern; nil: no pattern.
func (r *resolver) calendar(p *place, pattern *manifest.ShiftPattern) (*calendar.Calendar, digest, error) {
	key := p.Code + "\n"
	if pattern != nil {
		key += "pattern " + pattern.Code
	}
	if made, ok := r.calendars[key]; ok {
		return made.Calendar, made.digest, nil
	}
	cfg := calendar.CalendarConfig{Zone: p.zone, DayStartHour: int(p.DayStartHour.Int()), WeekStartDay: int(p.WeekStartDay.Int())}
	if pattern != nil {
		for _, s := range pattern.Shifts {
			weekday, err := strconv.Atoi(s.WeekDay)
			if err != nil {
				return nil, digest{}, fmt.Errorf("shift pattern %s: %w", pattern.Code, err)
			}
			cfg.Shifts = append(cfg.Shifts, calendar.Shift{Name: s.Name, Weekday: weekday, Start: calendar.Hours(s.StartHour.Float()), Length: calendar.Hours(s.Duration.Float())})
		}
	}
	d, err := r.parts.calendar(p.Timezone, &cfg)
	made := calendarOf{calendar.NewCalendar(cfg), d}
	r.calendars[key] = made
	return made.Calendar, d, err
}

// reasonsAt returns the selectable reasons of a tree. Trees shared by stations are processed once.
func (r *resolver) reasonsAt(tree []manifest.ReasonView) (reasonsOf, error) {
	var key *manifest.ReasonView
	if len(tree) > 0 {
		key = &tree[0]
	}
	if made, ok := r.reasons[key]; ok {
		return made, nil
	}
	made := reasonsOf{chosen: map[string]Reason{}, causes: map[string]bool{}}
	made.collect(tree)
	var err error
	made.digest, err = r.parts.causes(made.causes)
	r.reasons[key] = made
	return made, err
}

func (o *reasonsOf) collect(tree []manifest.ReasonView) {
	for i := range tree {
		v := &tree[i]
		if !v.Heading {
			reason := Reason{Code: v.Code, Name: v.Code, Role: roleOf(v.OEE)}
			if v.Name != nil {
				reason.Name = *v.Name
			}
			reason.Downtime, reason.NonProduction = v.Type == nil, v.Type == nil // absent: both
			for _, t := range v.Type {
				switch t {
				case "downtime":
					reason.Downtime = true
				case "non_production":
					reason.NonProduction = true
				}
			}
			o.chosen[v.Code] = reason
			if reason.Downtime {
				o.causes[v.Code] = true
			}
		}
		o.collect(v.Reasons)
	}
}

// skusAt returns the SKUs of a list by code. Shared lists become one map.
func (r *resolver) skusAt(list []*manifest.SKU) map[string]*manifest.SKU {
	var key **manifest.SKU
	if len(list) > 0 {
		key = &list[0]
	}
	made, ok := r.skusOf[key]
	if !ok {
		made = make(map[string]*manifest.SKU, len(list))
		for _, k := range list {
			made[k.Code] = k
		}
		r.skusOf[key] = made
	}
	return made
}

// station resolves one station of a group. group and own may be changed copies of those in the manifest.
func (r *resolver) station(p *place, group *manifest.StationGroup, own *manifest.Station) (*Station, error) {
	v := r.Resolve(p.Plant, group, own)
	filled := own.WithDefaults()
	s := &Station{
		Code: own.Code, Name: own.Name, Plant: Plant{p.Code, p.Name}, Group: Group{group.Code, group.Name}, Zone: p.zone,
		Flags: v.Flags, Headings: v.Reasons, SKUs: r.skusAt(v.SKUs), TaskLists: v.TaskLists, Settings: &filled,
	}
	var pattern *manifest.ShiftPattern
	if v.ShiftPattern != nil {
		pattern, s.Pattern = &v.ShiftPattern.ShiftPattern, v.ShiftPattern.Code
	}
	reasons, err := r.reasonsAt(v.Reasons)
	if err != nil {
		return nil, err
	}
	s.Reasons = reasons.chosen
	if r.same != nil {
		s.Rules = r.same.Of(own.Code).Rules
		return s, nil
	}
	cal, days, err := r.calendar(p, pattern)
	if err != nil {
		return nil, err
	}
	money, _ := s.Flag(manifest.EnableLostProductionCost.String())
	s.Rules = &Rules{
		Code: own.Code, Calendar: cal, Monitor: r.engine(s, cal, reasons.causes),
		OEE: oee.Config{Calendar: cal, Roles: r.roles, Money: money, Values: r.values, IdleCostPerMinute: float(filled.IdleCostPerMinute)},
	}
	return s, r.parts.seal(s.Rules, days, reasons.digest, r.rolesDigest)
}

// fix includes the resolver's SKUs in the digest of rules.
func (r *resolver) fix(rules *Rules) (err error) {
	if rules.engine, err = r.parts.add([]any{rules.engine, r.skus}); err != nil {
		return err
	}
	rules.digest, err = r.parts.add([]any{rules.digest, rules.engine, r.values})
	return err
}

// engine returns the engine's configuration of a station with resolved flags and settings.
func (r *resolver) engine(s *Station, cal *calendar.Calendar, causes map[string]bool) *monitor.Config {
	f := s.Settings
	on := func(flag manifest.Flag) bool { v, _ := s.Flag(flag.String()); return v }
	return &monitor.Config{
		Revision: r.revision, Calendar: cal,
		AliveTimeout:    r.options.AliveTimeout,
		Spread:          r.options.Spread,
		AlwaysConnected: on(manifest.EnableAlwaysConnected), SchedulingOnly: on(manifest.EnableSchedulingOnly), MeterOnly: on(manifest.EnableMeterOnly),
		SpeedScale: float(f.SpeedScale), SpeedOffset: float(f.SpeedOffset), SpeedToProductionRatio: float(f.SpeedToProductionRatio),
		DowntimeMode: downtimeModes[*f.DowntimeDetectionMode], UtilisationThreshold: f.UtilisationDowntimeThreshold.Int(), SlowThreshold: f.SlowDurationThreshold.Int(),
		ForceShiftTime: *f.ForceAllShiftTimeAsPlannedProduction,
		ProductiveMode: productiveModes[*f.ProductiveStatusMode], StoppedKw: float(f.ElectricalUsageStoppedThresholdKw), StoppedSpeed: float(f.LineSpeedStoppedThreshold),
		HoldOn:          f.ProductiveHoldOnTime.Int(),
		Rate:            monitor.Rate{CycleTime: float(f.CycleTime), UnitsPerMinute: float(f.UnitsPerMinute), UnitsPerHour: float(f.UnitsPerHour)},
		MinimumCycle:    f.MinimumCycleTime.Int(),
		LineSpeedTarget: float(f.LineSpeedTarget), EditPartsPerCycle: on(manifest.EnableEditPartsPerCycle),
		MaxUnits: r.m.Settings.MaxProductionCountPerSchedule.Int(),
		SKUs:     r.skus, Causes: causes,
	}
}

var downtimeModes = map[string]monitor.DowntimeMode{
	"off": monitor.DowntimeOff, "production": monitor.DowntimeProduction, "utilisation": monitor.DowntimeUtilisation, "line_speed": monitor.DowntimeLineSpeed,
}

var productiveModes = map[string]monitor.ProductiveMode{
	"productive_signal": monitor.ProductiveSignal, "electrical_usage": monitor.ProductiveElectrical, "line_speed": monitor.ProductiveLineSpeed,
}

// productOf returns the fields of a SKU that figures need.
func productOf(k *manifest.SKU) product {
	p := product{Value: float(k.Value), HasValue: k.Value.Set()}
	p.SKU = monitor.SKU{
		Rate:          monitor.Rate{CycleTime: float(k.CycleTime), UnitsPerMinute: float(k.UnitsPerMinute), UnitsPerHour: float(k.UnitsPerHour)},
		PartsPerCycle: float(k.PartsPerCycle), LineSpeedTarget: float(k.LineSpeedTarget), DowntimeMultiplier: float(k.DowntimeDurationThresholdMultiplier),
	}
	if k.MinimumCycleTime.Set() {
		p.MinimumCycle = new(k.MinimumCycleTime.Int())
	}
	return p
}

// roleOf returns the role in the field oee of a reason.
func roleOf(text *string) oee.Role {
	if text == nil {
		return oee.RoleNone
	}
	switch *text {
	case "setup":
		return oee.RoleSetup
	case "changeover":
		return oee.RoleChangeover
	case "planned":
		return oee.RolePlanned
	}
	return oee.RoleNone
}

// largest limits numbers of the manifest that have no limit in the specification: larger rates, values and prices would
// only lead to sums that cannot be encoded in an answer.
const largest = 1e9

// float returns a number of the manifest; 0: not set.
func float(n manifest.Number) float64 { return min(n.Float(), largest) }
